/* Kinds "language", "language-amx", "language-gpu", "language-ane", "language-hybrid" and "language-combined": a language model
 * that reads a prompt and goes on with it, by kernels of a unit, one after another; hybrid: the GPU reads, CPU cores go on;
 * combined: several units have its layers. A file generates text; with --mode timing, and for models without weights, kernels are
 * timed by shape.
 */
#include "sim/run/language/kind_language.h"

#include "sim/base/checksum.h"
#include "sim/base/format.h"
#include "sim/language/utf8.h"
#include "sim/run/language/language_batch.h"
#include "sim/run/language/language_draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GENERATE_USUALLY = 64, ROTATED_POSITIONS = 8192 };

bool language_is_timing(const struct run *run)
{
    const struct language_work *const w = run->work;
    return run->request->mode == RUN_TIMING || run_is_operator(run->request) || !language_model_has_weights(&w->model);
}

static enum orch_part part_named(const char *name)
{
    static const enum orch_part parts[] = {PART_CPU, PART_AMX, PART_GPU, PART_ANE};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(name, orch_part_name(parts[i])) == 0)
            return parts[i];
    return PART_COUNT;
}

struct language_parts language_parts(const struct run *run)
{
    const struct language_work *const w = run->work;
    const enum orch_part rest = run->kind->part;
    const enum orch_part prompt = w->options.prefill_unit                  ? part_named(w->options.prefill_unit)
                                  : run->kind == &run_kind_language_hybrid ? PART_GPU
                                                                           : rest;
    return (struct language_parts){prompt, rest};
}

enum orch_part language_draft_part(const struct run *run)
{
    const struct language_work *const w = run->work;
    return w->options.draft_unit ? part_named(w->options.draft_unit) : language_parts(run).rest;
}

bool language_is_combined(const struct run *run)
{
    return run->kind == &run_kind_language_combined;
}

double language_share(const struct run *run, const struct language_unit *unit)
{
    const struct language_shards *const shards = &((const struct language_work *)run->work)->shards;
    double sum = 0;
    for (unsigned i = 0; i < shards->count; i++)
        sum += language_unit_share(unit, shards->shard[i].part);
    if (shards->count)
        return sum;
    const struct language_parts parts = language_parts(run);
    return language_unit_share(unit, parts.rest) + (parts.prompt != parts.rest ? language_unit_share(unit, parts.prompt) : 0);
}

/* ---- opening ---- */

bool language_read_prompt(const struct language_work *w, struct token_list *prompt, struct orch_error *error)
{
    /* As transformers begins what Whisper says of English, without times. */
    static const char transcript[] = "<|startoftranscript|><|en|><|transcribe|><|notimestamps|>";
    const bool hears = language_hears(w);
    const char *const text = w->options.prompt_text ? w->options.prompt_text : hears ? transcript : "";
    const unsigned flags = hears ? TOKENIZE_SPECIAL : TOKENIZE_FRAME | (w->options.prompt_special ? TOKENIZE_SPECIAL : 0);
    size_t wrong;
    if (!utf8_is_valid(text, strlen(text), &wrong))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompt-text") ": no UTF-8 at byte %zu", wrong);
    if (!tokenizer_encode(w->model.tokenizer, text, strlen(text), flags, prompt, error))
        return false;
    return prompt->count ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompt-text") ": it has no tokens, and %s begins with none", w->model.name);
}

