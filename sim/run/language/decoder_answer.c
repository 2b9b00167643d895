/* What steps of a decoder in ONNX add up to. */
#include "sim/base/json_out.h"
#include "sim/run/language/decoder_internal.h"

#include <json-c/json.h>
#include <math.h>

static json_object *numbers_of(const struct token_list *list)
{
    json_object *const array = json_object_new_array();
    for (size_t i = 0; i < list->count; i++)
        json_object_array_add(array, json_object_new_int64(list->token[i]));
    return array;
}

static bool write_generation(const struct decoding *w, struct run_result *r)
{
    json_object *const o = json_object_new_object();
    json_object_object_add(o, "prompt_tokens", numbers_of(&w->prompt));
    json_object_object_add(o, "tokens", numbers_of(&w->tokens));
    json_object_object_add(o, "text", json_object_new_string_len(w->text.text ? w->text.text : "", (int)w->text.length));
    json_object_object_add(o, "stop", json_object_new_string(w->stop));
    r->generation = json_line(o);
    return r->generation != NULL;
}

static void fill_times(const struct decoding *w, struct run_result *r)
{
    const struct steps *const a = &w->prefill, *const b = &w->decode;
    r->seconds = a->seconds + b->seconds;
    r->seconds_low = a->low + b->low;
    r->seconds_high = a->high + b->high;
    r->device_seconds = a->device_s + b->device_s;
    r->overhead_seconds = a->overhead_s + b->overhead_s;
    r->joules = a->joules + b->joules;
    r->joules_low = a->joules_low + b->joules_low;
    r->joules_high = a->joules_high + b->joules_high;
    r->dram_bytes = a->dram_bytes + b->dram_bytes;
    r->gflops = r->seconds > 0 ? r->flops / r->seconds * 1e-9 : NAN;
    r->dram_gbps = r->seconds > 0 ? r->dram_bytes / r->seconds * 1e-9 : NAN;
    r->watts_avg = r->joules / r->seconds;
    r->prefill_seconds = a->seconds;
    if (b->count && b->seconds > 0)
        r->tokens_per_second = b->count / b->seconds;
}

bool decoder_account(struct run *run, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const struct decoding *const w = run->work;
    const bool timed = run->request->mode != RUN_FUNCTIONAL;
    r->host_seconds = m->host_seconds;
    r->flops = w->prefill.flops + w->decode.flops;
    r->macs = w->prefill.macs + w->decode.macs;
    if (timed)
        fill_times(w, r);
    const bool ok =
        run_result_set_text(&r->detail, "instr") && write_generation(w, r) &&
        run_assumption_add(
            &r->assumptions, "steps", "inferred",
            "each token is a run of the network by itself, behind a warm-up; what it costs is the sum of its kernels") &&
        run_assumption_add(&r->assumptions, "cache", "inferred",
                           w->graph.kept ? "keys and values of a step are handed to the next one where they are, in no time"
                                         : "the file keeps no keys and values: the whole text goes through at each step") &&
        run_assumption_add(&r->assumptions, "choice", "inferred", "choosing a token from the logits takes no time") &&
        run_values_add(&r->counters, LANGUAGE_PROMPT_TOKENS, (double)w->prompt.count) &&
        run_values_add(&r->counters, LANGUAGE_GENERATED_TOKENS, (double)w->tokens.count) &&
        run_values_add(&r->counters, RUN_COUNTER_OUTPUT, (double)w->text.length) &&
        (!timed || run_values_add(&r->counters, LANGUAGE_DECODE_SECONDS, w->decode.seconds)) &&
        (!timed || !isfinite(r->joules) ||
         (run_values_add(&r->counters, LANGUAGE_PREFILL_JOULES, w->prefill.joules) &&
          (!w->decode.count || run_values_add(&r->counters, LANGUAGE_TOKEN_JOULES, w->decode.joules / w->decode.count))));
    return ok || orch_no_memory(error);
}
