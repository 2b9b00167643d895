#include "sim/load/service.h"

#include "sim/chip/chip_power.h"
#include "sim/machine/power/run_energy.h"
#include "sim/network/network.h"
#include "sim/run/language/language_model.h"
#include "sim/run/language/language_options.h"
#include "sim/run/run_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 8, DIM_TEXT = 160 };

/* ---- chips ---- */

double service_idle_watts(const struct chip *chip)
{
    struct energy_model model;
    struct energy_report report;
    struct energy_run run;
    if (!energy_model_open(&model, chip, NULL))
        return NAN;
    energy_run_start(&run, &model, 1, 0);
    energy_run_set_memory(&run, &model);
    energy_report(&run, &model, energy_reference_celsius(&model), &report);
    return report.watts;
}

bool service_units(const struct chip *chip, unsigned unit[PART_COUNT], struct orch_error *error)
{
    unsigned slices[POWER_DOMAIN_COUNT];
    memset(unit, 0, PART_COUNT * sizeof *unit);
    if (!chip_power_slices(chip, slices, error))
        return false;
    unit[PART_CPU] = slices[POWER_P_CPU];
    unit[PART_AMX] = slices[POWER_AMX];
    unit[PART_GPU] = slices[POWER_GPU] > 0;
    unit[PART_ANE] = slices[POWER_ANE] > 0;
    return true;
}

bool service_is_language(const char *workload)
{
    return language_model_is(workload);
}

/* ---- batch sizes of networks ---- */

/* Dimensions that are the batch: the first one of inputs, where the file leaves it open. */
struct batch_dims {
    char text[DIMS][DIM_TEXT];
    const char *list[DIMS + 16];
    unsigned own;
};

static bool is_network(const char *workload)
{
    const size_t length = strlen(workload);
    return length > 5 && strcmp(workload + length - 5, ".onnx") == 0;
}

/* Inputs whose first dimension is fixed make other batches than that one impossible. */
static bool find_dims(const struct net_model *model, const char *workload, unsigned most, char name[DIMS][DIM_TEXT],
                      unsigned *names, struct orch_error *error)
{
    *names = 0;
    for (size_t k = 0; k < model->graph->inputs; k++) {
        const struct net_value *const v = &model->value[model->graph->input[k]];
        if (v->constant || !v->shape.known || v->shape.dims == 0)
            continue;
        const int64_t dim = net_dim_bound(model, v->shape.dim[0]);
        if (dim >= 0 && most > 1)
            return orch_fail(
                error, ORCH_USAGE,
                "%s: the first dimension of input '%.80s' is fixed at %lld, so batches cannot be larger: " ORCH_OPTION(
                    "max-batch") " 1, or export the network with an open batch dimension",
                workload, v->name, (long long)dim);
        if (dim >= NET_UNKNOWN)
            continue;
        const char *const symbol = net_symbol_name(model, dim);
        bool known = false;
        for (unsigned i = 0; i < *names; i++)
            known |= strcmp(name[i], symbol) == 0;
        if (!known && *names < DIMS)
            snprintf(name[(*names)++], DIM_TEXT, "%.100s", symbol);
    }
    return true;
}

static bool read_dims(const struct service_setup *s, char name[DIMS][DIM_TEXT], unsigned *names, struct orch_error *error)
{
    *names = 0;
    if (!is_network(s->workload))
        return s->most == 1 ||
               orch_fail(error, ORCH_USAGE, "%s: only networks and language models are batched: " ORCH_OPTION("max-batch") " 1",
                         s->workload);
    struct net_model *const model = net_import(s->workload, error);
    bool ok = model != NULL;
    for (size_t i = 0; ok && i < s->run.dim_count; i++)
        ok = net_bind(model, s->run.dims[i], error);
    ok = ok && find_dims(model, s->workload, s->most, name, names, error);
    net_model_free(model);
    return ok;
}

static void set_dims(const struct service_setup *s, char name[DIMS][DIM_TEXT], unsigned names, unsigned size,
                     struct batch_dims *d)
{
    d->own = 0;
    for (unsigned i = 0; i < names; i++) {
        snprintf(d->text[i], DIM_TEXT, "%.100s=%u", name[i], size);
        d->list[d->own++] = d->text[i];
    }
    for (size_t i = 0; i < s->run.dim_count && d->own < DIMS + 16; i++)
        d->list[d->own++] = s->run.dims[i];
}

/* ---- asking ---- */

static void set_cost(const struct service_setup *s, double seconds, double overhead_s, double joules, struct load_cost *cost)
{
    cost->overhead_s = fmax(overhead_s, 0);
    cost->device_s = fmax(seconds - cost->overhead_s, 0);
    cost->joules = joules - s->idle_w * seconds;
}

static bool ask(const struct service_setup *s, const struct run_request *q, struct service_point *p, struct run_result *r,
                struct orch_error *error)
{
    memset(&p->cost.profile, 0, sizeof p->cost.profile);
    if (s->db)
        return run_profile(q, s->db, &s->overrides, &p->cost.profile, r, error);
    struct run *const run = run_prepare(q, error);
    const bool ok = run && run_execute(run, NULL, 1, r, error);
    run_free(run);
    return ok;
}

