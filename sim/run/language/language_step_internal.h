/* What the files of language_step share: where weights and values of a model lie, and its kernels as calls. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_STEP_INTERNAL_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_STEP_INTERNAL_H

#include "sim/run/language/language_step.h"

struct placed_matrix {
    struct language_buffer data, bias; /* bias host NULL = none */
    const char *format;
    uint64_t rows; /* of one expert where there are several */
    unsigned columns;
};

struct placed_norm {
    struct language_buffer scale, shift; /* shift host NULL = none */
};

struct placed_layer {
    struct placed_norm attention_norm, feed_forward_norm, query_norm, key_norm;
    struct placed_matrix query, key, value, output, gate, up, down, router;
    struct language_buffer keys, values; /* [token][head][d] */
    struct language_buffer sinks;        /* rows of biases of all heads: none, of what is hidden, of the sink */
    /* Of a layer that looks at what an encoder made. */
    struct placed_norm cross_norm;
    struct placed_matrix cross_query, cross_key, cross_value, cross_output;
    struct language_buffer cross_keys, cross_values;
};

struct language_stepper {
    const struct language_model *model;
    const struct language_shape *shape;
    struct language_unit *unit;
    enum orch_part part; /* whose kernels the pass in work uses */
    struct language_shards shards;
    unsigned context, position, batch;
    unsigned lanes, lane;              /* sequences that have caches; whose tokens a pass has */
    unsigned *places;                  /* by lane: tokens in its cache, but for the lane that is in work */
    unsigned kept;                     /* the lane whose keys and values calls write and read */
    const struct language_token *side; /* the tokens of a pass over several sequences; NULL = tokens of one follow */
    unsigned count;                    /* tokens of the pass in work */
    const char *values;                /* type of what is not a weight: "f32", on the Neural Engine "f16" */
    unsigned value_bytes;              /* of one of them */
    const struct block_format *cached; /* of keys and values; NULL = as values */
    struct language_cache_form cache;
    struct language_pages *pages; /* NULL = each sequence has one piece */
    struct language_buffer page_table;
    uint64_t widened_values; /* that the buffer for matrices in f32 holds */
    bool turned;             /* matrices lie as the Neural Engine's products take them: [column][row] */
    bool scaled;             /* speeds of rotation are scaled */
    struct decoder_ends ends;
    struct placed_layer *layer;
    struct placed_matrix head;
    struct placed_norm last_norm;
    /* Of as many tokens as a pass may have. */
    struct language_buffer stream, normed, query, turned_query, key, turned_key, attended, mixed, gate, up, table, row;
    struct language_buffer logits, index, widened, scale, speeds;
    struct language_buffer attention[2]; /* what values of a head are multiplied by, in f32 and f16; bytes 0 = nothing */
    struct language_buffer gate_numbers; /* of the clamped gate: its limit, the least value, one, the slope */
    struct language_buffer swish;        /* of it, too */
    struct language_buffer router, chosen, weights, weighed; /* of experts */
    /* Of an encoder. */
    unsigned encoded;             /* tokens that it makes of a text or sound, at most; 0 = there is none */
    unsigned sources;             /* that go through it together, at most */
    unsigned *seen;               /* by lane: tokens that it made */
    uint64_t bias_first;          /* in `bias`: of the sequence in work */
    struct placed_layer *encoder; /* its layers */
    struct placed_norm encoder_norm;
    struct placed_matrix front[2]; /* filters, whose values lie tap by tap */
    struct language_buffer encoder_positions, frames, filtered, columns;
    struct language_buffer distances, encoder_distances, numbers, bias; /* bias: of each query, key and head */
    unsigned answers;                                                   /* tokens whose logits there is room for */
    float *shown;                                                       /* logits as float32 where values are not */
    uint64_t weight_bytes, cache_bytes;
    struct language_halves halves;
    struct language_sum *sum; /* of the pass in work, as is the next */
    struct orch_error *error;
};

/* ---- language_place.c ---- */

/* Kernels of this unit come next; their values are halves on the Neural Engine. */
void language_enter(struct language_stepper *s, enum orch_part part);
/* The unit of a layer; layers beyond the last one: of what follows it. */
enum orch_part language_layer_part(const struct language_stepper *s, unsigned layer);
/* Whether tokens are of the vocabulary. */
bool language_check_tokens(const struct language_stepper *s, const uint32_t *token, size_t count);
/* Whether kernels widen the format to f32, or multiply by it. */
bool language_format_widens(const char *format);
/* ---- language_halve.c ---- */

/* Whether a matrix is rounded to f16 before the unit sees it: all but f16, which the Neural Engine's products have alone. */
bool language_is_halved(const struct language_stepper *s, const struct decoder_matrix *matrix);
/* A value of such a matrix. False = it is beyond f16. */
bool language_halve(struct language_stepper *s, const struct decoder_matrix *matrix, uint64_t row, float value, uint16_t *to);
/* A row of it. False = a value is beyond f16, or memory is out. */
bool language_halve_row(struct language_stepper *s, const struct decoder_matrix *matrix, uint64_t row, uint16_t *to);

/* ---- language_restate.c ---- */

