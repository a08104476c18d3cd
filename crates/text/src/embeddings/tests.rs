//! Tests of the formats and the cache of word vectors.

use super::*;
use probity_run::stream::{Purpose, stream};
use rand::RngExt;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

fn parse(text: &str) -> Result<EmbeddingTable, EmbeddingError> {
    EmbeddingTable::from_text(Path::new("v.txt"), text.as_bytes())
}

fn problem(text: &[u8]) -> String {
    EmbeddingTable::from_text(Path::new("v.txt"), text)
        .unwrap_err()
        .to_string()
}

#[test]
fn both_formats_give_the_same_table() {
    let glove = parse("the 1 2.5\n, -5e-1 0\né 0 -3\n").unwrap();
    assert_eq!(
        glove,
        parse("3 2\nthe 1 2.5 \r\n, -0.5 0 \né\t0\t-3\n\n").unwrap()
    );
    assert_eq!((glove.width(), glove.unknown()), (2, 3));
    assert_eq!(glove.words().id("é"), Some(2));
    assert_eq!(glove.vector_of(","), Some(&[-0.5, 0.0][..]));
    assert_eq!(glove.vector(3), [0.5 / 3.0, -0.5 / 3.0]);
    assert_eq!(
        (glove.vector(99), glove.vector_of("x")),
        (glove.vector(3), None)
    );
}

#[test]
fn a_word_may_be_a_number_or_hold_blanks() {
    let table = parse("7 1 2\n. . . 3 4\na b 5 6\n").unwrap();
    let words: Vec<&str> = table.words().iter().collect();
    assert_eq!(words, ["7", ". . .", "a b"]);
    assert_eq!(table.vector(1), [3.0, 4.0]);
}

#[test]
fn bad_lines_are_named_with_what_is_wrong() {
    for (text, expected) in [
        (
            &b"a 1 2\nb 1\n"[..],
            "v.txt, line 2: 1 numbers where 2 are expected",
        ),
        (
            b"a 1 2\nb 1 2 3\n",
            "v.txt, line 2: 3 numbers where 2 are expected",
        ),
        (b"2 2\na 1 2\nb 1 x\n", "v.txt, line 3: 'x' is not a number"),
        (
            b"a 1 2\nb x 2\n",
            "v.txt, line 2: 1 numbers where 2 are expected",
        ),
        (
            b"a 1 2\nb 1 NaN\n",
            "v.txt, line 2: 'NaN' is not a finite number",
        ),
        (
            b"a 1 2\nb -inf 1\n",
            "v.txt, line 2: '-inf' is not a finite number",
        ),
        (
            b"a 1 2\nb 1e60 1\n",
            "v.txt, line 2: '1e60' is not a finite number",
        ),
        (
            b"a 1 2\n\xff\xfe 1 2\n",
            "v.txt, line 2: not valid UTF-8 from its byte 1 on",
        ),
        (
            b"a 1 2\nb 3 4\na 5 6\n",
            "v.txt, line 3: the word of line 1 again",
        ),
        (
            b"3 1\na 1\nb 1\nb 2\n",
            "v.txt, line 4: the word of line 3 again",
        ),
        (
            b"a 1 2\n\nb 3 4\n",
            "v.txt, line 2: 0 numbers where 2 are expected",
        ),
        (b"a\nb\n", "v.txt, line 1: expected a word and its numbers"),
        (
            b"3 2\na 1 2\nb 1 2\n",
            "v.txt: its header says 3 words, but it holds 2; is it cut short?",
        ),
        (b"", "v.txt holds no word vectors"),
        (b"\n\n", "v.txt holds no word vectors"),
        (
            b"a 1 2\n1 2\n",
            "v.txt, line 2: 1 numbers where 2 are expected",
        ),
    ] {
        let found = problem(text);
        assert!(
            found.contains(expected),
            "{:?}: {found}",
            String::from_utf8_lossy(text)
        );
    }
}

/// Creates a table of random words and numbers, with its text.
fn random_text(words: u64, width: usize) -> String {
    let mut text = String::new();
    for item in 0..words {
        let mut draws = stream(3, Purpose::Synthetic, item, 0);
        text.push_str(&format!("w{item}"));
        for _ in 0..width {
            text.push_str(&format!(" {:.5}", draws.random_range(-3.0..3.0_f64)));
        }
        text.push('\n');
    }
    text
}

#[test]
fn every_number_arrives_at_its_place() {
    let text = random_text(3000, 7);
    let table = parse(&text).unwrap();
    for (id, line) in text.lines().enumerate() {
        let mut fields = line.split(' ');
        assert_eq!(fields.next(), Some(table.words().word(id)));
        let numbers: Vec<f32> = fields.map(|field| field.parse().unwrap()).collect();
        assert_eq!(table.vector(id as u32), numbers);
    }
    let mut out = Vec::new();
    table.write_text(&mut out, 5).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), text);
    let broken = text.replace("w2047 ", "w2047 x");
    assert!(problem(broken.as_bytes()).contains("line 2048:"));
}