static bool check_context(struct language_work *w, uint64_t prompt, bool timing, struct orch_error *error)
{
    const struct language_shape *const s = &w->model.shape;
    const bool apart = s->family->encodes_text; /* the encoder has the prompt */
    const uint64_t tokens = apart && prompt > w->options.generate ? prompt : w->options.generate + (apart ? 0 : prompt);
    const unsigned most = w->options.context ? w->options.context : s->context;
    if (w->options.context > s->context)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("context") " %u: %s was made for %u tokens", w->options.context,
                         w->model.name, s->context);
    if (tokens > most)
        return orch_fail(error, ORCH_USAGE, "%llu tokens of the prompt and %u to generate do not fit the context of %u tokens",
                         (unsigned long long)prompt, w->options.generate, most);
    w->context = w->options.context ? w->options.context : apart ? w->options.generate : (unsigned)tokens;
    if (s->window && !s->family->sinks && prompt > s->window && timing)
        return orch_fail(error, ORCH_UNMODELLED,
                         "%s attends to %u tokens at most; the prompt has %llu, and kernels of prompts have no window",
                         w->model.name, s->window, (unsigned long long)prompt);
    return s->rope == SHAPE_ROPE_NONE || tokens <= ROTATED_POSITIONS ||
           orch_fail(error, ORCH_UNMODELLED, "%llu tokens: kernels rotate %d positions", (unsigned long long)tokens,
                     (int)ROTATED_POSITIONS);
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct language_work *const w = run->work = calloc(1, sizeof *w);
    if (!w)
        return orch_no_memory(error);
    if (!language_model_open(q->workload, &w->model, error))
        return false;
    snprintf(run->program_name, sizeof run->program_name, "%.200s", w->model.name);
    if (q->language)
        w->options = *q->language;
    if (w->options.prompt_ids && strchr(w->options.prompt_ids, ','))
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("prompt") " %.60s: numbers of tokens are for decoders in ONNX; %s takes " ORCH_OPTION(
                             "prompt-text") ", or for time alone so many tokens",
                         w->options.prompt_ids, w->model.name);
    if (w->options.layers && !language_is_combined(run))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("layers") " %s: of several units (" ORCH_OPTION("unit") " combined)",
                         w->options.layers);
    if (!language_cache_form_read(w->options.kv_cache, &w->cache, error) ||
        (w->options.layers && !language_shards_read(w->options.layers, w->model.shape.layers, &w->shards, error)))
        return false;
    w->options.generate = w->options.generate ? w->options.generate : GENERATE_USUALLY;
    if (w->options.prompt_alone)
        w->options.generate = 0;
    if (language_is_timing(run))
        return check_context(w, w->options.prompt, true, error);
    if (w->model.shape.family->encoder && !language_check_encoder(run, error))
        return false;
    if (language_batch_is_wanted(w, q))
        return language_batch_open(w, q, error) && check_context(w, language_batch_longest(w->batch), false, error);
    return language_sound_open(w, q, error) && language_read_prompt(w, &w->prompt, error) &&
           check_context(w, w->prompt.count, false, error) && language_draft_open(w, error);
}

static void close_workload(struct run *run)
{
    struct language_work *const w = run->work;
    language_batch_close(w->batch);
    free(w->sound);
    token_list_free(&w->prompt);
    token_list_free(&w->tokens);
    token_text_free(&w->text);
    language_model_close(&w->model);
    language_model_close(&w->draft);
}

const struct block_format *language_format(const struct run *run, struct orch_error *error)
{
    const struct language_work *const w = run->work;
    const char *const asked = run->request->precision;
    const struct decoder_layer *const first = w->model.weights ? decoder_layer_at(w->model.weights, 0) : NULL;
    const struct block_format *const own = first ? first->up.tensor->format : block_format_named("f16");
    const struct block_format *const format = asked ? block_format_named(asked) : own;
    if (!format)
        orch_fail(error, ORCH_USAGE, ORCH_OPTION("precision") " %s: no format of weights (orchard models lists them)", asked);
    return format;
}

const struct block_format *language_stored(const struct run *run, const struct block_format *format)
{
    return run->kind->part == PART_ANE ? block_format_named("f16") : format;
}

