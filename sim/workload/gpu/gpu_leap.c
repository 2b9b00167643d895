#include "sim/workload/gpu/gpu_leap.h"

#include "sim/workload/gpu/gpu_touch.h"

#include <stdlib.h>
#include <string.h>

struct gpu_leaper {
    bool *head; /* by instruction: a watched loop begins here */
    double lines;
    struct gpu_group *ahead; /* looks ahead */
    struct gpu_touches *touches;
    double touched, fresh; /* lines that leaps touched so far; of these, new to the last cache */
};

struct gpu_leaper *gpu_leaper_create(const struct gpu_setup *setup, const bool *lap, double lines)
{
    struct gpu_leaper *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    *l = (struct gpu_leaper){.head = gpu_loops_heads(setup->program, lap),
                             .lines = lines,
                             .ahead = gpu_setup_steering_group(setup),
                             .touches = gpu_touches_create(setup->program)};
    if (!l->ahead || !l->touches || !l->head) {
        gpu_leaper_free(l);
        return NULL;
    }
    gpu_group_mark_laps(l->ahead, lap);
    return l;
}

void gpu_leaper_free(struct gpu_leaper *l)
{
    if (!l)
        return;
    gpu_group_free(l->ahead);
    free(l->head);
    gpu_touches_free(l->touches);
    free(l);
}

/* ---- looking ahead ---- */

static uint64_t progress(const struct gpu_group *group)
{
    return gpu_group_counts(group).instructions;
}

static bool out_of_laps(const struct gpu_leaper *l, unsigned simdgroup)
{
    return !l->head[gpu_group_at(l->ahead, simdgroup)];
}

bool gpu_leaper_look(struct gpu_leaper *l, const struct gpu_group *group, struct gpu_laps_ahead *ahead, struct unit_fault *fault)
{
    const unsigned count = gpu_group_simdgroups(group);
    uint64_t first[GPU_SIMDGROUPS_MAX] = {0}, last[GPU_SIMDGROUPS_MAX] = {0};
    bool out[GPU_SIMDGROUPS_MAX] = {false};
    gpu_group_copy(l->ahead, group);
    memset(ahead, 0, sizeof *ahead);
    for (uint64_t before = UINT64_MAX; before != progress(l->ahead);) {
        before = progress(l->ahead);
        for (unsigned i = 0; i < count; i++) {
            const enum gpu_step step = out[i] ? GPU_STEP_DONE : gpu_group_run(l->ahead, i, 0, NULL, fault);
            if (step == GPU_STEP_FAULT)
                return false;
            if (step != GPU_STEP_LAP)
                continue;
            out[i] = out_of_laps(l, i);
            if (out[i])
                continue;
            last[i] = gpu_group_executed(l->ahead, i);
            first[i] = ahead->left[i]++ ? first[i] : last[i];
        }
    }
    for (unsigned i = 0; i < count; i++)
        ahead->instructions[i] = ahead->left[i] > 1 ? (double)(last[i] - first[i]) / (ahead->left[i] - 1) : 0;
    return true;
}

/* ---- leaping ---- */

struct leap {
    struct gpu_leaper *leaper;
    struct mem_port *port;
    double now_ns;
    uint64_t lines; /* touched so far */
};

static void touch_line(void *context, uint64_t address, uint32_t bytes, enum mem_access_kind kind)
{
    struct leap *p = context;
    p->lines++;
    p->leaper->touched++;
    if (p->port)
        p->leaper->fresh += mem_port_warm(p->port, p->now_ns, address, bytes, kind) >= MEM_DRAM;
}

bool gpu_leaper_begin(struct gpu_leaper *l, struct gpu_group *group, uint32_t laps, struct gpu_laps_ahead *ahead,
                      struct mem_port *port, double now_ns, struct gpu_leap_way *way, struct unit_fault *fault)
{
    struct leap p = {.leaper = l, .port = port, .now_ns = now_ns};
    const unsigned count = gpu_group_simdgroups(group);
    memset(way, 0, sizeof *way);
    if (laps == 0)
        return true;
    for (unsigned i = 0; i < count; i++)
        way->at[i] = gpu_group_executed(group, i) + (uint64_t)(ahead->instructions[i] + 0.5);
    gpu_touches_towards(l->touches, port);
    if (!gpu_touches_run(l->touches, group, way->at, touch_line, &p, fault))
        return false;
    const double each = l->fresh > 0 ? (double)p.lines * l->fresh / l->touched : 0; /* new lines of a lap */
    const double most = each > 0 ? l->lines / each : laps;
    const uint32_t rest = laps - 1, last = most < rest ? (uint32_t)most : rest;
    for (unsigned i = 0; i < count; i++) {
        const double to_end = rest * ahead->instructions[i];
        way->end[i] = way->at[i] + (uint64_t)(to_end + 0.5);
        way->at[i] += (uint64_t)((rest - last) * ahead->instructions[i]);
        ahead->left[i] -= laps;
    }
    return gpu_touches_run(l->touches, group, way->at, NULL, NULL, fault);
}

bool gpu_leaper_go(struct gpu_leaper *l, struct gpu_group *group, uint64_t instructions, struct mem_port *port, double now_ns,
                   struct gpu_leap_way *way, bool *left, struct unit_fault *fault)
{
    struct leap p = {.leaper = l, .port = port, .now_ns = now_ns};
    const unsigned count = gpu_group_simdgroups(group);
    bool moves = false;
    for (unsigned i = 0; i < count; i++) {
        moves = moves || way->at[i] < way->end[i];
        way->at[i] = way->end[i] - way->at[i] > instructions ? way->at[i] + instructions : way->end[i];
        *left = *left || way->at[i] < way->end[i];
    }
    gpu_touches_towards(l->touches, port);
    return !moves || gpu_touches_run(l->touches, group, way->at, touch_line, &p, fault);
}

bool gpu_leaper_end(struct gpu_leaper *l, struct gpu_group *group, struct mem_port *port, double now_ns,
                    const struct gpu_leap_way *way, struct unit_fault *fault)
{
    struct leap p = {.leaper = l, .port = port, .now_ns = now_ns};
    const unsigned count = gpu_group_simdgroups(group);
    gpu_touches_towards(l->touches, port);
    for (uint64_t before = UINT64_MAX; before != progress(group);) {
        uint64_t to[GPU_SIMDGROUPS_MAX];
        bool waits = false;
        before = progress(group);
        for (unsigned i = 0; i < count; i++) {
            const uint64_t at = gpu_group_executed(group, i);
            waits = waits || at < way->end[i];
            to[i] = at < way->end[i] ? way->end[i] : at + 1;
        }
        if (waits && !gpu_touches_run(l->touches, group, to, touch_line, &p, fault))
            return false;
    }
    return true;
}
