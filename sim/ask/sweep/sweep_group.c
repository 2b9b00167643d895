#include "sim/ask/sweep/sweep_group_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MOST = 64 };

/* ---- making groups ---- */

struct sortable {
    size_t index, workload;
    enum sweep_role role;
    bool dealt;                   /* its threadgroups are dealt out to cores, and how is known */
    double value[SWEEP_KEYS_MAX]; /* values of keys that make groups; 0 for others */
    size_t keys;
};

static int compare(const void *a, const void *b)
{
    const struct sortable *const x = a, *const y = b;
    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (x->workload != y->workload)
        return x->workload < y->workload ? -1 : 1;
    if (x->dealt != y->dealt)
        return x->dealt ? -1 : 1;
    for (size_t k = 0; k < x->keys; k++)
        if (x->value[k] != y->value[k])
            return x->value[k] < y->value[k] ? -1 : 1;
    return 0;
}

static int compare_stable(const void *a, const void *b)
{
    const int order = compare(a, b);
    const struct sortable *const x = a, *const y = b;
    return order ? order : x->index < y->index ? -1 : 1;
}

/* Where it is known what a number of cores does to a GPU kernel, cores are a dimension like others. */
static bool counts_cores(const struct sweep_key *key)
{
    return strcmp(key->name, "gpu_cores") == 0 || strcmp(key->name, "gpu.cores") == 0;
}

/* Integers often act in steps (cores, tiles): when there are few of them with many points each, each is a group of its own. */
static bool makes_groups(const struct sweep_spec *spec, const struct sweep_key *key, size_t count, bool dealt)
{
    const double levels = key->level_count ? (double)key->level_count : key->whole ? key->high - key->low + 1 : INFINITY;
    if (!key->numeric)
        return true;
    if (dealt && counts_cores(key))
        return false;
    return key->whole && levels <= LEVELS_MOST && (double)count / (double)spec->workload_count / levels >= SWEEP_GROUP_LEAST;
}

/* Where a value is between the ends of its key. */
static double position(const struct sweep_key *key, double value)
{
    const bool log_scale = key->low > 0;
    const double low = log_scale ? log(key->low) : key->low, high = log_scale ? log(key->high) : key->high;
    return high > low ? ((log_scale ? log(value) : value) - low) / (high - low) : 0;
}

/* Those of the points' rounds that differ within the group become dimensions, from 0 to 1. */
static size_t list_rounds(const struct sweep_groups *g, const struct group *group, double low[SWEEP_ROUNDS_COORDINATES],
                          double high[SWEEP_ROUNDS_COORDINATES])
{
    size_t differ = 0;
    for (size_t c = 0; c < SWEEP_ROUNDS_COORDINATES; c++) {
        low[c] = INFINITY;
        high[c] = -INFINITY;
        for (size_t m = 0; m < group->count; m++) {
            const double at = g->rounds[group->member[m]].coordinate[c];
            low[c] = fmin(low[c], at);
            high[c] = fmax(high[c], at);
        }
        differ += high[c] > low[c];
    }
    return differ;
}

static bool place_group(struct sweep_groups *g, struct group *group, bool dealt)
{
    double value[SWEEP_KEYS_MAX], low[SWEEP_ROUNDS_COORDINATES] = {0}, high[SWEEP_ROUNDS_COORDINATES] = {0};
    group->dimensions = group->keys + (dealt ? list_rounds(g, group, low, high) : 0);
    group->columns = group->dimensions + dealt;
    group->place = calloc(group->count * group->columns + 1, sizeof *group->place);
    for (size_t m = 0; group->place && m < group->count; m++) {
        double *to = group->place + m * group->columns;
        sweep_design_values(g->design, g->point[group->member[m]], value);
        for (size_t d = 0; d < group->keys; d++)
            *to++ = position(&g->spec->key[group->key[d]], value[group->key[d]]);
        for (size_t c = 0; c < SWEEP_ROUNDS_COORDINATES; c++)
            if (high[c] > low[c])
                *to++ = (g->rounds[group->member[m]].coordinate[c] - low[c]) / (high[c] - low[c]);
        if (dealt)
            *to = (double)sweep_deals_number(group->deals, m);
    }
    return group->place != NULL;
}

