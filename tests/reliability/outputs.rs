//! A result never destroys what it is made from, nor a file of a model or run; another file only
//! where that is asked for. Devices, FIFOs and links are written to.

use std::fs;
use std::process::{Command, Stdio};

use crate::probity_command::{Outcome, binary};
use crate::{AUDIT, spelt, with_texts};

/// Commands that write one file, but for its name, and what they read.
const WRITERS: [(&str, &[&str]); 10] = [
    (
        "schema infer people.csv --label-column income",
        &["people.csv"],
    ),
    (
        "predict --model model --data people.csv",
        &["people.csv", "model/weights.safetensors"],
    ),
    ("kmeans assign --model k", &["k/model.bin"]),
    (
        "kmeans assign --model k --data people.csv --schema people.toml",
        &["people.csv", "k/model.toml"],
    ),
    (
        "knn predict --train people.csv --test people.csv --schema people.toml --max-k 5 --folds 3",
        &["people.csv"],
    ),
    (
        "spn query likelihood --model s --data people.csv",
        &["people.csv", "s/model.spn"],
    ),
    ("spn query sample --model s --rows 2", &["s/model.spn"]),
    (
        "report done",
        &["done/samples.csv", "done/summary.json", "done/new.html"],
    ),
    (
        "embeddings train comments.csv --text-column comment_text --min-count 1 --epochs 1 --width 4",
        &["comments.csv"],
    ),
    (
        "data generate people --rows 3",
        &["done/run.toml", "model/weights.safetensors"],
    ),
];

#[test]
fn what_is_read_is_not_written() {
    let workspace = with_texts();
    let before = workspace.snapshot();
    for (line, read) in WRITERS {
        for file in read {
            for force in ["", " --force"] {
                workspace
                    .line(&format!("{line} --out {file}{force}"))
                    .exits(2)
                    .complains(&[file]);
            }
        }
        // Something else that is there.
        let outcome = workspace
            .line(&format!("{line} --out people.toml"))
            .exits(2);
        outcome.complains(&["people.toml exists", "--force"]);
    }
    for option in ["--svg", "--dot"] {
        for file in ["s/model.spn", "people.csv"] {
            workspace
                .line(&format!("spn show --model s {option} {file}"))
                .exits(2);
        }
    }
    for line in [
        spelt(AUDIT).replace("--out run", "--out done/below"),
        "train --data people.csv --schema people.toml --out model/below".to_owned(),
        "kmeans fit --data people.csv --schema people.toml --clusters 2 --out k/below".to_owned(),
    ] {
        workspace
            .line(&line)
            .exits(2)
            .complains(&["is a model or a run"]);
    }
    assert!(workspace.snapshot() == before);
    // --force replaces, and is refused where there is nothing to replace.
    for (line, _) in WRITERS {
        workspace.write("old", "old");
        workspace
            .line(&format!("{line} --out old --force"))
            .exits(0);
        assert_ne!(workspace.read("old"), "old");
        if !line.starts_with("embeddings") {
            workspace
                .line(&format!("{line} --force"))
                .exits(2)
                .complains(&["--force"]);
        }
    }
}

