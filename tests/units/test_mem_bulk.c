/* Long streams of a requester without caches: rates, what the SLC still holds, traffic. */
#include "tests/support/suite.h"
#include "tests/units/dram_example.h"
#include "units/mem/mem_bulk.h"

#include <math.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

static struct mem_params params(uint32_t slc_kib)
{
    return (struct mem_params){.slc = {.kib = slc_kib, .ways = 16},
                               .slc_latency_ns = 60,
                               .slc_gbps = 200,
                               .dram_latency_ns = 100,
                               .dram_peak_gbps = 100,
                               .dram_timing = example_dram(),
                               .dram_policy = EXAMPLE_DRAM_POLICY,
                               .dram_channels = 8,
                               .dies = 1};
}

/* Of a peak of 100 GB/s, one stream of reads and one of reads and writes in turn (tests/golden/dram has such shares). */
static double read_gbps(void)
{
    const struct mem_params p = params(0);
    const double gbps = mem_dram_stream_gbps(&p, 0);
    CHECK(gbps > 95 && gbps < 100.5, "%.2f GB/s", gbps);
    return gbps;
}

static double turned_gbps(void)
{
    const struct mem_params p = params(0);
    const double gbps = mem_dram_stream_gbps(&p, 0.5);
    CHECK(gbps > 82 && gbps < 96, "%.2f GB/s", gbps);
    return gbps;
}

struct fixture {
    struct mem_system *system;
    struct mem_bulk *bulk;
    struct activity traffic;
};

static struct fixture open_with(const struct mem_params *p)
{
    struct fixture f = {.system = mem_system_create(p)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.system);
    f.bulk = mem_bulk_create(f.system);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.bulk);
    return f;
}

static struct fixture open(uint32_t slc_kib)
{
    const struct mem_params p = params(slc_kib);
    return open_with(&p);
}

static void close(struct fixture *f)
{
    mem_bulk_free(f->bulk);
    mem_system_free(f->system);
}

static double stream(struct fixture *f, uint64_t address, uint64_t bytes, bool write)
{
    uint64_t held;
    const double ns = mem_bulk_ns(f->bulk, address, bytes, write, &held);
    memset(&f->traffic, 0, sizeof f->traffic);
    mem_system_take_activity(f->system, &f->traffic);
    CU_ASSERT_EQUAL(held, f->traffic.count[ACT_SLC_READ_BYTES]);
    return ns;
}

static uint64_t count(const struct fixture *f, enum activity_event event)
{
    return f->traffic.count[event];
}

static void test_first_reads_come_from_dram_and_stay(void)
{
    struct fixture f = open(8192);
    CHECK(fabs(stream(&f, 0x100, MIB, false) * read_gbps() / MIB - 1) < 0.01, "DRAM reads at %.1f GB/s", read_gbps());
    CU_ASSERT_EQUAL(count(&f, ACT_DRAM_READ_BYTES), MIB);
    CU_ASSERT_EQUAL(count(&f, ACT_SLC_READ_BYTES), 0);
    CHECK(fabs(stream(&f, 0x100, MIB, false) - MIB / 200.0) < 1, "SLC reads at 200 GB/s");
    CU_ASSERT_EQUAL(count(&f, ACT_DRAM_READ_BYTES), 0);
    CU_ASSERT_EQUAL(count(&f, ACT_SLC_READ_BYTES), MIB);
    mem_bulk_flush(f.bulk);
    stream(&f, 0x100, MIB, false);
    CU_ASSERT_EQUAL(count(&f, ACT_DRAM_READ_BYTES), MIB);
    close(&f);
}

static void test_what_is_larger_than_the_slc_does_not_stay(void)
{
    struct fixture f = open(8192);
    stream(&f, 0, 64 * MIB, false);
    stream(&f, 0, 64 * MIB, false);
    CU_ASSERT_EQUAL(count(&f, ACT_DRAM_READ_BYTES), 64 * MIB);
    /* The last of it is still there, but for a few blocks that share a place of the table. */
    stream(&f, 60 * MIB, 4 * MIB, false);
    CHECK(count(&f, ACT_SLC_READ_BYTES) > 3 * MIB, "%llu", (unsigned long long)count(&f, ACT_SLC_READ_BYTES));
    close(&f);
}

