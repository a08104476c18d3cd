//! What is kept of a browser test that fails.

use std::fs;
use std::path::PathBuf;
use std::thread;

use super::Browser;

/// Watches a test: when it ends by a panic, the window and the page's source are kept.
pub struct Evidence<'a> {
    browser: &'a Browser,
    folder: PathBuf,
}

impl<'a> Evidence<'a> {
    /// Watches the test called `name`; its folder lies beside the built tests.
    pub fn of(name: &str, browser: &'a Browser) -> Evidence<'a> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join("browser-failures")
            .join(name);
        Evidence { browser, folder }
    }

    fn keep(&self) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        fs::write(self.folder.join("page.html"), self.browser.source())?;
        fs::write(self.folder.join("page.png"), self.browser.screenshot())
    }
}

impl Drop for Evidence<'_> {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        // A browser that has crashed must not hide why the test failed: a second panic would abort.
        let kept = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.keep()));
        match kept {
            Ok(Ok(())) => eprintln!("screenshot and source: {}", self.folder.display()),
            Ok(Err(error)) => eprintln!("no evidence in {}: {error}", self.folder.display()),
            Err(_) => eprintln!("the browser no longer answers; no screenshot"),
        }
    }
}
