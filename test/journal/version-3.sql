-- The file as version 0.4 wrote it, never changed: whoever upgrades has it.
PRAGMA application_id = 1464552018;
PRAGMA user_version = 3;
CREATE TABLE artifact (
    journal INTEGER NOT NULL, id TEXT NOT NULL, bytes BLOB NOT NULL, UNIQUE (journal, id)
  ) STRICT;
INSERT INTO artifact VALUES(1,'68ac09b529b4a9db',X'6B6570742077686F6C650A');
CREATE TABLE counter (
    name TEXT PRIMARY KEY, used INTEGER NOT NULL, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES('day',5,1790000000006);
CREATE TABLE entry (
    journal INTEGER NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL,
    version INTEGER NOT NULL, body TEXT NOT NULL, head TEXT, PRIMARY KEY (journal, seq)
  ) STRICT, WITHOUT ROWID;
INSERT INTO entry VALUES(1,1,'msg:1',1790000000000,'message',5,'{"actor":{"account":"terminal:ana","name":"ana"},"text":"it''s slow"}','kVgGKYCRY2cnbefFekk6KYNzeqMZha3UVh09CY3SKAk');
INSERT INTO entry VALUES(1,2,'msg:2',1790000000003,'command',5,'{"actor":{"account":"terminal:ana","name":"ana"},"text":"run disk_usage","command":{"name":"run","tool":"disk_usage","args":{}}}','Ch1AVd9h2m_eI8JIFs_EWelKPpkUE45qbtnoPPPrF6E');
INSERT INTO entry VALUES(1,3,'run:r1',1790000000006,'run_started',6,'{"run":"r1","answers":["msg:2"],"principals":["terminal:ana"],"calls":[{"call":"r1.t1","tool":"disk_usage","args":{}}]}','aAgdJq5fQ3-LsvCP0YbqhNWNW8JHuT2PyRDed8-6LyA');
CREATE TABLE host (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO host VALUES('old-host',1790000000006);
CREATE TABLE journal (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, last INTEGER NOT NULL,
    last_at INTEGER NOT NULL, token TEXT, attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER
  , host TEXT, head TEXT) STRICT;
INSERT INTO journal VALUES(1,'terminal:old',3,1790000000006,NULL,0,1790000100006,NULL,'aAgdJq5fQ3-LsvCP0YbqhNWNW8JHuT2PyRDed8-6LyA');
CREATE TABLE reservation (
    id TEXT PRIMARY KEY, counter TEXT NOT NULL, amount INTEGER NOT NULL, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO reservation VALUES('5b7a5e14-0569-4bbf-89d0-a376183d7908','day',5,1790000000006);
CREATE UNIQUE INDEX entry_id ON entry (journal, id);
CREATE TRIGGER entry_sealed BEFORE INSERT ON entry WHEN NEW.head IS NULL
    BEGIN SELECT RAISE(ABORT, 'a newer version has taken this store over; end this process'); END;
CREATE INDEX journal_due ON journal (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX journal_host ON journal (host) WHERE host IS NOT NULL;
