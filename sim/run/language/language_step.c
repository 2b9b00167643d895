#include "sim/run/language/language_step_internal.h"
#include "units/ane/ane_numeric.h"

#include <string.h>

/* ---- a pass ---- */

/* Of a pass over several sequences: tokens of one stand side by side, and follow what its cache holds. */
static unsigned position_of(const struct language_stepper *s, unsigned t)
{
    unsigned before = 0;
    while (before < t && s->side[t - before - 1].lane == s->side[t].lane)
        before++;
    return s->places[s->side[t].lane] + before;
}

unsigned language_tokens_of_lane(const struct language_stepper *s, unsigned t, unsigned end)
{
    unsigned count = 1;
    while (t + count < end && s->side[t + count].lane == s->side[t].lane)
        count++;
    return count;
}

/* Where biases of a sequence begin whose first token in the pass is `t`: there is room for those of a whole cache a token. */
static uint64_t first_bias(const struct language_stepper *s, unsigned t)
{
    return (uint64_t)t * s->context * s->shape->heads;
}

/* Biases by distance of all tokens, once for all layers. */
static bool find_biases(struct language_stepper *s)
{
    bool ok = true;
    if (!s->side)
        return language_find_biases(s, s->position, s->count, s->position + s->count, false);
    for (unsigned t = 0, some; ok && t < s->count; t += some) {
        const unsigned first = s->places[s->side[t].lane];
        some = language_tokens_of_lane(s, t, s->count);
        s->bias_first = first_bias(s, t);
        ok = language_find_biases(s, first, some, first + some, false);
    }
    s->bias_first = 0;
    return ok;
}

static bool embed(struct language_stepper *s, const uint32_t *token)
{
    const struct shape_family *const f = s->shape->family;
    const uint64_t values = (uint64_t)s->count * s->shape->width;
    uint32_t position[LANGUAGE_BATCH];
    if (!language_look_up(s, "token_embd", &s->ends.embedding, token, s->count, &s->stream) ||
        (f->scaled_embedding && !language_combine(s, "embedding_scale", "mul", values, 1, &s->stream, &s->scale, &s->stream)))
        return false;
    for (unsigned i = 0; i < s->count; i++)
        position[i] = s->side ? position_of(s, i) : s->position + i;
    return !f->positions || (language_look_up(s, "position_embd", &s->ends.positions, position, s->count, &s->row) &&
                             language_combine(s, "position_embd", "add", values, 0, &s->stream, &s->row, &s->stream));
}

/* Whether what kernels write in one piece is where it stays. */
static bool stays(const struct language_stepper *s)
{
    return !s->cached && language_cached_together(s, s->position, s->count) == s->count;
}

/* Keys are rotated on their way into the cache, unless it is of another type or has them in several places. */
static bool keep_keys(struct language_stepper *s, const struct placed_layer *l, const struct language_buffer *made)
{
    const struct language_buffer key = language_cached(s, &l->keys, s->position, s->count);
    const bool turns = s->shape->rope != SHAPE_ROPE_NONE, at_once = stays(s);
    if (!turns)
        return language_keep(s, "cache_k", made, &l->keys);
    return language_rotate(s, "rope_k", s->shape->kv_heads, made, at_once ? &key : &s->turned_key) &&
           (at_once || language_keep(s, "cache_k", &s->turned_key, &l->keys));
}

static bool rotate_queries(struct language_stepper *s, const struct language_buffer *query, const struct language_buffer *turned)
{
    const struct language_shape *const p = s->shape;
    const uint64_t values = (uint64_t)s->count * p->heads * p->head_size;
    const struct language_buffer *const by = &s->attention[s->turned];
    return language_rotate(s, "rope_q", p->heads, query, turned) &&
           (!by->bytes || language_combine(s, "rope_scale", "mul", values, by->bytes / s->value_bytes, turned, by, turned));
}

