use super::*;
use probity_data::builtin;

fn model() -> Model {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let encodings: Vec<Encoding> = (0..8)
        .map(|attribute| match attribute % 3 {
            0 => Encoding::Scaled {
                mean: 0.1,
                deviation: 1.7,
            },
            1 => Encoding::OneHot,
            _ => Encoding::Embedded { dimension: 2 },
        })
        .collect();
    let layout = InputLayout::new(&schema.attributes, &encodings);
    let network = Network::random(layout, &[5, 3], 2, Activation::Sigmoid, 3);
    Model { schema, network }
}

#[test]
fn saved_and_loaded_is_the_same_model() {
    let directory = tempfile::tempdir().unwrap();
    let model = model();
    model.save(directory.path()).unwrap();
    let loaded = Model::load(directory.path()).unwrap();
    assert_eq!(loaded, model);
    assert_eq!(loaded.sha256(), model.sha256());
    let mut other = model.clone();
    other.network.layers[0].weight[0] += 1.0;
    assert_ne!(other.sha256(), model.sha256());
}

#[test]
fn what_does_not_fit_is_named() {
    let directory = tempfile::tempdir().unwrap();
    model().save(directory.path()).unwrap();
    let description = directory.path().join(DESCRIPTION);
    let text = read_text(&description, FORM).unwrap();
    for (from, to, needle) in [
        ("hidden = [5, 3]", "hidden = [5, 4]", "layers.1.weight"),
        (
            "activation = \"sigmoid\"",
            "activation = \"magic\"",
            "magic",
        ),
    ] {
        assert!(text.contains(from), "{text}");
        write_text(&description, FORM, &text.replacen(from, to, 1)).unwrap();
        let error = Model::load(directory.path()).unwrap_err().to_string();
        assert!(error.contains(needle), "{error}");
    }
    write_text(&description, FORM, &text).unwrap();
    let weights = directory.path().join(WEIGHTS);
    let mut bytes = std::fs::read(&weights).unwrap();
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    std::fs::write(&weights, bytes).unwrap();
    let error = Model::load(directory.path()).unwrap_err().to_string();
    assert!(error.contains("was changed"), "{error}");
    let error = Model::load("/nowhere").unwrap_err().to_string();
    assert!(error.contains("cannot read"), "{error}");
}
