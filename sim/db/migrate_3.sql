-- Version 2 to 3: answers in sweep points, scores of validations, parameters of baselines.

ALTER TABLE sweep_point ADD COLUMN method TEXT CHECK (method IN ('simulated', 'known', 'interpolated'));
ALTER TABLE sweep_point ADD COLUMN expected_error REAL;
ALTER TABLE sweep_point ADD COLUMN seconds REAL;
ALTER TABLE sweep_point ADD COLUMN seconds_low REAL;
ALTER TABLE sweep_point ADD COLUMN seconds_high REAL;
ALTER TABLE sweep_point ADD COLUMN device_seconds REAL;
ALTER TABLE sweep_point ADD COLUMN gflops REAL;
ALTER TABLE sweep_point ADD COLUMN dram_bytes REAL;
ALTER TABLE sweep_point ADD COLUMN dram_gbps REAL;
ALTER TABLE sweep_point ADD COLUMN joules REAL;
ALTER TABLE sweep_point ADD COLUMN watts_avg REAL;
ALTER TABLE sweep_point ADD COLUMN celsius_max REAL;
ALTER TABLE sweep_point ADD COLUMN throttled_seconds REAL;
ALTER TABLE sweep_point ADD COLUMN bound_by_id INTEGER REFERENCES name (id);

ALTER TABLE characteristic ADD COLUMN reads_id INTEGER REFERENCES name (id);
ALTER TABLE characteristic ADD COLUMN timing TEXT;
DROP INDEX characteristic_by_base;
CREATE INDEX characteristic_by_reads ON characteristic (base_hash, reads_id);

CREATE TABLE validation_score (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,        -- of version, file's content, grouping, grp and fitted
    version TEXT NOT NULL,
    created TEXT NOT NULL,
    file TEXT NOT NULL,               -- name of the table of measurements
    file_hash TEXT NOT NULL,          -- of its content: measurements have versions, too
    grouping TEXT NOT NULL,           -- columns that make a group; '' = the whole file
    grp TEXT NOT NULL,                -- their values; '' = the whole file
    fitted INTEGER NOT NULL CHECK (fitted IN (0, 1)),
    rows INTEGER NOT NULL,
    modelled INTEGER NOT NULL,
    mape REAL,                        -- |predicted - measured| / measured, mean
    median_ape REAL,
    p90_ape REAL,
    symmetric REAL,                   -- mean of |predicted - measured| / min(predicted, measured)
    bias REAL,
    within10 REAL,
    within25 REAL,
    spearman REAL,
    interval_coverage REAL            -- share of rows inside the 90 % interval
) STRICT;
CREATE INDEX validation_score_by_file ON validation_score (file, grouping, grp);

CREATE TABLE baseline_parameter (
    baseline_id INTEGER NOT NULL REFERENCES baseline (id) ON DELETE CASCADE,
    chip TEXT NOT NULL,
    key_id INTEGER NOT NULL REFERENCES name (id),
    value TEXT NOT NULL,              -- as JSON
    PRIMARY KEY (baseline_id, chip, key_id)
) STRICT, WITHOUT ROWID;
