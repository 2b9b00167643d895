/* A prompt and the steps behind it without values: kernels by their shapes, each timed as `orchard run KERNEL:SHAPE` times it.
 *
 * Of a step only attention and biases by distance depend on the context: they are timed at its begin, its middle and its end, and
 * in between the time lies on the line through its neighbours. Everything else is timed once.
 */
#include "sim/chip/chip_units.h"
#include "sim/run/language/language_step_internal.h"
#include "sim/run/language/language_time_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 3, WIDENED_MOST = 1 << 24 };

/* ---- memory ---- */

/* Keys and values of a token: in the format that was asked for, in halves with ggml's kernels, else as values are. */
static double cache_bytes(const struct run *run, const struct block_format *format)
{
    const struct language_work *const w = run->work;
    const char *const kernels = run->kind->part == PART_GPU ? run->request->kernels : NULL;
    const struct block_format *const asked = w->cache.type                                 ? w->cache.type
                                             : kernels && strncmp(kernels, "ggml", 4) == 0 ? block_format_named("f16")
                                             : format->values == 1                         ? format
                                                                                           : block_format_named("f32");
    return language_token_bytes(&w->model.shape, asked);
}

unsigned language_time_sequences(const struct language_work *w)
{
    const unsigned batch = w->options.batch, joined = w->options.sequences;
    return batch > 1 ? batch : joined > 1 ? joined : 1;
}

/* Tokens or frames that an encoder reads, whose keys and values each layer keeps; 0 = there is none. */
static unsigned encoded_of(const struct language_work *w)
{
    const struct shape_family *const f = w->model.shape.family;
    return !f->encoder ? 0 : f->encodes_text ? w->options.prompt : w->model.shape.encoder_context;
}

/* Of all caches. */
static double cached_tokens(const struct language_work *w)
{
    const unsigned sequences = language_time_sequences(w);
    return w->cache.page ? language_paged_tokens(w, sequences) + (double)encoded_of(w) * sequences
                         : ((double)w->context + encoded_of(w)) * sequences;
}

static double need_of(const struct run *run, const struct block_format *format)
{
    const struct language_work *const w = run->work;
    return (double)shape_bytes(&w->model.shape, language_stored(run, format)) + cache_bytes(run, format) * cached_tokens(w);
}

bool language_fits(const struct run *run, struct orch_error *error)
{
    static const char *const smaller[] = {"f16", "q8_0", "q6_k", "q4_k", "q4_0", "q3_k", "q2_k"};
    const struct language_work *const w = run->work;
    const struct block_format *const format = language_format(run, error);
    struct mem_pool_params memory;
    char hint[96] = "; no format makes it fit";
    if (!format || !chip_memory(run->request->chip, run->request->memory_gib, &memory, error))
        return false;
    const bool gpu = run->kind->part == PART_GPU;
    const double room = language_memory_bytes(run), need = need_of(run, format);
    if (need <= room)
        return true;
    for (size_t i = sizeof smaller / sizeof *smaller; i-- > 0;)
        if (need_of(run, block_format_named(smaller[i])) <= room)
            snprintf(hint, sizeof hint, "; in %s it would be %.1f GiB", smaller[i],
                     need_of(run, block_format_named(smaller[i])) / 0x1p30);
    return orch_fail(error, ORCH_USAGE,
                     "%s in %s needs %.1f GiB for weights and a context of %u tokens; %s of %s may hold %.1f of %.0f GiB%s",
                     w->model.name, format->name, need / 0x1p30, w->context, gpu ? "the GPU" : "a program",
                     chip_id(run->request->chip), room / 0x1p30, (double)memory.capacity_bytes / 0x1p30, hint);
}

/* ---- kernels ---- */

static bool is(const struct kernel_call *c, const char *kernel)
{
    const size_t length = strlen(kernel);
    return strncmp(c->kernel, kernel, length) == 0 && c->kernel[length] == ':';
}

/* The unit that has it: products of the AMX block are those of its library, rows are the CPU's. */
static enum orch_part part_of(const struct timed *t, const struct kernel_call *c)
{
    const enum orch_part part = t->part;
    const bool matrix = is(c, "gemm") && (strcmp(c->precision, "f32") == 0 || strcmp(c->precision, "f16") == 0);
    const bool vector = is(c, "gemv") && strcmp(c->precision, "f32") == 0;
    if (part == PART_ANE)
        return is(c, "gemm") || is(c, "gemv") ? part : PART_CPU;
    return part != PART_AMX || matrix || vector ? part : PART_CPU;
}

