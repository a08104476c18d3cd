//! Permissions: who asks, and what they may see and change.
//!
//! Everybody who uses the service has a token, and a token has a role: in one project (viewer,
//! editor, owner), or over all of them (administrator). A query of the store takes a permission, a
//! value of a type of its own that says what the query may see or change. Only this module makes
//! permissions, from a [`Caller`] whose role gives them:
//!
//! | type           | gives the permission to                                     | of
//! |
//! |----------------|-------------------------------------------------------------|------------------------------|
//! | [`Scope`]      | see what is in a project                                    | everybody with a role in it  |
//! | [`Change`]     | besides, change it                                          | editors, owners              |
//! | [`Manage`]     | give and revoke tokens of a project, read its log           | owners, administrators       |
//! | [`Administer`] | make, change and delete projects, and tokens over all       | administrators               |
//! | [`Work`]       | take jobs of all projects, and bring back what they found   | workers                      |
//!
//! Every query takes one of them and has their project in its condition. So a check that was
//! forgotten does not compile, and things in another project are not found. An administrator sees
//! nothing that is in a project: to look, they give themselves a token of it, which the log
//! records.
//!
//! The queue works on jobs of all projects; its permission is [`Itself`](crate::jobs::Itself),
//! which only the module `jobs` can make.

use std::ops::Deref;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use utoipa::ToSchema;

use crate::fair::Party;
use crate::identifier::Id;
use crate::jobs::Itself;

/// The role of a token: what its holder may do. Each may do what those before it may, except that a
/// worker does nothing else than work, and that an administrator is in no project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Takes jobs of all projects and brings back their results; nothing else.
    Worker,
    /// Sees what is in the project.
    Viewer,
    /// Uploads, starts and stops jobs, deletes, shares reports.
    Editor,
    /// Gives and revokes tokens of the project, reads its log.
    Owner,
    /// Makes and deletes projects, sets their quotas, gives tokens of any; sees nothing in them.
    Administrator,
}

impl Role {
    /// The roles that there are in a project.
    pub const IN_PROJECTS: [Role; 3] = [Role::Viewer, Role::Editor, Role::Owner];

    /// The name of the role, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Role::Worker => "worker",
            Role::Viewer => "viewer",
            Role::Editor => "editor",
            Role::Owner => "owner",
            Role::Administrator => "administrator",
        }
    }
}

/// The reason why somebody must not do what they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Denied {
    /// The role does not allow it.
    #[error("This takes the role {}; this token has the role {}.", needed.name(), had.name())]
    Role {
        /// The least role that allows it.
        needed: Role,
        /// The role of the token.
        had: Role,
    },
    /// An administrator asks for what is in a project.
    #[error("An administrator sees nothing of what is in projects; a token of the project does.")]
    Outside,
    /// A worker asks for something else than work.
    #[error(
        "The token of a worker lets take jobs and bring back what they found, and nothing else."
    )]
    OnlyWorks,
    /// The caller has no access to the project.
    #[error("There is no project with this identifier.")]
    NoProject,
}

/// A caller: the holder of a valid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    token: Id,
    label: String,
    role: Role,
    project: Option<(Id, String)>,
}

/// A token as the database holds it, for those who may look at it.
pub(super) struct Held {
    pub token: Id,
    pub label: String,
    pub role: Role,
    /// The identifier and the name of the project.
    pub project: Option<(Id, String)>,
}

impl From<Held> for Caller {
    fn from(held: Held) -> Caller {
        Caller {
            token: held.token,
            label: held.label,
            role: held.role,
            project: held.project,
        }
    }
}

impl Caller {
    /// Makes the holder of a token, for tests of what callers are given.
    #[cfg(test)]
    pub(crate) fn new(token: Id, role: Role, project: Option<Id>) -> Caller {
        let project = project.map(|id| (id, "project".to_owned()));
        Caller {
            token,
            label: "ada".to_owned(),
            role,
            project,
        }
    }

    /// The identifier of the token.
    pub fn token(&self) -> &Id {
        &self.token
    }

    /// The name of the token.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The role of the token.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The identifier and the name of the caller's project; none for an administrator and a worker.
    pub fn project(&self) -> Option<(&Id, &str)> {
        let project = self.project.as_ref();
        project.map(|(id, name)| (id, name.as_str()))
    }

    /// Whether the role is at least `role`, in a project.
    pub fn is_at_least(&self, role: Role) -> bool {
        self.project.is_some() && self.role >= role
    }

    fn by(&self) -> By {
        By {
            token: Some(self.token.clone()),
            name: self.label.clone(),
        }
    }

    /// The permission to manage the project `id`, which an administrator and an owner of the
    /// project have.
    ///
    /// # Errors
    /// Says that there is no such project to those who are not in it, and to the others in it that
    /// their role does not do.
    pub(crate) fn manages(&self, id: &Id) -> Result<Manage, Denied> {
        match &self.project {
            Some((own, _)) if own != id => return Err(Denied::NoProject),
            Some(_) if self.role < Role::Owner => {
                return Err(Denied::Role {
                    needed: Role::Owner,
                    had: self.role,
                });
            }
            None if self.role != Role::Administrator => return Err(Denied::OnlyWorks),
            _ => {}
        }
        Ok(Manage {
            project: id.clone(),
            by: self.by(),
        })
    }
}

/// A permission that a handler needs of its caller before it is called.
pub(crate) trait Permission: Clone + Send + Sync + 'static {
    /// Grants `caller` the permission, if the role gives it.
    fn grant(caller: &Caller) -> Result<Self, Denied>;
}

/// The permission that everybody with a valid token has, except workers.
impl Permission for Caller {
    fn grant(caller: &Caller) -> Result<Caller, Denied> {
        match caller.role {
            Role::Worker => Err(Denied::OnlyWorks),
            _ => Ok(caller.clone()),
        }
    }
}

