-- Version 1 to 2: tuned and calibrated sets; samples in order of time, which is how they are written.

CREATE TABLE fitted_set (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,               -- of kind and body
    kind TEXT NOT NULL CHECK (kind IN ('tuned', 'calibrated')),
    body TEXT NOT NULL,               -- JSON
    version TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;

CREATE TABLE sample_2 (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    part TEXT NOT NULL,
    instance INTEGER NOT NULL,
    time_ns REAL NOT NULL,
    value REAL,
    PRIMARY KEY (run_id, time_ns, metric_id, part, instance)
) STRICT, WITHOUT ROWID;
INSERT INTO sample_2 SELECT run_id, metric_id, part, instance, time_ns, value FROM sample
ORDER BY run_id, time_ns, metric_id, part, instance;
DROP TABLE sample;
ALTER TABLE sample_2 RENAME TO sample;
