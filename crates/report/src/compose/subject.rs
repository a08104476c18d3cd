//! What a run looked at: its title and a few facts for people, and at the end what is needed to
//! check and to repeat it.

use std::path::Path;

use super::super::document::{Block, Part};
use super::super::model::{Fact, Findings, Role, RunReport};
use super::super::text::Text;

/// The title of a run: what it is, of which model and data, with its name where somebody gave it one.
/// Where there are several runs, as comparisons name them, with its number and its name.
pub(super) fn title(run: &RunReport, number: Option<usize>) -> Text {
    let name = |fact: &Fact| match &fact.called {
        Some(called) => Text::value(called).to_string(),
        None => name_of(&fact.value),
    };
    let model = run.named(&[Role::Model, Role::Predictor]).map(name);
    let data = [Role::Data, Role::Texts, Role::Training];
    let data = run.named(&data).map(name);
    let of = match (model, data) {
        (Some(model), Some(data)) => format!("{model} on {data}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => run.name.clone(),
    };
    let own = match &run.called {
        Some(called) => format!("{} ({of})", Text::value(called)),
        None if number.is_some() && of != run.name => format!("{of} ({})", run.name),
        None => of,
    };
    // A name may say already what the run is.
    let kind = run.findings.kind();
    let rest = run.called.as_deref();
    let rest = rest.and_then(|called| called.strip_prefix(kind));
    let said = match rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)) {
        true => own,
        false => format!("{kind}: {own}"),
    };
    Text::new(match number {
        Some(number) => format!("{number}. {said}"),
        None => said,
    })
}

/// What people call the file or directory at `path`: its name without its ending; of `demo/model`,
/// where many are called alike, that of the directory around it.
fn name_of(path: &str) -> String {
    const ENDINGS: [&str; 8] = [
        ".gz", ".xz", ".csv", ".tsv", ".parquet", ".jsonl", ".txt", ".onnx",
    ];
    let place = Path::new(path);
    let part = |place: &Path| {
        let name = place.file_name();
        name.map(|name| name.to_string_lossy().into_owned())
    };
    let name = match (part(place), place.parent().and_then(part)) {
        (Some(name), Some(around)) if name == "model" => around,
        (Some(name), _) => name,
        (None, _) => path.to_owned(),
    };
    let short = ENDINGS.iter().fold(name.as_str(), |name, ending| {
        match name.strip_suffix(ending) {
            Some(short) if !short.is_empty() => short,
            _ => name,
        }
    });
    Text::value(short).to_string()
}

/// A value for people: of a path from the root of somebody's machine, the last two parts.
fn readable(value: &str) -> Text {
    let place = Path::new(value);
    if !place.is_absolute() {
        return Text::value(value);
    }
    let parts: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
    let last = &parts[parts.len().saturating_sub(2).max(1).min(parts.len())..];
    Text::value(&last.join("/"))
}

fn is_hash(fact: &&Fact) -> bool {
    fact.role.is_some_and(Role::is_hash)
}

fn shown<'f>(facts: impl Iterator<Item = &'f Fact>) -> Vec<(Text, Text)> {
    let value = |fact: &Fact| match &fact.called {
        Some(called) => Text::value(called),
        None => readable(&fact.value),
    };
    let facts = facts.map(|fact| (Text::new(&fact.name), value(fact)));
    facts.collect()
}

/// What was looked at, when and by which version; nothing where a run tells none of it.
pub(crate) fn subject(run: &RunReport) -> Option<Part> {
    let mut facts = Vec::new();
    if let Some(called) = &run.called {
        facts.push(("Name".into(), Text::value(called)));
    }
    facts.extend(shown(run.subject.iter().filter(|fact| !is_hash(fact))));
    for (name, value) in [
        ("Ended (UTC)", &run.ended),
        ("Probity", &run.probity_version),
    ] {
        facts.extend(
            value
                .as_ref()
                .map(|value| (name.into(), Text::value(value))),
        );
    }
    (!facts.is_empty()).then(|| Part::new("What was looked at").with(Block::Facts(facts)))
}

/// What tells whether the files are still those, the options, and the command that does it again.
pub(crate) fn provenance(run: &RunReport) -> Part {
    let directory = run.directory.display().to_string();
    let mut facts = vec![("Run".into(), readable(&directory))];
    facts.extend(shown(run.subject.iter().filter(is_hash)));
    facts.push((
        "SHA-256 of the summary".into(),
        Text::value(&run.summary_sha256),
    ));
    let sealed = match run.is_sealed {
        true => "yes; probity verify --seal checks it",
        false => "no",
    };
    facts.push(("Sealed".into(), sealed.into()));
    let mut part = Part::new("How to check and repeat this")
        .say("A SHA-256 is a fingerprint of a file: where it is another one, so is the file.")
        .with(Block::Facts(facts));
    if !run.options.is_empty() {
        part = part.with(Block::Folded {
            title: "Options that were given or settled".into(),
            facts: shown(run.options.iter()),
        });
    }
    let Some(command) = &run.reproduce else {
        return part;
    };
    let (command, place) = match run.directory.is_absolute() {
        true => (
            format!("probity run {}", quoted(&run.name)),
            ", in the folder that holds its directory,",
        ),
        false => (command.clone(), ""),
    };
    let same = match ended_by_the_clock(run) {
        false => "it gives the same results, whatever the number of threads",
        true => {
            "it does the same in the same order, whatever the number of threads, but another machine may come farther, or less far, by the time at which this run was ended"
        }
    };
    part.say(format!(
        "This command{place} repeats the run, as the run.toml of its directory says it, into a new directory. With the same model, data \
         and seed {same}."
    ))
    .with(Block::Command(command.into()))
}

/// Whether a limit of time, or whoever interrupted it, ended the run.
fn ended_by_the_clock(run: &RunReport) -> bool {
    let ending = match &run.findings {
        Findings::Audit(audit) => &audit.summary.ending,
        Findings::Prove(prove) => &prove.ending,
        _ => return false,
    };
    matches!(ending.as_str(), "time" | "interrupted")
}

/// `name` as a shell takes it.
fn quoted(name: &str) -> String {
    let quoted = shlex::try_quote(name);
    quoted.map_or_else(|_| name.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_are_for_people() {
        for (path, name) in [
            ("/home/ada/demo/model", "demo"),
            ("models/people", "people"),
            ("/x/people.csv.gz", "people"),
            ("command:python3 predict.py", "command:python3 predict.py"),
            ("model", "model"),
            (".csv", ".csv"),
        ] {
            assert_eq!(name_of(path), name);
        }
        for (path, short) in [
            ("/home/ada/demo/people.csv", "demo/people.csv"),
            ("/people.csv", "people.csv"),
            ("/", ""),
            ("runs/one/people.csv", "runs/one/people.csv"),
            ("sex, origin", "sex, origin"),
        ] {
            assert_eq!(readable(path).as_str(), short);
        }
    }
}