static bool ask_batch(const struct service_setup *s, char name[DIMS][DIM_TEXT], unsigned names, struct service *service,
                      unsigned size, struct orch_error *error)
{
    struct service_point *const p = &service->point[service->points];
    struct run_request q = s->run;
    struct batch_dims dims;
    struct run_result r;
    set_dims(s, name, names, size, &dims);
    q.workload = s->workload;
    q.detail = "op";
    q.mode = is_network(s->workload) ? RUN_FULL : RUN_TIMING;
    q.dims = dims.own ? dims.list : NULL;
    q.dim_count = dims.own;
    q.repeat = 1;
    run_result_init(&r);
    const bool ok = ask(s, &q, p, &r, error);
    if (ok) {
        *p = (struct service_point){.size = size,
                                    .seconds = r.seconds,
                                    .seconds_low = r.seconds_low,
                                    .seconds_high = r.seconds_high,
                                    .joules = r.joules,
                                    .cost = p->cost};
        set_cost(s, r.seconds, r.overhead_seconds, r.joules, &p->cost);
        snprintf(service->unit, sizeof service->unit, "%s", r.unit ? r.unit : "");
        snprintf(service->precision, sizeof service->precision, "%s", r.precision ? r.precision : "");
        service->points++;
    }
    run_result_free(&r);
    return ok;
}

/* What of a run is not its prompt: profiles of both are of the same clock. */
static void leave_step(struct power_profile *all, const struct power_profile *prompt)
{
    power_profile_add(all, prompt, -1, 1);
    all->fixed_s = fmin(fmax(all->fixed_s - prompt->fixed_s, 0), fmax(all->seconds, 0));
}

/* The profile of the prompt alone, where a machine wants profiles. */
static bool ask_prompt(const struct service_setup *s, struct run_request q, unsigned tokens, unsigned batch,
                       struct power_profile *profile, struct orch_error *error)
{
    struct language_options o = {.prompt = tokens, .prompt_alone = true, .batch = batch};
    struct service_point p;
    struct run_result r;
    *profile = (struct power_profile){.seconds = 0};
    if (!s->db)
        return true;
    q.language = &o;
    run_result_init(&r);
    const bool ok = ask(s, &q, &p, &r, error);
    if (ok)
        *profile = p.cost.profile;
    run_result_free(&r);
    return ok;
}

/* A prompt of so many tokens, or one of each sequence that begin together, and the token behind it of all sequences. */
static bool ask_tokens(const struct service_setup *s, unsigned tokens, unsigned sequences, struct service_point *p,
                       struct load_cost *read, struct service *service, struct orch_error *error)
{
    const unsigned batch = s->together ? sequences : 0;
    struct language_options o = {.prompt = tokens, .generate = 1, .sequences = s->together ? 0 : sequences, .batch = batch};
    struct run_request q = s->run;
    struct run_result r;
    q.workload = s->workload;
    q.detail = "op";
    q.mode = RUN_TIMING;
    q.language = &o;
    q.repeat = 1;
    run_result_init(&r);
    struct power_profile prompt;
    const bool ok = ask_prompt(s, q, tokens, batch, &prompt, error) && ask(s, &q, p, &r, error);
    if (ok) {
        struct power_profile profile = p->cost.profile;
        if (s->db)
            leave_step(&profile, &prompt);
        const double step = run_values_get(&r.counters, LANGUAGE_DECODE_SECONDS);
        const double tokens_of_step = s->together ? sequences : 1; /* as results count them */
        *p = (struct service_point){
            .size = tokens, .seconds = step, .joules = tokens_of_step * run_values_get(&r.counters, LANGUAGE_TOKEN_JOULES)};
        p->seconds_low = step * r.seconds_low / r.seconds;
        p->seconds_high = step * r.seconds_high / r.seconds;
        set_cost(s, step, 0, p->joules, &p->cost);
        set_cost(s, r.prefill_seconds, 0, run_values_get(&r.counters, LANGUAGE_PREFILL_JOULES), read);
        p->cost.profile = profile;
        read->profile = prompt;
        snprintf(service->unit, sizeof service->unit, "%s", r.unit ? r.unit : "");
        snprintf(service->precision, sizeof service->precision, "%s", r.precision ? r.precision : "");
    }
    run_result_free(&r);
    return ok;
}

/* ---- which sizes ---- */

static void add_size(unsigned size[SERVICE_POINTS], unsigned *sizes, unsigned wanted)
{
    unsigned at = *sizes;
    while (at > 0 && size[at - 1] >= wanted)
        at--;
    if (wanted < 1 || (at < *sizes && size[at] == wanted) || *sizes == SERVICE_POINTS)
        return;
    memmove(&size[at + 1], &size[at], (*sizes - at) * sizeof *size);
    size[at] = wanted;
    ++*sizes;
}

