//! People who log in by the identity provider, and the accesses that they were given.
//!
//! An access is a row of the tokens whose secret nobody knows, and a row here that says to whom it
//! belongs: at first to an e-mail address or a subject, after the first log-in to the issuer and
//! the subject of the person who logged in. E-mail addresses are given to somebody else in time,
//! subjects never are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use utoipa::ToSchema;

use super::access::{By, Caller};
use super::held::{VALID, held};
use super::log::{Action, note};
use super::{
    Column, FromColumn, Kind, Parameter, Row, Store, StoreError, Transaction, Typed, Value, params,
};
use crate::identifier::Id;
use crate::moment::Moment;

/// The greatest number of characters of a subject: as many as OpenID Connect allows.
const LONGEST: usize = 255;

/// The name of the person whom an access is given to: an e-mail address, or a subject of the
/// identity provider, which has no `@`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, example = "ada@example.org")]
pub struct Person(String);

/// The error that a text names no person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "a person is named by an e-mail address such as ada@example.org, or by the identifier that the identity provider has for them: at most 255 characters of ASCII without blanks"
)]
pub struct NotAPerson;

impl Person {
    /// The characters of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_address(&self) -> bool {
        self.0.contains('@')
    }
}

impl FromStr for Person {
    type Err = NotAPerson;

    fn from_str(text: &str) -> Result<Person, NotAPerson> {
        let text = text.trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > LONGEST || !is_plain {
            return Err(NotAPerson);
        }
        match text.split_once('@') {
            None => Ok(Person(text.to_owned())),
            Some((name, host)) if !name.is_empty() && !host.is_empty() && !host.contains('@') => {
                Ok(Person(text.to_ascii_lowercase()))
            }
            Some(_) => Err(NotAPerson),
        }
    }
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Person {
    type Error = NotAPerson;

    fn try_from(text: String) -> Result<Person, NotAPerson> {
        text.parse()
    }
}

impl From<Person> for String {
    fn from(person: Person) -> String {
        person.0
    }
}

impl Parameter for Person {
    fn value(&self) -> Result<Value<'_>, StoreError> {
        self.0.value()
    }
}

impl Typed for Person {
    const KIND: Kind = Kind::Text;
}

impl FromColumn for Person {
    fn from_column(column: Column<'_>) -> Result<Person, StoreError> {
        let text = String::from_column(column)?;
        text.parse()
            .map_err(|error: NotAPerson| StoreError::Value(error.to_string()))
    }
}

/// The identity of somebody who logged in, as the identity provider states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The issuer: the provider.
    pub issuer: String,
    /// The provider's identifier of the person, which is never given to anybody else.
    pub subject: String,
    /// An e-mail address of the person that the provider has verified.
    pub email: Option<String>,
}

impl Identity {
    /// The names that accesses for this identity may have been given to: address and subject.
    fn names(&self) -> (Option<Person>, Option<Person>) {
        let email = self.email.as_deref().and_then(|email| email.parse().ok());
        let subject = self.subject.parse().ok();
        (
            email.filter(Person::is_address),
            // A provider may use the address of one person as the subject of another.
            subject.filter(|subject: &Person| !subject.is_address()),
        )
    }
}

/// Gives the access `token` to `person`.
pub(super) fn give(
    transaction: &Transaction<'_>,
    token: &Id,
    person: &Person,
) -> Result<(), StoreError> {
    transaction.execute(
        "INSERT INTO people (token, person) VALUES (?, ?)",
        params![token, person],
    )?;
    Ok(())
}

/// Reads the holder of a token.
fn caller(row: &Row<'_>) -> Result<Caller, StoreError> {
    held(row).map(Caller::from)
}

/// The SQL query for the columns of the holder of a token, for [`held`].
const HOLDER: &str = "SELECT tokens.id, tokens.label, role, projects.id, projects.name
    FROM tokens JOIN people ON people.token = tokens.id
    LEFT JOIN projects ON projects.id = project";

impl Store {
    /// Lets the person of `identity` in, and returns their valid accesses, the oldest first.
    /// Accesses that were given to the e-mail address or the subject, and with which nobody logged
    /// in yet, belong to this person from now on.
    pub(crate) fn let_in(&self, identity: &Identity) -> Result<Vec<Caller>, StoreError> {
        let (email, subject) = identity.names();
        let now = Moment::now();
        self.write(|transaction| {
            let statement = format!(
                "{HOLDER} WHERE people.issuer IS NULL AND people.person IN (?, ?) AND {VALID}"
            );
            let new = transaction.rows(&statement, params![email, subject, now], caller)?;
            for caller in &new {
                transaction.execute(
                    "UPDATE people SET issuer = ?, subject = ? WHERE token = ?",
                    params![identity.issuer, identity.subject, caller.token()],
                )?;
                let project = caller.project().map(|(id, _)| id);
                let (by, token) = (By::caller(caller), Some(caller.token()));
                note(transaction, &by, project, Action::AccessTaken, token)?;
            }
            let statement = format!(
                "{HOLDER} WHERE people.issuer = ? AND people.subject = ? AND {VALID}
                 ORDER BY tokens.created, tokens.rowid"
            );
            let identity = params![identity.issuer, identity.subject, now];
            transaction.rows(&statement, identity, caller)
        })
    }

