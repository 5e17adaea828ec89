-- 0001: entries (key -> record of named parts), the blobs they point at, and the packs that hold the bytes.
-- Bytes live in append-only pack files beside the database; rows stay small, so point queries stay fast.
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- state: 0 open (the tail is written here), 1 sealed. bytes: committed length. live: bytes still referenced.
CREATE TABLE pack(
  id INTEGER PRIMARY KEY,
  state INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  live INTEGER NOT NULL);

-- Equal bytes are kept once. `stored` differs from `raw` when codec is 1 (zstd). xxh: XXH3-128 of the stored bytes.
CREATE TABLE blob(
  id INTEGER PRIMARY KEY,
  sha256 BLOB NOT NULL UNIQUE,
  pack INTEGER NOT NULL,
  at INTEGER NOT NULL,
  stored INTEGER NOT NULL,
  raw INTEGER NOT NULL,
  codec INTEGER NOT NULL,
  xxh BLOB NOT NULL);
CREATE INDEX blob_by_pack ON blob(pack);

-- pack, at, bytes, xxh say where the entry's record (part names, small parts, places of blobs) lies.
-- used: hours since 1970; cost_us: what it took to make, so that cheap entries go first.
CREATE TABLE entry(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  pack INTEGER NOT NULL,
  at INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  xxh BLOB NOT NULL,
  size INTEGER NOT NULL,
  created INTEGER NOT NULL,
  used INTEGER NOT NULL,
  cost_us INTEGER NOT NULL);
CREATE INDEX entry_by_used ON entry(used);
CREATE INDEX entry_by_pack ON entry(pack);

CREATE TABLE entry_blob(
  entry INTEGER NOT NULL,
  blob INTEGER NOT NULL,
  PRIMARY KEY(entry, blob)) WITHOUT ROWID;
CREATE INDEX entry_blob_by_blob ON entry_blob(blob);
