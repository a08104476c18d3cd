//! NumPy `.npz` archives: a zip with one `.npy` member for each array.

use std::fs::File;
use std::io::Read;

use npyz::{DType, Endianness, NpyHeader, TypeChar};
use zip::ZipArchive;

use super::collector::Collector;
use super::element::{Element, Order};
use super::error::WeightsError;

/// The longest header that is read, in bytes; NumPy's own default limit.
const LONGEST_HEADER: usize = 10_000;

/// The deepest brackets in a header that is read. NumPy writes one dictionary with one tuple in it.
const DEEPEST_BRACKETS: usize = 8;

/// Reads every `.npy` member of the archive.
pub(super) fn read(file: File, collector: &mut Collector) -> Result<(), WeightsError> {
    let mut archive =
        ZipArchive::new(file).map_err(|error| collector.malformed(error.to_string()))?;
    for member in 0..archive.len() {
        let mut content = archive
            .by_index(member)
            .map_err(|error| collector.malformed(error.to_string()))?;
        let name = content
            .name()
            .map_err(|error| collector.malformed(error.to_string()))?;
        let Some(tensor) = npyz::npz::array_name_from_file_name(&name).map(str::to_owned) else {
            // Whatever the member is, NumPy doesn't take it for an array either.
            continue;
        };
        read_array(&tensor, &mut content, collector)?;
    }
    Ok(())
}

fn read_array(
    tensor: &str,
    content: &mut impl Read,
    collector: &mut Collector,
) -> Result<(), WeightsError> {
    let malformed = |reason: String, collector: &Collector| {
        collector.malformed(format!("the array `{tensor}`: {reason}"))
    };
    let header = read_header(content).map_err(|reason| malformed(reason, collector))?;
    let (element, big_endian) = element_of(&header.dtype())
        .ok_or_else(|| collector.element_type(tensor, header.dtype().descr()))?;
    let shape = header
        .shape()
        .iter()
        .map(|&extent| usize::try_from(extent))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| malformed(error.to_string(), collector))?;
    let order = match header.order() {
        npyz::Order::C => Order::RowMajor,
        npyz::Order::Fortran => Order::ColumnMajor,
    };

    let count = collector.reserve(tensor, &shape)?;
    let expected = count * element.width();
    let mut bytes = Vec::new();
    // One byte more than is needed, to reach the end of a right member: only there does the zip
    // reader compare the checksum. The buffer grows with what arrives, not with what is declared.
    content
        .take(expected as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| malformed(error.to_string(), collector))?;
    if bytes.len() != expected {
        let there = if bytes.len() > expected {
            "more".into()
        } else {
            bytes.len().to_string()
        };
        return Err(malformed(
            format!("shape {shape:?} needs {expected} bytes but {there} are there"),
            collector,
        ));
    }
    if big_endian {
        bytes
            .chunks_exact_mut(element.width())
            .for_each(<[u8]>::reverse);
    }
    collector.add(tensor, &shape, order, element, &bytes)
}

/// Reads the header, looking at its text before it is parsed.
///
/// The parser allocates what the length field says, recurses as deep as the brackets go, and
/// multiplies the extents unchecked; a hostile header must not get that far.
fn read_header(content: &mut impl Read) -> Result<NpyHeader, String> {
    let mut header = vec![0; 8];
    content
        .read_exact(&mut header)
        .map_err(|error| error.to_string())?;
    if !header.starts_with(b"\x93NUMPY") {
        return Err("it lacks the signature of a NumPy array".to_owned());
    }
    let length_width = if header[6] == 1 { 2 } else { 4 };
    header.resize(8 + length_width, 0);
    content
        .read_exact(&mut header[8..])
        .map_err(|error| error.to_string())?;
    // Little-endian, so the first byte counts least.
    let length = header[8..]
        .iter()
        .rev()
        .fold(0, |length, &byte| length << 8 | usize::from(byte));
    if length > LONGEST_HEADER {
        return Err(format!(
            "its header has {length} bytes, more than {LONGEST_HEADER}"
        ));
    }
    let text = header.len();
    header.resize(text + length, 0);
    content
        .read_exact(&mut header[text..])
        .map_err(|error| error.to_string())?;
    check_header_text(&header[text..])?;
    NpyHeader::from_reader(header.as_slice()).map_err(|error| error.to_string())
}

/// Refuses a header with deep brackets or with numbers whose product overflows.
fn check_header_text(text: &[u8]) -> Result<(), String> {
    let mut depth = 0_usize;
    for byte in text {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST_BRACKETS {
            return Err(format!(
                "its header nests deeper than {DEEPEST_BRACKETS} brackets"
            ));
        }
    }
    // Whatever else stands in the header, the extents are among its numbers. A number in another
    // notation than plain decimal (`0xff`, `1_000`) shows as digits that touch a letter.
    let mut product = 1_u64;
    for word in text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_') {
        if !word.first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        product = std::str::from_utf8(word)
            .ok()
            .and_then(|number| number.parse::<u64>().ok())
            .and_then(|number| product.checked_mul(number.max(1)))
            .ok_or_else(|| {
                format!(
                    "its header holds the number {}",
                    String::from_utf8_lossy(word)
                )
            })?;
    }
    Ok(())
}

/// Returns the element type, and whether it is stored with the most significant byte first.
fn element_of(dtype: &DType) -> Option<(Element, bool)> {
    let DType::Plain(plain) = dtype else {
        return None;
    };
    let element = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Bool, 1) => Element::Bool,
        (TypeChar::Uint, 1) => Element::U8,
        (TypeChar::Int, 1) => Element::I8,
        (TypeChar::Uint, 2) => Element::U16,
        (TypeChar::Int, 2) => Element::I16,
        (TypeChar::Uint, 4) => Element::U32,
        (TypeChar::Int, 4) => Element::I32,
        (TypeChar::Uint, 8) => Element::U64,
        (TypeChar::Int, 8) => Element::I64,
        (TypeChar::Float, 2) => Element::F16,
        (TypeChar::Float, 4) => Element::F32,
        (TypeChar::Float, 8) => Element::F64,
        _ => return None,
    };
    Some((element, plain.endianness() == Endianness::Big))
}
