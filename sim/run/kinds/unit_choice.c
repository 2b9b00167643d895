#include "sim/run/kinds/unit_choice.h"

#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/run/kind.h"
#include "sim/run/language/language_model.h"
#include "sim/run/language/language_options.h"
#include "sim/run/run_internal.h"
#include "sim/run/run_timing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- who has it ---- */

/* CPU cores come last: their kernels are timed while they execute, and their peak is the lowest. */
static const char *const order[UNIT_CHOICES] = {"amx", "gpu", "ane", "cpu"};

static bool is_language(const struct run_request *q)
{
    return language_model_is(q->workload) || (q->language && language_model_generates(q->workload));
}

unsigned unit_choice_list(const struct run_request *request, const char *unit[UNIT_CHOICES])
{
    unsigned count = 0;
    for (unsigned i = 0; i < UNIT_CHOICES; i++) {
        struct run_request q = *request;
        q.unit = order[i];
        if (is_language(&q) || run_kind_on_unit(&q))
            unit[count++] = order[i];
    }
    return count;
}

/* Whether the unit takes the request; else *error says why not. */
static struct run *prepared(struct run_request *q, struct orch_error *error)
{
    *error = (struct orch_error){0};
    return run_prepare(q, error);
}

const char *unit_choice_precision(const struct run_request *request, const char *const *unit, unsigned count)
{
    static const char *const precisions[] = {"f32", "f16", "bf16", "i8"};
    unsigned most = 0;
    const char *best = NULL;
    for (size_t p = 0; !request->precision && p < ARRAY_COUNT(precisions); p++) {
        unsigned have = 0;
        for (unsigned i = 0; i < count; i++) {
            struct run_request q = *request;
            struct orch_error unused;
            q.unit = unit[i];
            q.precision = precisions[p];
            struct run *const run = prepared(&q, &unused);
            have += run != NULL;
            run_free(run);
        }
        if (have > most) {
            most = have;
            best = precisions[p];
        }
    }
    return request->precision ? request->precision : best;
}

/* ---- how long it takes ---- */

struct offer {
    double seconds; /* INFINITY = it does not run here */
    bool at_least;  /* that, whatever its program does */
    char text[120];
};

/* The same for a language model: as many tokens by their shapes, whatever they say. */
static void predict_tokens(const struct run_request *request, const char *unit, unsigned prompt, struct offer *o)
{
    const struct language_options *const asked = request->language;
    const struct language_options tokens = {.prompt = prompt,
                                            .generate = asked ? asked->generate : 0,
                                            .prompt_alone = asked && asked->prompt_alone,
                                            .batch = asked ? asked->batch : 0,
                                            .kv_cache = asked ? asked->kv_cache : NULL};
    struct run_request q = *request;
    struct orch_error error = {0};
    struct run_result r;
    char time[FORMAT_SIZE];
    q.unit = unit;
    q.mode = RUN_TIMING;
    q.detail = "op";
    q.language = &tokens;
    q.program_output = NULL;
    q.progress = NULL;
    struct run *const run = prepared(&q, &error);
    run_result_init(&r);
    o->seconds = run && run_execute(run, NULL, 1, &r, &error) ? r.seconds : INFINITY;
    o->at_least = false;
    if (isinf(o->seconds))
        snprintf(o->text, sizeof o->text, "%s: %.100s", unit, error.text);
    else
        snprintf(o->text, sizeof o->text, "%s %s", unit, format_si(time, o->seconds, "s"));
    run_result_free(&r);
    run_free(run);
}

/* Tokens of the prompt: asked for, or those of the text. */
static unsigned prompt_tokens(const struct run_request *q)
{
    const struct language_options *const o = q->language;
    struct language_model m;
    struct token_list list = {0};
    struct orch_error unused = {0};
    if (o && o->prompt)
        return o->prompt;
    const char *const text = o && o->prompt_text ? o->prompt_text : "";
    if (language_model_open(q->workload, &m, &unused) && m.tokenizer)
        tokenizer_encode(m.tokenizer, text, strlen(text), TOKENIZE_FRAME, &list, &unused);
    const unsigned tokens = (unsigned)list.count;
    token_list_free(&list);
    language_model_close(&m);
    return tokens;
}

static void predict(struct run_request *q, double best, struct offer *o)
{
    struct orch_error error;
    struct run_timing timing;
    char time[FORMAT_SIZE];
    struct run *const run = prepared(q, &error);
    *o = (struct offer){.seconds = run ? 0 : INFINITY};
    if (run && run->kind->floor_seconds)
        o->seconds = run->kind->floor_seconds(run);
    o->at_least = run && o->seconds >= best;
    run_free(run);
    run_timing_init(&timing);
    if (run && !o->at_least)
        o->seconds = run_timing_simulate(q, &timing, &error) ? timing.result.seconds : INFINITY;
    run_timing_free(&timing);
    if (isinf(o->seconds))
        snprintf(o->text, sizeof o->text, "%s: %.100s", q->unit, error.text);
    else
        snprintf(o->text, sizeof o->text, "%s %s%s", q->unit, o->at_least ? "at least " : "", format_si(time, o->seconds, "s"));
}

bool unit_choice_make(const struct run_request *request, struct unit_choice *choice, struct orch_error *error)
{
    const char *unit[UNIT_CHOICES];
    const unsigned count = unit_choice_list(request, unit);
    const bool language = is_language(request);
    const unsigned prompt = language ? prompt_tokens(request) : 0;
    double best = INFINITY;
    size_t used = 0;
    *choice = (struct unit_choice){.unit = NULL};
    for (unsigned i = 0; i < count; i++) {
        struct run_request q = *request;
        struct offer o;
        q.unit = unit[i];
        q.precision = request->precision ? request->precision : "f32";
        if (language)
            predict_tokens(request, unit[i], prompt, &o);
        else
            predict(&q, best, &o);
        used += (size_t)snprintf(choice->text + used, used < sizeof choice->text ? sizeof choice->text - used : 0, "%s%s",
                                 used ? ", " : "", o.text);
        if (!o.at_least && o.seconds < best) {
            best = o.seconds;
            choice->unit = unit[i];
        }
    }
    return choice->unit || orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("unit") " auto: no unit runs %.80s: %.300s",
                                     request->workload, count ? choice->text : "none has it");
}
