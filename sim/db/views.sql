-- Views: the common questions, one SELECT each. Dropped and made anew whenever the schema version changes.

-- One line per run, newest last.
CREATE VIEW v_run_summary AS
SELECT r.id AS run_id, r.status, r.workload, coalesce(r.chip, c.chip) AS chip, c.modified AS chip_modified, r.device,
       r.unit, r.precision, r.detail, r.mode, r.seconds, r.seconds_low, r.seconds_high, r.gflops, r.dram_gbps, r.joules,
       r.watts_avg, r.celsius_max, r.tokens_per_second, r.bound_by, r.returned_type, r.returned_value,
       r.host_seconds, r.version, r.seed, r.started, r.error
FROM run r LEFT JOIN chip c ON c.id = r.chip_id
ORDER BY r.id;

-- Every op with its names, and its share of the time of all ops of the run.
CREATE VIEW v_op AS
SELECT o.run_id, o.op, n.text AS name, k.text AS kernel, s.text AS shape, p.text AS precision, o.part AS unit, o.instance,
       o.submitted_ns, o.started_ns, o.seconds, o.cycles, o.macs, o.flops, o.repeats,
       o.flops / nullif(o.seconds, 0) / 1e9 AS gflops,
       o.seconds / nullif(sum(o.seconds) OVER (PARTITION BY o.run_id), 0) AS share
FROM op o
LEFT JOIN name n ON n.id = o.name_id LEFT JOIN name k ON k.id = o.kernel_id
LEFT JOIN name s ON s.id = o.shape_id LEFT JOIN name p ON p.id = o.precision_id;

-- Where the time of a run went, by kernel, shape and unit.
CREATE VIEW v_op_time AS
SELECT run_id, kernel, shape, precision, unit, sum(repeats) AS ops, sum(seconds) AS seconds, sum(share) AS share,
       sum(flops) / nullif(sum(seconds), 0) / 1e9 AS gflops
FROM v_op GROUP BY run_id, kernel, shape, precision, unit
ORDER BY run_id, seconds DESC;

-- Why a run was not faster.
CREATE VIEW v_stalls AS
SELECT t.run_id, m.name AS reason, t.value AS fraction, m.definition
FROM stall t JOIN metric m ON m.id = t.metric_id WHERE t.op = 0
ORDER BY t.run_id, t.value DESC;

CREATE VIEW v_op_stalls AS
SELECT t.run_id, t.op, k.text AS kernel, o.part AS unit, m.name AS reason, t.value AS cycles,
       t.value / nullif(o.cycles, 0) AS fraction
FROM stall t JOIN metric m ON m.id = t.metric_id JOIN op o ON o.run_id = t.run_id AND o.op = t.op
LEFT JOIN name k ON k.id = o.kernel_id;

-- Counters of whole runs; v_op_counters those of ops.
CREATE VIEW v_counters AS
SELECT t.run_id, m.name, t.value, m.unit, m.definition
FROM counter t JOIN metric m ON m.id = t.metric_id WHERE t.op = 0
ORDER BY t.run_id, m.name;

CREATE VIEW v_op_counters AS
SELECT t.run_id, t.op, m.name, t.value, m.unit, m.definition
FROM counter t JOIN metric m ON m.id = t.metric_id WHERE t.op > 0;

-- Countable events of a run, all ops together.
CREATE VIEW v_activity AS
SELECT t.run_id, m.name, sum(t.value) AS value, m.unit, m.definition
FROM activity t JOIN metric m ON m.id = t.metric_id
GROUP BY t.run_id, m.id
ORDER BY t.run_id, m.name;

-- Energy and utilisation by part of the chip.
CREATE VIEW v_parts AS
SELECT p.run_id, p.part, p.utilisation, p.joules, p.joules / nullif(r.joules, 0) AS energy_share
FROM run_part p JOIN run r ON r.id = p.run_id;

CREATE VIEW v_samples AS
SELECT s.run_id, m.name AS series, s.part, s.instance, s.time_ns / 1e9 AS time_seconds, s.value, m.unit
FROM sample s JOIN metric m ON m.id = s.metric_id;

CREATE VIEW v_placement AS
SELECT p.run_id, p.seq, o.text AS op, u.text AS unit, k.text AS kernel, w.text AS why
FROM placement p LEFT JOIN name o ON o.id = p.op_id LEFT JOIN name u ON u.id = p.unit_id
LEFT JOIN name k ON k.id = p.kernel_id LEFT JOIN name w ON w.id = p.why_id;

