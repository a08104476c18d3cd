//! A page of documentation, and its commands as they are run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::shown::Shown;
use crate::probity_command::{WITHOUT_GPU, Workspace, binary};
use probity_testing::data_folder;

/// What stands in for the world around a page.
const PRELUDE: &str = include_str!("prelude.sh");

/// One command of a block, with its continued lines.
struct Line {
    number: usize,
    text: String,
    exit: i32,
}

/// The commands of one block, and what the page says that they print.
struct Block {
    commands: Vec<Line>,
    output: Option<(usize, Shown)>,
}

/// A page.
pub struct Page {
    name: String,
    blocks: Vec<Block>,
    given: fn(&Workspace) -> Lacks,
    /// Whether each command is for a reader of its own.
    apart: bool,
}

/// Words of the commands that cannot be run here.
pub type Lacks = Vec<&'static str>;

impl Page {
    /// The blocks of the page `name`, a path from the root of the project.
    pub fn read(name: &str) -> Page {
        let text = std::fs::read_to_string(project(name)).unwrap();
        let mut blocks: Vec<Block> = Vec::new();
        let mut lines = text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            let Some(kind) = line.trim_start().strip_prefix("```") else {
                continue;
            };
            let inside = lines.by_ref().take_while(|(line, _)| line.trim() != "```");
            let inside: Vec<(&str, usize)> = inside.collect();
            match kind {
                "sh" => blocks.push(Block {
                    commands: commands(&inside),
                    output: None,
                }),
                "text output" => {
                    let block = blocks.last_mut();
                    let block = block.unwrap_or_else(|| panic!("{name}:{number}: output of what?"));
                    let shown = Shown::new(inside.iter().map(|(line, _)| *line));
                    block.output = Some((number, shown));
                }
                _ => {
                    let titled = kind.split_once("title=\"");
                    if let Some(title) = titled.and_then(|(_, title)| title.strip_suffix('"')) {
                        let line = writing(title, number, &inside);
                        blocks.push(Block {
                            commands: vec![line],
                            output: None,
                        });
                    }
                }
            }
        }
        assert!(!blocks.is_empty(), "{name} has no commands");
        Page {
            name: name.to_owned(),
            blocks,
            given: |_| Lacks::new(),
            apart: false,
        }
    }

    /// The examples in the reference, which is the help of every command.
    pub fn examples() -> Page {
        let name = "docs/reference.md";
        let text = std::fs::read_to_string(project(name)).unwrap();
        let mut inside = false;
        let mut lines = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            inside = line == "Examples:" || (inside && line.starts_with("  "));
            if inside && line != "Examples:" {
                lines.push((line.trim_start(), number));
            }
        }
        Page {
            name: name.to_owned(),
            blocks: vec![Block {
                commands: commands(&lines),
                output: None,
            }],
            given: |_| Lacks::new(),
            apart: true,
        }
    }

    /// What the page takes for granted: files that its reader has.
    pub fn given(mut self, given: fn(&Workspace) -> Lacks) -> Page {
        self.given = given;
        self
    }

    /// Runs all commands, and compares what they do with what the page says.
    pub fn runs(mut self) {
        let workspace = Workspace::new();
        let lacks = (self.given)(&workspace);
        for block in &mut self.blocks {
            let is_there = |line: &Line| !lacks.iter().any(|word| line.text.contains(word));
            block.commands.retain(is_there);
        }
        let record = Workspace::new();
        let root = workspace.path("");
        let given = workspace.snapshot().into_iter();
        let given = given.filter_map(|(path, _)| {
            Some(format!("{}\n", path.strip_prefix(&root).ok()?.display()))
        });
        record.write("given", given.collect::<String>());
        let mut script = PRELUDE.to_owned();
        let all = || self.blocks.iter().flat_map(|block| &block.commands);
        for command in all() {
            let Line { number, text, exit } = command;
            let file = record.path(&number.to_string()).display().to_string();
            let _ = write!(
                script,
                "{{\n{text}\n}} > '{file}.out' 2>&1\n\
                 status=$?; echo $status > '{file}.exit'; [ $status = {exit} ] || exit 1\n"
            );
        }
        let python = std::env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let ran = Command::new("bash")
            .args(["-c", &script])
            .current_dir(workspace.path("."))
            .env("PROBITY", binary())
            .env(WITHOUT_GPU.0, WITHOUT_GPU.1)
            .env("PROBITY_CACHE_DIR", record.path("cache"))
            .env("PYTHON", python)
            .env("EDITOR", "true")
            .env("GIVEN", record.path("given"))
            .env("APART", self.apart.to_string())
            .env("PUBLISHED", data_folder().join("adult"))
            .env("HOME", record.path("home"))
            .stdin(Stdio::null())
            .output()
            .expect("bash is there");
        for block in &self.blocks {
            let mut printed = String::new();
            for command in &block.commands {
                let Line { number, text, exit } = command;
                let read = |end: &str| {
                    let path = record.path(&format!("{number}.{end}"));
                    std::fs::read_to_string(path).unwrap_or_default()
                };
                let out = read("out");
                assert_eq!(
                    read("exit").trim(),
                    exit.to_string(),
                    "{}:{number}: {text}\n{out}\n{}",
                    self.name,
                    String::from_utf8_lossy(&ran.stderr)
                );
                printed += &out;
            }
            if let Some((number, shown)) = &block.output
                && let Err(difference) = shown.compare(&printed)
            {
                panic!("{}:{number}: {difference}\n\n{printed}", self.name);
            }
        }
    }
}

