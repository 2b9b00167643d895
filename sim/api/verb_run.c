/* The verb run: simulates a workload on one chip or several, records it, and shows the answer. */
#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"
#include "sim/api/record.h"
#include "sim/api/verb_compile.h"
#include "sim/api/verb_run.h"
#include "sim/api/verb_run_chips.h"
#include "sim/api/verb_run_device.h"
#include "sim/api/verb_run_language.h"
#include "sim/api/verb_run_network.h"
#include "sim/api/verb_run_parts.h"
#include "sim/api/verb_run_profile.h"
#include "sim/api/verb_run_program.h"
#include "sim/api/verb_run_together.h"
#include "sim/api/verb_run_units.h"
#include "sim/api/verb_trace.h"
#include "sim/db/db.h"
#include "sim/listen/perfetto_listener.h"
#include "sim/listen/run_json.h"
#include "sim/run/run.h"
#include "sim/run/run_explain.h"
#include "sim/run/run_timing.h"
#include "sim/scenario/together.h"
#include "sim/ask/study/known.h"
#include "sim/ask/study/uncertainty.h"
#include "sim/trace/trace_recorder.h"
#include "sim/workload/cpu/program_args.h"
#include "sim/ask/study/fitted.h"

#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"unit", 0, "UNIT", false, "cpu amx gpu ane (default: its own); all: a row each; auto: fastest; hybrid, combined: several"},
    {"precision", 0, "TYPE", false,
     "f64 f32 f16 bf16 i16 i8 (default f32; networks on gpu: theirs); ane: f16 i8 i4 weights; mixed: f16 where outputs bear it"},
    {"mode", 0, "MODE", false, "full (default), functional (results only) or timing (no values)"},
    {"detail", 0, "LEVEL", false,
     "instr, sampled (threadgroups, or stretches, stand for the rest), op (kernels: from characteristics, no values) or auto"},
    {"cores", 0, "N", false,
     "copies of a program, or cores that share a kernel of cpu or amx, spread over the clusters (default 1)"},
    {"core", 0, "KIND", false, "p or e: which cores to use (default: P cores first)"},
    {"entry", 0, "NAME", false, "call this function of the program instead of starting it; GPU source: its kernel"},
    {"args", 0, "ARG", true, "an argument of the program or function; repeat for more, or write all behind -- (see below)"},
    VERB_RUN_PROGRAM_OPTIONS,
    VERB_LAUNCH_OPTIONS,
    VERB_COMPILE_OPTIONS,
    {"home", 0, "HOME", false, "kernels: process (fast, default) or elf (the same kernel as an AArch64 program)"},
    {"memory", 0, "GIB", false, "memory of the machine, one of the chip's options (default: largest; DRAM: smallest)"},
    {"repeat", 0, "N", false, "run it N times back to back"},
    {"buffers", 0, "WORD", false,
     "GPU: each repetition has a command buffer of its own (each, default), or one has them all (one); of kernels in a row, each "
     "has one of its own if each is stated"},
    VERB_RUN_BEFORE_OPTIONS,
    {"input", 0, "NAME=FILE", true,
     "GPU: another start content of a buffer, .npy or raw; ane: an input or constant, .npy; networks, Whisper (.wav): an input"},
    {"kernel", 0, "OP=FILE", true,
     "GPU: a source or description to run in place of the library's kernel for an operator, checked against it"},
    {"kernels", 0, "SET[@VERSION]", false,
     "GPU: whose kernels and dispatch rules run for an operator: orchard (default), mlx ... (orchard kernels sets)"},
    {"output", 'o', "DIR", false, "GPU, ane, networks: where the outputs go, one .npy each"},
    {"sanitize", 0, NULL, false, "GPU: stop at races, accesses out of bounds, barrier divergence, reads before their wait"},
    VERB_RUN_NETWORK_OPTIONS,
    VERB_RUN_LANGUAGE_OPTIONS,
    VERB_RUN_DEVICE_OPTIONS,
    {"perfetto", 0, "FILE", false, "also write a Chrome trace (JSON): open it in ui.perfetto.dev or chrome://tracing"},
    {"trace", 0, "FILE", false, "write down what happens as a trace; JSON lines when FILE ends in .jsonl (see orchard trace)"},
    {"fitted", 0, "SET", false, "use a named set of orchard tune or orchard calibrate"},
    {"rerun", 0, NULL, false, "simulate even when an equal run is in the database"},
    {"uncertainty", 0, "N", false, "find the interval by N simulations at uncertain parameters (Latin hypercube)"},
    {"profile", 0, "[asm]", false,
     "GPU: list lines of the source with instructions, cycles and stall reasons, and warnings; asm: with machine code"},
    {"explain", 0, NULL, false, "say what the limit is, what the roofline says, which assumptions matter"},
    {"csv", 0, NULL, false, "a table on standard output (RFC 4180): a row for each chip or unit"},
    {0},
};

