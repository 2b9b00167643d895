#include "sim/ask/tune/tune.h"

#include "isa/array_count.h"
#include "sim/workload/amx/kernel.h"
#include "sim/ask/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const units[] = {"cpu", "amx", "gpu", "ane"};
enum { UNITS = ARRAY_COUNT(units) };

struct tuning {
    const struct tune_request *q;
    struct tune_result *r;
    struct study *study;
    struct orch_error *error;
};

/* ---- which variants ---- */

/* A block as large as the matrix is what the library's own rule chooses. */
static bool is_needless(const char *unit, const struct tune_variant *v, const char *precision)
{
    struct kernel_call call;
    if (strcmp(unit, "amx") != 0 || !kernel_parse(v->workload, precision, &call, NULL))
        return false;
    return (call.blocks.m && call.blocks.m >= call.m) || (call.blocks.n && call.blocks.n >= call.n) ||
           (call.blocks.k && call.blocks.k >= call.k);
}

static bool add_unit(struct tuning *t, const char *unit)
{
    const size_t count = tune_variants(t->q->workload, unit, NULL, 0);
    if (count > t->q->most)
        return orch_fail(t->error, ORCH_USAGE,
                         "%zu variants on %s are more than " ORCH_OPTION("max") " %zu: fix a choice in the request", count, unit,
                         t->q->most);
    struct tune_variant *const variants = calloc(count + 1, sizeof *variants);
    struct tune_trial *const grown = variants ? realloc(t->r->trial, (t->r->count + count + 1) * sizeof *grown) : NULL;
    if (grown) {
        t->r->trial = grown;
        tune_variants(t->q->workload, unit, variants, count);
        for (size_t i = 0; i < count; i++)
            if (i == 0 || !is_needless(unit, &variants[i], t->q->precision))
                grown[t->r->count++] = (struct tune_trial){.variant = variants[i], .unit = unit, .own_rule = i == 0};
    }
    free(variants);
    return grown || orch_no_memory(t->error);
}

static bool find_variants(struct tuning *t)
{
    const char *const unit = t->q->unit && strcmp(t->q->unit, "auto") != 0 ? t->q->unit : NULL;
    for (unsigned i = 0; i < UNITS; i++)
        if ((!unit || strcmp(unit, units[i]) == 0) && !add_unit(t, units[i]))
            return false;
    if (t->r->count)
        return true;
    return orch_fail(t->error, ORCH_USAGE, "no library%s%s has the kernel '%.60s'; `orchard kernels` lists them",
                     unit ? " of " : "", unit ? unit : "", t->q->workload);
}

/* ---- timing ---- */

static bool set_overrides(struct study_setting *setting, const struct tune_trial *trial, const struct tune_request *q)
{
    char cores[16];
    snprintf(cores, sizeof cores, "%u", trial->variant.cores);
    return study_setting_set(setting, "workload", trial->variant.workload) && study_setting_set(setting, "unit", trial->unit) &&
           study_setting_set(setting, "chip", q->chip) && (!trial->variant.cores || study_setting_set(setting, "cores", cores)) &&
           (strcmp(trial->unit, "gpu") != 0 || study_setting_set(setting, "detail", "sampled")) &&
           (!q->precision || study_setting_set(setting, "precision", q->precision));
}

/* Times a variant. A refusal goes into the trial; false when nothing more can be tried. */
static bool time_variant(struct tuning *t, struct tune_trial *trial)
{
    struct study_setting setting = {0};
    struct study_answer answer;
    struct orch_error why = {0};
    study_answer_init(&answer);
    bool ok = set_overrides(&setting, trial, t->q) || orch_no_memory(t->error);
    if (ok && study_evaluate(t->study, &setting, &answer, &why)) {
        trial->seconds = answer.result.seconds;
        trial->joules = answer.result.joules;
    } else if (ok) {
        trial->state = TUNE_REFUSED;
        snprintf(trial->why, sizeof trial->why, "%.150s", why.text);
        if (why.exit_code == ORCH_INTERNAL)
            ok = orch_fail(t->error, ORCH_INTERNAL, "%.160s: %.300s", trial->variant.workload, why.text);
    }
    study_answer_free(&answer);
    study_setting_free(&setting);
    return ok;
}

