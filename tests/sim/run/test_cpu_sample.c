/* A sample of a run on one core stands for the whole: kernels of the CPU and of the AMX block, and programs, on three chips. What
 * they compute and count is the same to the bit, whatever the number of host threads; where a sample cannot stand for the run,
 * everything is timed. Also what a sample makes of the paces that it is told.
 */
#include "isa/array_count.h"
#include "sim/workload/core_sample.h"
#include "tests/guest/host/guest_files.h"
#include "tests/sim/run_example.h"
#include "units/unit_watch.h"

#include <math.h>
#include <stdlib.h>

#define MEAN_BOUND 0.01
#define EACH_BOUND 0.03

static struct chip_db *db;

/* ---- what a sample makes of paces ---- */

/* Work of two kinds, the second of which is slower and comes in the middle of the run only; the first slows down evenly. */
static double pace_of(double at, double all, unsigned kind)
{
    return kind ? 7 : 1 + at / all;
}

static unsigned kind_at(double at, double all)
{
    return at > 0.4 * all && at < 0.5 * all;
}

/* Leads are told to take far too long: they must not count. */
static void tell_piece(struct core_sample *s, double at, double all, double piece, double *clock_ns, double *true_ns)
{
    const unsigned kind = kind_at(at, all);
    const double ns = piece * pace_of(at, all, kind);
    struct core_reading before = {.ns = *clock_ns}, after = before;
    *true_ns += ns;
    if (!core_sample_times(s, kind)) {
        core_sample_skipped(s, kind, piece);
        return;
    }
    after.ns += s->part == CORE_SAMPLE_LEAD ? 100 * ns : ns;
    after.stall[CPU_STALL_L1] = after.ns / 2;
    before.stall[CPU_STALL_L1] = before.ns / 2;
    *clock_ns = after.ns;
    core_sample_timed(s, kind, piece, &before, &after);
}

static struct core_sampled sample_until(const struct core_sample_shape *shape, double end, double *clock_ns, double *true_ns)
{
    struct core_sample s;
    *clock_ns = *true_ns = 0;
    core_sample_begin(&s, shape);
    for (double at = 0; at < end; at += 100)
        tell_piece(&s, at, end, 100, clock_ns, true_ns);
    return core_sample_end(&s);
}

static void test_paces(void)
{
    const struct core_sample_shape shape = {
        .first = 10000, .lead = 200, .window = 500, .gap_least = 4000, .gap_most = 20000, .expected = 2e6};
    double clock_ns, true_ns;
    const struct core_sampled r = sample_until(&shape, shape.expected, &clock_ns, &true_ns);
    CU_ASSERT_TRUE(r.sampled);
    CU_ASSERT_DOUBLE_EQUAL(r.work, shape.expected, 1);
    CHECK(r.timed_work < 0.2 * r.work, "%g of %g timed", r.timed_work, r.work);
    CHECK(fabs((clock_ns + r.extra_ns) / true_ns - 1) < 0.002, "%g of %g ns", clock_ns + r.extra_ns, true_ns);
    CHECK(fabs((clock_ns / 2 + r.extra[CPU_STALL_L1]) / (true_ns / 2) - 1) < 0.002, "%g of %g cycles",
          clock_ns / 2 + r.extra[CPU_STALL_L1], true_ns / 2);
    CHECK(r.sd_ns > 0 && r.sd_ns < 0.02 * true_ns, "%g ns", r.sd_ns);
}

/* A kind of work that comes in steps of the sample: its first piece ends the gap, and the lead outlasts it, so that no window
 * ever meets it. Its pace in leads is what is known of it. */