static uint64_t hash(const struct run *run)
{
    const struct language_work *const w = run->work;
    const struct language_options *const o = &w->options;
    const struct language_parts parts = language_parts(run);
    const uint32_t numbers[] = {o->prompt,         o->generate,  w->context, o->sampling.repetition_last,
                                o->sampling.top_k, parts.prompt, parts.rest};
    const double shares[] = {o->sampling.repetition_penalty, o->sampling.top_p, o->sampling.min_p, o->sampling.temperature};
    uint64_t h = checksum_add(CHECKSUM_START, run->request->workload, strlen(run->request->workload));
    h = checksum_add(checksum_add(h, numbers, sizeof numbers), shares, sizeof shares);
    if (w->prompt.count)
        h = checksum_add(h, w->prompt.token, w->prompt.count * sizeof *w->prompt.token);
    h = language_model_checksum(h, &w->model);
    if (w->sound)
        h = checksum_add(h, w->sound, language_sound_values(w) * sizeof *w->sound);
    if (w->batch)
        h = language_batch_checksum(h, w);
    h = checksum_add(checksum_add(h, &o->sequences, sizeof o->sequences), &o->batch, sizeof o->batch);
    for (unsigned i = 0; i < o->stops; i++)
        h = checksum_add(h, o->stop[i], strlen(o->stop[i]) + 1);
    if (o->kv_cache)
        h = checksum_add(h, o->kv_cache, strlen(o->kv_cache));
    if (o->layers)
        h = checksum_add(h, o->layers, strlen(o->layers));
    if (language_is_combined(run)) /* another way for the same parts */
        h = checksum_add(h, "combined", 8);
    if (o->prompt_cache)
        h = checksum_add(h, o->prompt_cache, strlen(o->prompt_cache));
    if (o->draft) {
        const uint32_t draft[] = {o->draft_tokens, language_draft_part(run)};
        h = language_model_checksum(checksum_add(h, draft, sizeof draft), &w->draft);
    }
    return h;
}

/* The type of most weights. */
static const char *precision(const struct run *run)
{
    const struct language_work *const w = run->work;
    struct orch_error unused = {0};
    const struct block_format *const format = language_format(run, &unused);
    (void)w;
    return format ? format->name : NULL;
}

static double bytes(const struct run *run)
{
    const struct language_work *const w = run->work;
    const double cache = (double)shape_cache_bytes(&w->model.shape, 4) * w->context;
    return language_model_has_weights(&w->model) && !language_is_timing(run)
               ? (double)language_model_file_bytes(&w->model) + cache
               : 0;
}

/* ---- numbers ---- */

static bool time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *r,
                    struct orch_error *error)
{
    (void)given;
    struct language_work *const w = run->work;
    struct orch_error unused = {0};
    const bool ok = (language_is_timing(run) ? language_time
                     : w->batch              ? language_batch_generate
                                             : language_generate)(run, m, r, error);
    /* What the draft is good for: half of what was generated lies behind the token in the mean. */
    if (ok && w->options.draft && w->decoded && run->request->mode != RUN_FUNCTIONAL && !w->model.shape.family->encoder &&
        !language_time_alone(run, (unsigned)w->prompt.count + w->decoded / 2, &w->alone_seconds, &unused))
        w->alone_seconds = 0;
    return ok;
}

/* Where only shapes are known: what another type than was asked for changes. */
static bool tell_stored(const struct run *run, struct run_assumptions *list)
{
    struct orch_error unused = {0};
    char text[200];
    const struct block_format *const format = language_format(run, &unused);
    if (!format || language_stored(run, format) == format)
        return true;
    snprintf(text, sizeof text,
             "weights in %s are rounded to f16 for the Neural Engine, which takes their room and traffic; none changes by more "
             "than %.2g of itself",
             format->name, 0x1p-11);
    return run_assumption_add(list, "f16", "inferred", text);
}

