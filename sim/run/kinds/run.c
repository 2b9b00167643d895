#include "sim/base/suggest.h"
#include "isa/array_count.h"
#include "sim/run/run_internal.h"
#include "sim/network/encoder/encoder.h"
#include "sim/run/language/language_model.h"
#include "sim/run/run_progress.h"
#include "sim/base/host_time.h"
#include "sim/network/network.h"
#include "sim/workload/amx/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- preparing ---- */

static bool check_word(const char *option, const char *given, const char *const *known, size_t count, struct orch_error *error)
{
    struct suggest s;
    char phrase[96];
    if (!given)
        return true;
    suggest_start(&s, given);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(given, known[i]) == 0)
            return true;
        suggest_offer(&s, known[i]);
    }
    orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " %.60s: no such choice%s", option, given,
              suggest_phrase(&s, phrase, sizeof phrase));
    for (size_t i = 0; i < count; i++)
        orch_fail_more(error, "%s%s%s", i ? "|" : " (", known[i], i + 1 < count ? "" : ")");
    return false;
}

/* Which element types a workload has is known to it; how others call them is known here. */
static bool check_precision(const char *given, struct orch_error *error)
{
    static const char *const types[] = {"f64", "f32", "f16", "bf16", "i16", "i8", "i4", "q4_0", "q8_0"};
    struct suggest s;
    if (!given)
        return true;
    suggest_start(&s, given);
    for (size_t t = 0; t < ARRAY_COUNT(types); t++)
        suggest_offer(&s, types[t]);
    const char *const best = suggest_best(&s);
    const bool other_word = best && s.best_distance == 0 && strcmp(best, given) != 0;
    return !other_word ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("precision") " %.60s: no such type; did you mean %s?", given, best);
}

/* Words that mean the same for every workload. */
static bool check_words(const struct run_request *q, struct orch_error *error)
{
    static const char *const units[] = {"auto", "cpu", "amx", "gpu", "ane", "hybrid", "combined", "all"};
    static const char *const details[] = {"auto", "instr", "sampled", "op"};
    static const char *const homes[] = {"process", "elf"};
    return check_word("unit", q->unit, units, ARRAY_COUNT(units), error) &&
           check_word("detail", q->detail, details, ARRAY_COUNT(details), error) &&
           check_word("home", q->home, homes, ARRAY_COUNT(homes), error) && check_precision(q->precision, error);
}

/* Operators have a time, no values. */
static bool check_operator(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (!kernel_is_workload(q->workload) && !run->kind->composed)
        return orch_fail(error, ORCH_UNMODELLED,
                         ORCH_OPTION("detail") " op: %s is a program, not an operator; kernels are (orchard kernels)",
                         q->workload);
    if (q->watch)
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("detail") " op: an operator has no instructions to record");
    const char *const option = q->mode == RUN_FUNCTIONAL                ? "mode functional"
                               : q->input_count && !run->kind->composed ? "input"
                               : q->output_folder                       ? "output"
                               : q->sanitize                            ? "sanitize"
                               : q->profile                             ? "profile"
                                                                        : NULL;
    return !option ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") ": an operator (" ORCH_OPTION("detail") " op) has no values", option);
}

static bool check_repetitions(const struct run *run, struct orch_error *error)
{
    if (run->request->one_buffer && run->kind->part != PART_GPU)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("buffers") " one: only the GPU has command buffers");
    return !run->request->evict || run->request->cold ||
           orch_fail(error, ORCH_INTERNAL, "repetitions that start with empty caches begin with a cold one");
}

static bool check_profile(const struct run *run, struct orch_error *error)
{
    if (run->request->profile && run->kind->part != PART_GPU)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("profile") ": of GPU programs; %s is none", run->request->workload);
    return !run->request->profile || run->request->mode != RUN_FUNCTIONAL ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("profile") ": " ORCH_OPTION("mode") " functional has no time");
}

static bool check_choices(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (run->kind != &run_kind_gpu_source && !q->steps && !q->own_count && (q->source || q->launch))
        return orch_fail(error, ORCH_USAGE,
                         "%s: sizes of a launch and options for compiling belong to GPU sources (.cl, .metal, .ll)", q->workload);
    if ((q->passes || q->dim_count || q->images) && strcmp(run->kind->program_kind, "network") != 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to networks (.onnx, .mlmodel, .mlpackage); %s is none",
                         q->dim_count               ? "dim"
                         : q->images                ? "image"
                         : q->passes->without_count ? "no-pass"
                                                    : "opt",
                         q->workload);
    if (q->own_count && (run->kind != &run_kind_gpu_kernel || run_is_operator(q)))
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("kernel") " belongs to operators of the GPU library, and not to " ORCH_OPTION("detail") " op");
    if (q->language && !run_is_decoder(q) && !language_model_is(q->workload) && !language_model_generates(q->workload) &&
        !encoder_is(q->workload))
        return orch_fail(error, ORCH_USAGE, "prompts and tokens belong to language models (.gguf, model:NAME); %s is none",
                         q->workload);
    if (q->kernels && run->kind != &run_kind_language_gpu && (run->kind != &run_kind_gpu_kernel || q->own_count))
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("kernels") " belongs to operators of the GPU library, and does not go with " ORCH_OPTION("kernel"));
    if (q->unit && strcmp(q->unit, "all") == 0)
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("unit") " all: only kernels (KERNEL:SHAPE), networks and language models run on several units");
    if (!run_burst_check(run, error))
        return false;
    return (!run_is_operator(q) || check_operator(run, error)) && check_repetitions(run, error) && check_profile(run, error) &&
           run->kind->check(run, error);
}

