-- 0004: what only a trim asked for costs each put a page; a trim reads the tables once instead. Nobody asked by hour.
DROP INDEX blob_by_pack;
DROP INDEX entry_by_pack;
DROP INDEX entry_by_used;
