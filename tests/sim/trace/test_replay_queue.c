/* Launches in queues of units against closed forms, and the memory that a long replay needs. */
#include "sim/trace/replay_internal.h"
#include "tests/support/suite.h"

#include "traces/trace_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define DRAM_GBPS 100.0

struct log {
    double end_ns[64];
    unsigned count;
};

static void on_done(void *context, const struct replay_done *d)
{
    struct log *log = context;
    if (d->op < 64)
        log->end_ns[d->op] = d->end_ns;
    log->count++;
}

struct ask {
    enum orch_part part;
    unsigned stream;
    double submit_ns, overhead_ns, busy_ns, gbps;
    uint64_t after;
};

/* Runs launches 1, 2, ... and returns when they end. */
static struct log run(const struct ask *asks, unsigned count)
{
    struct log log = {.count = 0};
    struct orch_error error = {0};
    struct replay_queue *q = replay_queue_create(DRAM_GBPS, on_done, &log);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    for (unsigned i = 0; i < count; i++) {
        const struct ask *a = &asks[i];
        const struct replay_launch launch = {.op = i + 1,
                                             .stream = a->stream,
                                             .submit_ns = a->submit_ns,
                                             .after = &a->after,
                                             .after_count = a->after ? 1 : 0,
                                             .cost = {.part = a->part,
                                                      .busy_ns = a->busy_ns,
                                                      .overhead_ns = a->overhead_ns,
                                                      .dram_bytes = a->gbps * a->busy_ns,
                                                      .low = 1,
                                                      .high = 1}};
        CHECK(replay_queue_make_room(q, i + 1, false, &error) && replay_queue_add(q, &launch, &error), "%s", error.text);
    }
    CHECK(replay_queue_make_room(q, 0, true, &error), "%s", error.text);
    replay_queue_free(q);
    CU_ASSERT_EQUAL(log.count, count);
    return log;
}

#define ENDS(log, op, ns) CHECK(fabs((log).end_ns[op] - (ns)) < 1e-6, "launch %d ends at %g", op, (log).end_ns[op])

static void test_one_thing_at_a_time(void)
{
    const struct ask asks[] = {{PART_GPU, 0, 0, 10, 100, 0, 0},
                               {PART_GPU, 1, 0, 10, 50, 0, 0},
                               {PART_CPU, 0, 0, 0, 70, 0, 0},
                               {PART_CPU, 1, 0, 0, 80, 0, 0}};
    const struct log log = run(asks, 4);
    ENDS(log, 1, 110);
    ENDS(log, 2, 160); /* its overhead passes while the first one runs */
    ENDS(log, 3, 70);
    ENDS(log, 4, 80);
}

static void test_dependencies(void)
{
    const struct ask asks[] = {{PART_GPU, 0, 0, 10, 100, 0, 0},
                               {PART_ANE, 0, 0, 5, 20, 0, 1},
                               {PART_GPU, 0, 0, 10, 30, 0, 1},
                               {PART_GPU, 0, 0, 10, 40, 0, 2}};
    const struct log log = run(asks, 4);
    ENDS(log, 2, 110 + 5 + 20); /* after a launch on another unit, the overhead comes afterwards */
    ENDS(log, 3, 110 + 30);
    ENDS(log, 4, 135 + 10 + 40);
}

static void test_arrivals(void)
{
    const struct ask asks[] = {{PART_GPU, 0, 0, 0, 10, 0, 0}, {PART_GPU, 0, 1000, 5, 10, 0, 0}, {PART_GPU, 0, 1001, 5, 10, 0, 0}};
    const struct log log = run(asks, 3);
    ENDS(log, 1, 10);
    ENDS(log, 2, 1015);
    ENDS(log, 3, 1025);
}

/* 80 and 60 GB/s ask for 100: both get their fair 50 until one has ended. */
static void test_bandwidth(void)
{
    const struct ask asks[] = {{PART_GPU, 0, 0, 0, 100, 80, 0}, {PART_CPU, 0, 0, 0, 100, 60, 0}, {PART_ANE, 0, 0, 0, 100, 0, 0}};
    const struct log log = run(asks, 3);
    ENDS(log, 3, 100);
    ENDS(log, 2, 120);               /* 6000 bytes at 50 */
    ENDS(log, 1, 120 + 2000.0 / 80); /* 6000 of 8000 bytes by then, the rest alone */
    const struct ask small[] = {{PART_GPU, 0, 0, 0, 100, 90, 0}, {PART_CPU, 0, 0, 0, 100, 10, 0}};
    const struct log fits = run(small, 2);
    ENDS(fits, 1, 100);
    ENDS(fits, 2, 100);
}

