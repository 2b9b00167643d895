-- Version 6 to 7: what processes are doing now.

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
    started TEXT NOT NULL,
    renewed TEXT NOT NULL
) STRICT;
