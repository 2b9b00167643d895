#include "sim/trace/trace_replay.h"

#include "isa/array_count.h"
#include "sim/base/json_out.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_version.h"
#include "sim/trace/replay_internal.h"
#include "sim/trace/trace_errors.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS_KEPT = 4096 };

/* State of a streamed replay. */
struct replay {
    const struct trace_replay_request *request;
    const struct trace_survey *survey;
    struct event_bus *bus;
    uint64_t number, told;
    struct trace_replay_account *account;
    struct replay_costs *costs;
    struct replay_queue *queue;
    double low_ns, high_ns, busy_ns; /* sums over operators */
    double unit_joules[PART_COUNT];
    struct run_result *result;
    int64_t first_ps;
    bool begun;
    char program_name[160], program_hash[32], chip_hash[32], options[160]; /* strings of the event that begins the run */
    struct event_run_begin begin;
};

static void emit(const struct replay *p, struct event *event)
{
    event->run = p->number;
    if (p->bus)
        event_bus_emit(p->bus, event);
}

/* ---- the event that decides the answer ---- */

static void fill_options(struct replay *p)
{
    const struct trace_replay_request *const q = p->request;
    json_object *const options = json_object_new_object();
    char unit[24];
    snprintf(unit, sizeof unit, "%.20s", q->unit ? q->unit : "");
    json_add_text(options, "replay", q->timing == TRACE_TIMING_ARRIVAL ? "arrival" : "dependency");
    json_add_count(options, "run", q->run);
    json_add_text(options, "unit", unit);
    char *const line = json_line(options);
    snprintf(p->options, sizeof p->options, "%s", line ? line : "{}");
    free(line);
}

static void fill_begin(struct replay *p)
{
    const struct trace_replay_request *const q = p->request;
    const char *const slash = strrchr(q->path, '/');
    snprintf(p->program_name, sizeof p->program_name, "%.150s", slash ? slash + 1 : q->path);
    snprintf(p->program_hash, sizeof p->program_hash, "%08" PRIx32 "%016" PRIx64, p->survey->account.checksum,
             p->survey->account.records);
    snprintf(p->chip_hash, sizeof p->chip_hash, "%016" PRIx64, chip_hash(q->chip));
    fill_options(p);
    p->begin = (struct event_run_begin){.workload = q->path,
                                        .chip_id = chip_id(q->chip),
                                        .chip_hash = p->chip_hash,
                                        .chip_modified = chip_modified(q->chip),
                                        .program_name = p->program_name,
                                        .program_kind = "trace",
                                        .program_hash = p->program_hash,
                                        .unit = q->unit ? q->unit : "auto",
                                        .detail = "op",
                                        .mode = "timing",
                                        .options = p->options,
                                        .version = run_model_version(),
                                        .seed = q->common.seed,
                                        .host = "local"};
}

/* ---- operators ---- */

static void add_totals(struct replay *p, const struct replay_done *d)
{
    struct run_result *const r = p->result;
    const double ns = d->end_ns - d->start_ns;
    r->flops += d->cost->flops;
    r->macs += d->cost->macs;
    r->dram_bytes += d->cost->dram_bytes;
    r->joules += d->cost->joules;
    p->unit_joules[d->cost->part] += d->cost->joules;
    p->busy_ns += ns;
    p->low_ns += ns * d->cost->low;
    p->high_ns += ns * d->cost->high;
    if (d->cost->work != REPLAY_NONE)
        p->account->seconds[d->cost->work] += ns * 1e-9;
}

static void on_done(void *context, const struct replay_done *d)
{
    struct replay *const p = context;
    add_totals(p, d);
    if (!d->name || p->told >= TRACE_REPLAY_EVENTS)
        return;
    p->told++;
    const char *const kernel = d->cost->work == REPLAY_KERNEL ? "kernel" : d->cost->work == REPLAY_ESTIMATE ? "estimate" : "none";
    const struct event_op op = {.op = d->op,
                                .name = d->name,
                                .kernel = kernel,
                                .shape = d->name,
                                .place = {d->cost->part, 0},
                                .submitted_ns = d->submit_ns,
                                .started_ns = d->start_ns};
    const struct event_op_end end = {.op = op,
                                     .seconds = (d->end_ns - d->start_ns) * 1e-9,
                                     .cycles = NAN,
                                     .macs = d->cost->macs,
                                     .flops = d->cost->flops,
                                     .repeats = 1};
    emit(p, &(struct event){.kind = EVENT_LAUNCH, .time_ns = d->submit_ns, .launch = op});
    emit(p, &(struct event){.kind = EVENT_OP_BEGIN, .time_ns = d->start_ns, .op_begin = op});
    emit(p, &(struct event){.kind = EVENT_OP_END, .time_ns = d->end_ns, .op_end = end});
}

