//! Files written by hand, well-formed and broken.

mod npz_files;
mod pytorch_files;
mod safetensors_files;

use std::collections::HashMap;
use std::fs;
use std::io::{Cursor, Write};

use safetensors::tensor::TensorView;
use tempfile::TempDir;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use super::*;

/// Reads `content` from a file `path`.
fn read_at(path: &Path, content: &[u8]) -> Result<WeightFile, WeightsError> {
    fs::write(path, content).unwrap();
    read_weights(path)
}

fn read_as(name: &str, content: &[u8]) -> Result<WeightFile, WeightsError> {
    let folder = TempDir::new().unwrap();
    read_at(&folder.path().join(name), content)
}

fn read(content: &[u8]) -> Result<WeightFile, WeightsError> {
    read_as("weights", content)
}

fn error_of(content: &[u8]) -> String {
    let message = read(content).unwrap_err().to_string();
    assert!(message.contains("weights`"), "the file is named: {message}");
    message
}

fn weight(shape: &[usize], values: &[f32]) -> Weight {
    Weight {
        shape: shape.to_vec(),
        values: values.to_vec(),
    }
}

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn zip_of(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        let options = SimpleFileOptions::default().compression_method(method);
        archive.start_file(*name, options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn small_files() -> HashMap<&'static str, Vec<u8>> {
    HashMap::from([
        ("safetensors", safetensors_files::small()),
        ("npz", npz_files::small()),
        ("pytorch", pytorch_files::small()),
    ])
}

#[test]
fn the_content_tells_the_format_whatever_the_name() {
    for (format, content) in small_files() {
        let expected = read(&content).unwrap();
        for name in ["model.pt", "model.safetensors", "model.npz", "model.csv"] {
            assert_eq!(
                read_as(name, &content).unwrap(),
                expected,
                "{format} as {name}"
            );
        }
    }
}

#[test]
fn a_truncated_file_is_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("weights");
    for (format, content) in small_files() {
        for length in (0..content.len()).step_by(3).chain([content.len() - 1]) {
            let cut = read_at(&path, &content[..length]);
            assert!(cut.is_err(), "{format} cut to {length} bytes");
        }
    }
}

#[test]
fn no_altered_byte_makes_the_reader_panic() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("weights");
    for content in small_files().into_values() {
        for place in 0..content.len() {
            let mut altered = content.clone();
            altered[place] = [0x00, 0x80, 0xff, content[place] ^ 1][place % 4];
            // An error or other values: either is right.
            let _ = read_at(&path, &altered);
        }
    }
}

#[test]
fn files_of_other_kinds_are_told_apart() {
    let stored = |members: &[(&str, &[u8])]| zip_of(members, CompressionMethod::Stored);
    let zip = stored(&[("people.csv", b"a,b")]);
    let script = stored(&[("net/data.pkl", b"x"), ("net/constants.pkl", b"x")]);
    let keras = stored(&[("config.json", b"{}"), ("model.weights.h5", b"x")]);
    for (content, said) in [
        (&b""[..], "is empty"),
        (b"age,sex\n39,Male\n", "text"),
        (b"{\"layers\": 6}", "text"),
        (b"\x93NUMPY\x01\x00", "numpy.savez"),
        (b"\x89HDF\r\n\x1a\n\x00", "Keras"),
        (b"\x1f\x8b\x08\x00", "gzipped"),
        (b"\x00\x01\x02\x03\x04", "unknown format"),
        (b"PK\x03\x04 and no more", "truncated zip archive"),
        (&zip, "without a PyTorch data.pkl"),
        (&script, "a TorchScript archive"),
        (&keras, "a Keras archive"),
    ] {
        let message = error_of(content);
        assert!(message.contains(said), "{said}: {message}");
        assert!(message.contains("expected a safetensors file"), "{message}");
    }
}

#[test]
fn a_missing_file_and_a_folder_are_named() {
    let folder = TempDir::new().unwrap();
    for path in [folder.path().join("absent.pt"), folder.path().to_owned()] {
        let error = read_weights(&path).unwrap_err();
        assert!(matches!(error, WeightsError::Io { .. }), "{error:?}");
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
    }
}
