/* Two executions of a threadgroup, one of what steers and one of everything, and their records. */
#ifndef ORCHARD_TESTS_UNITS_GPU_STEER_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_GPU_STEER_EXAMPLE_H

#include "tests/support/suite.h"
#include "units/gpu/gpu_core.h"

#include <string.h>

struct recorded {
    struct gpu_group *group;
    struct gpu_trace trace[GPU_SIMDGROUPS_MAX];
};

static inline bool record(struct recorded *r, const struct gpu_launch *launch, bool steer, const uint32_t position[3])
{
    const struct gpu_checks checks = {.steer = steer, .poison = true, .instruction_limit = 10000000};
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    memset(r, 0, sizeof *r);
    r->group = gpu_group_create(launch, &checks);
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
        gpu_trace_init(&r->trace[i]);
    if (!r->group)
        return false;
    gpu_group_start(r->group, position, 0);
    const bool ok = gpu_group_finish(r->group, r->trace, &fault);
    CHECK(ok, "%s", fault.text);
    return ok;
}

static inline void release(struct recorded *r)
{
    gpu_group_free(r->group);
    for (unsigned i = 0; i < GPU_SIMDGROUPS_MAX; i++)
        gpu_trace_release(&r->trace[i]);
}

static inline bool same_trace(const struct gpu_trace *a, const struct gpu_trace *b)
{
    return a->written == b->written && a->lines_written == b->lines_written &&
           memcmp(a->record, b->record, a->written * sizeof *a->record) == 0 &&
           (!a->lines_written || memcmp(a->line, b->line, a->lines_written * sizeof *a->line) == 0);
}

/* The steered execution goes first: it must not need what the other one leaves. */
static inline bool same_records(const struct gpu_launch *launch, const uint32_t position[3], void (*between)(void *context),
                                void *context)
{
    struct recorded some, all;
    bool same = record(&some, launch, true, position);
    if (between)
        between(context);
    same = record(&all, launch, false, position) && same;
    for (unsigned i = 0; same && i < gpu_group_simdgroups(all.group); i++)
        same = same_trace(&some.trace[i], &all.trace[i]);
    release(&some);
    release(&all);
    return same;
}

#endif
