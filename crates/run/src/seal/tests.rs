use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::EncodePrivateKey;
use ed25519_dalek::pkcs8::spki::EncodePublicKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use proptest::prelude::*;
use rand::RngExt;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::statement::Statement;
use super::*;
use crate::hash::sha256_of;
use crate::lock::{DirectoryLock, LOCK};
use crate::names::CHECKPOINT;
use crate::run_directory::{RunError, SUMMARY};
use crate::stream::{Purpose, stream};

fn key(number: u8) -> PrivateKey {
    PrivateKey::new(SigningKey::from_bytes(&[number; 32]))
}

fn keys(number: u8) -> Vec<PublicKey> {
    vec![key(number).public().clone()]
}

/// Writes the run `name`, which opened `opened`, names `paths` and has a summary with `figures`.
fn write_run(
    folder: &Path,
    name: &str,
    opened: &[(&str, String)],
    paths: &[PathBuf],
    figures: &Value,
) -> PathBuf {
    let path = folder.join(name);
    let run = RunDirectory::create(&path).unwrap();
    let mut text = format!("kind = \"audit\"\nversion = 1\nruns = {paths:?}\n[record]\n");
    text += "probity_version = \"0.1.0\"\n[record.sha256]\n";
    for (role, hash) in opened {
        text += &format!("{role} = \"{hash}\"\n");
    }
    run.write_options(&text).unwrap();
    fs::write(run.file("samples.csv"), format!("x,y\n{name},2\n")).unwrap();
    if figures["repaired_sha256"].is_string() {
        fs::write(run.file("model.toml"), name).unwrap();
        fs::create_dir(path.join("parts")).unwrap();
        fs::write(path.join("parts/one.bin"), [7; 100]).unwrap();
    }
    run.write_summary(figures).unwrap();
    path
}

/// A chain of sealed runs: an audit, a repair that was made from it, and an audit of what that
/// made.
struct Chain {
    folder: TempDir,
    runs: [PathBuf; 3],
}

impl Chain {
    fn unsealed() -> Chain {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let model = ("model", "aa".to_owned());
        let before = write_run(
            at,
            "before",
            std::slice::from_ref(&model),
            &[],
            &json!({"model_sha256": "aa"}),
        );
        let summary = file_sha256(&before.join(SUMMARY)).unwrap();
        let repaired = json!({"model_sha256": "aa", "repaired_sha256": "bb"});
        let repair = write_run(
            at,
            "repair",
            &[model, ("audit_1", summary)],
            std::slice::from_ref(&before),
            &repaired,
        );
        let after = write_run(
            at,
            "after",
            &[("model", "bb".to_owned())],
            std::slice::from_ref(&repair),
            &json!({"model_sha256": "bb", "ending": "complete"}),
        );
        let runs = [before, repair, after];
        Chain { folder, runs }
    }

    fn sealed() -> Chain {
        let chain = Chain::unsealed();
        for run in &chain.runs {
            seal(run, &key(1), &[]).unwrap();
        }
        chain
    }

    /// Returns every file of the three runs.
    fn files(&self) -> Vec<PathBuf> {
        let of = |run: &PathBuf| {
            let files = files_of(run).unwrap().into_keys();
            let files = files.chain([SEAL.to_owned()]);
            files.map(|name| run.join(name)).collect::<Vec<_>>()
        };
        self.runs.iter().flat_map(of).collect()
    }

    fn last(&self) -> &Path {
        &self.runs[2]
    }

    /// Returns the files that are refused, and why.
    #[track_caller]
    fn problems(&self) -> Vec<(PathBuf, String)> {
        let problems = check(self.last(), &keys(1), &[]).problems;
        let problems = problems.into_iter();
        problems.map(|found| (found.file, found.problem)).collect()
    }

    #[track_caller]
    fn refuses(&self, file: &Path, says: &str) {
        let problems = self.problems();
        let is_named =
            |(found, problem): &(PathBuf, String)| found == file && problem.contains(says);
        assert!(problems.iter().any(is_named), "{problems:#?}");
    }
}

