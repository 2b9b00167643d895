/* Progress of a run: which events listeners get, how often, and that work is told of by each kind of run. */
#include "isa/array_count.h"
#include "sim/run/run.h"
#include "sim/run/run_progress.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

struct heard {
    unsigned events;
    struct event last;
    char what[160];
};

static void hear(void *context, const struct event *event)
{
    struct heard *const h = context;
    if (event->kind != EVENT_PROGRESS)
        return;
    h->events++;
    h->last = *event;
    snprintf(h->what, sizeof h->what, "%s", event->progress.what);
}

static struct event_bus *bus_with(struct heard *h, bool wants_progress)
{
    struct event_bus *const bus = event_bus_create();
    CU_ASSERT_FATAL(bus && event_bus_subscribe(bus, &(struct event_listener){hear, h, wants_progress}));
    return bus;
}

static void test_nobody_waits(void)
{
    struct run_progress p;
    struct heard h = {0};
    struct event_bus *const bus = bus_with(&h, false);
    CU_ASSERT_PTR_NULL(run_progress_begin(&p, NULL, 1, "gemm"));
    CU_ASSERT_PTR_NULL(run_progress_begin(&p, bus, 1, "gemm"));
    work_progress_tell(NULL, "timing", 0.5, 1);
    event_bus_free(bus);
}

/* At most ten events a second of the host, with what is done and since when. */
static void test_events(void)
{
    enum { PAUSE_US = 110000 };
    struct run_progress p;
    struct heard h = {0};
    struct event_bus *const bus = bus_with(&h, true);
    const struct work_progress *const work = run_progress_begin(&p, bus, 3, "gemm");
    CU_ASSERT_PTR_NOT_NULL_FATAL(work);
    work_progress_tell(work, "executing", 0.25, 0);
    CU_ASSERT_EQUAL(h.events, 0); /* too soon */
    CU_ASSERT(!work_progress_due(work));
    usleep(PAUSE_US);
    CU_ASSERT(work_progress_due(work));
    work->state(work->context, &(struct work_state){5, 60, 7, 0.5});
    work_progress_tell(work, "executing", 0.5, 0);
    CU_ASSERT(h.events == 1 && h.last.run == 3 && h.last.progress.fraction == 0.5 && h.last.sequence == 0);
    CU_ASSERT(h.last.progress.state.watts == 5 && h.last.progress.state.celsius == 60);
    CU_ASSERT_STRING_EQUAL(h.what, "executing gemm");
    CU_ASSERT(h.last.progress.host_seconds >= 0.11 && h.last.progress.part_seconds >= 0.1);
    work_progress_tell(work, "timing", 0.125, 5e6);
    CU_ASSERT_EQUAL(h.events, 1);
    usleep(PAUSE_US);
    work_progress_tell(work, "timing", NAN, 7e6);
    CU_ASSERT(h.events == 2 && isnan(h.last.progress.fraction) && h.last.time_ns == 7e6);
    CU_ASSERT_STRING_EQUAL(h.what, "timing gemm");
    CU_ASSERT(h.last.progress.part_seconds < h.last.progress.host_seconds - 0.1); /* another part of the run */
    event_bus_free(bus);
}

struct told {
    unsigned calls;
    double least, most, time_ns;
    char doing[40][32];
    unsigned words;
    struct work_state state; /* told last */
    unsigned states, asked;
    double most_w;
};

/* Somebody who always wants to know. */
static bool always(void *context)
{
    (void)context;
    return true;
}

static void take_state(void *context, const struct work_state *state)
{
    struct told *const t = context;
    t->state = *state;
    t->states++;
    t->most_w = fmax(t->most_w, state->watts);
}

static void take(void *context, const char *doing, double fraction, double time_ns, bool *stop)
{
    struct told *const t = context;
    (void)stop;
    t->calls++;
    t->least = fmin(t->least, fraction);
    t->most = fmax(t->most, fraction);
    t->time_ns = fmax(t->time_ns, time_ns);
    if (t->words < ARRAY_COUNT(t->doing) && (!t->words || strcmp(t->doing[t->words - 1], doing) != 0))
        snprintf(t->doing[t->words++], sizeof t->doing[0], "%s", doing);
}

static bool was_doing(const struct told *t, const char *doing)
{
    for (unsigned i = 0; i < t->words; i++)
        if (strcmp(t->doing[i], doing) == 0)
            return true;
    return false;
}

/* A launch on the GPU tells what it draws: towards its end about what its result says of the time in which the unit is busy. */
static void check_state(const struct told *t, const struct run_result *r)
{
    CHECK(t->most_w < 1.5 * r->watts_peak, "%g W at some time, %g W at the end", t->most_w, r->watts_peak);
    CHECK(t->states > 10 && fabs(t->state.watts / r->watts_peak - 1) < 0.1, "%u states, %g W, at the end %g W", t->states,
          t->state.watts, r->watts_peak);
    CHECK(fabs(t->state.utilisation / (r->utilisation[PART_GPU] * r->seconds / r->device_seconds) - 1) < 0.1, "%g for %g",
          t->state.utilisation, r->utilisation[PART_GPU]);
    CHECK(t->state.dram_gbps >= 0 && isnan(t->state.celsius), "%g GB/s, %g C", t->state.dram_gbps, t->state.celsius);
}

