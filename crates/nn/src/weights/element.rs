//! The elements of stored tensors: their width, their conversion to `f32`, and the order they lie
//! in.

/// The element types that become weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    BF16,
    F32,
    F64,
}

impl Element {
    /// Whether the element is a floating-point number.
    pub(super) fn is_float(self) -> bool {
        matches!(
            self,
            Element::F16 | Element::BF16 | Element::F32 | Element::F64
        )
    }
}

/// A stored value that isn't a finite `f32`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ValueFault {
    /// The place of the value among the stored values.
    pub(super) position: usize,
    /// The text that shows the value.
    pub(super) value: String,
}

impl Element {
    /// The number of bytes of one element.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::BF16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Converts little-endian elements to values; bytes that make no whole element are left out.
    pub(super) fn decode(self, bytes: &[u8]) -> Result<Vec<f32>, ValueFault> {
        match self {
            Self::Bool => decode(bytes, |[byte]: [u8; 1]| Ok(f32::from(u8::from(byte != 0)))),
            Self::U8 => decode(bytes, |[byte]: [u8; 1]| Ok(f32::from(byte))),
            Self::I8 => decode(bytes, |bytes| Ok(f32::from(i8::from_le_bytes(bytes)))),
            Self::U16 => decode(bytes, |bytes| Ok(f32::from(u16::from_le_bytes(bytes)))),
            Self::I16 => decode(bytes, |bytes| Ok(f32::from(i16::from_le_bytes(bytes)))),
            Self::U32 => decode(bytes, |bytes| exact(u32::from_le_bytes(bytes).into())),
            Self::I32 => decode(bytes, |bytes| exact(i32::from_le_bytes(bytes).into())),
            Self::U64 => decode(bytes, |bytes| exact(u64::from_le_bytes(bytes).into())),
            Self::I64 => decode(bytes, |bytes| exact(i64::from_le_bytes(bytes).into())),
            Self::F16 => decode(bytes, |bytes| finite(f16_to_f32(u16::from_le_bytes(bytes)))),
            // A bf16 is the upper half of an f32.
            Self::BF16 => decode(bytes, |bytes| {
                finite(f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16))
            }),
            Self::F32 => decode(bytes, |bytes| finite(f32::from_le_bytes(bytes))),
            Self::F64 => decode(bytes, |bytes| {
                let value = f64::from_le_bytes(bytes);
                // `as` rounds to the nearest; beyond the largest f32 to infinity.
                finite(value as f32).map_err(|_| show(value))
            }),
        }
    }
}

fn decode<const WIDTH: usize>(
    bytes: &[u8],
    convert: impl Fn([u8; WIDTH]) -> Result<f32, String>,
) -> Result<Vec<f32>, ValueFault> {
    let (elements, _) = bytes.as_chunks::<WIDTH>();
    elements
        .iter()
        .enumerate()
        .map(|(position, &element)| {
            convert(element).map_err(|value| ValueFault { position, value })
        })
        .collect()
}

fn finite(value: f32) -> Result<f32, String> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(show(value.into()))
    }
}

fn show(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        "infinity".to_owned()
    } else {
        format!("{value:e}")
    }
}

/// Converts an integer to `f32`, where there is one of the same value.
fn exact(value: i128) -> Result<f32, String> {
    let converted = value as f32;
    if converted as i128 == value {
        Ok(converted)
    } else {
        Err(value.to_string())
    }
}

/// Converts an IEEE 754 binary16: one sign, five exponent and ten fraction bits. Every value is an
/// `f32`.
fn f16_to_f32(bits: u16) -> f32 {
    let fraction = f32::from(bits & 0x3ff);
    let exponent = i32::from(bits >> 10 & 0x1f);
    let magnitude = match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// The order in which a tensor's values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The last index runs fastest (C).
    RowMajor,
    /// The first index runs fastest (Fortran).
    ColumnMajor,
}

