/* The rules of the standards, one by one, on hand-made sequences; and books that must balance. */
#include "isa/array_count.h"
#include "tests/support/suite.h"
#include "tests/units/mem_example.h"
#include "units/mem/dram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct dram_timing timing;

static struct dram_channel *start(const char *standard, enum dram_refresh refresh, uint32_t write_high, uint32_t write_low)
{
    static struct dram_channel channel;
    const struct dram_policy policy = {.refresh = refresh, .window = 64, .write_high = write_high, .write_low = write_low};
    CU_ASSERT_TRUE_FATAL(dram_standard(standard, 16, &timing));
    dram_channel_start(&channel, &timing, &policy);
    return &channel;
}

/* A little later, so that what happened "long ago" lies before. */
enum { T0 = 1000 };

static void test_row_hit_miss_and_conflict(void)
{
    for (unsigned i = 0; dram_standard_name(i); i++) {
        struct dram_channel *c = start(dram_standard_name(i), DRAM_REFRESH_NONE, 40, 10);
        const int64_t data = timing.read_latency + timing.burst;
        const int64_t miss = dram_channel_read(c, T0, 0, 7, 1) - T0;
        CU_ASSERT_EQUAL(miss, timing.activate_to_column + data);
        const int64_t later = T0 + 10 * timing.activate_to_activate;
        CU_ASSERT_EQUAL(dram_channel_read(c, later, 0, 7, 1) - later, data);
        const int64_t conflict = later + 10 * timing.activate_to_activate;
        /* Precharges leave the even clocks of the command bus to columns. */
        const int64_t wait = dram_channel_read(c, conflict, 0, 8, 1) - conflict - timing.precharge - timing.activate_to_column;
        CHECK(wait >= data && wait <= data + 2, "%s: a conflict takes %d clocks more", dram_standard_name(i), (int)(wait - data));
        CU_ASSERT_EQUAL(c->counts.activates, 2);
        CU_ASSERT_EQUAL(c->counts.read_bursts, 3);
    }
}

static void test_same_bank_waits_for_trc(void)
{
    struct dram_channel *c = start("LPDDR5-6400", DRAM_REFRESH_NONE, 40, 10);
    const int64_t first = dram_channel_read(c, T0, 3, 1, 1);
    const int64_t second = dram_channel_read(c, T0, 3, 2, 1);
    /* The second activate comes tRC after the first, on the grid of activates at the latest one tRRD on. */
    CHECK(second - first >= timing.activate_to_activate &&
              second - first <= timing.activate_to_activate + timing.activate_spacing,
          "%d clocks apart", (int)(second - first));
}

static void test_activates_keep_their_distance(void)
{
    struct dram_channel *c = start("LPDDR4X-4266", DRAM_REFRESH_NONE, 40, 10);
    for (int bank = 0; bank < 8; bank++)
        dram_channel_read(c, T0, bank, 5, 1);
    int64_t at[8];
    for (int bank = 0; bank < 8; bank++)
        at[bank] = c->bank[bank].activate;
    for (int bank = 0; bank < 8; bank++)
        for (int other = 0; other < bank; other++)
            CHECK(llabs(at[bank] - at[other]) >= timing.activate_spacing, "banks %d and %d: %d clocks", bank, other,
                  (int)(at[bank] - at[other]));
}

static void test_hit_overtakes_conflict(void)
{
    struct dram_channel *c = start("LPDDR5-6400", DRAM_REFRESH_NONE, 40, 10);
    dram_channel_read(c, T0, 0, 1, 1);
    const int64_t now = T0 + 1, conflict = dram_channel_read(c, now, 0, 2, 1), hit = dram_channel_read(c, now, 0, 1, 1);
    CHECK(hit < conflict, "the open row is served first: %d, %d", (int)(hit - now), (int)(conflict - now));
    CU_ASSERT_EQUAL(c->counts.activates, 2);
}

