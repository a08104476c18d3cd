//! Mutations: operations that turn a good file into a broken one.
//!
//! An input is mutated one to eight times. Some mutations know nothing but bytes; others know what
//! formats are made of: lengths (fixed and varints), numbers in digits, lines, words of the format,
//! nesting, and parts of other files of the same format.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::target::Input;

/// The length in bytes beyond which a mutation does not lengthen a file.
const LONGEST: usize = 1 << 16;

/// Whole numbers at which code tends to break.
const WHOLE: &[u64] = &[
    0,
    1,
    2,
    7,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    1_000_000_000_000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX - 1,
    u64::MAX,
];

/// Numbers written in digits at which code tends to break.
const DIGITS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "255",
    "65536",
    "2147483647",
    "-2147483648",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1000000000000",
    "1e308",
    "-1e308",
    "1e309",
    "5e-324",
    "1e-400",
    "0.1",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "",
    "1e",
    "0x10",
    "1_000",
    "٣",
];

/// Bytes that mean something in text.
const TEXT: &[&str] = &[
    "\n", "\r\n", "\r", "\0", "\"", "\"\"", "'", ",", ";", "\t", " ", "=", "[", "]", "[[", "{",
    "}", ":", "#", "\\", "\\u0000", "\u{feff}", "\u{202e}", "é", "\u{301}", "true", "null", "[]",
    "{}", "-", ".", "/", "../",
];

/// Mutates `input` in place; `others` are inputs of the same target, `words` those of its format.
pub fn mutate(input: &mut Input, others: &[Input], words: &[&str], draw: &mut Xoshiro256PlusPlus) {
    // Mostly one or two: most of a file must stay unchanged for a reader to get far.
    let times = 1 + (draw.random::<u8>().leading_zeros() as usize);
    for _ in 0..times {
        let place = draw.random_range(0..input.files.len());
        let (name, bytes) = &mut input.files[place];
        let other = others
            .choose(draw)
            .and_then(|other| other.files.iter().find(|(other, _)| other == name))
            .map_or(&[][..], |(_, bytes)| bytes);
        once(bytes, other, words, draw);
        bytes.truncate(LONGEST);
    }
}

fn once(bytes: &mut Vec<u8>, other: &[u8], words: &[&str], draw: &mut Xoshiro256PlusPlus) {
    if bytes.is_empty() {
        insert_text(bytes, words, draw);
        return;
    }
    match draw.random_range(0..20_u8) {
        0..=2 => {
            let at = draw.random_range(0..bytes.len());
            bytes[at] ^= 1 << draw.random_range(0..8_u8);
        }
        3 => {
            let at = draw.random_range(0..bytes.len());
            bytes[at] = *[0, 1, 0x7f, 0x80, 0xff].choose(draw).unwrap_or(&0);
        }
        4 => {
            let at = draw.random_range(0..bytes.len());
            let by = draw.random_range(1..=16_u8);
            bytes[at] = match draw.random() {
                true => bytes[at].wrapping_add(by),
                false => bytes[at].wrapping_sub(by),
            };
        }
        5 => overwrite_number(bytes, draw),
        6 => adjust_number(bytes, draw),
        7 => replace_varint(bytes, draw),
        8..=9 => replace_digits(bytes, draw),
        10 => {
            let (start, end) = range(bytes, draw);
            bytes.drain(start..end);
        }
        11 => {
            let (start, end) = range(bytes, draw);
            let part = bytes[start..end].to_vec();
            let at = draw.random_range(0..=bytes.len());
            bytes.splice(at..at, part);
        }
        12 => bytes.truncate(draw.random_range(0..bytes.len())),
        13 => splice(bytes, other, draw),
        14 => insert_text(bytes, words, draw),
        15 => replace_text(bytes, words, draw),
        16..=17 => change_lines(bytes, draw),
        18 => repeat(bytes, words, draw),
        _ => {
            let at = draw.random_range(0..=bytes.len());
            let length = draw.random_range(1..=8_usize);
            let random: Vec<u8> = (0..length).map(|_| draw.random()).collect();
            bytes.splice(at..at, random);
        }
    }
}

/// Draws a range of `bytes`: short ranges more often than long ones.
fn range(bytes: &[u8], draw: &mut Xoshiro256PlusPlus) -> (usize, usize) {
    let start = draw.random_range(0..bytes.len());
    let most = (bytes.len() - start).min(1 << draw.random_range(0..12_u8));
    (start, start + draw.random_range(0..=most))
}

