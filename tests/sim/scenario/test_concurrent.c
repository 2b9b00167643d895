/* Workloads at the same time: together they obey the DRAM, alone they are as if alone, queues and priorities hold, the database
 * has an operator per workload, and the text of a request is read as written.
 */
#include "isa/array_count.h"
#include "sim/chip/chip.h"
#include "sim/run/run.h"
#include "sim/scenario/together.h"
#include "tests/sim/dram_rate_example.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct chip_db *db;

struct whole {
    struct chip *chip;
    struct together *together;
    struct run_result result;
    struct orch_error error;
    char *storage;
    bool ok;
    unsigned ops, samples;
};

static void count_event(void *context, const struct event *event)
{
    struct whole *w = context;
    w->ops += event->kind == EVENT_OP_END;
    w->samples += event->kind == EVENT_SAMPLE;
    CU_ASSERT(event->kind != EVENT_SAMPLE || (event->sample.value >= 0 && event->sample.value <= 1 + 1e-9));
}

static void run_text(struct whole *w, const char *chip, const char *set, const char *text)
{
    struct together_part part[TOGETHER_PARTS];
    const struct chip_overrides overrides = {.text = &set, .count = 1};
    unsigned count;
    memset(w, 0, sizeof *w);
    run_result_init(&w->result);
    w->chip = chip_open(db, chip, set ? &overrides : NULL, &w->error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->chip);
    const struct run_request common = {.chip = w->chip};
    struct event_bus *bus = event_bus_create();
    event_bus_subscribe(bus, &(struct event_listener){count_event, w, false});
    w->ok = together_parse(text, &common, part, &count, &w->storage, &w->error) &&
            (w->together = together_prepare(part, count, text, &w->error)) &&
            together_execute(w->together, bus, 1, &w->result, &w->error);
    event_bus_free(bus);
}

static void close_whole(struct whole *w)
{
    together_free(w->together);
    run_result_free(&w->result);
    free(w->storage);
    chip_close(w->chip);
}

static const struct together_outcome *part_of(const struct whole *w, unsigned i)
{
    return together_outcome(w->together, i);
}

/* Each saturates the DRAM alone. Together each gets about half, and the sum is what the DRAM gives this mix of reads and writes.
 */
static void test_two_streams_share_the_dram(void)
{
    struct whole w;
    run_text(&w, "m1", NULL, "stream-triad:16M[unit=gpu,mode=timing] + stream-triad:16M[unit=cpu]");
    CHECK(w.ok, "%s", w.error.text);
    if (w.ok) {
        const double limit = example_mixed_limit_gbps(db, "m1", 1.0 / 3); /* a third are writes */
        const struct together_outcome *gpu = part_of(&w, 0), *cpu = part_of(&w, 1);
        CHECK(w.result.dram_gbps <= limit * 1.001 && w.result.dram_gbps > 0.85 * limit, "%g of %g GB/s", w.result.dram_gbps,
              limit);
        CHECK(cpu->slowdown > 1.6 && cpu->slowdown < 2.01 && gpu->slowdown > 1.4 && gpu->slowdown < 2.01, "%g, %g", gpu->slowdown,
              cpu->slowdown);
        CU_ASSERT_STRING_EQUAL(cpu->limited_by, "dram");
        double sum = 0;
        for (size_t i = 0; i < w.result.stalls.count; i++)
            sum += w.result.stalls.item[i].value;
        CHECK(fabs(sum - 1) < 1e-6, "stalls sum to %g", sum);
        CU_ASSERT_EQUAL(w.ops, 2);
        CU_ASSERT(w.samples >= 3);
    }
    close_whole(&w);
}

/* With a thousand times the DRAM and SLC bandwidth, no workload slows another. */
static void test_without_a_limit_nobody_is_slowed(void)
{
    struct whole w;
    run_text(&w, "m1-max", NULL, "gemm:128x128x128[unit=amx] + copy:1M[unit=gpu,mode=timing]");
    CHECK(w.ok, "%s", w.error.text);
    for (unsigned i = 0; w.ok && i < 2; i++)
        CHECK(fabs(part_of(&w, i)->slowdown - 1) < 0.02, "%u: %g by %s", i, part_of(&w, i)->slowdown, part_of(&w, i)->limited_by);
    close_whole(&w);
}