impl Order {
    /// Returns the index, one number for each axis, of the value stored at `position`.
    pub(super) fn index(self, mut position: usize, shape: &[usize]) -> Vec<usize> {
        let mut index = vec![0; shape.len()];
        let mut take = |axis: usize| {
            // No value is stored where an extent is 0.
            let extent = shape[axis].max(1);
            index[axis] = position % extent;
            position /= extent;
        };
        match self {
            Self::RowMajor => (0..shape.len()).rev().for_each(&mut take),
            Self::ColumnMajor => (0..shape.len()).for_each(&mut take),
        }
        index
    }

    /// Returns the values in row-major order.
    pub(super) fn to_row_major(self, stored: Vec<f32>, shape: &[usize]) -> Vec<f32> {
        if self == Self::RowMajor || shape.len() < 2 || stored.is_empty() {
            return stored;
        }
        let mut strides = Vec::with_capacity(shape.len());
        let mut stride = 1;
        for &extent in shape {
            strides.push(stride);
            stride *= extent;
        }
        let mut index = vec![0; shape.len()];
        let mut values = Vec::with_capacity(stored.len());
        for _ in 0..stored.len() {
            let position: usize = index
                .iter()
                .zip(&strides)
                .map(|(i, stride)| i * stride)
                .sum();
            values.push(stored[position]);
            // Counts up like an odometer, the last axis fastest.
            for (i, &extent) in index.iter_mut().zip(shape).rev() {
                *i += 1;
                if *i < extent {
                    break;
                }
                *i = 0;
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_keep_their_value() {
        // IEEE 754 binary16: one, the largest, the smallest normal and subnormal, a third, zeros.
        let known = [
            (0x3c00, 1.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x3555, 0.333_251_95),
            (0xc000, -2.0),
            (0x0000, 0.0),
        ];
        for (bits, value) in known {
            assert_eq!(f16_to_f32(bits), value, "{bits:#06x}");
        }
        assert!(f16_to_f32(0x8000).is_sign_negative());
        assert_eq!(f16_to_f32(0xfc00), f32::NEG_INFINITY);
        assert!(f16_to_f32(0x7e00).is_nan());
    }

    #[test]
    fn half_precision_numbers_grow_with_their_bits() {
        for bits in 0..0x7c00 {
            assert!(f16_to_f32(bits) < f16_to_f32(bits + 1), "{bits:#06x}");
        }
    }

    #[test]
    fn integers_are_exact_or_refused() {
        assert_eq!(exact(1 << 24), Ok(16_777_216.0));
        assert_eq!(exact(-(1 << 40)), Ok(-1_099_511_627_776.0));
        assert_eq!(exact((1 << 24) + 1), Err("16777217".to_owned()));
        assert_eq!(
            exact(u64::MAX.into()),
            Err("18446744073709551615".to_owned())
        );
    }

    #[test]
    fn bad_values_tell_their_place() {
        let bytes: Vec<u8> = [1.0, f64::NAN, 1e300]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let fault = |bytes| Element::F64.decode(bytes).unwrap_err();
        assert_eq!(
            fault(&bytes),
            ValueFault {
                position: 1,
                value: "NaN".to_owned()
            }
        );
        assert_eq!(
            fault(&bytes[16..]),
            ValueFault {
                position: 0,
                value: "1e300".to_owned()
            }
        );
        assert_eq!(Element::F64.decode(&bytes[..8]), Ok(vec![1.0]));
    }

    #[test]
    fn column_major_values_are_put_in_rows() {
        let stored = vec![0.0, 10.0, 1.0, 11.0, 2.0, 12.0];
        let shape = [2, 3];
        assert_eq!(
            Order::ColumnMajor.to_row_major(stored.clone(), &shape),
            [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]
        );
        assert_eq!(Order::ColumnMajor.index(3, &shape), [1, 1]);
        assert_eq!(Order::RowMajor.index(3, &shape), [1, 0]);
        assert_eq!(Order::RowMajor.to_row_major(stored.clone(), &shape), stored);
    }
}
