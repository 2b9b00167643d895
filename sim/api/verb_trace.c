/* The verb trace: records what happens, shows it, and asks what it would be elsewhere. */
#include "sim/api/verb_run_parts.h"
#include "sim/api/verb_trace.h"

#include "sim/base/check.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/api/verb_run.h"
#include "sim/trace/trace_errors.h"
#include "sim/trace/trace_import.h"
#include "sim/trace/trace_output.h"
#include "sim/trace/trace_perfetto.h"
#include "sim/trace/trace_survey.h"
#include "traces/trace_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"output", 'o', "FILE", false, "record, import, convert: the trace to write"},
    {"level", 0, "LEVEL", false, "record: kernel, operator (default) or instruction (CPU, AMX, GPU)"},
    {"perfetto", 0, "FILE", false, "convert: write a Chrome trace for ui.perfetto.dev instead"},
    {"text", 0, NULL, false, "record, import, convert: write JSON lines; also when FILE ends in .jsonl"},
    {"force", 0, NULL, false, "pass over blocks that are damaged, and say what is lost"},
    {"from", 0, "N", false, "print: the first record, from 0"},
    {"count", 0, "N", false, "print: how many"},
    {"format", 0, "NAME", false, "import: pytorch-profiler or onnxruntime-profile"},
    {"timing", 0, "KIND", false, "replay: dependency (default) or arrival"},
    {"run", 0, "N", false, "replay: which run of several in the trace"},
    {"unit", 0, "UNIT", false, "record: as of run; replay: for every launch; import: of the operators"},
    {"precision", 0, "TYPE", false, "record: as of run"},
    {"mode", 0, "MODE", false, "record: full (default) or timing"},
    {"detail", 0, "DETAIL", false, "record: as of run"},
    {"cores", 0, "N", false, "record: copies of a program"},
    {"core", 0, "KIND", false, "record: p or e"},
    {"entry", 0, "NAME", false, "record: call this function of the program"},
    {"args", 0, "ARG", true, "record: an argument of the program or function"},
    {"home", 0, "HOME", false, "record: kernels: process or elf"},
    {"memory", 0, "GIB", false, "record: memory of the machine"},
    {"repeat", 0, "N", false, "record: so many times back to back"},
    {"buffers", 0, "WORD", false, "record: as of run"},
    {"evict", 0, NULL, false, "record: empty caches before each repetition"},
    {"cold", 0, NULL, false, "record: start with empty caches"},
    {"input", 0, "NAME=FILE", true, "record: another start content of a buffer"},
    {0},
};

static bool wants_text(const struct api_context *context, const char *path)
{
    return api_has(&context->args, "text") || verb_trace_is_text(path);
}

/* ---- record ---- */

static int record(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    const char *const path = api_value(&context->args, "output");
    unsigned level = TRACE_LEVEL_OPERATOR;
    if (!path)
        return api_usage(context, "record needs " ORCH_LETTER("o", "output") " FILE");
    if (!api_chosen(&context->args, "level", TRACE_LEVELS, &level, &error))
        return api_fail(context, &error);
    const struct api_recording recording = {path, (enum trace_level)level, wants_text(context, path)};
    const int code = verb_run_record(context, words, word, &recording);
    if (code == ORCH_OK)
        api_note(context, "recorded in %s", path);
    return code;
}

/* ---- info and check ---- */

static json_object *info_json(const char *path, const struct trace_survey *s)
{
    json_object *j = json_object_new_object(), *records = json_object_new_object();
    json_add_text(j, "file", path);
    json_add_text(j, "form", s->text ? "text" : "binary");
    json_add_text(j, "chip", s->chip[0] ? s->chip : NULL);
    json_add_text(j, "workload", s->workload[0] ? s->workload : NULL);
    json_add_text(j, "orchard", s->orchard[0] ? s->orchard : NULL);
    json_add_text(j, "level", s->level[0] ? s->level : NULL);
    json_add_text(j, "source", s->source[0] ? s->source : NULL);
    json_add_number(j, "seconds", s->seconds);
    json_add_number(j, "runs", (double)s->runs);
    for (int kind = TRACE_RUN_BEGIN; kind < TRACE_KIND_END; kind++)
        if (s->records[kind])
            json_add_number(records, trace_kind_name((enum trace_kind)kind), (double)s->records[kind]);
    json_object_object_add(j, "records", records);
    json_add_number(j, "kernels", (double)s->works[0]);
    json_add_number(j, "estimates", (double)s->works[1]);
    json_add_number(j, "no_work", (double)s->works[2]);
    json_add_number(j, "file_bytes", (double)s->account.file_bytes);
    json_add_number(j, "raw_bytes", (double)s->account.raw_bytes);
    json_add_number(j, "blocks", (double)s->account.blocks);
    json_add_number(j, "lost_places", (double)s->account.lost_places);
    json_add_number(j, "lost_bytes", (double)s->account.lost_bytes);
    json_add_number(j, "lost_records",
                    s->account.lost_places && !s->account.lost_known ? (double)NAN : (double)s->account.lost_records);
    return j;
}

