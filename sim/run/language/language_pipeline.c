#include "sim/run/language/language_pipeline.h"

enum { ROUNDS_MOST = 32 };

struct pipeline {
    struct run_slices memory;
    const struct language_stage *stage;
    unsigned stages;
    double lost_ns;
};

/* Cores and their AMX blocks do one thing at a time. */
static int queue_of(enum orch_part part)
{
    return part == PART_AMX ? PART_CPU : (int)part;
}

/* A sequence goes through once more; *last: where it was, -1 = it begins. */
static bool add_passage(struct pipeline *p, int *last)
{
    for (unsigned i = 0; i < p->stages; i++) {
        const struct language_stage *const s = &p->stage[i];
        if (s->before_ns > 0)
            *last = run_slices_wait(&p->memory, "command buffer", s->before_ns, last, *last >= 0);
        if (*last < 0 && s->before_ns > 0)
            return false;
        *last = run_slices_add(&p->memory, &s->piece, queue_of(s->part), last, *last >= 0);
        if (*last < 0)
            return false;
    }
    return true;
}

static void note_lost(struct pipeline *p, int slices)
{
    for (int i = 0; i < slices; i++)
        for (unsigned j = 0; j < RUN_SHARED; j++)
            p->lost_ns += slices_outcome(p->memory.slices, i)->lost_ns[j];
}

/* So many rounds, with nothing before and nothing behind. */
static bool run_rounds(struct pipeline *p, const struct chip *chip, unsigned sequences, unsigned rounds, double *end_ns,
                       struct orch_error *error)
{
    enum { SEQUENCES_MOST = 256 };
    int last[SEQUENCES_MOST], latest = -1;
    p->lost_ns = 0;
    bool ok = run_slices_open(&p->memory, chip, error);
    for (unsigned i = 0; i < sequences; i++)
        last[i] = -1;
    for (unsigned r = 0; ok && r < rounds; r++)
        for (unsigned i = 0; ok && i < sequences; i++) {
            ok = add_passage(p, &last[i]) || orch_no_memory(error);
            latest = last[i];
        }
    ok = ok && slices_run(p->memory.slices, NULL, NULL, end_ns, error);
    if (ok)
        note_lost(p, latest + 1);
    run_slices_close(&p->memory);
    return ok;
}

bool language_pipeline_run(const struct chip *chip, const struct language_stage *stage, unsigned stages, unsigned sequences,
                           unsigned rounds, double *end_ns, double *lost_ns, struct orch_error *error)
{
    struct pipeline p = {.stage = stage, .stages = stages};
    double half_ns, half_lost_ns;
    if (rounds <= ROUNDS_MOST) {
        const bool ok = run_rounds(&p, chip, sequences, rounds, end_ns, error);
        *lost_ns = p.lost_ns;
        return ok;
    }
    if (!run_rounds(&p, chip, sequences, ROUNDS_MOST / 2, &half_ns, error))
        return false;
    half_lost_ns = p.lost_ns;
    if (!run_rounds(&p, chip, sequences, ROUNDS_MOST, end_ns, error))
        return false;
    const double more = (double)(rounds - ROUNDS_MOST) / (ROUNDS_MOST / 2);
    *end_ns += more * (*end_ns - half_ns);
    *lost_ns = p.lost_ns + more * (p.lost_ns - half_lost_ns);
    return true;
}