impl Page {
    /// Looks up what the commands of a page name, for one whose commands take hours: the options of
    /// ours, the benchmarks, the papers and the scripts.
    pub fn names_what_is_there(self) {
        let is_there = |path: String| project(&path).exists();
        for line in self.blocks.iter().flat_map(|block| &block.commands) {
            let text = line.text.replace("\\\n", " ");
            let text = text
                .split_once(" #")
                .map_or(text.as_str(), |(text, _)| text);
            let words: Vec<&str> = text.split_whitespace().collect();
            let known = match words.as_slice() {
                ["cargo", "bench", "--bench", name, ..] => is_there(format!("benches/{name}.rs")),
                [
                    "cargo",
                    "run",
                    "--release",
                    "-p",
                    "probity-reproduce",
                    "--",
                    paper,
                    ..,
                ] => is_there(format!("crates/reproduce/src/{paper}")),
                ["python" | "python3", script, ..] => is_there((*script).to_owned()),
                ["cargo", "build", "--release", ..] => true,
                ["probity", words @ ..] => has_options(words),
                _ => false,
            };
            assert!(known, "{}:{}: {text}", self.name, line.number);
        }
    }
}

/// Whether the command that `words` begin with has the options among them.
fn has_options(words: &[&str]) -> bool {
    let is_name = |word: &&&str| word.starts_with(|first: char| first.is_ascii_lowercase());
    let command: Vec<&str> = words.iter().take_while(is_name).copied().collect();
    let help = Workspace::new()
        .run(command.into_iter().chain(["--help"]))
        .exits(0)
        .stdout;
    let mut options = words.iter().filter(|word| word.starts_with("--"));
    options
        .all(|option| help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")))
}

/// A path in the project.
pub fn project(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// What the reader does who writes the content of a block, that of line `number`, into the file
/// `name`.
fn writing(name: &str, number: usize, lines: &[(&str, usize)]) -> Line {
    let mut text = format!("mkdir -p \"$(dirname '{name}')\"\ncat > '{name}' <<'END OF {name}'\n");
    for (line, _) in lines {
        text.push_str(line);
        text.push('\n');
    }
    let _ = write!(text, "END OF {name}");
    Line {
        number,
        text,
        exit: 0,
    }
}

/// The commands of a block: a line that ends with `\` goes on in the next one.
fn commands(lines: &[(&str, usize)]) -> Vec<Line> {
    let mut commands: Vec<Line> = Vec::new();
    let mut goes_on = false;
    for &(line, number) in lines {
        let begun = commands.last_mut().filter(|_| goes_on);
        goes_on = line.ends_with('\\');
        match begun {
            Some(command) => {
                command.text.push('\n');
                command.text.push_str(line);
            }
            None if line.trim().is_empty() || line.starts_with('#') => continue,
            None => commands.push(Line {
                number,
                text: line.to_owned(),
                exit: 0,
            }),
        }
        if let Some(command) = commands.last_mut()
            && line.contains("# exit code 1")
        {
            command.exit = 1;
        }
    }
    commands
}