static void tell_lost(struct api_context *context, const char *path, const struct trace_account *a)
{
    char records[64] = "";
    if (a->lost_places == 0)
        return;
    if (a->lost_known)
        snprintf(records, sizeof records, ", %" PRIu64 " records in them", a->lost_records);
    api_warn(context, "%s: %" PRIu64 " bytes at %" PRIu64 " places are lost%s; %" PRIu64 " records are kept", path, a->lost_bytes,
             a->lost_places, records, a->records);
}

static void info_text(struct api_context *context, const char *path, const struct trace_survey *s)
{
    char text[FORMAT_SIZE];
    FILE *out = context->out;
    fprintf(out, "%s: %s trace, level %s, of %s\n", path, s->text ? "text" : "binary", s->level[0] ? s->level : "not told",
            s->source[0] ? s->source : "unknown source");
    if (s->workload[0])
        fprintf(out, "  workload   %s\n", s->workload);
    if (s->chip[0])
        fprintf(out, "  chip       %s\n", s->chip);
    fprintf(out, "  time       %s, %" PRIu64 " run%s\n", format_si(text, s->seconds, "s"), s->runs, s->runs == 1 ? "" : "s");
    fprintf(out, "  launches   %" PRIu64 " kernels, %" PRIu64 " estimates, %" PRIu64 " without work\n", s->works[0], s->works[1],
            s->works[2]);
    for (int kind = TRACE_RUN_BEGIN; kind < TRACE_KIND_END; kind++)
        if (s->records[kind])
            fprintf(out, "  %-12s%" PRIu64 "\n", trace_kind_name((enum trace_kind)kind), s->records[kind]);
    fprintf(out, "  size       %s", format_bytes(text, s->account.file_bytes));
    if (!s->text && s->account.records)
        fprintf(out, " in %" PRIu64 " blocks, %.2f bytes a record (%.2f before compression)", s->account.blocks,
                (double)s->account.file_bytes / (double)s->account.records,
                (double)s->account.raw_bytes / (double)s->account.records);
    fputc('\n', out);
}

static int info(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct trace_survey s;
    if (!trace_survey(path, api_has(&context->args, "force"), &s, &error))
        return api_fail(context, &error);
    if (api_wants_document(context))
        api_document(context, info_json(path, &s));
    if (api_wants_text(context))
        info_text(context, path, &s);
    tell_lost(context, path, &s.account);
    return ORCH_OK;
}

/* Checks that files are whole, and that their records make sense together. */
static int check(struct api_context *context, int count, const char *const *paths)
{
    struct check_report report = {0};
    struct orch_error error = {0};
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        struct trace_survey s;
        ok = trace_survey(paths[i], api_has(&context->args, "force"), &s, &error);
        if (!ok)
            break;
        tell_lost(context, paths[i], &s.account);
        report.passed += s.text ? 1 : (unsigned long)s.account.blocks;
        if (s.account.lost_places)
            check_fail(&report, "%s: %" PRIu64 " places are damaged", paths[i], s.account.lost_places);
        if (s.wrong)
            check_fail(&report, "%s: %" PRIu64 " records make no sense; %s", paths[i], s.wrong, s.first_wrong);
        else
            check_pass(&report);
    }
    const int code = ok ? api_report(context, &report) : api_fail(context, &error);
    check_report_free(&report);
    return code;
}

/* ---- print and convert ---- */

static int print(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct trace_error own;
    struct trace_record r;
    uint64_t from = 0, count = UINT64_MAX, printed = 0;
    enum trace_step step = TRACE_OVER;
    if (!api_unsigned(&context->args, "from", 0, UINT64_MAX, &from, &error) ||
        !api_unsigned(&context->args, "count", 0, UINT64_MAX, &count, &error))
        return api_fail(context, &error);
    struct trace_reader *reader = trace_reader_open(path, api_has(&context->args, "force"), &own);
    bool ok = reader && trace_seek(reader, from, &own);
    if (ok)
        trace_text_header(context->out, trace_reader_header(reader));
    while (ok && printed < count && (step = trace_next(reader, &r, &own)) == TRACE_GOT) {
        trace_text_record(context->out, &r);
        printed++;
    }
    struct trace_account account = {0};
    if (reader)
        trace_reader_account(reader, &account);
    trace_reader_close(reader);
    if (!ok || step == TRACE_BAD) {
        trace_tell(&own, &error);
        return api_fail(context, &error);
    }
    tell_lost(context, path, &account);
    return ORCH_OK;
}