static bool add(const struct timed *t, const char *title, enum orch_part part, const char *precision, bool cold,
                const char *workload, double times, struct language_sum *sum)
{
    const struct language_call call = {.title = title, .precision = precision, .part = part, .cold = cold && t->cold};
    return language_unit_time(t->unit, &call, workload, times, sum, t->error);
}

/* What a kernel lacks is said once. */
static bool note_missing(const struct timed *t, const char *what, const char *missing)
{
    char key[64], text[160];
    snprintf(key, sizeof key, "missing.%.40s", what);
    snprintf(text, sizeof text, "its kernel has no %.90s: timed without", missing);
    return run_assumption_find(&t->result->assumptions, key) ||
           run_assumption_add(&t->result->assumptions, key, "inferred", text) || orch_no_memory(t->error);
}

/* Products with a quantised matrix and many tokens: the matrix is widened, then multiplied. On the GPU to f16, as llama.cpp has
 * tiles of it; kernels of the CPU widen to f32. */
static bool add_widened(const struct timed *t, const struct kernel_call *c, double times, struct language_sum *sum)
{
    unsigned tokens, columns;
    unsigned long long rows, parts = 1; /* parts: equal ones, so that simulating one needs little memory */
    char widen[96], multiply[96];
    if (sscanf(c->kernel, "gemm:%ux%llux%u", &tokens, &rows, &columns) != 3)
        return orch_fail(t->error, ORCH_INTERNAL, "%s: no product", c->kernel);
    const bool gpu = t->part == PART_GPU;
    while (rows / parts * columns > WIDENED_MOST && parts < rows)
        do
            parts++;
        while (rows % parts);
    snprintf(widen, sizeof widen, "embedding:%llux%ux%llu%s", rows / parts, columns, rows / parts, gpu ? ",out=f16" : "");
    snprintf(multiply, sizeof multiply, "gemm:%ux%llux%u,tb=1", tokens, rows, columns);
    const enum orch_part part = t->part;
    return add(t, "widen", gpu ? PART_GPU : PART_CPU, c->precision, true, widen, (double)parts * times, sum) &&
           add(t, c->what, part, gpu ? "f16" : "f32", true, multiply, times, sum) &&
           (run_assumption_find(&t->result->assumptions, "prompt.widened") ||
            run_assumption_add(
                &t->result->assumptions, "prompt.widened", "inferred",
                gpu ? "matrices in blocks are widened to f16 before products with many tokens, whose values are f16 too"
                    : "matrices in blocks are widened to f32 before products with many tokens") ||
            orch_no_memory(t->error));
}

/* Matrices in blocks that nobody widens: a vector for each token. */
static bool add_each(const struct timed *t, const struct kernel_call *c, double times, struct language_sum *sum)
{
    unsigned tokens, columns;
    unsigned long long rows;
    struct kernel_call one = *c;
    if (sscanf(c->kernel, "gemm:%ux%llux%u", &tokens, &rows, &columns) != 3)
        return orch_fail(t->error, ORCH_INTERNAL, "%s: no product", c->kernel);
    snprintf(one.kernel, sizeof one.kernel, "gemv:%llux%u", rows, columns);
    one.missing = NULL;
    return language_time_call(t, &one, tokens * times, sum);
}

/* Rows of the table that are read; cores do it, but a pass of ggml is the GPU's as a whole. */
static bool add_embedding(const struct timed *t, const struct kernel_call *c, double times, struct language_sum *sum)
{
    unsigned rows, columns, tokens;
    char workload[96];
    if (sscanf(c->kernel, "gather:%ux%ux%u", &rows, &columns, &tokens) != 3)
        return orch_fail(t->error, ORCH_INTERNAL, "%s: no table", c->kernel);
    snprintf(workload, sizeof workload, "embedding:%ux%ux%u", tokens, columns, tokens);
    return add(t, c->what, t->as_ggml && tokens == 1 ? PART_GPU : PART_CPU, c->precision, false, workload, times, sum);
}

/* The Neural Engine has one product for any number of tokens, whose weights are part of its program, in f16 whatever the file
 * has. */
