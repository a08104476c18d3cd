//! What the directory of a model says of its architecture, while it is there and holds the model
//! that a run was of.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::files::RunFiles;
use crate::model::Architecture;
use probity_run::run_directory::RunDirectory;

/// The description of a model in its directory.
const DESCRIPTION: &str = "model.toml";

/// The hashes of the model that a directory holds, as its summary says them.
#[derive(Deserialize)]
struct Held {
    model_sha256: String,
    #[serde(default)]
    repaired_sha256: Option<String>,
}

/// The architecture of the model of a run, where it can be told.
pub(super) fn architecture(files: &RunFiles) -> Option<Architecture> {
    let sha256 = files.text("model_sha256").or_else(|| recorded(files))?;
    let model = files.options.get("model").and_then(toml::Value::as_str)?;
    let directory = Path::new(model);
    let run = RunDirectory::open(directory).ok()?;
    let held: Held = run.read_summary().ok()?;
    let of_directory = held.repaired_sha256.unwrap_or(held.model_sha256);
    if of_directory != sha256 {
        return None;
    }
    let text = fs::read_to_string(directory.join(DESCRIPTION)).ok()?;
    described(&toml::from_str(&text).ok()?)
}

/// The hash of the model that `run.toml` has recorded.
fn recorded(files: &RunFiles) -> Option<String> {
    let hashes = files.options.get("record")?.get("sha256")?;
    Some(hashes.get("model")?.as_str()?.to_owned())
}

/// The architecture that a `model.toml` describes.
fn described(description: &toml::Table) -> Option<Architecture> {
    let part = |kind: &str| description.get(kind)?.get("network");
    let number = |table: &toml::Value, key: &str| {
        let value = table.get(key).and_then(toml::Value::as_integer);
        value.map_or("?".to_owned(), |value| value.to_string())
    };
    let word = |table: &toml::Value, key: &str| {
        let value = table.get(key).and_then(toml::Value::as_str);
        value.unwrap_or("?").to_owned()
    };
    let (family, model) = if let Some(network) = part("transformer") {
        let family = description.get("transformer").map(|of| word(of, "family"));
        let sizes = [("layers", "blocks"), ("heads", "heads"), ("units", "units")];
        let sizes = sizes.map(|(key, name)| format!("{} {name}", number(network, key)));
        let name = family.unwrap_or_default();
        (
            "transformer network",
            format!("{name}, {}", sizes.join(", ")),
        )
    } else if let Some(network) = part("text") {
        let both = network.get("bidirectional").and_then(toml::Value::as_bool);
        let direction = if both == Some(true) {
            "bidirectional "
        } else {
            ""
        };
        let (layers, units) = (number(network, "layers"), number(network, "units"));
        let cell = word(network, "cell").to_uppercase();
        let model = format!("{direction}{cell}, {layers} layers of {units} units");
        ("recurrent neural network", model)
    } else {
        let network = description.get("network")?;
        let hidden = network.get("hidden")?.as_array()?.iter();
        let widths: Vec<String> = hidden.map(toml::Value::to_string).collect();
        let widths = match widths.is_empty() {
            true => "no hidden layers".to_owned(),
            false => format!("hidden layers of {} units", widths.join(", ")),
        };
        let activation = word(network, "activation");
        (
            "feed-forward neural network",
            format!("{widths}, {activation}"),
        )
    };
    Some(Architecture {
        family: family.to_owned(),
        model,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_told_from_descriptions() {
        for (text, family, model) in [
            (
                "[network]\nhidden = [32, 16]\nactivation = \"relu\"\n",
                "feed-forward neural network",
                "hidden layers of 32, 16 units, relu",
            ),
            (
                "[text.network]\ncell = \"lstm\"\nlayers = 2\nunits = 8\nbidirectional = true\n",
                "recurrent neural network",
                "bidirectional LSTM, 2 layers of 8 units",
            ),
            (
                "[transformer]\nfamily = \"bert\"\n[transformer.network]\nlayers = 2\nheads = 3\nunits = 12\n",
                "transformer network",
                "bert, 2 blocks, 3 heads, 12 units",
            ),
        ] {
            let told = described(&toml::from_str(text).unwrap()).unwrap();
            assert_eq!((told.family.as_str(), told.model.as_str()), (family, model));
        }
        assert_eq!(described(&toml::Table::new()), None);
    }
}
