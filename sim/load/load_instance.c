/* What instances do: they take requests, submit, wait for their unit, and work. */
#include "sim/load/load_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct load_group *group_of(const struct load_loop *l, const struct load_instance *i)
{
    return &l->setup->group[i->group];
}

bool load_instances_open(struct load_loop *l)
{
    for (unsigned g = 0; g < l->setup->groups; g++)
        for (unsigned n = 0; n < l->setup->group[g].count; n++) {
            struct load_instance *const i = &l->instance[l->instances++];
            i->group = g;
            i->held = calloc(l->setup->model[l->setup->group[g].model].rule.most, sizeof *i->held);
            if (!i->held)
                return orch_no_memory(l->error);
        }
    return true;
}

void load_instances_close(struct load_loop *l)
{
    for (unsigned i = 0; i < l->instances; i++)
        free(l->instance[i].held);
}

double load_clock_stretch(const struct load_loop *l, const struct load_cost *cost)
{
    const struct power_profile *const p = &cost->profile;
    return l->setup->heat && p->seconds > 0 ? power_profile_seconds(p, load_heat_mhz(l->setup->heat, p->driver)) / p->seconds : 1;
}

/* ---- taking requests ---- */

static void take_first(struct load_loop *l, unsigned model, struct load_instance *i)
{
    struct load_queue *const q = &l->queue[model];
    const struct load_request *const r = &q->item[q->first];
    load_book_begin(l, model, r);
    i->held[i->count++] = (struct load_held){.request = *r, .first_s = NAN};
    q->first = --q->count ? q->first + 1 : 0;
}

/* Turns away what has waited too long. */
static void drop_late(struct load_loop *l, unsigned model)
{
    struct load_queue *const q = &l->queue[model];
    const double timeout = l->setup->model[model].rule.timeout_s;
    while (timeout > 0 && q->count && l->now_s - q->item[q->first].arrived_s > timeout) {
        l->result->model[model].rejected++;
        q->first = --q->count ? q->first + 1 : 0;
    }
}

static unsigned samples_of(const void *context, size_t index)
{
    const struct load_queue *const q = context;
    return q->item[q->first + index].samples;
}

/* A batch, when there is one; samples of it. */
static unsigned take_batch(struct load_loop *l, unsigned model, struct load_instance *i, double *wait_s)
{
    struct load_queue *const q = &l->queue[model];
    if (q->count == 0)
        return 0;
    const struct batch_queue waiting = {q->count, l->now_s - q->item[q->first].arrived_s, samples_of, q};
    const struct batch_decision d = batch_decide(&l->setup->model[model].rule, &waiting);
    /* The next double at least, so that time goes on. */
    if (d.requests == 0)
        *wait_s = fmin(*wait_s, fmax(d.wait_s, nextafter(l->now_s, INFINITY) - l->now_s));
    for (size_t k = 0; k < d.requests; k++)
        take_first(l, model, i);
    return d.samples;
}

/* ---- submitting and working ---- */

static void submit(struct load_loop *l, struct load_instance *i, struct load_work work)
{
    const struct load_group *const g = group_of(l, i);
    i->work = work;
    g->cost(g->context, &work, &i->cost);
    i->state = LOAD_SUBMITS;
    i->since_s = l->now_s;
    i->until_s = l->now_s + i->cost.overhead_s;
    i->booked = 0;
    if (work.kind != LOAD_PROMPT)
        load_book_batch(l, g->model, work.samples);
}

/* Prompts that have not been read: of a static batch all, else one. */
static void read_prompts(struct load_loop *l, struct load_instance *i)
{
    const bool alone = l->setup->model[group_of(l, i)->model].continuous;
    const unsigned count = alone ? 1 : i->count - i->prompted;
    double tokens = 0;
    for (unsigned k = 0; k < count; k++)
        tokens += i->held[i->prompted + k].request.prompt;
    submit(l, i, (struct load_work){LOAD_PROMPT, count, tokens / count});
}

/* The next work of a language model's instance: prompts that have not been read, or a token of every sequence. */
static bool continue_sequences(struct load_loop *l, struct load_instance *i)
{
    double tokens = 0;
    if (i->prompted < i->count) {
        read_prompts(l, i);
        return true;
    }
    unsigned going = 0;
    for (unsigned k = 0; k < i->count; k++)
        if (!i->held[k].done) {
            tokens += i->held[k].request.prompt + i->held[k].generated;
            going++;
        }
    if (going == 0)
        return false;
    submit(l, i, (struct load_work){LOAD_STEP, going, tokens / going});
    return true;
}

