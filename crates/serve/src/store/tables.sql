CREATE TABLE service (
    id TEXT PRIMARY KEY,
    -- Where the files of several services lie: the address of a bucket, or nothing for a data directory
    -- that they share; none: nowhere so far.
    files TEXT
) STRICT;

-- The folders that are to be deleted from the storage of artefacts, and were not so far.
CREATE TABLE removals (
    folder TEXT PRIMARY KEY
) STRICT;

-- The services that run, and how often each has said so.
CREATE TABLE instances (
    id TEXT PRIMARY KEY,
    beats INTEGER NOT NULL
) STRICT;

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    stored_bytes INTEGER,
    jobs INTEGER,
    queue INTEGER,
    kept_days INTEGER
) STRICT;

CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    -- None: that of an administrator or a worker, who are in no project.
    project TEXT REFERENCES projects (id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    secret_sha256 BLOB NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    CHECK ((project IS NULL) = (role IN ('"administrator"', '"worker"')))
) STRICT;

-- Whom an access is given to that has no secret: somebody who logs in by the identity provider.
CREATE TABLE people (
    token TEXT PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
    -- An e-mail address in small letters, or a subject of the provider.
    person TEXT NOT NULL,
    -- Who logged in with it first; none until then.
    issuer TEXT,
    subject TEXT,
    CHECK ((issuer IS NULL) = (subject IS NULL))
) STRICT;

CREATE INDEX people_by_person ON people (person);
CREATE INDEX people_by_subject ON people (issuer, subject);

CREATE TABLE sessions (
    secret_sha256 BLOB PRIMARY KEY,
    token TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    form_secret TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT;

CREATE TABLE data_sets (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
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
    project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    label TEXT NOT NULL,
    origin TEXT NOT NULL,
    created INTEGER NOT NULL,
    description TEXT NOT NULL,
    data TEXT
) STRICT;

CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    number INTEGER NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    label TEXT NOT NULL,
    kind TEXT NOT NULL,
    specification TEXT NOT NULL,
    state TEXT NOT NULL,
    created INTEGER NOT NULL,
    started INTEGER,
    ended INTEGER,
    message TEXT,
    attempts INTEGER NOT NULL,
    seconds REAL NOT NULL,
    -- Grows with every job that begins; 0 for one that never did. Whoever took the job holds it by
    -- this number.
    turn INTEGER NOT NULL,
    -- The token of the worker that has it, or had it the last time; none: a service itself.
    worker TEXT,
    -- The service that holds it while it runs, or knows the worker that does; none: nobody.
    instance TEXT,
    -- What that service tells the others of the progress.
    progress TEXT
) STRICT;

CREATE INDEX data_sets_by_project ON data_sets (project);
CREATE INDEX models_by_project ON models (project);
CREATE INDEX jobs_by_project ON jobs (project, number);
CREATE INDEX jobs_by_state ON jobs (state, number);

CREATE TABLE links (
    id TEXT PRIMARY KEY,
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    secret_sha256 BLOB NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    revoked INTEGER
) STRICT;

CREATE INDEX links_by_job ON links (job);

CREATE TABLE hooks (
    project TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    -- As it is: notifications are signed with it.
    secret TEXT NOT NULL,
    created INTEGER NOT NULL,
    last_at INTEGER,
    last_said TEXT
) STRICT;

CREATE TABLE notifications (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES hooks (project) ON DELETE CASCADE,
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    body TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    next INTEGER NOT NULL
) STRICT;

CREATE INDEX notifications_by_time ON notifications (next);
CREATE INDEX notifications_by_job ON notifications (job);

CREATE TABLE log (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    token TEXT,
    name TEXT NOT NULL,
    project TEXT,
    action TEXT NOT NULL,
    subject TEXT
) STRICT;

CREATE INDEX log_by_project ON log (project, number);
