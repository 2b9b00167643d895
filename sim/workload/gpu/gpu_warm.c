#include "sim/workload/gpu/gpu_warm.h"

#include "sim/workload/gpu/gpu_touch.h"
#include "units/mem/cache.h"

#include <stdlib.h>
#include <string.h>

/* A store on its way. */
struct pending {
    uint64_t address;
    uint64_t due; /* number of threadgroups that have run when it reaches the caches */
    uint32_t bytes, core;
};

/* Stores that can wait; when there are more, the oldest reach the caches early. A power of two; 3 MiB of host memory. */
#define PENDING_MAX ((size_t)1 << 17)

struct warming {
    const struct gpu_setup *setup;
    struct mem_port *const *port;
    struct gpu_group *group;
    struct gpu_touches *touches;
    struct gpu_played played;
    struct pending *pending; /* a ring */
    size_t oldest, pendings;
    uint64_t stores_due; /* `due` of the stores of the present threadgroup */
    uint32_t core;       /* that it runs on */
    double now_ns;
    bool stores_only;
};

static void store_oldest(struct warming *w)
{
    const struct pending *p = &w->pending[w->oldest % PENDING_MAX];
    mem_port_warm(w->port[p->core], w->now_ns, p->address, p->bytes, MEM_ACCESS_STORE);
    w->oldest++;
    w->pendings--;
}

/* The stores that are due when so many threadgroups have run. */
static void store_due(struct warming *w, uint64_t done)
{
    while (w->pendings > 0 && w->pending[w->oldest % PENDING_MAX].due <= done)
        store_oldest(w);
}

static void touch_line(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind)
{
    struct warming *w = context;
    if (kind != MEM_ACCESS_STORE) {
        if (!w->stores_only)
            mem_port_warm(w->port[w->core], w->now_ns, address, bytes, kind);
        return;
    }
    if (w->pendings == PENDING_MAX)
        store_oldest(w);
    w->pending[(w->oldest + w->pendings++) % PENDING_MAX] =
        (struct pending){.address = address, .due = w->stores_due, .bytes = bytes, .core = w->core};
}

static void expect_line(const void *context, uint64_t address)
{
    const struct warming *w = context;
    mem_port_expect(w->port[w->core], address);
}

/* Runs one threadgroup from its beginning to its end: plays it where that says the same. */
static bool run_group(struct warming *w, const struct gpu_replay *replay, uint64_t group, struct unit_fault *fault)
{
    uint64_t whole[GPU_SIMDGROUPS_MAX]; /* each simdgroup up to its end */
    if (replay && gpu_replay_has(replay, group)) {
        gpu_played_start(replay, &w->played, group);
        gpu_played_touch(replay, &w->played, UINT64_MAX, expect_line, touch_line, w);
        return true;
    }
    memset(whole, 0xff, sizeof whole);
    gpu_setup_start(w->setup, w->group, group, w->core);
    gpu_touches_towards(w->touches, w->port[w->core]);
    return gpu_touches_run(w->touches, w->group, whole, touch_line, w, fault);
}

static bool run_groups(struct warming *w, const struct gpu_warming *what, struct unit_fault *fault)
{
    for (uint64_t i = what->first - what->before; i < what->end; i++) {
        /* On the GPU a threadgroup goes to a core that has room. Which one that is follows no rule, so a hash picks it here. */
        w->core = (uint32_t)(mem_page_hash(i) % what->cores);
        w->stores_only = i < what->first;
        w->stores_due = i + what->resident;
        if (!run_group(w, what->replay, i, fault))
            return false;
        work_progress_tell(w->setup->progress, "executing", (double)(i + 1) / (double)what->end, 0);
        store_due(w, i + 1);
    }
    if (!what->goes_on)
        store_due(w, UINT64_MAX);
    return true;
}

bool gpu_warm(const struct gpu_setup *setup, struct mem_port *const *port, const struct gpu_warming *what,
              struct unit_fault *fault)
{
    struct warming w = {.setup = setup,
                        .port = port,
                        .now_ns = what->now_ns,
                        .group = gpu_setup_steering_group(setup),
                        .touches = gpu_touches_create(setup->program),
                        .pending = malloc(PENDING_MAX * sizeof *w.pending)};
    const bool ok = w.group && w.touches && w.pending && run_groups(&w, what, fault);
    gpu_group_free(w.group);
    gpu_touches_free(w.touches);
    free(w.pending);
    return ok;
}
