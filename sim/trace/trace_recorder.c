#include "sim/trace/trace_recorder.h"

#include "sim/trace/launch_settings.h"
#include "sim/trace/trace_errors.h"
#include "sim/trace/trace_output.h"
#include "units/unit_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trace_recorder {
    struct trace_output *output;
    enum trace_level level;
    struct trace_error error; /* the first error */
    bool failed;
    char *settings[TOGETHER_PARTS];
    unsigned parts;
    uint64_t run; /* number of the current run */
    uint64_t instructions;
    struct unit_watch watch;
};

static int64_t picoseconds(double ns)
{
    return isfinite(ns) ? llround(fmin(fmax(ns * 1e3, -9e18), 9e18)) : 0;
}

static void put(struct trace_recorder *r, const struct trace_record *record)
{
    r->failed = r->failed || !trace_write(trace_output_writer(r->output), record, &r->error);
}

/* ---- events ---- */

static void put_run_begin(struct trace_recorder *r, const struct event *e)
{
    const struct event_run_begin *const b = &e->run_begin;
    struct trace_record record = {.kind = TRACE_RUN_BEGIN};
    record.run_begin = (struct trace_run_begin){.run = e->run,
                                                .time_ps = picoseconds(e->time_ns),
                                                .workload = b->workload,
                                                .chip = b->chip_id,
                                                .chip_hash = b->chip_hash,
                                                .chip_modified = b->chip_modified,
                                                .program_name = b->program_name,
                                                .program_kind = b->program_kind,
                                                .program_hash = b->program_hash,
                                                .device = b->device,
                                                .unit = b->unit,
                                                .precision = b->precision,
                                                .detail = b->detail,
                                                .mode = b->mode,
                                                .options = b->options,
                                                .version = b->version,
                                                .seed = b->seed,
                                                .gpu_cores = b->gpu_cores > 0 ? b->gpu_cores : (double)NAN};
    r->run = e->run;
    put(r, &record);
}

static void put_launch(struct trace_recorder *r, const struct event *e)
{
    const struct event_op *const op = &e->launch;
    struct trace_record record = {.kind = TRACE_LAUNCH};
    record.launch = (struct trace_launch){.run = e->run,
                                          .op = op->op,
                                          .submitted_ps = picoseconds(op->submitted_ns),
                                          .name = op->name,
                                          .kernel = op->kernel,
                                          .workload = op->shape ? op->shape : op->name,
                                          .precision = op->precision,
                                          .unit = orch_part_name(op->place.part),
                                          .instance = op->place.instance,
                                          .stream = op->place.instance,
                                          .work = "kernel",
                                          .settings = op->op >= 1 && op->op <= r->parts ? r->settings[op->op - 1] : NULL};
    put(r, &record);
}

static void put_op_begin(struct trace_recorder *r, const struct event *e)
{
    struct trace_record record = {.kind = TRACE_OP_BEGIN};
    record.op_begin = (struct trace_op_begin){e->run, e->op_begin.op, picoseconds(e->time_ns)};
    put(r, &record);
}

static void put_value(struct trace_recorder *r, uint64_t run, uint64_t op, const char *of, const struct event_value *v)
{
    struct trace_record record = {.kind = TRACE_VALUE};
    record.value = (struct trace_value){.run = run, .op = op, .of = of, .name = v->name, .measure = v->unit, .value = v->value};
    put(r, &record);
}

static void put_op_values(struct trace_recorder *r, const struct event *e, const char *of, const struct event_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        put_value(r, e->run, e->op_end.op.op, of, &values->item[i]);
}

static void put_op_end(struct trace_recorder *r, const struct event *e)
{
    const struct event_op_end *const end = &e->op_end;
    const struct activity *const a = end->activity;
    struct trace_record record = {.kind = TRACE_OP_END};
    record.op_end = (struct trace_op_end){
        .run = e->run,
        .op = end->op.op,
        .time_ps = picoseconds(e->time_ns),
        .seconds = end->seconds,
        .cycles = end->cycles,
        .macs = end->macs,
        .flops = end->flops,
        .repeats = end->repeats,
        .dram_bytes = a ? (double)(a->count[ACT_DRAM_READ_BYTES] + a->count[ACT_DRAM_WRITE_BYTES]) : (double)NAN};
    if (r->level != TRACE_LEVEL_KERNEL) {
        put_op_values(r, e, "stall", &end->stalls);
        put_op_values(r, e, "counter", &end->counters);
    }
    put(r, &record);
}