static bool convert_records(struct trace_reader *reader, struct trace_writer *writer, struct trace_error *own)
{
    struct trace_record r;
    enum trace_step step;
    while ((step = trace_next(reader, &r, own)) == TRACE_GOT)
        if (!trace_write(writer, &r, own))
            return false;
    return step == TRACE_OVER;
}

static bool convert_to(const char *to, struct trace_reader *reader, bool text, struct orch_error *error)
{
    struct trace_error own;
    struct trace_output *const output = trace_output_open(to, trace_reader_header(reader), text, error);
    if (!output)
        return false;
    if (convert_records(reader, trace_output_writer(output), &own))
        return trace_output_commit(output, error);
    trace_output_discard(output);
    return trace_tell(&own, error);
}

static int convert(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct trace_error own;
    struct trace_account account = {0};
    const char *const to = api_value(&context->args, "output"), *const view = api_value(&context->args, "perfetto");
    if (!to == !view)
        return api_usage(context, "convert needs either " ORCH_LETTER("o", "output") " FILE or " ORCH_OPTION("perfetto") " FILE");
    struct trace_reader *reader = trace_reader_open(path, api_has(&context->args, "force"), &own);
    const bool ok = !reader ? trace_tell(&own, &error)
                    : view  ? trace_perfetto(reader, view, &error)
                            : convert_to(to, reader, wants_text(context, to), &error);
    if (reader)
        trace_reader_account(reader, &account);
    trace_reader_close(reader);
    if (!ok)
        return api_fail(context, &error);
    tell_lost(context, path, &account);
    return ORCH_OK;
}

/* ---- import ---- */

static double share(const struct import_coverage *c, double seconds)
{
    const double total = import_total_seconds(c);
    return total > 0 ? seconds / total : 0;
}

static json_object *coverage_json(const struct import_coverage *c)
{
    json_object *j = json_object_new_object();
    json_add_text(j, "time_of", c->device ? "device" : "operators on the host");
    json_add_number(j, "seconds", import_total_seconds(c));
    json_add_number(j, "kernels", (double)c->operators[0]);
    json_add_number(j, "estimates", (double)c->operators[1]);
    json_add_number(j, "no_work", (double)c->operators[2]);
    json_add_number(j, "unknown", (double)c->unknown);
    json_add_number(j, "assumed", (double)c->assumed);
    json_add_number(j, "kernel_share", share(c, c->seconds[0]));
    json_add_number(j, "estimate_share", share(c, c->seconds[1]));
    json_add_number(j, "no_work_share", share(c, c->seconds[2]));
    json_add_number(j, "unknown_share", share(c, c->unknown_seconds));
    json_add_number(j, "assumed_share", share(c, c->assumed_seconds));
    json_add_number(j, "coverage", share(c, c->seconds[0] + c->seconds[1] + c->seconds[2]));
    json_add_text(j, "longest_estimate", c->estimate_name[0] ? c->estimate_name : NULL);
    json_add_text(j, "longest_unknown", c->unknown_name[0] ? c->unknown_name : NULL);
    return j;
}

static void coverage_text(FILE *out, const struct import_coverage *c)
{
    char text[FORMAT_SIZE];
    fprintf(out, "%s of %s\n", format_si(text, import_total_seconds(c), "s"),
            c->device ? "device time" : "operators on the host");
    fprintf(out, "  kernels    %6.2f %%  %" PRIu64 " operators", 100 * share(c, c->seconds[0]), c->operators[0]);
    if (c->assumed)
        fprintf(out, ", %" PRIu64 " of them with something assumed (%.2f %%)", c->assumed, 100 * share(c, c->assumed_seconds));
    fprintf(out, "\n  estimates  %6.2f %%  %" PRIu64 " operators, by their bytes", 100 * share(c, c->seconds[1]),
            c->operators[1]);
    if (c->estimate_name[0])
        fprintf(out, "; longest: %s", c->estimate_name);
    fprintf(out, "\n  no work    %6.2f %%  %" PRIu64 " operators\n", 100 * share(c, c->seconds[2]), c->operators[2]);
    fprintf(out, "  unknown    %6.2f %%  %" PRIu64, 100 * share(c, c->unknown_seconds), c->unknown);
    if (c->unknown_name[0])
        fprintf(out, "; longest: %s", c->unknown_name);
    fprintf(out, "\n  covered    %6.2f %% (all but unknown)\n", 100 * share(c, c->seconds[0] + c->seconds[1] + c->seconds[2]));
}