#[test]
fn a_restricted_table_keeps_the_vector_of_unknown_words() {
    let table = parse("a 1 2\nb 3 4\nc 8 9\n").unwrap();
    let some = table.restricted_to(["c", "x", "a", "c"]);
    assert_eq!(some.words().iter().collect::<Vec<_>>(), ["c", "a"]);
    assert_eq!(some.vectors(), [8.0, 9.0, 1.0, 2.0, 4.0, 5.0]);
    assert!(EmbeddingTable::new(["a"], 2, vec![1.0]).is_err());
    assert!(EmbeddingTable::new(["a", "a"], 1, vec![1.0, 2.0]).is_err());
    assert!(EmbeddingTable::new([], 1, vec![]).is_err());
}

/// Creates options with a cache in `folder` for files of any size.
fn kept_in(folder: &Path) -> LoadOptions {
    LoadOptions {
        cache: Some(Cache::new(folder.join("cache")).smallest(0)),
        ..LoadOptions::default()
    }
}

/// Returns the files in the cache of `kept_in`.
fn copies(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder.join("cache")) else {
        return Vec::new();
    };
    let mut copies: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    copies.sort();
    copies
}

#[test]
fn compressed_files_are_read_and_the_width_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let kept = kept_in(folder.path()).cache;
    for name in ["v.txt", "v.txt.gz", "v.txt.xz"] {
        let file = folder.path().join(name);
        let mut out = fs::File::create(&file).unwrap();
        compressed::write_as(&file, &mut out, |out| {
            out.write_all(random_text(50, 4).as_bytes())
        })
        .unwrap();
        let table = EmbeddingTable::load(&file, &LoadOptions::default()).unwrap();
        assert_eq!(table, parse(&random_text(50, 4)).unwrap());
        for cache in [None, kept.clone(), kept.clone()] {
            let options = LoadOptions {
                width: Some(5),
                cache,
            };
            let error = EmbeddingTable::load(&file, &options)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("vectors of 4 numbers, but 5 are needed"),
                "{error}"
            );
            EmbeddingTable::load(
                &file,
                &LoadOptions {
                    width: Some(4),
                    ..options
                },
            )
            .unwrap();
        }
    }
}

#[test]
fn the_cache_gives_the_same_table_and_follows_the_content() {
    let folder = tempfile::tempdir().unwrap();
    let kept = kept_in(folder.path());
    let file = folder.path().join("v.txt");
    fs::write(&file, random_text(40, 3)).unwrap();
    let first = EmbeddingTable::load_hashed(&file, &kept).unwrap();
    let copy = folder
        .path()
        .join(format!("cache/{}.vectors", first.sha256));
    assert_eq!(copies(folder.path()), std::slice::from_ref(&copy));
    // Only the cache can say this: the numbers in it are changed, and its checksum with them.
    let mut bytes = fs::read(&copy).unwrap();
    let end = bytes.len() - 8;
    bytes[end - 4..end].copy_from_slice(&7.5_f32.to_le_bytes());
    let hash = xxhash_rust::xxh3::xxh3_64(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&hash);
    fs::write(&copy, &bytes).unwrap();
    // The same content elsewhere is the same source.
    let moved = folder.path().join("moved.txt");
    fs::rename(&file, &moved).unwrap();
    let cached = EmbeddingTable::load_hashed(&moved, &kept).unwrap();
    assert_eq!(cached.sha256, first.sha256);
    assert_eq!(cached.value.vector(39)[2], 7.5);
    assert_eq!(cached.value.vectors()[..119], first.value.vectors()[..119]);
    // Another content of the same length in the same place, at the same time.
    let changed = fs::metadata(&moved).unwrap().modified().unwrap();
    let text = random_text(40, 3).replacen("w0 ", "v0 ", 1);
    fs::write(&moved, text).unwrap();
    let opened = fs::File::options().write(true).open(&moved).unwrap();
    opened.set_modified(changed).unwrap();
    let other = EmbeddingTable::load(&moved, &kept).unwrap();
    assert_eq!(other.words().word(0), "v0");
    assert_eq!(copies(folder.path()).len(), 2);
    // Nothing is kept of small files, or where nobody asked for it.
    for copy in copies(folder.path()) {
        fs::remove_file(copy).unwrap();
    }
    let large = Cache::new(folder.path().join("cache"));
    let large = LoadOptions {
        cache: Some(large),
        ..LoadOptions::default()
    };
    EmbeddingTable::load(&moved, &large).unwrap();
    EmbeddingTable::load(&moved, &LoadOptions::default()).unwrap();
    assert_eq!(copies(folder.path()), Vec::<PathBuf>::new());
    let beside = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(beside, 2, "the file and the cache's folder");
}