struct run *run_prepare(const struct run_request *request, struct orch_error *error)
{
    struct run *const run = calloc(1, sizeof *run);
    if (!run) {
        orch_no_memory(error);
        return NULL;
    }
    run->request = request;
    run->progress = request->progress;
    run->kind = check_words(request, error) ? run_kind_of(run, error) : NULL;
    if (!run->kind || !run->kind->open(run, error) || !check_choices(run, error) ||
        !run_memory_fits(request->chip, request->memory_gib, request->workload, run_memory_need(run), error) ||
        !run_fill_begin(run, error)) {
        run_free(run);
        return NULL;
    }
    return run;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    if (run->kind && run->kind->close && run->work)
        run->kind->close(run);
    free(run->work);
    free(run->remark);
    free(run->detail);
    free(run->options);
    run_file_free(&run->file);
    free(run);
}

/* ---- what there is to know of a run ---- */

bool run_add_remark(struct run *run, const char *text, struct orch_error *error)
{
    char(*const grown)[RUN_REMARK_BYTES] = realloc(run->remark, (run->remarks + 1) * sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    run->remark = grown;
    snprintf(grown[run->remarks++], sizeof *grown, "%s", text);
    return true;
}

size_t run_remark_count(const struct run *run)
{
    return run->remarks;
}

const char *run_remark(const struct run *run, size_t index)
{
    return run->remark[index];
}

const struct event_run_begin *run_begin_event(const struct run *run)
{
    return &run->begin;
}

enum orch_part run_part(const struct run *run)
{
    return run->kind->part;
}

enum orch_part run_kernel_part(const struct run_request *request)
{
    const struct run_kind *const kind = run_kind_of_kernel(request);
    return kind ? kind->part : PART_AMX;
}

/* ---- executing ---- */

static bool fill_texts(const struct run *run, struct run_result *r, struct orch_error *error)
{
    const struct event_run_begin *const b = &run->begin;
    const bool ok = run_result_set_text(&r->chip, b->chip_id) && run_result_set_text(&r->workload, b->workload) &&
                    run_result_set_text(&r->unit, b->unit) && run_result_set_text(&r->precision, b->precision) &&
                    run_result_set_text(&r->detail, b->detail) && run_result_set_text(&r->mode, b->mode);
    return ok || orch_no_memory(error);
}

/* Kernels of the GPU find out themselves whether they need contents at all. */
static bool host_holds(const struct run *run, struct orch_error *error)
{
    return run->kind->part == PART_GPU || run_host_holds(run->request->workload, run_memory_need(run), "", error);
}

bool run_time(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    return host_holds(run, error) && fill_texts(run, result, error) && run_compression(run, m, error) &&
           run->kind->time_in(run, NULL, m, result, error) && run_burst(run, m, result, error) &&
           run->kind->account(run, m, result, error) && run_add_memory_use(run, m, result, error);
}

bool run_time_given(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                    struct orch_error *error)
{
    return run->kind->time_in(run, given, m, result, error) && run->kind->account(run, m, result, error) &&
           run_joules(run, m, result, error);
}

static bool tell_fitted(const struct run *run, struct run_result *result, struct orch_error *error)
{
    const char *const fitted = run->request->fitted;
    return !fitted || run_assumption_add(&result->assumptions, "fitted", "inferred", fitted) || orch_no_memory(error);
}

bool run_simulate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    const bool whole = !run->kind->composed && (run_is_operator(run->request) || run->request->known)
                           ? run_operator(run, m, result, error)
                           : run_time(run, m, result, error) && run_joules(run, m, result, error);
    return whole && tell_fitted(run, result, error);
}

bool run_execute(struct run *run, struct event_bus *bus, uint64_t number, struct run_result *result, struct orch_error *error)
{
    struct run_measure m = {0};
    struct orch_error own = {0};
    struct run_progress told;
    const struct work_progress *const listened = run_progress_begin(&told, bus, number, run->program_name);
    const double begun_s = host_seconds();
    run_emit_begin(run, bus, number);
    run->progress = listened ? listened : run->request->progress;
    const bool ok = run_simulate(run, &m, result, &own);
    result->host_seconds = host_seconds() - begun_s;
    run->progress = run->request->progress;
    run_emit_end(run, &m, ok ? result : NULL, &own, bus, number);
    run_measure_release(&m);
    if (!ok && error)
        *error = own;
    return ok;
}
