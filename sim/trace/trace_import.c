#include "sim/trace/trace_import.h"

#include "sim/trace/import_emit.h"
#include "sim/trace/trace_errors.h"
#include "sim/trace/trace_output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static const char *const formats[] = {"pytorch-profiler", "onnxruntime-profile"};

double import_total_seconds(const struct import_coverage *c)
{
    return c->seconds[0] + c->seconds[1] + c->seconds[2] + c->unknown_seconds;
}

static int64_t picoseconds(double us)
{
    return isfinite(us) ? llround(fmin(fmax(us * 1e6, -9e18), 9e18)) : 0;
}

static bool put(struct import_emit *e, const struct trace_record *record, struct orch_error *error)
{
    struct trace_error own;
    return trace_write(e->writer, record, &own) || trace_tell(&own, error);
}

static bool import_emit_begin(struct import_emit *e, const char *version, struct orch_error *error)
{
    struct trace_record r = {.kind = TRACE_RUN_BEGIN};
    r.run_begin = (struct trace_run_begin){.run = 1,
                                           .workload = e->request->path,
                                           .program_name = e->request->path,
                                           .program_kind = formats[e->request->format],
                                           .detail = "op",
                                           .version = version};
    return put(e, &r, error);
}

static void keep_longest(char *name, size_t size, double *most, const char *candidate, double seconds)
{
    if (seconds <= *most)
        return;
    *most = seconds;
    snprintf(name, size, "%.70s", candidate);
}

void import_emit_unknown(struct import_emit *e, const char *name, double seconds)
{
    struct import_coverage *const c = e->coverage;
    c->unknown++;
    c->unknown_seconds += seconds;
    keep_longest(c->unknown_name, sizeof c->unknown_name, &c->unknown_most, name, seconds);
}

static void count(struct import_emit *e, const struct import_mapping *m, const char *name, double seconds)
{
    struct import_coverage *const c = e->coverage;
    if (m->work == IMPORT_NONE && m->note[0]) {
        import_emit_unknown(e, name, seconds);
        return;
    }
    c->operators[m->work]++;
    c->seconds[m->work] += seconds;
    if (m->work == IMPORT_KERNEL && m->note[0]) {
        c->assumed++;
        c->assumed_seconds += seconds;
    }
    if (m->work == IMPORT_ESTIMATE)
        keep_longest(c->estimate_name, sizeof c->estimate_name, &c->estimate_most, name, seconds);
}

bool import_emit_op(struct import_emit *e, const struct import_placed *p, struct orch_error *error)
{
    static const char *const works[] = {"kernel", "estimate", "none"};
    struct import_mapping m;
    struct trace_record launch = {.kind = TRACE_LAUNCH}, begin = {.kind = TRACE_OP_BEGIN}, end;
    char settings[24] = "";
    const char *const name = p->name ? p->name : p->op->name;
    import_map(p->op, &m);
    count(e, &m, name, p->seconds);
    if (m.repeat > 1)
        snprintf(settings, sizeof settings, "repeat=%u", m.repeat);
    const uint64_t op = ++e->ops;
    const bool kernel = m.work == IMPORT_KERNEL;
    launch.launch = (struct trace_launch){.run = 1,
                                          .op = op,
                                          .submitted_ps = picoseconds(p->submitted_us),
                                          .name = name,
                                          .kernel = kernel ? m.kernel : NULL,
                                          .workload = kernel ? m.workload : NULL,
                                          .precision = kernel && m.precision[0] ? m.precision : NULL,
                                          .unit = e->request->unit ? e->request->unit : p->unit,
                                          .stream = p->stream,
                                          .settings = settings[0] ? settings : NULL,
                                          .work = works[m.work],
                                          .bytes = m.bytes,
                                          .note = m.note[0] ? m.note : NULL};
    begin.op_begin = (struct trace_op_begin){1, op, picoseconds(p->begin_us)};
    trace_record_init(&end, TRACE_OP_END);
    end.op_end.run = 1;
    end.op_end.op = op;
    end.op_end.time_ps = picoseconds(p->end_us);
    end.op_end.seconds = p->seconds;
    end.op_end.repeats = 1;
    e->end_us = fmax(e->end_us, p->end_us);
    return put(e, &launch, error) && put(e, &begin, error) && put(e, &end, error);
}

static bool import_emit_end(struct import_emit *e, struct orch_error *error)
{
    struct trace_record r;
    trace_record_init(&r, TRACE_RUN_END);
    r.run_end.run = 1;
    r.run_end.time_ps = picoseconds(e->end_us);
    r.run_end.status = "done";
    r.run_end.seconds = e->end_us * 1e-6;
    r.run_end.device_seconds = import_total_seconds(e->coverage);
    return put(e, &r, error);
}

bool trace_import_from(const struct import_source *source, const struct trace_import_request *request,
                       struct import_coverage *coverage, struct orch_error *error)
{
    const struct trace_header header = {
        .workload = source->name, .orchard = ORCHARD_VERSION, .level = "operator", .source = formats[request->format]};
    struct trace_output *const output = trace_output_open(request->output, &header, request->text, error);
    memset(coverage, 0, sizeof *coverage);
    if (!output)
        return false;
    struct import_emit e = {.request = request, .coverage = coverage, .writer = trace_output_writer(output)};
    const bool ok = import_emit_begin(&e, NULL, error) &&
                    (request->format == IMPORT_PYTORCH ? import_pytorch : import_onnx)(&e, source, error) &&
                    import_emit_end(&e, error);
    if (ok)
        return trace_output_commit(output, error);
    trace_output_discard(output);
    return false;
}

static size_t read_file(void *context, void *to, size_t size, bool *bad)
{
    const int n = gzread(context, to, (unsigned)size);
    *bad = n < 0;
    return n > 0 ? (size_t)n : 0;
}

bool trace_import(const struct trace_import_request *request, struct import_coverage *coverage, struct orch_error *error)
{
    gzFile file = gzopen(request->path, "rb");
    if (!file)
        return orch_fail(error, ORCH_USAGE, "%s: %s", request->path, strerror(errno));
    const struct import_source source = {read_file, file, request->path, request->force};
    const bool ok = trace_import_from(&source, request, coverage, error);
    gzclose(file);
    return ok;
}