static bool add_turned(const struct timed *t, const struct kernel_call *c, double times, struct language_sum *sum)
{
    unsigned long long rows;
    unsigned tokens = 1, columns;
    char workload[96];
    if (sscanf(c->kernel, "gemm:%ux%llux%u", &tokens, &rows, &columns) != 3 &&
        sscanf(c->kernel, "gemv:%llux%u", &rows, &columns) != 2)
        return orch_fail(t->error, ORCH_INTERNAL, "%s: no product", c->kernel);
    snprintf(workload, sizeof workload, "gemm:%ux%llux%u,weights=b", tokens, rows, columns);
    return add(t, c->what, PART_ANE, "f16", true, workload, times, sum);
}

bool language_time_call(const struct timed *t, const struct kernel_call *c, double times, struct language_sum *sum)
{
    const bool product = is(c, "gemm") || is(c, "gemv"), attention = strstr(c->what, "attention") != NULL;
    const bool blocks = block_format_named(c->precision)->values > 1;
    const enum orch_part part = part_of(t, c);
    if (strcmp(c->what, "argmax") == 0) /* choosing a token is not part of it */
        return true;
    if (is(c, "gather") && strstr(c->what, "_embd"))
        return add_embedding(t, c, times, sum);
    if (is(c, "gather"))
        return add(t, c->what, t->part == PART_GPU ? PART_GPU : PART_CPU, c->precision, false, c->kernel, times, sum);
    if (part == PART_ANE)
        return add_turned(t, c, times, sum);
    if (is(c, "gemm") && blocks)
        return (language_format_widens(c->precision) ? add_widened : add_each)(t, c, times, sum);
    if (c->missing && !note_missing(t, c->what, c->missing))
        return false;
    return add(t, c->what, part, is(c, "copy") && part == PART_CPU ? "f32" : c->precision, product || attention, c->kernel, times,
               sum);
}

struct kernel_calls language_time_calls(const struct timed *t, unsigned sequences)
{
    return (struct kernel_calls){.as_ggml = t->as_ggml,
                                 .sequences = sequences,
                                 .cached = t->cached,
                                 .page = t->work->cache.page,
                                 .pages = t->work->pages.pool,
                                 .encoded = encoded_of(t->work)};
}

/* Of a step, which is timed at several places. */
static bool depends_on_context(const struct kernel_call *c)
{
    return strcmp(c->what, "attention") == 0 || strcmp(c->what, "position_bias") == 0;
}

/* A pass of one sequence or several, with attention or attention alone. */
static bool add_pass(const struct timed *t, unsigned sequences, unsigned past, unsigned tokens, bool attention_alone,
                     bool without_attention, double times, struct language_sum *sum)
{
    struct kernel_calls calls = language_time_calls(t, sequences);
    bool ok = kernel_calls_of(&t->work->model.shape, t->format, past, tokens, &calls, t->error);
    for (size_t i = 0; ok && i < calls.count; i++) {
        const struct kernel_call *const c = &calls.call[i];
        const bool attention = depends_on_context(c);
        if (attention ? !without_attention : !attention_alone)
            ok = language_time_call(t, c, times * c->times, sum);
    }
    kernel_calls_free(&calls);
    return ok;
}

bool language_time_shared(const struct timed *t, const struct kernel_call *c, unsigned sequences, double times,
                          struct language_sum *sum)
{
    struct kernel_call each = *c, all = *c;
    struct language_sum a = {0}, b = {0};
    unsigned long long rows;
    unsigned tokens, columns;
    if (sscanf(c->kernel, "gemm:%ux%llux%u", &tokens, &rows, &columns) != 3 &&
        sscanf(c->kernel, "gemv:%llux%u", &rows, &columns) != 2)
        return orch_fail(t->error, ORCH_INTERNAL, "%s: no product", c->kernel);
    snprintf(each.kernel, sizeof each.kernel, "gemv:%llux%u", rows, columns);
    snprintf(all.kernel, sizeof all.kernel, "gemm:%ux%llux%u,tb=1", sequences, rows, columns);
    if (!language_time_call(t, &each, LANGUAGE_ASKED * sequences, &a) || !language_time_call(t, &all, LANGUAGE_ASKED, &b))
        return false;
    return a.seconds <= b.seconds ? language_time_call(t, &each, sequences * times, sum)
                                  : language_time_call(t, &all, times, sum);
}

