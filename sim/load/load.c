#include "sim/load/load_internal.h"

#include <stdlib.h>
#include <string.h>

/* A queue that grows without end ends the simulation: nobody would wait so long. */
enum { WAITING_MOST = 20000000 };

/* ---- requests ---- */

static bool enqueue(struct load_loop *l, unsigned model, const struct load_request *request)
{
    struct load_queue *const q = &l->queue[model];
    const struct batch_rule *const rule = &l->setup->model[model].rule;
    if (!load_book_arrival(l, model))
        return false;
    if (rule->queue && q->count >= rule->queue) {
        l->result->model[model].rejected++;
        return true;
    }
    if (q->first + q->count == q->room && q->first > q->count) {
        memmove(q->item, q->item + q->first, q->count * sizeof *q->item);
        q->first = 0;
    }
    if (q->first + q->count == q->room) {
        const size_t wanted = q->room ? 2 * q->room : 64;
        struct load_request *const grown = wanted > WAITING_MOST ? NULL : reallocarray(q->item, wanted, sizeof *grown);
        if (!grown)
            return orch_fail(
                l->error, ORCH_USAGE,
                "%s: %zu requests wait after %.3g s: the load is more than its instances can do (a queue size bounds it)",
                l->setup->model[model].name, q->count, l->now_s);
        q->item = grown;
        q->room = wanted;
    }
    q->item[q->first + q->count++] = *request;
    if (q->count > l->result->waiting_most)
        l->result->waiting_most = q->count;
    return true;
}

/* The model of a request that names none, by the shares. */
static unsigned drawn_model(const struct load_loop *l)
{
    const struct load_setup *const s = l->setup;
    double all = 0, at = 0;
    for (unsigned m = 0; m < s->models; m++)
        all += s->model[m].share;
    if (s->models == 1 || all <= 0)
        return 0;
    const double place = all * arrival_share(~s->seed, l->asked + 1);
    for (unsigned m = 0; m + 1 < s->models; m++) {
        at += s->model[m].share;
        if (place <= at)
            return m;
    }
    return s->models - 1;
}

static bool request_comes(struct load_loop *l, const struct arrival *a)
{
    const unsigned m = a->model == ARRIVAL_NOBODY ? drawn_model(l) : (unsigned)a->model;
    const struct load_model *const model = &l->setup->model[m];
    const struct load_request r = {.arrived_s = l->now_s,
                                   .samples = model->language ? 1 : a->samples,
                                   .prompt = a->prompt ? a->prompt : model->prompt,
                                   .generate = a->generate ? a->generate : model->generate};
    l->asked++;
    if (r.samples > model->rule.most)
        return orch_fail(l->error, ORCH_USAGE, "%s: a request of %u samples at %.6g s, but a batch holds %u", model->name,
                         r.samples, l->now_s, model->rule.most);
    return enqueue(l, m, &r);
}

/* Closed loops and offline: the next query, when the one before is done. */
static bool next_query(struct load_loop *l)
{
    const enum load_scenario scenario = l->setup->scenario;
    const uint64_t samples = scenario == LOAD_OFFLINE        ? l->setup->requests
                             : scenario == LOAD_MULTI_STREAM ? LOAD_MULTI_SAMPLES
                                                             : 1;
    const struct arrival a = {.time_s = l->now_s, .model = 0, .samples = 1};
    l->query_s = l->now_s;
    l->outstanding = samples;
    for (uint64_t i = 0; i < samples; i++)
        if (!request_comes(l, &a))
            return false;
    return true;
}

/* ---- time ---- */

/* The next thing that happens, apart from a batcher's patience running out. */
static double next_event(const struct load_loop *l)
{
    double t = l->end_s;
    if (l->more && l->next.time_s < t)
        t = l->next.time_s;
    for (unsigned i = 0; i < l->instances; i++)
        if ((l->instance[i].state == LOAD_SUBMITS || l->instance[i].state == LOAD_WORKS) && l->instance[i].until_s < t)
            t = l->instance[i].until_s;
    return fmin(t, fmin(l->mark_s, l->heat_s));
}

static bool heat_step(struct load_loop *l)
{
    load_book_work(l);
    if (!load_heat_step(l->setup->heat, l->now_s - l->booked_s, l->error))
        return false;
    l->booked_s = l->now_s;
    l->heat_s = l->now_s + load_heat_step_s(l->setup->heat);
    return true;
}

