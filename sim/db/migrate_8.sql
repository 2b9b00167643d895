-- Version 7 to 8: what a called function returned; power, temperature and memory rate of what is going on. The rows of progress
-- last no longer than that, so none is kept.

ALTER TABLE run ADD COLUMN returned_type TEXT;
ALTER TABLE run ADD COLUMN returned_value TEXT;

DROP TABLE progress;

CREATE TABLE progress (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('run', 'sweep')),
    host TEXT NOT NULL,
    process TEXT NOT NULL,            -- as in run
    workload TEXT NOT NULL,
    chip TEXT,
    unit TEXT,
    precision TEXT,
    doing TEXT,                       -- a few words
    fraction REAL,                    -- of what is being done now
    seconds REAL,                     -- simulated so far
    host_seconds REAL,                -- since it began
    ops REAL,                         -- that ended
    op_seconds REAL,                  -- simulated, of these on their units
    points REAL,                      -- of a sweep
    points_done REAL,
    watts REAL,                       -- of the simulated machine, now
    celsius REAL,                     -- hottest block of its die
    dram_gbps REAL,
    utilisation REAL,                 -- of the unit that works
    started TEXT NOT NULL,
    renewed TEXT NOT NULL
) STRICT;