#[cfg(unix)]
#[test]
fn devices_fifos_and_links_are_written_to() {
    let workspace = with_texts();
    let stdout_of = |line: &str| {
        let outcome = workspace.line(line).exits(0);
        outcome.stdout
    };
    for (line, _) in WRITERS {
        // Standard output by name is standard output: nothing else is said there.
        let named = stdout_of(&format!("{line} --out /dev/stdout"));
        if !line.starts_with("embeddings") {
            assert_eq!(named, stdout_of(line), "{line}");
        }
        workspace.line(&format!("{line} --out /dev/null")).exits(0);
        let full = workspace.line(&format!("{line} --out /dev/full")).exits(2);
        full.complains(&["/dev/full"]);
        // Into a file that the shell opened: after what is there already.
        let appended = workspace.path("appended");
        let script = format!("echo first; {} {line} --out /dev/stdout", binary());
        let shell = Command::new("sh")
            .current_dir(workspace.path(""))
            .args(["-c", &script])
            .stdin(Stdio::null())
            .stdout(fs::File::create(&appended).unwrap())
            .status()
            .unwrap();
        assert!(shell.success());
        let text = fs::read_to_string(appended).unwrap();
        assert!(
            text.starts_with("first\n") && text.len() > 6,
            "{line}: {text}"
        );
        // A FIFO.
        let fifo = workspace.path("fifo");
        let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        let writer = workspace
            .prepared(&format!("{line} --out fifo"))
            .spawn()
            .unwrap();
        let read = fs::read(&fifo).unwrap();
        Outcome::new(writer.wait_with_output().unwrap()).exits(0);
        assert!(!read.is_empty(), "{line}");
        fs::remove_file(fifo).unwrap();
        // A link.
        workspace.write("target", "old");
        std::os::unix::fs::symlink("target", workspace.path("link")).unwrap();
        workspace
            .line(&format!("{line} --out link"))
            .exits(2)
            .complains(&["exists"]);
        workspace
            .line(&format!("{line} --out link --force"))
            .exits(0);
        assert!(
            fs::symlink_metadata(workspace.path("link"))
                .unwrap()
                .is_symlink()
        );
        assert_ne!(workspace.read("target"), "old");
        fs::remove_file(workspace.path("link")).unwrap();
    }
    for device in ["/dev/null", "/dev/full"] {
        assert!(!fs::metadata(device).unwrap().is_file());
    }
}

/// A model whose file is a link is deleted from where the link leads; one with a second name is
/// refused.
#[cfg(unix)]
#[test]
fn deletions_reach_all_names() {
    let workspace = with_texts();
    for (command, directory, file) in [("kmeans", "k", "model.bin"), ("spn", "s", "model.spn")] {
        let path = workspace.path(&format!("{directory}/{file}"));
        let kept = workspace.path(&format!("kept-{file}"));
        let delete =
            |id: usize| workspace.line(&format!("{command} delete --model {directory} --ids {id}"));
        fs::hard_link(&path, &kept).unwrap();
        delete(3).exits(2).complains(&["second name"]);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(format!("../kept-{file}"), &path).unwrap();
        let before = fs::read(&kept).unwrap();
        delete(3).exits(0);
        assert_ne!(fs::read(&kept).unwrap(), before);
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
        delete(3).exits(2);
    }
}

/// What else is given, and what links lead to.
#[cfg(unix)]
#[test]
fn no_name_hides_what_is_read() {
    use std::os::unix::fs::symlink;
    let workspace = with_texts();
    symlink(
        workspace.path("model/weights.safetensors"),
        workspace.path("to-weights"),
    )
    .unwrap();
    symlink(workspace.path("s/model.spn"), workspace.path("to-network")).unwrap();
    symlink(workspace.path("k/new"), workspace.path("to-new")).unwrap();
    let before = workspace.snapshot();
    let schema = "--schema people.toml --out people.toml --force";
    for (line, file) in [
        (
            format!(
                "knn predict --train people.csv --test people.csv --max-k 5 --folds 3 {schema}"
            ),
            "people.toml is named twice",
        ),
        (
            format!("kmeans assign --model k --data people.csv {schema}"),
            "people.toml is named twice",
        ),
        (
            "data generate people --rows 3 --out to-weights --force".to_owned(),
            "is a model or a run",
        ),
        (
            "data generate people --rows 3 --out to-new".to_owned(),
            "is a model or a run",
        ),
        (
            "spn show --model s --svg to-network --force".to_owned(),
            "to-network",
        ),
        ("spn show --model s --svg n --dot n".to_owned(), "one file"),
    ] {
        workspace.line(&line).exits(2).complains(&[file]);
    }
    assert!(workspace.snapshot() == before);
}
