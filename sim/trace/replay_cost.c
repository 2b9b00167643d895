/* The cost of a launch on the target chip: answers of studies, remembered by their question. */
#include "sim/base/checksum.h"
#include "sim/workload/amx/kernel.h"
#include "sim/ask/study/study.h"
#include "sim/trace/launch_settings.h"
#include "sim/trace/replay_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 1 << 14,      /* remembered answers; all are forgotten when three quarters are taken */
    SETTINGS_MAX = 64,    /* distinct option texts of launches */
    COPY_LEAST = 12,      /* log2 bytes of the smallest copy that is simulated */
    COPY_MOST = 26,       /* log2 bytes of the largest; beyond it bandwidth decides */
    ASSUMPTIONS_MAX = 24, /* reported, each for the first kernel that has it */
};

struct answer {
    char *key;
    struct replay_cost cost; /* busy_ns < 0 when the target has no such kernel */
};

struct settings {
    char *text;
    struct launch_request launch;
    struct study_base base;
    struct study *study;
};

struct replay_costs {
    const struct trace_replay_request *request;
    struct settings settings[SETTINGS_MAX];
    unsigned settings_count;
    struct answer answer[SLOTS];
    unsigned used;
    uint64_t distinct;
    struct replay_cost copy[PART_COUNT][COPY_MOST + 1]; /* by unit and log2 bytes; busy_ns 0 = not simulated yet */
    struct run_assumptions assumptions;
    char missing[200];
};

struct replay_costs *replay_costs_create(const struct trace_replay_request *request, struct orch_error *error)
{
    struct replay_costs *const c = calloc(1, sizeof *c);
    if (c)
        c->request = request;
    else
        orch_no_memory(error);
    return c;
}

static void forget(struct replay_costs *c)
{
    for (size_t i = 0; i < SLOTS; i++)
        free(c->answer[i].key);
    memset(c->answer, 0, sizeof c->answer);
    c->used = 0;
}

void replay_costs_free(struct replay_costs *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->settings_count; i++) {
        study_free(c->settings[i].study);
        launch_request_free(&c->settings[i].launch);
        free(c->settings[i].text);
    }
    struct run_result lists;
    run_result_init(&lists);
    lists.assumptions = c->assumptions;
    run_result_free(&lists);
    forget(c);
    free(c);
}

uint64_t replay_costs_distinct(const struct replay_costs *c)
{
    return c->distinct;
}

const char *replay_costs_missing(const struct replay_costs *c)
{
    return c->missing;
}

static bool add_assumptions(const struct run_assumptions *from, struct run_assumptions *to)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->count; i++) {
        bool there = false;
        for (size_t k = 0; k < to->count; k++)
            there |= strcmp(to->item[k].key, from->item[i].key) == 0;
        ok = there || run_assumption_add(to, from->item[i].key, from->item[i].kind, from->item[i].effect);
    }
    return ok;
}

/* Notes the assumptions of one kernel's answer without their shares of time, which are not those of the whole trace. */
static bool note_assumptions(const struct run_assumptions *from, const char *workload, struct run_assumptions *to)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->count && to->count < ASSUMPTIONS_MAX; i++) {
        char effect[400];
        bool there = false;
        for (size_t k = 0; k < to->count; k++)
            there |= strcmp(to->item[k].key, from->item[i].key) == 0;
        snprintf(effect, sizeof effect, "%.60s: %.300s", workload, from->item[i].effect ? from->item[i].effect : "");
        ok = there || run_assumption_add(to, from->item[i].key, from->item[i].kind, effect);
    }
    return ok;
}

bool replay_costs_assumptions(const struct replay_costs *c, struct run_assumptions *to)
{
    return add_assumptions(&c->assumptions, to);
}

/* ---- studies ---- */

/* Finds or creates the study for launches with these options. */
static struct study *study_of(struct replay_costs *c, const char *text, struct orch_error *error)
{
    const struct trace_replay_request *const q = c->request;
    for (unsigned i = 0; i < c->settings_count; i++)
        if (strcmp(c->settings[i].text, text) == 0)
            return c->settings[i].study;
    if (c->settings_count == SETTINGS_MAX) {
        orch_fail(error, ORCH_USAGE, "%s: more than %d different settings of launches", q->path, SETTINGS_MAX);
        return NULL;
    }
    struct settings *const s = &c->settings[c->settings_count++];
    s->text = strdup(text);
    if (!s->text) {
        orch_no_memory(error);
        return NULL;
    }
    if (!launch_settings_read(text, &s->launch, error))
        return NULL;
    s->base = (struct study_base){
        .chips = q->chips, .sets = q->sets, .request = s->launch.part.request, .chip = q->chip_name, .ambient_c = NAN};
    s->base.request.threads = q->common.threads;
    s->base.request.mode = RUN_TIMING;
    s->study = study_create(&s->base, q->db, error);
    return s->study;
}

