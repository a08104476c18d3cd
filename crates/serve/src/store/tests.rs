//! Both databases, for tests of the store.

use probity_testing::Postgresql;

use super::{DatabaseOptions, Store};

/// A server of PostgreSQL of a test's own.
pub(crate) struct Server(Postgresql);

impl Server {
    /// A server, or `None` after saying why the test is skipped.
    pub fn start_or_skip() -> Option<Server> {
        Postgresql::start_or_skip().map(Server)
    }

    /// The address of its database.
    pub fn options(&self) -> DatabaseOptions {
        let password = self.0.password().to_owned();
        DatabaseOptions::new(&self.0.url(), Some(password), None).unwrap()
    }

    /// Carries out a statement beside the store.
    pub fn ask(&self, statement: &str) -> String {
        self.0.ask(statement).unwrap()
    }

    /// Ends the server at once.
    pub fn stop(&mut self) {
        self.0.stop();
    }

    /// Starts the server again.
    pub fn start(&mut self) {
        self.0.start();
    }
}

/// Does `test` with an empty store of SQLite, and then with one of PostgreSQL where that is there.
pub(super) fn each_store(test: impl Fn(&Store)) {
    let folder = tempfile::tempdir().unwrap();
    test(&Store::open(folder.path()).unwrap());
    if let Some(server) = Server::start_or_skip() {
        test(&Store::connect(&server.options()).unwrap());
    }
}
