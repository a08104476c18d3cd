//! The paper's networks for texts.

use std::path::{PathBuf, absolute};

use anyhow::bail;
use tempfile::TempDir;

use super::paper::{LABEL_COLUMN, TEXT_COLUMN};
use crate::interrupt::{Interrupt, Interrupted};
use probity_nn::recurrent::network::CellKind;
use probity_nn::train::TrainSpecification;
use probity_nn::train::options::{Learning, RecurrentOptions};
use probity_nn::train::run::Training;
use probity_nn::train::text_set::TextSet;
use probity_run::run_directory::RunDirectory;
use probity_run::specification::Specification;
use probity_tensor::device::ComputeDevice;

/// The files that networks are trained on.
pub struct Comments {
    /// The labelled comments.
    pub texts: PathBuf,
    vectors: PathBuf,
}

impl Comments {
    /// Takes the files of the comments and of the word vectors.
    pub fn new(files: &[PathBuf]) -> anyhow::Result<Comments> {
        let [texts, vectors] = files else {
            bail!("two files are expected");
        };
        Ok(Comments {
            texts: absolute(texts)?,
            vectors: absolute(vectors)?,
        })
    }

    /// Trains the paper's network, in a folder of its own.
    pub fn train(
        &self,
        cell: CellKind,
        seed: u64,
        interrupt: &Interrupt,
    ) -> anyhow::Result<TrainedModel> {
        let mut specification = TrainSpecification::of_texts(&self.texts, LABEL_COLUMN);
        specification.text_column = Some(TEXT_COLUMN.to_owned());
        let network = specification.recurrent.insert(RecurrentOptions::default());
        network.cell = cell;
        network.embeddings.clone_from(&self.vectors);
        specification.training = Learning {
            epochs: Some(8),
            batch: Some(64),
            weight_decay: Some(0.1),
            validation: Some(0.1),
            seed,
            ..Learning::default()
        };
        let training = Training::<TextSet>::open(specification.check()?, &ComputeDevice::flex())?;
        let folder = TempDir::new()?;
        let model = folder.path().join("model");
        let run = RunDirectory::create(&model)?;
        let trained = training.run(&run, false, &mut |_| interrupt.flow())?;
        Interrupted::unless(trained.finished)?;
        Ok(TrainedModel {
            model,
            _folder: folder,
        })
    }
}

/// A trained network, whose directory is there as long as this is.
pub struct TrainedModel {
    /// The directory of the network.
    pub model: PathBuf,
    _folder: TempDir,
}