    /// Returns all valid accesses of the person who has the access `of`, the oldest first;
    /// none for the holder of a token.
    pub(crate) fn accesses(&self, of: &Caller) -> Result<Vec<Caller>, StoreError> {
        let statement = format!(
            "{HOLDER} WHERE (people.issuer, people.subject)
                 = (SELECT issuer, subject FROM people WHERE token = ?) AND {VALID}
             ORDER BY tokens.created, tokens.rowid"
        );
        let values = params![of.token(), Moment::now()];
        self.read(|connection| connection.rows(&statement, values, caller))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::tests::each_store;
    use crate::store::{Administer, Changed, Holder, NewToken, Quotas, Role};

    fn identity(subject: &str, email: Option<&str>) -> Identity {
        Identity {
            issuer: "https://login.example.org".to_owned(),
            subject: subject.to_owned(),
            email: email.map(str::to_owned),
        }
    }

    fn give_to(store: &Store, project: &Id, person: &str, expires: Option<Moment>) -> Id {
        let new = NewToken {
            holder: Holder::Person(person.parse().unwrap()),
            role: Role::Editor,
            expires,
        };
        let manage = Administer::at_the_machine().manages(project);
        let made = store.create_token(&manage, &new).unwrap().unwrap();
        assert_eq!(made.text, None);
        made.record.id
    }

    fn with_a_project(test: impl Fn(&Store, &Id)) {
        each_store(|store| {
            let administer = Administer::at_the_machine();
            let made = store.create_project(&administer, "lending", Quotas::default());
            let Changed::Done(project) = made.unwrap() else {
                panic!("it is the first of its name");
            };
            test(store, &project.id);
        });
    }

    fn let_in(store: &Store, identity: &Identity) -> Vec<Id> {
        let callers = store.let_in(identity).unwrap();
        callers.iter().map(|one| one.token().clone()).collect()
    }

    #[test]
    fn people_are_named_by_addresses_and_subjects() {
        let read = |text: &str| text.parse::<Person>().map(String::from);
        assert_eq!(read(" Ada@Example.ORG "), Ok("ada@example.org".to_owned()));
        assert_eq!(read("auth0|5F7C"), Ok("auth0|5F7C".to_owned()));
        let long = "a".repeat(256);
        for wrong in [
            "", " ", "@", "a@", "@b", "a@b@c", "a b", "ä@b", "a\tb", &long,
        ] {
            assert_eq!(read(wrong), Err(NotAPerson), "{wrong:?}");
        }
    }

    #[test]
    fn the_first_log_in_binds_an_access_to_a_subject() {
        with_a_project(|store, project| {
            let access = give_to(store, project, "Ada@example.org", None);
            for stranger in [
                identity("7", None),
                identity("7", Some("bob@example.org")),
                // A subject that looks like an address is no address either.
                identity("ada@example.org", None),
                identity("7", Some("ada@example.org@evil.example")),
            ] {
                assert_eq!(let_in(store, &stranger), []);
            }
            let ada = identity("1", Some("ADA@example.org"));
            let only = vec![access.clone()];
            assert_eq!(let_in(store, &ada), only);
            // From now on the issuer and the subject count, not the address.
            let renamed = identity("1", Some("countess@example.org"));
            assert_eq!(let_in(store, &renamed), only);
            assert_eq!(let_in(store, &identity("1", None)), only);
            assert_eq!(let_in(store, &identity("2", Some("ada@example.org"))), []);
            let mut elsewhere = ada.clone();
            elsewhere.issuer = "https://login.example.net".to_owned();
            assert_eq!(let_in(store, &elsewhere), []);

            let second = give_to(store, project, "1", None);
            assert_eq!(let_in(store, &ada), [access.clone(), second.clone()]);
            let callers = store.let_in(&ada).unwrap();
            assert_eq!(callers[0].label(), "ada@example.org");
            assert_eq!(store.accesses(&callers[1]).unwrap(), callers);
            assert!(
                store
                    .revoke_any_token(&Administer::at_the_machine(), &access)
                    .unwrap()
            );
            assert_eq!(let_in(store, &ada), [second]);
        });
    }

    #[test]
    fn an_access_is_over_when_its_day_is() {
        with_a_project(|store, project| {
            let second = Duration::from_secs(1);
            give_to(store, project, "ada@example.org", Some(Moment(1)));
            let ada = identity("1", Some("ada@example.org"));
            assert_eq!(let_in(store, &ada), []);
            let later = Moment::now().after(60 * second);
            let access = give_to(store, project, "ada@example.org", Some(later));
            assert_eq!(let_in(store, &ada), [access]);
        });
    }

    #[test]
    fn nobody_has_the_secret_of_an_access() {
        with_a_project(|store, project| {
            let access = give_to(store, project, "ada@example.org", None);
            for guess in [String::new(), "0".repeat(64), "ada@example.org".to_owned()] {
                let text = format!("probity_{access}_{guess}");
                assert_eq!(store.authenticate(&text).unwrap(), None);
            }
        });
    }
}
