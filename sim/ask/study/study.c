#include "sim/ask/study/study.h"
#include "sim/ask/study/fitted.h"
#include "sim/ask/study/known.h"
#include "sim/ask/study/study_internal.h"

#include "sim/base/host_time.h"
#include "sim/workload/amx/kernel.h"
#include "sim/scenario/run_sustained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named_base {
    char *name;
    struct chip_base *base;
};

struct study {
    const struct study_base *base;
    struct orch_db *db;
    struct fitted_set fitted; /* the last one asked for; name NULL = none */
    struct known *known;
    struct named_base *chip; /* by the name under which they were asked for */
    size_t chips, last;
    struct device_list devices;
    bool has_devices;
    struct run_launch_lists *launches; /* NULL = nobody has asked yet */
    uint8_t *energy;                   /* what the energy of the last answer read, by key */
    const char **names;                /* for study_last_reads: parameters of the timing, then those of the energy */
};

/* ---- answers ---- */

void study_answer_init(struct study_answer *answer)
{
    run_result_init(&answer->result);
    answer->method = STUDY_SIMULATED;
    answer->host_seconds = 0;
}

void study_answer_free(struct study_answer *answer)
{
    run_result_free(&answer->result);
    study_answer_init(answer);
}

/* ---- a study ---- */

struct study *study_create(const struct study_base *base, struct orch_db *db, struct orch_error *error)
{
    struct study *const s = calloc(1, sizeof *s);
    if (s) {
        s->base = base;
        s->db = db;
        s->energy = calloc(chip_key_count(), 1);
        s->names = calloc(2 * chip_key_count(), sizeof *s->names);
        s->known = known_create(db, error);
    }
    if (s && s->energy && s->names && s->known)
        return s;
    study_free(s);
    orch_no_memory(error);
    return NULL;
}

void study_free(struct study *study)
{
    if (!study)
        return;
    for (size_t i = 0; i < study->chips; i++) {
        free(study->chip[i].name);
        chip_base_close(study->chip[i].base);
    }
    free(study->chip);
    if (study->has_devices)
        device_list_free(&study->devices);
    known_free(study->known);
    run_launch_lists_free(study->launches);
    fitted_close(&study->fitted);
    free(study->energy);
    free(study->names);
    free(study);
}

/* Reads the files of each chip only once. */
static const struct chip_base *base_of(struct study *s, const char *name, struct orch_error *error)
{
    if (s->chips && strcmp(s->chip[s->last].name, name) == 0)
        return s->chip[s->last].base;
    for (s->last = 0; s->last < s->chips; s->last++)
        if (strcmp(s->chip[s->last].name, name) == 0)
            return s->chip[s->last].base;
    s->last = 0;
    struct named_base *const grown = reallocarray(s->chip, s->chips + 1, sizeof *grown);
    if (grown)
        s->chip = grown;
    char *const copy = strdup(name);
    struct chip_base *const base = chip_base_open(s->base->chips, name, error);
    if (grown && copy && base) {
        s->chip[s->chips] = (struct named_base){copy, base};
        s->last = s->chips++;
        return base;
    }
    if (base)
        orch_no_memory(error);
    free(copy);
    chip_base_close(base);
    return NULL;
}

/* ---- one answer ---- */

/* Works out the energy with a handle of the chip that notes what is read. */
static bool answer_of(struct study *s, const struct run_timing *timing, const struct run_request *request,
                      struct run_result *result, struct orch_error *error)
{
    struct run_request q = *request;
    memset(s->energy, 0, chip_key_count());
    struct chip *const view = chip_view(request->chip, s->energy);
    q.chip = view;
    const bool ok = view ? run_timing_result(timing, &q, result, NULL, NULL, error) : orch_no_memory(error);
    chip_close(view);
    return ok;
}

static bool fresh_answer(struct study *s, const struct run_request *q, struct run_result *result, struct orch_error *error)
{
    struct run_timing timing;
    run_timing_init(&timing);
    const bool ok = run_timing_simulate(q, &timing, error) && answer_of(s, &timing, q, result, error);
    run_timing_free(&timing);
    return ok;
}

static bool known_answer(struct study *s, const struct run_request *q, struct study_answer *answer, struct orch_error *error)
{
    bool was_known = false;
    const struct run_timing *const timing = known_timing(s->known, q, &was_known, error);
    answer->method = was_known ? STUDY_KNOWN : STUDY_SIMULATED;
    return timing && answer_of(s, timing, q, &answer->result, error);
}

/* ---- in a machine ---- */

