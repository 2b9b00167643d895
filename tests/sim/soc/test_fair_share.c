/* Sharing against closed forms, and against the definition of max-min fairness: no flow can have more without taking from a flow
 * that has no more than itself. Slices: how long they take together, queues, priorities, dependencies, and who waits for what.
 */
#include "sim/soc/fair_share.h"
#include "sim/soc/slices.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

enum { DRAM, LINK };
static const double on_dram[] = {1, 0}, on_link[] = {0, 1}, on_both[] = {1, 1};

static int close_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static void test_two_equal_streams_have_half_each(void)
{
    const struct fair_resource r[] = {{"dram", 60, 0}, {"link", INFINITY, 0}};
    const struct fair_flow f[] = {{.demand_gbps = 50, .load = on_dram}, {.demand_gbps = 50, .load = on_dram}};
    struct fair_rate x[2];
    fair_share(r, 2, f, 2, x);
    CHECK(close_to(x[0].gbps, 30) && close_to(x[1].gbps, 30), "%g and %g", x[0].gbps, x[1].gbps);
    CU_ASSERT_EQUAL(x[0].limit, DRAM);
}

static void test_what_a_small_demand_leaves_goes_to_the_large(void)
{
    const struct fair_resource r[] = {{"dram", 60, 0}, {"link", INFINITY, 0}};
    const struct fair_flow f[] = {
        {.demand_gbps = 10, .load = on_dram}, {.demand_gbps = 45, .load = on_dram}, {.demand_gbps = 45, .load = on_dram}};
    struct fair_rate x[3];
    fair_share(r, 2, f, 3, x);
    CHECK(close_to(x[0].gbps, 10) && close_to(x[1].gbps, 25) && close_to(x[2].gbps, 25), "%g %g %g", x[0].gbps, x[1].gbps,
          x[2].gbps);
    CU_ASSERT_EQUAL(x[0].limit, -1);
}

static void test_weights_set_the_ratio(void)
{
    const struct fair_resource r[] = {{"dram", 60, 0}, {"link", INFINITY, 0}};
    const struct fair_flow f[] = {{.demand_gbps = 100, .load = on_dram, .weight = 2}, {.demand_gbps = 100, .load = on_dram}};
    struct fair_rate x[2];
    fair_share(r, 2, f, 2, x);
    CHECK(close_to(x[0].gbps, 40) && close_to(x[1].gbps, 20), "%g and %g", x[0].gbps, x[1].gbps);
}

static void test_a_priority_takes_what_it_wants_first(void)
{
    const struct fair_resource r[] = {{"dram", 60, 0}, {"link", INFINITY, 0}};
    const struct fair_flow f[] = {{.demand_gbps = 50, .load = on_dram},
                                  {.demand_gbps = 45, .load = on_dram, .priority = 1},
                                  {.demand_gbps = 50, .load = on_dram}};
    struct fair_rate x[3];
    fair_share(r, 2, f, 3, x);
    CHECK(close_to(x[1].gbps, 45) && close_to(x[0].gbps, 7.5) && close_to(x[2].gbps, 7.5), "%g %g %g", x[0].gbps, x[1].gbps,
          x[2].gbps);
}

/* The link holds the flow through both to 10, which leaves 50 of the DRAM for the other. */
static void test_a_flow_held_elsewhere_leaves_its_share(void)
{
    const struct fair_resource r[] = {{"dram", 60, 0}, {"link", 20, 0}};
    const struct fair_flow f[] = {
        {.demand_gbps = 100, .load = on_both}, {.demand_gbps = 100, .load = on_link}, {.demand_gbps = 100, .load = on_dram}};
    struct fair_rate x[3];
    fair_share(r, 2, f, 3, x);
    CHECK(close_to(x[0].gbps, 10) && close_to(x[1].gbps, 10) && close_to(x[2].gbps, 50), "%g %g %g", x[0].gbps, x[1].gbps,
          x[2].gbps);
    CU_ASSERT_EQUAL(x[0].limit, LINK);
    CU_ASSERT_EQUAL(x[2].limit, DRAM);
}

/* A flow of 100 GB/s from caches with 1 GB/s of DRAM has such a small share of the DRAM that it loses nothing to a stream. */
static void test_little_traffic_at_a_full_resource_is_not_held_back(void)
{
    const double mostly_cache[] = {0.01, 1};
    const struct fair_resource r[] = {{"dram", 60, 0}, {"l2", 120, 0}};
    const struct fair_flow f[] = {{.demand_gbps = 100, .load = mostly_cache}, {.demand_gbps = 100, .load = on_dram}};
    struct fair_rate x[2];
    fair_share(r, 2, f, 2, x);
    CHECK(close_to(x[0].gbps, 100) && close_to(x[1].gbps, 59), "%g and %g", x[0].gbps, x[1].gbps);
}

/* One line of 128 bytes in flight, 100 ns: 1.28 GB/s. Behind four requesters at 64 GB/s, each request waits 4 x 128 / 64 = 8 ns.
 */
