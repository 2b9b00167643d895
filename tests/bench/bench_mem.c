/* Host time that the memory timing model takes per access, by the level that answers: from a P core and an AMX port of M1 Max, a
 * GPU core, and a port at the fabric. It also prints the simulated time at the end, which tells whether two builds did the same.
 */
#include "isa/array_count.h"
#include "sim/chip/chip_units.h"
#include "units/mem/mem_timing.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LINE 128u
#define MIB  (UINT64_C(1) << 20)

struct bench {
    struct mem_system *memory;
    struct mem_port *core, *amx, *gpu[4], *fabric;
    uint64_t seed;
    const char *only; /* only patterns with this in their name */
};

/* One way to use a port: `count` accesses of `bytes`, `step` apart within a window of `window` bytes, or at random. */
struct pattern {
    const char *name;
    uint64_t window, step;
    uint32_t bytes;
    enum mem_access_kind kind;
    bool random, chained; /* chained: each access waits for the one before */
    bool cold;            /* without a warm-up */
    uint64_t pc;
    uint32_t count;
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

static double walk(struct bench *b, struct mem_port *const *ports, uint32_t port_count, const struct pattern *p, double now_ns,
                   uint64_t count)
{
    const uint64_t base = UINT64_C(1) << 48 | UINT64_C(0x10000000);
    uint64_t at = 0;
    double last = now_ns;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t offset = p->random ? next_random(&b->seed) % (p->window / p->step) * p->step : at;
        const struct mem_reply r = mem_port_access(ports[i % port_count], now_ns, base + offset, p->bytes, p->kind, p->pc);
        last = r.ready_ns > last ? r.ready_ns : last;
        /* As if a queue held 64 accesses: the next one is issued shortly before the last one is answered. */
        now_ns = p->chained ? r.ready_ns : now_ns + 0.3 > r.ready_ns - 100.0 ? now_ns + 0.3 : r.ready_ns - 100.0;
        at = at + p->step < p->window ? at + p->step : 0;
    }
    return last > now_ns ? last : now_ns;
}

static void measure(struct bench *b, const char *who, struct mem_port *const *ports, uint32_t port_count, const struct pattern *p)
{
    double best = 1e9, end_ns = 0;
    if (b->only && !strstr(p->name, b->only))
        return;
    struct mem_counters counters;
    for (int pass = 0; pass < 3; pass++) {
        b->seed = 88172645463325252u;
        mem_system_flush(b->memory);
        mem_system_restart(b->memory, 0.0);
        if (!p->cold) {
            struct pattern warm = *p;
            warm.random = false;
            const double t = walk(b, ports, port_count, &warm, 0.0, p->window / p->step);
            mem_system_restart(b->memory, t);
            end_ns = t;
        } else {
            end_ns = 0.0;
        }
        const double begin = cpu_seconds();
        end_ns = walk(b, ports, port_count, p, end_ns, p->count);
        const double seconds = cpu_seconds() - begin;
        best = seconds < best ? seconds : best;
        mem_system_counters(b->memory, &counters);
    }
    const double hits = (double)(counters.hits[0] + counters.hits[1] + counters.hits[2] + counters.hits[3]);
    printf("%-7s %-34s %7.1f ns  L1 %3.0f%% L2 %3.0f%% SLC %3.0f%% DRAM %3.0f%%  prefetched %7llu  end %.6f\n", who, p->name,
           1e9 * best / p->count, 100 * (double)counters.hits[MEM_L1] / hits, 100 * (double)counters.hits[MEM_L2] / hits,
           100 * (double)counters.hits[MEM_SLC] / hits, 100 * (double)counters.hits[MEM_DRAM] / hits,
           (unsigned long long)counters.prefetch_issued, end_ns);
}

static const struct pattern core_patterns[] = {
    {"L1 hits, stream", 64 << 10, 16, 16, MEM_ACCESS_LOAD, .pc = 64, .count = 4000000},
    {"L1 hits, random", 64 << 10, 16, 16, MEM_ACCESS_LOAD, .random = true, .pc = 64, .count = 4000000},
    {"L2, stream by lines", 4 * MIB, LINE, 16, MEM_ACCESS_LOAD, .pc = 64, .count = 1000000},
    {"L2, random", 8 * MIB, LINE, 16, MEM_ACCESS_LOAD, .random = true, .count = 1000000},
    {"SLC, random", 36 * MIB, LINE, 16, MEM_ACCESS_LOAD, .random = true, .count = 500000},
    {"DRAM, random chain", 1024 * MIB, LINE, 8, MEM_ACCESS_LOAD, .random = true, .chained = true, .cold = true, .count = 500000},
    {"DRAM, stream by lines", 64 * MIB, LINE, 128, MEM_ACCESS_LOAD, .cold = true, .pc = 64, .count = 524288},
    {"DRAM, stream of 16 bytes", 64 * MIB, 16, 16, MEM_ACCESS_LOAD, .cold = true, .pc = 64, .count = 4000000},
    {"DRAM, stores", 64 * MIB, 32, 32, MEM_ACCESS_STORE, .cold = true, .pc = 64, .count = 2000000},
    {"DRAM, streaming stores", 64 * MIB, 32, 32, MEM_ACCESS_STORE_STREAM, .cold = true, .pc = 64, .count = 2000000},
};