static bool tell(const struct run *run, const struct language_work *w, struct run_result *r)
{
    struct run_assumptions *const list = &r->assumptions;
    const char *const caches = run->request->cold ? "each kernel starts with empty caches"
                                                  : "each kernel finds the caches as a run of it before has left them";
    if (language_is_timing(run))
        return tell_stored(run, list) &&
               run_assumption_add(list, "interval", "inferred",
                                  "intervals of all kernels are taken to go up and down together") &&
               (run->kind->part != PART_GPU ||
                run_assumption_add(
                    list, "launches", "inferred",
                    "the kernels of a pass are one command buffer, in which each waits for the one before it (gpu.between_us)"));
    char layers[80];
    language_shards_write(&w->shards, layers, sizeof layers);
    return (!w->shards.count || run_assumption_add(list, "layers", "inferred", layers)) &&
           language_halves_tell(&w->halves, list) &&
           run_assumption_add(list, "prompt", "inferred", "tokens of the prompt go through together, up to 512 at a time") &&
           (!language_hears(w) ||
            run_assumption_add(list, "sound", "inferred", "the spectrogram is in memory: making it takes no time")) &&
           run_assumption_add(
               list, "cache", "inferred",
               w->cache.type && w->cache.type->values > 1
                   ? "keys and values are q8_0: kernels round them when they write them where attention reads"
               : w->cache.type ? "keys and values are float16: kernels round them when they write them where attention reads"
               : run->kind->part == PART_ANE ? "keys and values are float16; kernels write them where attention reads"
                                             : "keys and values are float32; kernels write them where attention reads") &&
           run_assumption_add(list, "choice", "inferred", "choosing a token from the logits takes no time") &&
           (!w->options.prompt_cache ||
            run_assumption_add(list, "prompt cache", "inferred",
                               "keys and values that the file has are in memory: reading the file takes no time")) &&
           (!w->options.draft ||
            run_assumption_add(
                list, "draft", "inferred",
                "the draft proposes tokens, then the model reads them in one pass: one after the other, never both "
                "at a time")) &&
           (run->request->mode == RUN_FUNCTIONAL ||
            (run_assumption_add(
                 list, "shapes", "inferred",
                 "every kernel is executed; it is timed once for each shape, and a step is the sum of its kernels") &&
             run_assumption_add(list, "caches", "inferred", caches) &&
             run_assumption_add(list, "interval", "inferred", "intervals of all kernels are taken to go up and down together") &&
             (run->kind->part != PART_GPU || run_assumption_add(list, "launches", "inferred",
                                                                "the kernels of a pass are one command buffer, in which each "
                                                                "waits for the one before it (gpu.between_us)")))) &&
           w != NULL;
}

/* Of all sequences. */
static uint64_t prompt_tokens(const struct language_work *w)
{
    const uint64_t copies = w->options.batch > 1 ? w->options.batch : 1;
    return w->batch ? language_batch_tokens(w->batch) : w->prompt.count + copies * w->options.prompt;
}

static bool add_counters(const struct language_work *w, struct run_result *r)
{
    const double tokens = (double)w->decoded;
    bool ok = (!w->options.prompt_cache || run_values_add(&r->counters, LANGUAGE_CACHED_TOKENS, w->cached)) &&
              run_values_add(&r->counters, LANGUAGE_PROMPT_TOKENS, (double)prompt_tokens(w)) &&
              run_values_add(&r->counters, LANGUAGE_GENERATED_TOKENS, (double)(w->tokens.count ? w->tokens.count : w->decoded)) &&
              run_values_add(&r->counters, LANGUAGE_WEIGHT_BYTES, (double)w->weight_bytes) &&
              run_values_add(&r->counters, LANGUAGE_CACHE_BYTES, (double)w->cache_bytes) &&
              run_values_add(&r->counters, "language.kernels", (double)(w->prefill.kernels + w->decode.kernels));
    ok = ok && language_room_count(w, r);
    if (ok && w->shards.count && w->lost_seconds > 0)
        ok = run_values_add(&r->counters, LANGUAGE_LOST_SECONDS, w->lost_seconds);
    if (ok && w->batch)
        ok = run_values_add(&r->counters, LANGUAGE_PASSES, (double)w->passes);
    if (ok && w->options.draft)
        ok = run_values_add(&r->counters, LANGUAGE_DRAFT_PROPOSED, (double)w->proposed) &&
             run_values_add(&r->counters, LANGUAGE_DRAFT_ACCEPTED, (double)w->accepted) &&
             run_values_add(&r->counters, LANGUAGE_DRAFT_PASSES, (double)w->passes) &&
             (w->alone_seconds <= 0 || run_values_add(&r->counters, LANGUAGE_DRAFT_WITHOUT, 1 / w->alone_seconds));
    if (ok && isfinite(r->joules))
        ok = run_values_add(&r->counters, LANGUAGE_PREFILL_JOULES, w->prefill.joules) &&
             (w->decoded == 0 || run_values_add(&r->counters, LANGUAGE_TOKEN_JOULES, w->decode.joules / tokens));
    return ok;
}

