//! Inputs, opened: each is read, hashed and decoded once a run, here, and passed on as a value.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::audit_error::AuditError;
use super::population::DensityError;
use super::text::encoder::Encoder;
use super::text::preset::Preset;
use super::text::protected::Protected;
use probity_data::schema::{Schema, SchemaError};
use probity_data::table::{Labels, Table};
use probity_nn::model::Model;
use probity_nn::text_model::{TextModel, is_text_model};
use probity_nn::text_reader::TextReader;
use probity_nn::train::text_set::open_embeddings;
use probity_nn::transformer_model::{MaskedLanguageModel, TransformerModel, is_transformer};
use probity_run::run_directory::{file_sha256, hex};
use probity_run::specification::FieldError;
use probity_run::specification::file::Record;
use probity_text::corpus::{TextColumns, TextCorpus, read_texts_hashed};
use probity_text::embeddings::{EmbeddingTable, SHIPPED};
use probity_text::lexicon::{Lexicon, PAPER};
use probity_unlearning::spn::Network as SpnNetwork;
use probity_unlearning::spn::model::SpnModel;

/// An input that was opened, and what identifies it.
#[derive(Debug, Clone)]
pub struct Opened<T> {
    /// The decoded value.
    pub value: T,
    /// SHA-256 of the content of the input.
    pub sha256: String,
}

impl<T> Opened<T> {
    /// An opened value for which nothing that would identify it is written.
    pub fn unnamed(value: T) -> Opened<T> {
        Opened {
            value,
            sha256: String::new(),
        }
    }

    /// Returns this input with its value in another form.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Opened<U> {
        Opened {
            value: form(self.value),
            sha256: self.sha256,
        }
    }
}

/// The `hashes` of what was opened, by role.
pub fn by_role<const N: usize>(hashes: [(&str, String); N]) -> BTreeMap<String, String> {
    hashes.map(|(role, hash)| (role.to_owned(), hash)).into()
}

/// The model of tables in `directory`.
///
/// # Errors
/// When there is none, or one of texts.
pub fn open_model(directory: &Path) -> Result<Opened<Model>, AuditError> {
    let value = Model::load(directory).map_err(|error| match is_text_model(directory) {
        true => AuditError::ClassifiesTexts {
            model: directory.to_owned(),
        },
        false => error.into(),
    })?;
    Ok(Opened {
        sha256: value.sha256(),
        value,
    })
}

/// The model of texts in `directory`.
///
/// # Errors
/// When there is none, one of tables, or a transformer.
pub fn open_text_model(directory: &Path) -> Result<Opened<TextModel>, AuditError> {
    if is_transformer(directory) {
        let found = format!("{}, a transformer", directory.display());
        let expected = "a recurrent network: this is not done with transformers";
        return Err(FieldError::new("model", found, expected).into());
    }
    let value =
        TextModel::load(directory).map_err(|error| match Model::load(directory).is_ok() {
            true => AuditError::ClassifiesTables {
                model: directory.to_owned(),
            },
            false => error.into(),
        })?;
    Ok(Opened {
        sha256: value.sha256()?,
        value,
    })
}

/// The table in `file`, read by `schema`.
///
/// # Errors
/// When it cannot be read or does not fit the schema.
pub fn open_table(
    file: &Path,
    schema: &Schema,
    labels: Labels,
) -> Result<Opened<Table>, AuditError> {
    let hashed = Table::read_hashed(file, schema, labels)?;
    Ok(Opened {
        value: hashed.value,
        sha256: hashed.sha256,
    })
}

/// The texts in `file`, in its column `column` if it is a table; without labels, and without bad
/// rows if `skip_bad_rows` says so.
///
/// # Errors
/// When it cannot be read.
pub fn open_texts(
    file: &Path,
    column: Option<&str>,
    skip_bad_rows: bool,
) -> Result<Opened<TextCorpus>, AuditError> {
    let columns = TextColumns {
        text: column.map(str::to_owned),
        label: None,
        label_threshold: None,
        skip_bad_rows,
        classes: Vec::new(),
    };
    let hashed = read_texts_hashed(file, &columns)?;
    Ok(Opened {
        value: hashed.value,
        sha256: hashed.sha256,
    })
}

