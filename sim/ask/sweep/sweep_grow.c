/* What a group of points asks to be simulated, round after round, until the rest can be interpolated. */
#include "sim/ask/sweep/sweep_group_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What bounds the work. Where threadgroups are dealt out, each number of cores has to show how much its answers scatter before
 * anything is concluded, so more points come first there. */
enum {
    FIRST = 20,             /* least number of points in the first round, so that a share of odd answers shows */
    MOST = 600,             /* of points to fit: the cost of a fit grows with their number cubed */
    CHECK_FROM = 40,        /* from so many points on, doubling them must pay */
    CHECK_DEALS_FROM = 300, /* the same where threadgroups are dealt out */
    FOUND_OUT_FROM = 150,   /* from so many on, rounds that find fewer calm points than they ask for are the last */
    CANDIDATES = 800,       /* members that a round looks at */
    UNCERTAIN_SHARE = 50,   /* one in so many points may be left uncertain and simulated for that */
    JUDGED = 3              /* times; over 4 to 40 cores, no verdict on gemm of 256 and 512 cubed changed at the third */
};
#define GREATEST  2.0 /* no left-out point may be off by more than this many tolerances */
#define PAYS      0.8 /* doubling the points must lower the error to this share, or the answers are not smooth */
#define WILD_MOST 0.7 /* share of a group's points whose answers may scatter, or hardly anything can be interpolated */
#define UNCERTAIN 1.5 /* tolerances that a GPU kernel's point may be off: its answers scatter, so that their sum decides */

/* ---- asking ---- */

static void ask(struct sweep_groups *g, struct group *group, size_t member)
{
    if (group->asked[member])
        return;
    group->asked[member] = true;
    group->chosen[group->chosen_count++] = member;
    g->want[g->want_count++] = group->member[member];
}

static void ask_rest(struct sweep_groups *g, struct group *group)
{
    for (size_t m = 0; m < group->count; m++)
        if (!group->asked || !group->asked[m])
            g->want[g->want_count++] = group->member[m];
    group->state = GROUP_ENDED;
}

static double distance2(const struct group *group, size_t a, size_t b)
{
    double sum = 0;
    for (size_t d = 0; d < group->dimensions; d++)
        sum += pow(group->place[a * group->columns + d] - group->place[b * group->columns + d], 2);
    return sum;
}