static void test_kinds_in_leads(void)
{
    const struct core_sample_shape shape = {.first = 4000, .lead = 400, .window = 500, .gap_least = 20000, .gap_most = 20000};
    struct core_sample s;
    double clock_ns = 0, true_ns = 0;
    core_sample_begin(&s, &shape);
    for (double at = 0; at < 1e6; at += 100) {
        const unsigned kind = at > 4000 && fmod(at, 2000) < 300;
        const double ns = kind ? 700 : 100;
        const struct core_reading before = {.ns = clock_ns}, after = {.ns = clock_ns + ns};
        true_ns += ns;
        if (core_sample_times(&s, kind)) {
            core_sample_timed(&s, kind, 100, &before, &after);
            clock_ns = after.ns;
        } else {
            core_sample_skipped(&s, kind, 100);
        }
    }
    const struct core_sampled r = core_sample_end(&s);
    CU_ASSERT_TRUE(r.sampled);
    CHECK(r.timed_work < 0.2 * r.work, "%g of %g timed", r.timed_work, r.work);
    CHECK(fabs((clock_ns + r.extra_ns) / true_ns - 1) < 0.005, "%g of %g ns", clock_ns + r.extra_ns, true_ns);
}

/* `every`: one access in so many instructions misses, as loads or as stores of which the rest of the line had to be read. */
static struct core_sampled sample_missing(double dear, double every, int counter)
{
    const struct core_sample_shape shape = {
        .first = 10000, .lead = 200, .window = 500, .gap_least = 4000, .gap_most = 20000, .dear = dear};
    struct core_sample s;
    core_sample_begin(&s, &shape);
    for (double at = 0; at < 2e6; at += 100) {
        const struct core_reading before = {.ns = 0};
        struct core_reading after = {.ns = 100};
        after.memory[counter] = 100 / every;
        if (core_sample_times(&s, 0))
            core_sample_timed(&s, 0, 100, &before, &after);
        else
            core_sample_skipped(&s, 0, 100);
    }
    return core_sample_end(&s);
}

/* Caches are filled before each window: where that is dear, there are fewer and longer ones. */
static void test_dear_windows(void)
{
    const struct core_sampled usual = sample_missing(0, 5, MEM_DRAM), cheap = sample_missing(4, 1000, MEM_DRAM),
                              loads = sample_missing(4, 5, MEM_DRAM), stores = sample_missing(4, 5, MEM_TIMED_GATHERED);
    CU_ASSERT_EQUAL(cheap.windows, usual.windows);
    CHECK(4 * loads.windows < usual.windows && loads.windows > 5, "%u of %u windows", loads.windows, usual.windows);
    CU_ASSERT_EQUAL(stores.windows, loads.windows);
    CHECK(loads.timed_work > 0.4 * usual.timed_work, "%g of %g timed", loads.timed_work, usual.timed_work);
}

static void test_short_runs_are_timed_whole(void)
{
    const struct core_sample_shape shape = {.first = 10000, .lead = 200, .window = 500, .gap_least = 4000, .gap_most = 20000};
    double clock_ns, true_ns;
    const struct core_sampled r = sample_until(&shape, shape.first, &clock_ns, &true_ns);
    CU_ASSERT_FALSE(r.sampled);
    CU_ASSERT_EQUAL(r.extra_ns, 0);
    CU_ASSERT_DOUBLE_EQUAL(clock_ns, true_ns, 1e-6);
}

/* Work from the start on until the first gap, where each piece of 100 has a line that was fetched ahead and two accesses beyond
 * L1. From `reshaped` on, misses count no longer. */
static double timed_first(double miss, double expected, double reshaped)
{
    struct core_sample_shape shape = {
        .first = 10000, .miss = miss, .lead = 200, .window = 500, .gap_least = 4000, .gap_most = 20000, .expected = expected};
    struct core_sample s;
    core_sample_begin(&s, &shape);
    shape.miss = 0;
    for (struct core_reading before = {0}; s.part == CORE_SAMPLE_START && s.work < 1e6;) {
        struct core_reading after = before;
        after.ns += 100;
        after.memory[MEM_L1] += 50;
        after.memory[MEM_L2]++;
        after.memory[MEM_DRAM]++;
        after.memory[MEM_TIMED_PREFETCHED]++;
        core_sample_timed(&s, 0, 100, &before, &after);
        before = after;
        if (s.work == reshaped)
            core_sample_reshape(&s, &shape);
    }
    return s.work;
}