static bool account(struct run *run, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const struct language_work *const w = run->work;
    struct language_sum all = w->prefill;
    language_sum_add(&all, &w->decode);
    r->host_seconds = m->host_seconds;
    r->flops = all.flops;
    r->macs = all.macs;
    bool ok = run_result_set_text(&r->detail, language_is_timing(run) ? "op" : "instr") &&
              (language_is_timing(run) || language_write_generation(w, r)) && tell(run, w, r);
    if (ok && run->request->mode != RUN_FUNCTIONAL) {
        const uint64_t *const n = m->activity.count;
        r->seconds = all.seconds;
        r->seconds_low = all.seconds_low;
        r->seconds_high = all.seconds_high;
        r->overhead_seconds = all.launch_seconds;
        r->device_seconds = all.seconds - all.launch_seconds;
        r->gflops = r->seconds > 0 ? r->flops / r->seconds * 1e-9 : NAN;
        r->dram_bytes = (double)(n[ACT_DRAM_READ_BYTES] + n[ACT_DRAM_WRITE_BYTES]);
        r->dram_gbps = r->seconds > 0 ? r->dram_bytes / r->seconds * 1e-9 : NAN;
        r->joules = all.joules;
        r->joules_low = all.joules_low;
        r->joules_high = all.joules_high;
        r->watts_avg = r->joules / r->seconds;
        r->prefill_seconds = w->prefill.seconds;
        if (w->decoded && w->decode.seconds > 0)
            r->tokens_per_second = w->decoded / w->decode.seconds;
        run->energy.profile = w->profile;
        run->energy.profile.flops = r->flops;
        run->has_energy = w->has_profile;
        ok = run_values_add(&r->counters, LANGUAGE_DECODE_SECONDS, w->decode.seconds);
    }
    return (ok && add_counters(w, r)) || orch_no_memory(error);
}

/* ---- in words ---- */

static void explain(FILE *out, const struct run *run, const struct run_result *r)
{
    const struct language_work *const w = run->work;
    char a[FORMAT_SIZE], b[FORMAT_SIZE];
    if (run->request->mode != RUN_FUNCTIONAL && w->decoded) {
        fprintf(out, "first token  %s for %llu tokens of %s, %s\n", format_si(a, w->prefill.seconds, "s"),
                (unsigned long long)prompt_tokens(w), w->batch || w->options.batch > 1 ? "all prompts" : "the prompt",
                format_si(b, w->prefill.joules, "J"));
        fprintf(out, "each token   %s, %s, in the mean of %u\n", format_si(a, w->decode.seconds / w->decoded, "s"),
                format_si(b, w->decode.joules / w->decoded, "J"), w->decoded);
    }
    fprintf(out, "kernels      unit, kernel, what limits it; each shape once\n");
    for (size_t k = 0; k < r->placement.count; k++) {
        const struct run_placement *const p = &r->placement.item[k];
        fprintf(out, "  %-16.16s %-4s %s; %s\n", p->op, p->unit, p->kernel, p->why);
    }
}

#define KIND(row, title, its_part, its_unit)                                                                                     \
    const struct run_kind row = {                                                                                                \
        .name = title,                                                                                                           \
        .program_kind = "network",                                                                                               \
        .part = its_part,                                                                                                        \
        .unit = its_unit,                                                                                                        \
        .may_sample = true,                                                                                                      \
        .needs_values = true,                                                                                                    \
        .composed = true,                                                                                                        \
        .sums_joules = true,                                                                                                     \
        .open = open_workload,                                                                                                   \
        .close = close_workload,                                                                                                 \
        .check = language_check,                                                                                                 \
        .hash = hash,                                                                                                            \
        .precision = precision,                                                                                                  \
        .bytes = bytes,                                                                                                          \
        .work = run_work_any,                                                                                                    \
        .time_in = time_in,                                                                                                      \
        .account = account,                                                                                                      \
        .explain = explain,                                                                                                      \
    }
KIND(run_kind_language, "language", PART_CPU, NULL);
KIND(run_kind_language_amx, "language-amx", PART_AMX, NULL);
KIND(run_kind_language_gpu, "language-gpu", PART_GPU, NULL);
KIND(run_kind_language_ane, "language-ane", PART_ANE, NULL);
KIND(run_kind_language_hybrid, "language-hybrid", PART_CPU, "hybrid");
KIND(run_kind_language_combined, "language-combined", PART_CPU, "combined");