/* One question, which may be about several chips. */
struct session {
    struct api_context *context;
    struct run_request request;
    const char **lists;
    struct verb_run_program program;
    struct verb_run_network network;
    struct language_options language;
    double exit_status;          /* of the latest program; NAN = none */
    struct verb_run_part part;   /* what holds for all workloads */
    struct verb_run_parts parts; /* what workloads have of their own */
    struct api_record record;
    const struct api_recording *recording; /* of the verb trace; NULL = of run */
    struct known *known;                   /* characteristics, for detail op */
    struct run_known ask;
    struct uncertainty uncertainty; /* of the option uncertainty */
    struct run_uncertainty sampled;
    struct verb_run_source source;
    bool rerun, explain, many;
    bool assembly, differs; /* in the profile; some output differs from what its description expects */
    json_object *rows;
    struct table *table;
    uint64_t number;
    struct fitted_set fitted; /* name NULL = none */
    struct verb_run_units units;
};

/* Workloads at the same time; kernels in a row are one. */
static bool several(const struct session *s)
{
    return together_is(s->request.workload) && !s->request.steps && !run_network_are_joint(s->request.workload, s->request.unit);
}

static bool read_request(struct session *s, const char *workload, struct orch_error *error)
{
    const struct api_args *a = &s->context->args;
    struct run_request *q = &s->request;
    uint64_t cores = 1, repeat = 1, memory = 0;
    if (!verb_run_choices(a, q, error) || !verb_run_common_part(a, &s->part, q, error) ||
        !api_unsigned(a, "cores", 1, 64, &cores, error) || !api_unsigned(a, "memory", 1, 65536, &memory, error) ||
        !api_unsigned(a, "repeat", 1, 1000000, &repeat, error) || !api_quantity(a, "idle", "s", 0, 1e6, &q->idle_s, error))
        return false;
    if (q->idle_s > 0 && (verb_run_wants_device(s->context) || together_is(workload)))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("idle") ": of one workload at fixed clocks");
    q->workload = workload;
    q->unit = verb_run_units_read(a, workload, &s->units);
    q->precision = api_value(a, "precision");
    q->detail = api_value(a, "detail");
    q->kernels = api_value(a, "kernels");
    q->cores = (unsigned)cores;
    q->memory_gib = (unsigned)memory;
    q->home = api_value(a, "home");
    q->evict = api_has(a, "evict");
    q->cold = q->evict || api_has(a, "cold");
    q->repeat = (unsigned)repeat;
    q->seed = s->context->common.seed;
    q->threads = s->context->common.threads;
    q->output_folder = s->recording ? NULL : api_value(a, "output");
    q->sanitize = api_has(a, "sanitize");
    q->program_output = s->context->session->program_output;
    if (!verb_run_lists(a, q, &s->lists, error) || !verb_run_network_read(a, &s->network, q, error) ||
        !verb_run_language_read(a, &s->language, q, error) || !verb_run_program_read(s->context, &s->program, q, error))
        return false;
    /* What is in mounted files is known only by running. */
    s->rerun = api_has(a, "rerun") || s->record.trace || s->program.world.mounts || verb_run_network_wants_values(a);
    q->watch = s->record.trace ? trace_recorder_watch(s->record.trace) : NULL;
    s->explain = api_has(a, "explain");
    return (!together_is(workload) || run_network_are_joint(workload, q->unit) ||
            verb_run_parts_read(a, workload, s->record.trace, q, &s->parts, error)) &&
           verb_run_profile_read(s->context, s->recording != NULL, q, &s->assembly, error);
}