static void test_misses_shorten_the_start(void)
{
    CU_ASSERT_EQUAL(timed_first(0, 0, 0), 10000);
    CU_ASSERT_EQUAL(timed_first(300, 0, 0), 1000);
    CU_ASSERT_EQUAL(timed_first(300, 2500, 0), 1000);
    CU_ASSERT_EQUAL(timed_first(300, 1500, 0), 1e6); /* little would be skipped */
    CU_ASSERT_EQUAL(timed_first(0, 15000, 0), 1e6);
    CU_ASSERT_EQUAL(timed_first(300, 0, 500), 10000);
}

/* ---- runs ---- */

struct sampled_case {
    const char *chip, *workload, *unit, *precision, *home;
    bool cold;
    enum run_mode mode;
};

static const struct sampled_case cases[] = {
    {"m1", "stream-triad:20M", "cpu", "f32", NULL, true, RUN_FULL},
    {"m2-max", "stream-scale:24M", "cpu", "f32", NULL, true, RUN_FULL},
    {"m3-max", "stream-add:24M", "cpu", "f64", NULL, true, RUN_FULL},
    {"m1", "gemm:800x700x800", "amx", "f64", NULL, false, RUN_TIMING},
    {"m2-max", "gemm:900x800x1024", "amx", "f32", NULL, false, RUN_FULL},
    {"m3-max", "gemm:1024x1024x1024,beta=1", "amx", "f16", NULL, true, RUN_FULL},
    {"m1", "gemm:800x800x800", "amx", "f32", "elf", true, RUN_FULL},
    {"m1", "memory", "cpu", NULL, NULL, true, RUN_FULL}, /* a guest of tests/guest */
};

static struct outcome run_case(const struct sampled_case *c, const char *detail, unsigned threads)
{
    const struct run_request request = {.unit = c->unit,
                                        .precision = c->precision,
                                        .home = c->home,
                                        .cold = c->cold,
                                        .mode = c->mode,
                                        .detail = detail,
                                        .threads = threads,
                                        .seed = 3};
    struct outcome o = run_on(db, c->chip, strchr(c->workload, ':') ? c->workload : guest_path(c->workload), request);
    CHECK(o.ok, "%s on %s: %s", c->workload, c->chip, o.error.text);
    return o;
}

/* Programs are built where there is a cross compiler. */
static bool can_run(const struct sampled_case *c)
{
    size_t size = 0;
    uint8_t *const guest = strchr(c->workload, ':') ? NULL : guest_read(c->workload, &size);
    const bool can = size > 0 || strchr(c->workload, ':');
    free(guest);
    return can;
}

static const char *effect_of(const struct outcome *o, const char *key)
{
    for (size_t i = 0; i < o->result.assumptions.count; i++)
        if (strcmp(o->result.assumptions.item[i].key, key) == 0)
            return o->result.assumptions.item[i].effect;
    return NULL;
}

