//! NumPy archives, well-formed and broken.

use super::*;

fn npy(descr: &str, fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    npy_with_header(
        &format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"),
        bytes,
    )
}

fn npy_with_header(header: &str, bytes: &[u8]) -> Vec<u8> {
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
    array.extend_from_slice(header.as_bytes());
    array.extend_from_slice(bytes);
    array
}

fn npz(array: &[u8]) -> Vec<u8> {
    zip_of(&[("w.npy", array)], CompressionMethod::Stored)
}

pub(super) fn small() -> Vec<u8> {
    let kernel = npy(
        "'<f4'",
        false,
        "(2, 3)",
        &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    );
    let bias = npy("'<f8'", false, "(1,)", &0.25_f64.to_le_bytes());
    zip_of(
        &[("kernel0.npy", &kernel), ("bias0.npy", &bias)],
        CompressionMethod::Deflated,
    )
}

#[test]
fn compressed_arrays_are_read() {
    let file = read(&small()).unwrap();
    assert_eq!(file.format, WeightFormat::Npz);
    assert_eq!(
        file.tensors["kernel0"],
        weight(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
    assert_eq!(file.tensors["bias0"], weight(&[1], &[0.25]));
}

#[test]
fn fortran_order_is_put_in_rows() {
    let array = npy(
        "'<f4'",
        true,
        "(2, 3)",
        &floats(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
    );
    let file = read(&npz(&array)).unwrap();
    assert_eq!(
        file.tensors["w"],
        weight(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );

    let array = npy(
        "'<f4'",
        true,
        "(2, 2)",
        &floats(&[0.0, f32::INFINITY, 0.0, 0.0]),
    );
    let message = error_of(&npz(&array));
    assert!(message.contains("holds infinity at [1, 0]"), "{message}");
}

#[test]
fn big_endian_numbers_half_floats_and_scalars_are_read() {
    let big = npy(
        "'>i4'",
        false,
        "(2,)",
        &[0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff],
    );
    assert_eq!(read(&npz(&big)).unwrap().tensors["w"].values, [256.0, -1.0]);
    let half = npy("'<f2'", false, "(1,)", &[0x00, 0x3c]);
    assert_eq!(read(&npz(&half)).unwrap().tensors["w"].values, [1.0]);
    let scalar = npy("'|b1'", false, "()", &[1]);
    assert_eq!(
        read(&npz(&scalar)).unwrap().tensors["w"],
        weight(&[], &[1.0])
    );
    let none = npy("'<f4'", true, "(0, 5)", &[]);
    assert_eq!(
        read(&npz(&none)).unwrap().tensors["w"],
        weight(&[0, 5], &[])
    );
}

#[test]
fn arrays_of_anything_but_numbers_are_refused() {
    for descr in ["'<U4'", "'|O'", "'<c16'", "'<f16'", "[('a', '<f4')]"] {
        let message = error_of(&npz(&npy(descr, false, "(1,)", &[0; 16])));
        assert!(
            message.contains("`w`") && message.contains("elements of type"),
            "{message}"
        );
    }
}

#[test]
fn a_shape_that_disagrees_with_the_bytes_is_refused() {
    for shape in ["(3,)", "(1,)", "(200000000,)"] {
        let message = error_of(&npz(&npy("'<f4'", false, shape, &floats(&[1.0, 2.0]))));
        assert!(
            message.contains("`w`") && message.contains("needs"),
            "{message}"
        );
    }
}

#[test]
fn a_shape_beyond_the_limit_is_refused_before_its_bytes_are_read() {
    let message = error_of(&npz(&npy("'<f4'", false, "(1000000, 1000000)", &[])));
    assert!(message.contains("more than Probity reads"), "{message}");
}

#[test]
fn hostile_headers_are_refused_before_they_are_parsed() {
    let brackets = "(".repeat(9_000);
    let long = "x".repeat(20_000);
    for (header, said) in [
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999)}",
            "99999999999",
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 0x7fffffffffffffff, 4)}",
            "0x7f",
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (123456789012345678901234,)}",
            "1234",
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "negative",
        ),
        (brackets.as_str(), "brackets"),
        (long.as_str(), "20000 bytes"),
        ("not a dictionary", "dict"),
        ("{'descr': '<f4'}", "fortran_order"),
        (
            "{'descr': '<q9', 'fortran_order': False, 'shape': (1,)}",
            "type",
        ),
    ] {
        let message = error_of(&npz(&npy_with_header(header, &[0; 4])));
        assert!(
            message.contains("`w`") && message.contains(said),
            "{said}: {message}"
        );
    }
    // Version 2 gives the length in four bytes: here, four gibibytes.
    let huge = error_of(&npz(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"));
    assert!(huge.contains("4294967295 bytes"), "{huge}");
    let foreign = error_of(&npz(b"something else"));
    assert!(foreign.contains("signature"), "{foreign}");
}

#[test]
fn a_damaged_array_is_noticed_by_its_checksum() {
    let mut content = npz(&npy("'<f4'", false, "(1,)", &floats(&[1.5])));
    let place = content
        .windows(4)
        .position(|bytes| bytes == 1.5_f32.to_le_bytes())
        .unwrap();
    content[place] ^= 1;
    let message = error_of(&content);
    assert!(message.to_lowercase().contains("checksum"), "{message}");
}

#[test]
fn members_that_are_no_arrays_are_left_alone() {
    let array = npy("'<f4'", false, "(1,)", &floats(&[1.0]));
    let content = zip_of(
        &[("README", b"text"), ("w.npy", &array)],
        CompressionMethod::Stored,
    );
    assert_eq!(read(&content).unwrap().tensors.len(), 1);
}
