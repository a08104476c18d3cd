//! The templates of the pages: one each, in `templates/service/`, filled with text that is ready to
//! be read.
//!
//! Everything that is put into a template is escaped by it; nothing here is marked as safe but the
//! elements of a chart, which escapes its own text ([`probity_report::chart`]).

mod administration;
mod forms;
mod shown;

pub(super) use self::administration::{
    HookPage, LinksPage, ListedLink, ListedToken, LogLine, LogPage, ProjectPage,
    ProjectSettingsPage, ProjectsPage, TokensPage,
};
pub(super) use self::forms::{
    AccessPage, AuditPage, ColumnFields, DataColumnsPage, DataNewPage, DataSchemaPage, DeletePage,
    ListedAccess, LoggedInPage, LoginPage, ModelNewPage, Names, PeoplePage, ProblemPage, RawColumn,
    RenamePage, RepairPage, TrainPage,
};
pub(super) use self::shown::{
    ChangeLine, ComparePage, ComparedLine, DataPage, DescribedColumn, Drawn, Figure, HistoryLine,
    HistoryPage, HomePage, JobLine, JobPage, ModelPage, NewPairLine, NewPairs, Quality, RunPage,
    Shown, UsualAudit,
};
pub(super) use super::parts::{Fact, Frame, Link, Preview, State, Thing};
