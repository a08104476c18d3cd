//! Copies of the published files in local folders.

use std::fs;
use std::io::Write;

use probity::data::fetch::{FetchError, Origin, catalogue};

use super::archives::{nested, nested_zip};
use super::cache::*;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(content).unwrap();
    writer.finish().unwrap()
}

#[test]
fn a_local_copy_is_found_in_every_form() {
    let forms: [(&str, Vec<u8>); 7] = [
        ("people.csv", people()),
        ("people.csv.gz", gzip(&people())),
        ("folk/people-table.csv", people()),
        ("folk/people-table.csv.gz", gzip(&people())),
        ("people-table.csv", people()),
        ("raw_people", people()),
        ("outer.zip", nested_zip()),
    ];
    let set = entry(vec![
        plain("http://host/raw_people".into()),
        nested("http://host/outer.zip".into()),
    ]);
    for (path, content) in forms {
        let from = tempfile::tempdir().unwrap();
        let copy = from.path().join(path);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(&copy, content).unwrap();
        let cache = Cache::new(options(0));
        let fetched = cache.copy_from(&set, from.path()).unwrap();
        assert_eq!(
            fetched.files[0].origin,
            Origin::Copy(copy.clone()),
            "{path}"
        );
        cache.assert_holds_only_people();
        assert!(copy.exists(), "the original stays");
    }
}

#[test]
fn a_wrong_local_copy_gives_way_to_a_right_one() {
    let from = tempfile::tempdir().unwrap();
    fs::write(from.path().join("people.csv"), b"others").unwrap();
    fs::write(from.path().join("people.csv.gz"), gzip(&people())).unwrap();
    let cache = Cache::new(options(0));
    cache.copy_from(&entry(vec![]), from.path()).unwrap();
    cache.assert_holds_only_people();
}

#[test]
fn local_copies_that_are_not_the_published_file_are_refused() {
    let longer = [people(), people()].concat();
    let cut_gzip = gzip(&people())[..2_000].to_vec();
    for (path, content, expected) in [
        ("people.csv", b"others".to_vec(), sha256(b"others")),
        ("people.csv", longer.clone(), sha256(&longer)),
        ("people.csv.gz", cut_gzip, "people.csv.gz".into()),
    ] {
        let from = tempfile::tempdir().unwrap();
        fs::write(from.path().join(path), content).unwrap();
        let cache = Cache::new(options(0));
        let message = cache
            .copy_from(&entry(vec![]), from.path())
            .unwrap_err()
            .to_string();
        assert!(message.contains(&expected), "{message}");
        assert!(cache.names().is_empty(), "{:?}", cache.names());
    }
}

#[test]
fn a_folder_without_a_copy_says_what_was_looked_for() {
    let from = tempfile::tempdir().unwrap();
    let cache = Cache::new(options(0));
    let error = cache.copy_from(&entry(vec![]), from.path()).unwrap_err();
    assert!(matches!(error, FetchError::NotInFolder { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("`folk/people-table.csv.gz`"), "{message}");
}

#[test]
fn the_catalogue_agrees_with_the_local_copies_of_the_real_files() {
    let Some(folder) = probity_testing::data(&[]) else {
        return;
    };
    let cache = Cache::new(options(0));
    // Only a copy without names of persons is kept of the COMPAS file.
    for set in catalogue().iter().filter(|set| set.name != "compas") {
        let fetched = cache
            .copy_from(set, &folder)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(fetched.files.len(), set.files.len());
        assert!(
            cache.fetcher().cached(set).unwrap().is_some(),
            "{}",
            set.name
        );
    }
}
