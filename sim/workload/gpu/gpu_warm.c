#include "sim/workload/gpu/gpu_warm.h"

#include "sim/workload/gpu/gpu_touch.h"
#include "units/gpu/gpu_trace.h"
#include "units/mem/cache.h"

#include <stdlib.h>

/* Instructions that a simdgroup runs at a time: so few that its trace stays in the host's caches and simdgroups advance side by
 * side. */
#define TURN 1024

/* A store on its way. */
struct pending {
    uint64_t address;
    uint64_t due; /* number of threadgroups that have run when it reaches the caches */
    uint32_t bytes, core;
};

/* Stores that can wait; when there are more, the oldest reach the caches early. A power of two; 3 MiB of host memory. */
#define PENDING_MAX ((size_t)1 << 17)

struct gpu_warmer {
    const struct gpu_setup *setup;
    struct mem_port *const *port;
    unsigned cores;
    struct gpu_group *group;
    struct gpu_trace trace;
    struct gpu_touches *touches;
    struct gpu_warmed counts; /* without the work */
    struct pending *pending;  /* a ring */
    size_t oldest, pendings;
    uint64_t resident, done; /* threadgroups held at a time; run so far */
};

struct gpu_warmer *gpu_warmer_create(const struct gpu_setup *setup, struct mem_port *const *port, unsigned cores,
                                     uint64_t resident)
{
    const struct gpu_checks checks = {.steer = true, .instruction_limit = GPU_WATCHDOG_INSTRUCTIONS};
    struct gpu_warmer *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (struct gpu_warmer){.setup = setup,
                             .port = port,
                             .cores = cores,
                             .group = gpu_group_create(&setup->launch, &checks),
                             .touches = gpu_touches_create(setup->program),
                             .pending = malloc(PENDING_MAX * sizeof *w->pending),
                             .resident = resident};
    gpu_trace_init(&w->trace);
    w->trace.lines_only = true;
    if (w->group && w->touches && w->pending)
        return w;
    gpu_warmer_free(w);
    return NULL;
}

void gpu_warmer_free(struct gpu_warmer *w)
{
    if (!w)
        return;
    gpu_group_free(w->group);
    gpu_trace_release(&w->trace);
    gpu_touches_free(w->touches);
    free(w->pending);
    free(w);
}

static void warm_line(struct gpu_warmer *w, unsigned core, double now_ns, uint64_t address, uint32_t bytes,
                      enum mem_access_kind kind)
{
    const enum mem_level from = mem_port_warm(w->port[core], now_ns, address, bytes, kind);
    w->counts.into_l2 += from >= MEM_SLC;
    w->counts.into_slc += from >= MEM_DRAM;
}

static void store_oldest(struct gpu_warmer *w, double now_ns)
{
    const struct pending *p = &w->pending[w->oldest % PENDING_MAX];
    warm_line(w, p->core, now_ns, p->address, p->bytes, MEM_ACCESS_STORE);
    w->oldest++;
    w->pendings--;
}

static void warm_store(struct gpu_warmer *w, unsigned core, double now_ns, uint64_t address, uint32_t bytes)
{
    if (w->pendings == PENDING_MAX)
        store_oldest(w, now_ns);
    w->pending[(w->oldest + w->pendings++) % PENDING_MAX] =
        (struct pending){.address = address, .due = w->done + w->resident, .bytes = bytes, .core = core};
}

/* Where the lines of a threadgroup go. */
struct target {
    struct gpu_warmer *warmer;
    unsigned core;
    double now_ns;
};

static void warm_access(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind)
{
    const struct target *t = context;
    if (kind == MEM_ACCESS_STORE)
        warm_store(t->warmer, t->core, t->now_ns, address, bytes);
    else
        warm_line(t->warmer, t->core, t->now_ns, address, bytes, kind);
}

static void drain(struct gpu_warmer *w, unsigned core, double now_ns)
{
    struct target target = {w, core, now_ns};
    gpu_touches_each(w->touches, &w->trace, warm_access, &target);
    gpu_trace_clear(&w->trace);
}

/* On the GPU a threadgroup goes to a core that has room. Which one that is follows no rule, so a hash picks it here. */
static unsigned core_of(const struct gpu_warmer *w, uint64_t group)
{
    return (unsigned)(mem_page_hash(group) % w->cores);
}

static bool run_group(struct gpu_warmer *w, uint64_t number, double now_ns, struct unit_fault *fault)
{
    const unsigned core = core_of(w, number);
    uint32_t position[3];
    gpu_setup_position(w->setup, number, position);
    gpu_group_start(w->group, position, core);
    for (bool busy = true; busy;) {
        busy = false;
        for (unsigned i = 0; i < gpu_group_simdgroups(w->group); i++) {
            const enum gpu_step step = gpu_group_run(w->group, i, TURN, &w->trace, fault);
            if (step == GPU_STEP_FAULT || w->trace.failed)
                return false;
            busy = busy || step != GPU_STEP_DONE;
            drain(w, core, now_ns);
        }
    }
    return true;
}

bool gpu_warmer_run(struct gpu_warmer *w, uint64_t first, uint64_t end, double now_ns, struct unit_fault *fault)
{
    for (uint64_t i = first; i < end; i++) {
        if (!run_group(w, i, now_ns, fault))
            return false;
        w->done++;
        work_progress_tell(w->setup->progress, "executing", (double)(i + 1 - first) / (double)(end - first), 0);
        while (w->pendings > 0 && w->pending[w->oldest % PENDING_MAX].due <= w->done)
            store_oldest(w, now_ns);
    }
    return true;
}

void gpu_warmer_settle(struct gpu_warmer *w, double now_ns)
{
    while (w->pendings > 0)
        store_oldest(w, now_ns);
}

struct gpu_warmed gpu_warmer_counts(const struct gpu_warmer *w)
{
    struct gpu_warmed counts = w->counts;
    counts.work = gpu_group_counts(w->group).instructions;
    return counts;
}
