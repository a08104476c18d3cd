//! The forms of a report, in one list: what the command and the Python package offer.

use std::path::Path;

use super::bounds::{to_junit, to_sarif};
use super::error::PageError;
use super::model::Report;
use super::pdf;

/// A form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// A page.
    #[default]
    Html,
    /// The report as Markdown.
    Markdown,
    /// The report as data.
    Json,
    /// Part of a model card.
    ModelCard,
    /// Summary of results of a bias audit.
    Ll144,
    /// Annex of technical documentation.
    AiAct,
    /// Bill of materials of models.
    Cyclonedx,
    /// Description of data.
    Croissant,
    /// The page on paper.
    Pdf,
    /// Bounds as SARIF.
    Sarif,
    /// Bounds as JUnit.
    Junit,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 11] = [
        Form::Html,
        Form::Markdown,
        Form::Json,
        Form::ModelCard,
        Form::Ll144,
        Form::AiAct,
        Form::Cyclonedx,
        Form::Croissant,
        Form::Pdf,
        Form::Sarif,
        Form::Junit,
    ];

    /// What the form is called.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// What it is, without a full stop.
    pub fn help(self) -> &'static str {
        self.facts().1
    }

    fn facts(self) -> (&'static str, &'static str) {
        match self {
            Form::Html => ("html", "One self-contained page"),
            Form::Markdown => (
                "markdown",
                "The same as Markdown, tables in place of charts",
            ),
            Form::Json => ("json", "The figures and the pairs that are shown, as data"),
            Form::ModelCard => (
                "model-card",
                "Part of a model card, as Markdown, with blanks for its owner",
            ),
            Form::Ll144 => (
                "ll144",
                "Of groups with impact ratios: summary of results of a bias audit (New York City Local Law 144); a table if the name of the file ends in .csv, else a page",
            ),
            Form::AiAct => (
                "ai-act",
                "Validation and testing by Annex IV, point 2(g), of the AI Act, with blanks for the provider; Markdown if the name of the file ends in .md, else a page",
            ),
            Form::Cyclonedx => (
                "cyclonedx",
                "The models as a bill of materials (CycloneDX 1.6): model cards with metrics by slice, intervals and fairness assessments",
            ),
            Form::Croissant => (
                "croissant",
                "Of one audit or measurement of groups: its data as Croissant 1.0, with their biases and limitations (RAI)",
            ),
            Form::Pdf => (
                "pdf",
                "The page as PDF, printed by a Chromium or Chrome on the PATH or named by PROBITY_CHROMIUM",
            ),
            Form::Sarif => (
                "sarif",
                "The declared bounds as SARIF 2.1.0: a rule for each, a result for each that does not hold",
            ),
            Form::Junit => (
                "junit",
                "The declared bounds as XML of JUnit: a test case for each",
            ),
        }
    }

    /// The form of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<Form, PageError> {
        let mut forms = Form::ALL.into_iter();
        let found = forms.find(|form| form.name() == name);
        found.ok_or_else(|| PageError::Form {
            name: name.to_owned(),
            known: Form::ALL.map(Form::name).join(", "),
        })
    }
}

impl Report {
    /// The report in `form`, for the file `out`, whose ending chooses where a form has several.
    ///
    /// # Errors
    /// When the runs have no such form.
    pub fn render(&self, form: Form, out: Option<&Path>) -> Result<Vec<u8>, PageError> {
        let ending = out.and_then(Path::extension).unwrap_or_default();
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        let text = match form {
            Form::Html => self.to_html()?,
            Form::Markdown => self.to_markdown(),
            Form::Json => in_lines(self)?,
            Form::ModelCard => self.to_model_card(),
            Form::Ll144 if ending == "csv" => self.to_ll144_csv()?,
            Form::Ll144 => self.to_ll144_html()?,
            Form::AiAct if ending == "md" => self.to_ai_act_markdown()?,
            Form::AiAct => self.to_ai_act_html()?,
            Form::Cyclonedx => in_lines(&self.to_cyclonedx()?)?,
            Form::Croissant => in_lines(&self.to_croissant()?)?,
            Form::Pdf => return pdf::print(&self.to_html()?),
            Form::Sarif => in_lines(&to_sarif(&self.declared_bounds()?, &[]))?,
            Form::Junit => to_junit(&self.declared_bounds()?, &[]),
        };
        Ok(text.into_bytes())
    }
}

/// `value` as JSON with an end of the last line.
fn in_lines(value: &impl serde::Serialize) -> Result<String, PageError> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_a_name_of_its_own() {
        for form in Form::ALL {
            assert_eq!(Form::named(form.name()).unwrap(), form);
        }
        let unknown = Form::named("docx").unwrap_err().to_string();
        assert!(unknown.contains("'docx'") && unknown.contains("html, markdown"));
    }
}