static void test_a_single_workload_is_as_if_alone(void)
{
    static const char *const texts[] = {"copy:8M[unit=cpu,cores=4]", "copy:8M[unit=gpu,mode=timing]",
                                        "gemm:256x256x256[unit=amx]"};
    for (size_t i = 0; i < 3; i++) {
        struct whole w;
        run_text(&w, "m1-max", NULL, texts[i]);
        CHECK(w.ok && fabs(part_of(&w, 0)->slowdown - 1) < 1e-9, "%s: %g %s", texts[i], w.ok ? part_of(&w, 0)->slowdown : 0,
              w.error.text);
        CHECK(w.ok && fabs(w.result.joules / part_of(&w, 0)->alone.joules - 1) < 1e-9, "%s: %g of %g J", texts[i],
              w.result.joules, part_of(&w, 0)->alone.joules);
        close_whole(&w);
    }
}

static void test_one_gpu_does_one_thing_at_a_time(void)
{
    struct whole w;
    run_text(&w, "m1", NULL,
             "copy:4M[unit=gpu,mode=timing] + copy:4M[unit=gpu,mode=timing] + copy:4M[unit=gpu,mode=timing,priority=2]");
    CHECK(w.ok, "%s", w.error.text);
    if (w.ok) {
        const double busy = part_of(&w, 0)->alone.device_seconds, launch = part_of(&w, 0)->alone.overhead_seconds;
        const unsigned order[] = {2, 0, 1}; /* all are ready at once: the highest priority first, then in the order of the text */
        for (unsigned i = 0; i < 3; i++)
            CHECK(fabs(part_of(&w, order[i])->seconds - launch - (i + 1) * busy) < 1e-3 * busy, "%u: %g", order[i],
                  part_of(&w, order[i])->seconds);
        CHECK(fabs(w.result.device_seconds - 3 * busy) < 1e-3 * busy, "busy for %g s, three times %g", w.result.device_seconds,
              busy);
    }
    close_whole(&w);
}

static void test_priority_and_weight(void)
{
    struct whole first, heavy, plain;
    run_text(&first, "m1", NULL, "copy:8M[unit=gpu,mode=timing] + copy:8M[unit=cpu,priority=1]");
    run_text(&heavy, "m1", NULL, "copy:8M[unit=gpu,mode=timing] + copy:8M[unit=cpu,weight=3]");
    run_text(&plain, "m1", NULL, "copy:8M[unit=gpu,mode=timing] + copy:8M[unit=cpu]");
    CHECK(first.ok && heavy.ok && plain.ok, "%s%s%s", first.error.text, heavy.error.text, plain.error.text);
    if (first.ok && heavy.ok && plain.ok) {
        /* One core does not fill the DRAM: it waits, and waits longer behind lines of the GPU that are under way. */
        CHECK(part_of(&first, 1)->slowdown < 1.1 && part_of(&first, 1)->slowdown <= part_of(&heavy, 1)->slowdown, "%g of %g",
              part_of(&first, 1)->slowdown, part_of(&heavy, 1)->slowdown);
        const double ahead = part_of(&plain, 0)->alone.overhead_seconds, left = part_of(&plain, 1)->alone.seconds - ahead;
        CHECK(part_of(&heavy, 1)->slowdown > 1.02 && part_of(&heavy, 1)->slowdown < part_of(&plain, 1)->slowdown, "%g of %g",
              part_of(&heavy, 1)->slowdown, part_of(&plain, 1)->slowdown);
        /* From the start of the GPU on, the rest takes at most twice as long. */
        CHECK(part_of(&plain, 1)->seconds <= ahead + 2.001 * left, "%g", part_of(&plain, 1)->seconds);
    }
    close_whole(&first);
    close_whole(&heavy);
    close_whole(&plain);
}

