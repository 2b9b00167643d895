-- Version 5 to 6: values of chips may be fitted.

CREATE TABLE chip_value_6 (
    chip_id INTEGER NOT NULL REFERENCES chip (id) ON DELETE CASCADE,
    key_id INTEGER NOT NULL REFERENCES name (id),
    value ANY,              -- number, text, or JSON of lists, maps and tables
    unit TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('vendor-spec', 'measured', 'reverse-engineered', 'inferred', 'fitted', 'guess')),
    uncertainty REAL,       -- relative, one standard deviation
    source_id INTEGER REFERENCES source (id),
    origin TEXT,            -- file, 'derived' or '--set'
    PRIMARY KEY (chip_id, key_id)
) STRICT, WITHOUT ROWID;
INSERT INTO chip_value_6 (chip_id, key_id, value, unit, kind, uncertainty, source_id, origin)
SELECT chip_id, key_id, value, unit, kind, uncertainty, source_id, origin FROM chip_value ORDER BY chip_id, key_id;
DROP TABLE chip_value;
ALTER TABLE chip_value_6 RENAME TO chip_value;
