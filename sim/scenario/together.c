#include "isa/array_count.h"
#include "sim/scenario/together_internal.h"

#include "sim/base/checksum.h"
#include "sim/soc/slices.h"
#include "sim/run/run_version.h"
#include "sim/scenario/together_joules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory(struct orch_error *error)
{
    return orch_no_memory(error);
}

/* ---- who runs where ---- */

static bool uses_cores(const struct run *run)
{
    return run_part(run) == PART_CPU || run_part(run) == PART_AMX;
}

/* Every program of the CPU has cores of its own, in the order of the text. */
static bool prepare_members(struct together *t, struct orch_error *error)
{
    unsigned all = 0;
    double bytes = 0;
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        if (w->part.request.mode == RUN_FUNCTIONAL)
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("mode") " functional has no time in which workloads could meet");
        if (run_is_operator(&w->part.request))
            return orch_fail(error, ORCH_UNMODELLED,
                             ORCH_OPTION("detail") " op: workloads at once are simulated, operators are not");
        struct run *probe = run_prepare(&w->part.request, error);
        if (!probe)
            return false;
        w->cores = !uses_cores(probe) ? 0 : w->part.request.cores ? w->part.request.cores : 1;
        w->first_core = all;
        all += w->cores;
        run_free(probe);
    }
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        if (w->cores) {
            w->part.request.skip_cores = w->first_core;
            w->part.request.other_cores = all - w->first_core - w->cores;
        }
        w->run = run_prepare(&w->part.request, error);
        if (!w->run)
            return false;
        bytes += run_memory_need(w->run);
    }
    const struct run_request *first = &t->member[0].part.request;
    return run_memory_fits(first->chip, first->memory_gib, t->text, bytes, error); /* one memory for all */
}

/* ---- the event that decides the answer ---- */

static uint64_t hash_text(uint64_t h, const char *text)
{
    return text ? checksum_add(h, text, strlen(text) + 1) : checksum_add(h, "", 1);
}

static void name_units(struct together *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        const char *name = orch_part_name(run_part(t->member[i].run));
        const size_t used = strlen(t->unit);
        if (!strstr(t->unit, name))
            snprintf(t->unit + used, sizeof t->unit - used, "%s%s", used ? "+" : "", name);
    }
}

static void fill_begin(struct together *t)
{
    uint64_t options = CHECKSUM_START, program = CHECKSUM_START;
    for (unsigned i = 0; i < t->count; i++) {
        const struct member *w = &t->member[i];
        const struct event_run_begin *b = run_begin_event(w->run);
        const char *const texts[] = {b->options, b->unit, b->precision, b->detail, b->mode};
        program = hash_text(program, b->program_hash);
        for (size_t k = 0; k < ARRAY_COUNT(texts); k++)
            options = hash_text(options, texts[k]);
        options = checksum_add(options, &w->part.priority, sizeof w->part.priority);
        options = checksum_add(options, &w->part.weight, sizeof w->part.weight);
        options = checksum_add(options, &w->part.start_seconds, sizeof w->part.start_seconds);
    }
    const struct event_run_begin *first = run_begin_event(t->member[0].run);
    snprintf(t->program_hash, sizeof t->program_hash, "%016" PRIx64, program);
    snprintf(t->options, sizeof t->options, "{\"together\":\"%016" PRIx64 "\"}", options);
    name_units(t);
    t->begin = *first;
    t->begin.workload = t->text;
    t->begin.program_name = "concurrent";
    t->begin.program_kind = "concurrent";
    t->begin.program_hash = t->program_hash;
    t->begin.unit = t->unit;
    t->begin.precision = NULL;
    t->begin.detail = "auto";
    t->begin.options = t->options;
}

struct together *together_prepare(const struct together_part *part, unsigned count, const char *text, struct orch_error *error)
{
    struct together *t = calloc(1, sizeof *t);
    if (!t || !(t->text = strdup(text))) {
        free(t);
        no_memory(error);
        return NULL;
    }
    t->count = count < TOGETHER_PARTS ? count : TOGETHER_PARTS;
    for (unsigned i = 0; i < t->count; i++) {
        t->member[i].part = part[i];
        run_result_init(&t->member[i].outcome.alone);
        t->member[i].outcome.dynamic_joules = NAN;
    }
    if (!prepare_members(t, error)) {
        together_free(t);
        return NULL;
    }
    fill_begin(t);
    return t;
}

void together_free(struct together *t)
{
    if (!t)
        return;
    for (unsigned i = 0; i < t->count; i++) {
        run_measure_release(&t->member[i].measure);
        run_result_free(&t->member[i].outcome.alone);
        run_free(t->member[i].run);
    }
    free(t->text);
    free(t);
}