static void put_transfer(struct trace_recorder *r, const struct event *e)
{
    const struct event_mem_transfer *const t = &e->mem_transfer;
    struct trace_record record = {.kind = TRACE_TRANSFER};
    record.transfer = (struct trace_transfer){.run = e->run,
                                              .time_ps = picoseconds(e->time_ns),
                                              .what = t->what,
                                              .from = orch_part_name(t->from.part),
                                              .from_instance = t->from.instance,
                                              .to = orch_part_name(t->to.part),
                                              .to_instance = t->to.instance,
                                              .bytes = t->bytes,
                                              .seconds = t->seconds};
    put(r, &record);
}

static void put_sample(struct trace_recorder *r, const struct event *e)
{
    const struct event_sample *const s = &e->sample;
    struct trace_record record = {.kind = TRACE_SAMPLE};
    record.sample = (struct trace_sample){.run = e->run,
                                          .time_ps = picoseconds(e->time_ns),
                                          .series = s->series,
                                          .measure = s->unit,
                                          .unit = orch_part_name(s->place.part),
                                          .instance = s->place.instance,
                                          .value = s->value};
    put(r, &record);
}

static void put_clock(struct trace_recorder *r, const struct event *e)
{
    const struct event_dvfs_change *const c = &e->dvfs_change;
    struct trace_record record = {.kind = TRACE_CLOCK};
    record.clock = (struct trace_clock){.run = e->run,
                                        .time_ps = picoseconds(e->time_ns),
                                        .unit = orch_part_name(c->place.part),
                                        .instance = c->place.instance,
                                        .from_mhz = c->from_mhz,
                                        .to_mhz = c->to_mhz,
                                        .volts = c->volts,
                                        .reason = c->reason};
    put(r, &record);
}

static void put_fault(struct trace_recorder *r, const struct event *e)
{
    const struct event_fault *const f = &e->fault;
    struct trace_record record = {.kind = TRACE_FAULT};
    record.fault = (struct trace_fault){.run = e->run,
                                        .time_ps = picoseconds(e->time_ns),
                                        .unit = orch_part_name(f->place.part),
                                        .instance = f->place.instance,
                                        .fault = f->fault,
                                        .pc = f->pc,
                                        .address = f->address,
                                        .text = f->text};
    put(r, &record);
}

static void put_run_values(struct trace_recorder *r, const struct event *e, const char *of, const struct run_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        put_value(r, e->run, 0, of, &(struct event_value){values->item[i].name, NULL, values->item[i].value});
}

/* What the result says beyond its numbers: by reason, counted, and where the steps of a network ran. */
static void put_result(struct trace_recorder *r, const struct event *e, const struct run_result *s)
{
    put_run_values(r, e, "stall", &s->stalls);
    put_run_values(r, e, "counter", &s->counters);
    for (size_t i = 0; i < s->placement.count; i++) {
        const struct run_placement *const p = &s->placement.item[i];
        struct trace_record record = {.kind = TRACE_PLACEMENT};
        record.placement =
            (struct trace_placement){.run = e->run, .step = p->op, .unit = p->unit, .kernel = p->kernel, .why = p->why};
        put(r, &record);
    }
}

static void put_run_end(struct trace_recorder *r, const struct event *e)
{
    static const char *const status[] = {"done", "failed", "interrupted"};
    const struct run_result *const s = e->run_end.result;
    struct trace_record record;
    trace_record_init(&record, TRACE_RUN_END);
    record.run_end.run = e->run;
    record.run_end.time_ps = picoseconds(e->time_ns);
    record.run_end.status = status[e->run_end.status];
    record.run_end.error = e->run_end.error;
    if (s) {
        record.run_end.seconds = s->seconds;
        record.run_end.device_seconds = s->device_seconds;
        record.run_end.overhead_seconds = s->overhead_seconds;
        record.run_end.macs = s->macs;
        record.run_end.flops = s->flops;
        record.run_end.dram_bytes = s->dram_bytes;
        record.run_end.joules = s->joules;
        record.run_end.bound_by = s->bound_by;
        record.run_end.gflops = s->gflops;
        record.run_end.watts_avg = s->watts_avg;
        record.run_end.dram_gbps = s->dram_gbps;
        if (r->level != TRACE_LEVEL_KERNEL)
            put_result(r, e, s);
    }
    put(r, &record);
}