static bool open_language(const struct service_setup *s, struct service *service, struct orch_error *error)
{
    unsigned size[SERVICE_POINTS], sizes = 0;
    add_size(size, &sizes, s->shortest);
    add_size(size, &sizes, (s->shortest + s->longest) / 2);
    add_size(size, &sizes, s->longest_prompt);
    add_size(size, &sizes, s->longest);
    add_size(service->sequences, &service->sizes, 1);
    add_size(service->sequences, &service->sizes, s->most);
    for (unsigned n = 2; n < s->most; n *= 2)
        add_size(service->sequences, &service->sizes, n);
    for (unsigned i = 0; i < sizes; i++)
        for (unsigned k = 0; k < service->sizes; k++) {
            struct service_point p;
            if (!ask_tokens(s, size[i], service->sequences[k], &p, &service->prompt[k][i], service, error))
                return false;
            service->step[k][i] = p.cost;
            if (k == 0)
                service->point[service->points++] = p;
        }
    return true;
}

bool service_open(const struct service_setup *s, struct service *service, struct orch_error *error)
{
    char name[DIMS][DIM_TEXT];
    unsigned size[SERVICE_POINTS], sizes = 0, names = 0;
    memset(service, 0, sizeof *service);
    service->language = service_is_language(s->workload);
    if (service->language)
        return open_language(s, service, error);
    if (!read_dims(s, name, &names, error))
        return false;
    add_size(size, &sizes, 1);
    add_size(size, &sizes, s->most);
    for (unsigned i = 0; i < s->preferences; i++)
        add_size(size, &sizes, s->preferred[i]);
    for (unsigned n = 2; n < s->most; n *= 2)
        add_size(size, &sizes, n);
    for (unsigned i = 0; i < sizes; i++)
        if (!ask_batch(s, name, names, service, size[i], error))
            return false;
    return true;
}

/* ---- between sizes ---- */

static double mix(double a, double b, double share)
{
    return share <= 0 ? a : a + share * (b - a);
}

static void mix_costs(const struct load_cost *a, const struct load_cost *b, double share, struct load_cost *cost)
{
    const struct power_profile *const x = &a->profile, *const y = &b->profile;
    *cost = *a;
    cost->overhead_s = mix(a->overhead_s, b->overhead_s, share);
    cost->device_s = mix(a->device_s, b->device_s, share);
    cost->joules = mix(a->joules, b->joules, share);
    if (share <= 0 || x->seconds <= 0)
        return;
    struct power_profile *const p = &cost->profile;
    p->seconds = mix(x->seconds, y->seconds, share);
    p->fixed_s = mix(x->fixed_s, y->fixed_s, share);
    p->flops = mix(x->flops, y->flops, share);
    p->dram_bytes = mix(x->dram_bytes, y->dram_bytes, share);
    for (enum power_domain d = 0; d < POWER_DOMAIN_COUNT; d++) {
        p->slices[d] = x->slices[d] > y->slices[d] ? x->slices[d] : y->slices[d];
        p->running_s[d] = mix(x->running_s[d], y->running_s[d], share);
        p->waiting_s[d] = mix(x->waiting_s[d], y->waiting_s[d], share);
        p->shared_running_s[d] = mix(x->shared_running_s[d], y->shared_running_s[d], share);
        p->shared_waiting_s[d] = mix(x->shared_waiting_s[d], y->shared_waiting_s[d], share);
        p->event_j[d] = mix(x->event_j[d], y->event_j[d], share);
    }
}

/* The place of the last number that is not above; *share is how far the next one is reached. */
static unsigned place(double number, const unsigned *list, unsigned count, double *share)
{
    unsigned at = 0;
    while (at + 1 < count && list[at + 1] <= number)
        at++;
    *share = at + 1 < count && number > list[at] ? (number - list[at]) / (list[at + 1] - list[at]) : 0;
    return at;
}

/* Between four: numbers of sequences, and tokens of each. */
static void language_cost(const struct service *s, const struct load_cost table[][SERVICE_LENGTHS], unsigned at, double share,
                          double sequences, struct load_cost *cost)
{
    const unsigned next = at + 1 < s->points ? at + 1 : at;
    struct load_cost fewer, more;
    double side;
    const unsigned k = place(sequences, s->sequences, s->sizes, &side), other = k + 1 < s->sizes ? k + 1 : k;
    mix_costs(&table[k][at], &table[k][next], share, &fewer);
    mix_costs(&table[other][at], &table[other][next], share, &more);
    mix_costs(&fewer, &more, side, cost);
}

void service_cost(const void *context, const struct load_work *work, struct load_cost *cost)
{
    const struct service *const s = context;
    unsigned size[SERVICE_POINTS];
    double share;
    for (unsigned i = 0; i < s->points; i++)
        size[i] = s->point[i].size;
    const unsigned at = place(work->kind == LOAD_BATCH ? work->samples : work->tokens, size, s->points, &share);
    const unsigned next = at + 1 < s->points ? at + 1 : at;
    if (work->kind == LOAD_STEP)
        language_cost(s, s->step, at, share, work->samples, cost);
    else if (work->kind == LOAD_PROMPT)
        language_cost(s, s->prompt, at, share, work->samples, cost);
    else
        mix_costs(&s->point[at].cost, &s->point[next].cost, share, cost);
}