#[test]
fn a_chain_of_runs_is_as_it_was_sealed() {
    let chain = Chain::sealed();
    let checked = check(chain.last(), &keys(1), &[]);
    assert!(checked.problems.is_empty(), "{checked:#?}");
    let found: Vec<&Path> = checked.runs.iter().map(|run| &*run.directory).collect();
    let [before, repair, after] = &chain.runs;
    assert_eq!(found, [after, repair, before]);
    let from = |run: usize| -> Vec<(&str, &Path, bool)> {
        let from = checked.runs[run].made_from.iter();
        from.map(|from| (&*from.role, &*from.directory, from.seal.is_some()))
            .collect()
    };
    assert_eq!(from(0), [("model", &**repair, true)]);
    assert_eq!(from(1), [("audit_1", &**before, true)]);
    assert!(from(2).is_empty());
    assert_eq!(checked.runs[1].files, 5);
    // From other relative places, too.
    let again = repair.join("../after");
    assert!(check(&again, &keys(1), &[]).problems.is_empty());
}

/// Flips 1,000 bits, each of which is refused with the name of its file.
#[test]
fn every_flipped_bit_is_refused_by_the_name_of_its_file() {
    let chain = Chain::sealed();
    let files = chain.files();
    let mut flipped = BTreeSet::new();
    for item in 0..1_000 {
        let mut draw = stream(1, Purpose::UniformInput, item, 0);
        let file = &files[draw.random_range(0..files.len())];
        let bytes = fs::read(file).unwrap();
        let mut changed = bytes.clone();
        changed[draw.random_range(0..bytes.len())] ^= 1 << draw.random_range(0..8);
        fs::write(file, changed).unwrap();
        chain.refuses(file, "");
        fs::write(file, bytes).unwrap();
        flipped.insert(file.clone());
    }
    assert_eq!(flipped.len(), files.len());
    assert!(chain.problems().is_empty());
}

/// Every bit of one seal counts: what is signed, and all around it.
#[test]
fn every_bit_of_a_seal_counts() {
    let chain = Chain::sealed();
    let file = chain.last().join(SEAL);
    let bytes = fs::read(&file).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let problem = Envelope::from_bytes(&changed).and_then(|envelope| {
                let statement = envelope.statement_by(&keys(1))?;
                Ok(statement.subject.len())
            });
            assert!(problem.is_err(), "byte {at}, bit {bit}");
        }
    }
    for other in [
        &bytes[..bytes.len() - 1],
        &[&*bytes, b" "].concat(),
        b"",
        b"{}",
    ] {
        fs::write(&file, other).unwrap();
        chain.refuses(&file, "");
    }
}

#[test]
fn what_is_added_removed_or_replaced_is_named() {
    for at in 0..3 {
        for name in [
            "notes.txt",
            "parts/two.bin",
            CHECKPOINT,
            ".probity-abcdefgh.part",
            "a\nb",
        ] {
            let chain = Chain::sealed();
            let file = chain.runs[at].join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            chain.refuses(&file, "was added");
        }
        for name in ["samples.csv", RUN, SUMMARY] {
            let chain = Chain::sealed();
            let file = chain.runs[at].join(name);
            fs::remove_file(&file).unwrap();
            chain.refuses(&file, "is not there any more");
            // A directory of that name is no file.
            fs::create_dir(&file).unwrap();
            chain.refuses(&file, "is not there any more");
        }
        let chain = Chain::sealed();
        let (from, to) = (chain.runs[at].join(RUN), chain.runs[at].join("samples.csv"));
        fs::copy(from, &to).unwrap();
        chain.refuses(&to, "was changed");
        let seal = chain.runs[at].join(SEAL);
        fs::remove_file(&seal).unwrap();
        chain.refuses(&seal, "is not there");
    }
    // An empty directory, and the empty lock that a kill leaves, hold nothing; a full one does.
    let chain = Chain::sealed();
    fs::create_dir(chain.last().join("empty")).unwrap();
    fs::write(chain.last().join(LOCK), "").unwrap();
    assert!(chain.problems().is_empty());
    fs::write(chain.last().join(LOCK), "x").unwrap();
    chain.refuses(&chain.last().join(LOCK), "was added");
}

