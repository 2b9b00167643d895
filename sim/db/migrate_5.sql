-- Version 4 to 5: intervals of joules.

ALTER TABLE run ADD COLUMN joules_low REAL;
ALTER TABLE run ADD COLUMN joules_high REAL;