/* Option uncertainty: the interval is found by running the workload again and again. */
static bool read_uncertainty(struct session *s, struct orch_error *error)
{
    const struct api_args *a = &s->context->args;
    uint64_t runs = 0;
    if (!api_unsigned(a, "uncertainty", UNCERTAINTY_RUNS_LEAST, UNCERTAINTY_RUNS_MOST, &runs, error))
        return false;
    if (runs == 0)
        return true;
    if (s->request.known || api_has(a, "fitted") || verb_run_wants_device(s->context) || several(s))
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("uncertainty") ": of one workload at fixed clocks, not with " ORCH_OPTION(
                             "detail") " op or " ORCH_OPTION("fitted"));
    s->uncertainty = (struct uncertainty){.chips = s->context->chip_db,
                                          .sets = {s->context->common.sets, s->context->common.set_count},
                                          .runs = (unsigned)runs,
                                          .seed = s->request.seed};
    s->sampled = uncertainty_as_run(&s->uncertainty);
    s->request.uncertainty = &s->sampled;
    return true;
}

/* Looks for an equal earlier run; *found says whether *result has it. Programs that print or write files run again, because that
 * is part of what is asked. */
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
    if (run_values_get(&result->counters, RUN_COUNTER_OUTPUT) > 0 || run_values_get(&result->counters, RUN_COUNTER_FILES) > 0 ||
        (s->request.profile && !result->profile)) {
        run_result_free(result);
        run_result_init(result);
        return true;
    }
    *found = true;
    api_note(s->context,
             "run %lld of the database has the same chip, program and version (" ORCH_OPTION("rerun") " simulates again)",
             (long long)id);
    return api_record_found(&s->record, id, ++s->number, error);
}

static bool execute(void *run, struct event_bus *bus, uint64_t number, struct run_result *result, struct orch_error *error)
{
    return run_execute(run, bus, number, result, error);
}

static bool show(struct session *s, const struct run *run, const struct run_result *r, struct orch_error *error)
{
    struct api_context *c = s->context;
    if (api_wants_document(c))
        json_object_array_add(s->rows, run_json(r, s->request.chip));
    if (s->many)
        verb_run_table_line(s->table, r, &s->units, &s->request);
    if (!api_wants_text(c))
        return true;
    if (s->many)
        return verb_run_profile_show(c, r, s->assembly, error);
    if (!api_summary(c, r, s->explain ? 64 : 8, 4, error))
        return false;
    if (s->explain)
        run_explain(c->out, run, r);
    return verb_run_profile_show(c, r, s->assembly, error);
}

static bool one_unit(void *context, struct orch_error *error)
{
    struct session *const s = context;
    struct run_result result;
    bool found = false;
    if (s->record.trace && !trace_recorder_expect(s->record.trace, &(struct together_part){.request = s->request}, 1, error))
        return false;
    if (verb_run_wants_device(s->context))
        return verb_run_in_device(&s->record, &s->request, ++s->number, s->rows, error);
    if (several(s)) {
        const struct verb_together together = {&s->record, s->request.workload, &s->request, &s->parts, ++s->number, s->rows};
        return verb_run_together(&together, error);
    }
    struct run *run = run_prepare(&s->request, error);
    if (!run)
        return false;
    run_result_init(&result);
    bool ok = find_earlier(s, run, &result, &found, error) &&
              (found || api_record_run(&s->record, s->request.chip, execute, run, ++s->number, &result, error)) &&
              show(s, run, &result, error);
    s->exit_status = run_values_get(&result.counters, "program.exit_code");
    for (size_t i = 0; i < run_remark_count(run); i++)
        api_warn(s->context, "%s", run_remark(run, i));
    if (ok && run_values_get(&result.counters, RUN_COUNTER_AS_EXPECTED) < run_values_get(&result.counters, RUN_COUNTER_EXPECTED))
        s->differs = true;
    run_result_free(&result);
    run_free(run);
    return ok;
}

static bool one_chip(void *session, const struct chip *chip, struct orch_error *error)
{
    struct session *const s = session;
    s->request.chip = chip;
    verb_run_set_source(&s->context->common, s->context->chip_db, &s->source, &s->request);
    return verb_run_network_learn(&s->context->args, &s->network, s->record.db, &s->request, error) &&
           verb_run_units_each(s->context, &s->units, &s->request, one_unit, s, error);
}

static bool open_outputs(struct session *s, struct orch_error *error)
{
    s->rows = json_object_new_array();
    s->table = verb_run_table_create(&s->units);
    if (!s->rows)
        return orch_no_memory(error);
    const char *const trace = api_value(&s->context->args, "perfetto");
    s->record.context = s->context;
    s->record.db = db_open(s->context->common.db, DB_WRITE, error);
    s->record.perfetto = s->record.db && trace ? perfetto_listener_open(trace, error) : NULL;
    return s->record.db && (!trace || s->record.perfetto);
}