/* `s->count` tokens of one sequence from `t` on: keys and values go where its sequence's are, or (`looks`) queries over them. */
static bool attend_lane(struct language_stepper *s, const struct placed_layer *l, unsigned t, bool looks)
{
    const struct language_shape *const p = s->shape;
    const unsigned width = p->kv_heads * p->head_size, queries = p->heads * p->head_size, count = s->count;
    const uint64_t row = (uint64_t)s->value_bytes * width, wide = (uint64_t)s->value_bytes * queries;
    const bool turns = p->rope != SHAPE_ROPE_NONE;
    s->position = s->places[s->side[t].lane];
    s->kept = s->side[t].lane;
    s->bias_first = first_bias(s, t);
    const struct language_buffer made = language_part(&s->key, row * t, row * count),
                                 found = language_part(&s->attended, row * t, row * count);
    const struct language_buffer query = language_part(&s->query, wide * t, wide * count);
    const struct language_buffer turned = language_part(&s->turned_query, wide * t, wide * count);
    const struct language_buffer attended = language_part(&s->attended, wide * t, wide * count);
    if (looks)
        return language_look_back(s, l, turns ? &turned : &query, &attended);
    return language_keep(s, "cache_v", &found, &l->values) && (!turns || rotate_queries(s, &query, &turned)) &&
           keep_keys(s, l, &made);
}

/* Sequences have positions and caches of their own. What heads see is written where values were, so all of these go first. */
static bool attend_lanes(struct language_stepper *s, const struct placed_layer *l)
{
    const unsigned count = s->count;
    bool ok = true;
    for (int looks = 0; looks < 2; looks++)
        for (unsigned t = 0; ok && t < count; t += s->count) {
            s->count = language_tokens_of_lane(s, t, count);
            ok = attend_lane(s, l, t, looks);
        }
    s->count = count;
    s->bias_first = 0;
    return ok;
}

/* Keys and values are written where attention reads them. */
static bool attend(struct language_stepper *s, const struct placed_layer *l)
{
    const struct language_shape *const p = s->shape;
    const bool turns = p->rope != SHAPE_ROPE_NONE, apart = s->side || !stays(s); /* apart: not written where they stay */
    const struct language_buffer key = language_cached(s, &l->keys, s->position, s->count),
                                 value = language_cached(s, &l->values, s->position, s->count);
    const struct language_buffer *const made = turns || apart ? &s->key : &key;
    const struct language_buffer *const found = apart ? &s->attended : &value; /* which is free until heads look back */
    if (!language_multiply(s, "attn_q", &l->query, 0, s->count, &s->normed, &s->query) ||
        !language_multiply(s, "attn_k", &l->key, 0, s->count, &s->normed, made) ||
        !language_multiply(s, "attn_v", &l->value, 0, s->count, &s->normed, found))
        return false;
    if (p->family->qk_norm && (!language_normalise(s, "attn_q_norm", &l->query_norm, s->count * p->heads, &s->query, &s->query) ||
                               !language_normalise(s, "attn_k_norm", &l->key_norm, s->count * p->kv_heads, made, made)))
        return false;
    if (s->side)
        return attend_lanes(s, l) && language_multiply(s, "attn_output", &l->output, 0, s->count, &s->attended, &s->mixed);
    return (!turns || rotate_queries(s, &s->query, &s->turned_query)) && (!(turns || apart) || keep_keys(s, l, &s->key)) &&
           (!apart || language_keep(s, "cache_v", found, &l->values)) &&
           language_look_back(s, l, turns ? &s->turned_query : &s->query, &s->attended) &&
           language_multiply(s, "attn_output", &l->output, 0, s->count, &s->attended, &s->mixed);
}

/* With both parts side by side (phi-2), both read the norm before the first is added. */
static bool run_layer(struct language_stepper *s, const struct placed_layer *l)
{
    const uint64_t values = (uint64_t)s->count * s->shape->width;
    return language_normalise(s, "attn_norm", &l->attention_norm, s->count, &s->stream, &s->normed) && attend(s, l) &&
           language_combine(s, "residual", "add", values, 0, &s->stream, &s->mixed, &s->stream) &&
           (!s->encoded || language_look_across(s, l)) &&
           (s->shape->family->parallel ||
            language_normalise(s, "ffn_norm", &l->feed_forward_norm, s->count, &s->stream, &s->normed)) &&
           language_feed_forward(s, l) && language_combine(s, "residual", "add", values, 0, &s->stream, &s->mixed, &s->stream);
}

