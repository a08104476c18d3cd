//! A page on paper: a Chromium without a window prints it by its style for print.
//!
//! The page is written into a folder of its own with a policy that allows its style alone, and no
//! other name or address leads anywhere, so no script runs and nothing is loaded. The browser first runs in its sandbox; where the
//! machine gives it none (containers, root), it runs without: what it reads is the page alone. It
//! is ended after [`LONGEST`].

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::error::PageError;
use super::html::content_security;

/// Environment variable with the path of a Chromium or Chrome.
const CHROMIUM: &str = "PROBITY_CHROMIUM";

/// What it is called, otherwise, on the search path.
const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// What printing may take.
pub const LONGEST: Duration = Duration::from_secs(60);

/// How often it is asked whether the browser is done.
const PAUSE: Duration = Duration::from_millis(20);

/// Where a page takes its policy.
const HEAD: &str = "<head>";

/// The beginning of every PDF.
const MAGIC: &[u8] = b"%PDF-";

/// Flags that make printing repeatable and keep the browser to itself.
const FLAGS: [&str; 10] = [
    "--headless",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-pdf-header-footer",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
];

/// `html` as PDF.
///
/// # Errors
/// When there is no browser, or it makes none in time.
pub fn print(html: &str) -> Result<Vec<u8>, PageError> {
    let browser = browser(env::var_os(CHROMIUM), env::var_os("PATH"))?;
    let folder = tempfile::tempdir()?;
    let page = folder.path().join("page.html");
    let style = content_security().style;
    let policy = format!(
        "{HEAD}\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {style}\">"
    );
    fs::write(&page, html.replacen(HEAD, &policy, 1))?;
    let end = Instant::now() + LONGEST;
    let mut problem = String::new();
    for sandbox in [None, Some("--no-sandbox")] {
        match attempt(&browser, folder.path(), sandbox, end)? {
            Ok(pdf) => return Ok(pdf),
            Err(said) => problem = said,
        }
    }
    Err(PageError::Printing { browser, problem })
}

/// The browser that is named, else the first on the search path.
fn browser(named: Option<OsString>, path: Option<OsString>) -> Result<PathBuf, PageError> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let folders: Vec<PathBuf> = env::split_paths(&path.unwrap_or_default()).collect();
    let places = NAMES.iter().flat_map(|name| {
        let name = format!("{name}{}", env::consts::EXE_SUFFIX);
        folders.iter().map(move |folder| folder.join(&name))
    });
    let found = places.into_iter().find(|place| place.is_file());
    found.ok_or(PageError::NoBrowser {
        names: &NAMES,
        variable: CHROMIUM,
    })
}

/// What one start of the browser prints of `page.html` in `folder`, or what it said instead.
fn attempt(
    browser: &Path,
    folder: &Path,
    sandbox: Option<&str>,
    end: Instant,
) -> Result<Result<Vec<u8>, String>, PageError> {
    let out = folder.join("page.pdf");
    let said = folder.join("said.txt");
    let with = |option: &str, value: &OsStr| {
        let mut flag = OsString::from(option);
        flag.push(value);
        flag
    };
    let started = Command::new(browser)
        .args(FLAGS)
        .args(sandbox)
        .arg(with("--user-data-dir=", folder.join("profile").as_os_str()))
        .arg(with("--print-to-pdf=", out.as_os_str()))
        .arg(folder.join("page.html"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said)?)
        .spawn();
    let mut child = started.map_err(|source| PageError::Browser {
        browser: browser.to_owned(),
        source,
    })?;
    while child.try_wait()?.is_none() {
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            let seconds = LONGEST.as_secs();
            return Ok(Err(format!("it was not done after {seconds} seconds")));
        }
        sleep(PAUSE);
    }
    match fs::read(&out) {
        Ok(pdf) if pdf.starts_with(MAGIC) => Ok(Ok(pdf)),
        Ok(_) => Ok(Err("what it wrote is no PDF".to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let words = String::from_utf8_lossy(&fs::read(&said)?).into_owned();
            let last = words.lines().rfind(|line| !line.trim().is_empty());
            Ok(Err(last.unwrap_or("it wrote nothing").to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_is_the_one_named_or_the_first_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = Some(folder.path().as_os_str().to_owned());
        let none = browser(None, path.clone()).unwrap_err().to_string();
        assert!(
            none.contains(CHROMIUM) && none.contains("chromium"),
            "{none}"
        );
        let name = format!("google-chrome{}", env::consts::EXE_SUFFIX);
        let chrome = folder.path().join(name);
        fs::write(&chrome, "").unwrap();
        assert_eq!(browser(None, path.clone()).unwrap(), chrome);
        let named = browser(Some("/x/y".into()), path).unwrap();
        assert_eq!(named, PathBuf::from("/x/y"));
    }

    #[test]
    fn what_cannot_be_started_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent");
        let tried = attempt(&absent, folder.path(), None, Instant::now() + LONGEST);
        let error = tried.unwrap_err().to_string();
        assert!(error.contains("absent"), "{error}");
    }
}
