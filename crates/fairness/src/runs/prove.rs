//! Proofs, as the runner performs them.

use crate::prove::run::{Proof, ProofProgress};
use crate::prove::specification::ProveSpecification;
use crate::prove::summary::ProveSummary;
use probity_run::device_name::DeviceName;
use probity_run::number::{count, percent};
use probity_run::runner::{
    Failure, Observer, OpenedRun, Outcome, Progress, RunKind, Setting, Target, perform,
};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;

impl RunKind for ProveSpecification {
    const DIRECTORY: Option<&'static str> = Some("prove");
    const GOES_ON: bool = true;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        setting.place.expect_device(DeviceName::Flex, None)?;
        let proof = Proof::open(specification, &setting.place)?;
        perform(proof, setting)?.written()
    }
}

impl OpenedRun for Proof {
    type Kind = ProveSpecification;
    type Summary = ProveSummary;

    /// [`Proof::open`] has looked at it: it asks nothing of another model.
    fn record(&self) -> Option<&Record> {
        None
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        let observe = &mut |progress: ProofProgress| match progress {
            ProofProgress::Prove(now) => {
                let message = || {
                    format!(
                        "fair {}, discriminatory {}, undecided {} in {} boxes",
                        percent(now.fair),
                        percent(now.discriminatory),
                        percent(1.0 - now.fair - now.discriminatory),
                        count(now.boxes)
                    )
                };
                observer.observe(Progress::new("prove", (now.boxes, 0), &message))
            }
            ProofProgress::Search(found) => {
                let message = || format!("from undecided points, {} found", count(found));
                observer.observe(Progress::new("search", (0, 0), &message))
            }
            ProofProgress::Write => observer.observe(Progress::phase("write")),
        };
        Ok(self.run(target.needed()?, target.goes_on(), observe)?)
    }
}
