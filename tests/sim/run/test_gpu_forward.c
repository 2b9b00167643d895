/* Launches that are timed from windows: the schedule that tells where slots are, the threadgroups that are moved there, and the
 * whole against launches of which every threadgroup is timed. */
#include "isa/array_count.h"
#include "sim/workload/gpu/gpu_convoy.h"
#include "sim/workload/gpu/gpu_drift.h"
#include "sim/workload/gpu/gpu_schedule.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EACH_BOUND   0.025
#define MEAN_BOUND   0.015
#define CONVOY_BOUND 0.03

static struct chip_db *db;

/* ---- the schedule ---- */

struct pieces {
    double end[64];     /* by slot: where its threadgroup has come */
    uint64_t group[64]; /* and which one it is */
    double sum;
    const struct gpu_work *work;
    unsigned bad;
};

/* Pieces of a slot follow one another without a gap, and a threadgroup ends before the next one begins. */
static bool check_piece(void *context, unsigned slot, uint64_t group, double from, double to)
{
    struct pieces *p = context;
    if (group != p->group[slot]) {
        p->bad += fabs(p->end[slot] - gpu_work_of(p->work, p->group[slot])) > 1e-6 || from > 0;
        p->group[slot] = group;
        p->end[slot] = 0;
    }
    p->bad += fabs(from - p->end[slot]) > 1e-6 || to < from;
    p->end[slot] = to;
    p->sum += to - from;
    return true;
}

static void test_forward(void)
{
    const struct gpu_work work = {.number = {3, {0, 500, 999}, {100, 300, 200}}};
    struct gpu_schedule *s = gpu_schedule_create(5, 4, 1000, &work);
    struct pieces p = {.work = &work};
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    for (unsigned i = 0; i < 20; i++)
        p.group[i] = gpu_schedule_slots(s)[i].group;
    CU_ASSERT_EQUAL(gpu_schedule_slots(s)[1].group, 5); /* the second slot of the first core comes in the second round */
    const double begin = gpu_schedule_work(s, 1);
    for (unsigned i = 0; i < 40; i++) {
        gpu_schedule_forward(s, 37, check_piece, &p);
        CU_ASSERT_DOUBLE_EQUAL(gpu_schedule_work(s, 1) - begin, p.sum, 1e-3);
    }
    CU_ASSERT_EQUAL(p.bad, 0);
    CHECK(fabs(p.sum / (40 * 37 * 20) - 1) < 0.01, "20 slots executed %g instructions in %d", p.sum, 40 * 37);
    gpu_schedule_free(s);
}

/* All instructions of a launch are executed once, whatever the steps. */
static void test_whole(void)
{
    const struct gpu_work work = {.number = {2, {10, 90}, {80, 120}}};
    const double all = gpu_work_before(&work, 100);
    double sum = 0;
    for (uint64_t i = 0; i < 100; i++)
        sum += gpu_work_of(&work, i);
    CU_ASSERT_DOUBLE_EQUAL(all, sum, 1e-6);
    struct gpu_schedule *s = gpu_schedule_create(4, 3, 100, &work);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    for (unsigned i = 0; i < 1000 && gpu_schedule_next(s) < 100; i++)
        gpu_schedule_forward(s, 13, NULL, NULL);
    CU_ASSERT_EQUAL(gpu_schedule_busy(s), 12);
    const double left = all - gpu_schedule_work(s, 1), most = gpu_schedule_most_left(s);
    CHECK(most <= 3 * 120 && most * 4 >= left, "%g instructions are left, %g on one core", left, most);
    gpu_schedule_drain(s, 20);
    const double drained = gpu_schedule_work(s, 1) - (all - left);
    CHECK(drained > 0 && drained <= 12 * 20, "%g of %g instructions", drained, left);
    gpu_schedule_drain(s, INFINITY);
    CU_ASSERT_EQUAL(gpu_schedule_busy(s), 0);
    CU_ASSERT_DOUBLE_EQUAL(gpu_schedule_work(s, 1), all, 1e-6);
    gpu_schedule_free(s);
}