static bool happen(struct load_loop *l)
{
    for (unsigned i = 0; i < l->instances; i++) {
        struct load_instance *const in = &l->instance[i];
        if ((in->state == LOAD_SUBMITS || in->state == LOAD_WORKS) && in->until_s <= l->now_s && !load_instance_step(l, in))
            return false;
    }
    while (l->more && l->next.time_s <= l->now_s) {
        if (!request_comes(l, &l->next))
            return false;
        l->more = arrival_next(&l->stream, &l->next);
    }
    if (l->setup->heat && l->now_s >= l->heat_s && !heat_step(l))
        return false;
    if (l->now_s >= l->mark_s) {
        load_close_window(l);
        l->mark_s += l->mark_every_s;
    }
    return true;
}

static bool is_over(const struct load_loop *l)
{
    const struct load_setup *const s = l->setup;
    return l->now_s >= l->end_s || (s->scenario == LOAD_OFFLINE && l->outstanding == 0);
}

static bool loop(struct load_loop *l)
{
    const bool closed = l->setup->scenario != LOAD_OPEN;
    for (;;) {
        double wait_s = INFINITY;
        if (closed && l->outstanding == 0 && !(l->setup->scenario == LOAD_OFFLINE && l->asked) && !next_query(l))
            return false;
        if (is_over(l))
            return true;
        if (!load_dispatch(l, &wait_s))
            return false;
        const double t = fmin(next_event(l), l->now_s + wait_s);
        load_book_time(l, t);
        l->now_s = t;
        if (!happen(l))
            return false;
    }
}

/* ---- the whole ---- */

static bool check(const struct load_setup *s, struct orch_error *error)
{
    unsigned instances = 0;
    if (s->models < 1 || s->models > LOAD_MODELS || s->groups < 1 || s->groups > LOAD_GROUPS)
        return orch_fail(error, ORCH_USAGE, "a load has 1 to %d models and 1 to %d groups of instances", LOAD_MODELS,
                         LOAD_GROUPS);
    for (unsigned g = 0; g < s->groups; g++) {
        instances += s->group[g].count;
        if (s->group[g].count < 1 || s->group[g].model >= s->models || s->unit[s->group[g].part] < 1)
            return orch_fail(error, ORCH_USAGE, "a group has instances of a model on a unit that the chip has");
    }
    if (instances > LOAD_INSTANCES)
        return orch_fail(error, ORCH_USAGE, "%u instances: at most %d in all", instances, LOAD_INSTANCES);
    for (unsigned m = 0; m < s->models; m++)
        if (!batch_rule_is_sound(&s->model[m].rule, error))
            return orch_fail_in(error, "%s", s->model[m].name);
    if (s->scenario != LOAD_OPEN && s->models != 1)
        return orch_fail(error, ORCH_USAGE, "this scenario is of one model");
    return (s->scenario == LOAD_OFFLINE ? s->requests > 0 : s->duration_s > 0 && s->duration_s <= 1e7) ||
           orch_fail(error, ORCH_USAGE, "a load lasts more than 0 and at most 1e7 seconds");
}

static void finish(struct load_loop *l)
{
    struct load_result *const r = l->result;
    r->seconds = l->now_s;
    r->waiting /= fmax(l->now_s, 1e-300);
    load_book_work(l);
    if (l->setup->heat) {
        load_heat_step(l->setup->heat, l->now_s - l->booked_s, l->error);
        r->joules = load_heat_joules(l->setup->heat);
    } else {
        r->joules += l->setup->idle_w * l->now_s;
    }
    load_close_window(l);
    for (unsigned m = 0; m < r->models; m++)
        r->model[m].waiting = r->model[m].arrived - r->model[m].done - r->model[m].rejected;
}

bool load_run(const struct load_setup *setup, struct load_result *result, struct orch_error *error)
{
    memset(result, 0, sizeof *result);
    if (!check(setup, error))
        return false;
    struct load_loop *const l = calloc(1, sizeof *l);
    if (!l)
        return orch_no_memory(error);
    l->setup = setup;
    l->result = result;
    l->error = error;
    l->end_s = setup->scenario == LOAD_OFFLINE ? INFINITY : setup->duration_s;
    l->mark_every_s = setup->scenario == LOAD_OFFLINE ? INFINITY : setup->duration_s / LOAD_WINDOWS;
    l->mark_s = l->mark_every_s;
    l->heat_s = setup->heat ? load_heat_step_s(setup->heat) : INFINITY;
    l->stream = (struct arrival_stream){.from = setup->arrivals, .seed = setup->seed};
    l->more = setup->scenario == LOAD_OPEN && arrival_next(&l->stream, &l->next);
    const bool ok = load_books_open(l) && load_instances_open(l) && loop(l);
    if (ok)
        finish(l);
    load_instances_close(l);
    for (unsigned m = 0; m < LOAD_MODELS; m++)
        free(l->queue[m].item);
    free(l);
    return ok;
}
