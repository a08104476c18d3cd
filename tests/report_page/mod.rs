//! Looks at a page as a browser would: which elements it has, how they nest, what is text.

use std::collections::HashSet;

/// Elements without an end.
const VOID: [&str; 3] = ["meta", "input", "br"];

/// A start tag.
pub struct Tag {
    /// Its name.
    pub name: String,
    /// Its attributes, unescaped values.
    pub attributes: Vec<(String, String)>,
}

impl Tag {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A page, taken apart.
pub struct Page {
    /// All start tags.
    pub tags: Vec<Tag>,
    /// The text outside of style and script, unescaped.
    pub text: String,
    /// Contents of the style elements.
    pub styles: Vec<String>,
    /// Contents of the script elements.
    pub scripts: Vec<String>,
}

impl Page {
    /// Takes `html` apart; panics unless every element is closed where it must be.
    #[track_caller]
    pub fn of(html: &str) -> Page {
        let mut page = Page {
            tags: Vec::new(),
            text: String::new(),
            styles: Vec::new(),
            scripts: Vec::new(),
        };
        let mut open: Vec<String> = Vec::new();
        let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a doctype");
        while let Some(start) = rest.find('<') {
            let text = &rest[..start];
            assert!(!text.contains('>'), "a bare > in {text:?}");
            page.text.push_str(&unescaped(text));
            rest = &rest[start..];
            if let Some(after) = rest.strip_prefix("</") {
                let end = after.find('>').expect("an end tag ends");
                let name = after[..end].to_owned();
                assert_eq!(
                    open.pop().as_ref(),
                    Some(&name),
                    "before {}",
                    &after[..after.len().min(200)]
                );
                rest = &after[end + 1..];
                page.text.push(' ');
                continue;
            }
            let (tag, is_closed, after) = start_tag(&rest[1..]);
            rest = after;
            if ["style", "script"].contains(&tag.name.as_str()) {
                let end = rest.find("</").expect("raw text ends");
                let content = rest[..end].to_owned();
                if tag.name == "style" {
                    page.styles.push(content)
                } else {
                    page.scripts.push(content)
                }
                rest = &rest[end..];
            }
            if !is_closed && !VOID.contains(&tag.name.as_str()) {
                open.push(tag.name.clone());
            }
            page.tags.push(tag);
        }
        assert!(open.is_empty(), "{open:?} are not closed");
        page
    }

    /// How many elements have this name.
    pub fn count(&self, name: &str) -> usize {
        self.tags.iter().filter(|tag| tag.name == name).count()
    }

    /// Panics unless the page keeps to a strict content-security policy, loads nothing, and its
    /// references resolve.
    #[track_caller]
    pub fn is_self_contained(&self) {
        let mut ids = HashSet::new();
        for tag in &self.tags {
            for (name, value) in &tag.attributes {
                assert!(name != "style" && !name.starts_with("on"), "{name}={value}");
                assert!(
                    !["src", "srcset", "action", "data"].contains(&name.as_str()),
                    "{name}={value}"
                );
                assert!(name != "href" || value.starts_with('#'), "{name}={value}");
            }
            if let Some(id) = tag.get("id") {
                assert!(ids.insert(id), "two elements are called {id}");
            }
        }
        assert_eq!((self.styles.len(), self.scripts.len()), (1, 1));
        assert_eq!(
            self.count("link") + self.count("img") + self.count("iframe") + self.count("base"),
            0
        );
        for tag in &self.tags {
            let names = ["for", "aria-labelledby", "aria-describedby"]
                .iter()
                .filter_map(|name| tag.get(name));
            for id in names
                .flat_map(str::split_whitespace)
                .chain(tag.get("href").and_then(|href| href.strip_prefix('#')))
            {
                assert!(ids.contains(id), "nothing is called {id}");
            }
        }
    }

    /// Panics unless headings descend one level at a time and everything that needs a name has one.
    #[track_caller]
    pub fn is_accessible(&self) {
        let mut level = 0;
        for tag in &self.tags {
            if let Some(next) = tag
                .name
                .strip_prefix('h')
                .and_then(|level| level.parse::<u32>().ok())
            {
                assert!(next <= level + 1, "h{next} after h{level}");
                level = next;
            }
            match tag.name.as_str() {
                "svg" => {
                    assert!(tag.get("role") == Some("img") && tag.get("aria-labelledby").is_some())
                }
                "th" => assert!(tag.get("scope").is_some()),
                "html" => assert_eq!(tag.get("lang"), Some("en")),
                "select" | "input" => {
                    let id = tag.get("id");
                    assert!(
                        self.tags
                            .iter()
                            .any(|label| label.name == "label" && label.get("for") == id)
                    );
                }
                _ => {}
            }
            if tag.get("tabindex") == Some("0") {
                assert!(
                    tag.get("aria-label")
                        .or(tag.get("aria-labelledby"))
                        .is_some()
                );
            }
        }
        assert_eq!(
            (self.count("h1"), self.count("main"), self.count("header")),
            (1, 1, 1)
        );
        assert_eq!(self.count("table"), self.count("caption"));
        let charts = self.count("svg");
        assert_eq!(
            (self.count("title"), self.count("desc")),
            (charts + 1, charts)
        );
    }
}

/// A start tag, whether it is closed at once, and what follows.
#[track_caller]
fn start_tag(text: &str) -> (Tag, bool, &str) {
    let end = text
        .find(|c: char| c.is_whitespace() || c == '>' || c == '/')
        .expect("a tag ends");
    let mut tag = Tag {
        name: text[..end].to_owned(),
        attributes: Vec::new(),
    };
    assert!(
        tag.name.chars().all(|c| c.is_ascii_alphanumeric()),
        "{}",
        tag.name
    );
    let mut rest = text[end..].trim_start();
    loop {
        if let Some(after) = rest.strip_prefix("/>") {
            return (tag, true, after);
        }
        if let Some(after) = rest.strip_prefix('>') {
            return (tag, false, after);
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || "=>/".contains(c))
            .expect("an attribute ends");
        let name = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(after) = rest.strip_prefix("=\"") {
            let end = after.find('"').expect("a value ends");
            value = unescaped(&after[..end]);
            rest = &after[end + 1..];
        }
        tag.attributes.push((name, value));
        rest = rest.trim_start();
    }
}

fn unescaped(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
        ("&#38;", "&"),
    ];
    pairs
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
