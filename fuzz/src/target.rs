//! Targets of fuzzing: a reader with its seeds, and what must hold of its result.

use std::io;
use std::path::{Path, PathBuf};

/// The files that one execution reads, with their names and contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The files: name and content of each.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Input {
    /// Makes an input of one file.
    pub fn one(name: &str, bytes: impl Into<Vec<u8>>) -> Input {
        Input {
            files: vec![(name.to_owned(), bytes.into())],
        }
    }

    /// Reads all files of `folder` under their names; a file in a folder inside it is called by its
    /// path.
    ///
    /// # Errors
    /// When the files cannot be read.
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

    /// The number of bytes of all files together.
    pub fn size(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// The content of the file `name`; empty where the input has no such file.
    pub fn bytes(&self, name: &str) -> &[u8] {
        let mut files = self.files.iter();
        let found = files.find(|(file, _)| file == name);
        found.map_or(&[], |(_, bytes)| bytes)
    }

    /// Writes the files to `folder`.
    ///
    /// # Errors
    /// When the files cannot be written.
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

/// One execution: the input, where it came from, and the folder that holds it.
#[derive(Debug, Clone, Copy)]
pub struct Execution<'a> {
    /// The input that is read.
    pub input: &'a Input,
    /// The seed that the input was made from.
    pub original: &'a Input,
    /// Whether checksums were computed again after the mutation, so that a reader may trust the
    /// file.
    pub is_sealed: bool,
    /// A folder that holds the input's files, and at first nothing else.
    pub folder: &'a Path,
}

impl Execution<'_> {
    /// The path of the first file.
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

/// What a reader did with its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The reader refused the input, with an error of the reader's own kind.
    Refused,
    /// The reader accepted the input.
    Accepted,
}

/// What a reader did with its input, or a message that says which rule it broke.
pub type Verdict = Result<Seen, String>;

/// A bound on the memory that an execution takes beyond what was in use before.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Bytes allowed for each byte of the input.
    pub factor: usize,
    /// Bytes allowed whatever the size of the input.
    pub besides: usize,
}

impl Memory {
    /// The number of bytes that the reading of an input of `size` bytes may take.
    pub fn limit(self, size: usize) -> usize {
        self.factor * size + self.besides
    }
}

/// A function that reads one input and checks what must hold.
pub type Run = Box<dyn Fn(&Execution<'_>) -> Verdict + Send>;

/// A reader that is fuzzed, with its seeds and bounds.
pub struct Target {
    /// The name of the target.
    pub name: &'static str,
    /// Valid inputs, written by the product wherever it can write them.
    pub seeds: Vec<Input>,
    /// Words of the format, which mutations insert.
    pub words: &'static [&'static str],
    /// A function that computes the checksums of an input again, for formats that have checksums.
    pub seal: Option<fn(&mut Input)>,
    /// The memory that the reader may take.
    pub memory: Memory,
    /// The reader with the checks of its result.
    pub run: Run,
}

impl Target {
    /// Makes a target with the bound of memory of readers of small files.
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

    /// Sets the words of the format.
    #[must_use]
    pub fn words(mut self, words: &'static [&'static str]) -> Target {
        self.words = words;
        self
    }

    /// Sets the function that computes checksums again.
    #[must_use]
    pub fn sealed_by(mut self, seal: fn(&mut Input)) -> Target {
        self.seal = Some(seal);
        self
    }

    /// Sets the bound of memory.
    #[must_use]
    pub fn memory(mut self, factor: usize, besides: usize) -> Target {
        self.memory = Memory { factor, besides };
        self
    }
}

/// Turns `result` into a verdict for an input that has no rules beside the common ones.
///
/// # Errors
/// None.
pub fn read<T, E>(result: Result<T, E>) -> Verdict {
    Ok(match result {
        Ok(_) => Seen::Accepted,
        Err(_) => Seen::Refused,
    })
}