static bool start(struct load_loop *l, struct load_instance *i, double *wait_s)
{
    const unsigned m = group_of(l, i)->model;
    const struct load_model *const model = &l->setup->model[m];
    drop_late(l, m);
    if (!model->language) {
        const unsigned samples = take_batch(l, m, i, wait_s);
        if (samples)
            submit(l, i, (struct load_work){LOAD_BATCH, samples, 0});
        return samples > 0;
    }
    if (model->continuous)
        while (l->queue[m].count && i->count < model->rule.most)
            take_first(l, m, i);
    else
        take_batch(l, m, i, wait_s);
    return i->count && continue_sequences(l, i);
}

static void work(struct load_loop *l, struct load_instance *i)
{
    i->state = LOAD_WORKS;
    i->since_s = l->now_s;
    i->until_s = l->now_s + i->cost.device_s * load_clock_stretch(l, &i->cost);
    l->at_work[group_of(l, i)->part]++;
}

/* Units that are free go to whoever has waited longest. */
static bool give_units(struct load_loop *l)
{
    bool any = false;
    for (enum orch_part part = 0; part < PART_COUNT; part++) {
        while (l->at_work[part] < l->setup->unit[part]) {
            struct load_instance *first = NULL;
            for (unsigned k = 0; k < l->instances; k++) {
                struct load_instance *const i = &l->instance[k];
                if (i->state == LOAD_WAITS && group_of(l, i)->part == part && (!first || i->since_s < first->since_s))
                    first = i;
            }
            if (!first)
                break;
            work(l, first);
            any = true;
        }
    }
    return any;
}

bool load_dispatch(struct load_loop *l, double *wait_s)
{
    for (unsigned k = 0; k < l->instances; k++)
        if (l->instance[k].state == LOAD_IDLE)
            start(l, &l->instance[k], wait_s);
    give_units(l);
    return true;
}

/* ---- the end of work ---- */

static bool all_done(struct load_loop *l, struct load_instance *i)
{
    bool ok = true;
    for (unsigned k = 0; ok && k < i->count; k++)
        ok = load_book_done(l, group_of(l, i)->model, &i->held[k]);
    i->count = i->prompted = 0;
    return ok;
}

/* A sequence has got a token; the first one comes with the prompt. */
static bool add_token(struct load_loop *l, struct load_instance *i, struct load_held *h)
{
    h->generated++;
    if (isnan(h->first_s))
        h->first_s = l->now_s;
    h->done = h->generated >= h->request.generate;
    return !h->done || load_book_done(l, group_of(l, i)->model, h);
}

/* Sequences that are over leave: at once when others may join, else with the last one. */
static void leave(struct load_loop *l, struct load_instance *i)
{
    unsigned kept = 0, prompted = 0;
    bool any = false;
    for (unsigned k = 0; k < i->count; k++)
        any |= !i->held[k].done;
    for (unsigned k = 0; k < i->count; k++) {
        if (i->held[k].done && (!any || l->setup->model[group_of(l, i)->model].continuous))
            continue;
        prompted += k < i->prompted;
        i->held[kept++] = i->held[k];
    }
    i->count = kept;
    i->prompted = prompted;
}

static bool work_is_over(struct load_loop *l, struct load_instance *i)
{
    bool ok = true;
    l->at_work[group_of(l, i)->part]--;
    load_book_finish(l, i);
    i->state = LOAD_IDLE;
    if (i->work.kind == LOAD_BATCH)
        return all_done(l, i);
    for (unsigned k = 0; i->work.kind == LOAD_PROMPT && ok && k < i->work.samples; k++)
        ok = add_token(l, i, &i->held[i->prompted++]);
    for (unsigned k = 0; i->work.kind == LOAD_STEP && ok && k < i->count; k++)
        if (!i->held[k].done)
            ok = add_token(l, i, &i->held[k]);
    leave(l, i);
    /* Of a static batch nobody else may come in between. */
    if (ok && i->count && !l->setup->model[group_of(l, i)->model].continuous)
        continue_sequences(l, i);
    return ok;
}

bool load_instance_step(struct load_loop *l, struct load_instance *i)
{
    if (i->state == LOAD_WORKS)
        return work_is_over(l, i);
    i->state = LOAD_WAITS;
    i->since_s = l->now_s;
    return true;
}