/* What follows from the instructions alone is the same; bytes of DRAM depend a little on what prefetches come in time. */
static void check_counts(const struct sampled_case *c, const struct outcome *whole, const struct outcome *part)
{
    static const char *const same[] = {"cpu.instructions",           "amx.instructions",       "activity.cpu_branches",
                                       "activity.cpu_fp_lane_ops",   "activity.cpu_loads",     "activity.cpu_stores",
                                       "activity.amx_instructions",  "activity.amx_f32_macs",  "activity.amx_f64_macs",
                                       "activity.amx_z_write_bytes", "activity.amx_load_bytes"};
    for (size_t i = 0; i < ARRAY_COUNT(same); i++) {
        const double a = counter(whole, same[i]), b = counter(part, same[i]);
        CHECK(a == b || (isnan(a) && isnan(b)), "%s, %s: %g, sampled %g", c->workload, same[i], a, b);
    }
    CHECK(whole->result.checksum.count == part->result.checksum.count, "%s", c->workload);
    for (size_t i = 0; i < whole->result.checksum.count; i++)
        CHECK(whole->result.checksum.item[i].fnv1a64 == part->result.checksum.item[i].fnv1a64, "%s: results differ", c->workload);
    CHECK(fabs(part->result.dram_bytes - whole->result.dram_bytes) < 0.02 * whole->result.dram_bytes + 1e6,
          "%s: DRAM bytes %g, sampled %g", c->workload, whole->result.dram_bytes, part->result.dram_bytes);
    CHECK(fabs(part->result.joules / whole->result.joules - 1) < 0.05, "%s: %g J, sampled %g", c->workload, whole->result.joules,
          part->result.joules);
}

/* Runs of each case that several tests look at, made when they are first asked for. */
enum { WHOLE, PART, KEPT };
static struct outcome *kept[ARRAY_COUNT(cases)][KEPT];

static const struct outcome *kept_run(size_t number, int which)
{
    static const char *const detail[] = {[WHOLE] = "instr", [PART] = "sampled"};
    struct outcome **const place = &kept[number][which];
    if (!*place) {
        *place = malloc(sizeof **place);
        CU_ASSERT_PTR_NOT_NULL_FATAL(*place);
        **place = run_case(&cases[number], detail[which], 1);
    }
    return *place;
}

static void free_kept(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        for (int which = 0; which < KEPT; which++) {
            if (kept[i][which])
                run_result_free(&kept[i][which]->result);
            free(kept[i][which]);
        }
}

/* Returns how far the sample is off. */
static double check_sampled(const struct sampled_case *c, const struct outcome *whole, const struct outcome *part)
{
    const double error = fabs(part->result.seconds / whole->result.seconds - 1);
    CHECK(error < EACH_BOUND, "%s on %s: %g s, sampled %g", c->workload, c->chip, whole->result.seconds, part->result.seconds);
    CU_ASSERT_STRING_EQUAL(whole->result.detail, "instr");
    CU_ASSERT_STRING_EQUAL(part->result.detail, "sampled");
    CHECK(!effect_of(whole, "detail") && effect_of(part, "detail"), "%s: assumptions", c->workload);
    CHECK(part->result.seconds_low < part->result.seconds && part->result.seconds < part->result.seconds_high, "%s: interval",
          c->workload);
    check_counts(c, whole, part);
    return error;
}

static void test_sampled_against_instr(void)
{
    double sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        if (!can_run(&cases[i]))
            continue;
        const struct outcome *const whole = kept_run(i, WHOLE), *const part = kept_run(i, PART);
        if (whole->ok && part->ok)
            sum += check_sampled(&cases[i], whole, part);
    }
    CHECK(sum / ARRAY_COUNT(cases) < MEAN_BOUND, "mean error %.2f %%", 100 * sum / ARRAY_COUNT(cases));
}

static void test_threads_change_nothing(void)
{
    static const size_t of[] = {3, 4};
    for (size_t i = 0; i < ARRAY_COUNT(of); i++) {
        const struct run_result *const one = &kept_run(of[i], PART)->result;
        struct outcome two = run_case(&cases[of[i]], "sampled", 2);
        CU_ASSERT_EQUAL(one->seconds, two.result.seconds);
        CU_ASSERT_EQUAL(one->seconds_high, two.result.seconds_high);
        CU_ASSERT_EQUAL(one->joules, two.result.joules);
        CU_ASSERT_EQUAL(one->counters.count, two.result.counters.count);
        for (size_t k = 0; k < one->counters.count && k < two.result.counters.count; k++)
            CHECK(one->counters.item[k].value == two.result.counters.item[k].value, "%s", one->counters.item[k].name);
        run_result_free(&two.result);
    }
}

/* ---- where everything is timed ---- */