/// The lexicon in `file`, where [`PAPER`] names that of the paper; or, where none is given, the one
/// of `preset`.
///
/// # Errors
/// When the file cannot be read or is no lexicon.
pub fn open_lexicon(file: Option<&Path>, preset: Preset) -> Result<Opened<Lexicon>, AuditError> {
    let value = match (file, preset) {
        (Some(file), _) if file == Path::new(PAPER) => Lexicon::paper(),
        (Some(file), _) => Lexicon::load(file)?,
        (None, Preset::English) => Lexicon::shipped(),
        (None, Preset::Paper) => Lexicon::paper(),
    };
    Ok(Opened {
        sha256: hex(&Sha256::digest(value.to_toml()?)),
        value,
    })
}

/// The word vectors in `file`, or those that ship; for the latter nothing needs to be noted.
///
/// # Errors
/// When the file cannot be read or holds none.
pub fn open_vectors(file: Option<&Path>) -> Result<Opened<EmbeddingTable>, AuditError> {
    let mut record = Record::default();
    let file = file.unwrap_or(Path::new(SHIPPED));
    Ok(Opened {
        value: open_embeddings(file, &mut record)?,
        sha256: record.sha256_of("embeddings").to_owned(),
    })
}

/// The sum-product network in `directory`.
///
/// # Errors
/// When there is none, or it was changed.
pub fn open_spn(directory: &Path) -> Result<Opened<SpnNetwork>, DensityError> {
    let model = SpnModel::load(directory)?;
    Ok(Opened {
        sha256: hex(&Sha256::digest(model.to_bytes()?)),
        value: model.spn.network(),
    })
}

/// The sentence encoder in `file`.
///
/// # Errors
/// When it cannot be read or is none.
pub fn open_encoder(file: &Path) -> Result<Opened<Encoder>, AuditError> {
    Ok(Opened {
        value: Encoder::open(file)?,
        sha256: file_sha256(file)?,
    })
}

/// The masked language model in `directory`, as the field `text.fluency_model` names it.
///
/// # Errors
/// When there is no transformer, or it has no such head.
pub fn open_fluency_model(directory: &Path) -> Result<Opened<MaskedLanguageModel>, AuditError> {
    let refused = |problem: &dyn Display| {
        let expected = format!("a masked language model: {problem}");
        FieldError::new("text.fluency_model", directory.display(), expected)
    };
    let model = TransformerModel::load(directory).map_err(|error| refused(&error))?;
    let sha256 = model.sha256();
    let value = MaskedLanguageModel::new(model).map_err(|error| refused(&error))?;
    Ok(Opened { value, sha256 })
}

/// The protected attributes `named`, or all, of the lexicon in `file`, or in that of `preset`, as
/// `reader` splits it; with the lexicon's hash.
///
/// # Errors
/// See [`open_lexicon`] and [`Protected::new`].
pub fn open_protected(
    file: Option<&Path>,
    named: &[String],
    reader: &TextReader,
    preset: Preset,
) -> Result<Opened<Protected>, AuditError> {
    let lexicon = open_lexicon(file, preset)?;
    Ok(Opened {
        value: Protected::new(&lexicon.value, named, reader, preset)?,
        sha256: lexicon.sha256,
    })
}

/// The attributes `named`, else those that `schema` marks as protected.
pub fn protected_or_marked(named: &[String], schema: &Schema) -> Vec<String> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let name = |attribute: usize| schema.attributes[attribute].name.clone();
    schema.protected().into_iter().map(name).collect()
}

/// Positions of the attributes `names`.
pub(crate) fn positions(schema: &Schema, names: &[String]) -> Result<Vec<usize>, SchemaError> {
    names.iter().map(|name| schema.index_of(name)).collect()
}