/* Each kind of run tells, and its answer is the same whether anybody waits. */
static void test_kinds(void)
{
    static const char digits[] = ORCHARD_SOURCE_DIR "/tests/examples/models/digits.onnx";
    static const char *const batch = "batch=1";
    static const struct {
        const char *workload, *unit;
        enum run_mode mode;
        const char *first, *second;
        bool fraction, state;
    } rows[] = {{"gemm:96x96x96", "amx", RUN_FULL, "warming up for", "timing", false, false},
                {"gemm:96x96x96", "amx", RUN_FUNCTIONAL, "executing", "executing", false, false},
                {"stream-triad:1M", "cpu", RUN_FULL, "warming up for", "timing", false, false},
                {"gemm:512x512x512", "gpu", RUN_FULL, "executing", "timing", true, true},
                {"gemm:128x128x128", "gpu", RUN_FUNCTIONAL, "executing", "executing", true, false},
                {"matmul:64x64x64", "ane", RUN_FULL, "executing", "timing", false, false},
                {digits, "gpu", RUN_FULL, "computing", "computing", true, false},
                {digits, "cpu", RUN_FULL, "computing", "computing", true, false},
                {digits, "gpu", RUN_TIMING, "listing the kernels of", "timing the kernels of", false, false}};
    struct orch_error error = {0};
    struct chip_db *const chips = chip_db_open(NULL, &error);
    struct chip *const chip = chips ? chip_open(chips, "m1", NULL, &error) : NULL;
    CHECK(chip != NULL, "%s", error.text);
    for (size_t i = 0; chip && i < ARRAY_COUNT(rows); i++) {
        struct told t = {.least = INFINITY, .most = -INFINITY};
        const struct work_progress progress = {take, &t, always, take_state};
        double seconds[2] = {0}, joules[2];
        uint64_t checksum[2] = {0};
        for (int waits = 0; waits < 2; waits++) {
            const struct run_request q = {.chip = chip,
                                          .workload = rows[i].workload,
                                          .unit = rows[i].unit,
                                          .mode = rows[i].mode,
                                          .dims = &batch,
                                          .dim_count = rows[i].workload == digits,
                                          .progress = waits ? &progress : NULL};
            struct run *const run = run_prepare(&q, &error);
            struct run_result r;
            run_result_init(&r);
            CHECK(run && run_execute(run, NULL, 1, &r, &error), "%s on %s: %s", rows[i].workload, rows[i].unit, error.text);
            seconds[waits] = rows[i].mode == RUN_FUNCTIONAL ? 0 : r.seconds;
            joules[waits] = r.joules;
            if (waits && rows[i].state)
                check_state(&t, &r);
            checksum[waits] = r.checksum.count ? r.checksum.item[0].fnv1a64 : 0;
            run_result_free(&r);
            run_free(run);
        }
        CHECK(t.calls > 0 && was_doing(&t, rows[i].first) && was_doing(&t, rows[i].second), "%s on %s: %u calls, first %s",
              rows[i].workload, rows[i].unit, t.calls, t.doing[0]);
        CHECK(!rows[i].fraction || (t.least >= 0 && t.most <= 1 && t.most > 0.5), "%s: %g to %g", rows[i].unit, t.least, t.most);
        CU_ASSERT(seconds[0] == seconds[1] && checksum[0] == checksum[1]);
        CHECK(memcmp(&joules[0], &joules[1], sizeof joules[0]) == 0, "%g and %g J", joules[0], joules[1]);
    }
    chip_close(chip);
    chip_db_close(chips);
}

/* Somebody who looks at moments that have nothing to do with the simulation. */
static bool now_and_then(void *context)
{
    struct told *const t = context;
    return ++t->asked % 61 == 0;
}

/* Launches of which parts stand for the rest have the same time and joules whether anybody looks at them on their way. */
static void test_sampled(void)
{
    static const char *const workload[] = {"layernorm:16384x512", "gemm:512x512x4096"}; /* skips, leaps */
    struct orch_error error = {0};
    struct chip_db *const chips = chip_db_open(NULL, &error);
    struct chip *const chip = chips ? chip_open(chips, "m1", NULL, &error) : NULL;
    CHECK(chip != NULL, "%s", error.text);
    for (size_t i = 0; chip && i < ARRAY_COUNT(workload); i++) {
        struct told t = {.least = INFINITY, .most = -INFINITY};
        const struct work_progress progress = {take, &t, now_and_then, take_state};
        double seconds[2] = {0}, joules[2] = {0};
        for (int waits = 0; waits < 2; waits++) {
            const struct run_request q = {.chip = chip,
                                          .workload = workload[i],
                                          .unit = "gpu",
                                          .mode = RUN_TIMING,
                                          .detail = "sampled",
                                          .cold = true,
                                          .threads = 1,
                                          .progress = waits ? &progress : NULL};
            struct run *const run = run_prepare(&q, &error);
            struct run_result r;
            run_result_init(&r);
            CHECK(run && run_execute(run, NULL, 1, &r, &error), "%s: %s", workload[i], error.text);
            CHECK(strcmp(r.detail, "sampled") == 0, "%s: %s", workload[i], r.detail);
            seconds[waits] = r.seconds;
            joules[waits] = r.joules;
            run_result_free(&r);
            run_free(run);
        }
        CHECK(t.states > 100, "%s: %u states", workload[i], t.states);
        CHECK(seconds[0] == seconds[1] && joules[0] == joules[1], "%s: %.17g and %.17g s, %.17g and %.17g J", workload[i],
              seconds[0], seconds[1], joules[0], joules[1]);
    }
    chip_close(chip);
    chip_db_close(chips);
}

static const struct suite_test tests[] = {
    {"without listeners nothing is told", test_nobody_waits},
    {"events come now and then and say what is done", test_events},
    {"every kind of run tells", test_kinds},
    {"who looks at a sampled launch does not change it", test_sampled},
};
SUITE_MAIN("run progress", tests)