const struct event_run_begin *together_begin_event(const struct together *t)
{
    return &t->begin;
}

/* ---- alone ---- */

/* Busy cores of each cluster, by what the members were given. */
static void count_active(const struct together *t, unsigned active[MEM_CLUSTERS_MAX])
{
    memset(active, 0, MEM_CLUSTERS_MAX * sizeof *active);
    for (unsigned i = 0; i < t->count; i++)
        for (unsigned c = 0; c < t->member[i].measure.core_count; c++)
            active[t->member[i].measure.cores[c]->cluster]++;
}

static bool run_alone(struct together *t, struct orch_error *error)
{
    unsigned active[MEM_CLUSTERS_MAX];
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        if (!run_simulate(w->run, &w->measure, &w->outcome.alone, error))
            return orch_fail_in(error, "%.120s", w->part.request.workload);
        w->has_energy = run_energy(w->run) != NULL;
        if (w->has_energy)
            w->energy = *run_energy(w->run);
    }
    count_active(t, active);
    if (!together_machine_open(&t->machine, t->member[0].part.request.chip, active, error))
        return false;
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        together_load_read(&t->machine, w->run, &w->measure, &w->outcome.alone, &w->load);
    }
    return true;
}

/* ---- together ---- */

enum { QUEUE_GPU, QUEUE_ANE };

static int queue_of(const struct run *run)
{
    const enum orch_part part = run_part(run);
    return part == PART_GPU ? QUEUE_GPU : part == PART_ANE ? QUEUE_ANE : SLICES_NO_QUEUE;
}

/* Submission and launch keep nobody else waiting; then the unit is busy. */
static bool add_slices(struct slices *s, struct member *w)
{
    const double overhead_ns = w->measure.end_ns - w->load.busy_ns;
    const struct slice launch = {.name = w->part.request.workload,
                                 .queue = SLICES_NO_QUEUE,
                                 .alone_ns = overhead_ns,
                                 .submit_ns = w->part.start_seconds * 1e9};
    const int first = slices_add(s, &launch, NULL, 0);
    const struct slice busy = {.name = w->part.request.workload,
                               .queue = queue_of(w->run),
                               .alone_ns = w->load.busy_ns,
                               .bytes = w->load.bytes,
                               .weight = w->part.weight,
                               .priority = w->part.priority,
                               .latency_ns = w->load.latency_ns,
                               .requesters = w->load.requesters};
    w->slice = first < 0 ? -1 : slices_add(s, &busy, &first, 1);
    return w->slice >= 0;
}

static void read_outcome(const struct together *t, const struct slices *s, struct member *w)
{
    const struct slice_outcome *o = slices_outcome(s, w->slice);
    struct together_outcome *out = &w->outcome;
    double most = 0;
    unsigned worst = 0;
    for (unsigned j = 0; j < t->machine.count; j++)
        if (o->lost_ns[j] > most) {
            most = o->lost_ns[j];
            worst = j;
        }
    out->start_seconds = w->part.start_seconds;
    out->end_seconds = o->end_ns * 1e-9;
    out->seconds = out->end_seconds - out->start_seconds;
    out->slowdown = out->alone.seconds > 0 ? out->seconds / out->alone.seconds : 1;
    out->dram_gbps = out->seconds > 0 ? out->alone.dram_bytes / out->seconds * 1e-9 : 0;
    out->queued_seconds = o->queued_ns * 1e-9;
    out->limited_share = out->seconds > 0 ? most * 1e-9 / out->seconds : 0;
    const bool shared = out->limited_share > 1e-9;
    snprintf(out->limited_by, sizeof out->limited_by, "%s",
             shared                ? t->machine.name[worst]
             : out->alone.bound_by ? out->alone.bound_by
                                   : "");
}

static void read_resources(struct together *t, const struct slices *s, double end_ns)
{
    t->resources = 0;
    for (unsigned j = 0; j < t->machine.count; j++) {
        const double bytes = slices_bytes(s, j);
        if (bytes <= 0)
            continue;
        struct together_resource *r = &t->resource[t->resources++];
        memcpy(r->name, t->machine.name[j], sizeof r->name);
        r->capacity_gbps = t->machine.resource[j].capacity_gbps;
        r->bytes = bytes;
        r->full_share = end_ns > 0 ? slices_full_ns(s, j) / end_ns : 0;
    }
}

/* The DRAM as a time series: share of its bandwidth in use. */
struct watch {
    const struct together *t;
    struct event_bus *bus;
    uint64_t number;
};