void trace_recorder_on_event(void *recorder, const struct event *event)
{
    struct trace_recorder *const r = recorder;
    if (r->level == TRACE_LEVEL_KERNEL &&
        (event->kind == EVENT_SAMPLE || event->kind == EVENT_MEM_TRANSFER || event->kind == EVENT_DVFS_CHANGE))
        return;
    switch (event->kind) {
    case EVENT_RUN_BEGIN: put_run_begin(r, event); break;
    case EVENT_LAUNCH: put_launch(r, event); break;
    case EVENT_OP_BEGIN: put_op_begin(r, event); break;
    case EVENT_OP_END: put_op_end(r, event); break;
    case EVENT_MEM_TRANSFER: put_transfer(r, event); break;
    case EVENT_SAMPLE: put_sample(r, event); break;
    case EVENT_DVFS_CHANGE: put_clock(r, event); break;
    case EVENT_FAULT: put_fault(r, event); break;
    case EVENT_RUN_END: put_run_end(r, event); break;
    default: break;
    }
}

/* ---- instructions ---- */

static void put_instruction(struct trace_recorder *r, const char *unit, unsigned core, const struct unit_instruction *i)
{
    r->instructions++;
    struct trace_record record = {.kind = TRACE_INSTRUCTION};
    record.instruction = (struct trace_instruction){
        .run = r->run,
        .op = 1,
        .time_ps = picoseconds(i->issued_ns),
        .duration_ps = i->done_ns > i->issued_ns ? (uint64_t)picoseconds(i->done_ns - i->issued_ns) : 0,
        .unit = unit,
        .instance = core,
        .pc = i->pc,
        .word = i->word,
        .operand = i->operand};
    put(r, &record);
}

static void on_cpu(void *context, unsigned core, const struct unit_instruction *instruction)
{
    put_instruction(context, "cpu", core, instruction);
}

static void on_amx(void *context, unsigned core, const struct unit_instruction *instruction)
{
    put_instruction(context, "amx", core, instruction);
}

static void on_gpu(void *context, unsigned core, const struct unit_instruction *instruction)
{
    put_instruction(context, "gpu", core, instruction);
}

const struct unit_watch *trace_recorder_watch(struct trace_recorder *r)
{
    return r->level == TRACE_LEVEL_INSTRUCTION ? &r->watch : NULL;
}

/* ---- the file ---- */

struct trace_recorder *trace_recorder_create(const char *path, const struct trace_recorder_options *o, struct orch_error *error)
{
    static const char *const levels[] = {"kernel", "operator", "instruction"};
    const struct trace_header header = {
        .chip = o->chip, .workload = o->workload, .orchard = ORCHARD_VERSION, .level = levels[o->level], .source = "orchard"};
    struct trace_recorder *const r = calloc(1, sizeof *r);
    if (!r) {
        orch_no_memory(error);
        return NULL;
    }
    r->level = o->level;
    r->watch = (struct unit_watch){on_cpu, on_amx, on_gpu, r};
    r->output = trace_output_open(path, &header, o->text, error);
    if (r->output)
        return r;
    trace_recorder_free(r);
    return NULL;
}

static void forget_parts(struct trace_recorder *r)
{
    for (unsigned i = 0; i < r->parts; i++)
        free(r->settings[i]);
    r->parts = 0;
}

bool trace_recorder_expect(struct trace_recorder *r, const struct together_part *parts, unsigned count, struct orch_error *error)
{
    forget_parts(r);
    for (unsigned i = 0; i < count && i < TOGETHER_PARTS; i++) {
        r->settings[i] = launch_settings_write(&parts[i]);
        if (!r->settings[i])
            return orch_no_memory(error);
        r->parts++;
    }
    return true;
}

bool trace_recorder_finish(struct trace_recorder *r, struct orch_error *error)
{
    if (r->level == TRACE_LEVEL_INSTRUCTION && r->instructions == 0)
        return orch_fail(
            error, ORCH_UNMODELLED,
            "level instruction: the Neural Engine has none, and a GPU launch timed by a sample tells none (" ORCH_OPTION(
                "detail") " instr times all); else use " ORCH_OPTION("level") " operator");
    if (r->failed)
        return trace_tell(&r->error, error);
    struct trace_output *const output = r->output;
    r->output = NULL;
    return trace_output_commit(output, error);
}

void trace_recorder_free(struct trace_recorder *r)
{
    if (!r)
        return;
    trace_output_discard(r->output);
    forget_parts(r);
    free(r);
}
