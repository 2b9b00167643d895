/* Counting: latencies, queues, busy units, joules. */
#include "sim/load/load_internal.h"

#include "isa/list_grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- times ---- */

bool load_times_add(struct load_times *t, double seconds)
{
    float *const grown = list_grow(t->item, t->count, &t->room, sizeof *grown);
    if (!grown)
        return false;
    t->item = grown;
    t->item[t->count++] = (float)seconds;
    t->sorted = false;
    return true;
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

double load_percentile(struct load_times *t, double share)
{
    if (t->count == 0)
        return NAN;
    if (!t->sorted)
        qsort(t->item, t->count, sizeof *t->item, compare);
    t->sorted = true;
    const size_t place = (size_t)floor((double)t->count * share);
    return t->item[place < t->count ? place : t->count - 1];
}

double load_mean(const struct load_times *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++)
        sum += t->item[i];
    return t->count ? sum / (double)t->count : NAN;
}

void load_result_free(struct load_result *r)
{
    for (unsigned m = 0; m < LOAD_MODELS; m++) {
        free(r->model[m].latency.item);
        free(r->model[m].first_token.item);
        free(r->model[m].each_token.item);
        free(r->model[m].by_size);
    }
    memset(r, 0, sizeof *r);
}

/* ---- events ---- */

bool load_books_open(struct load_loop *l)
{
    struct load_result *const r = l->result;
    r->models = l->setup->models;
    for (unsigned m = 0; m < r->models; m++) {
        r->model[m].most = l->setup->model[m].rule.most;
        r->model[m].by_size = calloc(r->model[m].most + 1, sizeof *r->model[m].by_size);
        if (!r->model[m].by_size)
            return orch_no_memory(l->error);
    }
    return true;
}

static struct load_window *window(struct load_loop *l)
{
    return &l->result->window[l->result->windows < LOAD_WINDOWS ? l->result->windows : LOAD_WINDOWS - 1];
}

bool load_book_arrival(struct load_loop *l, unsigned model)
{
    l->result->model[model].arrived++;
    window(l)->arrived++;
    return true;
}

void load_book_begin(struct load_loop *l, unsigned model, const struct load_request *request)
{
    l->result->model[model].queued_s += l->now_s - request->arrived_s;
    l->result->model[model].began++;
}

void load_book_batch(struct load_loop *l, unsigned model, unsigned samples)
{
    struct load_model_result *const m = &l->result->model[model];
    m->batches++;
    m->by_size[samples < m->most ? samples : m->most]++;
    window(l)->batches++;
    window(l)->samples += samples;
}

static bool book_latency(struct load_loop *l, struct load_model_result *m, double latency)
{
    window(l)->latency_sum_s += latency;
    window(l)->latency_most_s = fmax(window(l)->latency_most_s, latency);
    return load_times_add(&m->latency, latency);
}

bool load_book_done(struct load_loop *l, unsigned model, const struct load_held *h)
{
    struct load_model_result *const m = &l->result->model[model];
    const double latency = l->now_s - h->request.arrived_s;
    m->done++;
    m->samples += h->request.samples;
    window(l)->done++;
    bool ok = true;
    if (l->setup->model[model].language) {
        m->tokens += h->generated;
        ok = load_times_add(&m->first_token, h->first_s - h->request.arrived_s) &&
             (h->generated < 2 || load_times_add(&m->each_token, (l->now_s - h->first_s) / (h->generated - 1)));
    }
    /* The latency of a query is that of its slowest sample. */
    if (l->outstanding)
        l->outstanding--;
    if (l->setup->scenario != LOAD_MULTI_STREAM || l->outstanding == 0)
        ok = ok && book_latency(l, m, l->setup->scenario == LOAD_MULTI_STREAM ? l->now_s - l->query_s : latency);
    return ok || orch_no_memory(l->error);
}

/* ---- time and energy ---- */

void load_book_time(struct load_loop *l, double to_s)
{
    const double seconds = to_s - l->now_s;
    size_t waiting = 0;
    for (unsigned m = 0; m < l->setup->models; m++)
        waiting += l->queue[m].count;
    l->result->waiting += (double)waiting * seconds;
    window(l)->waiting += (double)waiting * seconds;
    for (enum orch_part part = 0; part < PART_COUNT; part++) {
        if (!l->at_work[part])
            continue;
        const double busy = seconds * l->at_work[part] / l->setup->unit[part];
        l->result->busy_s[part] += busy;
        window(l)->busy[part] += busy;
    }
}

/* Charges the cost of a piece of work up to a share of it. */
static void book_until(struct load_loop *l, struct load_instance *i, double share)
{
    const double more = share - i->booked;
    if (more <= 0)
        return;
    i->booked = share;
    l->result->joules += more * i->cost.joules;
    window(l)->watts += more * i->cost.joules;
    if (l->setup->heat)
        load_heat_add(l->setup->heat, &i->cost.profile, more);
}

void load_book_finish(struct load_loop *l, struct load_instance *i)
{
    book_until(l, i, 1);
}

void load_book_work(struct load_loop *l)
{
    for (unsigned k = 0; k < l->instances; k++) {
        struct load_instance *const i = &l->instance[k];
        const double all = i->cost.overhead_s + i->cost.device_s;
        if (i->state == LOAD_IDLE || all <= 0)
            continue;
        const double passed = i->until_s > i->since_s ? fmin(1, (l->now_s - i->since_s) / (i->until_s - i->since_s)) : 1;
        const double done = i->state == LOAD_SUBMITS ? passed * i->cost.overhead_s
                            : i->state == LOAD_WAITS ? i->cost.overhead_s
                                                     : i->cost.overhead_s + passed * i->cost.device_s;
        book_until(l, i, done / all);
    }
}

void load_close_window(struct load_loop *l)
{
    struct load_result *const r = l->result;
    struct load_window *const w = window(l);
    const double seconds = l->now_s - w->begin_s;
    if (r->windows == LOAD_WINDOWS || seconds <= 0)
        return;
    load_book_work(l);
    w->seconds = seconds;
    w->waiting /= seconds;
    for (enum orch_part part = 0; part < PART_COUNT; part++)
        w->busy[part] /= seconds;
    w->watts = l->setup->idle_w + w->watts / seconds;
    w->celsius = w->clock_share = NAN;
    if (l->setup->heat)
        load_heat_read(l->setup->heat, w);
    r->windows++;
    if (r->windows < LOAD_WINDOWS)
        r->window[r->windows] = (struct load_window){.begin_s = l->now_s};
}