static void watch_dram(void *context, const struct slices_interval *interval)
{
    const struct watch *w = context;
    const struct together_machine *m = &w->t->machine;
    for (unsigned d = 0; w->bus && d < m->memory.dies; d++) {
        const unsigned j = m->dram[d];
        const struct event_sample sample = {.series = "utilisation",
                                            .unit = "1",
                                            .place = {PART_DRAM, d},
                                            .value = interval->gbps[j] / m->resource[j].capacity_gbps};
        struct event event = {.kind = EVENT_SAMPLE, .run = w->number, .time_ns = interval->end_ns, .sample = sample};
        event_bus_emit(w->bus, &event);
    }
}

static bool share(struct together *t, struct event_bus *bus, uint64_t number, double *end_ns, struct orch_error *error)
{
    struct slices *s = slices_create(t->machine.resource, t->machine.count);
    struct watch watch = {t, bus, number};
    bool ok = s != NULL;
    for (unsigned i = 0; ok && i < t->count; i++)
        ok = add_slices(s, &t->member[i]);
    if (!ok)
        no_memory(error);
    ok = ok && slices_run(s, watch_dram, &watch, end_ns, error);
    for (unsigned i = 0; ok && i < t->count; i++)
        read_outcome(t, s, &t->member[i]);
    if (ok)
        read_resources(t, s, *end_ns);
    slices_free(s);
    return ok;
}

/* ---- programs on one time line ---- */

static bool all_equal_programs(const struct together *t)
{
    bool equal = t->count > 1;
    for (unsigned i = 0; i < t->count; i++) {
        const struct together_part *p = &t->member[i].part;
        equal = equal && run_is_program(t->member[i].run) && p->priority == 0 && p->weight <= 0 && p->start_seconds <= 0 &&
                p->request.repeat <= 1 && p->request.cold == t->member[0].part.request.cold;
    }
    return equal;
}

/* How long it took, and what it waited for most, beside the others. */
static bool read_programs(struct member *w, const struct run_measure *m, struct orch_error *error)
{
    struct together_outcome *out = &w->outcome;
    struct run_result beside;
    run_result_init(&beside);
    const bool ok = run_account(w->run, m, &beside, error) && run_joules(w->run, m, &beside, error);
    out->seconds = out->end_seconds = m->end_ns * 1e-9;
    out->slowdown = out->alone.seconds > 0 ? out->seconds / out->alone.seconds : 1;
    out->dram_gbps = out->seconds > 0 ? out->alone.dram_bytes / out->seconds * 1e-9 : 0;
    out->limited_share = fmax(0, 1 - 1 / out->slowdown);
    snprintf(out->limited_by, sizeof out->limited_by, "%s", ok && beside.bound_by ? beside.bound_by : "");
    run_result_free(&beside);
    return ok;
}

static bool meet(struct together *t, double *end_ns, struct orch_error *error)
{
    struct run_measure *measure = calloc(t->count, sizeof *measure), *m[TOGETHER_PARTS];
    struct run *run[TOGETHER_PARTS];
    bool ok = measure || no_memory(error);
    double moved = 0;
    for (unsigned i = 0; i < t->count; i++)
        moved += t->member[i].measure.moved_share / t->count;
    for (unsigned i = 0; ok && i < t->count; i++) {
        m[i] = &measure[i];
        run[i] = t->member[i].run;
        measure[i].moved_share = moved;
    }
    ok = ok && run_programs_together(run, t->count, m, error);
    for (unsigned i = 0; ok && i < t->count; i++) {
        *end_ns = fmax(*end_ns, measure[i].end_ns);
        ok = read_programs(&t->member[i], &measure[i], error);
    }
    if (measure)
        run_measure_release(&measure[0]); /* the soc is shared */
    free(measure);
    return ok;
}

/* ---- events ---- */

static struct event_op op_of(const struct member *w, unsigned number)
{
    const struct event_run_begin *b = run_begin_event(w->run);
    return (struct event_op){.op = number + 1,
                             .name = b->program_name,
                             .kernel = b->program_name,
                             .shape = b->workload,
                             .precision = b->precision,
                             .place = {run_part(w->run), w->first_core},
                             .submitted_ns = w->part.start_seconds * 1e9,
                             .started_ns = w->part.start_seconds * 1e9};
}