/* The format in which a matrix lies where kernels read it: its own, where there are products with it. */
const char *language_restated(const struct decoder_matrix *matrix);
/* Writes the matrix in another format than its own. */
void language_restate(const struct decoder_matrix *matrix, const char *format, void *to);

/* ---- language_kernel.c: kernels on the values of a pass; titles name them in the placement ---- */

/* The unit of what is no product. */
enum orch_part language_rest_part(const struct language_stepper *s);
/* The first elements of a buffer of values. */
struct language_buffer language_values(const struct language_stepper *s, const struct language_buffer *buffer, uint64_t count);
/* to[token] = matrix * from[token], and the bias; `expert` counts from the first matrix. */
bool language_multiply(struct language_stepper *s, const char *title, const struct placed_matrix *m, unsigned expert,
                       unsigned tokens, const struct language_buffer *from, const struct language_buffer *to);
bool language_normalise(struct language_stepper *s, const char *title, const struct placed_norm *n, unsigned rows,
                        const struct language_buffer *from, const struct language_buffer *to);
/* to = op(a, b); b NULL = of one operand. `period` elements of b are taken again and again; 0 = there are as many as of a. */
bool language_combine(struct language_stepper *s, const char *title, const char *op, uint64_t count, uint64_t period,
                      const struct language_buffer *a, const struct language_buffer *b, const struct language_buffer *to);
bool language_rotate(struct language_stepper *s, const char *title, unsigned heads, const struct language_buffer *from,
                     const struct language_buffer *to);
/* The values behind a layer become those of another unit. */
bool language_hand_over(struct language_stepper *s, enum orch_part to);
/* Rows of a table by number; CPU cores do it, as llama.cpp has it. */
bool language_look_up(struct language_stepper *s, const char *title, const struct decoder_matrix *table, const uint32_t *row,
                      unsigned rows, const struct language_buffer *to);

/* ---- language_keep.c: the cache of keys and values ---- */

/* Rows of a buffer of keys or values in the cache, from a token of the lane on: so many of them that follow one another there. */
struct language_buffer language_cached(const struct language_stepper *s, const struct language_buffer *rows, unsigned first,
                                       unsigned count);
unsigned language_cached_together(const struct language_stepper *s, unsigned first, unsigned count);
/* Rows of keys, or of values, that a layer has room for. */
uint64_t language_cached_rows(const struct language_stepper *s);
/* Bytes of a token's keys in the cache. */
uint64_t language_cached_row(const struct language_stepper *s);
/* to = so many values of from. */
bool language_copy(struct language_stepper *s, const char *title, unsigned values, const struct language_buffer *from,
                   const struct language_buffer *to);
/* Values of the tokens go into the cache, in its type. */
bool language_keep(struct language_stepper *s, const char *title, const struct language_buffer *from,
                   const struct language_buffer *rows);
/* The same of tokens that an encoder made, which follow one another from the first row on. */
bool language_keep_across(struct language_stepper *s, const char *title, unsigned tokens, const struct language_buffer *from,
                          const struct language_buffer *rows);
/* Queries of the pass over what the cache holds. */
bool language_look_back(struct language_stepper *s, const struct placed_layer *l, const struct language_buffer *query,
                        const struct language_buffer *attended);

/* Queries over keys and values that lie in one piece. */
struct language_attention {
    const char *title;
    const struct language_buffer *query, *keys, *values, *to;
    unsigned queries, seen;
    bool all, biased; /* each query sees all keys; scores have the biases of the pass */
    bool kept;        /* keys and values are in the cache's type */
};
bool language_attend(struct language_stepper *s, const struct language_attention *a);

/* ---- language_sinks.c ---- */

enum { LANGUAGE_SINK_ROWS = 2 }; /* of the cache, beside those of tokens */
/* Numbers and values of the clamped gate, and of biases that hide keys, where a model has them. */
bool language_place_gate(struct language_stepper *s);
bool language_place_sinks(struct language_stepper *s, const struct decoder_layer *from, struct language_buffer *to);
bool language_look_back_at_sinks(struct language_stepper *s, const struct placed_layer *l, const struct language_buffer *query,
                                 const struct language_buffer *attended);

/* ---- language_encode.c ---- */

/* Rows of a table by the numbers in `numbers`, zeros for numbers beyond it. */
bool language_gather(struct language_stepper *s, const char *title, const struct language_buffer *table, unsigned rows,
                     unsigned columns, uint64_t count, const struct language_buffer *to);

/* The tokens of the same sequence from `t` on, in a pass over several. */
unsigned language_tokens_of_lane(const struct language_stepper *s, unsigned t, unsigned end);
/* bias = what distances from so many keys add to the scores of queries, the first of which is at a place of the text. */
bool language_find_biases(struct language_stepper *s, unsigned first, unsigned queries, unsigned keys, bool encodes);
/* Adds to the stream what its tokens see of what the encoder made. */
bool language_look_across(struct language_stepper *s, const struct placed_layer *l);

/* ---- language_feed.c ---- */

/* mixed = the feed-forward network, or the best experts, of normed. */
bool language_feed_forward(struct language_stepper *s, const struct placed_layer *l);

#endif
