#include "sim/prove/regress/cause.h"

#include "sim/run/run_version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* KEYS_TRIED: when more values of a chip differ, they are only named and not put back one by one. */
enum { KEYS_TRIED = 24, KEYS_NAMED = 4, SHOWN = 40 };

/* An experiment: a chip with one value put back. */
struct trial {
    const char *chip, *key;
    char *set;         /* "KEY=OLD" */
    const char **sets; /* the overrides of the request, and this one */
    char change[160];  /* "KEY OLD -> NEW" */
};
struct trials {
    struct trial *trial;
    struct regress_job *job; /* one per trial */
    struct regress_value *value;
    size_t count;
};

static void trials_free(struct trials *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->trial[i].set);
        free(t->trial[i].sets);
    }
    free(t->trial);
    free(t->job);
    free(t->value);
}

static bool add_trial(struct trials *t, const struct regress_request *q, const char *chip, const struct chip_value *now,
                      const char *then, struct orch_error *error)
{
    struct trial *const grown = realloc(t->trial, (t->count + 1) * sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    t->trial = grown;
    struct trial *const n = &t->trial[t->count++];
    const size_t size = strlen(now->key->name) + strlen(then) + 4;
    *n = (struct trial){
        .chip = chip, .key = now->key->name, .set = malloc(size), .sets = calloc(q->sets.count + 1, sizeof *n->sets)};
    if (!n->set || !n->sets)
        return orch_no_memory(error);
    snprintf(n->set, size, "%s=%s", now->key->name, then);
    for (size_t i = 0; i < q->sets.count; i++)
        n->sets[i] = q->sets.text[i];
    n->sets[q->sets.count] = n->set;
    snprintf(n->change, sizeof n->change, "%.60s %.*s%s -> %.*s%s", n->key, SHOWN, then, strlen(then) > SHOWN ? "..." : "", SHOWN,
             now->json, strlen(now->json) > SHOWN ? "..." : "");
    return true;
}

/* Whether the value is the file's own; values derived from others move with those. */
static bool is_own(const struct chip_value *v)
{
    return v->origin == NULL || strcmp(v->origin, "derived") != 0;
}

static bool trials_of_chip(struct trials *t, const struct regress_request *q, const char *id, const struct baseline *b,
                           struct orch_error *error)
{
    struct chip *const chip = chip_open(q->chips, id, &q->sets, error);
    bool ok = chip != NULL;
    for (size_t i = 0; ok && i < chip_key_count(); i++) {
        const struct chip_value *const now = chip_value_at(chip, i);
        const char *const then = now ? baseline_parameter_of(b, id, now->key->name) : NULL;
        if (then && is_own(now) && strcmp(then, now->known ? now->json : "null") != 0)
            ok = add_trial(t, q, id, now, then, error);
    }
    if (chip)
        chip_close(chip);
    return ok;
}

static bool has_moved(const struct regress_comparison *r, const char *chip)
{
    for (size_t i = 0; i < r->moved_count; i++)
        if (r->moved[i].chip == chip)
            return true;
    return false;
}

static size_t trials_of(const struct trials *t, const char *chip)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        count += t->trial[i].chip == chip;
    return count;
}

static size_t metric_number(const char *name)
{
    struct regress_metric m;
    size_t i = 0;
    while (regress_metric_at(i, &m) && strcmp(m.name, name) != 0)
        i++;
    return i;
}

/* Measures the characteristics that moved, with each value of the chip put back. */
static bool run_trials(struct trials *t, const struct regress_request *q, const struct regress_comparison *r,
                       struct orch_error *error)
{
    const size_t metrics = regress_metric_count();
    t->job = calloc(t->count + 1, sizeof *t->job);
    t->value = calloc((t->count + 1) * metrics, sizeof *t->value);
    if (!t->job || !t->value)
        return orch_no_memory(error);
    for (size_t i = 0; i < t->count; i++) {
        t->job[i] = (struct regress_job){
            .chip = t->trial[i].chip, .sets = {t->trial[i].sets, q->sets.count + 1}, .value = t->value + i * metrics};
        const bool few = trials_of(t, t->trial[i].chip) <= KEYS_TRIED;
        for (size_t k = 0; few && k < r->moved_count; k++)
            if (r->moved[k].chip == t->trial[i].chip)
                t->job[i].value[metric_number(r->moved[k].metric.name)].wanted = true;
    }
    return t->count == 0 || regress_measure(t->job, t->count, q->threads, NULL, NULL, error);
}

/* Whether putting this value back moves the characteristic. A tenth of the tolerance is more than rounding. */
static bool is_cause(const struct regress_moved *moved, const struct regress_job *job)
{
    const struct regress_value *const v = &job->value[metric_number(moved->metric.name)];
    if (job->error.exit_code || !v->wanted)
        return true; /* cannot be decided, so the value stays under suspicion */
    if (isfinite(v->value) != isfinite(moved->after))
        return true;
    return isfinite(v->value) && fabs(v->value - moved->after) > 0.1 * moved->metric.tolerance * fabs(moved->after);
}

static char *tell_cause(const struct regress_moved *moved, const struct trials *t, const struct baseline *b)
{
    char *text = NULL;
    size_t size = 0, named = 0;
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < t->count; i++) {
        if (t->trial[i].chip != moved->chip || !is_cause(moved, &t->job[i]))
            continue;
        if (named < KEYS_NAMED)
            fprintf(out, "%s%s", named ? ", " : "", t->trial[i].change);
        named++;
    }
    if (named > KEYS_NAMED)
        fprintf(out, " and %zu more", named - KEYS_NAMED);
    if (!named && strcmp(b->version, run_model_version()) != 0)
        fprintf(out, "code: model version %s -> %s", b->version, run_model_version());
    else if (!named)
        fprintf(out, "no value of the chip and the model's version is the same: the baseline or a machine's file was changed");
    return fclose(out) == 0 ? text : NULL;
}

bool regress_find_causes(const struct regress_request *q, const struct baseline *b, struct regress_comparison *r,
                         struct orch_error *error)
{
    struct trials t = {0};
    bool ok = true;
    for (size_t c = 0; ok && c < q->chip_count; c++)
        if (has_moved(r, q->chip[c]))
            ok = trials_of_chip(&t, q, q->chip[c], b, error);
    ok = ok && run_trials(&t, q, r, error);
    for (size_t i = 0; ok && i < r->moved_count; i++) {
        r->moved[i].cause = tell_cause(&r->moved[i], &t, b);
        ok = r->moved[i].cause || orch_no_memory(error);
    }
    trials_free(&t);
    return ok;
}
