#include "sim/agx/gpu_warm.h"

#include "sim/agx/gpu_functional.h"
#include "units/gpu/gpu_trace.h"
#include "units/mem/cache.h"

#include <stdlib.h>

/* Instructions of a simdgroup at a time: its trace stays within the host's caches, and simdgroups advance side by side. */
#define TURN 1024

/* What an instruction does to the caches. */
struct touch {
    uint8_t act; /* enum act */
    uint8_t lane_bytes;
};
enum act { NO_ACCESS, LOAD, STORE, ATOMIC };

struct gpu_warmer {
    const struct gpu_setup *setup;
    struct mem_port *const *port;
    unsigned cores;
    struct gpu_group *group;
    struct gpu_trace trace;
    struct touch *touch; /* of each instruction */
    struct gpu_warmed counts; /* without the work */
};

static enum act act_of(const struct agx_effect *effect)
{
    switch (effect->unit_class) {
    case AGX_CLASS_DEVICE_LOAD: case AGX_CLASS_STACK_LOAD: return LOAD;
    case AGX_CLASS_DEVICE_STORE: case AGX_CLASS_STACK_STORE: return STORE;
    case AGX_CLASS_DEVICE_ATOMIC: return ATOMIC;
    default: return NO_ACCESS;
    }
}

static struct touch *touches_of(const struct gpu_program *program)
{
    const uint32_t count = gpu_program_count(program);
    struct touch *touch = calloc((size_t)count + 1, sizeof *touch);
    for (uint32_t i = 0; touch && i < count; i++) {
        const struct agx_effect *e = gpu_program_effect(program, i);
        touch[i] = (struct touch){(uint8_t)act_of(e), (uint8_t)(e->element_bytes * (e->elements ? e->elements : 1))};
    }
    return touch;
}

struct gpu_warmer *gpu_warmer_create(const struct gpu_setup *setup, struct mem_port *const *port, unsigned cores)
{
    const struct gpu_checks checks = {.instruction_limit = GPU_WATCHDOG_INSTRUCTIONS};
    struct gpu_warmer *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (struct gpu_warmer){.setup = setup, .port = port, .cores = cores, .group = gpu_group_create(&setup->launch, &checks),
                             .touch = touches_of(setup->program)};
    gpu_trace_init(&w->trace);
    if (w->group && w->touch)
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
    free(w->touch);
    free(w);
}

/* Bytes of each line, as the timing side takes them: what the lanes want, spread over the lines. */
static uint32_t bytes_of_each(const struct gpu_trace_record *record, const struct touch *touch)
{
    const uint32_t bytes = (uint32_t)record->active_lanes * touch->lane_bytes / record->lines;
    return bytes > GPU_LINE_BYTES ? GPU_LINE_BYTES : bytes ? bytes : 1;
}

static void warm_line(struct gpu_warmer *w, struct mem_port *port, double now_ns, uint64_t address, uint32_t bytes,
                      enum mem_access_kind kind)
{
    const enum mem_level from = mem_port_warm(port, now_ns, address, bytes, kind);
    w->counts.into_l2 += from >= MEM_SLC;
    w->counts.into_slc += from >= MEM_DRAM;
}

static void warm_record(struct gpu_warmer *w, const struct gpu_trace_record *record, const uint64_t *line, struct mem_port *port,
                        double now_ns)
{
    static const enum mem_access_kind kinds[] = {[LOAD] = MEM_ACCESS_LOAD, [STORE] = MEM_ACCESS_STORE, [ATOMIC] = MEM_ACCESS_FETCH};
    const struct touch *touch = &w->touch[record->instruction];
    const uint32_t bytes = bytes_of_each(record, touch);
    for (unsigned i = 0; i < record->lines; i++) {
        warm_line(w, port, now_ns, line[i] * GPU_LINE_BYTES, bytes, kinds[touch->act]);
        if (touch->act == ATOMIC)
            warm_line(w, port, now_ns, line[i] * GPU_LINE_BYTES, bytes, MEM_ACCESS_STORE);
    }
}

static void drain(struct gpu_warmer *w, struct mem_port *port, double now_ns)
{
    const struct gpu_trace *t = &w->trace;
    const uint64_t *line = t->line;
    for (size_t i = 0; i < t->written; i++) {
        if (t->record[i].lines && w->touch[t->record[i].instruction].act != NO_ACCESS)
            warm_record(w, &t->record[i], line, port, now_ns);
        line += t->record[i].lines;
    }
    gpu_trace_clear(&w->trace);
}

static bool run_group(struct gpu_warmer *w, uint64_t number, double now_ns, struct unit_fault *fault)
{
    const unsigned core = (unsigned)(mem_page_hash(number) % w->cores);
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
            drain(w, w->port[core], now_ns);
        }
    }
    return true;
}

bool gpu_warmer_run(struct gpu_warmer *w, uint64_t first, uint64_t end, double now_ns, struct unit_fault *fault)
{
    for (uint64_t i = first; i < end; i++)
        if (!run_group(w, i, now_ns, fault))
            return false;
    return true;
}

struct gpu_warmed gpu_warmer_counts(const struct gpu_warmer *w)
{
    struct gpu_warmed counts = w->counts;
    counts.work = gpu_group_counts(w->group).instructions;
    return counts;
}