static bool add_launch(struct replay *p, const struct trace_launch *l, struct orch_error *error)
{
    const struct trace_replay_request *const q = p->request;
    struct replay_launch launch = {
        .op = l->op, .stream = (unsigned)(l->stream % STREAMS_KEPT), .after = l->after.item, .after_count = l->after.count};
    if (!p->begun)
        p->first_ps = l->submitted_ps;
    p->begun = true;
    if (!replay_cost_of(p->costs, l, &launch.cost, error))
        return orch_fail_in(error, "%s: operator %" PRIu64, q->path, l->op);
    if (q->timing == TRACE_TIMING_ARRIVAL)
        launch.submit_ns = fmax(0, (double)(l->submitted_ps - p->first_ps) * 1e-3);
    p->account->launches++;
    p->account->works[launch.cost.work]++;
    if (!replay_queue_make_room(p->queue, l->op, false, error))
        return false;
    if (p->told + 1 <= TRACE_REPLAY_EVENTS && p->account->launches <= TRACE_REPLAY_EVENTS)
        launch.name = strdup(l->name ? l->name : l->workload ? l->workload : "operator");
    if (replay_queue_add(p->queue, &launch, error))
        return true;
    free(launch.name);
    return false;
}

static bool read_launches(struct replay *p, struct orch_error *error)
{
    const struct trace_replay_request *const q = p->request;
    struct trace_error own;
    struct trace_record record;
    enum trace_step step;
    uint64_t last = 0;
    struct trace_reader *const r = trace_reader_open(q->path, q->force, &own);
    bool ok = r || trace_tell(&own, error);
    while (ok && (step = trace_next(r, &record, &own)) != TRACE_OVER) {
        if (step == TRACE_BAD) {
            ok = trace_tell(&own, error);
        } else if (record.kind == TRACE_LAUNCH && (q->run == 0 || record.launch.run == q->run)) {
            ok = (record.launch.op > last ||
                  orch_fail(error, ORCH_USAGE, "%s: %s: operator %" PRIu64 " comes after operator %" PRIu64, q->path,
                            trace_reader_place(r), record.launch.op, last)) &&
                 add_launch(p, &record.launch, error);
            last = ok ? record.launch.op : 0;
        }
    }
    if (ok && !p->begun)
        ok = orch_fail(error, ORCH_USAGE, "%s: there are no launches in it", q->path);
    ok = ok && replay_queue_make_room(p->queue, 0, true, error);
    trace_reader_close(r);
    return ok;
}

/* ---- the whole ---- */

static bool add_reasons(struct replay *p, double seconds)
{
    static const enum orch_part parts[] = {PART_CPU, PART_AMX, PART_GPU, PART_ANE};
    double most = 0;
    enum orch_part busiest = PART_GPU;
    bool ok = true;
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        const double busy = replay_queue_busy_ns(p->queue, parts[i]) * 1e-9;
        p->result->utilisation[parts[i]] = seconds > 0 ? fmin(1, busy / seconds) : 0;
        if (busy > most) {
            most = busy;
            busiest = parts[i];
        }
    }
    const double share = seconds > 0 ? fmin(1, most / seconds) : 0,
                 lost = fmin(share, replay_queue_lost_ns(p->queue) * 1e-9 / fmax(seconds, 1e-30));
    ok = run_values_add(&p->result->stalls, "compute", share - lost);
    if (lost > 0)
        ok = ok && run_values_add(&p->result->stalls, "contention", lost);
    if (share < 1)
        ok = ok && run_values_add(&p->result->stalls, "idle", 1 - share);
    return ok && run_result_set_text(&p->result->bound_by, share >= 0.5 ? orch_part_name(busiest) : "idle");
}

static bool add_counters(const struct replay *p)
{
    const struct trace_replay_account *const a = p->account;
    struct run_values *const c = &p->result->counters;
    return run_values_add(c, "replay.kernels", (double)a->works[0]) &&
           run_values_add(c, "replay.estimates", (double)a->works[1]) &&
           run_values_add(c, "replay.no_work", (double)a->works[2]) &&
           run_values_add(c, "replay.kernel_seconds", a->seconds[0]) &&
           run_values_add(c, "replay.estimate_seconds", a->seconds[1]) &&
           run_values_add(c, "replay.contention_seconds", replay_queue_lost_ns(p->queue) * 1e-9);
}