/* A token of each of several sequences: products share the matrices, the rest is rows; attention is left to the caller. */
static bool add_side_by_side(const struct timed *t, unsigned past, unsigned sequences, double times, struct language_sum *sum)
{
    struct kernel_calls calls = language_time_calls(t, sequences);
    bool ok = kernel_calls_of(&t->work->model.shape, t->format, past, 1, &calls, t->error);
    for (size_t i = 0; ok && i < calls.count; i++) {
        const struct kernel_call *const c = &calls.call[i];
        if (!depends_on_context(c))
            ok = is(c, "gemm") || is(c, "gemv") ? language_time_shared(t, c, sequences, times * c->times, sum)
                                                : language_time_call(t, c, times * c->times, sum);
    }
    kernel_calls_free(&calls);
    return ok;
}

/* How often each of the points stands for a step. */
static void weigh(unsigned steps, const unsigned at[POINTS], unsigned points, double weight[POINTS])
{
    for (unsigned p = 0; p < POINTS; p++)
        weight[p] = 0;
    for (unsigned i = 0; i < steps; i++) {
        unsigned p = 0;
        while (p + 2 < points && i > at[p + 1])
            p++;
        const double share = points > 1 ? ((double)i - at[p]) / (at[p + 1] - at[p]) : 0;
        weight[p] += 1 - share;
        if (points > 1)
            weight[p + 1] += share;
    }
}

static bool add_steps(const struct timed *t, unsigned past, unsigned steps, struct language_sum *sum)
{
    unsigned at[POINTS] = {0, steps / 2, steps - 1}, points = steps >= POINTS ? POINTS : steps;
    double weight[POINTS];
    char text[160];
    at[1] = points == 2 ? 1 : at[1];
    weigh(steps, at, points, weight);
    const unsigned sequences = language_time_sequences(t->work);
    bool ok = sequences > 1 ? add_side_by_side(t, past, sequences, steps, sum) : add_pass(t, 1, past, 1, false, true, steps, sum);
    for (unsigned p = 0; ok && p < points; p++)
        ok = add_pass(t, 1, past + at[p], 1, true, false, sequences * weight[p], sum);
    snprintf(text, sizeof text, "attention is timed behind %u, %u and %u tokens, and lies on a line between them", past + at[0],
             past + at[points > 1 ? 1 : 0], past + at[points - 1]);
    return ok && language_unit_close_steps(t->unit, sum, steps, t->error) &&
           (run_assumption_find(&t->result->assumptions, "context") ||
            run_assumption_add(&t->result->assumptions, "context", "inferred", text) || orch_no_memory(t->error));
}

static bool tell_caches(const struct timed *t, double bytes)
{
    char text[160];
    snprintf(text, sizeof text, "%.2f GiB of weights %s the caches: products and attention start with %s ones", bytes / 0x1p30,
             t->cold ? "do not stay in" : "fit", t->cold ? "empty" : "warm");
    return (run_assumption_add(&t->result->assumptions, "caches", "inferred", text) &&
            run_assumption_add(&t->result->assumptions, "weights", "inferred",
                               "there are none: kernels are timed by their shapes")) ||
           orch_no_memory(t->error);
}

/* What an encoder makes for the sequences of a batch. */
static bool add_encoder(const struct timed *t, struct language_sum *sum)
{
    const unsigned batch = t->work->options.batch > 1 ? t->work->options.batch : 1;
    struct kernel_calls calls = language_time_calls(t, batch);
    bool ok = kernel_calls_encode(&t->work->model.shape, t->format, &calls, t->error);
    for (size_t i = 0; ok && i < calls.count; i++)
        ok = language_time_call(t, &calls.call[i], calls.call[i].times, sum);
    kernel_calls_free(&calls);
    return ok;
}

/* A text is read by the encoder where it reads texts, else by the decoder. */
static bool add_prompt(const struct timed *t, struct language_sum *sum)
{
    const struct language_options *const o = &t->work->options;
    const struct shape_family *const f = t->work->model.shape.family;
    const bool reads = o->prompt && !f->encodes_text;
    return (!f->encoder || add_encoder(t, sum)) &&
           (!reads || add_pass(t, o->batch > 1 ? o->batch : 1, 0, o->prompt, false, false, 1, sum)) &&
           language_unit_close_steps(t->unit, sum, 1, t->error);
}

void language_time_enter(struct timed *t, enum orch_part part)
{
    const char *const kernels = t->run->request->kernels;
    t->part = part;
    t->as_ggml = kernels && strncmp(kernels, "ggml", 4) == 0 && part == PART_GPU;
}