static void emit_op(const struct member *w, unsigned number, struct event_bus *bus, uint64_t run)
{
    const struct event_op op = op_of(w, number);
    const struct run_result *r = &w->outcome.alone;
    const struct event_op_end end = {.op = op,
                                     .seconds = w->outcome.seconds,
                                     .cycles = NAN,
                                     .macs = r->macs,
                                     .flops = r->flops,
                                     .repeats = w->part.request.repeat ? w->part.request.repeat : 1,
                                     .activity = &w->measure.activity};
    struct event events[] = {{.kind = EVENT_LAUNCH, .launch = op},
                             {.kind = EVENT_OP_BEGIN, .time_ns = op.started_ns, .op_begin = op},
                             {.kind = EVENT_OP_END, .time_ns = w->outcome.end_seconds * 1e9, .op_end = end}};
    for (size_t i = 0; bus && i < ARRAY_COUNT(events); i++) {
        events[i].run = run;
        event_bus_emit(bus, &events[i]);
    }
}

/* ---- the whole ---- */

static unsigned last_to_end(const struct together *t)
{
    unsigned last = 0;
    for (unsigned i = 1; i < t->count; i++)
        if (t->member[i].outcome.end_seconds > t->member[last].outcome.end_seconds)
            last = i;
    return last;
}

static double known(double number)
{
    return isnan(number) ? 0 : number;
}

static void add_sums(const struct together *t, struct run_result *w)
{
    double busy[RUN_UTILISATION_COUNT] = {0};
    w->flops = w->macs = w->dram_bytes = w->host_seconds = 0;
    for (unsigned i = 0; i < t->count; i++) {
        const struct run_result *r = &t->member[i].outcome.alone;
        w->flops += known(r->flops);
        w->macs += known(r->macs);
        w->dram_bytes += known(r->dram_bytes);
        w->host_seconds += known(r->host_seconds);
        for (int part = 0; part < RUN_UTILISATION_COUNT; part++)
            busy[part] += known(r->utilisation[part]) * r->seconds;
    }
    w->gflops = w->seconds > 0 ? w->flops / w->seconds * 1e-9 : NAN;
    w->dram_gbps = w->seconds > 0 ? w->dram_bytes / w->seconds * 1e-9 : NAN;
    for (int part = 0; part < RUN_UTILISATION_COUNT; part++)
        w->utilisation[part] = w->seconds > 0 ? busy[part] / w->seconds : NAN;
}

/* The path of the workload that ended last: its own reasons, and what sharing cost it. */
static bool add_stalls(const struct together *t, struct run_result *w)
{
    const struct together_outcome *o = &t->member[last_to_end(t)].outcome;
    const double own = o->seconds > 0 ? fmin(1, o->alone.seconds / w->seconds) : 0, before = o->start_seconds / w->seconds;
    bool ok = true;
    for (size_t i = 0; i < o->alone.stalls.count; i++)
        ok &= run_values_add(&w->stalls, o->alone.stalls.item[i].name, o->alone.stalls.item[i].value * own);
    if (before > 0)
        ok &= run_values_add(&w->stalls, "idle", before);
    const double lost = 1 - own - before;
    if (lost > 1e-12)
        ok &= run_values_add(&w->stalls, "contention", lost);
    return ok && run_result_set_text(&w->bound_by, o->limited_by);
}

static bool is_sum(const char *name)
{
    const size_t length = strlen(name);
    return strncmp(name, "mem.", 4) == 0 || strncmp(name, "activity.", 9) == 0 ||
           (strncmp(name, "traffic.", 8) == 0 && length > 6 && strcmp(name + length - 6, "_bytes") == 0);
}

static bool add_lists(const struct member *m, unsigned number, struct run_result *w)
{
    const struct run_result *r = &m->outcome.alone;
    bool ok = true;
    char name[96];
    for (size_t i = 0; i < r->placement.count; i++)
        ok &= run_placement_add(&w->placement, r->placement.item[i].op, r->placement.item[i].unit, r->placement.item[i].kernel,
                                r->placement.item[i].why);
    for (size_t i = 0; i < r->checksum.count; i++) {
        snprintf(name, sizeof name, "%u.%.80s", number + 1, r->checksum.item[i].output);
        ok &= run_checksum_add(&w->checksum, name, r->checksum.item[i].fnv1a64);
    }
    for (size_t i = 0; i < r->counters.count; i++)
        if (is_sum(r->counters.item[i].name))
            ok &= run_values_add(&w->counters, r->counters.item[i].name, r->counters.item[i].value);
    for (size_t i = 0; i < r->assumptions.count; i++) {
        bool there = false;
        for (size_t k = 0; k < w->assumptions.count; k++)
            there |= strcmp(w->assumptions.item[k].key, r->assumptions.item[i].key) == 0;
        ok &= there || run_assumption_add(&w->assumptions, r->assumptions.item[i].key, r->assumptions.item[i].kind,
                                          r->assumptions.item[i].effect);
    }
    return ok;
}

