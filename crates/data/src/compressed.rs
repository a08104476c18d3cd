//! Reading and writing of compressed files, gzip and xz, which are told by their first bytes; the
//! only code that does so.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzReader, XzWriter};

const GZIP: &[u8] = &[0x1f, 0x8b];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
/// The first bytes of other files that hold tables, and what such a file is.
const OTHERS: [(&[u8], &str); 14] = [
    (
        b"PK\x03\x04",
        "a ZIP archive, as spreadsheets (.xlsx) are; unpack it, or",
    ),
    (
        &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
        "an old spreadsheet (.xls);",
    ),
    (b"BZh9", "compressed by bzip2; decompress it, or"),
    (
        &[0x28, 0xb5, 0x2f, 0xfd],
        "compressed by Zstandard; decompress it, or",
    ),
    (b"ARROW1", "an Arrow file (.feather, .arrow);"),
    (b"FEA1", "an old Feather file;"),
    (b"Obj\x01", "an Avro file;"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file;"),
    (b"SQLite format 3\0", "an SQLite database;"),
    (b"<stata_dta>", "a Stata file (.dta);"),
    (b"$FL2@(#)", "an SPSS file (.sav);"),
    (
        &[
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc2, 0xea, 0x81, 0x60, 0xb3, 0x14, 0x11, 0xcf,
        ],
        "a SAS file (.sas7bdat);",
    ),
    (&[0x80, 4, 0x95], "a pickle of Python;"),
    (&[0x80, 5, 0x95], "a pickle of Python;"),
];
/// The number of bytes read from a file at a time.
const BUFFER: usize = 1 << 16;
/// The compression level of xz, which is its own default.
const XZ_LEVEL: u32 = 6;

/// Opens `file` for reading its decompressed content.
///
/// # Errors
/// When it cannot be read.
pub fn open(file: &Path) -> io::Result<Box<dyn Read + Send>> {
    decompress(BufReader::with_capacity(BUFFER, File::open(file)?))
}

/// Returns the content of `input`, decompressed if its first bytes say gzip or xz. Files of several
/// gzip members or xz streams are read to the end.
///
/// # Errors
/// When its beginning cannot be read, or is that of an archive.
pub fn decompress<R: BufRead + Send + 'static>(mut input: R) -> io::Result<Box<dyn Read + Send>> {
    let start = input.fill_buf()?;
    if let Some((_, what)) = OTHERS.iter().find(|(first, _)| start.starts_with(first)) {
        let problem = format!("it is {what} save the table as CSV or Parquet first");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(if start.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(input))
    } else if start.starts_with(XZ) {
        Box::new(XzReader::new(input, true))
    } else {
        Box::new(input)
    })
}

/// Lets `write` fill `output`, compressed as the name of `file` says: `.gz`, `.xz`, or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write_as(
    file: &Path,
    output: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let extension = file.extension().and_then(|extension| extension.to_str());
    match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("gz") => {
            let mut writer = BufWriter::new(GzEncoder::new(output, flate2::Compression::best()));
            write(&mut writer)?;
            let encoder = writer
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?;
            encoder.finish().map(|_| ())
        }
        Some("xz") => {
            let encoder = XzWriter::new(output, XzOptions::with_preset(XZ_LEVEL))?;
            let mut writer = BufWriter::new(encoder);
            write(&mut writer)?;
            let encoder = writer
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?;
            encoder.finish().map(|_| ())
        }
        _ => write(output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> Vec<u8> {
        (0..40_000_u32)
            .flat_map(|i| format!("{} ", i % 977).into_bytes())
            .collect()
    }

    #[test]
    fn what_is_written_is_read_back_whatever_the_compression() {
        let folder = tempfile::tempdir().unwrap();
        for (name, start) in [("a.txt", &b"0 1"[..]), ("a.txt.gz", GZIP), ("a.txt.XZ", XZ)] {
            let file = folder.path().join(name);
            let mut output = File::create(&file).unwrap();
            write_as(&file, &mut output, |writer| writer.write_all(&text())).unwrap();
            assert!(std::fs::read(&file).unwrap().starts_with(start), "{name}");
            let mut back = Vec::new();
            open(&file).unwrap().read_to_end(&mut back).unwrap();
            assert!(back == text(), "{name}");
        }
    }

    #[test]
    fn tables_of_other_programs_are_called_by_their_names() {
        for (start, said) in [
            (
                &b"PK\x03\x04 and more"[..],
                "it is a ZIP archive, as spreadsheets (.xlsx) are; unpack it, or save the table as CSV or Parquet first",
            ),
            (
                b"ARROW1\0\0 and more",
                "it is an Arrow file (.feather, .arrow); save the table as CSV or Parquet first",
            ),
        ] {
            let error = decompress(io::Cursor::new(start.to_vec())).err();
            assert_eq!(error.unwrap().to_string(), said);
        }
    }

    #[test]
    fn several_members_are_read_to_the_end() {
        for name in ["a.gz", "a.xz"] {
            let mut twice = Vec::new();
            for _ in 0..2 {
                write_as(Path::new(name), &mut twice, |writer| {
                    writer.write_all(b"half ")
                })
                .unwrap();
            }
            let mut back = String::new();
            let mut input = decompress(io::Cursor::new(twice)).unwrap();
            input.read_to_string(&mut back).unwrap();
            assert_eq!(back, "half half ", "{name}");
        }
    }

    #[test]
    fn a_truncated_or_damaged_file_is_an_error() {
        for name in ["a.gz", "a.xz"] {
            let mut whole = Vec::new();
            write_as(Path::new(name), &mut whole, |writer| {
                writer.write_all(&text())
            })
            .unwrap();
            let mut damaged = whole.clone();
            damaged[whole.len() / 2] ^= 0x55;
            for bytes in [whole[..whole.len() / 2].to_vec(), damaged] {
                let mut input = decompress(io::Cursor::new(bytes)).unwrap();
                assert!(input.read_to_end(&mut Vec::new()).is_err(), "{name}");
            }
        }
    }
}