#[cfg(unix)]
#[test]
fn links_are_no_files() {
    use std::os::unix::fs::symlink;
    let chain = Chain::unsealed();
    let (file, link) = (chain.last().join("samples.csv"), chain.last().join("link"));
    symlink(&file, &link).unwrap();
    let refused = seal(chain.last(), &key(1), &[]).unwrap_err().to_string();
    assert!(
        refused.contains("link is a link to another place"),
        "{refused}"
    );
    assert!(!chain.last().join(SEAL).exists() && !chain.last().join(LOCK).exists());
    let chain = Chain::sealed();
    let file = chain.last().join("samples.csv");
    let elsewhere = chain.folder.path().join("same.csv");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    chain.refuses(&file, "is a link");
    let seal = chain.last().join(SEAL);
    let elsewhere = chain.folder.path().join("seal.json");
    fs::rename(&seal, &elsewhere).unwrap();
    symlink(&elsewhere, &seal).unwrap();
    chain.refuses(&seal, "is a link");
}

#[test]
fn another_key_is_refused_wherever_it_signed() {
    for at in 0..3 {
        let chain = Chain::unsealed();
        for (number, run) in chain.runs.iter().enumerate() {
            let by = if number == at { 2 } else { 1 };
            seal(run, &key(by), &[]).unwrap();
        }
        chain.refuses(&chain.runs[at].join(SEAL), "signed by another key");
        let both = [keys(1), keys(2)].concat();
        assert!(check(chain.last(), &both, &[]).problems.is_empty());
    }
    // A forger who signs anew, and says that it was the first key.
    let chain = Chain::sealed();
    let file = chain.last().join(SEAL);
    let own = fs::read_to_string(&file).unwrap();
    fs::remove_file(&file).unwrap();
    seal(chain.last(), &key(2), &[]).unwrap();
    let forged = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        forged.replace(key(2).public().id(), key(1).public().id()),
    )
    .unwrap();
    chain.refuses(&file, "its signature is not that of what it states");
    // Who seals an earlier run anew breaks the chain.
    fs::write(&file, own).unwrap();
    assert!(chain.problems().is_empty());
    let first = chain.runs[0].join(SEAL);
    fs::remove_file(&first).unwrap();
    fs::write(chain.runs[0].join("samples.csv"), "x,y\n").unwrap();
    let refused = seal(&chain.runs[0], &key(1), &[]).unwrap_err();
    assert!(
        refused.to_string().contains("samples.csv was changed"),
        "{refused}"
    );
}

#[test]
fn an_envelope_holds_one_signature_of_one_type_of_payload() {
    let chain = Chain::sealed();
    let file = chain.last().join(SEAL);
    let own: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let write = |value: &Value| {
        let mut bytes = serde_json::to_vec_pretty(value).unwrap();
        bytes.push(b'\n');
        fs::write(&file, bytes).unwrap();
    };
    let mut two = own.clone();
    let extra = two["signatures"][0].clone();
    two["signatures"].as_array_mut().unwrap().push(extra);
    let mut none = own.clone();
    none["signatures"] = json!([]);
    let mut other_type = own.clone();
    other_type["payloadType"] = json!("application/json");
    let mut more = own.clone();
    more["note"] = json!("?");
    for (value, says) in [
        (two, "has 2 signatures"),
        (none, "has 0 signatures"),
        (other_type, "holds 'application/json'"),
        (more, "unknown field"),
    ] {
        write(&value);
        chain.refuses(&file, says);
    }
    // The same in another form.
    fs::write(&file, own.to_string()).unwrap();
    chain.refuses(&file, "not in the one form");
}

#[test]
fn what_is_no_whole_run_is_not_sealed() {
    let chain = Chain::unsealed();
    let refused = |says: &str| {
        let error = seal(chain.last(), &key(1), &[]).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert!(!chain.last().join(SEAL).exists());
    };
    let summary = chain.last().join(SUMMARY);
    let own = fs::read(&summary).unwrap();
    fs::remove_file(&summary).unwrap();
    refused("is unfinished");
    fs::write(&summary, &own[1..]).unwrap();
    refused("summary.json was changed");
    fs::write(&summary, &own).unwrap();
    let lock = DirectoryLock::now(chain.last()).unwrap();
    refused("another process is writing");
    drop(lock);
    seal(chain.last(), &key(1), &[]).unwrap();
    let again = seal(chain.last(), &key(1), &[]).unwrap_err().to_string();
    assert!(again.contains("is sealed"), "{again}");
    assert!(matches!(
        RunDirectory::open_to_write(chain.last()),
        Err(RunError::Sealed { .. })
    ));
    let absent = seal(chain.folder.path(), &key(1), &[])
        .unwrap_err()
        .to_string();
    assert!(absent.contains(RUN), "{absent}");
}

