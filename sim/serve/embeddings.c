/* /v1/embeddings as OpenAI's clients know it, /embedding as llama.cpp's: texts of one length go through the encoder together, so
 * that none is filled up. */
#include "sim/serve/embedding.h"

#include "sim/network/encoder/encoder.h"
#include "sim/run/network/run_network_text.h"
#include "sim/serve/completion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all texts took, and their embeddings one after another. */
struct embedded {
    float *value;
    size_t width, tokens;
    struct served_cost cost;
};

/* The rows of one batch to the places of its texts. */
static bool take_rows(const struct embedding_request *e, struct embedded *d, const struct net_array *rows, const size_t *text,
                      size_t count, struct orch_error *error)
{
    const size_t width = rows && rows->type == NET_F32 && rows->dims == 2 ? (size_t)rows->shape[1] : 0;
    if (!width || (size_t)rows->shape[0] != count || (d->width && d->width != width))
        return orch_fail(error, ORCH_INTERNAL, "embeddings of another shape than expected");
    if (!d->value)
        d->value = malloc(sizeof *d->value * width * e->texts);
    if (!d->value)
        return orch_no_memory(error);
    d->width = width;
    for (size_t i = 0; i < count; i++)
        memcpy(d->value + text[i] * width, (const float *)rows->data + i * width, sizeof *d->value * width);
    return true;
}

static const struct net_array *embedding_among(const struct served_model *m, struct net_array *const *output)
{
    for (size_t k = 0; k < m->network->output_names; k++)
        if (strcmp(m->network->output_name[k], ENCODER_EMBEDDING) == 0)
            return output[k];
    return NULL;
}

static void release(struct net_array **array, size_t count)
{
    for (size_t k = 0; k < count; k++)
        net_array_release(array[k]);
}

/* Texts with as many tokens as the first that is left. */
static bool embed_batch(struct embedding_request *e, struct embedded *d, bool *done, struct orch_error *error)
{
    enum { TENSORS = 8 };
    struct net_array *input[TENSORS] = {NULL}, *output[TENSORS] = {NULL};
    struct token_list batch[EMBEDDING_TEXTS];
    size_t place[EMBEDDING_TEXTS], count = 0;
    struct served_cost cost;
    for (size_t i = 0; i < e->texts; i++)
        if (!done[i] && (count == 0 || e->text[i].count == batch[0].count)) {
            done[i] = true;
            place[count] = i;
            batch[count++] = e->text[i];
        }
    const bool ok = run_network_put_tokens(e->model->network, input, batch, count, error) &&
                    served_infer(e->context->served, e->model, input, output, (unsigned)count, &cost, error) &&
                    take_rows(e, d, embedding_among(e->model, output), place, count, error);
    release(input, TENSORS);
    release(output, TENSORS);
    if (!ok)
        return false;
    d->tokens += count * batch[0].count;
    d->cost.seconds += cost.seconds;
    d->cost.joules += cost.joules;
    d->cost.celsius = cost.celsius;
    return true;
}

static bool embed(struct embedding_request *e, struct embedded *d, struct orch_error *error)
{
    bool done[EMBEDDING_TEXTS] = {false};
    for (size_t i = 0; i < e->texts; i++)
        if (!done[i] && !embed_batch(e, d, done, error))
            return false;
    for (size_t i = 0; i < e->texts && !e->as_is; i++) {
        float *const row = d->value + i * d->width;
        double length = 0;
        for (size_t k = 0; k < d->width; k++)
            length += (double)row[k] * row[k];
        for (size_t k = 0; length > 0 && k < d->width; k++)
            row[k] = (float)(row[k] / sqrt(length));
    }
    return true;
}

/* ---- the reply ---- */

static void put_base64(struct text *to, const void *bytes, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *const at = bytes;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t three = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) | (left > 2 ? at[i + 2] : 0);
        text_printf(to, "%c%c%c%c", digit[three >> 18], digit[three >> 12 & 63], left > 1 ? digit[three >> 6 & 63] : '=',
                    left > 2 ? digit[three & 63] : '=');
    }
}

static void put_numbers(struct text *to, const struct embedding_request *e, const float *row, size_t width)
{
    if (e->base64) {
        text_put(to, "\"");
        put_base64(to, row, sizeof *row * width);
        text_put(to, "\"");
        return;
    }
    text_put(to, "[");
    for (size_t k = 0; k < width; k++)
        text_printf(to, "%s%.9g", k ? "," : "", (double)row[k]);
    text_put(to, "]");
}

/* llama.cpp's own form is a list of lists: of a model that pools there is one in each. */
static void put_own(struct text *to, const struct embedding_request *e, const struct embedded *d)
{
    text_put(to, "[");
    for (size_t i = 0; i < e->texts; i++) {
        text_printf(to, "%s{\"index\":%zu,\"embedding\":[", i ? "," : "", i);
        put_numbers(to, e, d->value + i * d->width, d->width);
        text_put(to, "]}");
    }
    text_put(to, "]");
}

static void put_list(struct text *to, const struct embedding_request *e, const struct embedded *d)
{
    text_put(to, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < e->texts; i++) {
        text_printf(to, "%s{\"object\":\"embedding\",\"index\":%zu,\"embedding\":", i ? "," : "", i);
        put_numbers(to, e, d->value + i * d->width, d->width);
        text_put(to, "}");
    }
    text_put(to, "],\"model\":");
    text_json(to, e->model->entry.name);
    text_printf(to, ",\"usage\":{\"prompt_tokens\":%zu,\"total_tokens\":%zu},\"simulated\":{\"unit\":\"%s\",\"chip\":\"%s\"",
                d->tokens, d->tokens, e->model->unit, chip_id(served_setup(e->context->served)->run.chip));
    text_put(to, ",\"seconds\":");
    text_json_number(to, d->cost.seconds);
    if (isfinite(d->cost.joules)) {
        text_put(to, ",\"joules\":");
        text_json_number(to, d->cost.joules);
    }
    if (isfinite(d->cost.celsius)) {
        text_put(to, ",\"celsius\":");
        text_json_number(to, d->cost.celsius);
    }
    text_put(to, "}}");
}

static bool are_finite(const struct embedding_request *e, const struct embedded *d, struct orch_error *error)
{
    for (size_t i = 0; i < e->texts * d->width; i++)
        if (!isfinite(d->value[i]))
            return orch_fail(error, ORCH_USAGE, "an embedding has numbers that are not finite");
    return true;
}

void embeddings_answer(const struct protocol_context *context, const struct http_request *r, struct http_reply *reply)
{
    struct embedding_request e = {.context = context, .own = strcmp(r->path, "/v1/embeddings") != 0};
    struct embedded d = {.value = NULL};
    struct orch_error error = {0};
    if (strcmp(r->method, "POST") != 0) {
        completion_fail(reply, 405, "this path takes POST");
        snprintf(reply->allow, sizeof reply->allow, "POST");
        return;
    }
    const bool read = embedding_read(&e, r->body, r->size, &error);
    if (!read && e.model)
        served_count_failure(context->served, e.model);
    if (!read || !embed(&e, &d, &error) || !are_finite(&e, &d, &error)) {
        completion_fail(reply, http_status_of(&error), error.plain);
    } else {
        reply_json(reply);
        (e.own ? put_own : put_list)(&reply->body, &e, &d);
    }
    free(d.value);
    embedding_free(&e);
}
