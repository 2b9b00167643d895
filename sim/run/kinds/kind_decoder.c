/* Kinds "decoder", "decoder-cpu", "decoder-amx", "decoder-gpu" and "decoder-ane": an ONNX file that goes on with a text
 * (decoder_graph.h). Each step is a run of the network on values, of its kernels as networks have them; the text takes as long as
 * all steps. */
#include "sim/base/checksum.h"
#include "sim/language/gguf.h"
#include "sim/language/sampler.h"
#include "sim/language/tokenizer.h"
#include "sim/language/vocabulary_beside.h"
#include "sim/network/network.h"
#include "sim/run/language/decoder_internal.h"
#include "sim/run/language/language_options.h"
#include "sim/run/run_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GENERATE_USUALLY = 64, PROMPT_MOST = 1 << 16 };

bool run_is_decoder(const struct run_request *q)
{
    const char *const dot = strrchr(q->workload, '.');
    return q->language && dot && strcmp(dot, ".onnx") == 0;
}

/* ---- opening ---- */

/* "5,17,3": tokens by their numbers. */
static bool read_numbers(struct decoding *w, const char *text, struct orch_error *error)
{
    for (const char *at = text; *at;) {
        char *end;
        const unsigned long number = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end && *end != ',') || number > INT32_MAX || w->prompt.count == PROMPT_MOST)
            return orch_fail(error, ORCH_USAGE,
                             ORCH_OPTION("prompt") " %.60s: numbers of tokens with commas, as 5,17,3; up to %d", text,
                             (int)PROMPT_MOST);
        if (!token_list_add(&w->prompt, (uint32_t)number, error))
            return false;
        at = end + (*end == ',');
    }
    return true;
}

static bool read_prompt(struct decoding *w, const struct run_request *q, struct orch_error *error)
{
    const char *const text = w->options.prompt_text;
    if (text && !w->vocabulary)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("prompt-text") ": there is no tokenizer.json beside %s; " ORCH_OPTION(
                             "prompt") " 5,17,3 gives numbers of tokens",
                         q->workload);
    if (text &&
        !tokenizer_encode(vocabulary_beside_tokenizer(w->vocabulary), text, strlen(text), TOKENIZE_FRAME, &w->prompt, error))
        return false;
    if (!text && w->options.prompt_ids && !read_numbers(w, w->options.prompt_ids, error))
        return false;
    return w->prompt.count ||
           orch_fail(error, ORCH_USAGE,
                     "%s: a prompt is missing (" ORCH_OPTION("prompt") " 5,17,3 or " ORCH_OPTION("prompt-text") ")", q->workload);
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct decoding *const w = run->work = calloc(1, sizeof *w);
    const char *const slash = strrchr(q->workload, '/');
    if (!w)
        return orch_no_memory(error);
    snprintf(run->program_name, sizeof run->program_name, "%.200s", slash ? slash + 1 : q->workload);
    w->options = *q->language;
    w->options.generate = w->options.generate ? w->options.generate : GENERATE_USUALLY;
    w->model = net_import(q->workload, error);
    return w->model && decoder_graph_read(w->model, &w->graph, error) &&
           vocabulary_beside_open(q->workload, &w->vocabulary, error) && read_prompt(w, q, error);
}

static void forget(struct decoding *w)
{
    for (unsigned i = 0; i < DECODER_KEPT; i++) {
        net_array_release(w->kept[i]);
        w->kept[i] = NULL;
    }
    w->past = w->history.count = w->tokens.count = w->text.length = 0;
    w->prefill = w->decode = (struct steps){.count = 0};
    w->stalled_s = w->used_s = 0;
}

static void close_workload(struct run *run)
{
    struct decoding *const w = run->work;
    forget(w);
    token_list_free(&w->prompt);
    token_list_free(&w->tokens);
    token_list_free(&w->history);
    token_text_free(&w->text);
    vocabulary_beside_close(w->vocabulary);
    net_model_free(w->model);
}

