/* orchard run: simulate a workload on one chip or several, record it, show the answer. */
#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"
#include "sim/api/record.h"
#include "sim/api/verb_run.h"
#include "sim/api/verb_run_device.h"
#include "sim/api/verb_run_together.h"
#include "sim/api/verb_trace.h"
#include "sim/db/db.h"
#include "sim/listen/perfetto_listener.h"
#include "sim/listen/run_json.h"
#include "sim/listen/summary.h"
#include "sim/run/run.h"
#include "sim/run/run_explain.h"
#include "sim/run/run_timing.h"
#include "sim/scenario/together.h"
#include "sim/ask/study/known.h"
#include "sim/ask/study/uncertainty.h"
#include "sim/trace/trace_recorder.h"
#include "sim/ask/study/fitted.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_run_options[] = {
    {"unit", 0, "UNIT", false, "cpu, amx, gpu, ane or auto (default: what the workload runs on)"},
    {"precision", 0, "TYPE", false,
     "element type of a kernel: f64 f32 f16 bf16 i16 i8 (default f32); ane: f16 i8 i4 weights (default f16)"},
    {"mode", 0, "MODE", false, "full (default), functional (results only) or timing (no values)"},
    {"detail", 0, "LEVEL", false,
     "instr, sampled (GPU: representative threadgroups are timed), op (kernels: time without values, from characteristics) or "
     "auto"},
    {"cores", 0, "N", false, "copies of a program, one a core, spread over the clusters (default 1)"},
    {"core", 0, "KIND", false, "p or e: which cores to use (default: P cores first)"},
    {"entry", 0, "NAME", false, "call this function of the program instead of starting it"},
    {"args", 0, "ARG", true, "an argument of the program or function; repeat for more (see below)"},
    {"home", 0, "HOME", false, "kernels: process (fast, default) or elf (the same kernel as an AArch64 program)"},
    {"memory", 0, "GIB", false, "memory of the machine, one of the chip's options (default: the largest)"},
    {"repeat", 0, "N", false, "run it N times back to back"},
    {"cold", 0, NULL, false, "start with empty caches; without it one untimed warm-up comes first"},
    {"input", 0, "NAME=FILE", true, "GPU: another start content of a buffer, .npy or raw; ane: an input or constant, .npy"},
    {"output", 'o', "DIR", false, "GPU, ane: where the outputs go, one .npy each"},
    {"sanitize", 0, NULL, false, "GPU: stop at races, accesses out of bounds, barrier divergence, reads before their wait"},
    CMD_RUN_DEVICE_OPTIONS,
    {"perfetto", 0, "FILE", false, "also write a Chrome trace (JSON): open it in ui.perfetto.dev or chrome://tracing"},
    {"trace", 0, "FILE", false, "write down what happens as a trace; JSON lines when FILE ends in .jsonl (see orchard trace)"},
    {"fitted", 0, "SET", false, "use a named set of orchard tune or orchard calibrate"},
    {"rerun", 0, NULL, false, "simulate even when an equal run is in the database"},
    {"uncertainty", 0, "N", false,
     "find the interval by N simulations at uncertain parameters (Latin hypercube); without it by estimate"},
    {"explain", 0, NULL, false, "say what the limit is, what the roofline says, which assumptions matter"},
    {NULL, 0, NULL, false, NULL},
};

/* What one invocation of the verb shares over its chips. */
struct session {
    struct cmd_context *context;
    struct run_request request;
    const char **args;
    struct cmd_record record;
    const struct cmd_recording *recording; /* of trace record; NULL = run */
    struct known *known;                   /* characteristics, for --detail op */
    struct run_known ask;
    struct uncertainty uncertainty; /* of --uncertainty */
    struct run_uncertainty sampled;
    bool rerun, explain, many;
    bool differs; /* some output is not as its description expects */
    json_object *rows;
    struct table *table;
    uint64_t number;
    struct fitted_set fitted; /* name NULL = none */
};

static bool read_choices(struct session *s, struct orch_error *error)
{
    const struct cli_args *a = &s->context->args;
    unsigned choice = 0;
    const char *word = cli_value(a, "mode");
    if (word && !cli_choice("--mode", word, "full|functional|timing", &choice, error))
        return false;
    s->request.mode = (enum run_mode)choice;
    word = cli_value(a, "core");
    if (word && !cli_choice("--core", word, "p|e", &choice, error))
        return false;
    s->request.core_choice = !word ? SOC_ANY_CORE : choice ? SOC_E_CORE : SOC_P_CORE;
    return true;
}

