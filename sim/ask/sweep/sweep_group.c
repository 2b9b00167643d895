#include "sim/ask/sweep/sweep_group.h"

#include "sim/ask/sweep/sweep_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* FIRST: least number of points in the first round, so that a share of odd answers shows. CHECK_FROM: from so many points on,
 * doubling them must pay. CANDIDATES: bound on the work of a round. */
enum { FIRST = 20, MOST = 600, CHECK_FROM = 40, CANDIDATES = 800, LEVELS_MOST = 64 };
#define GREATEST 2.0 /* no left-out point may be off by more than this many tolerances */
#define PAYS     0.8 /* doubling the points must lower the error to this share, or the answers are not smooth */

enum state { BEGIN, GROWING, WHOLE, ENDED };

struct group {
    size_t *member, count; /* indices of points */
    enum state state;
    size_t key[SWEEP_KEYS_MAX], keys;  /* keys that are dimensions */
    double *place;                     /* count * keys */
    const struct sweep_answer **known; /* answers in the order of `chosen` */
    size_t *chosen, chosen_count;      /* members whose answers were asked for */
    double *known_place;
    bool *asked;
    double *error_at; /* left-out error by number of chosen points */
    struct sweep_model *model;
    struct sweep_left_out left_out;
    size_t next_interpolated; /* the member to look at next */
    bool interpolates;
};

struct sweep_groups {
    const struct sweep_spec *spec;
    const struct sweep_design *design;
    uint64_t *point;
    size_t count;
    struct sweep_answer **answer;
    struct group *group;
    size_t groups, group_at; /* the group whose interpolated points are being handed out */
    size_t *want, want_count;
};

/* ---- making groups ---- */

struct sortable {
    size_t index, workload;
    enum sweep_role role;
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

/* Integers often act in steps (cores, tiles): when there are few of them with many points each, each is a group of its own. */
static bool makes_groups(const struct sweep_spec *spec, const struct sweep_key *key, size_t count)
{
    const double levels = key->level_count ? (double)key->level_count : key->whole ? key->high - key->low + 1 : INFINITY;
    if (!key->numeric)
        return true;
    return key->whole && levels <= LEVELS_MOST && (double)count / (double)spec->workload_count / levels >= SWEEP_GROUP_LEAST;
}

static bool place_group(struct sweep_groups *g, struct group *group)
{
    double value[SWEEP_KEYS_MAX];
    group->place = calloc(group->count * group->keys + 1, sizeof *group->place);
    for (size_t m = 0; group->place && m < group->count; m++) {
        sweep_design_values(g->design, g->point[group->member[m]], value);
        for (size_t d = 0; d < group->keys; d++) {
            const struct sweep_key *const key = &g->spec->key[group->key[d]];
            const bool log_scale = key->low > 0;
            const double low = log_scale ? log(key->low) : key->low, high = log_scale ? log(key->high) : key->high;
            const double at = log_scale ? log(value[group->key[d]]) : value[group->key[d]];
            group->place[m * group->keys + d] = high > low ? (at - low) / (high - low) : 0;
        }
    }
    return group->place != NULL;
}

static bool open_group(struct sweep_groups *g, struct group *group, const struct sortable *first, size_t count)
{
    group->count = count;
    group->member = calloc(count, sizeof *group->member);
    if (!group->member)
        return false;
    for (size_t i = 0; i < count; i++)
        group->member[i] = first[i].index;
    group->state = WHOLE;
    if (first->role != SWEEP_POINT || count < SWEEP_GROUP_LEAST || !(g->spec->tolerance > 0))
        return true;
    for (size_t k = 0; k < g->spec->key_count; k++)
        if (!makes_groups(g->spec, &g->spec->key[k], g->count))
            group->key[group->keys++] = k;
    if (group->keys == 0)
        return true;
    group->state = BEGIN;
    group->known = calloc(count, sizeof *group->known);
    group->chosen = calloc(count, sizeof *group->chosen);
    group->asked = calloc(count, sizeof *group->asked);
    group->error_at = calloc(count + 1, sizeof *group->error_at);
    group->known_place = calloc(count * group->keys, sizeof *group->known_place);
    group->model = sweep_model_create(group->keys);
    return group->known && group->chosen && group->asked && group->error_at && group->known_place && group->model;
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
        sorted[i] = (struct sortable){.index = i, .workload = place.workload, .role = place.role, .keys = g->spec->key_count};
        sweep_design_values(g->design, g->point[i], value);
        for (size_t k = 0; place.role == SWEEP_POINT && k < g->spec->key_count; k++)
            if (makes_groups(g->spec, &g->spec->key[k], g->count))
                sorted[i].value[k] = value[k];
    }
    if (sorted)
        qsort(sorted, g->count, sizeof *sorted, compare_stable);
    const bool ok = sorted && split(g, sorted);
    free(sorted);
    return ok;
}