static const struct device *machine(struct study *s, const char *name, const char *chip, struct orch_error *error)
{
    if (!s->has_devices && !device_list_load(NULL, &s->devices, error))
        return NULL;
    s->has_devices = true;
    return device_find(&s->devices, name, chip, error);
}

/* Notes whether all timings of an answer were known. */
struct watch {
    struct known *known;
    bool simulated;
};

static const struct run_timing *watched_timing(void *context, const struct run_request *q, bool *was_known,
                                               struct orch_error *error)
{
    struct watch *const w = context;
    const struct run_timing *const t = known_timing(w->known, q, was_known, error);
    w->simulated |= !*was_known;
    return t;
}

static bool device_answer(struct study *s, const struct study_asked *a, const struct run_request *run, bool fresh,
                          struct study_answer *answer, struct orch_error *error)
{
    struct watch watch = {s->known, fresh};
    const struct run_known known = {.context = &watch, .timing = watched_timing};
    struct run_sustained_request q = {.run = *run,
                                      .db = s->base->chips,
                                      .overrides = a->sets,
                                      .device = a->device,
                                      .machine = machine(s, a->device, chip_id(run->chip), error),
                                      .duration_s = a->duration_s,
                                      .ambient_c = a->ambient_c,
                                      .policy = a->policy,
                                      .low_power = a->low_power,
                                      .power_cap_w = a->power_cap_w,
                                      .battery_percent = NAN};
    struct sustain_result series = {0};
    memset(s->energy, 0, chip_key_count());
    struct chip *const view = chip_view(run->chip, s->energy);
    if (!view)
        return orch_no_memory(error);
    q.run.chip = view;
    q.run.known = fresh ? NULL : &known;
    struct run_sustained *const sustained = q.machine ? run_sustained_prepare(&q, error) : NULL;
    const bool ok = sustained && run_sustained_execute(sustained, NULL, 1, &answer->result, &series, error);
    sustain_result_free(&series);
    run_sustained_free(sustained);
    chip_close(view);
    answer->method = watch.simulated ? STUDY_SIMULATED : STUDY_KNOWN;
    return ok;
}

/* ---- evaluation ---- */

static bool open_fitted(struct study *s, const char *asked, struct orch_error *error)
{
    char name[128];
    const char *const at = strchr(asked, '@');
    snprintf(name, sizeof name, "%.*s", at ? (int)(at - asked) : 120, asked);
    if (!s->fitted.name || strcmp(s->fitted.name, name) != 0) {
        fitted_close(&s->fitted);
        if (!s->db)
            return orch_fail(error, ORCH_USAGE, "fitted=%.60s: fitted sets are in a database, and this study has none", asked);
        if (!fitted_open(s->db, name, &s->fitted, error))
            return false;
    }
    return !at || strcmp(fitted_hash(&s->fitted), at + 1) == 0 ||
           orch_fail(error, ORCH_USAGE, "fitted set %s is not what it was (%s): it was tuned or calibrated again", name, at + 1);
}

static bool evaluate(struct study *s, const struct study_asked *a, bool fresh, struct study_answer *answer,
                     struct orch_error *error);

/* Evaluates with what a fitted set has for the chip and the workload. */
static bool evaluate_fitted(struct study *s, const struct study_asked *a, bool fresh, struct study_answer *answer,
                            struct orch_error *error)
{
    struct study_asked with = *a;
    struct fitted_sets sets;
    const char *id;
    bool used;
    if (!open_fitted(s, a->fitted, error) || !chip_db_resolve(s->base->chips, a->chip, &id, error) ||
        !fitted_sets_make(&s->fitted, id, &a->sets, &sets, error))
        return false;
    with.sets = sets.overrides;
    with.fitted = NULL;
    fitted_apply(&s->fitted, id, &with.request, &used);
    const bool ok = evaluate(s, &with, fresh, answer, error);
    fitted_sets_free(&sets);
    return ok;
}

static bool evaluate(struct study *s, const struct study_asked *a, bool fresh, struct study_answer *answer,
                     struct orch_error *error)
{
    if (a->fitted)
        return evaluate_fitted(s, a, fresh, answer, error);
    struct run_request q = a->request;
    const struct chip_base *const base = base_of(s, a->chip, error);
    struct chip *const chip = base ? chip_open_on(base, &a->sets, error) : NULL;
    if (!chip)
        return false;
    q.chip = chip;
    if (!q.detail || strcmp(q.detail, "auto") == 0)
        q.detail = kernel_is_workload(q.workload) ? "op" : NULL;
    const bool ok = a->device ? device_answer(s, a, &q, fresh, answer, error)
                    : fresh   ? fresh_answer(s, &q, &answer->result, error)
                              : known_answer(s, &q, answer, error);
    chip_close(chip);
    return ok;
}