/* Whole rounds move threadgroups on and leave the rest as it is. */
static void test_rounds(void)
{
    const struct gpu_work work = {.number = {1, {0}, {100}}};
    struct gpu_schedule *s = gpu_schedule_create(4, 2, 1000000, &work);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    gpu_schedule_forward(s, 250, NULL, NULL);
    const uint64_t next = gpu_schedule_next(s);
    const struct gpu_slot slot = gpu_schedule_slots(s)[3];
    const double before = gpu_schedule_work(s, 4), left = gpu_schedule_rounds(s, 100060, 24);
    CU_ASSERT_DOUBLE_EQUAL(left, 2460, 1e-6);
    CU_ASSERT_EQUAL(gpu_schedule_next(s), next + 8 * 976);
    CU_ASSERT_EQUAL(gpu_schedule_slots(s)[3].group, slot.group + 8 * 976);
    CU_ASSERT_EQUAL(gpu_schedule_slots(s)[3].done, slot.done);
    CU_ASSERT_DOUBLE_EQUAL(gpu_schedule_work(s, 4) - before, 4 * 8 * 97600.0, 1);
    gpu_schedule_free(s);
}

/* Slots begin in step, and fall apart over some lives of threadgroups unless they are kept in step. */
static void test_step(void)
{
    const struct gpu_work work = {.number = {1, {0}, {100}}};
    struct gpu_schedule *s = gpu_schedule_create(64, 4, 1000000, &work), *kept = gpu_schedule_create(64, 4, 1000000, &work);
    CU_ASSERT_FATAL(s && kept);
    CU_ASSERT_DOUBLE_EQUAL(gpu_schedule_step(s), 1, 1e-12);
    gpu_schedule_keep_step(kept, true);
    for (unsigned i = 0; i < 30; i++) {
        gpu_schedule_forward(s, 1030, NULL, NULL);
        gpu_schedule_forward(kept, 1030, NULL, NULL);
        CU_ASSERT_DOUBLE_EQUAL(gpu_schedule_step(kept), 1, 1e-9);
    }
    CHECK(gpu_schedule_step(s) < 0.8, "%.3f", gpu_schedule_step(s));
    gpu_schedule_copy(kept, s);
    CU_ASSERT_EQUAL(gpu_schedule_step(kept), gpu_schedule_step(s));
    for (unsigned i = 0; i < 256; i++) /* one place after another of a life */
        gpu_schedule_set(s, i, (struct gpu_slot){.group = i, .done = 100 * i / 256.0});
    CU_ASSERT_DOUBLE_EQUAL(gpu_schedule_step(s), 0, 1e-9);
    gpu_schedule_free(s);
    gpu_schedule_free(kept);
}

/* ---- cores that drift from one another ---- */

#define DRIFT_CORES 64

