//! A document as one HTML page, and what a content-security policy must allow it.
//!
//! The page is made by a template (templates/report/page.html), which escapes everything but the
//! style, the script and the charts; charts escape their own text ([`super::chart`]). Style and
//! script are the same for every page, so their hashes are too.

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::LARGEST_PAGE;
use super::compose::document;
use super::document::{Block, Document, PairCell, Piece};
use super::error::PageError;
use super::model::Report;
use super::pairs::MOST_SHOWN;

/// The style sheet of charts, for pages that show them: colours are names that the page gives values.
pub const CHART_STYLE: &str = include_str!("../templates/report/chart.css");
const STYLE: &str = concat!(
    include_str!("../templates/report/style.css"),
    include_str!("../templates/report/chart.css")
);
const SCRIPT: &str = include_str!("../templates/report/script.js");

/// Rows of a table of pairs that are printed.
const PRINTED: usize = 40;

/// Sources that a content-security policy must allow a page: hashes with their quotes, for
/// `style-src` and `script-src`. A page needs nothing else, so `default-src 'none'` can stand
/// beside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentSecurity {
    /// `'sha256-…'` of the one `style` element.
    pub style: String,
    /// `'sha256-…'` of the one `script` element.
    pub script: String,
}

/// The hashes of the style and of the script of every page.
pub fn content_security() -> ContentSecurity {
    let source = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    ContentSecurity {
        style: source(STYLE),
        script: source(SCRIPT),
    }
}

#[derive(Template)]
#[template(path = "report/page.html")]
struct Page<'a> {
    document: &'a Document,
    style: &'static str,
    script: &'static str,
    version: &'static str,
    printed: usize,
}

impl Page<'_> {
    /// Headings of sections stand below the title, unless there is one section only, whose heading
    /// the title is.
    fn is_single(&self) -> bool {
        self.document.sections.len() == 1
    }
}

impl Report {
    /// The report as one HTML page of at most [`LARGEST_PAGE`] bytes; where there is more, fewer
    /// pairs are shown.
    ///
    /// # Errors
    /// When that many runs have no place in one page.
    pub fn to_html(&self) -> Result<String, PageError> {
        let mut pairs = MOST_SHOWN;
        loop {
            let html = render(&document(self, pairs))?;
            if html.len() <= LARGEST_PAGE {
                return Ok(html);
            }
            if pairs == 0 {
                return Err(PageError::TooLarge { bytes: html.len() });
            }
            pairs /= 3;
        }
    }
}

/// `document` as a page.
pub(super) fn render(document: &Document) -> Result<String, PageError> {
    let page = Page {
        document,
        style: STYLE,
        script: SCRIPT,
        version: env!("CARGO_PKG_VERSION"),
        printed: PRINTED,
    };
    Ok(page.render()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_may_stand_in_their_elements() {
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains("</") && !text.contains("<!--"));
            assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("url("));
        }
        let sources = content_security();
        assert!(sources.style.starts_with("'sha256-") && sources.style.ends_with("='"));
        assert_eq!(sources.style.len(), "'sha256-'".len() + 44);
    }

    /// Values of the colours of one block of the style.
    fn colours(block: &str) -> std::collections::HashMap<String, [f64; 3]> {
        let declared = block
            .split(';')
            .filter_map(|line| line.trim().split_once(": #"));
        let channel =
            |hex: &str, at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
        declared
            .map(|(name, hex)| (name.trim().to_owned(), [0, 2, 4].map(|at| channel(hex, at))))
            .collect()
    }

    /// The contrast of two colours (WCAG 2.2, section 1.4.3).
    fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
        let luminance = |colour: [f64; 3]| {
            let [red, green, blue] = colour.map(|channel| {
                let share = channel / 255.0;
                if share <= 0.04045 {
                    share / 12.92
                } else {
                    ((share + 0.055) / 1.055).powf(2.4)
                }
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn colours_have_contrast_in_light_dark_and_print() {
        let blocks: Vec<&str> = STYLE
            .split(":root {")
            .skip(1)
            .map(|block| &block[..block.find('}').unwrap()])
            .collect();
        assert_eq!(blocks.len(), 3);
        for block in blocks {
            let colours = colours(block);
            let of = |name: &str| colours[&format!("--{name}")];
            // The darkest cell of a map: half its colour, half the panel.
            let (heat, panel) = (of("heat"), of("panel"));
            let cell = [0, 1, 2].map(|channel| (heat[channel] + panel[channel]) / 2.0);
            let mut pairs = vec![(of("mark-ink"), of("mark"), 4.5), (of("ink"), cell, 4.5)];
            for ground in ["paper", "panel"] {
                let inks = ["ink", "soft", "link", "pass", "fail", "open"];
                pairs.extend(inks.map(|ink| (of(ink), of(ground), 4.5)));
            }
            for series in 0..8 {
                pairs.push((
                    of(&format!("s{series}")),
                    of("paper"),
                    if series < 3 { 4.5 } else { 3.0 },
                ));
            }
            for (a, b, least) in pairs {
                assert!(
                    contrast(a, b) >= least,
                    "{a:?} on {b:?}: {:.2} in {block}",
                    contrast(a, b)
                );
            }
        }
    }
}