static bool fill_setting(struct study_setting *s, const char *workload, const char *unit, const char *precision)
{
    return study_setting_set(s, "workload", workload) && study_setting_set(s, "unit", unit) &&
           study_setting_set(s, "detail", "op") && (!precision || study_setting_set(s, "precision", precision));
}

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

static enum orch_part part_of(const char *unit)
{
    for (int part = 0; unit && part < PART_COUNT; part++)
        if (strcmp(orch_part_name((enum orch_part)part), unit) == 0)
            return (enum orch_part)part;
    return PART_CPU;
}

static void fill_cost(const struct run_result *r, struct replay_cost *cost)
{
    const double overhead = or_zero(r->overhead_seconds);
    *cost = (struct replay_cost){.work = REPLAY_KERNEL,
                                 .part = part_of(r->unit),
                                 .busy_ns = fmax(0, r->seconds - overhead) * 1e9,
                                 .overhead_ns = overhead * 1e9,
                                 .low = 1,
                                 .high = 1,
                                 .dram_bytes = or_zero(r->dram_bytes),
                                 .macs = or_zero(r->macs),
                                 .flops = or_zero(r->flops),
                                 .joules = or_zero(r->joules)};
    if (r->seconds > 0 && !isnan(r->seconds_low) && !isnan(r->seconds_high)) {
        cost->low = r->seconds_low / r->seconds;
        cost->high = r->seconds_high / r->seconds;
    }
}

/* Asks the study. *known becomes false, with the reason in *why, when the target has no such kernel; all else that fails is an
 * error. */
static bool ask(struct replay_costs *c, const char *workload, const char *unit, const char *precision, const char *settings,
                struct replay_cost *cost, bool *known, struct orch_error *why, struct orch_error *error)
{
    struct study_answer answer;
    struct study_setting setting = {0};
    struct study *const study = study_of(c, settings, error);
    *why = (struct orch_error){0};
    *known = false;
    if (!study)
        return false;
    study_answer_init(&answer);
    bool ok = fill_setting(&setting, workload, unit, precision) || orch_no_memory(error);
    if (ok) {
        *known = study_evaluate(study, &setting, &answer, why);
        if (*known) {
            fill_cost(&answer.result, cost);
            ok = note_assumptions(&answer.result.assumptions, workload, &c->assumptions) || orch_no_memory(error);
        } else if (why->exit_code != ORCH_UNMODELLED && why->exit_code != ORCH_USAGE) {
            *error = *why;
            ok = false;
        }
    }
    study_setting_free(&setting);
    study_answer_free(&answer);
    return ok;
}

/* ---- kernels ---- */

/* Units that can take over the work of a unit, best first: CPU cores hand matrix products to their AMX block. */
static const char *const *candidates(const char *unit)
{
    static const char *const cpu[] = {"amx", "cpu", NULL}, *const amx[] = {"amx", NULL}, *const gpu[] = {"gpu", NULL},
                             *const ane[] = {"ane", NULL}, *const any[] = {"auto", NULL};
    return strcmp(unit, "cpu") == 0   ? cpu
           : strcmp(unit, "amx") == 0 ? amx
           : strcmp(unit, "gpu") == 0 ? gpu
           : strcmp(unit, "ane") == 0 ? ane
                                      : any;
}

static struct answer *find(struct replay_costs *c, const char *key)
{
    const uint64_t hash = checksum_fnv1a64(key, strlen(key));
    size_t at = (hash ^ hash >> 29) % SLOTS;
    while (c->answer[at].key && strcmp(c->answer[at].key, key) != 0)
        at = (at + 1) % SLOTS;
    return &c->answer[at];
}

