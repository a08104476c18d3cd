//! Certifications, as the runner performs them.

use crate::certify::run::{Certifiable, Certification, CertifySummary};
use crate::certify::specification::CertifySpecification;
use crate::certify::table::CertifiableTable;
use crate::certify::text::CertifiableTexts;
use crate::modality::ModalityName;
use probity_run::runner::{
    Failure, Observer, OpenedRun, Outcome, Progress, RunKind, Setting, Target, perform,
};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;

impl RunKind for CertifySpecification {
    const DIRECTORY: Option<&'static str> = Some("certify");

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        match specification.modality {
            ModalityName::Table => {
                let certification = Certification::<CertifiableTable>::open(specification)?;
                perform(certification, setting)?.written()
            }
            ModalityName::Text => {
                let certification = Certification::<CertifiableTexts>::open(specification)?;
                perform(certification, setting)?.written()
            }
        }
    }
}

impl<M: Certifiable> OpenedRun for Certification<M> {
    type Kind = CertifySpecification;
    type Summary = CertifySummary;

    const STOPS: bool = false;

    fn record(&self) -> Option<&Record> {
        Some(self.record())
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        Ok(self.run(target.needed()?, &mut |set| {
            let message = || format!("set {}", set + 1);
            let steps = (set as u64, self.sets() as u64);
            // What is certified so far is no certificate: it is not stopped.
            let _ = observer.observe(Progress::new("certify", steps, &message));
        })?)
    }
}
