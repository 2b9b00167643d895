/* Counts of weights, and the bytes that they take. */
#include "sim/language/shape.h"

#include "isa/array_count.h"

/* What a walk over all weights adds up: matrices by their rows, and single vectors. */
struct tally {
    uint64_t matrices, vectors;
    uint64_t active;                   /* of matrices, those that one token passes through */
    const struct block_format *format; /* of the matrices */
    uint64_t bytes;
};

/* As llama.cpp's quantiser (src/llama-quant.cpp) does it. */
const struct block_format *shape_format_of(const struct block_format *wanted, uint64_t columns)
{
    static const char *const instead[][2] = {
        {"q2_k", "q4_0"}, {"q3_k", "q4_0"}, {"q4_k", "q5_0"}, {"q5_k", "q5_1"}, {"q6_k", "q8_0"},
    };
    for (size_t i = 0; columns % wanted->values != 0 && i < ARRAY_COUNT(instead); i++)
        if (wanted == block_format_named(instead[i][0]))
            wanted = block_format_named(instead[i][1]);
    return columns % wanted->values == 0 ? wanted : block_format_named("f16");
}

/* llama.cpp's quantiser gives output.weight more bits than other matrices: Q6_K, unless Q8_0 or floats are asked for. Sizes that
 * llama-bench prints of LLaMA 7B in Q4_0, 3.56 GiB, have this head. */
const struct block_format *shape_head_format_of(const struct block_format *wanted, uint64_t columns)
{
    static const char *const few[] = {"q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q5_k"};
    for (size_t i = 0; i < ARRAY_COUNT(few); i++)
        if (wanted == block_format_named(few[i]))
            return shape_format_of(block_format_named("q6_k"), columns);
    return shape_format_of(wanted, columns);
}

static void add_stored(struct tally *t, const struct block_format *format, uint64_t copies, uint64_t used, uint64_t rows,
                       uint64_t columns)
{
    t->matrices += copies * rows * columns;
    t->active += used * rows * columns;
    t->bytes += copies * rows * (columns / format->values) * format->bytes;
}

/* `copies` matrices, of which a token passes through `used`; rows of `columns` values. */
static void add_matrices(struct tally *t, uint64_t copies, uint64_t used, uint64_t rows, uint64_t columns)
{
    add_stored(t, shape_format_of(t->format, columns), copies, used, rows, columns);
}

static void add_matrix(struct tally *t, uint64_t rows, uint64_t columns)
{
    add_matrices(t, 1, 1, rows, columns);
}

static void add_vector(struct tally *t, uint64_t values)
{
    t->vectors += values;
    t->bytes += 4 * values;
}

static void add_norm(struct tally *t, const struct language_shape *s)
{
    add_vector(t, s->family->norm == SHAPE_LAYER_NORM ? 2 * s->width : s->width);
}

static void add_attention(struct tally *t, const struct language_shape *s)
{
    const struct shape_family *const f = s->family;
    const uint64_t queries = (uint64_t)s->heads * s->head_size, keys = (uint64_t)s->kv_heads * s->head_size;
    add_matrix(t, queries, s->width);
    add_matrix(t, keys, s->width);
    add_matrix(t, keys, s->width);
    add_matrix(t, s->width, queries);
    if (f->qkv_bias)
        add_vector(t, queries + (f->encoder ? keys : 2 * keys)); /* Whisper's keys have no bias */
    if (f->output_bias)
        add_vector(t, s->width);
    if (f->qk_norm)
        add_vector(t, 2 * s->head_size);
    if (f->sinks)
        add_vector(t, s->heads);
}

static void add_feed_forward(struct tally *t, const struct language_shape *s)
{
    const uint64_t copies = s->experts ? s->experts : 1, used = s->experts ? s->experts_used : 1, up = s->family->gated ? 2 : 1;
    add_matrices(t, copies * up, used * up, s->feed_forward, s->width);
    add_matrices(t, copies, used, s->width, s->feed_forward);
    if (s->family->feed_forward_bias)
        add_vector(t, copies * (up * s->feed_forward + s->width));
    if (s->experts) {
        add_matrix(t, s->experts, s->width); /* which experts a token goes to */
        if (s->family->feed_forward_bias)
            add_vector(t, s->experts);
    }
}

/* Two convolutions of width 3 over the spectrum and positions, of sound. */
static void add_front(struct tally *t, const struct language_shape *s)
{
    add_matrix(t, s->width, 3 * (uint64_t)s->encoder_channels);
    add_matrix(t, s->width, 3 * (uint64_t)s->width);
    add_vector(t, 2 * s->width);
    add_vector(t, (uint64_t)s->encoder_context * s->width);
}

/* Layers without a look at other texts, and a norm. */
static void add_encoder(struct tally *t, const struct language_shape *s)
{
    if (!s->family->encodes_text)
        add_front(t, s);
    if (s->family->distance_bias)
        add_vector(t, (uint64_t)s->distances * s->heads);
    for (unsigned i = 0; i < s->encoder_layers; i++) {
        add_norm(t, s);
        add_attention(t, s);
        add_norm(t, s);
        add_feed_forward(t, s);
    }
    add_norm(t, s);
}

static void add_layer(struct tally *t, const struct language_shape *s)
{
    add_norm(t, s);
    add_attention(t, s);
    if (s->family->encoder) { /* each layer also looks at the encoder */
        add_norm(t, s);
        add_attention(t, s);
    }
    if (!s->family->parallel)
        add_norm(t, s);
    add_feed_forward(t, s);
}

static struct tally tally(const struct language_shape *s, const struct block_format *format)
{
    struct tally t = {.format = format};
    add_matrices(&t, 1, s->tied, s->vocabulary, s->width);
    if (!s->tied)
        add_stored(&t, shape_head_format_of(format, s->width), 1, 1, s->vocabulary, s->width);
    if (s->family->head_bias)
        add_vector(&t, s->vocabulary);
    if (s->family->positions)
        add_vector(&t, (uint64_t)s->context * s->width);
    if (s->family->distance_bias)
        add_vector(&t, (uint64_t)s->distances * s->heads);
    for (unsigned i = 0; i < s->layers; i++)
        add_layer(&t, s);
    add_norm(&t, s);
    if (s->family->encoder)
        add_encoder(&t, s);
    return t;
}

struct shape_sizes shape_sizes(const struct language_shape *shape)
{
    const struct tally t = tally(shape, block_format_named("f16"));
    return (struct shape_sizes){t.matrices + t.vectors, t.matrices, t.active + t.vectors};
}

uint64_t shape_bytes(const struct language_shape *shape, const struct block_format *format)
{
    return tally(shape, format).bytes;
}

uint64_t shape_cache_bytes(const struct language_shape *shape, unsigned value_bytes)
{
    return 2ull * shape->layers * shape->kv_heads * shape->head_size * value_bytes;
}