static bool fill_whole(const struct together *t, double end_ns, struct run_result *w, struct orch_error *error)
{
    const struct run_result *last = &t->member[last_to_end(t)].outcome.alone;
    bool ok = run_result_set_text(&w->chip, t->begin.chip_id) && run_result_set_text(&w->workload, t->text) &&
              run_result_set_text(&w->unit, t->unit) && run_result_set_text(&w->detail, t->begin.detail) &&
              run_result_set_text(&w->mode, t->begin.mode) &&
              run_assumption_add(
                  &w->assumptions, "sharing", "inferred",
                  t->line_by_line
                      ? "the programs ran on one time line and met in the caches line by line"
                      : "mean rates of each workload share the chip max-min fairly; each keeps in caches what it keeps alone");
    w->seconds = w->device_seconds = end_ns * 1e-9;
    w->seconds_low = w->seconds * (last->seconds > 0 ? last->seconds_low / last->seconds : 1);
    w->seconds_high = w->seconds * (last->seconds > 0 ? last->seconds_high / last->seconds : 1);
    add_sums(t, w);
    ok = ok && add_stalls(t, w);
    for (unsigned i = 0; ok && i < t->count; i++)
        ok = add_lists(&t->member[i], i, w);
    return ok || no_memory(error);
}

/* Nothing for a chip without power keys. */
static bool add_joules(struct together *t, struct run_result *whole, struct orch_error *error)
{
    const struct run_request *const q = &t->member[0].part.request;
    struct together_energy_part part[TOGETHER_PARTS];
    struct energy_model model;
    struct energy_run joint;
    struct energy_report report;
    if (!energy_model_open(&model, q->chip, NULL))
        return true;
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        struct together_energy_part *p = &part[i];
        *p = (struct together_energy_part){
            .run = run_energy(w->run), .start_s = w->outcome.start_seconds, .end_s = w->outcome.end_seconds};
        if (!p->run)
            return true;
        /* Launches cost the same as alone; being shared stretches the rest. */
        p->busy_s = p->run->device_s;
        if (!t->line_by_line)
            p->busy_s += fmax(0, w->outcome.seconds - w->outcome.queued_seconds - p->run->profile.seconds);
        together_energy_place(p, &w->measure);
        w->outcome.dynamic_joules = together_dynamic_joules(&model, p->run);
    }
    together_energy(&model, part, t->count, whole->seconds, &joint);
    energy_report(&joint, &model, q->celsius != 0 ? q->celsius : energy_reference_celsius(&model), &report);
    return run_joules_add(&report, whole) || no_memory(error);
}

bool together_execute(struct together *t, struct event_bus *bus, uint64_t number, struct run_result *whole,
                      struct orch_error *error)
{
    struct orch_error own = {0};
    double end_ns = 0;
    struct event begin = {.kind = EVENT_RUN_BEGIN, .run = number, .run_begin = t->begin};
    if (bus)
        event_bus_emit(bus, &begin);
    t->line_by_line = !t->by_rates && all_equal_programs(t);
    const bool ok = run_alone(t, &own) && (t->line_by_line ? meet(t, &end_ns, &own) : share(t, bus, number, &end_ns, &own)) &&
                    fill_whole(t, end_ns, whole, &own) && add_joules(t, whole, &own);
    for (unsigned i = 0; ok && i < t->count; i++)
        emit_op(&t->member[i], i, bus, number);
    struct event end = {.kind = EVENT_RUN_END,
                        .run = number,
                        .time_ns = end_ns,
                        .run_end = {.status = ok                                  ? EVENT_RUN_DONE
                                              : own.exit_code == ORCH_INTERRUPTED ? EVENT_RUN_INTERRUPTED
                                                                                  : EVENT_RUN_FAILED,
                                    .error = ok ? NULL : own.text,
                                    .result = ok ? whole : NULL}};
    if (bus)
        event_bus_emit(bus, &end);
    if (!ok && error)
        *error = own;
    return ok;
}

const char *together_sharing(const struct together *t)
{
    return t->line_by_line ? "line by line" : "max-min fair rates";
}

unsigned together_count(const struct together *t)
{
    return t->count;
}

const struct together_outcome *together_outcome(const struct together *t, unsigned number)
{
    return &t->member[number].outcome;
}

unsigned together_resource_count(const struct together *t)
{
    return t->resources;
}

const struct together_resource *together_resource(const struct together *t, unsigned number)
{
    return &t->resource[number];
}