static bool begin_group(struct sweep_groups *g, struct group *group, bool dealt)
{
    const size_t count = group->count;
    group->state = GROUP_BEGIN;
    group->deals = dealt ? sweep_deals_create(g->rounds, group->member, count) : NULL;
    if ((dealt && !group->deals) || !place_group(g, group, dealt))
        return false;
    group->known = calloc(count, sizeof *group->known);
    group->chosen = calloc(count, sizeof *group->chosen);
    group->asked = calloc(count, sizeof *group->asked);
    group->error_at = calloc(count + 1, sizeof *group->error_at);
    group->known_place = calloc(count * group->columns, sizeof *group->known_place);
    group->model = sweep_model_create(group->dimensions, dealt);
    group->noise = calloc(count, sizeof *group->noise);
    group->chosen_index = calloc(count, sizeof *group->chosen_index);
    group->scattering = calloc(count, sizeof *group->scattering);
    group->price = (struct sweep_price){.study = dealt ? g->study : NULL, .design = g->design, .point = g->point};
    if (group->model)
        sweep_model_set_price(group->model, &group->price);
    group->judge = dealt ? sweep_model_create(group->dimensions, dealt) : NULL;
    return group->known && group->chosen && group->asked && group->error_at && group->known_place && group->model &&
           group->noise && group->chosen_index && group->scattering && (group->judge || !dealt);
}

static bool open_group(struct sweep_groups *g, struct group *group, const struct sortable *first, size_t count)
{
    group->count = count;
    group->member = calloc(count, sizeof *group->member);
    if (!group->member)
        return false;
    for (size_t i = 0; i < count; i++)
        group->member[i] = first[i].index;
    group->state = GROUP_WHOLE;
    if (first->role != SWEEP_POINT || count < SWEEP_GROUP_LEAST || !(g->spec->tolerance > 0))
        return true;
    for (size_t k = 0; k < g->spec->key_count; k++)
        if (!makes_groups(g->spec, &g->spec->key[k], g->count, first->dealt))
            group->key[group->keys++] = k;
    return group->keys == 0 || group->keys + SWEEP_ROUNDS_COORDINATES > KRIGING_DIMENSIONS_MAX ||
           begin_group(g, group, first->dealt);
}

static bool split(struct sweep_groups *g, const struct sortable *sorted)
{
    size_t groups = 0;
    for (size_t i = 0; i < g->count; i++)
        groups += i == 0 || compare(&sorted[i - 1], &sorted[i]) != 0;
    g->group = calloc(groups + 1, sizeof *g->group);
    for (size_t i = 0, begin = 0; g->group && i < g->count; i++) {
        if (i + 1 < g->count && compare(&sorted[i], &sorted[i + 1]) == 0)
            continue;
        if (!open_group(g, &g->group[g->groups++], &sorted[begin], i + 1 - begin))
            return false;
        begin = i + 1;
    }
    return g->group != NULL;
}

static bool sort_and_split(struct sweep_groups *g)
{
    struct sortable *const sorted = calloc(g->count + 1, sizeof *sorted);
    double value[SWEEP_KEYS_MAX];
    for (size_t i = 0; sorted && i < g->count; i++) {
        const struct sweep_place place = sweep_design_place(g->design, g->point[i]);
        const bool dealt = place.role == SWEEP_POINT && g->rounds && g->rounds[i].known;
        sorted[i] = (struct sortable){
            .index = i, .workload = place.workload, .role = place.role, .dealt = dealt, .keys = g->spec->key_count};
        sweep_design_values(g->design, g->point[i], value);
        for (size_t k = 0; place.role == SWEEP_POINT && k < g->spec->key_count; k++)
            if (makes_groups(g->spec, &g->spec->key[k], g->count, dealt))
                sorted[i].value[k] = value[k];
    }
    if (sorted)
        qsort(sorted, g->count, sizeof *sorted, compare_stable);
    const bool ok = sorted && split(g, sorted);
    free(sorted);
    return ok;
}