static int import(struct api_context *context, const char *path)
{
    struct orch_error error = {0};
    struct import_coverage coverage;
    const char *const to = api_value(&context->args, "output");
    unsigned format = 0;
    if (!to || !api_has(&context->args, "format"))
        return api_usage(context,
                         "import needs " ORCH_OPTION("format") " " IMPORT_FORMATS " and " ORCH_LETTER("o", "output") " FILE");
    if (!api_chosen(&context->args, "format", IMPORT_FORMATS, &format, &error) || !api_unit_is_known(&context->args, &error))
        return api_fail(context, &error);
    const struct trace_import_request request = {.path = path,
                                                 .output = to,
                                                 .format = (enum import_format)format,
                                                 .unit = api_value(&context->args, "unit"),
                                                 .text = wants_text(context, to),
                                                 .force = api_has(&context->args, "force")};
    if (!trace_import(&request, &coverage, &error))
        return api_fail(context, &error);
    if (coverage.cut)
        api_warn(context, "%s: the document is cut off; what stands before is imported", path);
    if (api_wants_document(context))
        api_document(context, coverage_json(&coverage));
    if (api_wants_text(context))
        coverage_text(context->out, &coverage);
    return ORCH_OK;
}

/* ---- the verb ---- */

bool verb_trace_is_text(const char *path)
{
    const char *const dot = strrchr(path, '.');
    return dot && strcmp(dot, ".jsonl") == 0;
}

bool verb_trace_is_file(const char *path)
{
    char begin[16];
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(begin, 1, sizeof begin, f) : 0;
    if (f)
        fclose(f);
    return trace_recognise(begin, n);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    enum { RECORD, INFO, CHECK, PRINT, CONVERT, REPLAY, IMPORT };
    struct orch_error error = {0};
    unsigned verb;
    if (words < 2)
        return api_usage(context, "expected record, info, check, print, convert, replay or import, and what to do that with");
    if (!api_choice("trace command", word[0], "record|info|check|print|convert|replay|import", &verb, &error))
        return api_fail(context, &error);
    if (verb == RECORD)
        return record(context, words - 1, word + 1);
    if (verb == CHECK)
        return check(context, words - 1, word + 1);
    if (words > 2)
        return api_usage(context, "%s takes one trace", word[0]);
    if (verb == IMPORT)
        return import(context, word[1]);
    return verb == INFO      ? info(context, word[1])
           : verb == PRINT   ? print(context, word[1])
           : verb == CONVERT ? convert(context, word[1])
                             : verb_trace_replay(context, word[1]);
}

const struct api_verb verb_trace = {
    .help =
        {
            .name = "trace",
            .synopsis = "record WORKLOAD -o T [run options]\n"
                        "info T\n"
                        "check T...\n"
                        "print T\n"
                        "convert T -o OUT\n"
                        "convert T --perfetto FILE.json\n"
                        "replay T --chip ID\n"
                        "import --format pytorch-profiler|onnxruntime-profile FILE -o T",
            .summary = "what happened, on disk: record, look, replay on another chip, import",
            .text = "record runs a workload (as orchard run does, A + B too) and writes the event stream; info says what is in a "
                    "trace, check reads\n"
                    "all of it, print shows records as JSON lines, convert turns the binary form into JSON lines and back. "
                    "replay asks what the\n"
                    "recorded launches would do elsewhere; orchard run T is the same. import reads a profile with shapes: "
                    "operators become launches of\n"
                    "kernels, what has none an estimate by its bytes, and the share of each is printed. The format is described "
                    "in traces/README.md.",
            .examples = "orchard trace record gemm:512x512x512 --unit gpu --chip m1 -o gemm.trace\n"
                        "orchard trace replay gemm.trace --chip m3-max\n"
                        "orchard trace print gemm.trace --from 0 --count 10\n"
                        "orchard trace import --format pytorch-profiler examples/profiles/pytorch.json -o layer.trace\n"
                        "orchard trace import --format onnxruntime-profile examples/profiles/onnxruntime.json -o block.trace\n"
                        "orchard trace replay layer.trace --unit gpu --chip m1",
            .options = option_table,
        },
    .ask = ask,
    .of_parts = verb_run_part_options,
};
