#include "isa/list_grow.h"
#include "sim/soc/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { WAITING, READY, FINISHED };

struct entry {
    struct engine_task task;
    int *after;
    size_t after_count;
    enum state state;
    double done_ns;
};

struct engine {
    struct entry *entry;
    int count;
    size_t capacity;
};

struct engine *engine_create(void)
{
    return calloc(1, sizeof(struct engine));
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    for (int i = 0; i < e->count; i++)
        free(e->entry[i].after);
    free(e->entry);
    free(e);
}

static bool grow(struct engine *e)
{
    struct entry *const entry = list_grow(e->entry, (size_t)e->count, &e->capacity, sizeof *entry);
    if (entry)
        e->entry = entry;
    return entry != NULL;
}

int engine_add(struct engine *e, const struct engine_task *task, const int *after, size_t count)
{
    int *const copy = count ? malloc(count * sizeof *copy) : NULL;
    if ((count && !copy) || !grow(e)) {
        free(copy);
        return -1;
    }
    if (count)
        memcpy(copy, after, count * sizeof *copy);
    e->entry[e->count] = (struct entry){.task = *task, .after = copy, .after_count = count};
    return e->count++;
}

/* Returns the first task that `t` still waits for, or -1 when `t` may start; then *start_ns is when it may. */
static int waits_for(const struct engine *e, const struct entry *t, double *start_ns)
{
    *start_ns = 0;
    for (size_t i = 0; i < t->after_count; i++) {
        const int other = t->after[i];
        if (other < 0 || other >= e->count || e->entry[other].state != FINISHED)
            return other;
        *start_ns = fmax(*start_ns, e->entry[other].done_ns);
    }
    return -1;
}

static void start_ready(struct engine *e)
{
    for (int i = 0; i < e->count; i++) {
        struct entry *const t = &e->entry[i];
        double start_ns;
        if (t->state != WAITING || waits_for(e, t, &start_ns) >= 0)
            continue;
        if (t->task.start)
            t->task.start(t->task.context, start_ns);
        t->state = READY;
    }
}

/* Returns the ready task with the smallest local time, the lowest number on a tie. *limit_ns is the local time of the next one.
 */
static struct entry *pick(struct engine *e, double *limit_ns)
{
    struct entry *best = NULL;
    double best_ns = INFINITY;
    *limit_ns = INFINITY;
    for (int i = 0; i < e->count; i++) {
        struct entry *const t = &e->entry[i];
        if (t->state != READY)
            continue;
        const double now = t->task.now_ns(t->task.context);
        if (now < best_ns) {
            *limit_ns = best_ns;
            best_ns = now;
            best = t;
        } else if (now < *limit_ns) {
            *limit_ns = now;
        }
    }
    return best;
}

static bool all_finished(const struct engine *e)
{
    for (int i = 0; i < e->count; i++)
        if (e->entry[i].state != FINISHED)
            return false;
    return true;
}

static bool explain_deadlock(const struct engine *e, struct orch_error *error)
{
    char text[400];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < e->count && used + 1 < sizeof text; i++) {
        const struct entry *const t = &e->entry[i];
        double ignored;
        if (t->state == FINISHED)
            continue;
        const int other = waits_for(e, t, &ignored);
        const char *const name = other >= 0 && other < e->count ? e->entry[other].task.name : "a task that does not exist";
        const int n = snprintf(text + used, sizeof text - used, "%s%s waits for %s", used ? "; " : "", t->task.name, name);
        used += n > 0 ? (size_t)n : 0;
    }
    return orch_fail(error, ORCH_INTERNAL, "no task can go on: %s", text);
}

bool engine_run(struct engine *e, double *end_ns, struct orch_error *error)
{
    *end_ns = 0;
    while (!all_finished(e)) {
        double limit_ns;
        start_ready(e);
        struct entry *const t = pick(e, &limit_ns);
        if (!t)
            return explain_deadlock(e, error);
        switch (t->task.step(t->task.context, limit_ns, error)) {
        case ENGINE_MORE: break;
        case ENGINE_DONE:
            t->state = FINISHED;
            t->done_ns = t->task.now_ns(t->task.context);
            *end_ns = fmax(*end_ns, t->done_ns);
            break;
        case ENGINE_FAILED: return false;
        }
    }
    return true;
}

double engine_done_at(const struct engine *e, int task)
{
    return task >= 0 && task < e->count ? e->entry[task].done_ns : 0;
}