#[test]
fn runs_that_moved_are_found_where_they_are_said_to_be() {
    let chain = Chain::sealed();
    let moved = chain.folder.path().join("moved");
    fs::rename(&chain.runs[1], &moved).unwrap();
    chain.refuses(&chain.runs[1].join(SEAL), "is not there");
    let found = check(chain.last(), &keys(1), std::slice::from_ref(&moved));
    assert!(
        found.problems.is_empty() && found.runs.len() == 3,
        "{found:#?}"
    );
    // Another sealed run in its place does not pass for it.
    fs::rename(&chain.runs[0], &chain.runs[1]).unwrap();
    chain.refuses(&chain.runs[1].join(SEAL), "is not the seal that was there");

    // A directory that is named is one of them, also where the one that the seal names is there.
    let chain = Chain::sealed();
    let copy = chain.folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    let seal_of = fs::read_to_string(chain.runs[1].join(SEAL)).unwrap();
    fs::write(copy.join(SEAL), format!("{seal_of} ")).unwrap();
    let found = check(chain.last(), &keys(1), std::slice::from_ref(&copy));
    assert_eq!(found.problems.len(), 1);
    assert_eq!(found.problems[0].file, copy.join(SEAL));

    let chain = Chain::unsealed();
    let moved = chain.folder.path().join("moved");
    fs::rename(&chain.runs[1], &moved).unwrap();
    seal(&moved, &key(1), &[]).unwrap();
    let unlinked = seal(chain.last(), &key(1), &[]).unwrap();
    assert!(unlinked.made_from.is_empty());
    fs::remove_file(chain.last().join(SEAL)).unwrap();
    let linked = seal(chain.last(), &key(1), std::slice::from_ref(&moved)).unwrap();
    assert_eq!(linked.made_from.len(), 1);
    assert_eq!(linked.made_from[0].directory, moved);
}

#[test]
fn nothing_is_sealed_on_a_run_that_is_not_as_it_was_sealed() {
    let chain = Chain::unsealed();
    let [before, repair, after] = &chain.runs;
    // A run that is not sealed begins the chain, and the seal says so.
    let sealed = seal(repair, &key(1), &[]).unwrap();
    assert_eq!(sealed.made_from.len(), 1);
    assert_eq!(sealed.made_from[0].seal, None);
    fs::write(repair.join("parts/one.bin"), "other").unwrap();
    let refused = seal(after, &key(1), &[]).unwrap_err().to_string();
    assert!(refused.contains("parts/one.bin was changed"), "{refused}");
    assert!(!before.join(SEAL).exists() && !after.join(SEAL).exists());
}

#[test]
fn keys_are_read_from_pem() {
    let folder = tempfile::tempdir().unwrap();
    let [private, public] = ["private.pem", "public.pem"].map(|name| folder.path().join(name));
    let signing = SigningKey::from_bytes(&[3; 32]);
    fs::write(&private, &*signing.to_pkcs8_pem(LineEnding::LF).unwrap()).unwrap();
    let pem = signing.verifying_key().to_public_key_pem(LineEnding::LF);
    fs::write(&public, pem.unwrap()).unwrap();
    let read = PublicKey::read(&public).unwrap();
    assert_eq!(&read, PrivateKey::read(&private).unwrap().public());
    let der = signing.verifying_key().to_public_key_der().unwrap();
    assert_eq!(read.id(), sha256_of(&mut der.as_bytes()).unwrap());
    for file in [&private, &folder.path().join("absent")] {
        let error = PublicKey::read(file).err().unwrap().to_string();
        assert!(error.contains(file.to_str().unwrap()), "{error}");
    }
    let error = PrivateKey::read(&public).err().unwrap().to_string();
    assert!(
        error.contains("no private key of Ed25519") && error.contains("openssl"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The reader of seals refuses any bytes with a reason and fails in no other way.
    #[test]
    fn bytes_are_no_seal(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Envelope::from_bytes(&bytes).is_err());
        prop_assert!(Statement::from_payload(&bytes).is_err());
    }
}
