/* Runs for the suites of the performance database. Every number of theirs is known, and every kind of event occurs. */
#ifndef ORCHARD_TESTS_SIM_DB_EXAMPLE_H
#define ORCHARD_TESTS_SIM_DB_EXAMPLE_H

#include "sim/base/check.h"
#include "sim/base/event.h"
#include "sim/db/db.h"
#include "sim/listen/db_writer.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes a fresh folder, which example_remove deletes with everything inside. */
static inline void example_folder(char path[64])
{
    snprintf(path, 64, "/tmp/orchard-db-XXXXXX");
    if (!mkdtemp(path))
        abort();
}

static inline void example_remove(const char *path)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", path, path);
    if (system(command) != 0)
        printf("  left behind: %s\n", path);
}

static inline const char *example_file(const char *folder, const char *name)
{
    static char path[4][256];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static inline struct orch_db *example_open(const char *path, enum db_mode mode)
{
    struct orch_error error = {0};
    struct orch_db *db = db_open(path, mode, &error);
    CHECK(db != NULL, "%s", error.text);
    return db;
}

static inline struct event_run_begin example_begin(uint64_t seed)
{
    return (struct event_run_begin){.workload = "gemm:64x64x64",
                                    .chip_id = "m1_4p4e_8g",
                                    .chip_hash = "00000000c0ffee00",
                                    .program_name = "gemm_f32",
                                    .program_kind = "kernel",
                                    .program_hash = "0123456789abcdef0123456789abcdef",
                                    .device = NULL,
                                    .unit = "amx",
                                    .precision = "f32",
                                    .detail = "instr",
                                    .mode = "full",
                                    .options = "{\"repeat\":1}",
                                    .version = "0.1.0",
                                    .seed = seed,
                                    .host = "example"};
}

/* Every field has a value of its own, so that a mix-up of two fields shows. */
/* Two kernels, one with lines, and a warning. */
static inline struct line_profile *example_profile(void)
{
    char text[] = "device_load 0", kind[] = "uncoalesced", place[] = "a.metal:3", evidence[] = "32 lines", fix[] = "turn it";
    const struct profile_instruction one = {.offset = 4,
                                            .file = 1,
                                            .line = 3,
                                            .text = text,
                                            .issued = 77,
                                            .lanes = 31.5,
                                            .units = 32,
                                            .least_units = 1,
                                            .cycles = {10.25, 99.5}},
                                     two = {.offset = 12,
                                            .issued = 0,
                                            .lanes = (double)NAN,
                                            .units = (double)NAN,
                                            .least_units = (double)NAN};
    struct line_profile *const p = line_profile_create();
    line_profile_add_reason(p, "issue");
    line_profile_add_reason(p, "memory");
    struct profile_kernel *k = line_profile_add_kernel(p, "first");
    k->timed_share = 0.25;
    k->idle_cycles = 1234.5;
    profile_kernel_add_file(k, "a.h");
    profile_kernel_add_file(k, "a.metal");
    profile_kernel_add_text(k, 1, 3, "\tx = a[i];");
    profile_kernel_add_instruction(k, &one);
    profile_kernel_add_instruction(k, &two);
    k = line_profile_add_kernel(p, "second");
    profile_kernel_add_instruction(k, &one);
    k->instruction->file = k->instruction->line = 0;
    line_profile_add_warning(
        p, &(struct profile_warning){
               .kind = kind, .place = place, .kernel = 0, .file = 1, .line = 3, .offset = 4, .evidence = evidence, .fix = fix});
    return p;
}

static inline void example_result(struct run_result *r)
{
    run_result_init(r);
    run_result_set_text(&r->chip, "m1_4p4e_8g");
    run_result_set_text(&r->workload, "gemm:64x64x64");
    run_result_set_text(&r->unit, "amx");
    run_result_set_text(&r->precision, "f32");
    run_result_set_text(&r->detail, "instr");
    run_result_set_text(&r->mode, "full");
    run_result_set_text(&r->bound_by, "amx.array");
    char *base = (char *)r;
    for (size_t i = 0; i < run_number_field_count(); i++) {
        const double number = 1.0 / 3 + (double)i * 1000;
        memcpy(base + run_number_field(i)->offset, &number, sizeof number);
    }
    r->seconds_low = 0.2;
    r->seconds = 0.25;
    r->seconds_high = 0.3;
    r->tokens_per_second = (double)NAN;
    r->prefill_seconds = (double)NAN;
    r->flops = 524288;
    r->utilisation[PART_CPU] = 0.125;
    r->utilisation[PART_AMX] = 0.75;
    r->utilisation[PART_DRAM] = 0.0625;
    run_values_set(&r->joules_by, "amx", 0.5);
    run_values_set(&r->joules_by, "dram", 0.25);
    run_values_set(&r->stalls, "amx.array", 0.625);
    run_values_set(&r->stalls, "amx.load_data", 0.25);
    run_values_set(&r->stalls, "amx.issue", 0.125);
    run_values_set(&r->counters, "cpu.instructions", 4503599627370497.0);
    run_values_set(&r->counters, "mem.l2_hits", 12345);
    run_placement_add(&r->placement, "gemm", "amx", "gemm_f32_16x16", "asked for");
    run_placement_add(&r->placement, "bias", "cpu", NULL, "not on amx");
    run_assumption_add(&r->assumptions, "amx.clock_ghz", "inferred", "3 % of the time");
    run_checksum_add(&r->checksum, "c", UINT64_C(0xfedcba9876543210));
    r->profile = example_profile();
}

static inline struct event_op_end example_op(uint64_t op, const struct activity *activity, const struct event_value stalls[2],
                                             const struct event_value *counter)
{
    static const char *const shapes[] = {"64x64x64", "32x32x32", "16x16x16"};
    return (struct event_op_end){
        .op = {op, "gemm", "gemm_f32_16x16", shapes[op % 3], "f32", {PART_AMX, 1}, (double)op * 1000, (double)op * 1000 + 250},
        .seconds = 5e-7,
        .cycles = 1600,
        .macs = 262144,
        .flops = 524288,
        .repeats = 1,
        .activity = activity,
        .stalls = {stalls, 2},
        .counters = {counter, 1}};
}

static inline void example_emit_op(struct event_bus *bus, uint64_t run, uint64_t op)
{
    struct activity activity = {{0}};
    activity.count[ACT_AMX_F32_MACS] = 262144;
    activity.count[ACT_DRAM_READ_BYTES] = op;
    const struct event_value stalls[2] = {{"amx.array", "cycles", 1000}, {"amx.issue", "cycles", 600}};
    const struct event_value counter = {"cpu.instructions", "instructions", (double)op * 10};
    struct event e = {.kind = EVENT_OP_END, .run = run, .time_ns = (double)op * 1000 + 750};
    e.op_end = example_op(op, &activity, stalls, &counter);
    const struct event launch = {.kind = EVENT_LAUNCH, .run = run, .time_ns = e.op_end.op.submitted_ns, .launch = e.op_end.op};
    const struct event begin = {.kind = EVENT_OP_BEGIN, .run = run, .time_ns = e.op_end.op.started_ns, .op_begin = e.op_end.op};
    event_bus_emit(bus, &launch);
    event_bus_emit(bus, &begin);
    event_bus_emit(bus, &e);
}

static inline void example_emit_rest(struct event_bus *bus, uint64_t run)
{
    struct event e = {.kind = EVENT_SAMPLE, .run = run, .time_ns = 10};
    e.sample = (struct event_sample){"power", "W", {PART_SOC, 0}, 3.5};
    event_bus_emit(bus, &e);
    e.time_ns = 20;
    e.sample.value = 4.5;
    event_bus_emit(bus, &e);
    e = (struct event){.kind = EVENT_MEM_TRANSFER, .run = run, .time_ns = 30};
    e.mem_transfer = (struct event_mem_transfer){"weights", {PART_DRAM, 0}, {PART_AMX, 1}, 16384, 1e-6};
    event_bus_emit(bus, &e);
    e = (struct event){.kind = EVENT_DVFS_CHANGE, .run = run, .time_ns = 40};
    e.dvfs_change = (struct event_dvfs_change){{PART_CPU, 0}, 600, 3204, (double)NAN, "start"};
    event_bus_emit(bus, &e);
    e = (struct event){.kind = EVENT_PROGRESS, .run = run, .time_ns = 50};
    e.progress = (struct event_progress){.fraction = 0.5, .host_seconds = 2, .part_seconds = 2, .what = "timing"};
    event_bus_emit(bus, &e);
}

static inline void example_emit_fault(struct event_bus *bus, uint64_t run)
{
    struct event e = {.kind = EVENT_FAULT, .run = run, .time_ns = 60};
    e.fault = (struct event_fault){{PART_CPU, 3}, "unmapped", UINT64_C(0x100004000), UINT64_C(0xfffffffffffffff8), "load"};
    event_bus_emit(bus, &e);
}

static inline void example_emit_end(struct event_bus *bus, uint64_t run, enum event_run_status status)
{
    struct run_result r;
    example_result(&r);
    struct event e = {.kind = EVENT_RUN_END, .run = run, .time_ns = 2.5e8};
    e.run_end =
        (struct event_run_end){status, status == EVENT_RUN_DONE ? NULL : "it went wrong", status == EVENT_RUN_DONE ? &r : NULL};
    event_bus_emit(bus, &e);
    run_result_free(&r);
}

/* Writes a whole run with `ops` ops and returns its id; 0 fills *error. */
static inline int64_t example_record(struct orch_db *db, uint64_t seed, uint64_t ops, enum event_run_status status, size_t chunk,
                                     struct orch_error *error)
{
    struct event_bus *bus = event_bus_create();
    struct db_writer *writer = db_writer_create(db);
    int64_t run_id = 0;
    if (chunk)
        db_writer_set_chunk(writer, chunk);
    event_bus_subscribe(bus, &(struct event_listener){db_writer_on_event, writer, false});
    struct event e = {.kind = EVENT_RUN_BEGIN, .run = 1};
    e.run_begin = example_begin(seed);
    event_bus_emit(bus, &e);
    for (uint64_t op = 1; op <= ops; op++)
        example_emit_op(bus, 1, op);
    example_emit_rest(bus, 1);
    if (status == EVENT_RUN_FAILED)
        example_emit_fault(bus, 1);
    example_emit_end(bus, 1, status);
    db_writer_result(writer, 1, &run_id, error);
    db_writer_free(writer);
    event_bus_free(bus);
    return run_id;
}

/* The number that a query gives, -12345 when it gives none. */
static inline double example_number(struct orch_db *db, const char *sql)
{
    struct orch_error error = {0};
    sqlite3_stmt *row = db_query(db, &error, sql, "");
    CHECK(row != NULL, "%s", error.text);
    const double number = row && sqlite3_step(row) == SQLITE_ROW ? sqlite3_column_double(row, 0) : -12345;
    sqlite3_finalize(row);
    return number;
}

/* Runs a function in a process of its own. Returns its exit code, or 1000 + signal. */
static inline int example_in_child(int (*run)(const char *path), const char *path)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(run(path));
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        return -1;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Checks that `orchard db check` finds no fault in the file. */
static inline void example_expect_healthy(const char *path)
{
    struct orch_error error = {0};
    struct check_report report = {0};
    struct orch_db *db = example_open(path, DB_EXISTING);
    CHECK(db && db_check(db, &report, &error), "%s", error.text);
    CHECK(report.failed == 0 && report.passed >= 10, "%lu passed, %lu failed: %s", report.passed, report.failed,
          report.failures.count ? report.failures.text[0] : "");
    check_report_free(&report);
    db_close(db);
}

#endif