static void test_a_latency_bound_victim_waits_one_line_of_each(void)
{
    const struct fair_resource r[] = {{"dram", 64, FAIR_LINE_BYTES}, {"link", INFINITY, 0}};
    const struct fair_flow f[] = {{.demand_gbps = 1.28, .load = on_dram, .latency_ns = 100, .requesters = 1},
                                  {.demand_gbps = 100, .load = on_dram, .requesters = 4}};
    struct fair_rate x[2];
    fair_share(r, 2, f, 2, x);
    CHECK(close_to(x[0].gbps, 128 / 108.0), "%g", x[0].gbps);
    CHECK(close_to(x[1].gbps, 64 - 128 / 108.0), "%g", x[1].gbps);
    CU_ASSERT_EQUAL(x[0].limit, DRAM);
    CHECK(close_to(x[0].wait_ns, 8), "%g", x[0].wait_ns);
    const struct fair_flow alone[] = {f[0], {.demand_gbps = 60, .load = on_dram, .requesters = 4}};
    fair_share(r, 2, alone, 2, x);
    CHECK(close_to(x[0].gbps, 1.28), "nothing is full, yet it waits: %g", x[0].gbps);
}

#define RESOURCES 5
#define FLOWS     9

/* Random networks with unit loads: all are within capacity, and each flow has what it wants or goes through a full resource where
 * no flow has more. */
static void test_random_networks_are_max_min_fair(void)
{
    uint64_t seed = 7;
    for (int trial = 0; trial < 400; trial++) {
        double load[FLOWS][RESOURCES], used[RESOURCES] = {0};
        struct fair_resource r[RESOURCES];
        struct fair_flow f[FLOWS];
        struct fair_rate x[FLOWS];
        for (int j = 0; j < RESOURCES; j++)
            r[j] = (struct fair_resource){"r", 10 + (double)(suite_random(&seed) % 100), 0};
        for (int i = 0; i < FLOWS; i++) {
            const uint64_t bits = suite_random(&seed) | 1u << i % RESOURCES;
            for (int j = 0; j < RESOURCES; j++)
                load[i][j] = bits >> j & 1 ? (trial % 2 ? 1 : 0.25 * (double)(1 + suite_random(&seed) % 8)) : 0;
            f[i] = (struct fair_flow){.demand_gbps = 1 + (double)(suite_random(&seed) % 60), .load = load[i]};
        }
        fair_share(r, RESOURCES, f, FLOWS, x);
        for (int j = 0; j < RESOURCES; j++) {
            for (int i = 0; i < FLOWS; i++)
                used[j] += x[i].gbps * load[i][j];
            CHECK(used[j] <= r[j].capacity_gbps * (1 + 1e-9), "trial %d: %g of %g", trial, used[j], r[j].capacity_gbps);
        }
        for (int i = 0; i < FLOWS; i++) {
            int held = close_to(x[i].gbps, f[i].demand_gbps);
            for (int j = 0; j < RESOURCES && !held; j++) {
                double most = 0;
                for (int k = 0; k < FLOWS; k++)
                    most = fmax(most, x[k].gbps * load[k][j]);
                held =
                    load[i][j] > 0 && used[j] >= r[j].capacity_gbps * (1 - 1e-7) && x[i].gbps * load[i][j] >= most * (1 - 1e-7);
            }
            CHECK(held, "trial %d: flow %d could have more than %g", trial, i, x[i].gbps);
        }
    }
}

static const struct fair_resource dram_only[] = {{"dram", 60, 0}};

/* 300 bytes take 6 ns at 50 alone, both together have 30 each. When the short one ends at t, the other is alone. */
static void test_slices_speed_up_when_others_end(void)
{
    const double short_bytes[] = {150}, long_bytes[] = {300};
    struct slices *s = slices_create(dram_only, 1);
    struct orch_error error = {0};
    double end = 0;
    const int a = slices_add(s, &(struct slice){.name = "a", .queue = 0, .alone_ns = 3, .bytes = short_bytes}, NULL, 0);
    const int b = slices_add(s, &(struct slice){.name = "b", .queue = 1, .alone_ns = 6, .bytes = long_bytes}, NULL, 0);
    CU_ASSERT(slices_run(s, NULL, NULL, &end, &error));
    CHECK(close_to(slices_outcome(s, a)->end_ns, 5), "%g", slices_outcome(s, a)->end_ns);
    CHECK(close_to(slices_outcome(s, b)->end_ns, 5 + 150 / 50.0), "%g", slices_outcome(s, b)->end_ns);
    CHECK(close_to(slices_outcome(s, b)->lost_ns[0], 2) && close_to(end, 8), "%g", slices_outcome(s, b)->lost_ns[0]);
    CHECK(close_to(slices_bytes(s, 0), 450) && close_to(slices_full_ns(s, 0), 5), "%g bytes, full for %g", slices_bytes(s, 0),
          slices_full_ns(s, 0));
    slices_free(s);
}

