#include "sim/serve/served_internal.h"

#include "sim/base/host_time.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/network.h"
#include "sim/run/kinds/unit_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- opening ---- */

static enum orch_part part_named(const char *unit)
{
    enum orch_part part = 0;
    while (part < PART_DRAM && strcmp(orch_part_name(part), unit) != 0)
        part++;
    return part;
}

static bool open_language(struct served_model *m, struct orch_error *error)
{
    m->language = true;
    if (strncmp(m->entry.workload, LANGUAGE_ZOO, strlen(LANGUAGE_ZOO)) == 0)
        return orch_fail(error, ORCH_USAGE,
                         "%s has no weights: a server needs a file (.gguf); orchard loadtest times models of the zoo",
                         m->entry.workload);
    return language_model_open(m->entry.workload, &m->tokens, error);
}

/* The unit of a configuration goes before the one that was asked for; auto is the GPU, where most servers of networks run, and
 * cores for language models, whose steps are short. */
static void choose_unit(const struct served *s, struct served_model *m)
{
    const char *unit = s->setup.unit ? s->setup.unit : "auto";
    if (m->entry.configured && m->entry.config.unit[0])
        unit = m->entry.config.unit;
    if (strcmp(unit, "auto") == 0)
        unit = m->language ? "amx" : "gpu";
    snprintf(m->unit, sizeof m->unit, "%.7s", unit);
    m->part = part_named(m->unit);
    const char *const precision = s->setup.run.precision                                ? s->setup.run.precision
                                  : m->entry.configured && m->entry.config.precision[0] ? m->entry.config.precision
                                  : m->part == PART_ANE                                 ? "f16"
                                                                                        : "f32";
    snprintf(m->precision, sizeof m->precision, "%.15s", m->language ? "" : precision);
}

/* Shapes of outputs follow from those of inputs where these are open, too; where they do not, outputs are shown without. */
static void show_shapes(struct served_model *m)
{
    static const struct net_open_options only_shapes = {.level = 0};
    m->shown = net_model_copy(m->network);
    if (m->shown && !net_prepare(m->shown, &only_shapes, NULL, NULL)) {
        net_model_free(m->shown);
        m->shown = NULL;
    }
}

static bool open_model(struct served *s, const char *text, struct orch_error *error)
{
    struct served_model *const m = &s->model[s->models];
    if (s->models == SERVED_MODELS)
        return orch_fail(error, ORCH_USAGE, "at most %d models", SERVED_MODELS);
    if (!model_entry_open(text, &m->entry, error))
        return false;
    if (served_find(s, m->entry.name))
        return orch_fail(error, ORCH_USAGE, "two models are called %s", m->entry.name);
    s->models++;
    m->most = m->entry.configured ? m->entry.config.max_batch : 0;
    if (language_model_is(m->entry.workload)) {
        if (!open_language(m, error))
            return false;
    } else {
        m->network = net_import(m->entry.workload, error);
        if (!m->network || (encoder_is(m->entry.workload) && !encoder_vocabulary_open(m->entry.workload, &m->vocabulary, error)))
            return false;
        show_shapes(m);
    }
    choose_unit(s, m);
    return m->part < PART_DRAM ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("unit") " %s: a server's units are cpu, amx, gpu, ane and auto", m->unit);
}

struct served *served_open(const struct served_setup *setup, struct orch_error *error)
{
    struct served *const s = calloc(1, sizeof *s);
    if (!s) {
        orch_no_memory(error);
        return NULL;
    }
    s->setup = *setup;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->machine_lock, NULL);
    s->began_s = s->stepped_s = host_seconds();
    bool ok = true;
    for (size_t i = 0; ok && i < setup->models; i++)
        ok = open_model(s, setup->model[i], error);
    for (size_t i = 0; ok && i < s->models; i++) /* one machine has one mode: a configuration that asks for low is heard */
        s->setup.low_power |= s->model[i].entry.configured && strcmp(s->model[i].entry.config.power_mode, "low") == 0;
    if (ok && setup->machine) {
        const struct load_heat_setup heat = {.chip = setup->run.chip,
                                             .device = setup->machine,
                                             .ambient_c = setup->ambient_c,
                                             .policy = GOVERNOR_PERFORMANCE,
                                             .low_power = s->setup.low_power,
                                             .battery_percent = NAN,
                                             .p_cores = 1};
        s->heat = load_heat_open(&heat, error);
        ok = s->heat != NULL;
    }
    if (ok)
        return s;
    served_close(s);
    return NULL;
}