/* The prompt, then the steps, each on its unit. */
static bool add_all(struct timed *t, struct language_sum *prefill, struct language_sum *decode)
{
    const struct language_options *const o = &t->work->options;
    const struct run *const run = t->run;
    language_time_enter(t, language_parts(run).prompt);
    if ((o->prompt || t->work->model.shape.family->encoder) && !add_prompt(t, prefill))
        return false;
    language_time_enter(t, language_parts(run).rest);
    return !o->generate || add_steps(t, t->work->model.shape.family->encodes_text ? 0 : o->prompt, o->generate, decode);
}

/* What all kernels take is found by all threads of the host, before any is added up. */
static bool learn_all(struct timed *t)
{
    struct language_sum prompt = {0}, steps = {0};
    return !language_unit_foresee(t->unit) || (add_all(t, &prompt, &steps) && language_unit_learn(t->unit, t->error));
}

bool language_choose_layers(struct run *run, struct orch_error *error)
{
    struct language_work *const w = run->work;
    struct run_request timing = *run->request;
    struct run_result unused;
    timing.mode = RUN_TIMING;
    timing.detail = "op";
    if (!language_is_combined(run) || w->shards.count)
        return true;
    run_result_init(&unused);
    struct timed t = {.run = run, .work = w, .format = language_format(run, error), .result = &unused, .error = error};
    t.unit = t.format ? language_unit_create(&timing, &unused, error) : NULL;
    t.cached = w->cache.type;
    const bool ok = t.unit && language_time_choose(&t);
    language_unit_free(t.unit, NULL);
    run_result_free(&unused);
    return ok;
}

/* The sums of a unit of its own are thrown away: nothing of this gets into the result of the run. */
bool language_time_alone(const struct run *run, unsigned past, double *seconds, struct orch_error *error)
{
    struct run_request timing = *run->request;
    struct run_result unused;
    struct language_sum token = {0};
    double slc = 0;
    timing.mode = RUN_TIMING;
    timing.detail = "op";
    run_result_init(&unused);
    struct timed t = {.run = run, .work = run->work, .format = language_format(run, error), .result = &unused, .error = error};
    chip_number(run->request->chip, "slc_MB", &slc, NULL);
    t.format = t.format ? language_stored(run, t.format) : NULL;
    t.cached = t.work->cache.type;
    t.cold = t.format && (double)shape_bytes(&t.work->model.shape, t.format) > slc * 0x1p20;
    t.unit = t.format ? language_unit_create(&timing, &unused, error) : NULL;
    language_time_enter(&t, language_parts(run).rest);
    const bool ok =
        t.unit && add_pass(&t, 1, past, 1, false, false, 1, &token) && language_unit_close_steps(t.unit, &token, 1, error);
    *seconds = token.seconds;
    language_unit_free(t.unit, NULL);
    run_result_free(&unused);
    return ok;
}

bool language_time(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    struct language_work *const w = run->work;
    struct timed t = {.run = run, .work = w, .result = result, .error = error};
    double slc = 0;
    t.format = language_format(run, error);
    if (!t.format)
        return false;
    t.format = language_stored(run, t.format);
    t.cached = w->cache.type;
    if (!language_room_plan(w, language_time_sequences(w), error))
        return false;
    chip_number(run->request->chip, "slc_MB", &slc, NULL);
    w->weight_bytes = shape_bytes(&w->model.shape, t.format);
    w->cache_bytes = (uint64_t)(cache_bytes(run, t.format) * cached_tokens(w));
    t.cold = (double)w->weight_bytes > slc * 0x1p20;
    t.unit = language_unit_create(run->request, result, error);
    w->prefill = w->decode = (struct language_sum){0};
    bool ok = t.unit && tell_caches(&t, (double)w->weight_bytes) &&
              (language_is_combined(run) ? language_time_combined(&t, &w->prefill, &w->decode)
                                         : learn_all(&t) && add_all(&t, &w->prefill, &w->decode));
    w->decoded = w->options.generate * (w->options.batch > 1 ? w->options.batch : 1);
    if (ok)
        result->native_mac_share = language_share(run, t.unit);
    if (ok && !language_is_combined(run)) /* there is no repetition that one clock paces */
        w->has_profile = language_unit_profile(t.unit, language_parts(run).rest, &w->profile);
    language_unit_free(t.unit, ok ? m : NULL);
    return ok;
}