/* Takes the point nearest to the middle, then again and again the one farthest from all taken. */
static bool fill_space(struct sweep_groups *g, struct group *group)
{
    const size_t wanted = FIRST > 4 * (group->dimensions + 1) ? FIRST : 4 * (group->dimensions + 1);
    double *const least = calloc(group->count, sizeof *least);
    size_t next = 0;
    for (size_t m = 0; least && m < group->count; m++) {
        for (size_t d = 0; d < group->dimensions; d++)
            least[m] += pow(group->place[m * group->columns + d] - 0.5, 2);
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

/* Whether a member could be interpolated. */
static bool open_to(const struct group *group, size_t member)
{
    return !group->asked[member] && !(group->deals && sweep_deals_wild(group->deals, member));
}

/* Whether its answer could help. */
static bool worth_asking(const struct group *group, size_t member)
{
    return !group->asked[member] && !(group->deals && sweep_deals_surely_wild(group->deals, member));
}

/* Collects members that are worth asking, at most CANDIDATES. Where all deals seem to scatter, any member is: it may be the model
 * that knows too little yet, and if not, they are all simulated in the end. */
static size_t candidates(const struct group *group, size_t *member, double *place)
{
    size_t open = 0, n = 0, seen = 0;
    for (size_t m = 0; m < group->count; m++)
        open += worth_asking(group, m);
    const bool any = open == 0;
    open = any ? group->count - group->chosen_count : open;
    const size_t stride = (open + CANDIDATES - 1) / CANDIDATES;
    for (size_t m = 0; m < group->count; m++)
        if ((any ? !group->asked[m] : worth_asking(group, m)) && seen++ % stride == 0) {
            member[n] = m;
            memcpy(place + n * group->columns, group->place + m * group->columns, group->columns * sizeof *place);
            n++;
        }
    return n;
}

/* Asks for more points: half where the model knows least, half beside the points that were farthest off when left out. */
static bool ask_more(struct sweep_groups *g, struct group *group, const struct sweep_model *model, struct orch_error *error)
{
    const size_t wanted = group->chosen_count / 4 > 5 ? group->chosen_count / 4 : 5;
    size_t *const member = calloc(CANDIDATES + 1, sizeof *member), *const chosen = calloc(wanted, sizeof *chosen);
    double *const place = calloc(CANDIDATES * group->columns + 1, sizeof *place);
    const bool ok = member && chosen && place;
    if (ok) {
        const size_t n = candidates(group, member, place);
        const size_t taken = sweep_model_choose(model, place, n, wanted, chosen);
        for (size_t i = 0; i < taken; i++)
            ask(g, group, member[chosen[i]]);
    }
    free(member);
    free(chosen);
    free(place);
    return ok || orch_no_memory(error);
}

/* Counts remaining points whose expected error is too great, over a thinned-out set unless they are asked for. */
static size_t uncertain(struct sweep_groups *g, struct group *group, bool ask_them)
{
    const size_t stride = ask_them ? 1 : (group->count + CANDIDATES - 1) / CANDIDATES;
    const double most = g->spec->tolerance * (group->deals ? UNCERTAIN : 1);
    size_t count = 0;
    for (size_t m = 0; m < group->count; m += stride) {
        if (!open_to(group, m) || sweep_model_expected(group->model, group->place + m * group->columns) <= most)
            continue;
        count++;
        if (ask_them)
            ask(g, group, m);
    }
    return count;
}

/* Ends with interpolation: what cannot be interpolated is asked for. */
static void settle(struct sweep_groups *g, struct group *group)
{
    group->interpolates = true;
    uncertain(g, group, true);
    for (size_t m = 0; m < group->count; m++)
        if (!group->asked[m] && !open_to(group, m))
            ask(g, group, m);
    group->state = GROUP_ENDED;
}

/* ---- fitting ---- */

/* Whether all answers are there and can be interpolated. */
static bool gather(struct sweep_groups *g, struct group *group)
{
    for (size_t i = 0; i < group->chosen_count; i++) {
        group->known[i] = g->answer[group->member[group->chosen[i]]];
        if (!group->known[i])
            return false;
    }
    return sweep_model_suits(group->known, group->chosen_count);
}

/* Lets a model follow all answers, those least that scatter most. */
static bool fit(struct group *group, struct sweep_model *model, struct orch_error *error)
{
    const size_t c = group->columns;
    for (size_t i = 0; i < group->chosen_count; i++) {
        const size_t m = group->chosen[i];
        memcpy(group->known_place + i * c, group->place + m * c, c * sizeof *group->place);
        group->noise[i] = group->deals ? sweep_deals_noise(group->deals, m) : 1;
        group->chosen_index[i] = group->member[m];
    }
    if (model == group->judge)
        return sweep_model_fit_seconds(model, group->known_place, group->known, group->noise, group->chosen_count, error);
    if (group->price.study && !group->price.work.known)
        sweep_price_begin(&group->price, group->chosen_index[0]);
    return sweep_model_fit(model, group->known_place, group->known, group->chosen_index, group->noise, group->chosen_count,
                           error);
}

/* Judges the deals by left-out points, again and again following those less that scattered the time before. */
static bool judge(struct sweep_groups *g, struct group *group, struct orch_error *error)
{
    double *const off = calloc(group->chosen_count, sizeof *off);
    bool ok = off || orch_no_memory(error);
    for (int time = 0; ok && time < JUDGED; time++) {
        ok = fit(group, group->judge, error);
        for (size_t i = 0; ok && i < group->chosen_count; i++)
            off[i] = sweep_model_left_out_at(group->judge, i);
        if (ok)
            sweep_deals_judge(group->deals, group->chosen, off, group->chosen_count, g->spec->tolerance);
    }
    free(off);
    return ok;
}

/* ---- rounds ---- */

/* Whether doubling the points helped too little: the answers are not smooth. */
static bool does_not_pay(const struct group *group)
{
    size_t half = group->chosen_count / 2;
    if (group->chosen_count < (group->deals ? CHECK_DEALS_FROM : CHECK_FROM))
        return false;
    while (half > 0 && group->error_at[half] == 0)
        half--;
    return half > 0 && group->error_at[group->chosen_count] > PAYS * group->error_at[half];
}

static bool at_end(const struct group *group)
{
    return group->chosen_count >= MOST || group->chosen_count * 2 >= group->count;
}

/* Fits and says what is left to interpolate is off by. */
static bool fit_calm(struct group *group, struct orch_error *error)
{
    for (size_t i = 0; i < group->chosen_count; i++)
        group->scattering[i] = sweep_deals_wild(group->deals, group->chosen[i]);
    if (!fit(group, group->model, error))
        return false;
    group->left_out = sweep_model_left_out(group->model, group->scattering);
    return true;
}

/* Where answers scatter under some deals, the points under them are simulated, as soon as they are no more than what was asked
 * for to find them out, or more questions do not help. */
static bool grow_dealt(struct sweep_groups *g, struct group *group, struct orch_error *error)
{
    if (!judge(g, group, error))
        return false;
    const size_t before = g->want_count, scattered = group->wild.wild, asked = group->chosen_count - group->judged_count;
    group->wild = sweep_deals_sum(group->deals);
    group->error_at[group->chosen_count] = group->wild.all;
    const bool last = at_end(group) || does_not_pay(group);
    /* More questions that find fewer calm points than they are do not help either. */
    const bool found_out = group->chosen_count >= FOUND_OUT_FROM && group->wild.wild + asked > scattered;
    group->judged_count = group->chosen_count;
    if ((last || found_out || group->wild.wild <= group->chosen_count) &&
        (double)group->wild.wild <= WILD_MOST * (double)group->count) {
        if (!fit_calm(group, error))
            return false;
        const bool fits = group->left_out.rms <= g->spec->tolerance * (last ? UNCERTAIN : 1);
        if (fits && (last || uncertain(g, group, false) <= CANDIDATES / UNCERTAIN_SHARE)) {
            settle(g, group);
            return true;
        }
    }
    if (!last && !ask_more(g, group, group->judge, error))
        return false;
    if (g->want_count == before)
        ask_rest(g, group);
    return true;
}

static bool grow_smooth(struct sweep_groups *g, struct group *group, struct orch_error *error)
{
    if (!fit(group, group->model, error))
        return false;
    group->left_out = sweep_model_left_out(group->model, NULL);
    group->error_at[group->chosen_count] = group->left_out.rms;
    const bool fits = group->left_out.rms <= g->spec->tolerance && group->left_out.greatest <= GREATEST * g->spec->tolerance;
    if (fits && uncertain(g, group, false) == 0) {
        settle(g, group);
        return true;
    }
    if (at_end(group) || (!fits && does_not_pay(group))) {
        ask_rest(g, group);
        return true;
    }
    return ask_more(g, group, group->model, error);
}

static bool grow(struct sweep_groups *g, struct group *group, struct orch_error *error)
{
    if (!gather(g, group)) { /* some failed or lack a response: there is nothing to interpolate between */
        ask_rest(g, group);
        return true;
    }
    return group->deals ? grow_dealt(g, group, error) : grow_smooth(g, group, error);
}

bool sweep_group_step(struct sweep_groups *g, struct group *group, struct orch_error *error)
{
    switch (group->state) {
    case GROUP_WHOLE: ask_rest(g, group); return true;
    case GROUP_BEGIN: group->state = GROUP_GROWING; return fill_space(g, group) || orch_no_memory(error);
    case GROUP_GROWING: return grow(g, group, error);
    default: return true;
    }
}