static bool read_request(struct session *s, const char *workload, struct orch_error *error)
{
    const struct cli_args *a = &s->context->args;
    uint64_t cores = 1, repeat = 1, memory = 0;
    if (!read_choices(s, error) || !cli_unsigned(a, "cores", 1, 64, &cores, error) ||
        !cli_unsigned(a, "memory", 1, 65536, &memory, error) || !cli_unsigned(a, "repeat", 1, 1000000, &repeat, error))
        return false;
    struct run_request *q = &s->request;
    q->workload = workload;
    q->unit = cli_value(a, "unit");
    q->precision = cli_value(a, "precision");
    q->detail = cli_value(a, "detail");
    q->cores = (unsigned)cores;
    q->memory_gib = (unsigned)memory;
    q->entry = cli_value(a, "entry");
    q->arg_count = cli_count(a, "args");
    q->home = cli_value(a, "home");
    q->cold = cli_has(a, "cold");
    q->repeat = (unsigned)repeat;
    q->seed = s->context->common.seed;
    q->threads = s->context->common.threads;
    q->output_folder = s->recording ? NULL : cli_value(a, "output");
    q->sanitize = cli_has(a, "sanitize");
    q->input_count = cli_count(a, "input");
    q->program_output = s->context->common.json ? s->context->err : s->context->out;
    s->args = calloc(q->arg_count + q->input_count + 1, sizeof *s->args);
    if (!s->args)
        return orch_no_memory(error);
    for (size_t i = 0; i < q->arg_count; i++)
        s->args[i] = cli_value_at(a, "args", i);
    for (size_t i = 0; i < q->input_count; i++)
        s->args[q->arg_count + i] = cli_value_at(a, "input", i);
    q->args = s->args;
    q->inputs = s->args + q->arg_count;
    s->rerun = cli_has(a, "rerun") || s->record.trace;
    q->watch = s->record.trace ? trace_recorder_watch(s->record.trace) : NULL;
    s->explain = cli_has(a, "explain");
    return true;
}

/* --uncertainty N: the interval is found by running the workload again and again. */
static bool read_uncertainty(struct session *s, struct orch_error *error)
{
    const struct cli_args *a = &s->context->args;
    uint64_t runs = 0;
    if (!cli_unsigned(a, "uncertainty", UNCERTAINTY_RUNS_LEAST, UNCERTAINTY_RUNS_MOST, &runs, error))
        return false;
    if (runs == 0)
        return true;
    if (s->request.known || cli_has(a, "fitted") || cmd_run_wants_device(s->context) || together_is(s->request.workload))
        return orch_fail(error, ORCH_USAGE, "--uncertainty: of one workload at fixed clocks, not with --detail op or --fitted");
    s->uncertainty = (struct uncertainty){.chips = s->context->chip_db,
                                          .sets = {s->context->common.sets, s->context->common.set_count},
                                          .runs = (unsigned)runs,
                                          .seed = s->request.seed};
    s->sampled = uncertainty_as_run(&s->uncertainty);
    s->request.uncertainty = &s->sampled;
    return true;
}

/* Fills *result from an equal earlier run; *found tells. Programs that print or write files are run again for that. */
static bool find_earlier(struct session *s, const struct run *run, struct run_result *result, bool *found,
                         struct orch_error *error)
{
    char hash[DB_HASH_SIZE];
    int64_t id = 0;
    *found = false;
    if (s->rerun)
        return true;
    db_config_hash(run_begin_event(run), hash);
    if (!db_find_run(s->record.db, hash, &id, error))
        return false;
    if (id == 0)
        return true;
    if (!db_read_run(s->record.db, id, result, error))
        return false;
    if (run_values_get(&result->counters, RUN_COUNTER_OUTPUT) > 0 || run_values_get(&result->counters, RUN_COUNTER_FILES) > 0) {
        run_result_free(result);
        run_result_init(result);
        return true;
    }
    *found = true;
    cmd_note(s->context, "run %lld of the database has the same chip, program and version (--rerun simulates again)",
             (long long)id);
    return cmd_record_found(&s->record, id, ++s->number, error);
}

static bool execute(void *run, struct event_bus *bus, uint64_t number, struct run_result *result, struct orch_error *error)
{
    return run_execute(run, bus, number, result, error);
}

