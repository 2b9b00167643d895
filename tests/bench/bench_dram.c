/* Host time that DRAM's model takes per access of 128 bytes, for the channels of M1 and M1 Pro: a requester with `AHEAD` lines a
 * channel under way reads a stream, copies, or reads and writes at random. The share of the peak tells whether two builds did
 * the same.
 */
#include "isa/array_count.h"
#include "units/mem/dram.h"
#include "units/mem/mem_space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CHANNELS = 8, AHEAD = 32, ACCESSES = 2000000 };

struct pattern {
    const char *name;
    unsigned streams; /* 0: random */
    unsigned writes;  /* of 4 accesses */
};

static double cpu_seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* The host is shared, so only the time of this process counts. */
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Returns the simulated time at the end. */
static double walk(struct mem_dram *dram, const struct pattern *p)
{
    static double done_ns[CHANNELS * AHEAD];
    uint64_t seed = 88172645463325252u, at[4] = {0, 77, 1 << 22, (1 << 22) + 177};
    double end_ns = 0;
    memset(done_ns, 0, sizeof done_ns);
    for (unsigned i = 0; i < ACCESSES; i++) {
        double *const slot = &done_ns[i % ARRAY_COUNT(done_ns)];
        /* A stream that is written is not read: the upper half of the streams, when there are any. */
        const unsigned stream = p->streams ? i % p->streams : 0;
        const uint64_t line = p->streams ? at[stream]++ : next_random(&seed) >> 40;
        const bool write = p->streams > 1 ? stream >= p->streams - p->writes : i % 4 < p->writes;
        const uint32_t channel = mem_dram_channel(dram, line, 0);
        *slot = write ? mem_dram_write(dram, *slot, channel, line, MEM_LINE_BYTES)
                      : mem_dram_read(dram, *slot, channel, line, MEM_LINE_BYTES);
        end_ns = fmax(end_ns, *slot);
    }
    return end_ns;
}

static bool measure(const char *standard, double peak_gbps, const struct pattern *p)
{
    struct mem_params params = {
        .dram_latency_ns = 100,
        .dram_peak_gbps = peak_gbps,
        .dram_channels = CHANNELS,
        .dram_policy = {.refresh = DRAM_REFRESH_STRICT,
                        .row_idle_ns = 200,
                        .window = 128,
                        .write_high = 128,
                        .write_low = 32,
                        .bank_lines = 2},
    };
    struct mem_dram dram;
    double best = INFINITY, end_ns = 0;
    if (!dram_standard(standard, 8, &params.dram_timing) || !mem_dram_init(&dram, &params))
        return false;
    for (int pass = 0; pass < 3; pass++) {
        mem_dram_restart(&dram, 0);
        const double begin = cpu_seconds();
        end_ns = walk(&dram, p);
        best = fmin(best, cpu_seconds() - begin);
    }
    mem_dram_release(&dram);
    printf("%-13s %-24s %6.1f ns  %.4f of the peak\n", standard, p->name, 1e9 * best / ACCESSES,
           (double)ACCESSES * MEM_LINE_BYTES / end_ns / peak_gbps);
    return true;
}

int main(void)
{
    static const struct pattern patterns[] = {
        {"stream of reads", 1, 0}, {"copy", 2, 1}, {"triad", 3, 1}, {"random reads", 0, 0}, {"random, a quarter writes", 0, 1}};
    bool ok = true;
    for (size_t i = 0; i < ARRAY_COUNT(patterns); i++)
        ok = measure("LPDDR4X-4266", CHANNELS * 8.533, &patterns[i]) && measure("LPDDR5-6400", CHANNELS * 12.8, &patterns[i]) &&
             ok;
    return ok ? 0 : 1;
}
