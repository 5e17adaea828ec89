-- 0002: versions by name. The newest row of (name, version) is where the tag points; older rows stay readable as history.
CREATE TABLE tag(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  key BLOB NOT NULL,
  moved INTEGER NOT NULL);
CREATE INDEX tag_by_name ON tag(name, version, id);
CREATE INDEX tag_by_key ON tag(key);

-- Totals over all processes, added to when a store is closed.
CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
