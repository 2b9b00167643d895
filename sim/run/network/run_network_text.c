#include "sim/run/network/run_network_text.h"

#include "sim/language/utf8.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/operators/operator.h"
#include "sim/run/language/language_options.h"

#include <string.h>

/* The place of an input; SIZE_MAX = there is none. */
static size_t place_of(const struct net_model *model, const char *name)
{
    for (size_t k = 0; k < model->graph->inputs; k++)
        if (strcmp(model->value[model->graph->input[k]].name, name) == 0)
            return k;
    return SIZE_MAX;
}

static bool check_tokens(const struct net_model *model, const struct token_list *text, struct orch_error *error)
{
    const struct encoder_limits most = encoder_limits_of(model);
    if (text->count > most.tokens)
        return orch_fail(error, ORCH_USAGE, "the text has %zu tokens, the model has places for %llu", text->count,
                         (unsigned long long)most.tokens);
    for (size_t i = 0; i < text->count; i++)
        if (text->token[i] >= most.words)
            return orch_fail(error, ORCH_USAGE, "token %u: the model has rows for %llu, so the tokenizer is another model's",
                             text->token[i], (unsigned long long)most.words);
    return text->count > 0 || orch_fail(error, ORCH_USAGE, "the text has no tokens");
}

bool run_network_put_tokens(const struct net_model *model, struct net_array **input, const struct token_list *texts, size_t count,
                            struct orch_error *error)
{
    const size_t at[2] = {place_of(model, ENCODER_IDS), place_of(model, ENCODER_MASK)};
    int64_t shape[2] = {(int64_t)count, 1};
    if (at[0] == SIZE_MAX || at[1] == SIZE_MAX)
        return orch_fail(error, ORCH_INTERNAL, "the network takes no texts");
    for (size_t i = 0; i < count; i++) {
        if (!check_tokens(model, &texts[i], error))
            return false;
        shape[1] = (int64_t)texts[i].count > shape[1] ? (int64_t)texts[i].count : shape[1];
    }
    for (size_t k = 0; k < 2; k++) {
        net_array_release(input[at[k]]);
        input[at[k]] = net_array_new(NET_I64, shape, 2, error);
        if (!input[at[k]])
            return false;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < texts[i].count; t++) {
            ((int64_t *)input[at[0]]->data)[i * (size_t)shape[1] + t] = texts[i].token[t];
            ((int64_t *)input[at[1]]->data)[i * (size_t)shape[1] + t] = 1;
        }
    return true;
}

static bool read_text(const struct net_model *model, struct net_array **input, const char *workload, const char *text,
                      struct orch_error *error)
{
    struct vocabulary_beside *vocabulary = NULL;
    struct token_list tokens = {0};
    size_t wrong;
    if (!utf8_is_valid(text, strlen(text), &wrong))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompt-text") ": no UTF-8 at byte %zu", wrong);
    const bool ok =
        encoder_vocabulary_open(workload, &vocabulary, error) &&
        tokenizer_encode(vocabulary_beside_tokenizer(vocabulary), text, strlen(text), TOKENIZE_FRAME, &tokens, error) &&
        run_network_put_tokens(model, input, &tokens, 1, error);
    token_list_free(&tokens);
    vocabulary_beside_close(vocabulary);
    return ok;
}

static bool hides_nothing(const struct net_array *mask)
{
    for (int64_t i = 0; i < mask->count; i++)
        if (net_array_integer(mask, i) != 1)
            return false;
    return true;
}

void run_network_fix_mask(struct net_model *model, struct net_array *const *input)
{
    const size_t mask = place_of(model, ENCODER_MASK);
    struct net_value *const v = mask == SIZE_MAX ? NULL : &model->value[model->graph->input[mask]];
    if (!v || !input[mask] || input[mask]->type != NET_I64 || !hides_nothing(input[mask]))
        return;
    net_array_release(v->constant);
    v->constant = net_array_retain(input[mask]);
    v->shape = net_shape_of(input[mask]->shape, input[mask]->dims);
}

/* A mask that is not given sees everything. */
static bool see_all(struct net_model *model, struct net_array **input, struct orch_error *error)
{
    const size_t ids = place_of(model, ENCODER_IDS), mask = place_of(model, ENCODER_MASK);
    if (ids == SIZE_MAX || mask == SIZE_MAX)
        return true;
    struct net_value *const v = &model->value[model->graph->input[mask]];
    int64_t shape[2];
    for (unsigned d = 0; d < 2; d++) {
        const int64_t dim = input[ids] && input[ids]->dims == 2 ? input[ids]->shape[d] : net_dim_bound(model, v->shape.dim[d]);
        shape[d] = dim < NET_UNKNOWN ? model->usual[-1 - dim] : dim;
    }
    if (shape[1] > 0 && (uint64_t)shape[1] > encoder_limits_of(model).tokens)
        return orch_fail(error, ORCH_USAGE, "texts of %lld tokens: the model has places for %llu", (long long)shape[1],
                         (unsigned long long)encoder_limits_of(model).tokens);
    if (!input[mask] && (shape[0] < 1 || shape[1] < 1))
        return true; /* whoever generates inputs says what is open */
    if (!input[mask]) {
        input[mask] = net_array_new(NET_I64, shape, 2, error);
        for (int64_t i = 0; input[mask] && i < input[mask]->count; i++)
            ((int64_t *)input[mask]->data)[i] = 1;
    }
    if (input[mask])
        run_network_fix_mask(model, input);
    return input[mask] != NULL;
}

/* Of what is said of language models an encoder takes a text alone. */
static bool takes_text_alone(const struct language_options *o)
{
    return !o->prompt_ids && !o->generate && !o->prompt_alone && !o->context && !o->prefill_unit && !o->prompt_cache &&
           !o->prompts && !o->kv_cache && !o->layers && !o->sequences && !o->batch && !o->draft && !o->draft_tokens && !o->stops;
}

bool run_network_take_text(const struct run_request *request, struct net_model *model, struct net_array **input,
                           struct orch_error *error)
{
    const struct language_options *const o = request->language;
    if (o && !takes_text_alone(o))
        return orch_fail(error, ORCH_USAGE,
                         "%s: an encoder takes a text (" ORCH_OPTION("prompt-text") ") or a length (" ORCH_OPTION(
                             "dim") " sequence=N), and generates nothing",
                         request->workload);
    return (!o || !o->prompt_text || read_text(model, input, request->workload, o->prompt_text, error)) &&
           see_all(model, input, error);
}