static void table_line(struct session *s, const struct run_result *r)
{
    char seconds[FORMAT_SIZE], rate[FORMAT_SIZE], dram[FORMAT_SIZE], host[FORMAT_SIZE];
    table_row(s->table);
    table_cell(s->table, "%s", r->chip);
    table_cell(s->table, "%s", format_seconds(seconds, r->seconds, r->seconds_low, r->seconds_high));
    table_cell(s->table, "%s", format_digits(rate, r->gflops, 4));
    table_cell(s->table, "%s", format_digits(dram, r->dram_gbps, 3));
    table_cell(s->table, "%s", r->bound_by);
    table_cell(s->table, "%s", r->placement.count ? r->placement.item[0].kernel : NULL);
    table_cell(s->table, "%s", format_si(host, r->host_seconds, "s"));
    table_cell(s->table, "%lld", (long long)r->run_id);
}

static bool show(struct session *s, const struct run *run, const struct run_result *r, struct orch_error *error)
{
    struct cmd_context *c = s->context;
    if (c->common.json) {
        json_object_array_add(s->rows, run_json(r));
        return true;
    }
    if (s->many) {
        table_line(s, r);
        return true;
    }
    const struct summary_options options = {c->common.color, s->explain ? 64 : 8, 4};
    if (!summary_print(c->out, r, &options))
        return orch_fail(error, ORCH_USAGE, "standard output cannot be written");
    if (s->explain)
        run_explain(c->out, run, r);
    return true;
}

static bool one_chip(struct session *s, const struct chip *chip, struct orch_error *error)
{
    struct run_result result;
    bool found = false;
    s->request.chip = chip;
    if (s->record.trace && !trace_recorder_expect(s->record.trace, &(struct together_part){.request = s->request}, 1, error))
        return false;
    if (cmd_run_wants_device(s->context))
        return cmd_run_in_device(&s->record, &s->request, ++s->number, s->rows, error);
    if (together_is(s->request.workload)) {
        const struct cmd_together together = {&s->record, s->request.workload, &s->request, ++s->number, s->rows};
        return cmd_run_together(&together, error);
    }
    struct run *run = run_prepare(&s->request, error);
    if (!run)
        return false;
    run_result_init(&result);
    bool ok = find_earlier(s, run, &result, &found, error) &&
              (found || cmd_record_run(&s->record, chip, execute, run, ++s->number, &result, error)) &&
              show(s, run, &result, error);
    for (size_t i = 0; i < run_remark_count(run); i++)
        fprintf(s->context->err, "orchard: %s\n", run_remark(run, i));
    if (ok && run_values_get(&result.counters, RUN_COUNTER_AS_EXPECTED) < run_values_get(&result.counters, RUN_COUNTER_EXPECTED))
        s->differs = true;
    run_result_free(&result);
    run_free(run);
    return ok;
}

static bool open_outputs(struct session *s, struct orch_error *error)
{
    static const struct table_column columns[] = {
        {"chip", NULL, false, 0},     {"time", "simulated", true, 0}, {"GFLOPS", NULL, true, 0},    {"DRAM", "GB/s", true, 0},
        {"bound by", NULL, false, 0}, {"kernel", NULL, false, 40},    {"host time", NULL, true, 0}, {"run", NULL, true, 0},
    };
    s->rows = json_object_new_array();
    s->table = table_create(columns, ARRAY_COUNT(columns));
    if (!s->rows || !s->table)
        return orch_no_memory(error);
    const char *const trace = cli_value(&s->context->args, "perfetto");
    s->record.context = s->context;
    s->record.db = db_open(s->context->common.db, DB_WRITE, error);
    s->record.perfetto = s->record.db && trace ? perfetto_listener_open(trace, error) : NULL;
    return s->record.db && (!trace || s->record.perfetto);
}

/* Operators are looked up in the database. */
static bool open_known(struct session *s, struct orch_error *error)
{
    if (!s->request.detail || strcmp(s->request.detail, "op") != 0)
        return true;
    s->known = known_create(s->record.db, error);
    if (!s->known)
        return false;
    s->ask = known_as_run(s->known);
    s->request.known = &s->ask;
    return true;
}

static void print_all(struct session *s)
{
    if (s->context->common.json) {
        const bool single = !s->many && json_object_array_length(s->rows) == 1;
        json_object *document = single ? json_object_get(json_object_array_get_idx(s->rows, 0)) : json_object_get(s->rows);
        json_print(document, s->context->out);
    } else if (s->many && !together_is(s->request.workload)) {
        table_print(s->table, s->context->out, s->context->common.color);
    }
}

