/* What was generated, as text of a document. */
#include "sim/base/json_out.h"
#include "sim/run/language/language_batch.h"

bool language_write_generation(const struct language_work *w, struct run_result *r)
{
    if (w->batch) {
        r->generation = json_line(language_batch_json(w->batch));
        return r->generation != NULL;
    }
    json_object *const o = json_object_new_object(), *const prompt = json_object_new_array(),
                       *const tokens = json_object_new_array();
    for (size_t i = 0; i < w->prompt.count; i++)
        json_object_array_add(prompt, json_object_new_int64(w->prompt.token[i]));
    for (size_t i = 0; i < w->tokens.count; i++)
        json_object_array_add(tokens, json_object_new_int64(w->tokens.token[i]));
    json_object_object_add(o, "prompt_tokens", prompt);
    json_object_object_add(o, "tokens", tokens);
    json_object_object_add(o, "text", json_object_new_string_len(w->text.text ? w->text.text : "", (int)w->text.length));
    json_object_object_add(o, "stop", json_object_new_string(w->stop));
    if (w->stop_word)
        json_object_object_add(o, "stop_word", json_object_new_string(w->stop_word));
    r->generation = json_line(o);
    return r->generation && run_values_add(&r->counters, RUN_COUNTER_OUTPUT, (double)w->text.length);
}
