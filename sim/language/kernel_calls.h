/* A pass of a language model as kernels of the GPU library: which ones, of which shapes and types, in order, and what the library
 * cannot do yet. It is the question that lowering puts; nothing is run here.
 */
#ifndef ORCHARD_SIM_LANGUAGE_KERNEL_CALLS_H
#define ORCHARD_SIM_LANGUAGE_KERNEL_CALLS_H

#include "sim/language/shape.h"

struct kernel_call {
    const char *what;      /* "attn_q" */
    unsigned times;        /* in the whole pass: all layers of a model are alike, and one stands for all */
    char kernel[96];       /* "gemv:4096x4096", as `orchard run` takes it */
    const char *precision; /* of the matrices, or of the values where there are none */
    const char *missing;   /* what the kernel would have to learn; NULL = nothing */
    double macs;           /* of one call; 0 = none to speak of */
};

struct kernel_calls {
    struct kernel_call *call;
    size_t count, room;
    /* Passes of one token, and the last token of others, as ggml has them (llama.cpp, 2023 on): values in f32 whatever the
     * matrices are, keys and values in f16, 32 places of the cache at least. */
    bool as_ggml;
    /* Sequences in the pass, each with its tokens and its cache; 0 = 1. Products and rows have the tokens of all. */
    unsigned sequences;
    /* Format of keys and values in the cache: halves or q8_0 that kernels make of values; NULL = as values are, of ggml f16. */
    const struct block_format *cached;
    unsigned page, pages; /* tokens of a page that the cache lies in, pages of all sequences; 0 = one piece each */
    unsigned encoded;     /* tokens of the text that an encoder reads; 0 = its context */
};

/* A pass over `tokens` tokens of each sequence behind `past` others that are in the cache, with matrices in one format. The list
 * starts zeroed, but for how it is asked for. */
bool kernel_calls_of(const struct language_shape *shape, const struct block_format *matrices, unsigned past, unsigned tokens,
                     struct kernel_calls *calls, struct orch_error *error);
/* What an encoder makes of a text or a sound, and the keys and values of it for all layers of the decoder. */
bool kernel_calls_encode(const struct language_shape *shape, const struct block_format *matrices, struct kernel_calls *calls,
                         struct orch_error *error);
unsigned kernel_calls_encoded(const struct language_shape *shape, const struct kernel_calls *calls);
void kernel_calls_free(struct kernel_calls *calls);

#endif