struct sweep_groups *sweep_groups_create(const struct sweep_spec *spec, const struct sweep_design *design, const uint64_t *point,
                                         size_t count, const struct sweep_rounds *rounds, struct study *study)
{
    struct sweep_groups *const g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->spec = spec;
    g->design = design;
    g->rounds = rounds;
    g->study = study;
    g->count = count;
    g->point = calloc(count + 1, sizeof *g->point);
    g->answer = calloc(count + 1, sizeof *g->answer);
    g->want = calloc(count + 1, sizeof *g->want);
    if (g->point)
        memcpy(g->point, point, count * sizeof *point);
    if (g->point && g->answer && g->want && sort_and_split(g))
        return g;
    sweep_groups_free(g);
    return NULL;
}

void sweep_groups_free(struct sweep_groups *groups)
{
    if (!groups)
        return;
    for (size_t i = 0; i < groups->groups; i++) {
        struct group *const group = &groups->group[i];
        free(group->member);
        free(group->place);
        free(group->known);
        free(group->chosen);
        sweep_deals_free(group->deals);
        free(group->known_place);
        free(group->noise);
        free(group->chosen_index);
        free(group->scattering);
        free(group->asked);
        free(group->error_at);
        sweep_model_free(group->model);
        sweep_model_free(group->judge);
    }
    for (size_t i = 0; groups->answer && i < groups->count; i++)
        free(groups->answer[i]);
    free(groups->group);
    free(groups->point);
    free(groups->answer);
    free(groups->want);
    free(groups);
}

/* ---- rounds ---- */

bool sweep_groups_round(struct sweep_groups *groups, const size_t **want, size_t *count, struct orch_error *error)
{
    groups->want_count = 0;
    groups->group_at = 0;
    for (size_t i = 0; i < groups->groups; i++)
        if (!sweep_group_step(groups, &groups->group[i], error))
            return false;
    *want = groups->want;
    *count = groups->want_count;
    return true;
}

bool sweep_groups_answer(struct sweep_groups *groups, size_t index, const struct sweep_answer *answer, struct orch_error *error)
{
    if (!(groups->spec->tolerance > 0) || groups->answer[index])
        return true;
    groups->answer[index] = malloc(sizeof *answer);
    if (!groups->answer[index])
        return orch_no_memory(error);
    *groups->answer[index] = *answer;
    return true;
}

bool sweep_groups_interpolated(struct sweep_groups *groups, size_t *index, struct sweep_answer *answer)
{
    for (; groups->group_at < groups->groups; groups->group_at++) {
        struct group *const group = &groups->group[groups->group_at];
        if (!group->interpolates)
            continue;
        for (; group->next_interpolated < group->count; group->next_interpolated++) {
            const size_t m = group->next_interpolated;
            if (group->asked[m])
                continue;
            group->next_interpolated++;
            *index = group->member[m];
            sweep_model_answer(group->model, group->place + m * group->columns, *index, answer);
            return true;
        }
    }
    return false;
}

void sweep_groups_stats(const struct sweep_groups *groups, struct sweep_groups_stats *stats)
{
    double squares = 0, scatter = 0;
    *stats =
        (struct sweep_groups_stats){.groups = groups->groups, .left_out_rms = NAN, .left_out_greatest = NAN, .scatter_rms = NAN};
    for (size_t i = 0; i < groups->groups; i++) {
        const struct group *const group = &groups->group[i];
        if (!group->interpolates)
            continue;
        stats->interpolating++;
        stats->left_out_points += group->left_out.count;
        stats->scattering += group->wild.wild;
        squares += group->left_out.seconds_rms * group->left_out.seconds_rms * (double)group->left_out.count;
        scatter += group->wild.wild_rms * group->wild.wild_rms * (double)group->wild.wild;
        stats->left_out_greatest = fmax(group->left_out.greatest, isnan(stats->left_out_greatest) ? 0 : stats->left_out_greatest);
    }
    if (stats->left_out_points)
        stats->left_out_rms = sqrt(squares / (double)stats->left_out_points);
    if (stats->scattering)
        stats->scatter_rms = sqrt(scatter / (double)stats->scattering);
}