/* Between -1 and 1. */
static double noise(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* A part of 50 moments: cores issue laps of 27 instructions at a time, about 1000 in all. */
static void time_part(struct gpu_drift *drift, const double pace[DRIFT_CORES], uint64_t *state)
{
    double issued[DRIFT_CORES], ahead[DRIFT_CORES];
    for (unsigned i = 0; i < DRIFT_CORES; i++)
        ahead[i] = 13.5 * (noise(state) + 1);
    gpu_drift_begin(drift);
    for (unsigned moment = 0; moment < 50; moment++) {
        for (unsigned i = 0; i < DRIFT_CORES; i++)
            issued[i] = 27 * floor((20 * moment * pace[i] + ahead[i]) / 27);
        gpu_drift_moment(drift, 700.0 * moment, issued);
    }
    gpu_drift_end(drift);
}

/* Differences that last are found under the bursts. */
static void test_drift_lasts(void)
{
    struct gpu_drift *drift = gpu_drift_create(DRIFT_CORES, 1);
    double pace[DRIFT_CORES];
    uint64_t state = 1;
    CU_ASSERT_PTR_NOT_NULL_FATAL(drift);
    for (unsigned i = 0; i < DRIFT_CORES; i++)
        pace[i] = 1 + 0.03 * (i - 31.5) / 31.5;
    CU_ASSERT_EQUAL(gpu_drift_pace(drift, 0), 1);
    gpu_drift_begin(drift);
    gpu_drift_end(drift); /* without moments it tells nothing */
    time_part(drift, pace, &state);
    CU_ASSERT_EQUAL(gpu_drift_pace(drift, 0), 1); /* might be chance */
    for (unsigned part = 0; part < 8; part++)
        time_part(drift, pace, &state);
    for (unsigned i = 0; i < DRIFT_CORES; i++)
        CHECK(fabs(gpu_drift_pace(drift, i) - pace[i]) < 0.007, "core %u: %.4f, not %.4f", i, gpu_drift_pace(drift, i), pace[i]);
    gpu_drift_free(drift);
}

/* Differences that do not last are left alone, more or less, over many launches. */
static void test_drift_chance(void)
{
    double sum = 0;
    uint64_t state = 2;
    for (unsigned launch = 0; launch < 50; launch++) {
        struct gpu_drift *drift = gpu_drift_create(DRIFT_CORES, 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(drift);
        for (unsigned part = 0; part < 6; part++) {
            double pace[DRIFT_CORES];
            for (unsigned i = 0; i < DRIFT_CORES; i++)
                pace[i] = 1 + 0.03 * noise(&state);
            time_part(drift, pace, &state);
        }
        for (unsigned i = 0; i < DRIFT_CORES; i++)
            sum += fabs(gpu_drift_pace(drift, i) - 1) / (50 * DRIFT_CORES);
        gpu_drift_free(drift);
    }
    CHECK(sum < 0.002, "%.4f in the mean, of 0.015 in each part", sum);
}

/* Eight cores tell nothing by themselves (a launch on so few has no drift), and tell no more beside 56 that have no work. */
static void test_drift_free(void)
{
    struct gpu_drift *drift = gpu_drift_create(DRIFT_CORES, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drift);
    for (unsigned part = 0; part < 8; part++) {
        double pace[2 * DRIFT_CORES] = {0};
        for (unsigned i = 0; i < 8; i++)
            pace[2 * i] = 1 + 0.01 * (i - 3.5);
        gpu_drift_part(drift, pace);
    }
    for (unsigned i = 0; i < 2 * DRIFT_CORES; i++)
        CHECK(gpu_drift_pace(drift, i) == 1, "place %u: %.4f", i, gpu_drift_pace(drift, i));
    gpu_drift_free(drift);
}

static bool add_piece(void *context, unsigned slot, uint64_t group, double from, double to)
{
    double *done = context; /* by core of two slots */
    (void)group;
    done[slot / 2] += (to - from) / 2;
    return true;
}

/* A faster core comes ahead of the others, by as much when whole rounds are left out. */
static void test_pace(void)
{
    const struct gpu_work work = {.number = {1, {0}, {100000}}};
    struct gpu_schedule *s = gpu_schedule_create(4, 2, 1000, &work);
    double whole[4] = {0}, rest[4] = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    for (unsigned core = 0; core < 4; core++)
        gpu_schedule_set_pace(s, core, 1 + 0.02 * (core - 1.5));
    gpu_schedule_forward(s, 1000000, add_piece, whole);
    const double left = gpu_schedule_rounds(s, 2000500, 10);
    CU_ASSERT_DOUBLE_EQUAL(left, 1000500, 1e-6);
    gpu_schedule_forward(s, left, add_piece, rest);
    for (unsigned core = 0; core < 4; core++) { /* scatter adds up to two percents of a threadgroup each time */
        const double ahead = 0.02 * (core - 1.5);
        CHECK(fabs(whole[core] - 1e6 * (1 + ahead)) < 6000, "core %u: %g", core, whole[core]);
        CHECK(fabs(rest[core] - 1000500 - 2000500 * ahead) < 6000, "core %u: %g", core, rest[core]);
    }
    gpu_schedule_free(s);
}

/* ---- cores that wait for lines ---- */

#define CONVOY_CORES 8

/* Parts of three moments: cores issue about 1000 instructions between two of them, less what lines cost them, give or take 5. */
static struct gpu_fetched learn_cost(unsigned parts, struct gpu_fetched cost, bool dram, uint64_t *state)
{
    struct gpu_convoy *convoy = gpu_convoy_create(CONVOY_CORES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(convoy);
    for (unsigned part = 0; part < parts; part++) {
        double issued[CONVOY_CORES] = {0};
        struct gpu_fetched fetched[CONVOY_CORES] = {{0, 0}};
        gpu_convoy_begin(convoy);
        for (unsigned moment = 0; moment < 3; moment++) {
            gpu_convoy_moment(convoy, issued, fetched);
            for (unsigned i = 0; i < CONVOY_CORES; i++) {
                const struct gpu_fetched more = {50 + 50 * noise(state), dram ? 20 + 20 * noise(state) : 0};
                fetched[i].slc += more.slc;
                fetched[i].dram += more.dram;
                issued[i] += 1000 - cost.slc * more.slc - cost.dram * more.dram + 5 * noise(state);
            }
        }
    }
    const struct gpu_fetched learned = gpu_convoy_cost(convoy);
    gpu_convoy_free(convoy);
    return learned;
}

/* What a line costs is found from a few parts: of each kind, and of one kind alone; nothing before there are any. */
static void test_convoy_cost(void)
{
    uint64_t state = 3;
    const struct gpu_fetched both = learn_cost(5, (struct gpu_fetched){0.6, 1.5}, true, &state);
    CHECK(fabs(both.slc - 0.6) < 0.05 && fabs(both.dram - 1.5) < 0.12, "%.3f and %.3f", both.slc, both.dram);
    const struct gpu_fetched one = learn_cost(5, (struct gpu_fetched){0.6, 0}, false, &state);
    CHECK(fabs(one.slc - 0.6) < 0.05 && one.dram == one.slc, "%.3f and %.3f", one.slc, one.dram);
    const struct gpu_fetched none = learn_cost(0, (struct gpu_fetched){0.6, 1.5}, true, &state);
    CU_ASSERT(none.slc == 0 && none.dram == 0);
}

/* Where lines cost nothing, next to nothing is found, over many launches. */
static void test_convoy_chance(void)
{
    struct gpu_fetched sum = {0, 0};
    uint64_t state = 4;
    for (unsigned launch = 0; launch < 50; launch++) {
        const struct gpu_fetched cost = learn_cost(5, (struct gpu_fetched){0, 0}, true, &state);
        CU_ASSERT(cost.slc >= 0 && cost.dram >= 0);
        sum.slc += cost.slc / 50;
        sum.dram += cost.dram / 50;
    }
    CHECK(sum.slc < 0.01 && sum.dram < 0.02, "%.4f and %.4f", sum.slc, sum.dram);
}

/* ---- kernels of the library ---- */

/* Launches with fewer than 2^24 instructions have no windows. M1 has an SLC of 8 MiB. */
static const struct {
    const char *workload, *precision;
    bool cold;
    const char *chip; /* NULL = m1 */
} library[] = {
    {"layernorm:65536x512", NULL, true, NULL},                /* sixteen times the SLC, which fills on the way */
    {"gemm:2048x2048x1280", NULL, false, NULL},               /* long loops; the warm-up leaves a full SLC */
    {"attention:b=1,h=8,s=1152,d=128", NULL, true, NULL},     /* twelve waves, the fewest that windows always stand for */
    {"attention:b=1,h=16,s=2048,d=64", NULL, true, NULL},     /* loops of threadgroups that wait for one another */
    {"attention:b=1,h=16,s=2048,d=64", NULL, true, "m1-max"}, /* the same in five waves */
    {"conv2d:c=64,h=96,w=96,k=192,r=5,s=5,pad=2", "f16", false, NULL}, /* fits the SLC */
    {"transpose:4864x4864", NULL, true, NULL},                         /* scattered lines, each written in parts */
    {"sort:2560x1024", NULL, true, NULL},                              /* barriers and threadgroup memory */
    {"gather:1000x512x286000", NULL, true, NULL},                      /* random lines of a table that stays in the SLC */
};

static void test_library(void)
{
    double sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(library); i++) {
        const char *workload = library[i].workload;
        const struct run_request request = {.mode = RUN_TIMING, .precision = library[i].precision, .cold = library[i].cold};
        const char *chip = library[i].chip ? library[i].chip : "m1";
        struct whole_and_sample both = run_gpu_both(db, chip, workload, request);
        CHECK(fabs(both.off) < EACH_BOUND, "%s: %+.2f %%", workload, 100 * both.off);
        const char *name = "gpu.simdgroup_instructions";
        CHECK(fabs(counter(&both.sample, name) / counter(&both.whole, name) - 1) < 1e-3, "%s", workload);
        sum += fabs(both.off);
        free_both(&both);
    }
    CHECK(sum / ARRAY_COUNT(library) < MEAN_BOUND, "mean %.2f %%", 100 * sum / ARRAY_COUNT(library));
}

/* Windows of few waves that scatter, because cores fall in and out of step, do not stand for them: these are timed whole. */
static void test_few_waves(void)
{
    static const char *const few[] = {"attention:b=1,h=8,s=1056,d=128"}; /* eleven waves */
    for (size_t i = 0; i < ARRAY_COUNT(few); i++) {
        const struct run_request request = {.unit = "gpu", .detail = "sampled", .mode = RUN_TIMING, .cold = true, .threads = 1};
        struct outcome o = run_on_set(db, "m1", NULL, few[i], request);
        CHECK(o.ok && strcmp(o.result.detail, "instr") == 0, "%s: %s", few[i], o.ok ? o.result.detail : o.error.text);
        run_result_free(&o.result);
    }
}

/* Eighty cores that wait for the SLC fall apart over the waves of the launch, and then wait less: 4.5 % too slow when windows
 * have them as they began. */
static void test_ultra(void)
{
    const struct run_request request = {.mode = RUN_TIMING, .cold = true};
    struct whole_and_sample both = run_gpu_both(db, "m3-ultra-80", "gemm:8192x4096x512", request);
    CHECK(fabs(both.off) < EACH_BOUND, "%+.2f %%", 100 * both.off);
    free_both(&both);
}

/* Cores whose threadgroups read the same keys and values wait for them together: 5 and 10 % too fast when windows have the cores
 * at distances of chance. Such a launch is chaotic: with every threadgroup timed it takes 5.4 to 5.6 ms as the clock changes by a
 * thousandth, and so do its windows. What is compared are means over three clocks. */
static void test_convoys(void)
{
    static const char *const convoy[] = {"attention:b=1,h=12,s=1152,d=128"};
    static const char *const clock[] = {"gpu.clock_ghz=0.999x", "gpu.clock_ghz=1x", "gpu.clock_ghz=1.001x"};
    for (size_t i = 0; i < ARRAY_COUNT(convoy); i++) {
        double whole = 0, sampled = 0;
        for (size_t c = 0; c < ARRAY_COUNT(clock); c++) {
            struct run_request request = {.mode = RUN_TIMING, .cold = true, .detail = "instr"};
            struct outcome o = run_gpu(db, "m1", clock[c], convoy[i], request);
            request.detail = "sampled";
            struct outcome w = run_gpu(db, "m1", clock[c], convoy[i], request);
            CHECK(o.ok && w.ok, "%s%s", o.error.text, w.error.text);
            whole += o.result.device_seconds;
            sampled += w.result.device_seconds;
            run_result_free(&o.result);
            run_result_free(&w.result);
        }
        CHECK(fabs(sampled / whole - 1) < CONVOY_BOUND, "%s: %+.2f %%", convoy[i], 100 * (sampled / whole - 1));
    }
}

static void test_full(void)
{
    check_full_results(db, "m1", "attention:b=1,h=8,s=1152,d=128");
}

static const struct suite_test tests[] = {
    {"slots go forward without a gap, at the pace of the schedule", test_forward},
    {"every instruction of a launch has its place", test_whole},
    {"whole rounds keep slots where they are", test_rounds},
    {"slots fall apart unless they are kept in step", test_step},
    {"differences between cores that last are found", test_drift_lasts},
    {"differences by chance are not", test_drift_chance},
    {"few cores that work tell of no drift", test_drift_free},
    {"a faster core comes ahead", test_pace},
    {"what lines cost cores is learned", test_convoy_cost},
    {"lines that cost nothing hold nobody up", test_convoy_chance},
    {"windows have the time of the whole", test_library},
    {"launches of few waves are timed whole", test_few_waves},
    {"cores that wait for one another fall apart between windows", test_ultra},
    {"cores that read the same lines wait together between windows", test_convoys},
    {"results do not depend on windows", test_full},
};

int main(void)
{
    return example_chips_run("gpu_forward", tests, ARRAY_COUNT(tests), &db);
}
