//! What is fuzzed: a reader with its seeds, and what must hold of it.

use std::io;
use std::path::{Path, PathBuf};

/// The files that one execution reads: by name and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The files.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Input {
    /// One file.
    pub fn one(name: &str, bytes: impl Into<Vec<u8>>) -> Input {
        Input {
            files: vec![(name.to_owned(), bytes.into())],
        }
    }

    /// All files of `folder`, by name; those in folders of it are called by their paths.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn folder(folder: &Path) -> io::Result<Input> {
        let mut files = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(next) = open.pop() {
            for entry in std::fs::read_dir(next)? {
                let place = entry?.path();
                if place.is_dir() {
                    open.push(place);
                    continue;
                }
                let name = place.strip_prefix(folder).unwrap_or(&place);
                files.push((name.to_string_lossy().into_owned(), std::fs::read(&place)?));
            }
        }
        files.sort();
        Ok(Input { files })
    }

    /// Bytes of all files.
    pub fn size(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// The content of the file `name`; empty where there is none.
    pub fn bytes(&self, name: &str) -> &[u8] {
        let mut files = self.files.iter();
        let found = files.find(|(file, _)| file == name);
        found.map_or(&[], |(_, bytes)| bytes)
    }

    /// Writes the files to `folder`.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        for (name, bytes) in &self.files {
            let place = folder.join(name);
            if let Some(parent) = place.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(place, bytes)?;
        }
        Ok(())
    }
}

/// One execution.
#[derive(Debug, Clone, Copy)]
pub struct Execution<'a> {
    /// What is read.
    pub input: &'a Input,
    /// What it was made of.
    pub original: &'a Input,
    /// Whether checksums were made anew after the mutation, so that it may be believed.
    pub is_sealed: bool,
    /// A folder that holds the input's files, and nothing else at first.
    pub folder: &'a Path,
}

impl Execution<'_> {
    /// Where the first file is.
    pub fn file(&self) -> PathBuf {
        self.folder
            .join(self.input.files.first().map_or("", |(name, _)| name))
    }

    /// The content of the first file.
    pub fn bytes(&self) -> &[u8] {
        self.input.files.first().map_or(&[], |(_, bytes)| bytes)
    }

    /// The content of the first file as text.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes())
    }
}

/// What a reader made of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It was refused, with an error of the reader's own kind.
    Refused,
    /// It was read.
    Accepted,
}

/// What a reader made of it, or why that must not be.
pub type Verdict = Result<Seen, String>;

/// How much memory an execution may take beyond what was taken before.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Bytes for each byte of the input.
    pub factor: usize,
    /// Bytes besides.
    pub besides: usize,
}

impl Memory {
    /// The bytes that an input of `size` bytes may take.
    pub fn of(self, size: usize) -> usize {
        self.factor * size + self.besides
    }
}

/// A check of one input.
pub type Run = Box<dyn Fn(&Execution<'_>) -> Verdict + Send>;

/// A reader that is fuzzed.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Good inputs, made by the product wherever it can make them.
    pub seeds: Vec<Input>,
    /// Words of its format.
    pub words: &'static [&'static str],
    /// What makes checksums anew; for formats that have them.
    pub seal: Option<fn(&mut Input)>,
    /// The memory that it may take.
    pub memory: Memory,
    /// The reader, and what must hold of what it gives.
    pub run: Run,
}

impl Target {
    /// A target that takes as much memory as readers of small files do.
    pub fn new(
        name: &'static str,
        seeds: Vec<Input>,
        run: impl Fn(&Execution<'_>) -> Verdict + Send + 'static,
    ) -> Target {
        Target {
            name,
            seeds,
            words: &[],
            seal: None,
            memory: Memory {
                factor: 256,
                besides: 16 << 20,
            },
            run: Box::new(run),
        }
    }

    /// The same with words of its format.
    #[must_use]
    pub fn words(mut self, words: &'static [&'static str]) -> Target {
        self.words = words;
        self
    }

    /// The same with a way to make checksums anew.
    #[must_use]
    pub fn sealed_by(mut self, seal: fn(&mut Input)) -> Target {
        self.seal = Some(seal);
        self
    }

    /// The same with another bound of memory.
    #[must_use]
    pub fn memory(mut self, factor: usize, besides: usize) -> Target {
        self.memory = Memory { factor, besides };
        self
    }
}

/// What `result` says of an input that has no rule beside the common ones.
///
/// # Errors
/// None.
pub fn read<T, E>(result: Result<T, E>) -> Verdict {
    Ok(match result {
        Ok(_) => Seen::Accepted,
        Err(_) => Seen::Refused,
    })
}