static bool evaluate_timed(struct study *s, const struct study_setting *setting, bool fresh, struct study_answer *answer,
                           struct orch_error *error)
{
    const double begin = host_seconds();
    struct study_asked asked;
    study_answer_free(answer);
    const bool ok = study_ask(&asked, s->base, setting, error) && evaluate(s, &asked, fresh, answer, error);
    study_asked_free(&asked);
    answer->host_seconds = answer->result.host_seconds = host_seconds() - begin;
    return ok;
}

bool study_evaluate(struct study *study, const struct study_setting *setting, struct study_answer *answer,
                    struct orch_error *error)
{
    return evaluate_timed(study, setting, false, answer, error);
}

bool study_evaluate_fresh(struct study *study, const struct study_setting *setting, struct study_answer *answer,
                          struct orch_error *error)
{
    return evaluate_timed(study, setting, true, answer, error);
}

/* ---- work ---- */

/* A fitted set may run another unit's kernel. */
static bool is_plain_gpu(const struct study_asked *a)
{
    return !a->fitted && !a->device && a->request.unit && strcmp(a->request.unit, "gpu") == 0 &&
           kernel_is_workload(a->request.workload);
}

bool study_work(struct study *s, const struct study_setting *setting, struct study_work *work, struct orch_error *error)
{
    struct study_asked asked;
    *work = (struct study_work){.known = false};
    bool ok = study_ask(&asked, s->base, setting, error);
    if (ok && is_plain_gpu(&asked)) {
        bool was_known = false;
        const struct chip_base *const base = base_of(s, asked.chip, error);
        struct chip *const chip = base ? chip_open_on(base, &asked.sets, error) : NULL;
        asked.request.chip = chip;
        asked.request.detail = asked.request.detail && strcmp(asked.request.detail, "auto") != 0 ? asked.request.detail : "op";
        const struct run_timing *const timing = chip ? known_timing(s->known, &asked.request, &was_known, error) : NULL;
        ok = timing != NULL;
        if (ok)
            work->work = run_timing_work(timing);
        work->known = ok && work->work.kind;
        chip_close(chip);
    }
    study_asked_free(&asked);
    return ok;
}

bool study_work_joules(struct study *s, const struct study_work *work, const struct study_setting *setting,
                       const struct run_timing_took *took, double *joules, struct orch_error *error)
{
    struct study_asked asked;
    *joules = NAN;
    if (!work->known)
        return true;
    bool ok = study_ask(&asked, s->base, setting, error);
    if (ok && is_plain_gpu(&asked)) {
        const struct chip_base *const base = base_of(s, asked.chip, error);
        struct chip *const chip = base ? chip_open_on(base, &asked.sets, error) : NULL;
        ok = chip != NULL;
        if (ok)
            *joules = run_timing_work_joules(&work->work, chip, asked.request.celsius, took);
        chip_close(chip);
    }
    study_asked_free(&asked);
    return ok;
}

/* ---- launches ---- */

bool study_launches(struct study *s, const struct study_setting *setting, struct run_launch_list *list, struct orch_error *error)
{
    struct study_asked asked;
    struct chip *chip = NULL;
    *list = (struct run_launch_list){.count = 0};
    s->launches = s->launches ? s->launches : run_launch_lists_create();
    if (!s->launches)
        return orch_no_memory(error);
    bool ok = study_ask(&asked, s->base, setting, error);
    /* Sweeps ask this of every point, and opening a chip is most of the cost. A fitted set may run another unit's kernel. */
    const char *const unit = ok ? asked.request.unit : NULL;
    if (ok && !asked.fitted && unit && strcmp(unit, "gpu") == 0) {
        const struct chip_base *const base = base_of(s, asked.chip, error);
        chip = base ? chip_open_on(base, &asked.sets, error) : NULL;
        asked.request.chip = chip;
        ok = chip && run_launch_list_of(s->launches, &asked.request, list, error);
    }
    chip_close(chip);
    study_asked_free(&asked);
    return ok;
}

/* ---- reads ---- */

static size_t list_names(const uint8_t *reads, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; reads && i < chip_key_count(); i++)
        if (reads[i])
            names[count++] = chip_key_at(i)->name;
    return count;
}

void study_last_reads(const struct study *study, struct study_reads *reads)
{
    const char **const energy = study->names + chip_key_count();
    *reads = (struct study_reads){.timing = study->names, .energy = energy};
    reads->timing_count = list_names(known_last_reads(study->known), study->names);
    reads->energy_count = list_names(study->energy, energy);
}