static void test_turnaround(void)
{
    struct dram_channel *c = start("LPDDR5-6400", DRAM_REFRESH_NONE, 40, 10);
    dram_channel_read(c, T0, 0, 1, 2);
    const int64_t last_read = c->last_read;
    /* Nearly all are writes, of which a drain waits for those that arrive while it lasts. */
    int writes = 0;
    for (; c->counts.drains == 0 && writes < 100; writes++)
        dram_channel_write(c, T0, 1 + writes % 4, 1, 4, 0);
    CHECK(writes * 4 > 40 && writes * 4 <= 10 + 4 * (40 - 10) + 4, "a drain after %d bursts", writes * 4);
    CHECK(c->write_bursts <= 10, "%d bursts are left", c->write_bursts);
    CHECK(c->last_write - last_read >= timing.read_to_write, "read to write");
    const int64_t end = dram_channel_read(c, T0 + 1, 9, 1, 1);
    CHECK(end - timing.read_latency - timing.burst >= c->last_write + timing.write_to_read, "write to read: %d clocks",
          (int)(end - timing.read_latency - timing.burst - c->last_write));
}

static void test_idle_channel_sends_its_writes(void)
{
    struct dram_channel *c = start("LPDDR5-6400", DRAM_REFRESH_NONE, 40, 10);
    dram_channel_write(c, T0, 0, 1, 4, 0);
    CU_ASSERT_EQUAL(c->writes, 1);
    dram_channel_read(c, T0 + 5000, 5, 1, 1);
    CU_ASSERT_EQUAL(c->writes, 0);
    CU_ASSERT_EQUAL(c->counts.write_bursts, 4);
}

/* A stream of reads keeps the bus busy but for refresh: 1 - (tRFCab + tRTP + tRPab + tRCD) / tREFI. */
static double stream_share(enum dram_refresh refresh)
{
    enum { LINES = 40000 };
    struct dram_channel *c = start("LPDDR5-6400", refresh, 40, 10);
    int64_t done[64] = {0}, end = 0;
    for (int i = 0; i < LINES; i++) {
        const int page = i / 16;
        end = dram_channel_read(c, done[i % 64], page % 16, page / 16, 4);
        done[i % 64] = end;
    }
    return (double)LINES * 4 * timing.burst / (double)end;
}

static void test_refresh_costs_what_it_must(void)
{
    const double none = stream_share(DRAM_REFRESH_NONE), all = stream_share(DRAM_REFRESH_ALL),
                 strict = stream_share(DRAM_REFRESH_STRICT), polite = stream_share(DRAM_REFRESH_POLITE);
    const double bound =
        1 - (double)(timing.refresh_all + timing.read_to_precharge + timing.precharge_all + timing.activate_to_column) /
                timing.refresh_interval;
    CHECK(none > 0.995, "without refresh %.4f", none);
    CHECK(fabs(all - bound) < 0.01, "all banks at once %.4f, bound %.4f", all, bound);
    CHECK(strict > all && strict < none, "one bank after the other %.4f", strict);
    CHECK(polite > strict && polite < none + 1e-9, "when the bank is idle %.4f", polite);
}

/* What goes in comes out, and no slot of the bus carries two bursts: bursts take no less time than they need. */
static void test_nothing_is_lost(void)
{
    struct dram_channel *c = start("LPDDR5X-8533", DRAM_REFRESH_STRICT, 48, 10);
    uint64_t random = 3, reads = 0, writes = 0;
    int64_t now = 0, last = 0;
    for (int i = 0; i < 200000; i++) {
        const uint64_t r = suite_random(&random);
        now += (int64_t)(r % 24);
        if (r >> 40 & 1) {
            dram_channel_write(c, now, (int)(r >> 8 & 15), (int64_t)(r >> 16 & 255), 4, 0);
            writes += 4;
        } else {
            const int64_t end = dram_channel_read(c, now, (int)(r >> 8 & 15), (int64_t)(r >> 16 & 255), 4);
            CHECK(end >= now + timing.read_latency + 4 * timing.burst, "data before they can be there");
            last = end > last ? end : last;
            reads += 4;
        }
    }
    dram_channel_drain(c, now, 0);
    CU_ASSERT_EQUAL(c->counts.read_bursts, reads);
    CU_ASSERT_EQUAL(c->counts.write_bursts, writes);
    CHECK((double)(reads + writes) * timing.burst <= (double)last, "the bus carries more than it can");
}