static bool open_known(struct session *s, struct orch_error *error)
{
    struct orch_db *db = NULL;
    if (!verb_run_network_db(&s->context->args, &s->request, &s->network, s->record.db, &db, error))
        return false;
    s->known = db ? known_create(db, error) : NULL;
    s->ask = known_as_run(s->known);
    s->request.known = s->known ? &s->ask : NULL;
    return s->known || !db;
}

static void show_all(struct session *s)
{
    if (api_wants_document(s->context))
        api_documents(s->context, json_object_get(s->rows));
    if (api_wants_text(s->context) && s->many && !several(s)) {
        api_table(s->context, s->table);
        s->table = NULL;
    }
}

/* With the values and choices that the fitted set has for this chip; those of the option set win. */
static bool one_fitted_chip(void *session, const struct chip *chip, struct orch_error *error)
{
    struct session *const s = session;
    struct api_common *const common = &s->context->common;
    const struct run_request asked = s->request;
    const struct chip_overrides given = {common->sets, common->set_count};
    struct fitted_sets sets;
    bool used;
    if (!fitted_sets_make(&s->fitted, chip_id(chip), &given, &sets, error))
        return false;
    struct chip *const fitted = chip_open(s->context->chip_db, chip_id(chip), &sets.overrides, error);
    fitted_apply(&s->fitted, chip_id(chip), &s->request, &used);
    if (!used)
        api_note(s->context, "set %s has nothing for %s on %s: it changes nothing", s->fitted.name, asked.workload,
                 chip_id(chip));
    common->sets = sets.overrides.text;
    common->set_count = sets.overrides.count;
    const bool ok = fitted && one_chip(s, fitted, error);
    common->sets = given.text;
    common->set_count = given.count;
    s->request = asked;
    chip_close(fitted);
    fitted_sets_free(&sets);
    return ok;
}

/* Opens the trace that is to be written. The request is read afterwards, since the level decides what is watched. */
static bool open_trace(struct session *s, const char *workload, struct orch_error *error)
{
    const struct api_context *c = s->context;
    const char *path = s->recording ? s->recording->path : api_value(&c->args, "trace");
    if (!path)
        return true;
    const struct trace_recorder_options options = {.level = s->recording ? s->recording->level : TRACE_LEVEL_OPERATOR,
                                                   .text = s->recording ? s->recording->text : verb_trace_is_text(path),
                                                   .chip = strchr(c->common.chips, ',') ? NULL : c->common.chips,
                                                   .workload = workload};
    s->record.trace = trace_recorder_create(path, &options, error);
    return s->record.trace != NULL;
}

static bool close_trace(struct session *s, bool ok, struct orch_error *error)
{
    ok = ok && (!s->record.trace || trace_recorder_finish(s->record.trace, error));
    trace_recorder_free(s->record.trace);
    s->record.trace = NULL;
    return ok;
}

int verb_run_record(struct api_context *context, int words, const char *const *word, const struct api_recording *record)
{
    struct session s = {.context = context, .recording = record};
    struct orch_error error = {0};
    struct api_chips chips = {0};
    char *workload = NULL;
    const bool objects = verb_run_program_words(&s.program, words, word);
    if (words > 0 && !verb_run_join_words(objects ? 1 : words, word, &workload))
        orch_no_memory(&error);
    if (words == 0 || (words > 1 && !objects && workload && !together_is(workload))) {
        free(workload);
        return verb_run_wrong_words(context, words, word);
    }
    bool ok = workload && open_trace(&s, workload, &error) && read_request(&s, workload, &error) &&
              api_chips_open(context, NULL, &chips, &error) && open_outputs(&s, &error) && open_known(&s, &error) &&
              read_uncertainty(&s, &error);
    if (ok && api_value(&context->args, "fitted"))
        ok = fitted_open(s.record.db, api_value(&context->args, "fitted"), &s.fitted, &error);
    s.many = chips.count > 1 || s.units.every || s.units.policies;
    ok = ok && verb_run_each_chip(context, &chips, s.fitted.name ? one_fitted_chip : one_chip, &s, &error);
    if (ok && s.record.perfetto) {
        ok = perfetto_listener_close(s.record.perfetto, &error);
        s.record.perfetto = NULL;
    }
    ok = close_trace(&s, ok, &error);
    if (ok)
        show_all(&s);
    perfetto_listener_discard(s.record.perfetto);
    json_object_put(s.rows);
    fitted_close(&s.fitted);
    table_free(s.table);
    known_free(s.known);
    db_close(s.record.db);
    api_chips_close(&chips);
    free(s.lists);
    verb_run_network_free(&s.network);
    verb_run_part_free(&s.part);
    verb_run_program_free(&s.program);
    verb_run_parts_free(&s.parts);
    free(workload);
    if (!ok)
        return api_fail(context, &error);
    return s.differs ? ORCH_FAILED : verb_run_program_code(&s.program, s.exit_status);
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    return words == 1 && verb_trace_is_file(word[0]) ? verb_trace_replay(context, word[0])
                                                     : verb_run_record(context, words, word, NULL);
}

