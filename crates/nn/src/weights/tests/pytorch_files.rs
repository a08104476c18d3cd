//! PyTorch checkpoints, well-formed and broken.

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

/// What lies under a key of a checkpoint.
enum Entry<'a> {
    Tensors(&'a [Stored<'a>]),
    Tensor(&'a Stored<'a>),
    /// An array of NumPy.
    Array,
}

/// `torch.save({KEY: ENTRY, ...}, ...)`.
fn saved(entries: &[(&str, Entry<'_>)]) -> Vec<u8> {
    let mut storages: Vec<&Stored<'_>> = Vec::new();
    let mut pickle = Pickle::default();
    pickle.op(b"\x80\x02}(");
    for (key, entry) in entries {
        pickle.text(key);
        match entry {
            Entry::Tensors(tensors) => {
                pickle.state_dict(storages.len(), tensors);
                storages.extend(tensors.iter());
            }
            Entry::Tensor(tensor) => {
                pickle.tensor(storages.len(), tensor);
                storages.push(tensor);
            }
            Entry::Array => {
                pickle.global("numpy._core.multiarray", "_reconstruct");
                pickle.op(b")R");
            }
        }
    }
    pickle.op(b"u.");
    container(&pickle.0, &storages)
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
        let field = |at: usize| u64::from(u32::from_le_bytes(*end[at..].first_chunk().unwrap()));
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

/// A mean beside the weights may be subtracted from what enters: it is named, and an optimiser's state
/// is not.
#[test]
fn tensors_and_arrays_beside_the_state_dictionary_are_named() {
    let network = [float_tensor("fc.weight", &[2.0], &[1, 1], &[1, 1])];
    let mean = float_tensor("mean", &[f32::NAN], &[1], &[1]);
    let epoch = Stored {
        name: "epoch",
        storage_type: "LongStorage",
        storage: 12_i64.to_le_bytes().to_vec(),
        elements: 1,
        shape: &[],
        stride: &[],
    };
    let others = std::slice::from_ref(&mean);
    let file = read(&saved(&[
        ("scaler", Entry::Tensors(others)),
        ("state_dict", Entry::Tensors(&network)),
        ("mean", Entry::Tensor(&mean)),
        ("epoch", Entry::Tensor(&epoch)),
        ("deviation", Entry::Array),
        ("optimizer_states", Entry::Tensors(others)),
        ("lr_schedulers", Entry::Tensors(others)),
        ("rng_state", Entry::Array),
    ]));
    let file = file.unwrap();
    assert_eq!(file.checkpoint_key.as_deref(), Some("state_dict"));
    assert_eq!(file.tensors.keys().collect::<Vec<_>>(), ["fc.weight"]);
    let beside: Vec<&String> = file.beside.iter().collect();
    assert_eq!(beside, ["deviation", "epoch", "mean", "scaler.mean"]);
    assert_eq!(file.integers.iter().collect::<Vec<_>>(), ["epoch"]);

    let file = read(&saved(&[
        ("fc.weight", Entry::Tensor(&network[0])),
        ("mean", Entry::Array),
        ("optimizer", Entry::Array),
    ]));
    let file = file.unwrap();
    assert_eq!(file.checkpoint_key, None);
    assert_eq!(file.beside.iter().collect::<Vec<_>>(), ["mean"]);
}

#[test]
fn a_file_of_several_networks_is_refused() {
    let network = [float_tensor("fc.weight", &[2.0], &[1, 1], &[1, 1])];
    let parallel = [float_tensor("module.fc.weight", &[3.0], &[1, 1], &[1, 1])];
    let other = [float_tensor("out.weight", &[4.0], &[1, 1], &[1, 1])];
    for (second, entry, key) in [
        ("model", Entry::Tensors(&other), "state_dict"),
        ("model_ema", Entry::Tensors(&network), "model"),
        ("ema", Entry::Tensors(&parallel), "net"),
        ("fc.weight", Entry::Tensor(&network[0]), "network"),
    ] {
        let first = (key, Entry::Tensors(&network));
        let message = error_of(&saved(&[(second, entry), first]));
        let said = format!("under more than one key: {key}, {second}; save the one");
        assert!(message.contains(&said), "{message}");
        assert!(
            message.contains(&format!("checkpoint[\"{key}\"]")),
            "{message}"
        );
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