static bool check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const struct language_options *const o = q->language;
    const char *const option = o->prompts             ? "prompts"
                               : o->batch             ? "batch"
                               : o->sequences         ? "sequences"
                               : o->draft             ? "draft"
                               : o->kv_cache          ? "kv-cache"
                               : o->prompt_cache      ? "prompt-cache"
                               : o->prefill_unit      ? "prefill-unit"
                               : o->layers            ? "layers"
                               : o->stops             ? "stop"
                               : o->context           ? "context"
                               : q->images            ? "image"
                               : q->dim_count         ? "dim"
                               : q->input_count       ? "input"
                               : q->output_folder     ? "output"
                               : q->build             ? "output"
                               : q->watch             ? "trace"
                               : run_repeats(run) > 1 ? "repeat"
                               : q->uncertainty       ? "uncertainty"
                                                      : NULL;
    if (option)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") ": not of decoders in ONNX; %s is one", option, q->workload);
    if (o->prompt_alone)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("generate") " 0: nothing would be said");
    return (q->mode != RUN_TIMING && !run_is_operator(q)) ||
           orch_fail(error, ORCH_USAGE,
                     ORCH_OPTION("mode") " timing: which tokens follow depends on values; %s has times of its steps with them "
                                         "(" ORCH_OPTION("mode") " full)",
                     q->workload);
}

static uint64_t hash(const struct run *run)
{
    const struct decoding *const w = run->work;
    const struct sampler_params *const s = &w->options.sampling;
    const uint32_t numbers[] = {w->options.generate, s->repetition_last, s->top_k};
    const double shares[] = {s->repetition_penalty, s->top_p, s->min_p, s->temperature};
    uint64_t h = checksum_add(checksum_add(CHECKSUM_START, numbers, sizeof numbers), shares, sizeof shares);
    h = checksum_add(h, w->prompt.token, w->prompt.count * sizeof *w->prompt.token);
    for (size_t i = 0; i < w->model->values; i++) {
        const struct net_array *const a = w->model->value[i].constant;
        if (a && !a->blank)
            h = checksum_add(h, a->data, net_array_bytes(a));
    }
    for (size_t i = 0; i < w->model->graph->nodes; i++)
        h = checksum_add(h, w->model->graph->node[i]->op, strlen(w->model->graph->node[i]->op));
    return h;
}

static const char *precision(const struct run *run)
{
    return run->request->precision ? run->request->precision : run->kind->part == PART_ANE ? "f16" : "f32";
}

/* ---- steps ---- */

static void add_step(struct steps *s, const struct run_result *r)
{
    s->seconds += r->seconds;
    s->low += r->seconds_low;
    s->high += r->seconds_high;
    s->device_s += r->device_seconds;
    s->overhead_s += r->overhead_seconds;
    s->joules += r->joules;
    s->joules_low += r->joules_low;
    s->joules_high += r->joules_high;
    s->flops += r->flops;
    s->macs += r->macs;
    s->dram_bytes += r->dram_bytes;
    s->count++;
}

/* Of the prompt, and of the first step behind it. */
static bool take_placement(const struct run_result *from, struct run_result *to)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->placement.count; i++) {
        const struct run_placement *const p = &from->placement.item[i];
        ok = run_placement_add(&to->placement, p->op, p->unit, p->kernel, p->why);
    }
    return ok;
}

/* Shares of time are weighed by it. */
static bool add_shares(struct decoding *w, const struct run_result *from, struct run_result *to)
{
    bool ok = true;
    if (!(from->seconds > 0))
        return true;
    w->used_s += from->seconds;
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        if (!isnan(from->utilisation[i]))
            to->utilisation[i] = (isnan(to->utilisation[i]) ? 0 : to->utilisation[i]) + from->seconds * from->utilisation[i];
    for (size_t i = 0; ok && i < from->stalls.count; i++) {
        w->stalled_s += from->seconds * from->stalls.item[i].value;
        ok = run_values_add(&to->stalls, from->stalls.item[i].name, from->seconds * from->stalls.item[i].value);
    }
    return ok;
}