/* Of a pass over several sequences, the tokens that have an answer, side by side. */
static bool gather_answers(struct language_stepper *s)
{
    const uint64_t row = (uint64_t)s->value_bytes * s->shape->width;
    bool ok = true;
    for (unsigned t = 0, answers = 0; ok && t < s->count; t++) {
        const struct language_buffer from = language_part(&s->stream, row * t, row),
                                     to = language_part(&s->row, row * answers, row);
        if (s->side[t].answers) {
            ok = language_copy(s, "answers", s->shape->width, &from, &to);
            answers++;
        }
    }
    return ok;
}

/* What follows the last tokens of the pass, or those that have an answer. */
static bool make_logits(struct language_stepper *s, unsigned tokens, const float **logits)
{
    const struct language_shape *const p = s->shape;
    const uint64_t row = (uint64_t)s->value_bytes * p->width, values = (uint64_t)tokens * p->vocabulary;
    const bool some = s->side && tokens < s->count;
    const struct language_buffer last =
        language_part(some ? &s->row : &s->stream, some ? 0 : row * (s->count - tokens), row * tokens);
    if (some && !gather_answers(s))
        return false;
    const bool scales = p->tied && p->family->distance_bias; /* T5: an embedding that is the head is that of a width of one */
    if (!language_normalise(s, "output_norm", &s->last_norm, tokens, &last, &s->normed) ||
        (scales &&
         !language_combine(s, "output_scale", "mul", (uint64_t)tokens * p->width, 1, &s->normed, &s->scale, &s->normed)) ||
        !language_multiply(s, "output", &s->head, 0, tokens, &s->normed, &s->logits))
        return false;
    *logits = s->value_bytes == sizeof(float) ? s->logits.host : s->shown;
    for (uint64_t i = 0; s->value_bytes != sizeof(float) && i < values; i++)
        s->shown[i] = ane_half_to_float(((const uint16_t *)s->logits.host)[i]);
    return true;
}

/* Pages for the tokens of the pass. */
static bool take_pages(struct language_stepper *s, unsigned count)
{
    bool ok = true;
    for (unsigned i = 0; ok && s->side && i < count; i++)
        ok = language_pages_reach(s->pages, s->side[i].lane, position_of(s, i) + 1);
    if (ok && !s->side)
        ok = language_pages_reach(s->pages, s->lane, s->position + count);
    return ok ||
           orch_fail(s->error, ORCH_USAGE,
                     ORCH_OPTION("kv-cache") " paged:%u:%u: all pages are taken; more of them, fewer sequences or a shorter "
                                             "text would do",
                     s->cache.page, s->cache.pages);
}

static bool run_pass(struct language_stepper *s, const uint32_t *token, unsigned count, unsigned answers, const float **logits)
{
    struct language_sum pass = {0};
    struct language_sum *const sum = s->sum;
    s->count = count;
    s->sum = &pass;
    language_enter(s, language_layer_part(s, 0));
    bool ok = (!s->pages || take_pages(s, count)) && embed(s, token) && find_biases(s);
    for (unsigned i = 0; ok && i < s->shape->layers; i++)
        ok = language_hand_over(s, language_layer_part(s, i)) && run_layer(s, &s->layer[i]);
    ok = ok && (!logits || !answers || make_logits(s, answers, logits)) && language_unit_close_steps(s->unit, &pass, 1, s->error);
    s->sum = sum;
    s->position += count;
    if (ok)
        language_sum_add(sum, &pass);
    return ok;
}

/* Tokens of a pass that reach beyond a window would each see other keys: from there on they go one by one. */
static unsigned most_together(const struct language_stepper *s, size_t left)
{
    const unsigned window = s->shape->family->sinks ? 0 : s->shape->window; /* beside sinks biases hide keys */
    size_t most = left < s->batch ? left : s->batch;
    if (window && s->position + most > window)
        most = s->position < window ? window - s->position : 1;
    return (unsigned)most;
}

void language_stepper_use(struct language_stepper *stepper, enum orch_part part)
{
    if (!stepper->shards.count)
        language_enter(stepper, part);
}