const struct api_verb verb_run = {
    .help =
        {
            .name = "run",
            .synopsis = "KERNEL:SHAPE [options]\n"
                        "FILE [options]\nA.o B.o LIB.a ... [options]\n"
                        "A + B [+ C] [options]\n"
                        "K.metal [options] + K.cl [options] [+ ...]",
            .summary = "simulates a program or kernel on one chip or several",
            .text =
                "KERNEL:SHAPE is a kernel of the library (see orchard kernels); FILE is an AArch64 ELF executable or object,\n"
                "AMX words included, the description of a GPU launch (abi.json, or the folder that holds it), the source of a\n"
                "GPU kernel (.cl, .metal, .ll: see orchard compile), a Neural Engine program (.hwx, .anec, raw descriptors; gz\n"
                "too), a network (.onnx, .mlmodel, .mlpackage), a language model or encoder (.gguf, or transformers' folder) or\n"
                "model:NAME of orchard models. The answer is recorded in the performance database and found there again.\n"
                "Operators of networks run by kernels of the unit, or of the one predicted to be done first (auto).\n"
                "With + workloads run at the same time; each has options of its own in [ ] behind it: unit precision mode\n"
                "detail cores core entry home repeat buffers evict cold, priority=N and weight=X at what they share,\n"
                "start=SECONDS. Programs of the CPU get cores of their own. Networks on hybrid are planned together.\n"
                "GPU sources with + run in a row instead, one after another in one command buffer, and each has the options that "
                "stand behind it.\n"
                "An argument NAME=FORM names a buffer, which later arguments NAME are as well. A JSON file says the same: "
                "{\"buffers\": {NAME: FORM}, \"steps\": [{\"kernel\": FILE, \"entry\": .., \"grid\": .., \"group\": .., "
                "\"args\": [..], \"define\": [..]}], "
                "\"expect\": {NAME: FILE.npy}}.",
            .examples =
                "orchard run gemm:1024x1024x1024 --chip m1,m2,m3\n"
                "orchard run examples/models/digits.onnx --unit gpu --precision f16 --image examples/models/seven.png --mean "
                "127.5 --std 127.5 --labels examples/models/names.txt\n"
                "orchard run examples/cpu/words.elf --mount examples/cpu:/data -- /data/words.txt\n"
                "orchard run examples/cpu/kernels.o --entry saxpy --args 1024 --args 2.0f --args f32:1024:rand:1 --args "
                "f32:1024:rand:2\n"
                "orchard run examples/gpu/scale --chip m2-max --explain\n"
                "orchard run examples/gpu/saxpy.metal --entry saxpy --grid 4096 --group 256 --args f32:4096:rand:1 --args "
                "f32:4096:rand:2 --args 2f --args 4096 --profile\n"
                "orchard run examples/gpu/saxpy.metal --entry saxpy --grid 4096 --group 256 --args f32:4096:rand:1 --args "
                "y=f32:4096:rand:2 --args 2f --args 4096 + examples/gpu/saxpy.metal --entry peak --grid 4096 --group 256 --args "
                "y --args out:f32:16:peaks.npy\n"
                "orchard run examples/models/stories.gguf --prompt-text 'Once upon a time' --generate 32 --unit gpu --chip m1\n"
                "orchard run model:shufflenet-v2 --unit gpu --chip m1,m2 --mode timing\n"
                "orchard run model:qwen2.5-0.5b --unit gpu --precision q4_0 --prompt 32 --generate 4\n"
                "orchard run 'stream-triad:4M[unit=gpu]' + 'stream-triad:4M[unit=cpu,cores=4]' --chip m1",
            .options = option_table,
            .more_title = "ARGUMENTS OF FUNCTIONS (--args)",
            .more = program_args_help,
        },
    .ask = ask,
    .of_parts = verb_run_part_options,
};