/* Programs get cores of their own. Two of them fill the P cluster of M1, whose clock falls with the number of busy cores. */
static void test_programs_have_their_own_cores(void)
{
    struct whole w;
    run_text(&w, "m1", NULL, "copy:1M[unit=cpu,cores=3] + copy:1M[unit=cpu,cores=3]");
    CHECK(w.ok, "%s", w.error.text);
    close_whole(&w);
    run_text(&w, "m1", NULL, "copy:1M[unit=cpu,cores=5] + copy:1M[unit=cpu,cores=4]");
    CHECK(!w.ok && w.error.exit_code == ORCH_USAGE && strstr(w.error.text, "9 were asked for"), "%s", w.error.text);
    close_whole(&w);
}

/* Four cores of one run meet line by line. Two runs of two cores each are timed by rates, and again line by line. All three
 * agree. The arrays are beyond all caches. */
static void test_rates_agree_with_lines(void)
{
    struct whole one, rates, lines;
    run_text(&one, "m1", NULL, "copy:24M[unit=cpu,cores=4]");
    run_text(&rates, "m1", NULL, "copy:12M[unit=cpu,cores=2,weight=1] + copy:12M[unit=cpu,cores=2,weight=1]");
    run_text(&lines, "m1", NULL, "copy:12M[unit=cpu,cores=2] + copy:12M[unit=cpu,cores=2]");
    CHECK(one.ok && rates.ok && lines.ok, "%s%s%s", one.error.text, rates.error.text, lines.error.text);
    if (one.ok && rates.ok && lines.ok) {
        CU_ASSERT_STRING_EQUAL(together_sharing(rates.together), "max-min fair rates");
        CU_ASSERT_STRING_EQUAL(together_sharing(lines.together), "line by line");
        CHECK(fabs(rates.result.seconds / one.result.seconds - 1) < 0.03, "%g by rates, %g", rates.result.seconds,
              one.result.seconds);
        CHECK(fabs(lines.result.seconds / one.result.seconds - 1) < 0.03, "%g line by line, %g", lines.result.seconds,
              one.result.seconds);
        /* Their energy agrees, too, except for memory: rates keep the DRAM traffic that each has alone. */
        const double of_one = run_values_get(&one.result.joules_by, "cpu");
        CHECK(fabs(run_values_get(&rates.result.joules_by, "cpu") / of_one - 1) < 0.05, "%g J by rates, %g",
              run_values_get(&rates.result.joules_by, "cpu"), of_one);
        CHECK(fabs(lines.result.joules / one.result.joules - 1) < 0.05, "%g J line by line, %g", lines.result.joules,
              one.result.joules);
        /* Not quite twice as long as alone: two cores alone leave gaps on the channels. */
        for (unsigned k = 0; k < 2; k++)
            CHECK(part_of(&lines, k)->slowdown > 1.8 && part_of(&lines, k)->slowdown < 2.1, "%g", part_of(&lines, k)->slowdown);
    }
    close_whole(&one);
    close_whole(&rates);
    close_whole(&lines);
}

/* Each fits the L2 of M1's P cluster alone, but not both together, which only shows line by line. */
static void test_programs_meet_in_the_caches(void)
{
    struct whole w;
    run_text(&w, "m1", NULL, "copy:4M[unit=cpu] + copy:4M[unit=cpu]");
    CHECK(w.ok, "%s", w.error.text);
    if (w.ok)
        CHECK(part_of(&w, 0)->slowdown > 1.15, "%g by %s", part_of(&w, 0)->slowdown, part_of(&w, 0)->limited_by);
    close_whole(&w);
}