static const struct pattern amx_patterns[] = {
    {"L2, stream by lines", 4 * MIB, LINE, 128, MEM_ACCESS_LOAD, .count = 2000000},
    {"L2, random", 8 * MIB, LINE, 128, MEM_ACCESS_LOAD, .random = true, .count = 2000000},
    {"DRAM, stream by lines", 64 * MIB, LINE, 128, MEM_ACCESS_LOAD, .cold = true, .count = 524288},
    {"L2, stores", 4 * MIB, LINE, 128, MEM_ACCESS_STORE, .count = 1000000},
};

static const struct pattern gpu_patterns[] = {
    {"L1 hits", 4 << 10, LINE, 128, MEM_ACCESS_LOAD, .count = 2000000},
    {"L2, stream by lines", 256 << 10, LINE, 128, MEM_ACCESS_LOAD, .count = 2000000},
    {"SLC, stream by lines", 16 * MIB, LINE, 128, MEM_ACCESS_LOAD, .count = 1000000},
    {"SLC, random", 16 * MIB, LINE, 128, MEM_ACCESS_LOAD, .random = true, .count = 1000000},
    {"DRAM, stream by lines", 128 * MIB, LINE, 128, MEM_ACCESS_LOAD, .cold = true, .count = 1000000},
    {"DRAM, stores", 128 * MIB, LINE, 128, MEM_ACCESS_STORE, .cold = true, .count = 1000000},
};

static const struct pattern fabric_patterns[] = {
    {"SLC, stream by lines", 16 * MIB, LINE, 128, MEM_ACCESS_LOAD, .count = 1000000},
    {"DRAM, stream by lines", 128 * MIB, LINE, 128, MEM_ACCESS_LOAD, .cold = true, .count = 1000000},
};

static bool open_machine(struct bench *b, const struct chip *chip, struct orch_error *error)
{
    struct mem_params memory;
    struct mem_port_params port;
    unsigned gpu_cluster;
    /* The first cluster may hold E cores. */
    struct chip_clusters clusters;
    if (!chip_clusters(chip, &clusters, error) || !chip_mem_params(chip, NULL, &memory, error) ||
        !chip_gpu_memory(chip, &memory, &gpu_cluster, error))
        return false;
    unsigned cluster = 0;
    while (cluster + 1 < clusters.count && clusters.cluster[cluster].kind != CHIP_P_CORE)
        cluster++;
    b->memory = mem_system_create(&memory);
    if (!b->memory || !chip_core_port(chip, cluster, &port, error))
        return false;
    b->core = mem_port_open(b->memory, &port, NULL);
    if (!chip_amx_port(chip, cluster, &port, error))
        return false;
    b->amx = mem_port_open(b->memory, &port, b->core);
    for (unsigned i = 0; i < 4; i++) {
        if (!chip_gpu_port(chip, gpu_cluster, i, &port, error))
            return false;
        b->gpu[i] = mem_port_open(b->memory, &port, NULL);
    }
    const struct mem_port_params fabric = {.cluster = MEM_NO_CLUSTER, .outstanding = 64, .fabric_gbps = 200};
    b->fabric = mem_port_open(b->memory, &fabric, NULL);
    return b->core && b->amx && b->gpu[3] && b->fabric;
}

#define COUNT(array) (ARRAY_COUNT(array))

int main(int argc, char **argv)
{
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct chip *chip = db ? chip_open(db, argc > 1 ? argv[1] : "m1-max", NULL, &error) : NULL;
    struct bench b = {.only = argc > 2 ? argv[2] : NULL};
    if (!chip || !open_machine(&b, chip, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (unsigned i = 0; i < COUNT(core_patterns); i++)
        measure(&b, "core", &b.core, 1, &core_patterns[i]);
    for (unsigned i = 0; i < COUNT(amx_patterns); i++)
        measure(&b, "AMX", &b.amx, 1, &amx_patterns[i]);
    for (unsigned i = 0; i < COUNT(gpu_patterns); i++)
        measure(&b, "GPU x4", b.gpu, 4, &gpu_patterns[i]);
    for (unsigned i = 0; i < COUNT(fabric_patterns); i++)
        measure(&b, "fabric", &b.fabric, 1, &fabric_patterns[i]);
    mem_system_free(b.memory);
    chip_close(chip);
    chip_db_close(db);
    return 0;
}