static void test_standards(void)
{
    struct dram_timing t;
    CU_ASSERT_FALSE(dram_standard("DDR3", 8, &t));
    for (unsigned i = 0; dram_standard_name(i); i++) {
        double all = 0;
        for (double gbit = 4; gbit <= 64; gbit *= 2) {
            CU_ASSERT_TRUE(dram_standard(dram_standard_name(i), gbit, &t));
            CHECK(t.refresh_all >= all && t.refresh_bank < t.refresh_all, "%s: refresh of %.0f Gb", dram_standard_name(i), gbit);
            all = t.refresh_all;
        }
        const double turn_ns = (t.read_to_write + t.write_to_read - 2 * t.burst) * t.clock_ns;
        CHECK(turn_ns > 29 && turn_ns < 34, "%s: a turn pair costs %.1f ns", dram_standard_name(i), turn_ns);
    }
}

/* The rate of a channel is a parameter of a sweep: latencies in clocks may not jump between two ways of sharing the command bus
 * from one percent to the next. No rate shortens what the cells take. */
static void test_other_rates_share_the_command_bus_alike(void)
{
    static const char *const standards[] = {"LPDDR4X-4266", "LPDDR5-6400", "LPDDR5X-7500", "LPDDR5X-8533"};
    for (size_t i = 0; i < ARRAY_COUNT(standards); i++) {
        struct mem_params params = example_mem();
        CU_ASSERT_TRUE(dram_standard(standards[i], 8, &params.dram_timing));
        const struct dram_timing own = params.dram_timing;
        const double peak_gbps = params.dram_channels * 32 / (own.clock_ns * own.burst);
        for (double factor = 0.5; factor < 3; factor *= 1.01) {
            struct mem_dram dram;
            params.dram_peak_gbps = factor * peak_gbps;
            CU_ASSERT_TRUE_FATAL(mem_dram_init(&dram, &params));
            const struct dram_timing *const t = &dram.timing;
            const int apart = t->read_latency - t->write_latency, own_apart = own.read_latency - own.write_latency;
            CHECK((apart - own_apart) % 2 == 0, "%s x %.3f: %d clocks apart", standards[i], factor, apart);
            CHECK(t->read_latency * t->clock_ns > 0.99 * own.read_latency * own.clock_ns, "%s x %.3f: %d clocks", standards[i],
                  factor, t->read_latency);
            mem_dram_release(&dram);
        }
    }
}

/* Many slots at once are what they are one by one, also where the window moves on or lies behind them. */
static void test_slots_at_once(void)
{
    struct dram_slots apart, at_once;
    uint64_t seed = 8;
    int64_t at = 100;
    dram_slots_clear(&apart);
    dram_slots_clear(&at_once);
    for (unsigned i = 0; i < 3000; i++) {
        const uint64_t random = suite_random(&seed);
        const int64_t first = at - (int64_t)(random % 6000), end = first + (int64_t)(random >> 32) % (i % 9 ? 200 : 9000);
        at += (int64_t)(random >> 20) % (i % 50 ? 300 : 20000);
        if (first < 0)
            continue;
        for (int64_t slot = first; slot < end; slot++)
            dram_slots_take(&apart, slot);
        dram_slots_take_all(&at_once, first, end);
        CHECK(memcmp(&apart, &at_once, sizeof apart) == 0, "slots %lld to %lld", (long long)first, (long long)end);
    }
}

static const struct suite_test tests[] = {
    {"tells row hit, miss and conflict apart", test_row_hit_miss_and_conflict},
    {"opens a bank again after tRC", test_same_bank_waits_for_trc},
    {"keeps activates tRRD apart", test_activates_keep_their_distance},
    {"lets a hit overtake a conflict", test_hit_overtakes_conflict},
    {"turns the bus for a drain", test_turnaround},
    {"sends writes when no read waits", test_idle_channel_sends_its_writes},
    {"pays for refresh", test_refresh_costs_what_it_must},
    {"loses and doubles nothing", test_nothing_is_lost},
    {"knows the standards", test_standards},
    {"takes many slots at once", test_slots_at_once},
    {"shares the command bus alike at other rates", test_other_rates_share_the_command_bus_alike},
};

SUITE_MAIN("dram channel", tests)