CREATE VIEW v_chip_values AS
SELECT c.chip, c.hash AS chip_hash, c.modified, n.text AS key, v.value, v.unit, v.kind, v.uncertainty,
       s.citation AS source, v.origin
FROM chip_value v JOIN chip c ON c.id = v.chip_id JOIN name n ON n.id = v.key_id LEFT JOIN source s ON s.id = v.source_id;

CREATE VIEW v_characteristics AS
SELECT c.id, k.text AS kernel, s.text AS shape, p.text AS precision, c.part AS unit, c.detail, c.cycles, c.version,
       c.created, (SELECT count(*) FROM characteristic_parameter q WHERE q.characteristic_id = c.id) AS parameters
FROM characteristic c LEFT JOIN name k ON k.id = c.kernel_id LEFT JOIN name s ON s.id = c.shape_id
LEFT JOIN name p ON p.id = c.precision_id;

-- Prediction beside measurement, newest prediction of each version.
CREATE VIEW v_validation AS
SELECT v.id, m.label, m.chip, m.unit, m.workload, m.precision, m.shape, m.metric, m.value AS measured, v.predicted,
       m.value_unit, v.ape, v.predicted / nullif(m.value, 0) - 1 AS bias,
       m.value BETWEEN v.predicted_low AND v.predicted_high AS inside_interval, v.fitted, v.unmodelled, v.version,
       v.run_id, s.citation AS source
FROM validation v JOIN measurement m ON m.id = v.measurement_id JOIN source s ON s.id = m.source_id;

-- How far from hardware the model is, by unit and chip; fitted rows apart.
CREATE VIEW v_accuracy AS
SELECT version, chip, unit, fitted, count(*) AS rows_all, count(predicted) AS modelled,
       1.0 * count(predicted) / count(*) AS coverage, avg(ape) AS mape, max(ape) AS worst_ape, avg(bias) AS bias,
       avg(CASE WHEN ape IS NULL THEN NULL ELSE ape <= 0.10 END) AS within10,
       avg(CASE WHEN ape IS NULL THEN NULL ELSE ape <= 0.25 END) AS within25,
       avg(inside_interval) AS interval_coverage
FROM v_validation GROUP BY version, chip, unit, fitted;

CREATE VIEW v_sweep AS
SELECT w.id AS sweep_id, w.name, w.workload, p.point, p.settings, p.status, p.method, p.expected_error, p.run_id,
       p.seconds, p.seconds_low, p.seconds_high, p.device_seconds, p.gflops, p.dram_bytes, p.dram_gbps, p.joules, p.watts_avg,
       p.celsius_max, p.throttled_seconds, n.text AS bound_by, coalesce(p.error, r.error) AS error
FROM sweep w JOIN sweep_point p ON p.sweep_id = w.id LEFT JOIN run r ON r.id = p.run_id LEFT JOIN name n ON n.id = p.bound_by_id;

CREATE VIEW v_baseline AS
SELECT b.name AS baseline, v.chip, n.text AS key, v.value, v.tolerance, b.version, b.created
FROM baseline b JOIN baseline_value v ON v.baseline_id = b.id JOIN name n ON n.id = v.key_id;

-- Lines of sources (line 0: instructions of no line; programs without a table of lines have nothing else) with what they cost.
CREATE VIEW v_profile_lines AS
SELECT i.run_id, k.name AS kernel, f.text AS file, i.line, t.text AS text, sum(i.issued) AS instructions, sum(i.cycles) AS cycles,
       sum(i.cycles) / nullif((SELECT sum(a.cycles) FROM profile_instruction a
                               WHERE a.run_id = i.run_id AND a.kernel = i.kernel) + k.idle_cycles, 0) AS share
FROM profile_instruction i JOIN profile_kernel k ON k.run_id = i.run_id AND k.kernel = i.kernel
LEFT JOIN profile_file o ON o.run_id = i.run_id AND o.kernel = i.kernel AND o.file = i.file AND i.line > 0
LEFT JOIN name f ON f.id = o.name_id
LEFT JOIN profile_text x ON x.run_id = i.run_id AND x.kernel = i.kernel AND x.file = i.file AND x.line = i.line
LEFT JOIN name t ON t.id = x.text_id
GROUP BY i.run_id, i.kernel, CASE WHEN i.line > 0 THEN i.file ELSE -1 END, i.line;
