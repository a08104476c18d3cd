CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    secret_sha256 BLOB NOT NULL,
    created INTEGER NOT NULL,
    revoked INTEGER
) STRICT;

CREATE TABLE sessions (
    secret_sha256 BLOB PRIMARY KEY,
    token TEXT NOT NULL REFERENCES tokens (id),
    form_secret TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT;

CREATE TABLE data_sets (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES tokens (id),
    label TEXT NOT NULL,
    kind TEXT NOT NULL,
    form TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created INTEGER NOT NULL,
    sketch TEXT NOT NULL,
    has_schema INTEGER NOT NULL
) STRICT;

CREATE TABLE models (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES tokens (id),
    label TEXT NOT NULL,
    origin TEXT NOT NULL,
    created INTEGER NOT NULL,
    description TEXT NOT NULL,
    data TEXT
) STRICT;

CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,
    owner TEXT NOT NULL REFERENCES tokens (id),
    label TEXT NOT NULL,
    kind TEXT NOT NULL,
    specification TEXT NOT NULL,
    state TEXT NOT NULL,
    created INTEGER NOT NULL,
    started INTEGER,
    ended INTEGER,
    message TEXT,
    attempts INTEGER NOT NULL,
    seconds REAL NOT NULL
) STRICT;

CREATE INDEX jobs_by_state ON jobs (state, number);
