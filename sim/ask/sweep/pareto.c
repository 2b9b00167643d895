#include "sim/ask/sweep/pareto.h"

#include <math.h>
#include <stdlib.h>

static bool beats(const double *a, const double *b, size_t dimensions)
{
    bool better = false;
    for (size_t d = 0; d < dimensions; d++) {
        if (a[d] > b[d])
            return false;
        better = better || a[d] < b[d];
    }
    return better;
}

static bool equals(const double *a, const double *b, size_t dimensions)
{
    for (size_t d = 0; d < dimensions; d++)
        if (a[d] != b[d])
            return false;
    return true;
}

struct entry {
    const double *value;
    size_t index, dimensions;
};

static int by_value(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;
    for (size_t d = 0; d < x->dimensions; d++)
        if (x->value[d] != y->value[d])
            return x->value[d] < y->value[d] ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* in rising order, only points that are already in the front can beat the next */
bool pareto_front(const double *value, size_t count, size_t dimensions, bool *keep)
{
    struct entry *const entry = calloc(count + 1, sizeof *entry);
    const double **const front = calloc(count + 1, sizeof *front);
    size_t front_count = 0;
    for (size_t i = 0; entry && i < count; i++)
        entry[i] = (struct entry){value + i * dimensions, i, dimensions};
    if (entry && front)
        qsort(entry, count, sizeof *entry, by_value);
    for (size_t i = 0; entry && front && i < count; i++) {
        bool beaten = false;
        for (size_t f = front_count; f-- > 0 && !beaten;)
            beaten = beats(front[f], entry[i].value, dimensions) || equals(front[f], entry[i].value, dimensions);
        keep[entry[i].index] = !beaten;
        if (!beaten)
            front[front_count++] = entry[i].value;
    }
    free(entry);
    free(front);
    return entry && front;
}

size_t sweep_pareto_responses(const struct sweep_data *data, size_t workload, enum sweep_response response[3])
{
    static const enum sweep_response asked[] = {SWEEP_seconds, SWEEP_joules, SWEEP_celsius_max};
    size_t n = 0;
    for (size_t r = 0; r < 3; r++) {
        bool all = true;
        for (size_t i = 0; i < data->point_count && all; i++) {
            const struct sweep_point *const p = &data->point[i];
            all = !sweep_counts(data, p, workload, SWEEP_seconds) || !isnan(p->answer.response[asked[r]]);
        }
        if (all)
            response[n++] = asked[r];
    }
    return n;
}

static void pick(const struct sweep_data *data, size_t workload, const enum sweep_response *response, size_t dimensions,
                 double *value, size_t *index, size_t *n)
{
    for (size_t i = 0; i < data->point_count; i++) {
        if (!sweep_counts(data, &data->point[i], workload, SWEEP_seconds))
            continue;
        for (size_t d = 0; d < dimensions; d++)
            value[*n * dimensions + d] = data->point[i].answer.response[response[d]];
        index[(*n)++] = i;
    }
}

bool sweep_pareto(const struct sweep_data *data, size_t workload, size_t **front, size_t *count, struct orch_error *error)
{
    enum sweep_response response[3];
    const size_t dimensions = sweep_pareto_responses(data, workload, response);
    double *const value = calloc(data->point_count * 3 + 1, sizeof *value);
    size_t *const index = calloc(data->point_count + 1, sizeof *index), n = 0;
    bool *const keep = calloc(data->point_count + 1, sizeof *keep);
    struct entry *const entry = calloc(data->point_count + 1, sizeof *entry);
    bool ok = value && index && keep && entry;
    *count = 0;
    *front = calloc(data->point_count + 1, sizeof **front);
    if (ok) {
        pick(data, workload, response, dimensions, value, index, &n);
        ok = *front && pareto_front(value, n, dimensions, keep);
    }
    for (size_t i = 0; ok && i < n; i++)
        if (keep[i])
            entry[(*count)++] = (struct entry){value + i * dimensions, index[i], dimensions};
    if (ok)
        qsort(entry, *count, sizeof *entry, by_value);
    for (size_t i = 0; ok && i < *count; i++)
        (*front)[i] = entry[i].index;
    free(value);
    free(index);
    free(keep);
    free(entry);
    return ok || orch_no_memory(error);
}
