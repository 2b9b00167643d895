-- Version 3 to 4: profiles of GPU programs.

-- Where the time of the GPU programs of a run went, when that was asked for: a kernel is a launch.
CREATE TABLE profile_kernel (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    kernel INTEGER NOT NULL,
    name TEXT,
    timed_share REAL NOT NULL,        -- of its instructions; below 1, cycles are scaled from those that were timed
    idle_cycles REAL NOT NULL,        -- of no instruction: threadgroups are being started, or none is left
    PRIMARY KEY (run_id, kernel)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_file (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    kernel INTEGER NOT NULL,
    file INTEGER NOT NULL,
    name_id INTEGER REFERENCES name (id),
    PRIMARY KEY (run_id, kernel, file)
) STRICT, WITHOUT ROWID;

-- Lines of sources, so that pages can show them when the files are gone.
CREATE TABLE profile_text (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    kernel INTEGER NOT NULL,
    file INTEGER NOT NULL,
    line INTEGER NOT NULL,
    text_id INTEGER REFERENCES name (id),
    PRIMARY KEY (run_id, kernel, file, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_instruction (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    kernel INTEGER NOT NULL,
    position INTEGER NOT NULL,        -- byte in the code
    file INTEGER NOT NULL,
    line INTEGER NOT NULL,            -- 0 = of no line
    text_id INTEGER REFERENCES name (id),
    issued INTEGER NOT NULL,          -- by simdgroups
    lanes REAL,                       -- active, in the mean; NULL = not issued while timed
    units REAL,                       -- of an access: lines of device memory, or passes of threadgroup memory
    least_units REAL,                 -- how few would do
    cycles REAL NOT NULL,             -- of a core, in the mean of the cores
    PRIMARY KEY (run_id, kernel, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_stall (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    kernel INTEGER NOT NULL,
    position INTEGER NOT NULL,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    cycles REAL NOT NULL,
    PRIMARY KEY (run_id, kernel, position, metric_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_warning (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kernel INTEGER NOT NULL,
    kind TEXT NOT NULL,
    place TEXT NOT NULL,              -- FILE:LINE, or KERNEL+OFFSET
    file INTEGER NOT NULL,
    line INTEGER NOT NULL,
    position INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    fix TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
