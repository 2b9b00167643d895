-- The performance database, tables. sim/db/README.md explains them; views.sql has the questions.
--
-- Conventions: times of the simulation are nanoseconds (_ns) or seconds, dates are ISO 8601 in UTC; hashes are lower-case
-- hexadecimal; a quantity that does not apply is NULL; op 0 in the narrow tables means the whole run.
-- Rows that belong to a run disappear with it.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

-- Texts that repeat in many rows: kernels, shapes, operators, precisions, series' places.
CREATE TABLE name (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    citation TEXT NOT NULL UNIQUE,
    url TEXT,
    kind TEXT
) STRICT;

-- What a number means. kind: total, counter, activity, stall, sample, energy, utilisation, traffic, characteristic.
CREATE TABLE metric (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    definition TEXT NOT NULL,
    higher_is_better INTEGER CHECK (higher_is_better IN (0, 1)),
    source_id INTEGER REFERENCES source (id),
    UNIQUE (kind, name)
) STRICT;

-- A chip with its effective values: another value, another hash, another row.
CREATE TABLE chip (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    chip TEXT NOT NULL,
    name TEXT,
    family TEXT,
    modified INTEGER NOT NULL DEFAULT 0 CHECK (modified IN (0, 1))
) STRICT;
CREATE INDEX chip_by_name ON chip (chip);

CREATE TABLE chip_value (
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

CREATE TABLE program (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT,
    kind TEXT
) STRICT;

CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE,          -- the same in every file the run is merged into
    status TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed', 'interrupted')),
    config_hash TEXT NOT NULL,         -- of everything that decides the answer
    workload TEXT NOT NULL,
    chip_id INTEGER REFERENCES chip (id),
    program_id INTEGER REFERENCES program (id),
    chip TEXT,
    device TEXT,
    unit TEXT,
    precision TEXT,
    detail TEXT,
    mode TEXT,
    options TEXT,                      -- JSON
    version TEXT NOT NULL,
    seed INTEGER NOT NULL,
    host TEXT,
    process TEXT,                      -- which process writes, while status is 'running'
    started TEXT NOT NULL,
    finished TEXT,
    error TEXT,
    bound_by TEXT,
    seconds REAL,
    seconds_low REAL,
    seconds_high REAL,
    device_seconds REAL,
    overhead_seconds REAL,
    host_seconds REAL,
    cycles REAL,
    flops REAL,
    gflops REAL,
    macs REAL,
    dram_bytes REAL,
    dram_gbps REAL,
    joules REAL,
    watts_avg REAL,
    watts_peak REAL,
    celsius_max REAL,
    throttled_seconds REAL,
    tokens_per_second REAL,
    prefill_seconds REAL,
    native_mac_share REAL,
    joules_low REAL,
    joules_high REAL,
    returned_type TEXT,                -- of the function that was called, as --returns names it
    returned_value TEXT                -- JSON; the registers' bits are rows of checksum
) STRICT;
CREATE INDEX run_by_config ON run (config_hash);
CREATE INDEX run_by_chip ON run (chip_id);
CREATE INDEX run_by_program ON run (program_id);
CREATE INDEX run_unfinished ON run (status) WHERE status = 'running';