/* One GPU launch over both dies of M2 Ultra: the place of its pages decides which DRAM works and what crosses the link. */
static void test_a_launch_over_two_dies(void)
{
    struct whole w;
    run_text(&w, "m2-ultra", "mem.placement=local", "copy:2M[unit=gpu,mode=timing,cold]");
    CHECK(w.ok, "%s", w.error.text);
    if (w.ok) {
        const struct run_values *c = &w.result.counters;
        const double fabric =
            run_values_get(c, "traffic.gpu.fabric_read_bytes") + run_values_get(c, "traffic.gpu.fabric_write_bytes");
        CU_ASSERT(run_values_get(c, "traffic.die0.dram_read_bytes") >= 2097152);
        CU_ASSERT(isnan(run_values_get(c, "traffic.die1.dram_read_bytes")));
        CHECK(fabs(run_values_get(c, "traffic.gpu.remote_bytes") / fabric - 0.5) < 0.05, "%g of %g are remote",
              run_values_get(c, "traffic.gpu.remote_bytes"), fabric); /* half the cores are on the other die */
        CU_ASSERT_EQUAL(run_values_get(c, "traffic.die0.link_bytes") + run_values_get(c, "traffic.die1.link_bytes"),
                        run_values_get(c, "traffic.gpu.remote_bytes"));
        CU_ASSERT_EQUAL(run_values_get(&part_of(&w, 0)->alone.counters, "traffic.dram_imbalance"), 1);
    }
    close_whole(&w);
    run_text(&w, "m2-ultra", "mem.placement=interleave", "copy:2M[unit=gpu,mode=timing,cold]");
    CHECK(w.ok && run_values_get(&part_of(&w, 0)->alone.counters, "traffic.dram_imbalance") < 0.2, "%s", w.error.text);
    close_whole(&w);
}

static void test_equal_requests_have_equal_answers(void)
{
    struct whole a, b;
    run_text(&a, "m1", NULL, "copy:2M[unit=gpu,mode=timing] + copy:2M[unit=cpu]");
    run_text(&b, "m1", NULL, "copy:2M[unit=gpu,mode=timing] + copy:2M[unit=cpu]");
    CU_ASSERT(a.ok && b.ok && a.result.seconds == b.result.seconds);
    CU_ASSERT_STRING_EQUAL(together_begin_event(a.together)->options, together_begin_event(b.together)->options);
    close_whole(&b);
    run_text(&b, "m1", NULL, "copy:2M[unit=gpu,mode=timing] + copy:2M[unit=cpu,weight=2]");
    CU_ASSERT(strcmp(together_begin_event(a.together)->options, together_begin_event(b.together)->options) != 0);
    close_whole(&a);
    close_whole(&b);
}

static double counted(const struct run_result *r, const char *kind)
{
    double sum = 0;
    for (size_t i = 0; i < r->counters.count; i++) {
        const char *const name = r->counters.item[i].name;
        if (strncmp(name, "energy.", 7) == 0 && strcmp(strrchr(name, '.') + 1, kind) == 0)
            sum += r->counters.item[i].value;
    }
    return sum;
}

static double of_units(const struct run_result *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->joules_by.count; i++)
        sum += r->joules_by.item[i].value;
    return sum;
}

/* Energies of events add up, what is always on is counted once, and nothing is missing from the parts. */
static void test_energies_add_up(void)
{
    static const char *const texts[] = {
        "stream-triad:2M[unit=gpu,mode=timing] + stream-triad:2M[unit=cpu,cores=2] + gemm:64x256x256[unit=ane,precision=f16]",
        "gemm:256x256x256[unit=amx] + copy:1M[unit=gpu,mode=timing] + copy:1M[unit=gpu,mode=timing,priority=1]", /* it waits while
                                                                                                                    they work */
    };
    for (size_t k = 0; k < ARRAY_COUNT(texts); k++) {
        struct whole w;
        run_text(&w, "m1", NULL, texts[k]);
        CHECK(w.ok, "%s", w.error.text);
        double events = 0, parts = 0, soc_w = 0, slc_w = 0, least = 0;
        for (unsigned i = 0; w.ok && i < together_count(w.together); i++) {
            const struct together_outcome *o = part_of(&w, i);
            events += counted(&o->alone, "dynamic");
            slc_w = run_values_get(&o->alone.counters, "energy.slc.leakage") / o->alone.seconds;
            parts += o->dynamic_joules;
            soc_w = run_values_get(&o->alone.joules_by, "soc") / o->alone.seconds;
            least = fmax(least, o->alone.joules);
        }
        if (w.ok) {
            const double soc = run_values_get(&w.result.joules_by, "soc");
            CHECK(fabs(counted(&w.result, "dynamic") / events - 1) < 1e-9, "%g J of events, %g alone",
                  counted(&w.result, "dynamic"), events);
            CHECK(fabs(parts / events - 1) < 1e-9, "%g J told by part", parts);
            CHECK(fabs(of_units(&w.result) / w.result.joules - 1) < 1e-9, "units sum to %g of %g J", of_units(&w.result),
                  w.result.joules);
            CHECK(fabs(soc / (soc_w * w.result.seconds) - 1) < 1e-9, "rest of the chip: %g J", soc);
            const double slc = run_values_get(&w.result.counters, "energy.slc.leakage");
            CHECK(fabs(slc / (slc_w * w.result.seconds) - 1) < 1e-9, "the SLC leaks %g J", slc);
            CHECK(w.result.joules > least, "%g J, one alone %g", w.result.joules, least);
            CU_ASSERT_DOUBLE_EQUAL(w.result.watts_avg, w.result.joules / w.result.seconds, 1e-9);
            CU_ASSERT(w.result.watts_peak >= w.result.watts_avg);
        }
        close_whole(&w);
    }
}