static void finish_shares(const struct decoding *w, struct run_result *r)
{
    double most = 0;
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        r->utilisation[i] /= w->used_s;
    for (size_t i = 0; i < r->stalls.count; i++) {
        r->stalls.item[i].value /= w->stalled_s > 0 ? w->stalled_s : 1;
        if (r->stalls.item[i].value <= most)
            continue;
        most = r->stalls.item[i].value;
        run_result_set_text(&r->bound_by, r->stalls.item[i].name);
    }
}

/* A run of the network over these tokens; `output` gets its outputs. */
static bool run_network_step(const struct run *run, struct decoding *w, const uint32_t *token, size_t count, struct steps *sum,
                             struct net_array **output, struct run_result *result, struct orch_error *error)
{
    const struct net_graph *const g = w->model->graph;
    struct net_array **const input = calloc(g->inputs + 1, sizeof *input);
    struct run_request q = *run->request;
    struct run_measure m = {0};
    struct run_result r;
    run_result_init(&r);
    const struct run_network_arrays arrays = {input, output, w->model};
    q.language = NULL;
    q.program_output = NULL;
    q.inner = true;
    q.progress = NULL;
    q.arrays = &arrays;
    bool ok =
        input ? decoder_graph_inputs(w->model, &w->graph, token, count, w->past, w->kept, input, error) : orch_no_memory(error);
    struct run *const step = ok ? run_prepare(&q, error) : NULL;
    ok = step && run_simulate(step, &m, &r, error);
    if (ok) {
        add_step(sum, &r);
        result->host_seconds += r.host_seconds;
        ok = (add_shares(w, &r, result) && (sum->count > 1 || take_placement(&r, result))) || orch_no_memory(error);
    }
    run_free(step);
    run_measure_release(&m);
    run_result_free(&r);
    for (size_t k = 0; input && k < g->inputs; k++)
        net_array_release(input[k]);
    free(input);
    return ok;
}

/* What is kept becomes the past, and the values behind the last token are handed out. */
static bool take_outputs(struct decoding *w, struct net_array *const *output, size_t read, float **logits, unsigned *vocabulary,
                         struct orch_error *error)
{
    const struct net_array *const l = output[w->graph.logits];
    if (l->dims != 3 || l->shape[0] != 1 || l->shape[1] < 1)
        return orch_fail(error, ORCH_USAGE, "%s: output 'logits' is no [batch][tokens][vocabulary]", w->model->path);
    const int64_t columns = l->shape[2], first = (l->shape[1] - 1) * columns;
    for (unsigned i = 0; i < w->graph.kept; i++) {
        struct net_array *const a = output[w->graph.present[i]];
        if (a->dims != 4 || a->shape[1] != w->graph.heads[i] || a->shape[2] != (int64_t)(w->past + read) ||
            a->shape[3] != w->graph.depth[i])
            return orch_fail(error, ORCH_USAGE, "%s: output 'present.%u.%s' is no past of %zu tokens for the next step",
                             w->model->path, i / 2, i % 2 ? "value" : "key", w->past + read);
        net_array_release(w->kept[i]);
        w->kept[i] = net_array_retain(a);
    }
    float *const grown = realloc(*logits, sizeof **logits * (size_t)(columns > 0 ? columns : 1));
    if (!grown)
        return orch_no_memory(error);
    *logits = grown;
    *vocabulary = (unsigned)columns;
    for (int64_t i = 0; i < columns; i++)
        grown[i] = (float)net_array_double(l, first + i);
    w->past += w->graph.kept ? read : 0;
    return true;
}

/* Tokens that have not been read: all that there are where nothing is kept. */
static bool step(const struct run *run, struct decoding *w, struct steps *sum, float **logits, unsigned *vocabulary,
                 struct run_result *result, struct orch_error *error)
{
    const size_t outputs = w->model->graph->outputs, read = w->history.count - w->past;
    struct net_array **const output = calloc(outputs + 1, sizeof *output);
    if (!output)
        return orch_no_memory(error);
    const bool ok = run_network_step(run, w, w->history.token + w->past, read, sum, output, result, error) &&
                    take_outputs(w, output, read, logits, vocabulary, error);
    for (size_t k = 0; k < outputs; k++)
        net_array_release(output[k]);
    free(output);
    return ok;
}