static void test_written_blocks_reach_dram_once(void)
{
    struct fixture f = open(1024);
    stream(&f, 0, MIB / 2, true);
    CU_ASSERT_EQUAL(count(&f, ACT_SLC_WRITE_BYTES), MIB / 2);
    stream(&f, 0, MIB / 2, true);
    CU_ASSERT_EQUAL(count(&f, ACT_DRAM_WRITE_BYTES), 0);
    stream(&f, 0, MIB / 2, false);
    CU_ASSERT_EQUAL(count(&f, ACT_SLC_READ_BYTES), MIB / 2);
    uint64_t written = 0;
    for (unsigned i = 1; i < 200; i++) { /* until every place was used again */
        stream(&f, i * MIB, MIB, false);
        written += count(&f, ACT_DRAM_WRITE_BYTES);
    }
    CU_ASSERT_EQUAL(written, MIB / 2);
    close(&f);
}

static void test_machines_without_slc(void)
{
    struct fixture f = open(0);
    CHECK(fabs(stream(&f, 0, MIB, true) * turned_gbps() / MIB - 1) < 0.01, "writes");
    CU_ASSERT_EQUAL(count(&f, ACT_DRAM_WRITE_BYTES), MIB);
    CU_ASSERT_EQUAL(count(&f, ACT_SLC_WRITE_BYTES), 0);
    CU_ASSERT_EQUAL(stream(&f, 0, 0, false), 0);
    close(&f);
}

/* Two dies, pages in turn on both: half of a stream crosses, reads from die 1, writes from die 0, and a slow link is the limit.
 */
static void test_the_other_die_is_behind_the_link(void)
{
    struct mem_params p = params(8192);
    p.dies = 2;
    p.die_policy = MEM_DIE_INTERLEAVE;
    p.die_link_gbps = 10;
    struct fixture f = open_with(&p);
    struct mem_counters c;
    CHECK(fabs(stream(&f, 0, MIB, false) - MIB / 2 / 10.0) < 1, "half of it at 10 GB/s");
    CHECK(fabs(stream(&f, 16 * MIB, MIB / 2, true) - MIB / 4 / 10.0) < 1, "half of it at 10 GB/s");
    mem_system_counters(f.system, &c);
    CU_ASSERT_EQUAL(c.traffic.die[1][MEM_DIE_LINK], MIB / 2);
    CU_ASSERT_EQUAL(c.traffic.die[0][MEM_DIE_LINK], MIB / 4);
    CU_ASSERT_EQUAL(c.traffic.requester[MEM_REQUESTERS - 1][MEM_FLOW_REMOTE], MIB / 2 + MIB / 4);
    close(&f);
    p.die_policy = MEM_DIE_FIRST_TOUCH; /* all of it is where the engine is */
    f = open_with(&p);
    CHECK(fabs(stream(&f, 0, MIB, false) * 2 * read_gbps() / MIB - 1) < 0.01, "DRAM of both dies");
    mem_system_counters(f.system, &c);
    CU_ASSERT_EQUAL(c.traffic.die[0][MEM_DIE_LINK] + c.traffic.die[1][MEM_DIE_LINK], 0);
    close(&f);
}

static const struct suite_test tests[] = {
    {"first reads come from DRAM and stay", test_first_reads_come_from_dram_and_stay},
    {"what is larger than the SLC does not stay", test_what_is_larger_than_the_slc_does_not_stay},
    {"written blocks reach DRAM once", test_written_blocks_reach_dram_once},
    {"machines without SLC", test_machines_without_slc},
    {"the other die is behind the link", test_the_other_die_is_behind_the_link},
};
SUITE_MAIN("mem bulk", tests)