/* A launch may wait for one that ended long ago, and numbers may be left out. */
static void test_numbers(void)
{
    struct log log = {.count = 0};
    struct orch_error error = {0};
    struct replay_queue *q = replay_queue_create(DRAM_GBPS, on_done, &log);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    uint64_t op = 1;
    for (unsigned i = 0; i < 300000; i++, op += i % 1000 == 0 ? 500000 : 1 + i % 3) {
        const uint64_t after[2] = {1, op - 1};
        const struct replay_launch launch = {
            .op = op, .after = after, .after_count = op > 2 ? 2 : 0, .cost = {.part = i & 1 ? PART_GPU : PART_CPU, .busy_ns = 1}};
        if (!replay_queue_make_room(q, op, false, &error) || !replay_queue_add(q, &launch, &error))
            break;
    }
    CHECK(replay_queue_make_room(q, 0, true, &error) && log.count == 300000, "%u done: %s", log.count, error.text);
    CU_ASSERT(replay_queue_now(q) >= 150000 && replay_queue_now(q) <= 300000);
    replay_queue_free(q);
}

static bool write_long(const char *path, uint64_t launches)
{
    const struct trace_header header = {.workload = "long", .source = "test"};
    struct trace_error error;
    struct trace_record r;
    FILE *const out = fopen(path, "wb");
    struct trace_writer *w = out ? trace_writer_create(out, path, &header, false, &error) : NULL;
    bool ok = w != NULL;
    for (uint64_t op = 1; ok && op <= launches; op++) {
        trace_record_init(&r, TRACE_LAUNCH);
        r.launch = (struct trace_launch){.op = op,
                                         .name = "c",
                                         .workload = op & 1 ? "copy:4K" : "softmax:16x64",
                                         .unit = "gpu",
                                         .stream = op % 5,
                                         .work = "kernel",
                                         .bytes = 4096};
        ok = trace_write(w, &r, &error);
    }
    ok = ok && trace_writer_finish(w, &error);
    trace_writer_free(w);
    return out && fclose(out) == 0 && ok;
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static double replay(const char *path, struct trace_replay_account *account)
{
    struct orch_error error = {0};
    struct run_result result;
    struct chip_db *chips = chip_db_open(NULL, &error);
    struct chip *chip = chips ? chip_open(chips, "m1", NULL, &error) : NULL;
    const struct trace_replay_request q = {
        .path = path, .chip = chip, .chip_name = "m1", .chips = chips, .common = {.threads = 1, .seed = 1}};
    run_result_init(&result);
    const bool ok = chip && trace_replay(&q, NULL, 1, &result, account, &error);
    CHECK(ok, "%s", error.text);
    const double seconds = result.seconds;
    run_result_free(&result);
    chip_close(chip);
    chip_db_close(chips);
    return seconds;
}

#ifdef __SANITIZE_ADDRESS__
/* The sanitizer keeps 256 MiB of freed memory by default, which would be all that the peak shows. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1";
}
#endif

/* Ten times the length takes the same memory. */
static void test_memory(void)
{
    char folder[] = "/tmp/orchard_replay_XXXXXX", path[64];
    struct trace_replay_account account;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/long.trace", folder);
    CU_ASSERT(write_long(path, 100000));
    const double shorter = replay(path, &account);
    const long before = peak_kib();
    CU_ASSERT(write_long(path, 1000000));
    const double longer = replay(path, &account);
    CHECK(peak_kib() - before < 8 << 10, "%ld KiB more for ten times as many launches", peak_kib() - before);
    CU_ASSERT(account.launches == 1000000 && account.works[0] == 1000000 && account.distinct == 2);
    CHECK(fabs(longer / shorter / 10 - 1) < 0.01, "%g s, ten times as many %g s", shorter, longer);
    CU_ASSERT(suite_remove(folder));
}

static const struct suite_test tests[] = {
    {"a GPU does one thing at a time, cores do theirs", test_one_thing_at_a_time},
    {"launches wait for others of their unit and of other units", test_dependencies},
    {"launches wait for their recorded submission", test_arrivals},
    {"DRAM is shared fairly", test_bandwidth},
    {"chains may be long, and numbers may be left out", test_numbers},
    {"memory does not grow with the trace", test_memory},
};
SUITE_MAIN("replay_queue", tests)
