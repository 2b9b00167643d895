-- A file of schema version 1, as the first release of the schema wrote it, with one run of four ops.
PRAGMA application_id = 1330791240;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('metric_hash','572f9bad84a17f2cdc31ca53b63ff00b');
CREATE TABLE name (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO name VALUES(1,'gemm');
INSERT INTO name VALUES(2,'gemm_f32_16x16');
INSERT INTO name VALUES(3,'32x32x32');
INSERT INTO name VALUES(4,'f32');
INSERT INTO name VALUES(5,'16x16x16');
INSERT INTO name VALUES(6,'64x64x64');
INSERT INTO name VALUES(7,'weights');
INSERT INTO name VALUES(8,'start');
INSERT INTO name VALUES(9,'amx');
INSERT INTO name VALUES(10,'asked for');
INSERT INTO name VALUES(11,'bias');
INSERT INTO name VALUES(12,'cpu');
INSERT INTO name VALUES(13,'not on amx');
CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    citation TEXT NOT NULL UNIQUE,
    url TEXT,
    kind TEXT
) STRICT;
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
INSERT INTO metric VALUES(1,'counter','l1_hits','accesses','accesses that found their line in an L1 data cache',NULL,NULL);
INSERT INTO metric VALUES(2,'counter','l1_misses','accesses','accesses that did not find their line in an L1 data cache',0,NULL);
INSERT INTO metric VALUES(3,'counter','l1_writebacks','lines','changed lines written back from an L1 data cache',0,NULL);
INSERT INTO metric VALUES(4,'counter','l2_hits','accesses','accesses that found their line in a cluster''s L2',NULL,NULL);
INSERT INTO metric VALUES(5,'counter','l2_misses','accesses','accesses that did not find their line in a cluster''s L2',0,NULL);
INSERT INTO metric VALUES(6,'counter','l2_writebacks','lines','changed lines written back from a cluster''s L2',0,NULL);
INSERT INTO metric VALUES(7,'counter','slc_hits','accesses','accesses that found their line in the system-level cache',NULL,NULL);
INSERT INTO metric VALUES(8,'counter','slc_misses','accesses','accesses that did not find their line in the system-level cache',0,NULL);
INSERT INTO metric VALUES(9,'counter','slc_writebacks','lines','changed lines written back from the system-level cache',0,NULL);
INSERT INTO metric VALUES(10,'counter','dram_accesses','accesses','accesses that went to DRAM',0,NULL);
INSERT INTO metric VALUES(11,'counter','prefetch_issued','lines','lines asked for by prefetchers',NULL,NULL);
INSERT INTO metric VALUES(12,'counter','prefetch_used','lines','prefetched lines that were used later',1,NULL);
INSERT INTO metric VALUES(13,'counter','prefetch_late','lines','prefetched lines still on their way when they were needed',0,NULL);
INSERT INTO metric VALUES(14,'counter','prefetch_evicted_unused','lines','prefetched lines thrown out before use',0,NULL);
INSERT INTO metric VALUES(15,'counter','demand_evicted_by_prefetch','lines','lines in use that a prefetch pushed out',0,NULL);
INSERT INTO metric VALUES(16,'counter','tlb_misses','accesses','translations that needed a page walk',0,NULL);
INSERT INTO metric VALUES(17,'counter','instructions','instructions','instructions retired by the unit',NULL,NULL);
INSERT INTO metric VALUES(18,'counter','launches','launches','kernel launches and requests submitted',NULL,NULL);
INSERT INTO metric VALUES(19,'counter','ipc','1/cycle','instructions per cycle of the unit''s own clock',1,NULL);
INSERT INTO metric VALUES(20,'sample','power','W','power of a part',0,NULL);
INSERT INTO metric VALUES(21,'sample','temperature','degC','temperature of a block',0,NULL);
INSERT INTO metric VALUES(22,'sample','clock','MHz','clock of a part',NULL,NULL);
INSERT INTO metric VALUES(23,'sample','voltage','V','supply voltage of a part',NULL,NULL);
INSERT INTO metric VALUES(24,'sample','bandwidth','GB/s','traffic of a part',NULL,NULL);
INSERT INTO metric VALUES(25,'sample','utilisation','1','busy share of a part since the sample before',NULL,NULL);
INSERT INTO metric VALUES(26,'sample','pressure','1','thermal pressure level',0,NULL);
INSERT INTO metric VALUES(27,'sample','battery','1','charge of the battery',1,NULL);
INSERT INTO metric VALUES(28,'sample','memory_used','bytes','simulated memory in use',0,NULL);
INSERT INTO metric VALUES(29,'traffic','l1d_read','bytes','bytes read from L1 data caches',0,NULL);
INSERT INTO metric VALUES(30,'traffic','l1d_write','bytes','bytes written to L1 data caches',0,NULL);
INSERT INTO metric VALUES(31,'traffic','l2_read','bytes','bytes read from cluster L2 caches',0,NULL);
INSERT INTO metric VALUES(32,'traffic','l2_write','bytes','bytes written to cluster L2 caches',0,NULL);
INSERT INTO metric VALUES(33,'traffic','slc_read','bytes','bytes read from the system-level cache',0,NULL);
INSERT INTO metric VALUES(34,'traffic','slc_write','bytes','bytes written to the system-level cache',0,NULL);
INSERT INTO metric VALUES(35,'traffic','dram_read','bytes','bytes read from DRAM',0,NULL);
INSERT INTO metric VALUES(36,'traffic','dram_write','bytes','bytes written to DRAM',0,NULL);
INSERT INTO metric VALUES(37,'characteristic','flops','flop','floating-point operations; a multiply-add is two',NULL,NULL);
INSERT INTO metric VALUES(38,'characteristic','macs','macs','multiply-accumulates',NULL,NULL);
INSERT INTO metric VALUES(39,'characteristic','instructions','instructions','instructions executed',NULL,NULL);
INSERT INTO metric VALUES(40,'characteristic','launches','launches','kernel launches and requests',NULL,NULL);
INSERT INTO metric VALUES(41,'stall','launch','cycles','any unit: submission and launch overhead',0,NULL);
INSERT INTO metric VALUES(42,'stall','compute','cycles','any unit: the unit works at its full rate',0,NULL);
INSERT INTO metric VALUES(43,'stall','dram_bandwidth','cycles','any unit: the DRAM bandwidth is used up',0,NULL);
INSERT INTO metric VALUES(44,'stall','slc_bandwidth','cycles','any unit: the bandwidth of the system-level cache is used up',0,NULL);
INSERT INTO metric VALUES(45,'stall','fabric','cycles','any unit: the unit''s port to the fabric is full',0,NULL);
INSERT INTO metric VALUES(46,'stall','contention','cycles','any unit: others use the shared resource',0,NULL);
INSERT INTO metric VALUES(47,'stall','throttle','cycles','any unit: the clock is below the one that was asked for',0,NULL);
INSERT INTO metric VALUES(48,'stall','dependency_wait','cycles','any unit: waits for another unit''s result',0,NULL);
INSERT INTO metric VALUES(49,'stall','idle','cycles','any unit: nothing to do',0,NULL);
INSERT INTO metric VALUES(50,'stall','dispatch','cycles','cpu: limited by the dispatch width',0,NULL);
INSERT INTO metric VALUES(51,'stall','ports','cycles','cpu: execution ports of one class are full',0,NULL);
INSERT INTO metric VALUES(52,'stall','dependency','cycles','cpu: chains of dependent instructions',0,NULL);
INSERT INTO metric VALUES(53,'stall','l1','cycles','cpu: waits for L1 data',0,NULL);
INSERT INTO metric VALUES(54,'stall','l2','cycles','cpu: waits for the cluster''s L2',0,NULL);
INSERT INTO metric VALUES(55,'stall','slc','cycles','cpu: waits for the system-level cache',0,NULL);
INSERT INTO metric VALUES(56,'stall','dram','cycles','cpu: waits for DRAM',0,NULL);
INSERT INTO metric VALUES(57,'stall','branch','cycles','cpu: mispredicted branches',0,NULL);
INSERT INTO metric VALUES(58,'stall','amx','cycles','cpu: the AMX queue is full or stored data are not there yet',0,NULL);
INSERT INTO metric VALUES(59,'stall','array','cycles','amx: the array works on this core''s instructions',0,NULL);
INSERT INTO metric VALUES(60,'stall','shared','cycles','amx: the array works on another core''s instructions',0,NULL);
INSERT INTO metric VALUES(61,'stall','z_dependency','cycles','amx: waits for the accumulator''s previous instruction',0,NULL);
INSERT INTO metric VALUES(62,'stall','load_data','cycles','amx: waits for data of a load',0,NULL);
INSERT INTO metric VALUES(63,'stall','load_port','cycles','amx: the load path is busy',0,NULL);
INSERT INTO metric VALUES(64,'stall','store','cycles','amx: the store path is busy or waits for Z',0,NULL);
INSERT INTO metric VALUES(65,'stall','issue','cycles','amx: limit of instructions one core starts per cycle',0,NULL);
INSERT INTO metric VALUES(66,'stall','cpu','cycles','amx: the CPU core has not sent the next instruction',0,NULL);
INSERT INTO metric VALUES(67,'stall','setclr','cycles','amx: enabling or disabling the unit',0,NULL);
INSERT INTO metric VALUES(68,'stall','drain','cycles','amx: pipeline latency after the last instruction',0,NULL);
INSERT INTO metric VALUES(69,'activity','CPU_INSTRUCTIONS','instructions','AArch64 instructions retired, AMX words included',NULL,NULL);
INSERT INTO metric VALUES(70,'activity','CPU_INT_OPS','operations','integer ALU micro-operations',NULL,NULL);
INSERT INTO metric VALUES(71,'activity','CPU_MUL_DIV_OPS','operations','integer multiply and divide micro-operations',NULL,NULL);
INSERT INTO metric VALUES(72,'activity','CPU_BRANCHES','branches','branches executed, taken or not',NULL,NULL);
INSERT INTO metric VALUES(73,'activity','CPU_MISPREDICTS','branches','branches predicted wrongly',NULL,NULL);
INSERT INTO metric VALUES(74,'activity','CPU_FP_LANE_OPS','lanes','scalar and NEON floating-point lane operations; a fused multiply-add is one',NULL,NULL);
INSERT INTO metric VALUES(75,'activity','CPU_SIMD_INT_LANE_OPS','lanes','NEON integer lane operations',NULL,NULL);
INSERT INTO metric VALUES(76,'activity','CPU_LOADS','accesses','CPU load instructions that reached the data cache',NULL,NULL);
INSERT INTO metric VALUES(77,'activity','CPU_STORES','accesses','CPU store instructions that reached the data cache',NULL,NULL);
INSERT INTO metric VALUES(78,'activity','AMX_INSTRUCTIONS','instructions','AMX instructions issued, all kinds',NULL,NULL);
INSERT INTO metric VALUES(79,'activity','AMX_F64_MACS','macs','f64 multiply-accumulates in enabled lanes',NULL,NULL);
INSERT INTO metric VALUES(80,'activity','AMX_F32_MACS','macs','f32 multiply-accumulates in enabled lanes, widened f16/bf16 inputs included',NULL,NULL);
INSERT INTO metric VALUES(81,'activity','AMX_F16_MACS','macs','f16 and bf16 multiply-accumulates with 16-bit results in enabled lanes',NULL,NULL);
INSERT INTO metric VALUES(82,'activity','AMX_INT_MACS','macs','integer multiply-accumulates in enabled lanes',NULL,NULL);
INSERT INTO metric VALUES(83,'activity','AMX_XY_READ_BYTES','bytes','bytes read from the X and Y register pools by compute instructions',NULL,NULL);
INSERT INTO metric VALUES(84,'activity','AMX_Z_READ_BYTES','bytes','bytes read from Z',NULL,NULL);
INSERT INTO metric VALUES(85,'activity','AMX_Z_WRITE_BYTES','bytes','bytes written to Z',NULL,NULL);
INSERT INTO metric VALUES(86,'activity','AMX_LOAD_BYTES','bytes','bytes moved from memory to X, Y or Z',NULL,NULL);
INSERT INTO metric VALUES(87,'activity','AMX_STORE_BYTES','bytes','bytes moved from X, Y or Z to memory',NULL,NULL);
INSERT INTO metric VALUES(88,'activity','L1D_READ_BYTES','bytes','bytes read from L1 data caches',NULL,NULL);
INSERT INTO metric VALUES(89,'activity','L1D_WRITE_BYTES','bytes','bytes written to L1 data caches',NULL,NULL);
INSERT INTO metric VALUES(90,'activity','L2_READ_BYTES','bytes','bytes read from cluster L2 caches',NULL,NULL);
INSERT INTO metric VALUES(91,'activity','L2_WRITE_BYTES','bytes','bytes written to cluster L2 caches, fills and write-backs',NULL,NULL);
INSERT INTO metric VALUES(92,'activity','SLC_READ_BYTES','bytes','bytes read from the system-level cache',NULL,NULL);
INSERT INTO metric VALUES(93,'activity','SLC_WRITE_BYTES','bytes','bytes written to the system-level cache',NULL,NULL);
INSERT INTO metric VALUES(94,'activity','DRAM_READ_BYTES','bytes','bytes read from DRAM',NULL,NULL);
INSERT INTO metric VALUES(95,'activity','DRAM_WRITE_BYTES','bytes','bytes written to DRAM',NULL,NULL);
INSERT INTO metric VALUES(96,'energy','cpu','J','energy of cpu',0,NULL);
INSERT INTO metric VALUES(97,'utilisation','cpu','1','busy share of cpu, 0 to 1',NULL,NULL);
INSERT INTO metric VALUES(98,'energy','amx','J','energy of amx',0,NULL);
INSERT INTO metric VALUES(99,'utilisation','amx','1','busy share of amx, 0 to 1',NULL,NULL);
INSERT INTO metric VALUES(100,'energy','gpu','J','energy of gpu',0,NULL);
INSERT INTO metric VALUES(101,'utilisation','gpu','1','busy share of gpu, 0 to 1',NULL,NULL);
INSERT INTO metric VALUES(102,'energy','ane','J','energy of ane',0,NULL);
INSERT INTO metric VALUES(103,'utilisation','ane','1','busy share of ane, 0 to 1',NULL,NULL);
INSERT INTO metric VALUES(104,'energy','dram','J','energy of dram',0,NULL);
INSERT INTO metric VALUES(105,'utilisation','dram','1','busy share of dram, 0 to 1',NULL,NULL);
INSERT INTO metric VALUES(106,'energy','slc','J','energy of slc',0,NULL);
INSERT INTO metric VALUES(107,'utilisation','slc','1','busy share of slc, 0 to 1',NULL,NULL);
INSERT INTO metric VALUES(108,'energy','fabric','J','energy of fabric',0,NULL);
INSERT INTO metric VALUES(109,'utilisation','fabric','1','busy share of fabric, 0 to 1',NULL,NULL);
INSERT INTO metric VALUES(110,'energy','soc','J','energy of soc',0,NULL);
INSERT INTO metric VALUES(111,'utilisation','soc','1','busy share of soc, 0 to 1',NULL,NULL);
INSERT INTO metric VALUES(112,'total','seconds','s','simulated time from first submit to last completion, overheads included',0,NULL);
INSERT INTO metric VALUES(113,'total','seconds_low','s','lower end of the 90 % interval of seconds',0,NULL);
INSERT INTO metric VALUES(114,'total','seconds_high','s','upper end of the 90 % interval of seconds',0,NULL);
INSERT INTO metric VALUES(115,'total','device_seconds','s','simulated time during which the unit was busy',0,NULL);
INSERT INTO metric VALUES(116,'total','overhead_seconds','s','simulated time of submission, launch and waiting',0,NULL);
INSERT INTO metric VALUES(117,'total','host_seconds','s','wall time of the simulation itself, loading and warm-up excluded',0,NULL);
INSERT INTO metric VALUES(118,'total','cycles','cycles','cycles of the unit''s own clock; none when several units took part',0,NULL);
INSERT INTO metric VALUES(119,'total','flops','flop','floating-point operations; a multiply-add is two',NULL,NULL);
INSERT INTO metric VALUES(120,'total','gflops','Gflop/s','flops per simulated second',1,NULL);
INSERT INTO metric VALUES(121,'total','macs','macs','multiply-accumulates',NULL,NULL);
INSERT INTO metric VALUES(122,'total','dram_bytes','bytes','bytes read from and written to DRAM',0,NULL);
INSERT INTO metric VALUES(123,'total','dram_gbps','GB/s','dram_bytes per simulated second',NULL,NULL);
INSERT INTO metric VALUES(124,'total','joules','J','energy of the whole chip and its memory',0,NULL);
INSERT INTO metric VALUES(125,'total','watts_avg','W','joules per simulated second',0,NULL);
INSERT INTO metric VALUES(126,'total','watts_peak','W','highest power of a governor interval',0,NULL);
INSERT INTO metric VALUES(127,'total','celsius_max','degC','hottest block during the run',0,NULL);
INSERT INTO metric VALUES(128,'total','throttled_seconds','s','simulated time below the clock that was asked for',0,NULL);
INSERT INTO metric VALUES(129,'total','tokens_per_second','tokens/s','generated tokens per simulated second, prefill excluded',1,NULL);
INSERT INTO metric VALUES(130,'total','prefill_seconds','s','simulated time of prompt processing',0,NULL);
INSERT INTO metric VALUES(131,'total','native_mac_share','1','share of the multiply-accumulates that the asked unit executed',1,NULL);
CREATE TABLE chip (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    chip TEXT NOT NULL,
    name TEXT,
    family TEXT,
    modified INTEGER NOT NULL DEFAULT 0 CHECK (modified IN (0, 1))
) STRICT;
INSERT INTO chip VALUES(1,'00000000c0ffee00','m1_4p4e_8g',NULL,NULL,0);
CREATE TABLE chip_value (
    chip_id INTEGER NOT NULL REFERENCES chip (id) ON DELETE CASCADE,
    key_id INTEGER NOT NULL REFERENCES name (id),
    value ANY,              -- number, text, or JSON of lists, maps and tables
    unit TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('vendor-spec', 'measured', 'reverse-engineered', 'inferred', 'guess')),
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
INSERT INTO program VALUES(1,'0123456789abcdef0123456789abcdef','gemm_f32','kernel');
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
    native_mac_share REAL
) STRICT;
INSERT INTO run VALUES(1,'91059ee8c5e2f6b1e55cdb7d16ee4a15','done','188f07ebd2e1a4320b9c117b2601c8a3','gemm:64x64x64',1,1,'m1_4p4e_8g',NULL,'amx','f32','instr','full','{"repeat":1}','0.1.0',1,'example-host',NULL,'2026-11-21T05:07:23.708Z','2026-11-21T05:07:23.708Z',NULL,'array',0.25,0.2000000000000000111,0.29999999999999998889,3000.3333333333334848,4000.3333333333334848,5000.3333333333330303,6000.3333333333330303,524288.0,8000.3333333333330303,9000.3333333333339393,10000.333333333333939,11000.333333333333939,12000.333333333333939,13000.33333333333394,14000.333333333333939,15000.333333333333939,16000.333333333333939,NULL,NULL,19000.333333333332121);
CREATE TABLE run_part (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    part TEXT NOT NULL,
    utilisation REAL,
    joules REAL,
    PRIMARY KEY (run_id, part)
) STRICT, WITHOUT ROWID;
INSERT INTO run_part VALUES(1,'amx',0.75,0.5);
INSERT INTO run_part VALUES(1,'cpu',0.125,NULL);
INSERT INTO run_part VALUES(1,'dram',0.0625,0.25);
CREATE TABLE placement (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    op_id INTEGER REFERENCES name (id),
    unit_id INTEGER REFERENCES name (id),
    kernel_id INTEGER REFERENCES name (id),
    why_id INTEGER REFERENCES name (id),
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO placement VALUES(1,1,1,9,2,10);
INSERT INTO placement VALUES(1,2,11,12,NULL,13);
CREATE TABLE assumption (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    key TEXT,
    kind TEXT,
    effect TEXT,
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO assumption VALUES(1,1,'amx.clock_ghz','inferred','3 % of the time');
CREATE TABLE checksum (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    output TEXT NOT NULL,
    fnv1a64 TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO checksum VALUES(1,1,'c','fedcba9876543210');
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
INSERT INTO op VALUES(1,1,1,2,3,4,'amx',1,1000.0,1250.0,4.9999999999999997736e-07,1600.0,262144.0,524288.0,1);
INSERT INTO op VALUES(1,2,1,2,5,4,'amx',1,2000.0,2250.0,4.9999999999999997736e-07,1600.0,262144.0,524288.0,1);
INSERT INTO op VALUES(1,3,1,2,6,4,'amx',1,3000.0,3250.0,4.9999999999999997736e-07,1600.0,262144.0,524288.0,1);
INSERT INTO op VALUES(1,4,1,2,3,4,'amx',1,4000.0,4250.0,4.9999999999999997736e-07,1600.0,262144.0,524288.0,1);
CREATE TABLE activity (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    op INTEGER NOT NULL,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    value INTEGER NOT NULL,
    PRIMARY KEY (run_id, op, metric_id)
) STRICT, WITHOUT ROWID;
INSERT INTO activity VALUES(1,1,80,262144);
INSERT INTO activity VALUES(1,1,94,1);
INSERT INTO activity VALUES(1,2,80,262144);
INSERT INTO activity VALUES(1,2,94,2);
INSERT INTO activity VALUES(1,3,80,262144);
INSERT INTO activity VALUES(1,3,94,3);
INSERT INTO activity VALUES(1,4,80,262144);
INSERT INTO activity VALUES(1,4,94,4);
CREATE TABLE stall (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    op INTEGER NOT NULL,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    value REAL NOT NULL,
    PRIMARY KEY (run_id, op, metric_id)
) STRICT, WITHOUT ROWID;
INSERT INTO stall VALUES(1,0,59,0.625);
INSERT INTO stall VALUES(1,0,62,0.25);
INSERT INTO stall VALUES(1,0,65,0.125);
INSERT INTO stall VALUES(1,1,59,1000.0);
INSERT INTO stall VALUES(1,1,65,600.0);
INSERT INTO stall VALUES(1,2,59,1000.0);
INSERT INTO stall VALUES(1,2,65,600.0);
INSERT INTO stall VALUES(1,3,59,1000.0);
INSERT INTO stall VALUES(1,3,65,600.0);
INSERT INTO stall VALUES(1,4,59,1000.0);
INSERT INTO stall VALUES(1,4,65,600.0);
CREATE TABLE counter (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    op INTEGER NOT NULL,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    value REAL,
    PRIMARY KEY (run_id, op, metric_id)
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES(1,0,4,12345.0);
INSERT INTO counter VALUES(1,0,17,4503599627370497.0);
INSERT INTO counter VALUES(1,1,17,10.0);
INSERT INTO counter VALUES(1,2,17,20.0);
INSERT INTO counter VALUES(1,3,17,30.0);
INSERT INTO counter VALUES(1,4,17,40.0);
CREATE TABLE sample (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    part TEXT NOT NULL,
    instance INTEGER NOT NULL,
    time_ns REAL NOT NULL,
    value REAL,
    PRIMARY KEY (run_id, metric_id, part, instance, time_ns)
) STRICT, WITHOUT ROWID;
INSERT INTO sample VALUES(1,20,'soc',0,10.0,3.5);
INSERT INTO sample VALUES(1,20,'soc',0,20.0,4.5);
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
INSERT INTO transfer VALUES(1,1,30.0,7,'dram',0,'amx',1,16384,9.9999999999999995472e-07);
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
INSERT INTO dvfs_change VALUES(1,2,40.0,'cpu',0,600.0,3204.0,NULL,8);
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
    created TEXT NOT NULL
) STRICT;
CREATE TABLE characteristic_parameter (
    characteristic_id INTEGER NOT NULL REFERENCES characteristic (id) ON DELETE CASCADE,
    key_id INTEGER NOT NULL REFERENCES name (id),
    value REAL NOT NULL,
    PRIMARY KEY (characteristic_id, key_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE characteristic_value (
    characteristic_id INTEGER NOT NULL REFERENCES characteristic (id) ON DELETE CASCADE,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    value REAL NOT NULL,
    PRIMARY KEY (characteristic_id, metric_id)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE baseline (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;
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
    PRIMARY KEY (sweep_id, point)
) STRICT, WITHOUT ROWID;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('run',1);
CREATE INDEX chip_by_name ON chip (chip);
CREATE INDEX run_by_config ON run (config_hash);
CREATE INDEX run_by_chip ON run (chip_id);
CREATE INDEX run_by_program ON run (program_id);
CREATE INDEX run_unfinished ON run (status) WHERE status = 'running';
CREATE INDEX characteristic_by_base ON characteristic (base_hash);
CREATE INDEX validation_by_measurement ON validation (measurement_id);
CREATE INDEX validation_by_run ON validation (run_id);
CREATE INDEX sweep_point_by_run ON sweep_point (run_id);
CREATE VIEW v_run_summary AS
SELECT r.id AS run_id, r.status, r.workload, coalesce(r.chip, c.chip) AS chip, c.modified AS chip_modified, r.device,
       r.unit, r.precision, r.detail, r.mode, r.seconds, r.seconds_low, r.seconds_high, r.gflops, r.dram_gbps, r.joules,
       r.watts_avg, r.celsius_max, r.tokens_per_second, r.bound_by, r.host_seconds, r.version, r.seed, r.started, r.error
FROM run r LEFT JOIN chip c ON c.id = r.chip_id
ORDER BY r.id;
CREATE VIEW v_op AS
SELECT o.run_id, o.op, n.text AS name, k.text AS kernel, s.text AS shape, p.text AS precision, o.part AS unit, o.instance,
       o.submitted_ns, o.started_ns, o.seconds, o.cycles, o.macs, o.flops, o.repeats,
       o.flops / nullif(o.seconds, 0) / 1e9 AS gflops,
       o.seconds / nullif(sum(o.seconds) OVER (PARTITION BY o.run_id), 0) AS share
FROM op o
LEFT JOIN name n ON n.id = o.name_id LEFT JOIN name k ON k.id = o.kernel_id
LEFT JOIN name s ON s.id = o.shape_id LEFT JOIN name p ON p.id = o.precision_id;
CREATE VIEW v_op_time AS
SELECT run_id, kernel, shape, precision, unit, sum(repeats) AS ops, sum(seconds) AS seconds, sum(share) AS share,
       sum(flops) / nullif(sum(seconds), 0) / 1e9 AS gflops
FROM v_op GROUP BY run_id, kernel, shape, precision, unit
ORDER BY run_id, seconds DESC;
CREATE VIEW v_stalls AS
SELECT t.run_id, m.name AS reason, t.value AS fraction, m.definition
FROM stall t JOIN metric m ON m.id = t.metric_id WHERE t.op = 0
ORDER BY t.run_id, t.value DESC;
CREATE VIEW v_op_stalls AS
SELECT t.run_id, t.op, k.text AS kernel, o.part AS unit, m.name AS reason, t.value AS cycles,
       t.value / nullif(o.cycles, 0) AS fraction
FROM stall t JOIN metric m ON m.id = t.metric_id JOIN op o ON o.run_id = t.run_id AND o.op = t.op
LEFT JOIN name k ON k.id = o.kernel_id;
CREATE VIEW v_counters AS
SELECT t.run_id, m.name, t.value, m.unit, m.definition
FROM counter t JOIN metric m ON m.id = t.metric_id WHERE t.op = 0
ORDER BY t.run_id, m.name;
CREATE VIEW v_op_counters AS
SELECT t.run_id, t.op, m.name, t.value, m.unit, m.definition
FROM counter t JOIN metric m ON m.id = t.metric_id WHERE t.op > 0;
CREATE VIEW v_activity AS
SELECT t.run_id, m.name, sum(t.value) AS value, m.unit, m.definition
FROM activity t JOIN metric m ON m.id = t.metric_id
GROUP BY t.run_id, m.id
ORDER BY t.run_id, m.name;
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
CREATE VIEW v_validation AS
SELECT v.id, m.label, m.chip, m.unit, m.workload, m.precision, m.shape, m.metric, m.value AS measured, v.predicted,
       m.value_unit, v.ape, v.predicted / nullif(m.value, 0) - 1 AS bias,
       m.value BETWEEN v.predicted_low AND v.predicted_high AS inside_interval, v.fitted, v.unmodelled, v.version,
       v.run_id, s.citation AS source
FROM validation v JOIN measurement m ON m.id = v.measurement_id JOIN source s ON s.id = m.source_id;
CREATE VIEW v_accuracy AS
SELECT version, chip, unit, fitted, count(*) AS rows_all, count(predicted) AS modelled,
       1.0 * count(predicted) / count(*) AS coverage, avg(ape) AS mape, max(ape) AS worst_ape, avg(bias) AS bias,
       avg(CASE WHEN ape IS NULL THEN NULL ELSE ape <= 0.10 END) AS within10,
       avg(CASE WHEN ape IS NULL THEN NULL ELSE ape <= 0.25 END) AS within25,
       avg(inside_interval) AS interval_coverage
FROM v_validation GROUP BY version, chip, unit, fitted;
CREATE VIEW v_sweep AS
SELECT w.id AS sweep_id, w.name, w.workload, p.point, p.settings, p.status, p.run_id, r.seconds, r.joules, r.gflops,
       r.watts_avg, r.bound_by, coalesce(p.error, r.error) AS error
FROM sweep w JOIN sweep_point p ON p.sweep_id = w.id LEFT JOIN run r ON r.id = p.run_id;
CREATE VIEW v_baseline AS
SELECT b.name AS baseline, v.chip, n.text AS key, v.value, v.tolerance, b.version, b.created
FROM baseline b JOIN baseline_value v ON v.baseline_id = b.id JOIN name n ON n.id = v.key_id;
COMMIT;