/// Overwrites 2, 4 or 8 bytes with a whole number, in either byte order.
fn overwrite_number(bytes: &mut [u8], draw: &mut Xoshiro256PlusPlus) {
    let number = *WHOLE.choose(draw).unwrap_or(&0);
    let size = *[2, 4, 8].choose(draw).unwrap_or(&4);
    if bytes.len() < size {
        return;
    }
    let at = draw.random_range(0..=bytes.len() - size);
    let mut written = number.to_le_bytes();
    if draw.random() {
        written[..size].reverse();
    }
    bytes[at..at + size].copy_from_slice(&written[..size]);
}

/// Adds a small number to a number of 4 or 8 bytes, as lengths that are off by one are.
fn adjust_number(bytes: &mut [u8], draw: &mut Xoshiro256PlusPlus) {
    let size = *[4, 8].choose(draw).unwrap_or(&4);
    if bytes.len() < size {
        return;
    }
    let at = draw.random_range(0..=bytes.len() - size);
    let mut number = [0; 8];
    number[..size].copy_from_slice(&bytes[at..at + size]);
    let by = draw.random_range(-16..=16_i64);
    let changed = u64::from_le_bytes(number).wrapping_add_signed(by);
    bytes[at..at + size].copy_from_slice(&changed.to_le_bytes()[..size]);
}

/// Replaces bytes that may be a varint (seven bits in each byte) by a varint of another length.
fn replace_varint(bytes: &mut Vec<u8>, draw: &mut Xoshiro256PlusPlus) {
    let at = draw.random_range(0..bytes.len());
    let length = bytes[at..].iter().take_while(|&&byte| byte >= 0x80).count();
    let end = (at + length + 1).min(bytes.len());
    let mut number = *WHOLE.choose(draw).unwrap_or(&0);
    let mut written = Vec::new();
    while number >= 0x80 {
        written.push(number as u8 | 0x80);
        number >>= 7;
    }
    written.push(number as u8);
    if draw.random_range(0..8_u8) == 0 {
        // A varint that does not end where numbers must.
        written = vec![0xff; 10];
    }
    bytes.splice(at..end, written);
}

/// Replaces a number written in digits by one at which code tends to break.
fn replace_digits(bytes: &mut Vec<u8>, draw: &mut Xoshiro256PlusPlus) {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+');
    let from = draw.random_range(0..bytes.len());
    let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let start = from + start;
    let length = bytes[start..]
        .iter()
        .take_while(|byte| is_part(byte))
        .count();
    let other = DIGITS.choose(draw).unwrap_or(&"0");
    bytes.splice(start..start + length, other.bytes());
}

/// Replaces a part of the bytes by a part of another file of the format.
fn splice(bytes: &mut Vec<u8>, other: &[u8], draw: &mut Xoshiro256PlusPlus) {
    if other.is_empty() {
        return;
    }
    let (from, to) = range(other, draw);
    let (start, end) = range(bytes, draw);
    bytes.splice(start..end, other[from..to].iter().copied());
}

fn text<'a>(words: &[&'a str], draw: &mut Xoshiro256PlusPlus) -> &'a str {
    let chosen = match draw.random() {
        true => words.choose(draw),
        false => TEXT.choose(draw),
    };
    chosen.copied().unwrap_or(",")
}

fn insert_text(bytes: &mut Vec<u8>, words: &[&str], draw: &mut Xoshiro256PlusPlus) {
    let at = draw.random_range(0..=bytes.len());
    bytes.splice(at..at, text(words, draw).bytes());
}

fn replace_text(bytes: &mut Vec<u8>, words: &[&str], draw: &mut Xoshiro256PlusPlus) {
    let (start, _) = range(bytes, draw);
    let length = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    let end = start + length.max(1);
    bytes.splice(start..end, text(words, draw).bytes());
}

/// Removes a line, repeats one, or exchanges two.
fn change_lines(bytes: &mut Vec<u8>, draw: &mut Xoshiro256PlusPlus) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let (first, second) = (
        draw.random_range(0..lines.len()),
        draw.random_range(0..lines.len()),
    );
    match draw.random_range(0..3_u8) {
        0 => {
            lines.remove(first);
        }
        1 => lines.insert(second, lines[first]),
        _ => lines.swap(first, second),
    }
    *bytes = lines.concat();
}

/// Repeats something short up to thousands of times, to provoke nesting and counting without end.
fn repeat(bytes: &mut Vec<u8>, words: &[&str], draw: &mut Xoshiro256PlusPlus) {
    let (start, end) = range(bytes, draw);
    let part = match draw.random() {
        true => text(words, draw).as_bytes().to_vec(),
        false => bytes[start..end.min(start + 32)].to_vec(),
    };
    let times = 1 << draw.random_range(1..14_u8);
    let room = LONGEST.saturating_sub(bytes.len());
    let mut repeated = part.repeat(times);
    repeated.truncate(room);
    bytes.splice(start..start, repeated);
}