static void count_instruction(void *context, unsigned core, const struct unit_instruction *instruction)
{
    (void)core;
    (void)instruction;
    ++*(uint64_t *)context;
}

static void check_whole(const char *workload, struct run_request request, const char *why)
{
    request.seed = 3;
    request.detail = "sampled";
    struct outcome part = run_on(db, "m1", workload, request);
    request.detail = "instr";
    struct outcome whole = run_on(db, "m1", workload, request);
    CHECK(part.ok && whole.ok, "%s: %s %s", workload, part.error.text, whole.error.text);
    CU_ASSERT_EQUAL(part.result.seconds, whole.result.seconds);
    CU_ASSERT_STRING_EQUAL(part.result.detail, "instr");
    const char *const told = effect_of(&part, "detail");
    CHECK(why ? told && strstr(told, why) : !told, "%s: %s", workload, told ? told : "-");
    run_result_free(&part.result);
    run_result_free(&whole.result);
}

static void test_everything_is_timed(void)
{
    uint64_t seen = 0;
    const struct unit_watch watch = {.cpu = count_instruction, .amx = count_instruction, .context = &seen};
    check_whole("copy:1M", (struct run_request){.unit = "cpu"}, NULL);
    check_whole("gemm:256x256x256", (struct run_request){.unit = "amx"}, NULL);
    check_whole("copy:8M", (struct run_request){.unit = "cpu", .cores = 2, .cold = true}, "several cores");
    check_whole("gemm:640x640x640", (struct run_request){.unit = "amx", .precision = "f16", .cold = true, .watch = &watch},
                "watches");
    CHECK(seen > 100000, "%llu instructions", (unsigned long long)seen);
}

static void test_auto_times_what_is_quick(void)
{
    const struct run_result *const whole = &kept_run(4, WHOLE)->result;
    struct outcome usual = run_case(&cases[4], NULL, 1);
    CU_ASSERT_STRING_EQUAL(usual.result.detail, "instr");
    CU_ASSERT_EQUAL(usual.result.seconds, whole->seconds);
    CU_ASSERT_EQUAL(usual.result.joules, whole->joules);
    run_result_free(&usual.result);
}

/* Loops of an AMX kernel of which only the time is asked for are leapt over; what it counts stays the same. */
static void test_loops_are_leapt_over(void)
{
    static const struct sampled_case leapt = {"m1",      "conv2d:n=1,c=64,h=56,w=56,k=64,r=3,s=3,pad=1", "amx", "f32", NULL, true,
                                              RUN_TIMING};
    struct outcome whole = run_case(&leapt, "instr", 1), part = run_case(&leapt, NULL, 1);
    if (whole.ok && part.ok)
        check_sampled(&leapt, &whole, &part);
    const char *const told = effect_of(&part, "detail");
    CHECK(told && atof(told) < 70, "%s", told ? told : "-");
    run_result_free(&whole.result);
    run_result_free(&part.result);
}

static const struct suite_test tests[] = {
    {"skipped work goes at the pace of the windows beside it, each kind at its own", test_paces},
    {"kinds of work that only leads meet go at their pace there", test_kinds_in_leads},
    {"where misses are dear, windows are few and long", test_dear_windows},
    {"short runs are timed whole", test_short_runs_are_timed_whole},
    {"accesses that miss L1 shorten what is timed from the start on", test_misses_shorten_the_start},
    {"sampled runs are as long as whole ones, and count and compute the same", test_sampled_against_instr},
    {"steady loops of AMX kernels are leapt over", test_loops_are_leapt_over},
    {"host threads change nothing", test_threads_change_nothing},
    {"everything is timed where a sample cannot stand for it", test_everything_is_timed},
    {"auto times everything that is quick", test_auto_times_what_is_quick},
};

int main(void)
{
    const int code = example_chips_run("cpu_sample", tests, ARRAY_COUNT(tests), &db);
    free_kept();
    return code;
}
