//! Files of n-gram models: they hold only the counts, from which the rest follows, and are sealed.

use std::io::{self, Write};
use std::path::Path;

use super::count::Counts;
use super::smooth::smoothed;
use super::{NgramError, NgramModel};
use probity_run::run_directory::RunError;
use probity_run::sealed::{Form, decode, encode, read_sealed, seal_into};

const FORM: Form = Form {
    kind: "n-gram model",
    version: "1",
};

impl NgramModel {
    /// Writes the model; the same model gives the same bytes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, mut writer: impl Write) -> io::Result<()> {
        let bytes = encode(&self.counts()).map_err(io::Error::other)?;
        seal_into(&mut writer, FORM, |out| out.write_all(&bytes))
    }

    /// Reads a model that [`NgramModel::write`] wrote.
    ///
    /// # Errors
    /// When it cannot be read, was changed, or holds what no texts have.
    pub fn read(file: &Path) -> Result<NgramModel, NgramError> {
        let bytes = read_sealed(file, FORM)?;
        let foreign = |problem: &str| RunError::Foreign {
            file: file.to_owned(),
            problem: problem.to_owned(),
        };
        let counts: Counts = decode(&bytes).map_err(|problem| foreign(&problem))?;
        if let Some(problem) = counts.problem() {
            return Err(foreign(problem).into());
        }
        let expected = counts.trigrams.len();
        let model = smoothed(counts)?;
        // Two words after which something comes occur as such.
        match model.trigrams.len() == expected {
            true => Ok(model),
            false => Err(foreign("its counts are those of no texts").into()),
        }
    }

    fn counts(&self) -> Counts {
        let mut keys: Vec<(u32, u64)> = self.places.iter().map(|(&key, &at)| (at, key)).collect();
        keys.sort_unstable();
        let trigrams = keys.into_iter().flat_map(|(place, key)| {
            let words = [(key >> 32) as u32, key as u32];
            let after = self.trigrams_of(place as usize).iter();
            after.map(move |after| ([words[0], words[1], after.word], after.count))
        });
        Counts {
            words: self.words.iter().map(str::to_owned).collect(),
            starts: self.starts.clone(),
            trigrams: trigrams.collect(),
        }
    }
}