static bool add_assumptions(const struct replay *p)
{
    struct run_assumptions *const to = &p->result->assumptions;
    char text[240];
    bool ok = run_assumption_add(to, "replay.timing", "inferred",
                                 p->request->timing == TRACE_TIMING_ARRIVAL
                                     ? "launches are submitted when they were recorded to be"
                                     : "launches are submitted at once; dependencies and queues of units decide when they run");
    if (p->account->works[REPLAY_ESTIMATE]) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " operators without a kernel take as long as a copy of their bytes: %.1f %% of the busy time",
                 p->account->works[REPLAY_ESTIMATE],
                 100 * p->account->seconds[1] / fmax(1e-30, p->account->seconds[0] + p->account->seconds[1]));
        ok = ok && run_assumption_add(to, "replay.estimates", "guess", text);
    }
    return ok && run_assumption_add(to, "replay.energy", "inferred", "the sum of the launches, each as if it ran alone") &&
           replay_costs_assumptions(p->costs, to);
}

static bool fill_result(struct replay *p, struct orch_error *error)
{
    struct run_result *const r = p->result;
    const double seconds = replay_queue_now(p->queue) * 1e-9;
    bool ok = run_result_set_text(&r->chip, p->begin.chip_id) && run_result_set_text(&r->workload, p->request->path) &&
              run_result_set_text(&r->unit, p->begin.unit) && run_result_set_text(&r->detail, "op") &&
              run_result_set_text(&r->mode, "timing");
    r->seconds = seconds;
    r->device_seconds = p->busy_ns * 1e-9;
    r->seconds_low = p->busy_ns > 0 ? seconds * p->low_ns / p->busy_ns : seconds;
    r->seconds_high = p->busy_ns > 0 ? seconds * p->high_ns / p->busy_ns : seconds;
    r->gflops = seconds > 0 ? r->flops / seconds * 1e-9 : NAN;
    r->dram_gbps = seconds > 0 ? r->dram_bytes / seconds * 1e-9 : NAN;
    r->watts_avg = seconds > 0 ? r->joules / seconds : NAN;
    for (int part = 0; part < PART_COUNT; part++)
        if (p->unit_joules[part] > 0)
            ok = ok && run_values_add(&r->joules_by, orch_part_name((enum orch_part)part), p->unit_joules[part]);
    ok = ok && add_reasons(p, seconds) && add_counters(p) && add_assumptions(p) &&
         run_placement_add(&r->placement, "trace", p->begin.unit, "replay",
                           "every launch on the unit that it was recorded on, or on --unit");
    p->account->distinct = replay_costs_distinct(p->costs);
    snprintf(p->account->missing, sizeof p->account->missing, "%s", replay_costs_missing(p->costs));
    return ok || orch_no_memory(error);
}

static bool stream(struct replay *p, struct orch_error *error)
{
    struct mem_params memory;
    if (!chip_mem_params(p->request->chip, NULL, &memory, error))
        return false;
    p->costs = replay_costs_create(p->request, error);
    p->queue = replay_queue_create(memory.dies * mem_dram_stream_gbps(&memory, 0), on_done, p);
    if (!p->queue)
        orch_no_memory(error);
    p->result->flops = p->result->macs = p->result->dram_bytes = p->result->joules = 0;
    const bool ok = p->costs && p->queue && read_launches(p, error) && fill_result(p, error);
    replay_costs_free(p->costs);
    return ok;
}

static bool replay_stream(struct replay *p, struct orch_error *error)
{
    struct orch_error own = {0};
    fill_begin(p);
    emit(p, &(struct event){.kind = EVENT_RUN_BEGIN, .run_begin = p->begin});
    const bool ok = stream(p, &own);
    const struct event_run_end end = {
        .status = ok ? EVENT_RUN_DONE : EVENT_RUN_FAILED, .error = ok ? NULL : own.text, .result = ok ? p->result : NULL};
    emit(p, &(struct event){.kind = EVENT_RUN_END, .time_ns = p->queue ? replay_queue_now(p->queue) : 0, .run_end = end});
    replay_queue_free(p->queue);
    if (!ok && error)
        *error = own;
    return ok;
}

bool trace_replay(const struct trace_replay_request *request, struct event_bus *bus, uint64_t run_number,
                  struct run_result *result, struct trace_replay_account *account, struct orch_error *error)
{
    struct trace_survey survey;
    memset(account, 0, sizeof *account);
    if (!trace_survey(request->path, request->force, &survey, error))
        return false;
    if (survey.runs > 1 && request->run == 0)
        return orch_fail(error, ORCH_USAGE,
                         "%s: there are %" PRIu64 " runs in it; " ORCH_OPTION("run") " N takes one (the first is %" PRIu64 ")",
                         request->path, survey.runs, survey.first_run);
    account->lost_records = survey.account.lost_records;
    account->recorded_seconds = survey.seconds;
    if (replay_again_fits(&survey)) {
        account->again = true;
        account->launches = account->works[0] = survey.works[0];
        return replay_again(request, bus, run_number, result, error);
    }
    struct replay p = {
        .request = request, .survey = &survey, .bus = bus, .number = run_number, .account = account, .result = result};
    return replay_stream(&p, error);
}
