-- Version 7 to 8: what a called function returned.

ALTER TABLE run ADD COLUMN returned_type TEXT;
ALTER TABLE run ADD COLUMN returned_value TEXT;
