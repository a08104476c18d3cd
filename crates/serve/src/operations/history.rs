//! Histories of audits: the audits of a model, or of one name, one after the other, with their
//! shares and intervals, with what got better or worse, and with the pairs that are new.

use probity_report::Change;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::inspect::inspect;
use super::jobs::views;
use super::results::{AuditFigures, ComparedJob, ShareFigure, compared, samples};
use crate::identifier::Id;
use crate::inspection::Inspection;
use crate::jobs::specification::JobKind;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Job, Model, Scope, Series};

/// The number of audits that a history covers: the newest ones.
const LOOKED_AT: u32 = 30;

/// A history: audits one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct History {
    /// The newest thirty audits that are done, the oldest first.
    pub audits: Vec<HistoryAudit>,
}

/// An audit, and its differences from the audit before it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HistoryAudit {
    /// The audit.
    #[serde(flatten)]
    pub compared: ComparedJob,
    /// The last earlier audit with the same protected attributes, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Id>,
    /// The changes of the shares that both audits know.
    pub changes: Vec<ShareChange>,
    /// What else differs between the two audits.
    pub differs: Vec<Differs>,
}

/// The inputs that a share is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SharesOf {
    /// The rows of the data.
    People,
    /// Random inputs, or texts.
    Shares,
}

impl SharesOf {
    /// Both kinds, the more telling one first.
    pub const ALL: [SharesOf; 2] = [SharesOf::People, SharesOf::Shares];

    /// The shares of this kind in `audit`.
    pub fn shares(self, audit: &AuditFigures) -> &[ShareFigure] {
        match self {
            SharesOf::People => &audit.people,
            SharesOf::Shares => &audit.shares,
        }
    }
}

/// The change of a share between two audits.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ShareChange {
    /// The inputs that the share is a share of.
    pub of: SharesOf,
    /// The protected attributes of the share.
    pub protected: Vec<String>,
    /// The share in the earlier audit.
    pub before: ShareFigure,
    /// The share in the later audit.
    pub after: ShareFigure,
    /// The direction of the change: `fell` or `rose`, where the intervals do not overlap, else
    /// `not-shown`.
    #[schema(value_type = String, example = "fell")]
    pub change: Change,
}

/// Something in which two audits differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Differs {
    /// The model.
    Model,
    /// The data set.
    Data,
    /// The rows of the data that are asked about.
    Rows,
    /// The way in which the model decides: thresholds, abstention, gaps.
    Decision,
}

/// The pairs of an audit compared with those of an earlier one. A search does not find all pairs:
/// one that is not found again may still be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairChanges {
    /// The number of pairs that the earlier audit had not found.
    pub new: u64,
    /// The number of pairs that both audits found.
    pub kept: u64,
    /// The number of pairs of the earlier audit that the later one did not find.
    pub gone: u64,
    /// Some of the new pairs, of different rows or texts.
    pub shown: Vec<NewPair>,
}

/// A pair that the earlier audit had not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewPair {
    /// The number of the pair in the file of samples, from 1.
    pub number: u64,
    /// The decisions for x and for the other input of the pair.
    pub labels: [String; 2],
    /// The protected attributes in which the two inputs differ.
    pub differences: Vec<PairDifference>,
    /// The names and values of x; for texts the text, without a name.
    pub input: Vec<[String; 2]>,
}

/// A protected attribute that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairDifference {
    /// The attribute.
    pub attribute: String,
    /// The value of the attribute in x.
    pub from: String,
    /// The value of the attribute in the other input.
    pub to: String,
}

/// Returns the history of the audits of the model `id`.
/// Fails when there is no such model.
pub async fn of_model(service: &Service, scope: &Scope, id: &Id) -> Result<History, Problem> {
    service.find::<Model>(scope, id).await?;
    history(service, scope, Series::OfModel(id.clone())).await
}

/// Returns the history of the audits that have the same name as the job `id`.
/// Fails when there is no such job, or it is no audit.
pub async fn of_name(service: &Service, scope: &Scope, id: &Id) -> Result<History, Problem> {
    let audit = audit(service, scope, id).await?;
    history(service, scope, Series::Called(audit.label)).await
}

/// Returns the job `id`.
/// Fails when there is no such job, or it is no audit.
async fn audit(service: &Service, scope: &Scope, id: &Id) -> Result<Job, Problem> {
    let job: Job = service.find(scope, id).await?;
    match job.kind {
        JobKind::Audit => Ok(job),
        _ => Err(Problem::conflict("Only audits are compared over time.")),
    }
}

async fn history(service: &Service, scope: &Scope, series: Series) -> Result<History, Problem> {
    let seen = scope.clone();
    let jobs = service
        .store(move |store| store.done_audits(&seen, &series, LOOKED_AT))
        .await?;
    let mut audits: Vec<HistoryAudit> = Vec::with_capacity(jobs.len());
    for view in views(service, jobs).into_iter().rev() {
        let next = compared(service, scope, view).await?;
        let Some(figures) = &next.audit else { continue };
        let earlier = audits.iter().rev().map(|before| &before.compared);
        let before = earlier
            .filter_map(|before| Some((before, before.audit.as_ref()?)))
            .find(|(_, of)| of.protected == figures.protected);
        let (since, changes, differs) = match before {
            Some((before, of)) => (
                Some(before.job.job.id.clone()),
                changes(of, figures),
                differs(&before.job.job, &next.job.job),
            ),
            None => Default::default(),
        };
        audits.push(HistoryAudit {
            compared: next,
            since,
            changes,
            differs,
        });
    }
    Ok(History { audits })
}

fn changes(before: &AuditFigures, after: &AuditFigures) -> Vec<ShareChange> {
    let mut changes = Vec::new();
    for of in SharesOf::ALL {
        for share in of.shares(after) {
            let mut earlier = of.shares(before).iter();
            let twin = earlier.find(|twin| twin.protected == share.protected);
            changes.extend(twin.map(|twin| ShareChange {
                of,
                protected: share.protected.clone(),
                before: twin.clone(),
                after: share.clone(),
                change: Change::between(twin.ci95, share.ci95),
            }));
        }
    }
    changes
}

fn differs(before: &Job, after: &Job) -> Vec<Differs> {
    let asked = (&before.specification, &after.specification);
    let (Some(one), Some(other)) = (asked.0.as_audit(), asked.1.as_audit()) else {
        return Vec::new();
    };
    let differ = [
        (Differs::Model, asked.0.model() != asked.1.model()),
        (Differs::Data, asked.0.data() != asked.1.data()),
        (Differs::Rows, one.population != other.population),
        (
            Differs::Decision,
            (&one.decision, one.gap) != (&other.decision, other.gap),
        ),
    ];
    let differ = differ.into_iter().filter(|(_, differs)| *differs);
    differ.map(|(what, _)| what).collect()
}

/// Compares the pairs of the audit `id` with those of the audit `since`. Fails when one of them
/// does not exist, is no audit or has no samples, and when they are about different columns.
pub async fn new_pairs(
    service: &Service,
    scope: &Scope,
    id: &Id,
    since: &Id,
) -> Result<PairChanges, Problem> {
    for id in [since, id] {
        audit(service, scope, id).await?;
    }
    let inspection = Inspection::Pairs {
        before: samples(service, scope, since).await?.path,
        after: samples(service, scope, id).await?.path,
    };
    let changes: Option<PairChanges> = inspect(service, scope.party(), inspection).await?;
    changes.ok_or_else(|| {
        Problem::conflict(
            "These audits are about different columns, so no pair of the one can be one of the other.",
        )
    })
}