static void test_a_queue_runs_one_at_a_time_by_priority(void)
{
    struct slices *s = slices_create(dram_only, 1);
    struct orch_error error = {0};
    double end = 0;
    const int first = slices_add(s, &(struct slice){.name = "first", .queue = 0, .alone_ns = 10}, NULL, 0);
    const int low = slices_add(s, &(struct slice){.name = "low", .queue = 0, .alone_ns = 1, .submit_ns = 1}, NULL, 0);
    const int high =
        slices_add(s, &(struct slice){.name = "high", .queue = 0, .alone_ns = 5, .submit_ns = 2, .priority = 3}, NULL, 0);
    CU_ASSERT(slices_run(s, NULL, NULL, &end, &error));
    CHECK(close_to(slices_outcome(s, high)->start_ns, 10) && close_to(slices_outcome(s, low)->start_ns, 15), "%g, %g",
          slices_outcome(s, high)->start_ns, slices_outcome(s, low)->start_ns);
    CHECK(close_to(slices_outcome(s, low)->queued_ns, 14) && close_to(slices_outcome(s, first)->queued_ns, 0), "%g",
          slices_outcome(s, low)->queued_ns);
    slices_free(s);
}

static void test_a_slice_waits_for_those_before_it(void)
{
    struct slices *s = slices_create(dram_only, 1);
    struct orch_error error = {0};
    double end = 0;
    int before[2];
    before[0] = slices_add(s, &(struct slice){.name = "x", .queue = SLICES_NO_QUEUE, .alone_ns = 4}, NULL, 0);
    before[1] = slices_add(s, &(struct slice){.name = "y", .queue = SLICES_NO_QUEUE, .alone_ns = 7}, NULL, 0);
    const int z = slices_add(s, &(struct slice){.name = "z", .queue = SLICES_NO_QUEUE, .alone_ns = 2}, before, 2);
    CU_ASSERT(slices_run(s, NULL, NULL, &end, &error));
    CHECK(close_to(slices_outcome(s, z)->start_ns, 7) && close_to(end, 9), "%g", end);
    slices_free(s);
}

static void test_the_watchdog_names_who_waits_for_what(void)
{
    const struct fair_resource r[] = {{"dram", 0, 0}};
    const double bytes[] = {10};
    const int ring[] = {2}, behind[] = {1};
    struct slices *s = slices_create(r, 1);
    struct orch_error error = {0};
    double end = 0;
    slices_add(s, &(struct slice){.name = "copy", .queue = 0, .alone_ns = 1, .bytes = bytes}, NULL, 0);
    slices_add(s, &(struct slice){.name = "one", .queue = 1, .alone_ns = 1}, ring, 1);
    slices_add(s, &(struct slice){.name = "two", .queue = 1, .alone_ns = 1}, behind, 1);
    slices_add(s, &(struct slice){.name = "late", .queue = 0, .alone_ns = 1}, NULL, 0);
    CU_ASSERT(!slices_run(s, NULL, NULL, &end, &error));
    CU_ASSERT_EQUAL(error.exit_code, ORCH_INTERNAL);
    CHECK(strstr(error.text, "copy waits for dram") && strstr(error.text, "one waits for two") &&
              strstr(error.text, "two waits for one") && strstr(error.text, "late waits in its queue behind copy"),
          "%s", error.text);
    slices_free(s);
}

/* An hour after the start, a clock in ns cannot resolve a picosecond. Slices must end all the same. */
static void test_late_slices_end(void)
{
    const struct fair_resource r[] = {{"dram", 3, 0}};
    const double bytes[] = {100};
    struct slices *s = slices_create(r, 1);
    struct orch_error error = {0};
    double end = 0;
    for (int i = 0; i < 7; i++)
        slices_add(s,
                   &(struct slice){.name = "late",
                                   .queue = SLICES_NO_QUEUE,
                                   .alone_ns = 33.4 + i / 7.0,
                                   .bytes = bytes,
                                   .submit_ns = 4.7e12 + i * 3.3},
                   NULL, 0);
    CU_ASSERT(slices_run(s, NULL, NULL, &end, &error));
    CU_ASSERT_DOUBLE_EQUAL(end, 4.7e12 + 700.0 / 3, 0.5);
    slices_free(s);
}

static const struct suite_test tests[] = {
    {"late slices end", test_late_slices_end},
    {"two equal streams have half each", test_two_equal_streams_have_half_each},
    {"what a small demand leaves goes to a large one", test_what_a_small_demand_leaves_goes_to_the_large},
    {"weights set the ratio", test_weights_set_the_ratio},
    {"a priority takes what it wants first", test_a_priority_takes_what_it_wants_first},
    {"a flow that is limited elsewhere leaves its share", test_a_flow_held_elsewhere_leaves_its_share},
    {"little traffic at a full resource is not held back", test_little_traffic_at_a_full_resource_is_not_held_back},
    {"a latency-bound victim waits one line of each", test_a_latency_bound_victim_waits_one_line_of_each},
    {"random networks are max-min fair", test_random_networks_are_max_min_fair},
    {"slices speed up when others end", test_slices_speed_up_when_others_end},
    {"a queue runs one at a time by priority", test_a_queue_runs_one_at_a_time_by_priority},
    {"a slice waits for those before it", test_a_slice_waits_for_those_before_it},
    {"the watchdog names who waits for what", test_the_watchdog_names_who_waits_for_what},
};
SUITE_MAIN("fair share", tests)
