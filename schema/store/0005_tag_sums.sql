-- 0005: a tag's row says itself whether it is as it was written. Records (format 2) do so too, from this version on.
ALTER TABLE tag ADD COLUMN sum BLOB;