static bool time_all(struct tuning *t)
{
    for (size_t i = 0; i < t->r->count; i++) {
        if (t->q->tried)
            t->q->tried(t->q->context, i, t->r->count);
        if (!time_variant(t, &t->r->trial[i]))
            return false;
    }
    return true;
}

/* ---- choosing ---- */

static double cost(const struct tuning *t, const struct tune_trial *trial)
{
    const double value = t->q->goal == TUNE_JOULES ? trial->joules : trial->seconds;
    return trial->state == TUNE_REFUSED || trial->state == TUNE_WRONG || !isfinite(value) ? INFINITY : value;
}

/* Finds the library's own rule on the unit that a run without --unit takes: the first unit that has the kernel, in the order of
 * `run`. */
static bool find_usual(struct tuning *t)
{
    static const char *const order[] = {"amx", "cpu", "gpu", "ane"};
    for (unsigned u = 0; u < UNITS; u++)
        for (size_t i = 0; i < t->r->count; i++)
            if (t->r->trial[i].own_rule && strcmp(t->r->trial[i].unit, order[u]) == 0 && t->r->trial[i].state != TUNE_REFUSED) {
                t->r->usual = i;
                return true;
            }
    return orch_fail(t->error, ORCH_USAGE, "%.160s: %.300s", t->q->workload, t->r->trial[0].why);
}

static const struct tune_trial *own_rule_of(const struct tune_result *r, const char *unit)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->trial[i].own_rule && strcmp(r->trial[i].unit, unit) == 0)
            return &r->trial[i];
    return NULL;
}

/* Executes the variant and the library's own rule of its unit. Results of different units are not compared: each unit has tests
 * of its own. */
static bool check_results(struct tuning *t, struct tune_trial *trial)
{
    struct orch_error why = {0};
    const struct tune_trial *const own = own_rule_of(t->r, trial->unit);
    trial->state = TUNE_CHECKED;
    trial->error = 0;
    if (trial->own_rule)
        return true;
    if (!tune_difference(t->q, trial->unit, &own->variant, &trial->variant, &trial->error, &why)) {
        trial->state = TUNE_WRONG;
        snprintf(trial->why, sizeof trial->why, "%.150s", why.text);
        return why.exit_code != ORCH_INTERNAL || orch_fail(t->error, ORCH_INTERNAL, "%.400s", why.text);
    }
    if (trial->error > tune_tolerance(trial->unit, t->q->precision)) {
        trial->state = TUNE_WRONG;
        snprintf(trial->why, sizeof trial->why, "results differ by %.2g of the largest, %.2g is allowed", trial->error,
                 tune_tolerance(trial->unit, t->q->precision));
    }
    return true;
}

/* Chooses the first with right results, from the fastest on. */
static bool choose(struct tuning *t)
{
    for (;;) {
        size_t best = t->r->usual;
        for (size_t i = 0; i < t->r->count; i++)
            if (cost(t, &t->r->trial[i]) < cost(t, &t->r->trial[best]))
                best = i;
        if (!check_results(t, &t->r->trial[best]))
            return false;
        if (t->r->trial[best].state == TUNE_CHECKED) {
            t->r->best = best;
            return true;
        }
    }
}

bool tune_run(const struct tune_request *q, struct tune_result *r, struct orch_error *error)
{
    const struct study_base base = {
        .chips = q->chips, .sets = q->sets, .request = {.seed = q->seed}, .chip = q->chip, .ambient_c = NAN};
    struct tuning t = {.q = q, .r = r, .error = error};
    *r = (struct tune_result){0};
    bool ok = find_variants(&t);
    t.study = ok ? study_create(&base, NULL, error) : NULL;
    ok = t.study && time_all(&t) && find_usual(&t) && choose(&t);
    if (ok)
        r->tolerance = tune_tolerance(r->trial[r->best].unit, q->precision);
    study_free(t.study);
    return ok;
}

void tune_free(struct tune_result *r)
{
    free(r->trial);
    *r = (struct tune_result){0};
}