/* ---- the text ---- */

static bool show(const struct run *run, struct decoding *w, uint32_t token, bool generated, struct orch_error *error)
{
    FILE *const out = run->request->program_output;
    const size_t before = w->text.length;
    if (w->vocabulary && !token_stream_add(&w->stream, token, &w->text, error))
        return false;
    if (out && w->vocabulary && w->text.length > before)
        fwrite(w->text.text + before, 1, w->text.length - before, out);
    else if (out && !w->vocabulary && generated)
        fprintf(out, "%s%u", w->tokens.count ? " " : "", token);
    if (out)
        fflush(out);
    return true;
}

static bool add_token(const struct run *run, struct decoding *w, uint32_t token, bool generated, struct orch_error *error)
{
    return token_list_add(&w->history, token, error) && show(run, w, token, generated, error) &&
           (!generated || token_list_add(&w->tokens, token, error));
}

static bool generate(struct run *run, struct decoding *w, struct run_result *result, struct orch_error *error)
{
    const struct tokenizer *const tokenizer = w->vocabulary ? vocabulary_beside_tokenizer(w->vocabulary) : NULL;
    struct sampler *sampler = NULL;
    float *logits = NULL;
    unsigned vocabulary = 0;
    bool ok = true, ended = false;
    forget(w);
    w->stop = "count";
    if (tokenizer)
        token_stream_start(&w->stream, tokenizer, true);
    for (size_t i = 0; ok && i < w->prompt.count; i++)
        ok = add_token(run, w, w->prompt.token[i], false, error);
    while (ok && !ended) {
        work_progress_tell(run->progress, "generating", (double)w->tokens.count / w->options.generate,
                           1e9 * (w->prefill.seconds + w->decode.seconds));
        ok = step(run, w, w->tokens.count ? &w->decode : &w->prefill, &logits, &vocabulary, result, error);
        if (ok && !sampler)
            ok = (sampler = sampler_create(&w->options.sampling, vocabulary, run->request->seed, error)) != NULL;
        if (!ok)
            break;
        const uint32_t next = sampler_next(sampler, logits, w->history.token, w->history.count);
        ok = add_token(run, w, next, true, error);
        if (tokenizer && tokenizer_ends(tokenizer, next))
            w->stop = "eos";
        ended = w->tokens.count >= w->options.generate || (tokenizer && tokenizer_ends(tokenizer, next));
    }
    ok = ok && (!tokenizer || token_stream_end(&w->stream, &w->text, error));
    if (ok && run->request->program_output)
        fputc('\n', run->request->program_output);
    sampler_free(sampler);
    free(logits);
    return ok;
}

static bool time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *r,
                    struct orch_error *error)
{
    struct decoding *const w = run->work;
    (void)given;
    const bool ok = generate(run, w, r, error);
    m->host_seconds = r->host_seconds;
    finish_shares(w, r);
    m->end_ns = 1e9 * (w->prefill.seconds + w->decode.seconds);
    return ok && (run_result_set_text(&run->detail, "instr") || orch_no_memory(error));
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
        .check = check,                                                                                                          \
        .hash = hash,                                                                                                            \
        .precision = precision,                                                                                                  \
        .work = run_work_any,                                                                                                    \
        .time_in = time_in,                                                                                                      \
        .account = decoder_account,                                                                                              \
    }
KIND(run_kind_decoder, "decoder", PART_CPU, "auto");
KIND(run_kind_decoder_cpu, "decoder-cpu", PART_CPU, NULL);
KIND(run_kind_decoder_amx, "decoder-amx", PART_AMX, NULL);
KIND(run_kind_decoder_gpu, "decoder-gpu", PART_GPU, NULL);
KIND(run_kind_decoder_ane, "decoder-ane", PART_ANE, NULL);
