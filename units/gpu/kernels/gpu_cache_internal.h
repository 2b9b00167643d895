/* What the files of cache-attention share: its shape, and the registers that its parts hand to one another. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_CACHE_INTERNAL_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_CACHE_INTERNAL_H

#include "units/gpu/kernels/gpu_emit.h"
#include "units/kernel_pages.h"

enum {
    GPU_CACHE_LANES = 32,
    GPU_CACHE_FOUR = 4, /* elements of a lane */
    GPU_CACHE_KEYS = 4, /* that a simdgroup meets together */
    GPU_CACHE_CHUNK = GPU_CACHE_LANES * GPU_CACHE_FOUR,
    GPU_CACHE_BLOCK = 32
};

struct gpu_cache {
    struct gpu_emit *e;
    enum gpu_type type, cached; /* of queries and results, of keys and values */
    uint32_t heads, tokens, depth, kv_heads, queries;
    bool sees_all, whole, biased; /* all keys by each query; products as they are, not by sqrt(d); a bias for each score */
    unsigned chunks, simdgroups;
    struct kernel_pages pages;
    struct gpu_base q, k, v, page, bias_base, out;
    /* Registers. */
    unsigned lane, simdgroup, group;     /* group: number of the query's head */
    unsigned place, row, key, seen;      /* place: of this lane's elements in a token's keys; seen: keys of the query */
    unsigned query, sum_v;               /* four for each chunk: elements of the query, sums of the result */
    unsigned keys, values, score;        /* of the keys in work */
    unsigned most, sum, next, low, last; /* low: less than any score */
    unsigned key_scale, value_scale;     /* of blocks: as keys and values, one for each four; then a place */
    unsigned block;
    unsigned moved;         /* of pages: tokens from where the keys in work would be to where they are */
    unsigned bias, bias_at; /* of the keys in work, as the query has them; of the query: element of its first key */
};

/* Loads this lane's elements of a row that begins at element `row`, in as many chunks as there are; scales of blocks go to
 * `scale`. */
void gpu_cache_load(struct gpu_cache *c, unsigned slot, enum gpu_type type, unsigned to, unsigned scale, struct gpu_base base,
                    unsigned row);
/* What was loaded of so many rows becomes float32. */
void gpu_cache_widen(struct gpu_cache *c, enum gpu_type type, unsigned first, unsigned rows);
/* Keys behind the last one are read as the last one, and count nothing. */
void gpu_cache_load_keys(struct gpu_cache *c);
void gpu_cache_make_scores(struct gpu_cache *c);

#endif