struct sweep_groups *sweep_groups_create(const struct sweep_spec *spec, const struct sweep_design *design, const uint64_t *point,
                                         size_t count)
{
    struct sweep_groups *const g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->spec = spec;
    g->design = design;
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
        free(group->known_place);
        free(group->asked);
        free(group->error_at);
        sweep_model_free(group->model);
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

static void ask(struct sweep_groups *g, struct group *group, size_t member)
{
    if (group->asked[member])
        return;
    group->asked[member] = true;
    memcpy(group->known_place + group->chosen_count * group->keys, group->place + member * group->keys,
           group->keys * sizeof *group->place);
    group->chosen[group->chosen_count++] = member;
    g->want[g->want_count++] = group->member[member];
}

static void ask_rest(struct sweep_groups *g, struct group *group)
{
    for (size_t m = 0; m < group->count; m++)
        if (!group->asked || !group->asked[m])
            g->want[g->want_count++] = group->member[m];
    group->state = ENDED;
}

static double distance2(const struct group *group, size_t a, size_t b)
{
    double sum = 0;
    for (size_t d = 0; d < group->keys; d++)
        sum += pow(group->place[a * group->keys + d] - group->place[b * group->keys + d], 2);
    return sum;
}

/* Takes the point nearest to the middle, then again and again the one farthest from all taken. */
static bool fill_space(struct sweep_groups *g, struct group *group)
{
    const size_t wanted = FIRST > 4 * (group->keys + 1) ? FIRST : 4 * (group->keys + 1);
    double *const least = calloc(group->count, sizeof *least);
    size_t next = 0;
    for (size_t m = 0; least && m < group->count; m++) {
        for (size_t d = 0; d < group->keys; d++)
            least[m] += pow(group->place[m * group->keys + d] - 0.5, 2);
        next = least[m] < least[next] ? m : next;
    }
    for (size_t m = 0; least && m < group->count; m++)
        least[m] = INFINITY;
    for (size_t n = 0; least && n < wanted && n < group->count; n++) {
        ask(g, group, next);
        size_t furthest = 0;
        for (size_t m = 0; m < group->count; m++) {
            least[m] = fmin(least[m], distance2(group, m, next));
            furthest = least[m] > least[furthest] ? m : furthest;
        }
        next = furthest;
    }
    free(least);
    return least != NULL;
}

/* Collects members that were not asked for, at most CANDIDATES. */
static size_t candidates(const struct group *group, size_t *member, double *place)
{
    const size_t open = group->count - group->chosen_count, stride = (open + CANDIDATES - 1) / CANDIDATES;
    size_t n = 0, seen = 0;
    for (size_t m = 0; m < group->count; m++)
        if (!group->asked[m] && seen++ % stride == 0) {
            member[n] = m;
            memcpy(place + n * group->keys, group->place + m * group->keys, group->keys * sizeof *place);
            n++;
        }
    return n;
}

/* Asks for more points: half where the model knows least, half beside the points that were farthest off when left out. */
static bool ask_more(struct sweep_groups *g, struct group *group)
{
    const size_t wanted = group->chosen_count / 4 > 5 ? group->chosen_count / 4 : 5;
    size_t *const member = calloc(CANDIDATES + 1, sizeof *member), *const chosen = calloc(wanted, sizeof *chosen);
    double *const place = calloc(CANDIDATES * group->keys + 1, sizeof *place);
    const bool ok = member && chosen && place;
    if (ok) {
        const size_t n = candidates(group, member, place);
        const size_t taken = sweep_model_choose(group->model, place, n, wanted, chosen);
        for (size_t i = 0; i < taken; i++)
            ask(g, group, member[chosen[i]]);
    }
    free(member);
    free(chosen);
    free(place);
    return ok;
}

/* Counts remaining points whose expected error is above the tolerance, over a thinned-out set unless `all`. */
static size_t uncertain(struct sweep_groups *g, struct group *group, bool ask_them)
{
    const size_t stride = ask_them ? 1 : (group->count + CANDIDATES - 1) / CANDIDATES;
    struct sweep_answer answer;
    size_t count = 0;
    for (size_t m = 0; m < group->count; m += stride) {
        if (group->asked[m] || sweep_model_answer(group->model, group->place + m * group->keys, &answer) <= g->spec->tolerance)
            continue;
        count++;
        if (ask_them)
            ask(g, group, m);
    }
    return count;
}

/* Whether doubling the points helped too little: the answers are not smooth. */
static bool does_not_pay(const struct group *group)
{
    size_t half = group->chosen_count / 2;
    if (group->chosen_count < CHECK_FROM)
        return false;
    while (half > 0 && group->error_at[half] == 0)
        half--;
    return half > 0 && group->left_out.rms > PAYS * group->error_at[half];
}

static bool gather(struct sweep_groups *g, struct group *group)
{
    for (size_t i = 0; i < group->chosen_count; i++) {
        group->known[i] = g->answer[group->member[group->chosen[i]]];
        if (!group->known[i])
            return false;
    }
    return sweep_model_suits(group->known, group->chosen_count);
}

static bool grow(struct sweep_groups *g, struct group *group, struct orch_error *error)
{
    if (!gather(g, group)) { /* some failed or lack a response: there is nothing to interpolate between */
        ask_rest(g, group);
        return true;
    }
    if (!sweep_model_fit(group->model, group->known_place, group->known, group->chosen_count, error))
        return false;
    group->left_out = sweep_model_left_out(group->model);
    group->error_at[group->chosen_count] = group->left_out.rms;
    const bool fits = group->left_out.rms <= g->spec->tolerance && group->left_out.greatest <= GREATEST * g->spec->tolerance;
    if (fits && uncertain(g, group, false) == 0) {
        group->interpolates = true;
        uncertain(g, group, true);
        group->state = ENDED;
        return true;
    }
    if (group->chosen_count >= MOST || group->chosen_count * 2 >= group->count || (!fits && does_not_pay(group))) {
        ask_rest(g, group);
        return true;
    }
    return ask_more(g, group) || orch_no_memory(error);
}

static bool step(struct sweep_groups *g, struct group *group, struct orch_error *error)
{
    switch (group->state) {
    case WHOLE: ask_rest(g, group); return true;
    case BEGIN: group->state = GROWING; return (place_group(g, group) && fill_space(g, group)) || orch_no_memory(error);
    case GROWING: return grow(g, group, error);
    default: return true;
    }
}

bool sweep_groups_round(struct sweep_groups *groups, const size_t **want, size_t *count, struct orch_error *error)
{
    groups->want_count = 0;
    groups->group_at = 0;
    for (size_t i = 0; i < groups->groups; i++)
        if (!step(groups, &groups->group[i], error))
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
            sweep_model_answer(group->model, group->place + m * group->keys, answer);
            *index = group->member[m];
            return true;
        }
    }
    return false;
}

void sweep_groups_stats(const struct sweep_groups *groups, struct sweep_groups_stats *stats)
{
    double squares = 0;
    *stats = (struct sweep_groups_stats){.groups = groups->groups, .left_out_rms = NAN, .left_out_greatest = NAN};
    for (size_t i = 0; i < groups->groups; i++) {
        const struct group *const group = &groups->group[i];
        if (!group->interpolates)
            continue;
        stats->interpolating++;
        stats->left_out_points += group->chosen_count;
        squares += group->left_out.seconds_rms * group->left_out.seconds_rms * (double)group->chosen_count;
        stats->left_out_greatest = fmax(group->left_out.greatest, isnan(stats->left_out_greatest) ? 0 : stats->left_out_greatest);
    }
    if (stats->interpolating)
        stats->left_out_rms = sqrt(squares / (double)stats->left_out_points);
}