#[test]
fn a_cache_with_any_wrong_byte_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let kept = kept_in(folder.path());
    let file = folder.path().join("v.txt");
    fs::write(&file, random_text(20, 2)).unwrap();
    let table = EmbeddingTable::load(&file, &kept).unwrap();
    let [copy] = &copies(folder.path())[..] else {
        panic!("one copy is kept")
    };
    let good = fs::read(copy).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x41;
        fs::write(copy, &bad).unwrap();
        assert_eq!(
            EmbeddingTable::load(&file, &kept).unwrap(),
            table,
            "byte {at}"
        );
        assert_eq!(fs::read(copy).unwrap(), good, "byte {at}");
    }
    for length in [0, 10, 24, 60, good.len() / 2, good.len() - 1] {
        fs::write(copy, &good[..length]).unwrap();
        assert_eq!(EmbeddingTable::load(&file, &kept).unwrap(), table);
        assert_eq!(fs::read(copy).unwrap(), good);
    }
}

#[test]
fn the_copies_that_were_not_used_for_longest_give_way() {
    let folder = tempfile::tempdir().unwrap();
    let kept = kept_in(folder.path());
    let names = ["a.txt", "b.txt", "c.txt"].map(|name| folder.path().join(name));
    let hashes = names.each_ref().map(|file| {
        let words = 20 + copies(folder.path()).len() as u64;
        fs::write(file, random_text(words, 4)).unwrap();
        EmbeddingTable::load_hashed(file, &kept).unwrap().sha256
    });
    let size = |copy: &PathBuf| fs::metadata(copy).unwrap().len();
    let total: u64 = copies(folder.path()).iter().map(size).sum();
    // They were used one after the other, an hour apart.
    for (hash, hours) in hashes.iter().zip([3, 2, 1]) {
        let copy = folder.path().join(format!("cache/{hash}.vectors"));
        let copy = fs::File::options().write(true).open(copy).unwrap();
        let used = SystemTime::now() - Duration::from_secs(hours * 3600);
        copy.set_modified(used).unwrap();
    }
    // The first is used again, so the second is the oldest.
    EmbeddingTable::load(&names[0], &kept).unwrap();
    let bounded = LoadOptions {
        cache: kept.cache.clone().map(|cache| cache.bound(total)),
        ..LoadOptions::default()
    };
    let new = folder.path().join("d.txt");
    fs::write(&new, random_text(20, 3)).unwrap();
    let hash = EmbeddingTable::load_hashed(&new, &bounded).unwrap().sha256;
    let left = copies(folder.path());
    let is_left = |hash: &str| {
        left.iter()
            .any(|copy| copy.ends_with(format!("{hash}.vectors")))
    };
    assert_eq!(
        hashes.each_ref().map(|hash| is_left(hash)),
        [true, false, true]
    );
    assert!(is_left(&hash));
    assert!(left.iter().map(size).sum::<u64>() <= total);
    // What alone is beyond the bound is not kept, but read.
    let none = LoadOptions {
        cache: kept.cache.map(|cache| cache.bound(10)),
        ..LoadOptions::default()
    };
    let table = EmbeddingTable::load(&names[1], &none).unwrap();
    assert_eq!(table.words().len(), 21);
    assert_eq!(copies(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error =
        EmbeddingTable::load(Path::new("no/such.txt"), &LoadOptions::default()).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot read no/such.txt"),
        "{error}"
    );
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("v.txt");
    fs::write(&file, random_text(20, 2)).unwrap();
    // A file where the folder should be.
    fs::write(folder.path().join("cache"), "").unwrap();
    let table = EmbeddingTable::load(&file, &kept_in(folder.path())).unwrap();
    assert_eq!(table.words().len(), 20);
}

#[test]
fn the_published_vectors_are_read_whole() {
    let Some(folder) = probity_testing::data(&[]) else {
        return;
    };
    let file = folder.join("glove/glove.6B.50d.subset.txt.xz");
    let options = LoadOptions {
        width: Some(50),
        cache: None,
    };
    let table = EmbeddingTable::load(&file, &options).unwrap();
    assert_eq!(
        (table.words().len(), table.words().word(0)),
        (117_301, "the")
    );
    let first = table.vector_of("the").unwrap();
    assert_eq!((first[0], first[49]), (0.418, -0.78581));
    assert!(table.words().id("n't").is_some() && table.words().id("baha'i").is_some());
}

/// A header takes no memory for what it only promises.
#[test]
fn a_header_of_a_trillion_columns_is_an_error_of_its_first_line() {
    for columns in ["1000000000000", "18446744073709551615"] {
        let text = format!("2 {columns}\nthe 0.1 0.2 0.3\ncat 0.4 0.5 0.6\n");
        let error = EmbeddingTable::from_text(Path::new("v.txt"), text.as_bytes()).unwrap_err();
        let expected = format!("3 numbers where {columns} are expected");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}
