#include "sim/trace/trace_survey.h"

#include "sim/trace/trace_errors.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

struct surveyor {
    struct trace_survey *s;
    struct trace_reader *reader;
    uint64_t run, last_op;
    bool in_run;
    int64_t first_ps, last_ps;
    bool timed;
    double told;
};

__attribute__((format(printf, 2, 3))) static void wrong(struct surveyor *v, const char *format, ...)
{
    char text[120];
    va_list args;
    if (v->s->wrong++)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(v->s->first_wrong, sizeof v->s->first_wrong, "%s: %s", trace_reader_place(v->reader), text);
}

static void note_time(struct surveyor *v, int64_t ps)
{
    if (!v->timed || ps < v->first_ps)
        v->first_ps = ps;
    if (!v->timed || ps > v->last_ps)
        v->last_ps = ps;
    v->timed = true;
}

static void note_run(struct surveyor *v, const struct trace_run_begin *r)
{
    if (v->in_run)
        wrong(v, "run %" PRIu64 " begins before run %" PRIu64 " ends", r->run, v->run);
    if (v->s->runs++ == 0) {
        v->s->first_run = r->run;
        snprintf(v->s->program_hash, sizeof v->s->program_hash, "%s", r->program_hash ? r->program_hash : "");
    }
    v->in_run = true;
    v->run = r->run;
    v->last_op = 0;
}

static void note_launch(struct surveyor *v, const struct trace_launch *l)
{
    if (l->op <= v->last_op)
        wrong(v, "operator %" PRIu64 " comes after operator %" PRIu64, l->op, v->last_op);
    v->last_op = l->op;
    v->s->works[strcmp(l->work, "kernel") == 0 ? 0 : strcmp(l->work, "estimate") == 0 ? 1 : 2]++;
    v->s->dependent += l->after.count > 0;
    note_time(v, l->submitted_ps);
}

static void note_op(struct surveyor *v, uint64_t op, int64_t ps)
{
    if (op == 0 || op > v->last_op)
        wrong(v, "operator %" PRIu64 " was not launched before", op);
    note_time(v, ps);
}

static void note(struct surveyor *v, const struct trace_record *r)
{
    struct trace_survey *const s = v->s;
    s->records[r->kind]++;
    switch (r->kind) {
    case TRACE_RUN_BEGIN: note_run(v, &r->run_begin); break;
    case TRACE_LAUNCH: note_launch(v, &r->launch); break;
    case TRACE_OP_BEGIN: note_op(v, r->op_begin.op, r->op_begin.time_ps); break;
    case TRACE_OP_END:
        note_op(v, r->op_end.op, r->op_end.time_ps);
        s->op_seconds += isnan(r->op_end.seconds) ? 0 : r->op_end.seconds;
        break;
    case TRACE_RUN_END:
        v->told += isnan(r->run_end.seconds) ? 0 : r->run_end.seconds;
        v->in_run = false;
        break;
    default: break;
    }
}

#define KEEP(field) snprintf(s->field, sizeof s->field, "%.*s", (int)sizeof s->field - 1, header->field ? header->field : "")

bool trace_survey(const char *path, bool force, struct trace_survey *s, struct orch_error *error)
{
    struct trace_error own;
    struct trace_record record;
    enum trace_step step;
    memset(s, 0, sizeof *s);
    struct surveyor v = {.s = s, .reader = trace_reader_open(path, force, &own)};
    if (!v.reader)
        return trace_tell(&own, error);
    const struct trace_header *const header = trace_reader_header(v.reader);
    KEEP(chip);
    KEEP(workload);
    KEEP(orchard);
    KEEP(level);
    KEEP(source);
    s->text = trace_reader_is_text(v.reader);
    while ((step = trace_next(v.reader, &record, &own)) == TRACE_GOT)
        note(&v, &record);
    if (step == TRACE_OVER && v.in_run)
        wrong(&v, "run %" PRIu64 " has no end", v.run);
    trace_reader_account(v.reader, &s->account);
    trace_reader_close(v.reader);
    s->seconds = v.told > 0 ? v.told : v.timed ? (double)(v.last_ps - v.first_ps) * 1e-12 : 0;
    return step == TRACE_OVER || trace_tell(&own, error);
}