bool language_check_tokens(const struct language_stepper *s, const uint32_t *token, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (token[i] >= s->shape->vocabulary)
            return orch_fail(s->error, ORCH_USAGE, "token %u: the vocabulary has %u tokens", token[i], s->shape->vocabulary);
    return true;
}

/* Whether these tokens can follow. */
static bool begin_step(struct language_stepper *s, const uint32_t *token, size_t count, struct language_sum *sum,
                       struct orch_error *error)
{
    s->sum = sum;
    s->error = error;
    if (!language_check_tokens(s, token, count))
        return false;
    return count <= s->context - s->position || orch_fail(error, ORCH_USAGE, "the context of %u tokens is full", s->context);
}

bool language_step_each(struct language_stepper *s, const uint32_t *token, unsigned count, const float **logits,
                        struct language_sum *sum, struct orch_error *error)
{
    if (!begin_step(s, token, count, sum, error))
        return false;
    if (count > s->answers || most_together(s, count) < count)
        return orch_fail(error, ORCH_INTERNAL, "%u tokens in one pass, each with an answer; there is room for %u", count,
                         s->answers);
    return run_pass(s, token, count, count, logits);
}

void language_stepper_begin(struct language_stepper *s, unsigned lane)
{
    s->places[s->lane] = s->position;
    s->lane = s->kept = lane;
    s->position = 0;
    if (s->pages)
        language_pages_cut(s->pages, lane, 0);
}

bool language_stepper_promise(struct language_stepper *s, unsigned lane, unsigned tokens)
{
    return !s->pages || language_pages_promise(s->pages, lane, tokens);
}

void language_stepper_end(struct language_stepper *s, unsigned lane)
{
    if (s->pages)
        language_pages_end(s->pages, lane);
}

/* Whether each has room for its tokens. */
static bool have_room(const struct language_stepper *s, unsigned count, struct orch_error *error)
{
    for (unsigned i = 0; i < count; i++)
        if (position_of(s, i) >= s->context)
            return orch_fail(error, ORCH_USAGE, "the context of %u tokens is full", s->context);
    return true;
}

bool language_step_lanes(struct language_stepper *s, const struct language_token *token, unsigned count, const float **logits,
                         struct language_sum *sum, struct orch_error *error)
{
    uint32_t number[LANGUAGE_BATCH];
    unsigned answers = 0;
    for (unsigned i = 0; i < count; i++)
        answers += token[i].answers;
    if (answers > s->answers || count > s->batch)
        return orch_fail(error, ORCH_INTERNAL, "%u tokens, %u with answers, in one pass; there is room for %u and %u", count,
                         answers, s->batch, s->answers);
    for (unsigned i = 0; i < count; i++)
        number[i] = token[i].token;
    s->places[s->lane] = s->position;
    s->position = 0;
    s->side = token;
    const bool ok = begin_step(s, number, 0, sum, error) && language_check_tokens(s, number, count) &&
                    have_room(s, count, error) && run_pass(s, number, count, answers, logits);
    s->side = NULL;
    for (unsigned i = 0; ok && i < count; i++)
        s->places[token[i].lane]++;
    s->position = s->places[s->lane];
    s->kept = s->lane;
    return ok;
}

unsigned language_stepper_sources(const struct language_stepper *stepper)
{
    return stepper->sources;
}

unsigned language_stepper_most(const struct language_stepper *stepper)
{
    return stepper->batch;
}

unsigned language_stepper_position(const struct language_stepper *stepper)
{
    return stepper->position;
}

void language_stepper_rewind(struct language_stepper *stepper, unsigned position)
{
    if (position >= stepper->position)
        return;
    stepper->position = position;
    if (stepper->pages)
        language_pages_cut(stepper->pages, stepper->lane, position);
}

bool language_step(struct language_stepper *s, const uint32_t *token, size_t count, const float **logits,
                   struct language_sum *sum, struct orch_error *error)
{
    if (!begin_step(s, token, count, sum, error))
        return false;
    for (size_t i = 0, some; i < count; i += some) {
        some = most_together(s, count - i);
        if (!run_pass(s, token + i, (unsigned)some, 1, i + some == count ? logits : NULL))
            return false;
    }
    return true;
}