-- Utilisation and energy of the parts of the chip.
CREATE TABLE run_part (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    part TEXT NOT NULL,
    utilisation REAL,
    joules REAL,
    PRIMARY KEY (run_id, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE placement (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    op_id INTEGER REFERENCES name (id),
    unit_id INTEGER REFERENCES name (id),
    kernel_id INTEGER REFERENCES name (id),
    why_id INTEGER REFERENCES name (id),
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE assumption (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    key TEXT,
    kind TEXT,
    effect TEXT,
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE checksum (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    output TEXT NOT NULL,
    fnv1a64 TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE op (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    op INTEGER NOT NULL CHECK (op > 0),
    name_id INTEGER REFERENCES name (id),
    kernel_id INTEGER REFERENCES name (id),
    shape_id INTEGER REFERENCES name (id),
    precision_id INTEGER REFERENCES name (id),
    part TEXT NOT NULL,
    instance INTEGER NOT NULL,
    submitted_ns REAL,
    started_ns REAL NOT NULL,
    seconds REAL NOT NULL,
    cycles REAL,
    macs REAL,
    flops REAL,
    repeats INTEGER NOT NULL,
    PRIMARY KEY (run_id, op)
) STRICT, WITHOUT ROWID;

CREATE TABLE activity (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    op INTEGER NOT NULL,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    value INTEGER NOT NULL,
    PRIMARY KEY (run_id, op, metric_id)
) STRICT, WITHOUT ROWID;

-- Of an op: cycles. Of the run (op 0): fraction of the critical path.
CREATE TABLE stall (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    op INTEGER NOT NULL,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    value REAL NOT NULL,
    PRIMARY KEY (run_id, op, metric_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    op INTEGER NOT NULL,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    value REAL,
    PRIMARY KEY (run_id, op, metric_id)
) STRICT, WITHOUT ROWID;

-- Time series; at one instant a series of a place has one value, the last one given. In order of time, as they come.
CREATE TABLE sample (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    part TEXT NOT NULL,
    instance INTEGER NOT NULL,
    time_ns REAL NOT NULL,
    value REAL,
    PRIMARY KEY (run_id, time_ns, metric_id, part, instance)
) STRICT, WITHOUT ROWID;

CREATE TABLE transfer (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    time_ns REAL NOT NULL,
    what_id INTEGER REFERENCES name (id),
    from_part TEXT NOT NULL,
    from_instance INTEGER NOT NULL,
    to_part TEXT NOT NULL,
    to_instance INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    seconds REAL,
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE dvfs_change (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    time_ns REAL NOT NULL,
    part TEXT NOT NULL,
    instance INTEGER NOT NULL,
    from_mhz REAL,
    to_mhz REAL NOT NULL,
    volts REAL,
    reason_id INTEGER REFERENCES name (id),
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE fault (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    time_ns REAL NOT NULL,
    part TEXT NOT NULL,
    instance INTEGER NOT NULL,
    fault TEXT,
    pc TEXT,                -- hexadecimal, all 64 bits
    address TEXT,
    text TEXT,
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

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

-- Cost of a kernel on a shape, valid wherever the parameters that its timing run read have the same values.
CREATE TABLE characteristic (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,        -- of base_hash and parameters
    base_hash TEXT NOT NULL,          -- of program, kernel, shape, precision, unit, detail and model version
    program_hash TEXT NOT NULL,
    kernel_id INTEGER REFERENCES name (id),
    shape_id INTEGER REFERENCES name (id),
    precision_id INTEGER REFERENCES name (id),
    part TEXT NOT NULL,
    detail TEXT NOT NULL,
    version TEXT NOT NULL,
    cycles REAL NOT NULL,
    created TEXT NOT NULL,
    reads_id INTEGER REFERENCES name (id), -- names of its parameters in order, with commas between
    timing TEXT                       -- JSON: all that a result needs, exactly
) STRICT;
CREATE INDEX characteristic_by_reads ON characteristic (base_hash, reads_id);

CREATE TABLE characteristic_parameter (
    characteristic_id INTEGER NOT NULL REFERENCES characteristic (id) ON DELETE CASCADE,
    key_id INTEGER NOT NULL REFERENCES name (id),
    value REAL NOT NULL,
    PRIMARY KEY (characteristic_id, key_id)
) STRICT, WITHOUT ROWID;

-- kind of the metric: activity (counts), traffic (bytes), stall (cycles), characteristic (flops, macs ...).
CREATE TABLE characteristic_value (
    characteristic_id INTEGER NOT NULL REFERENCES characteristic (id) ON DELETE CASCADE,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    value REAL NOT NULL,
    PRIMARY KEY (characteristic_id, metric_id)
) STRICT, WITHOUT ROWID;

-- Published figures of real hardware.
CREATE TABLE measurement (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,        -- of the row's content
    label TEXT,                       -- identifier in the file it came from
    chip TEXT,
    unit TEXT,
    workload TEXT NOT NULL,
    precision TEXT,
    shape TEXT,
    metric TEXT NOT NULL,
    value REAL NOT NULL,
    value_unit TEXT NOT NULL,
    watts REAL,
    condition TEXT,
    kind TEXT,
    source_id INTEGER NOT NULL REFERENCES source (id),
    flops REAL,
    min_bytes REAL,
    note TEXT
) STRICT;

-- Predictions beside measurements.
CREATE TABLE validation (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,        -- of measurement, chip hash and version
    measurement_id INTEGER NOT NULL REFERENCES measurement (id) ON DELETE CASCADE,
    run_id INTEGER REFERENCES run (id) ON DELETE SET NULL,
    version TEXT NOT NULL,
    predicted REAL,
    predicted_low REAL,
    predicted_high REAL,
    ape REAL,                         -- |predicted - measured| / measured
    fitted INTEGER NOT NULL DEFAULT 0 CHECK (fitted IN (0, 1)),
    unmodelled TEXT,                  -- why there is no prediction
    created TEXT NOT NULL,
    CHECK ((predicted IS NULL) = (unmodelled IS NOT NULL))
) STRICT;
CREATE INDEX validation_by_measurement ON validation (measurement_id);
CREATE INDEX validation_by_run ON validation (run_id);

-- Scores of validations, a row per group of rows, version and file: the history of accuracy.
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

-- Named sets of answers that `regress` compares with.
CREATE TABLE baseline (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;

-- What each chip was when the baseline was recorded: tells which parameter moved a value.
CREATE TABLE baseline_parameter (
    baseline_id INTEGER NOT NULL REFERENCES baseline (id) ON DELETE CASCADE,
    chip TEXT NOT NULL,
    key_id INTEGER NOT NULL REFERENCES name (id),
    value TEXT NOT NULL,              -- as JSON
    PRIMARY KEY (baseline_id, chip, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE baseline_value (
    baseline_id INTEGER NOT NULL REFERENCES baseline (id) ON DELETE CASCADE,
    chip TEXT NOT NULL,
    key_id INTEGER NOT NULL REFERENCES name (id),
    value REAL NOT NULL,
    tolerance REAL NOT NULL,          -- relative
    PRIMARY KEY (baseline_id, chip, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sweep (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,        -- of workload and specification: shards of one sweep agree
    name TEXT,
    workload TEXT NOT NULL,
    specification TEXT NOT NULL,      -- JSON
    version TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;

CREATE TABLE sweep_point (
    sweep_id INTEGER NOT NULL REFERENCES sweep (id) ON DELETE CASCADE,
    point INTEGER NOT NULL,
    settings TEXT NOT NULL,           -- JSON
    run_id INTEGER REFERENCES run (id) ON DELETE SET NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'done', 'failed')),
    error TEXT,
    method TEXT CHECK (method IN ('simulated', 'known', 'interpolated')),
    expected_error REAL,              -- interpolated: relative, of seconds, one standard deviation
    seconds REAL,                     -- these as in run
    seconds_low REAL,
    seconds_high REAL,
    device_seconds REAL,
    gflops REAL,
    dram_bytes REAL,
    dram_gbps REAL,
    joules REAL,
    watts_avg REAL,
    celsius_max REAL,
    throttled_seconds REAL,
    bound_by_id INTEGER REFERENCES name (id),
    PRIMARY KEY (sweep_id, point)
) STRICT, WITHOUT ROWID;
CREATE INDEX sweep_point_by_run ON sweep_point (run_id);

-- Tuned and calibrated values; a run uses a set only when it is asked to by name.
CREATE TABLE fitted_set (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,               -- of kind and body
    kind TEXT NOT NULL CHECK (kind IN ('tuned', 'calibrated')),
    body TEXT NOT NULL,               -- JSON
    version TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;

-- What processes are doing now: a row for each run or sweep that takes longer than a moment. It goes when the work ends; rows
-- whose process died are passed over by readers and removed by the next process that opens the file for writing.
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
