//! Files written by hand, well-formed and broken.

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

mod safetensors_files {
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
        let json =
            br#"{"w":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}}"#;
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
}

mod npz_files {
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
}

mod pytorch_files {
    use super::*;

    /// A tensor as `torch.save` writes it: a view of a storage.
    pub(super) struct Stored<'a> {
        pub(super) name: &'a str,
        pub(super) storage_type: &'a str,
        pub(super) storage: Vec<u8>,
        pub(super) elements: u32,
        pub(super) shape: &'a [u32],
        pub(super) stride: &'a [u32],
    }

    pub(super) fn float_tensor<'a>(
        name: &'a str,
        values: &[f32],
        shape: &'a [u32],
        stride: &'a [u32],
    ) -> Stored<'a> {
        Stored {
            name,
            storage_type: "FloatStorage",
            storage: floats(values),
            elements: values.len() as u32,
            shape,
            stride,
        }
    }

    /// Writes the opcodes of pickle protocol 2, as `torch.save` does.
    #[derive(Default)]
    struct Pickle(Vec<u8>);

    impl Pickle {
        fn op(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }

        fn global(&mut self, module: &str, name: &str) {
            self.op(format!("c{module}\n{name}\n").as_bytes());
        }

        fn text(&mut self, text: &str) {
            self.op(b"X");
            self.op(&(text.len() as u32).to_le_bytes());
            self.op(text.as_bytes());
        }

        fn number(&mut self, number: u32) {
            self.op(b"J");
            self.op(&number.to_le_bytes());
        }

        fn tuple(&mut self, numbers: &[u32]) {
            self.op(b"(");
            numbers.iter().for_each(|&number| self.number(number));
            self.op(b"t");
        }

        fn ordered_dict(&mut self) {
            self.global("collections", "OrderedDict");
            self.op(b")R");
        }

        fn tensor(&mut self, key: usize, tensor: &Stored<'_>) {
            self.global("torch._utils", "_rebuild_tensor_v2");
            self.op(b"((");
            self.text("storage");
            self.global("torch", tensor.storage_type);
            self.text(&key.to_string());
            self.text("cpu");
            self.number(tensor.elements);
            self.op(b"tQ");
            self.number(0);
            self.tuple(tensor.shape);
            self.tuple(tensor.stride);
            self.op(b"\x89");
            self.ordered_dict();
            self.op(b"tR");
        }

        fn state_dict(&mut self, first_key: usize, tensors: &[Stored<'_>]) {
            self.ordered_dict();
            self.op(b"(");
            for (index, tensor) in tensors.iter().enumerate() {
                self.text(tensor.name);
                self.tensor(first_key + index, tensor);
            }
            self.op(b"u");
        }
    }

    fn container(pickle: &[u8], storages: &[&Stored<'_>]) -> Vec<u8> {
        let names: Vec<_> = (0..storages.len())
            .map(|key| format!("archive/data/{key}"))
            .collect();
        let mut members: Vec<(&str, &[u8])> = vec![
            ("archive/data.pkl", pickle),
            ("archive/byteorder", b"little"),
        ];
        for (name, stored) in names.iter().zip(storages) {
            members.push((name, &stored.storage));
        }
        members.push(("archive/version", b"3\n"));
        zip_of(&members, CompressionMethod::Stored)
    }

    /// `torch.save(model.state_dict(), ...)`.
    pub(super) fn state_dict(tensors: &[Stored<'_>]) -> Vec<u8> {
        let mut pickle = Pickle::default();
        pickle.op(b"\x80\x02");
        pickle.state_dict(0, tensors);
        pickle.op(b".");
        container(&pickle.0, &tensors.iter().collect::<Vec<_>>())
    }

    /// `torch.save({"epoch": 3, KEY: model.state_dict(), "optimizer": ...}, ...)`.
    fn checkpoint(key: &str, tensors: &[Stored<'_>], optimizer: &[Stored<'_>]) -> Vec<u8> {
        let mut pickle = Pickle::default();
        pickle.op(b"\x80\x02}(");
        pickle.text("epoch");
        pickle.number(3);
        pickle.text(key);
        pickle.state_dict(0, tensors);
        pickle.text("optimizer");
        pickle.state_dict(tensors.len(), optimizer);
        pickle.op(b"u.");
        container(
            &pickle.0,
            &tensors.iter().chain(optimizer).collect::<Vec<_>>(),
        )
    }

    pub(super) fn small() -> Vec<u8> {
        state_dict(&[
            float_tensor(
                "layers.0.weight",
                &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
                &[2, 3],
                &[3, 1],
            ),
            float_tensor("layers.0.bias", &[0.5, -0.5], &[2], &[1]),
        ])
    }

    #[test]
    fn a_state_dictionary_is_read() {
        let file = read(&small()).unwrap();
        assert_eq!(file.format, WeightFormat::Pytorch);
        assert_eq!(file.checkpoint_key, None);
        assert_eq!(file.tensors.len(), 2);
        let expected = weight(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(file.tensors["layers.0.weight"], expected);
        assert_eq!(file.tensors["layers.0.bias"], weight(&[2], &[0.5, -0.5]));
    }

    #[test]
    fn an_archive_as_pytorch_closes_it_is_read_whatever_its_name() {
        // PyTorch always writes the zip64 end records, 76 bytes, and names the folder inside after
        // the file. With 21 letters the first directory entry has 76 bytes too, which misled
        // versions 9.1.0 to 9.4.1 of the zip crate.
        for name in ["archive", "full_model_checkpoint"] {
            let mut pickle = Pickle::default();
            pickle.op(b"\x80\x02");
            pickle.state_dict(0, &[float_tensor("w", &[1.0], &[1], &[1])]);
            pickle.op(b".");
            let (data, storage) = (format!("{name}/data.pkl"), format!("{name}/data/0"));
            let mut content = zip_of(
                &[(&data, &pickle.0), (&storage, &floats(&[1.0]))],
                CompressionMethod::Stored,
            );
            let end = content.split_off(content.len() - 22);
            let field =
                |at: usize| u64::from(u32::from_le_bytes(*end[at..].first_chunk().unwrap()));
            let (length, start) = (field(12), field(16));
            let end64 = content.len() as u64;
            content.extend(b"PK\x06\x06");
            content.extend(44_u64.to_le_bytes());
            content.extend([30, 3, 45, 0]);
            content.extend([0; 8]);
            for number in [2, 2, length, start] {
                content.extend(number.to_le_bytes());
            }
            content.extend(b"PK\x06\x07");
            content.extend([0; 4]);
            content.extend(end64.to_le_bytes());
            content.extend(1_u32.to_le_bytes());
            content.extend(end);
            assert_eq!(
                read(&content).unwrap().tensors["w"],
                weight(&[1], &[1.0]),
                "{name}"
            );
        }
    }

    #[test]
    fn a_transposed_tensor_is_put_in_rows() {
        let values = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let file = read(&state_dict(&[float_tensor("w", &values, &[2, 3], &[1, 2])])).unwrap();
        assert_eq!(
            file.tensors["w"],
            weight(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        );
    }

    #[test]
    fn a_checkpoint_gives_its_state_dictionary_alone() {
        for key in ["state_dict", "model_state_dict", "model"] {
            // What isn't read cannot be wrong.
            let optimizer = [float_tensor("step", &[f32::NAN], &[1], &[1])];
            let model = [float_tensor("fc.weight", &[2.0], &[1, 1], &[1, 1])];
            let file = read(&checkpoint(key, &model, &optimizer)).unwrap();
            assert_eq!(file.checkpoint_key.as_deref(), Some(key));
            assert_eq!(file.tensors.keys().collect::<Vec<_>>(), ["fc.weight"]);
        }
    }

    #[test]
    fn a_layer_called_model_is_no_checkpoint() {
        let tensors = [
            float_tensor("model.weight", &[2.0], &[1], &[1]),
            float_tensor("head", &[3.0], &[1], &[1]),
        ];
        let file = read(&state_dict(&tensors)).unwrap();
        assert_eq!(file.checkpoint_key, None);
        assert_eq!(
            file.tensors.keys().collect::<Vec<_>>(),
            ["head", "model.weight"]
        );
    }

    #[test]
    fn other_storages_become_f32() {
        for (storage_type, storage, value) in [
            ("HalfStorage", vec![0x00, 0xbe], -1.5),
            ("BFloat16Storage", vec![0x20, 0x40], 2.5),
            ("DoubleStorage", 0.1_f64.to_le_bytes().to_vec(), 0.1),
            ("LongStorage", 12_i64.to_le_bytes().to_vec(), 12.0),
        ] {
            let tensor = Stored {
                name: "w",
                storage_type,
                storage,
                elements: 1,
                shape: &[],
                stride: &[],
            };
            let file = read(&state_dict(&[tensor])).unwrap();
            assert_eq!(file.tensors["w"], weight(&[], &[value]), "{storage_type}");
        }
    }

    #[test]
    fn a_nan_is_refused_with_its_place() {
        let tensor = float_tensor("w", &[0.0, f32::NEG_INFINITY], &[2, 1], &[1, 1]);
        let message = error_of(&state_dict(&[tensor]));
        assert!(
            message.contains("`w`") && message.contains("infinity at [1, 0]"),
            "{message}"
        );
    }

    #[test]
    fn a_tensor_that_declares_more_than_its_storage_is_refused() {
        let mut tensor = float_tensor("w", &[1.0], &[1_000_000], &[1]);
        tensor.elements = 1_000_000;
        let message = error_of(&state_dict(&[tensor]));
        assert!(message.contains("PyTorch"), "{message}");
    }

    #[test]
    fn one_number_expanded_beyond_the_limit_is_refused_unread() {
        let message = error_of(&state_dict(&[float_tensor(
            "w",
            &[1.0],
            &[40_000, 40_000],
            &[0, 0],
        )]));
        assert!(message.contains("more than Probity reads"), "{message}");
    }

    #[test]
    fn a_pickle_of_something_else_is_refused() {
        // pickle.dumps({"a": 1}, protocol=2) and pickle.dumps([1], protocol=2).
        for pickle in [
            &b"\x80\x02}q\x00X\x01\x00\x00\x00aq\x01K\x01s."[..],
            b"\x80\x02]q\x00K\x01a.",
        ] {
            assert!(matches!(
                read(pickle),
                Err(WeightsError::NoTensors { .. } | WeightsError::Malformed { .. })
            ));
        }
    }
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
    let zip = zip_of(&[("people.csv", b"a,b")], CompressionMethod::Stored);
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