void served_close(struct served *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->models; i++) {
        struct served_model *const m = &s->model[i];
        served_shapes_free(m);
        net_model_free(m->network);
        net_model_free(m->shown);
        vocabulary_beside_close(m->vocabulary);
        if (m->language)
            language_model_close(&m->tokens);
    }
    load_heat_close(s->heat);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->machine_lock);
    free(s);
}

/* ---- looking ---- */

const struct served_setup *served_setup(const struct served *s)
{
    return &s->setup;
}

size_t served_count(const struct served *s)
{
    return s->models;
}

struct served_model *served_at(struct served *s, size_t index)
{
    return index < s->models ? &s->model[index] : NULL;
}

struct served_model *served_find(struct served *s, const char *name)
{
    for (size_t i = 0; i < s->models; i++)
        if (strcmp(s->model[i].entry.name, name) == 0)
            return &s->model[i];
    return NULL;
}

struct served_counts served_counts(struct served *s, const struct served_model *m)
{
    pthread_mutex_lock(&s->lock);
    const struct served_counts c = m->counts;
    pthread_mutex_unlock(&s->lock);
    return c;
}

void served_count_failure(struct served *s, struct served_model *m)
{
    pthread_mutex_lock(&s->lock);
    m->counts.failures++;
    pthread_mutex_unlock(&s->lock);
}

void served_add_counts(struct served *s, struct served_model *m, const struct served_counts *more)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    pthread_mutex_lock(&s->lock);
    struct served_counts *const c = &m->counts;
    c->requests++;
    c->executions++;
    c->samples += more->samples;
    c->prompt_tokens += more->prompt_tokens;
    c->tokens += more->tokens;
    c->seconds += more->seconds;
    c->prompt_seconds += more->prompt_seconds;
    c->tokens_seconds += more->tokens_seconds;
    c->host_s += more->host_s;
    c->joules += isfinite(more->joules) ? more->joules : 0;
    c->last_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    pthread_mutex_unlock(&s->lock);
}

/* ---- the machine ---- */

/* Dies do not change in less: many who look at a time cost one step. */
#define LEAST_S 0.02

/* Time that has passed on the host passes in the machine, without work. */
static void catch_up(struct served *s)
{
    enum { STEPS_MOST = 20000 };
    const double now = host_seconds(), passed = now - s->stepped_s;
    if (!s->heat || passed < LEAST_S)
        return;
    const unsigned steps = (unsigned)fmin(ceil(passed), STEPS_MOST);
    for (unsigned i = 0; i < steps; i++)
        load_heat_step(s->heat, passed / steps, NULL);
    s->stepped_s = now;
}

double served_machine_add(struct served *s, enum orch_part part, const struct power_profile *profile, double seconds,
                          double bytes)
{
    double celsius = NAN;
    pthread_mutex_lock(&s->machine_lock);
    catch_up(s);
    if (part < PART_COUNT)
        s->busy_s[part] += seconds;
    s->dram_bytes += isfinite(bytes) ? bytes : 0;
    if (s->heat && profile && profile->seconds > 0)
        load_heat_add(s->heat, profile, 1);
    if (s->heat)
        celsius = load_heat_summary(s->heat).celsius_last;
    pthread_mutex_unlock(&s->machine_lock);
    return celsius;
}

struct served_machine served_machine_now(struct served *s)
{
    struct load_window w = {.watts = NAN};
    struct served_machine now = {.known = s->heat != NULL, .up_s = host_seconds() - s->began_s};
    pthread_mutex_lock(&s->machine_lock);
    catch_up(s);
    memcpy(now.busy_s, s->busy_s, sizeof now.busy_s);
    now.dram_bytes = s->dram_bytes;
    if (s->heat) {
        const struct load_heat_summary sum = load_heat_summary(s->heat);
        load_heat_read(s->heat, &w);
        if (isfinite(w.watts))
            s->last_w = w.watts;
        now.watts = s->last_w;
        now.joules = load_heat_joules(s->heat);
        now.celsius = sum.celsius_last;
        now.hottest_c = sum.celsius_max;
        now.clock_share = w.clock_share;
        now.throttled_s = sum.throttled_s;
        now.pressure = sum.pressure;
    }
    pthread_mutex_unlock(&s->machine_lock);
    return now;
}