/* A workload that ended long ago is gated and costs only the leakage behind gates. */
static void test_units_of_an_ended_workload_are_gated(void)
{
    static const char *const text = "copy:1M[unit=gpu,mode=timing] + copy:1M[unit=cpu,start=%s]";
    double watts_more[2];
    for (unsigned k = 0; k < 2; k++) {
        struct whole w, soon;
        char late[120], later[120];
        snprintf(late, sizeof late, text, k ? "1.5" : "0.01");
        snprintf(later, sizeof later, text, k ? "2.5" : "0.02");
        run_text(&soon, "m1", NULL, late);
        run_text(&w, "m1", NULL, later);
        CHECK(w.ok && soon.ok, "%s", w.error.text);
        watts_more[k] = (w.result.joules - soon.result.joules) / (w.result.seconds - soon.result.seconds);
        close_whole(&w);
        close_whole(&soon);
    }
    CHECK(watts_more[0] > 1.5 * watts_more[1] && watts_more[1] > 0, "%g W while clocked, %g W behind gates", watts_more[0],
          watts_more[1]);
}

static void test_texts(void)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"copy:1M + ", "a workload is missing"},
        {"+ copy:1M", "a workload is missing"},
        {"copy:1M[unit=gpu + copy:1M", "'[' without ']'"},
        {"copy:1M[unit] + copy:1M", "expected NAME=VALUE"},
        {"copy:1M[unti=gpu] + copy:1M", "unit"},
        {"copy:1M[cores=0] + copy:1M", "expected 1 to 64"},
        {"copy:1M[weight=-1] + copy:1M", "weight"},
        {"copy:1M[priority=1.5] + copy:1M", "whole number"},
        {"copy:1M[mode=fast] + copy:1M", "no such choice"},
        {"copy:1M[mode=functional] + copy:1M", "no time"},
        {"foo:1 + copy:1M", "foo"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        struct whole w;
        run_text(&w, "m1", NULL, wrong[i].text);
        CHECK(!w.ok && w.error.exit_code == ORCH_USAGE && strstr(w.error.text, wrong[i].words), "%s: %s", wrong[i].text,
              w.error.text);
        close_whole(&w);
    }
    CU_ASSERT(together_is("a + b"));
    CU_ASSERT(!together_is("gemm:1x1x1,act=add+relu"));
    CU_ASSERT(!together_is("a[x=1 + 2]"));
}

static const struct suite_test tests[] = {
    {"two streams share the DRAM", test_two_streams_share_the_dram},
    {"without a limit nobody is slowed", test_without_a_limit_nobody_is_slowed},
    {"a single workload is as if alone", test_a_single_workload_is_as_if_alone},
    {"one GPU does one thing at a time", test_one_gpu_does_one_thing_at_a_time},
    {"priority and weight", test_priority_and_weight},
    {"programs have their own cores", test_programs_have_their_own_cores},
    {"rates agree with lines", test_rates_agree_with_lines},
    {"programs meet in the caches", test_programs_meet_in_the_caches},
    {"a launch over two dies", test_a_launch_over_two_dies},
    {"equal requests have equal answers", test_equal_requests_have_equal_answers},
    {"energies add up", test_energies_add_up},
    {"units of an ended workload are gated", test_units_of_an_ended_workload_are_gated},
    {"texts of requests are read as written", test_texts},
};

int main(void)
{
    return example_chips_run("concurrent", tests, ARRAY_COUNT(tests), &db);
}