/// The permission to see what is in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scope {
    party: Party,
}

impl Scope {
    /// Makes the permission of the service itself at work on a job of `party`.
    pub(super) fn at_work(party: Party, _: Itself) -> Scope {
        Scope { party }
    }

    /// Makes the permission that a link to a report of `party` gives;
    /// [`Store::linked`](super::Store::linked) returns the job with it.
    pub(super) fn of_link(party: Party) -> Scope {
        Scope { party }
    }

    /// The project.
    pub(super) fn project(&self) -> &Id {
        &self.party.project
    }

    /// The project and the user whose turn is taken.
    pub fn party(&self) -> &Party {
        &self.party
    }
}

impl Permission for Scope {
    fn grant(caller: &Caller) -> Result<Scope, Denied> {
        <Caller as Permission>::grant(caller)?;
        let (project, _) = caller.project.as_ref().ok_or(Denied::Outside)?;
        Ok(Scope {
            party: Party {
                project: project.clone(),
                user: caller.token.clone(),
            },
        })
    }
}

/// The permission to change what is in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    scope: Scope,
    by: By,
}

impl Deref for Change {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl Permission for Change {
    fn grant(caller: &Caller) -> Result<Change, Denied> {
        let scope = Scope::grant(caller)?;
        if caller.role < Role::Editor {
            return Err(Denied::Role {
                needed: Role::Editor,
                had: caller.role,
            });
        }
        Ok(Change {
            scope,
            by: caller.by(),
        })
    }
}

impl Change {
    /// The one who makes the change, for the log.
    pub(super) fn by(&self) -> &By {
        &self.by
    }

    /// The token of the one who makes the change.
    pub fn owner(&self) -> &Id {
        &self.scope.party.user
    }
}

/// The permission to give and revoke the tokens of a project and to read its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manage {
    project: Id,
    by: By,
}

impl Manage {
    /// The project.
    pub(super) fn project(&self) -> &Id {
        &self.project
    }

    /// The one who manages the project, for the log.
    pub(super) fn by(&self) -> &By {
        &self.by
    }
}

/// The permission to make, change and delete projects, to give and revoke all tokens, and to read
/// the whole log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Administer {
    by: By,
}

impl Administer {
    /// Makes the permission of somebody who can open the data directory: the commands of the
    /// service have it.
    pub fn at_the_machine() -> Administer {
        Administer {
            by: By {
                token: None,
                name: "command line".to_owned(),
            },
        }
    }

    /// Makes the permission to manage the project `id`, which need not exist.
    pub fn manages(&self, id: &Id) -> Manage {
        Manage {
            project: id.clone(),
            by: self.by.clone(),
        }
    }

    /// The one who administers, for the log.
    pub(super) fn by(&self) -> &By {
        &self.by
    }
}

impl Permission for Administer {
    fn grant(caller: &Caller) -> Result<Administer, Denied> {
        match caller.role {
            Role::Administrator => Ok(Administer { by: caller.by() }),
            had => Err(Denied::Role {
                needed: Role::Administrator,
                had,
            }),
        }
    }
}

/// The permission to take jobs of all projects, and to bring back their results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    worker: Id,
}

impl Work {
    /// The token of the worker.
    pub fn worker(&self) -> &Id {
        &self.worker
    }
}

impl Permission for Work {
    fn grant(caller: &Caller) -> Result<Work, Denied> {
        match caller.role {
            Role::Worker => Ok(Work {
                worker: caller.token.clone(),
            }),
            had => Err(Denied::Role {
                needed: Role::Worker,
                had,
            }),
        }
    }
}

/// The one who did something, as the log names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct By {
    /// The token; none for the command line and the service itself.
    pub token: Option<Id>,
    /// The name of the token.
    pub name: String,
}

impl By {
    /// The service itself as the one who acts.
    pub fn service() -> By {
        By {
            token: None,
            name: "service".to_owned(),
        }
    }

    /// The holder of `caller`'s token as the one who acts.
    pub fn caller(caller: &Caller) -> By {
        caller.by()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(role: Role) -> Caller {
        let id: Id = "0123456789abcdef".parse().unwrap();
        let is_in_one = Role::IN_PROJECTS.contains(&role);
        let project = is_in_one.then(|| id.clone());
        Caller::new(id, role, project)
    }

    #[test]
    fn each_role_may_what_the_table_says() {
        let own: Id = "0123456789abcdef".parse().unwrap();
        let foreign: Id = "fedcba9876543210".parse().unwrap();
        for (role, sees, changes, manages, administers, works) in [
            (Role::Worker, false, false, false, false, true),
            (Role::Viewer, true, false, false, false, false),
            (Role::Editor, true, true, false, false, false),
            (Role::Owner, true, true, true, false, false),
            (Role::Administrator, false, false, true, true, false),
        ] {
            let caller = caller(role);
            assert_eq!(Scope::grant(&caller).is_ok(), sees, "{role:?}");
            assert_eq!(Change::grant(&caller).is_ok(), changes, "{role:?}");
            assert_eq!(caller.manages(&own).is_ok(), manages, "{role:?}");
            assert_eq!(Administer::grant(&caller).is_ok(), administers, "{role:?}");
            assert_eq!(Work::grant(&caller).is_ok(), works, "{role:?}");
            assert_eq!(
                <Caller as Permission>::grant(&caller).is_ok(),
                !works,
                "{role:?}"
            );
            let abroad = caller.manages(&foreign);
            match role {
                Role::Administrator => assert!(abroad.is_ok()),
                Role::Worker => assert_eq!(abroad, Err(Denied::OnlyWorks)),
                _ => assert_eq!(abroad, Err(Denied::NoProject)),
            }
        }
    }
}
