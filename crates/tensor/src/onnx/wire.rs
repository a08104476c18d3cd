//! A check that the bytes of a file are the messages that ONNX says, before anything is read from
//! them.
//!
//! The parser that follows allocates what a length claims and recurses where messages nest. Here
//! every length is held against the bytes that are there, and every depth against a limit, so that
//! a broken file is an error and neither exhausts the memory nor the stack.

use std::collections::HashMap;

/// The most messages within messages: a graph within a graph takes three.
const DEPTH: usize = 48;

/// The kinds of messages that are read, with those that their fields hold.
#[derive(Clone, Copy)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    Value,
    Type,
    TensorType,
    Sequence,
    Shape,
    /// A message without messages in it.
    Plain,
}

impl Message {
    fn part(self, field: u64) -> Option<Message> {
        match (self, field) {
            (Message::Model, 7) | (Message::Attribute, 6) => Some(Message::Graph),
            (Message::Graph, 1) => Some(Message::Node),
            (Message::Graph, 5) | (Message::Attribute, 5) => Some(Message::Tensor),
            (Message::Graph, 11..=13) => Some(Message::Value),
            (Message::Node, 5) => Some(Message::Attribute),
            (Message::Value, 2) | (Message::Sequence, 1) => Some(Message::Type),
            (Message::Type, 1) => Some(Message::TensorType),
            (Message::Type, 4) => Some(Message::Sequence),
            (Message::TensorType, 2) => Some(Message::Shape),
            (Message::Model, 8 | 14) | (Message::Tensor, 13) | (Message::Shape, 1) => {
                Some(Message::Plain)
            }
            _ => None,
        }
    }
}

/// The fields in which numbers of a [`Message::Tensor`] stand side by side.
mod packed {
    pub const FLOATS: u64 = 4;
    pub const INT32S: u64 = 5;
    pub const INT64S: u64 = 7;
    pub const DOUBLES: u64 = 10;
}

/// The content of a field.
enum Held<'a> {
    Number,
    Bytes(&'a [u8]),
}

/// The fields of one message.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn bytes(&mut self, length: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(bytes)
    }

    /// Returns the next field and its number, `None` where the bytes are no field.
    fn field(&mut self) -> Option<(u64, Held<'a>)> {
        let tag = self.varint()?;
        let held = match tag & 7 {
            0 => self.varint().map(|_| Held::Number)?,
            1 => self.bytes(8).map(|_| Held::Number)?,
            2 => {
                let length = self.varint()?;
                Held::Bytes(self.bytes(length)?)
            }
            5 => self.bytes(4).map(|_| Held::Number)?,
            _ => return None,
        };
        Some((tag >> 3, held))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Held<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.rest.is_empty()).then(|| self.field())
    }
}

/// Checks the messages of a model.
///
/// # Errors
/// What is broken.
pub fn check(model: &[u8]) -> Result<(), String> {
    let mut open = vec![(Message::Model, model, 1)];
    while let Some((message, bytes, depth)) = open.pop() {
        if depth > DEPTH {
            return Err(format!("its messages nest more than {DEPTH} deep"));
        }
        for field in (Fields { rest: bytes }) {
            let broken = || "a length or a number in it goes beyond its end".to_owned();
            let (number, held) = field.ok_or_else(broken)?;
            let Held::Bytes(held) = held else { continue };
            if let Some(part) = message.part(number) {
                open.push((part, held, depth + 1));
            }
            if matches!(message, Message::Tensor) && !is_packed(number, held) {
                return Err(broken());
            }
        }
    }
    Ok(())
}

/// Whether the numbers of the field `number` of a tensor end where the field ends.
fn is_packed(number: u64, held: &[u8]) -> bool {
    match number {
        packed::FLOATS => held.len().is_multiple_of(4),
        packed::DOUBLES => held.len().is_multiple_of(8),
        packed::INT32S | packed::INT64S => {
            let mut numbers = Fields { rest: held };
            while !numbers.rest.is_empty() {
                if numbers.varint().is_none() {
                    return false;
                }
            }
            true
        }
        _ => true,
    }
}

/// Returns the words of a checked model's constants of words, by name: the parser that follows
/// leaves them out.
pub fn words(model: &[u8]) -> HashMap<String, Vec<String>> {
    const GRAPH: u64 = 7;
    const CONSTANT: u64 = 5;
    const NAME: u64 = 8;
    const WORD: u64 = 6;
    let mut found = HashMap::new();
    let constants = parts(model, GRAPH).flat_map(|graph| parts(graph, CONSTANT));
    for constant in constants {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let words: Vec<String> = parts(constant, WORD).map(text).collect();
        if let Some(name) = parts(constant, NAME).last()
            && !words.is_empty()
        {
            found.insert(text(name), words);
        }
    }
    found
}

/// Returns the bytes of all fields of a message that have the number `number`.
fn parts(message: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    let fields = Fields { rest: message }.flatten();
    fields.filter_map(move |(found, held)| match held {
        Held::Bytes(bytes) if found == number => Some(bytes),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `bytes` as the field `number`.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2];
        let mut length = bytes.len();
        while length >= 0x80 {
            out.push(length as u8 | 0x80);
            length >>= 7;
        }
        out.push(length as u8);
        out.extend_from_slice(bytes);
        out
    }

    #[test]
    fn lengths_stay_within_their_message() {
        let tensor = [field(8, b"classes"), field(6, b"bad"), field(6, b"good")].concat();
        let model = field(7, &field(5, &tensor));
        check(&model).unwrap();
        assert_eq!(words(&model)["classes"], ["bad", "good"]);
        for end in 1..model.len() {
            assert!(check(&model[..end]).is_err(), "{end}");
        }
        // A part that claims more than its message has, though the file has it.
        let mut greedy = field(7, &field(5, &field(8, b"x")));
        greedy[3] += 1;
        greedy.extend(field(2, b"more bytes"));
        assert!(check(&greedy).is_err());
        // 2⁶³ bytes, and a number without an end.
        assert!(check(&[0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]).is_err());
        assert!(
            check(&[
                0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
            ])
            .is_err()
        );
        // Numbers side by side that the field's end cuts.
        for (number, whole, cut) in [(4, 8, 7), (10, 16, 9)] {
            let tensor = |length| field(7, &field(5, &field(number, &vec![0; length])));
            assert!(check(&tensor(whole)).is_ok() && check(&tensor(cut)).is_err());
        }
        assert!(check(&field(7, &field(5, &field(7, &[0x80, 0x01])))).is_ok());
        assert!(check(&field(7, &field(5, &field(7, &[0x80])))).is_err());
    }

    #[test]
    fn graphs_in_graphs_end_somewhere() {
        let nested = |depth: usize| {
            let mut graph = Vec::new();
            for _ in 0..depth {
                graph = field(1, &field(5, &field(6, &graph)));
            }
            field(7, &graph)
        };
        check(&nested(10)).unwrap();
        assert!(check(&nested(30)).unwrap_err().contains("nest"));
        assert!(check(&nested(2_000)).unwrap_err().contains("nest"));
    }
}
