-- The union of this database and the attached one, `shard`: everything is recognised by its content (texts, hashes, the
-- uid of a run), numbers of rows are given anew. Runs inside one transaction.

CREATE TEMP TABLE map_name (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE map_source (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE map_metric (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE map_chip (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE map_program (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE map_run (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE map_characteristic (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE map_measurement (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
-- Rows of the shard that are new here; only their inner rows are copied.
CREATE TEMP TABLE fresh_chip (old INTEGER PRIMARY KEY);
CREATE TEMP TABLE fresh_run (old INTEGER PRIMARY KEY);
CREATE TEMP TABLE fresh_characteristic (old INTEGER PRIMARY KEY);

-- Dictionaries.
INSERT OR IGNORE INTO main.name (text) SELECT text FROM shard.name;
INSERT INTO map_name SELECT s.id, m.id FROM shard.name s JOIN main.name m ON m.text = s.text;
INSERT OR IGNORE INTO main.source (citation, url, kind) SELECT citation, url, kind FROM shard.source;
INSERT INTO map_source SELECT s.id, m.id FROM shard.source s JOIN main.source m ON m.citation = s.citation;
INSERT OR IGNORE INTO main.metric (
    kind, name, unit, definition, higher_is_better, source_id)
SELECT
    s.kind, s.name, s.unit, s.definition, s.higher_is_better, (SELECT new FROM map_source WHERE old = s.source_id)
FROM shard.metric s;
INSERT INTO map_metric
SELECT s.id, m.id FROM shard.metric s JOIN main.metric m ON m.kind = s.kind AND m.name = s.name;
UPDATE main.metric SET (unit, definition, higher_is_better) =
    (SELECT s.unit, s.definition, s.higher_is_better FROM shard.metric s WHERE s.kind = metric.kind AND s.name = metric.name)
WHERE definition = '' AND EXISTS
    (SELECT 1 FROM shard.metric s WHERE s.kind = metric.kind AND s.name = metric.name AND s.definition <> '');

-- Chips and programs. A chip that a run named before its values were known gets them now.
INSERT OR IGNORE INTO main.chip (
    hash, chip, name, family, modified)
SELECT
    s.hash, s.chip, s.name, s.family, s.modified
FROM shard.chip s;
INSERT INTO map_chip SELECT s.id, m.id FROM shard.chip s JOIN main.chip m ON m.hash = s.hash;
INSERT INTO fresh_chip
SELECT p.old FROM map_chip p WHERE NOT EXISTS (SELECT 1 FROM main.chip_value v WHERE v.chip_id = p.new);
UPDATE main.chip SET (name, family) = (SELECT s.name, s.family FROM shard.chip s WHERE s.hash = chip.hash)
WHERE name IS NULL AND hash IN (SELECT s.hash FROM shard.chip s WHERE s.name IS NOT NULL);
INSERT INTO main.chip_value (
    chip_id, key_id, value, unit, kind, uncertainty, source_id, origin)
SELECT
    (SELECT new FROM map_chip WHERE old = s.chip_id), (SELECT new FROM map_name WHERE old = s.key_id), s.value,
    s.unit, s.kind, s.uncertainty, (SELECT new FROM map_source WHERE old = s.source_id), s.origin
FROM shard.chip_value s JOIN fresh_chip f ON f.old = s.chip_id;
INSERT OR IGNORE INTO main.program (
    hash, name, kind)
SELECT
    s.hash, s.name, s.kind
FROM shard.program s;
INSERT INTO map_program SELECT s.id, m.id FROM shard.program s JOIN main.program m ON m.hash = s.hash;

-- Runs, unfinished ones left out.
INSERT INTO fresh_run
SELECT id FROM shard.run s WHERE status <> 'running' AND NOT EXISTS (SELECT 1 FROM main.run m WHERE m.uid = s.uid);
INSERT INTO main.run (
    uid, status, config_hash, workload, chip_id, program_id, chip, device, unit, precision, detail, mode, options,
    version, seed, host, started, finished, error, bound_by, seconds, seconds_low, seconds_high, device_seconds,
    overhead_seconds, host_seconds, cycles, flops, gflops, macs, dram_bytes, dram_gbps, joules, watts_avg, watts_peak,
    celsius_max, throttled_seconds, tokens_per_second, prefill_seconds, native_mac_share, joules_low,
    joules_high, returned_type, returned_value)
SELECT
    s.uid, s.status, s.config_hash, s.workload, (SELECT new FROM map_chip WHERE old = s.chip_id), (SELECT new FROM
    map_program WHERE old = s.program_id), s.chip, s.device, s.unit, s.precision, s.detail, s.mode, s.options,
    s.version, s.seed, s.host, s.started, s.finished, s.error, s.bound_by, s.seconds, s.seconds_low, s.seconds_high,
    s.device_seconds, s.overhead_seconds, s.host_seconds, s.cycles, s.flops, s.gflops, s.macs, s.dram_bytes,
    s.dram_gbps, s.joules, s.watts_avg, s.watts_peak, s.celsius_max, s.throttled_seconds, s.tokens_per_second,
    s.prefill_seconds, s.native_mac_share, s.joules_low, s.joules_high, s.returned_type,
    s.returned_value
FROM shard.run s JOIN fresh_run f ON f.old = s.id ORDER BY s.started, s.uid;
INSERT INTO map_run SELECT s.id, m.id FROM shard.run s JOIN main.run m ON m.uid = s.uid;
INSERT INTO main.run_part (
    run_id, part, utilisation, joules)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.part, s.utilisation, s.joules
FROM shard.run_part s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.placement (
    run_id, seq, op_id, unit_id, kernel_id, why_id)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.seq, (SELECT new FROM map_name WHERE old = s.op_id), (SELECT new
    FROM map_name WHERE old = s.unit_id), (SELECT new FROM map_name WHERE old = s.kernel_id), (SELECT new FROM
    map_name WHERE old = s.why_id)
FROM shard.placement s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.assumption (
    run_id, seq, key, kind, effect)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.seq, s.key, s.kind, s.effect
FROM shard.assumption s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.checksum (
    run_id, seq, output, fnv1a64)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.seq, s.output, s.fnv1a64
FROM shard.checksum s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.op (
    run_id, op, name_id, kernel_id, shape_id, precision_id, part, instance, submitted_ns, started_ns, seconds, cycles,
    macs, flops, repeats)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.op, (SELECT new FROM map_name WHERE old = s.name_id), (SELECT
    new FROM map_name WHERE old = s.kernel_id), (SELECT new FROM map_name WHERE old = s.shape_id), (SELECT new FROM
    map_name WHERE old = s.precision_id), s.part, s.instance, s.submitted_ns, s.started_ns, s.seconds, s.cycles,
    s.macs, s.flops, s.repeats
FROM shard.op s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.activity (
    run_id, op, metric_id, value)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.op, (SELECT new FROM map_metric WHERE old = s.metric_id),
    s.value
FROM shard.activity s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.stall (
    run_id, op, metric_id, value)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.op, (SELECT new FROM map_metric WHERE old = s.metric_id),
    s.value
FROM shard.stall s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.counter (
    run_id, op, metric_id, value)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.op, (SELECT new FROM map_metric WHERE old = s.metric_id),
    s.value
FROM shard.counter s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.sample (
    run_id, metric_id, part, instance, time_ns, value)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), (SELECT new FROM map_metric WHERE old = s.metric_id), s.part,
    s.instance, s.time_ns, s.value
FROM shard.sample s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.transfer (
    run_id, seq, time_ns, what_id, from_part, from_instance, to_part, to_instance, bytes, seconds)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.seq, s.time_ns, (SELECT new FROM map_name WHERE old =
    s.what_id), s.from_part, s.from_instance, s.to_part, s.to_instance, s.bytes, s.seconds
FROM shard.transfer s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.dvfs_change (
    run_id, seq, time_ns, part, instance, from_mhz, to_mhz, volts, reason_id)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.seq, s.time_ns, s.part, s.instance, s.from_mhz, s.to_mhz,
    s.volts, (SELECT new FROM map_name WHERE old = s.reason_id)
FROM shard.dvfs_change s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.profile_kernel (
    run_id, kernel, name, timed_share, idle_cycles)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.kernel, s.name, s.timed_share, s.idle_cycles
FROM shard.profile_kernel s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.profile_file (
    run_id, kernel, file, name_id)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.kernel, s.file, (SELECT new FROM map_name WHERE old = s.name_id)
FROM shard.profile_file s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.profile_text (
    run_id, kernel, file, line, text_id)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.kernel, s.file, s.line,
    (SELECT new FROM map_name WHERE old = s.text_id)
FROM shard.profile_text s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.profile_instruction (
    run_id, kernel, position, file, line, text_id, issued, lanes, units, least_units, cycles)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.kernel, s.position, s.file, s.line,
    (SELECT new FROM map_name WHERE old = s.text_id), s.issued, s.lanes, s.units, s.least_units, s.cycles
FROM shard.profile_instruction s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.profile_stall (
    run_id, kernel, position, metric_id, cycles)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.kernel, s.position,
    (SELECT new FROM map_metric WHERE old = s.metric_id), s.cycles
FROM shard.profile_stall s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.profile_warning (
    run_id, seq, kernel, kind, place, file, line, position, evidence, fix)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.seq, s.kernel, s.kind, s.place, s.file, s.line, s.position, s.evidence,
    s.fix
FROM shard.profile_warning s JOIN fresh_run f ON f.old = s.run_id;
INSERT INTO main.fault (
    run_id, seq, time_ns, part, instance, fault, pc, address, text)
SELECT
    (SELECT new FROM map_run WHERE old = s.run_id), s.seq, s.time_ns, s.part, s.instance, s.fault, s.pc, s.address,
    s.text
FROM shard.fault s JOIN fresh_run f ON f.old = s.run_id;

-- Characteristics; the caller has made sure that those of both sides agree.
INSERT INTO fresh_characteristic
SELECT id FROM shard.characteristic s WHERE NOT EXISTS (SELECT 1 FROM main.characteristic m WHERE m.hash = s.hash);
INSERT INTO main.characteristic (
    hash, base_hash, program_hash, kernel_id, shape_id, precision_id, part, detail, version, cycles, created, reads_id,
    timing)
SELECT
    s.hash, s.base_hash, s.program_hash, (SELECT new FROM map_name WHERE old = s.kernel_id), (SELECT new FROM map_name
    WHERE old = s.shape_id), (SELECT new FROM map_name WHERE old = s.precision_id), s.part, s.detail, s.version,
    s.cycles, s.created, (SELECT new FROM map_name WHERE old = s.reads_id), s.timing
FROM shard.characteristic s JOIN fresh_characteristic f ON f.old = s.id;
INSERT INTO map_characteristic
SELECT s.id, m.id FROM shard.characteristic s JOIN main.characteristic m ON m.hash = s.hash;
INSERT INTO main.characteristic_parameter (
    characteristic_id, key_id, value)
SELECT
    (SELECT new FROM map_characteristic WHERE old = s.characteristic_id), (SELECT new FROM map_name WHERE old =
    s.key_id), s.value
FROM shard.characteristic_parameter s JOIN fresh_characteristic f ON f.old = s.characteristic_id;
INSERT INTO main.characteristic_value (
    characteristic_id, metric_id, value)
SELECT
    (SELECT new FROM map_characteristic WHERE old = s.characteristic_id), (SELECT new FROM map_metric WHERE old =
    s.metric_id), s.value
FROM shard.characteristic_value s JOIN fresh_characteristic f ON f.old = s.characteristic_id;

-- Measurements and predictions; of two predictions the later one stays.
INSERT OR IGNORE INTO main.measurement (
    hash, label, chip, unit, workload, precision, shape, metric, value, value_unit, watts, condition, kind, source_id,
    flops, min_bytes, note)
SELECT
    s.hash, s.label, s.chip, s.unit, s.workload, s.precision, s.shape, s.metric, s.value, s.value_unit, s.watts,
    s.condition, s.kind, (SELECT new FROM map_source WHERE old = s.source_id), s.flops, s.min_bytes, s.note
FROM shard.measurement s;
INSERT INTO map_measurement SELECT s.id, m.id FROM shard.measurement s JOIN main.measurement m ON m.hash = s.hash;
INSERT INTO main.validation (
    hash, measurement_id, run_id, version, predicted, predicted_low, predicted_high, ape, fitted, unmodelled, created)
SELECT
    s.hash, (SELECT new FROM map_measurement WHERE old = s.measurement_id), (SELECT new FROM map_run WHERE old =
    s.run_id), s.version, s.predicted, s.predicted_low, s.predicted_high, s.ape, s.fitted, s.unmodelled, s.created
FROM shard.validation s WHERE true
ON CONFLICT (hash) DO UPDATE SET
    run_id = excluded.run_id, version = excluded.version, predicted = excluded.predicted, predicted_low =
    excluded.predicted_low, predicted_high = excluded.predicted_high, ape = excluded.ape, fitted = excluded.fitted,
    unmodelled = excluded.unmodelled, created = excluded.created
WHERE excluded.created > created;

-- Baselines: of two with one name the later one stays, whole.
DELETE FROM main.baseline WHERE EXISTS
    (SELECT 1 FROM shard.baseline s WHERE s.name = baseline.name AND s.created > baseline.created);
CREATE TEMP TABLE fresh_baseline (old INTEGER PRIMARY KEY);
INSERT INTO fresh_baseline
SELECT id FROM shard.baseline s WHERE NOT EXISTS (SELECT 1 FROM main.baseline m WHERE m.name = s.name);
INSERT OR IGNORE INTO main.baseline (name, version, created) SELECT name, version, created FROM shard.baseline;
INSERT INTO main.baseline_value (
    baseline_id, chip, key_id, value, tolerance)
SELECT
    (SELECT m.id FROM main.baseline m JOIN shard.baseline b ON b.name = m.name WHERE b.id = s.baseline_id), s.chip,
    (SELECT new FROM map_name WHERE old = s.key_id), s.value, s.tolerance
FROM shard.baseline_value s JOIN fresh_baseline f ON f.old = s.baseline_id;
INSERT INTO main.baseline_parameter (
    baseline_id, chip, key_id, value)
SELECT
    (SELECT m.id FROM main.baseline m JOIN shard.baseline b ON b.name = m.name WHERE b.id = s.baseline_id), s.chip,
    (SELECT new FROM map_name WHERE old = s.key_id), s.value
FROM shard.baseline_parameter s JOIN fresh_baseline f ON f.old = s.baseline_id;
INSERT INTO main.validation_score (
    hash, version, created, file, file_hash, grouping, grp, fitted, rows, modelled, mape, median_ape, p90_ape, symmetric,
    bias, within10, within25, spearman, interval_coverage)
SELECT
    hash, version, created, file, file_hash, grouping, grp, fitted, rows, modelled, mape, median_ape, p90_ape, symmetric,
    bias, within10, within25, spearman, interval_coverage
FROM shard.validation_score WHERE true
ON CONFLICT (hash) DO UPDATE SET created = min(created, excluded.created);

-- Sweeps: shards fill the points of one sweep. Of two answers to a point the better one stays, whoever comes first: done
-- before failed, simulated before known before interpolated, then the smaller content.
INSERT INTO main.sweep (
    hash, name, workload, specification, version, created)
SELECT
    s.hash, s.name, s.workload, s.specification, s.version, s.created
FROM shard.sweep s WHERE true
ON CONFLICT (hash) DO UPDATE SET created = min(created, excluded.created),
    name = min(coalesce(name, excluded.name), coalesce(excluded.name, name)),
    specification = min(specification, excluded.specification);
INSERT INTO main.sweep_point (
    sweep_id, point, settings, run_id, status, error, method, expected_error, seconds, seconds_low, seconds_high,
    device_seconds, gflops, dram_bytes, dram_gbps, joules, watts_avg, celsius_max, throttled_seconds, bound_by_id)
SELECT
    (SELECT m.id FROM main.sweep m JOIN shard.sweep w ON w.hash = m.hash WHERE w.id = s.sweep_id), s.point,
    s.settings, (SELECT new FROM map_run WHERE old = s.run_id), s.status, s.error, s.method, s.expected_error, s.seconds, s.seconds_low,
    s.seconds_high, s.device_seconds, s.gflops, s.dram_bytes, s.dram_gbps, s.joules, s.watts_avg, s.celsius_max,
    s.throttled_seconds, (SELECT new FROM map_name WHERE old = s.bound_by_id)
FROM shard.sweep_point s WHERE true
ON CONFLICT (sweep_id, point) DO UPDATE SET run_id = excluded.run_id, status = excluded.status, error = excluded.error,
    method = excluded.method, expected_error = excluded.expected_error, seconds = excluded.seconds,
    seconds_low = excluded.seconds_low, seconds_high = excluded.seconds_high, device_seconds = excluded.device_seconds,
    gflops = excluded.gflops, dram_bytes = excluded.dram_bytes, dram_gbps = excluded.dram_gbps,
    joules = excluded.joules, watts_avg = excluded.watts_avg, celsius_max = excluded.celsius_max,
    throttled_seconds = excluded.throttled_seconds, bound_by_id = excluded.bound_by_id
WHERE (
    CASE excluded.status WHEN 'done' THEN 0 WHEN 'failed' THEN 1 ELSE 2 END,
    CASE excluded.method WHEN 'simulated' THEN 0 WHEN 'known' THEN 1 WHEN 'interpolated' THEN 2 ELSE 3 END,
    quote(excluded.error) || '/' || quote(excluded.expected_error) || '/' || quote(excluded.seconds) || '/' ||
    quote(excluded.seconds_low) || '/' || quote(excluded.seconds_high) || '/' || quote(excluded.device_seconds) || '/'
    || quote(excluded.gflops) || '/' || quote(excluded.dram_bytes) || '/' || quote(excluded.dram_gbps) || '/' ||
    quote(excluded.joules) || '/' || quote(excluded.watts_avg) || '/' || quote(excluded.celsius_max) || '/' ||
    quote(excluded.throttled_seconds),
    coalesce((SELECT text FROM main.name WHERE id = excluded.bound_by_id), ''),
    coalesce((SELECT uid FROM main.run WHERE id = excluded.run_id), '~')) < (
    CASE sweep_point.status WHEN 'done' THEN 0 WHEN 'failed' THEN 1 ELSE 2 END,
    CASE sweep_point.method WHEN 'simulated' THEN 0 WHEN 'known' THEN 1 WHEN 'interpolated' THEN 2 ELSE 3 END,
    quote(sweep_point.error) || '/' || quote(sweep_point.expected_error) || '/' || quote(sweep_point.seconds) || '/'
    || quote(sweep_point.seconds_low) || '/' || quote(sweep_point.seconds_high) || '/' ||
    quote(sweep_point.device_seconds) || '/' || quote(sweep_point.gflops) || '/' || quote(sweep_point.dram_bytes) || '/' ||
    quote(sweep_point.dram_gbps) || '/' || quote(sweep_point.joules) || '/' || quote(sweep_point.watts_avg) || '/' ||
    quote(sweep_point.celsius_max) || '/' || quote(sweep_point.throttled_seconds),
    coalesce((SELECT text FROM main.name WHERE id = sweep_point.bound_by_id), ''),
    coalesce((SELECT uid FROM main.run WHERE id = sweep_point.run_id), '~'));

-- Fitted sets: of two with one name the later one stays.
INSERT INTO main.fitted_set (name, hash, kind, body, version, created)
SELECT s.name, s.hash, s.kind, s.body, s.version, s.created FROM shard.fitted_set s WHERE true
ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, kind = excluded.kind, body = excluded.body,
    version = excluded.version, created = excluded.created
WHERE excluded.created > created;

DROP TABLE map_name;
DROP TABLE map_source;
DROP TABLE map_metric;
DROP TABLE map_chip;
DROP TABLE map_program;
DROP TABLE map_run;
DROP TABLE map_characteristic;
DROP TABLE map_measurement;
DROP TABLE fresh_chip;
DROP TABLE fresh_run;
DROP TABLE fresh_characteristic;
DROP TABLE fresh_baseline;