/* With the values and choices that the set has for this chip; a --set of the user wins. */
static bool one_fitted_chip(struct session *s, const struct chip *chip, struct orch_error *error)
{
    struct cli_common *const common = &s->context->common;
    const struct run_request asked = s->request;
    const struct chip_overrides given = {common->sets, common->set_count};
    struct fitted_sets sets;
    bool used;
    if (!fitted_sets_make(&s->fitted, chip_id(chip), &given, &sets, error))
        return false;
    struct chip *const fitted = chip_open(s->context->chip_db, chip_id(chip), &sets.overrides, error);
    fitted_apply(&s->fitted, chip_id(chip), &s->request, &used);
    if (!used)
        cmd_note(s->context, "set %s has nothing for %s on %s: it changes nothing", s->fitted.name, asked.workload,
                 chip_id(chip));
    common->sets = sets.overrides.text;
    common->set_count = sets.overrides.count;
    const bool ok = fitted && one_chip(s, fitted, error);
    common->sets = given.text;
    common->set_count = given.count;
    s->request = asked;
    if (fitted)
        chip_close(fitted);
    fitted_sets_free(&sets);
    return ok;
}

/* "A", or "A", "+", "B" ... in as many words as the shell made of it. */
static bool join_words(int argc, char **argv, char **text)
{
    size_t length = 1;
    for (int i = 0; i < argc; i++)
        length += strlen(argv[i]) + 1;
    *text = calloc(1, length);
    for (int i = 0; *text && i < argc; i++) {
        strcat(*text, i ? " " : "");
        strcat(*text, argv[i]);
    }
    return *text != NULL;
}

/* Opens what is to be written down, before the request is read. */
static bool open_trace(struct session *s, const char *workload, struct orch_error *error)
{
    struct cmd_context *c = s->context;
    const char *path = s->recording ? s->recording->path : cli_value(&c->args, "trace");
    if (!path)
        return true;
    const char *const dot = strrchr(path, '.');
    const struct trace_recorder_options options = {.level = s->recording ? s->recording->level : TRACE_LEVEL_OPERATOR,
                                                   .text = (s->recording && s->recording->text) ||
                                                           (dot && strcmp(dot, ".jsonl") == 0),
                                                   .chip = strchr(c->common.chips, ',') ? NULL : c->common.chips,
                                                   .workload = workload};
    s->record.trace = trace_recorder_create(path, &options, error);
    return s->record.trace != NULL;
}

static bool close_trace(struct session *s, bool ok, struct orch_error *error)
{
    if (ok && s->record.trace)
        ok = trace_recorder_finish(s->record.trace, error);
    trace_recorder_free(s->record.trace);
    s->record.trace = NULL;
    return ok;
}

static int run_words(struct cmd_context *context, int argc, char **argv, const struct cmd_recording *record)
{
    struct session s = {.context = context, .recording = record};
    struct orch_error error = {0};
    struct cmd_chips chips = {0};
    char *workload = NULL;
    if (argc > 0 && !join_words(argc, argv, &workload))
        orch_no_memory(&error);
    if (argc == 0 || (argc > 1 && workload && !together_is(workload))) {
        free(workload);
        return cmd_usage(context,
                         argc ? "one workload, got '%s' and more (several at once: A + B)"
                              : "a workload is missing, as in gemm:512x512x512",
                         argc ? argv[0] : "");
    }
    bool ok = workload && open_trace(&s, workload, &error) && read_request(&s, workload, &error) &&
              cmd_chips_open(context, NULL, &chips, &error) && open_outputs(&s, &error) && open_known(&s, &error) &&
              read_uncertainty(&s, &error);
    if (ok && cli_value(&context->args, "fitted"))
        ok = fitted_open(s.record.db, cli_value(&context->args, "fitted"), &s.fitted, &error);
    s.many = chips.count > 1;
    for (size_t i = 0; ok && i < chips.count; i++)
        ok = (s.fitted.name ? one_fitted_chip : one_chip)(&s, chips.chip[i], &error);
    if (ok && s.record.perfetto) {
        ok = perfetto_listener_close(s.record.perfetto, &error);
        s.record.perfetto = NULL;
    }
    ok = close_trace(&s, ok, &error);
    if (ok)
        print_all(&s);
    perfetto_listener_discard(s.record.perfetto);
    json_object_put(s.rows);
    fitted_close(&s.fitted);
    table_free(s.table);
    known_free(s.known);
    db_close(s.record.db);
    cmd_chips_close(&chips);
    free(s.args);
    free(workload);
    if (!ok)
        return cmd_fail(context, &error);
    return s.differs ? ORCH_FAILED : ORCH_OK;
}

int cmd_run_record(struct cmd_context *context, int argc, char **argv, const struct cmd_recording *record)
{
    return run_words(context, argc, argv, record);
}

int cmd_run(struct cmd_context *context, int argc, char **argv)
{
    return argc == 1 && cmd_trace_is_file(argv[0]) ? cmd_trace_replay(context, argv[0]) : run_words(context, argc, argv, NULL);
}
