-- 0003: how often an entry was found, for those who look at the store. Trim does not ask.
ALTER TABLE entry ADD COLUMN hits INTEGER NOT NULL DEFAULT 0;
