/* Programs at the same time, on one time line: they meet in the caches line by line. */
#include "sim/scenario/together_internal.h"

#include "sim/run/cpu/run_programs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool together_may_meet(const struct together *t)
{
    bool equal = t->count > 1;
    for (unsigned i = 0; i < t->count; i++) {
        const struct together_part *p = &t->member[i].part;
        equal = equal && run_is_program(t->member[i].run) && p->priority == 0 && p->weight <= 0 && p->start_seconds <= 0 &&
                p->request.repeat <= 1 && p->request.cold == t->member[0].part.request.cold;
    }
    return equal;
}

/* Fills in how long the program took beside the others, and what it waited for most. */
static bool read_programs(struct member *w, const struct run_measure *m, struct orch_error *error)
{
    struct together_outcome *out = &w->outcome;
    struct run_result beside;
    run_result_init(&beside);
    const bool ok = run_account(w->run, m, &beside, error) && run_joules(w->run, m, &beside, error);
    out->seconds = out->end_seconds = m->end_ns * 1e-9;
    out->slowdown = out->alone.seconds > 0 ? out->seconds / out->alone.seconds : 1;
    out->dram_gbps = out->seconds > 0 ? out->alone.dram_bytes / out->seconds * 1e-9 : 0;
    out->limited_share = fmax(0, 1 - 1 / out->slowdown);
    snprintf(out->limited_by, sizeof out->limited_by, "%s", ok && beside.bound_by ? beside.bound_by : "");
    run_result_free(&beside);
    return ok;
}

bool together_meet(struct together *t, double *end_ns, struct orch_error *error)
{
    struct run_measure *measure = calloc(t->count, sizeof *measure), *m[TOGETHER_PARTS];
    struct run *run[TOGETHER_PARTS];
    bool ok = measure || orch_no_memory(error);
    double moved = 0;
    for (unsigned i = 0; i < t->count; i++)
        moved += t->member[i].measure.moved_share / t->count;
    for (unsigned i = 0; ok && i < t->count; i++) {
        m[i] = &measure[i];
        run[i] = t->member[i].run;
        measure[i].moved_share = moved;
    }
    ok = ok && run_programs_together(run, t->count, m, error);
    for (unsigned i = 0; ok && i < t->count; i++) {
        *end_ns = fmax(*end_ns, measure[i].end_ns);
        ok = read_programs(&t->member[i], &measure[i], error);
    }
    if (measure)
        run_measure_release(&measure[0]); /* all measures share its soc */
    free(measure);
    return ok;
}
