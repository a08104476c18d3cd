//! Safetensors files, well-formed and broken.

use super::*;

fn file(tensors: &[(&str, Dtype, &[usize], &[u8])]) -> Vec<u8> {
    let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
        (
            *name,
            TensorView::new(*dtype, shape.to_vec(), bytes).unwrap(),
        )
    });
    safetensors::serialize(views, None).unwrap()
}

pub(super) fn small() -> Vec<u8> {
    file(&[
        ("bias", Dtype::F32, &[2], &floats(&[0.5, -0.5])),
        (
            "weight",
            Dtype::F32,
            &[2, 3],
            &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ),
    ])
}

#[test]
fn tensors_come_with_name_shape_and_values() {
    let file = read(&small()).unwrap();
    assert_eq!(file.format, WeightFormat::Safetensors);
    assert_eq!(file.tensors.len(), 2);
    assert_eq!(file.tensors["bias"], weight(&[2], &[0.5, -0.5]));
    assert_eq!(
        file.tensors["weight"],
        weight(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
}

#[test]
fn every_element_type_becomes_f32() {
    let cases: [(Dtype, Vec<u8>, f32); 13] = [
        (Dtype::BOOL, vec![1], 1.0),
        (Dtype::U8, vec![200], 200.0),
        (Dtype::I8, (-3_i8).to_le_bytes().to_vec(), -3.0),
        (Dtype::U16, 60_000_u16.to_le_bytes().to_vec(), 60_000.0),
        (Dtype::I16, (-300_i16).to_le_bytes().to_vec(), -300.0),
        (Dtype::U32, 70_000_u32.to_le_bytes().to_vec(), 70_000.0),
        (Dtype::I32, (-70_000_i32).to_le_bytes().to_vec(), -70_000.0),
        (
            Dtype::U64,
            (1_u64 << 40).to_le_bytes().to_vec(),
            1_099_511_627_776.0,
        ),
        (Dtype::I64, (-5_i64).to_le_bytes().to_vec(), -5.0),
        (Dtype::F16, vec![0x00, 0xbe], -1.5),
        (Dtype::BF16, vec![0x20, 0x40], 2.5),
        (Dtype::F32, 0.1_f32.to_le_bytes().to_vec(), 0.1),
        (Dtype::F64, 0.1_f64.to_le_bytes().to_vec(), 0.1),
    ];
    for (dtype, bytes, value) in cases {
        let read = read(&file(&[("w", dtype, &[1], &bytes)])).unwrap();
        assert_eq!(read.tensors["w"].values, [value], "{dtype:?}");
    }
}

#[test]
fn a_nan_is_refused_with_its_place() {
    let bytes = floats(&[1.0, 2.0, 3.0, 4.0, 5.0, f32::NAN]);
    let message = error_of(&file(&[("layers.0.weight", Dtype::F32, &[2, 3], &bytes)]));
    assert!(message.contains("`layers.0.weight`"), "{message}");
    assert!(message.contains("holds NaN at [1, 2]"), "{message}");
}

#[test]
fn an_unsupported_element_type_is_named() {
    let message = error_of(&file(&[("w", Dtype::F8_E4M3, &[1], &[0])]));
    assert!(
        message.contains("`w`") && message.contains("F8_E4M3"),
        "{message}"
    );
}

#[test]
fn a_header_that_declares_more_than_the_file_has_is_refused() {
    let json = br#"{"w":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}}"#;
    let mut hostile = (json.len() as u64).to_le_bytes().to_vec();
    hostile.extend_from_slice(json);
    assert!(matches!(
        read(&hostile),
        Err(WeightsError::Malformed { .. })
    ));
}

#[test]
fn a_file_without_tensors_is_refused() {
    let message = error_of(&file(&[]));
    assert!(message.contains("holds no tensors"), "{message}");
}