static bool simulate_kernel(struct replay_costs *c, const struct trace_launch *l, const char *unit, struct replay_cost *cost,
                            struct orch_error *error)
{
    struct orch_error why = {0};
    bool known = false;
    for (const char *const *at = candidates(unit); *at && !known; at++) {
        const bool own =
            strcmp(*at, "ane") != 0 || (l->precision && strcmp(l->precision, "f32") != 0 && strcmp(l->precision, "f64") != 0);
        if (!ask(c, l->workload, *at, own && kernel_is_workload(l->workload) ? l->precision : NULL,
                 l->settings ? l->settings : "", cost, &known, &why, error))
            return false;
    }
    c->distinct += known;
    if (known)
        return true;
    cost->busy_ns = -1;
    if (!c->missing[0])
        snprintf(c->missing, sizeof c->missing, "%.80s on %s: %.100s", l->workload, unit, why.text);
    return l->bytes > 0 || orch_fail(error, why.exit_code, "operator %llu (%.80s) has no bytes to estimate it by: %.250s",
                                     (unsigned long long)l->op, l->name ? l->name : l->workload, why.text);
}

static bool kernel_cost(struct replay_costs *c, const struct trace_launch *l, const char *unit, struct replay_cost *cost,
                        struct orch_error *error)
{
    char *key;
    const int length =
        snprintf(NULL, 0, "%s|%s|%s|%s", unit, l->workload, l->precision ? l->precision : "", l->settings ? l->settings : "");
    key = malloc((size_t)length + 1);
    if (!key)
        return orch_no_memory(error);
    snprintf(key, (size_t)length + 1, "%s|%s|%s|%s", unit, l->workload, l->precision ? l->precision : "",
             l->settings ? l->settings : "");
    struct answer *a = find(c, key);
    if (a->key) {
        free(key);
        *cost = a->cost;
        return true;
    }
    if (!simulate_kernel(c, l, unit, cost, error)) {
        free(key);
        return false;
    }
    if (4 * c->used > 3 * SLOTS)
        forget(c);
    a = find(c, key);
    *a = (struct answer){key, *cost};
    c->used++;
    return true;
}

/* ---- copies in the place of what has no kernel ---- */

/* Simulates a copy of 2^log2 bytes on a unit; for AMX on its core, since AMX has no copy. */
static bool copy_cost(struct replay_costs *c, enum orch_part part, int log2, const struct replay_cost **cost,
                      struct orch_error *error)
{
    struct replay_cost *const known = &c->copy[part][log2];
    struct orch_error why;
    bool there = known->busy_ns > 0;
    char workload[32];
    *cost = known;
    if (there)
        return true;
    snprintf(workload, sizeof workload, "copy:%ld", 1L << log2);
    const char *const unit = part == PART_GPU || part == PART_ANE ? orch_part_name(part) : "cpu";
    if (!ask(c, workload, unit, NULL, "", known, &there, &why, error))
        return false;
    if (!there) {
        *error = why;
        return false;
    }
    known->part = part;
    known->busy_ns = fmax(known->busy_ns, 1e-3);
    return true;
}

/* Time to move so many bytes, inputs and outputs together: interpolated between simulated copies, and proportional beyond the
 * largest. */
static bool estimate(struct replay_costs *c, uint64_t bytes, const char *unit, struct replay_cost *cost, struct orch_error *error)
{
    const enum orch_part part = strcmp(unit, "auto") == 0 ? PART_GPU : part_of(unit);
    const double copied = (double)bytes / 2;
    const struct replay_cost *low, *high;
    int log2 = COPY_LEAST;
    while (log2 + 1 < COPY_MOST && copied >= (double)(1L << (log2 + 1)))
        log2++;
    if (!copy_cost(c, part, log2, &low, error) || !copy_cost(c, part, log2 + 1, &high, error))
        return false;
    const double at = fmax(0, (copied - (double)(1L << log2)) / (double)(1L << log2));
    *cost = *low;
    cost->work = REPLAY_ESTIMATE;
    cost->busy_ns = fmax(low->busy_ns + at * (high->busy_ns - low->busy_ns), 0);
    cost->dram_bytes = fmax(low->dram_bytes + at * (high->dram_bytes - low->dram_bytes), 0);
    cost->joules = fmax(low->joules + at * (high->joules - low->joules), 0);
    cost->macs = cost->flops = 0;
    return true;
}

bool replay_cost_of(struct replay_costs *c, const struct trace_launch *l, struct replay_cost *cost, struct orch_error *error)
{
    const char *const unit = c->request->unit ? c->request->unit : l->unit;
    if (strcmp(l->work, "none") == 0) {
        *cost = (struct replay_cost){.work = REPLAY_NONE, .part = part_of(unit), .low = 1, .high = 1};
        return true;
    }
    if (strcmp(l->work, "kernel") == 0) {
        if (!kernel_cost(c, l, unit, cost, error))
            return false;
        if (cost->busy_ns >= 0)
            return true;
    }
    return estimate(c, l->bytes, unit, cost, error);
}
