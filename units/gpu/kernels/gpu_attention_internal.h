/* The one-pass attention program while it is emitted; shared by gpu_attention*.c only. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_ATTENTION_INTERNAL_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_ATTENTION_INTERNAL_H

#include "units/gpu/kernels/gpu_attention.h"

enum {
    FLASH_FOUR = 4,
    FLASH_KEYS = 32,
    FLASH_SIMDGROUPS = 4,
    FLASH_THREADS = 32 * FLASH_SIMDGROUPS,
    FLASH_ROWS_MAX = 2,
    FLASH_PART_MAX = 8,           /* sixteens of a head in threadgroup memory, and of queries in registers */
    FLASH_GROUP_BYTES = 32 << 10, /* of threadgroup memory */
    FLASH_WORK = 32, /* registers: blocks under way, or scores and fragments; of a block in turns, beside the scores */
    FLASH_SETS = 4   /* of fragments of V; the first two hold those of K */
};

struct gpu_flash {
    const struct gpu_attention *a;
    struct gpu_emit *e;
    unsigned row_tiles, depths; /* 8 queries each; 16 elements of a head each */
    unsigned parts, part;       /* of a head, one after another in threadgroup memory; sixteens of each */
    bool turns;                 /* keys and values take turns in threadgroup memory */
    unsigned four_halves;
    uint32_t pitch, k_address, v_address; /* pitch of lines in threadgroup memory in elements; addresses in bytes */
    struct gpu_base q_base, k_base, v_base, out_base;
    unsigned query, sum_out;          /* registers [row][depth], four elements; [row][2 depths] pairs */
    unsigned query_place;             /* of streamed queries: where this lane's elements begin */
    unsigned work, scores, fragments; /* scores: [row][c][q] pairs */
    unsigned largest, sum, factor, scratch, other;
    unsigned row, p, key, keys_end; /* first query of this lane; P; first key of the block; end of the keys that are needed */
    unsigned take_k[FLASH_FOUR], take_v, put_k, put_v; /* half registers */
    unsigned kv_start, line, column;                   /* this thread's place in a block */
};

/* gpu_attention_load.c */
void gpu_flash_take_registers(struct gpu_flash *f);
/* Computes the places of this lane: its queries, its part of blocks, its fragments in threadgroup memory. */
void gpu_flash_find_place(struct gpu_flash *f);
/* to = element in column 0 of row `row` + 8 i (the last row if beyond the end) of this head's queries or results. */
void gpu_flash_query_element(struct gpu_flash *f, unsigned to, unsigned i);
void gpu_flash_load_queries(struct gpu_flash *f);
/* Loads the next block of keys and values into threadgroup memory, between two barriers. */
void gpu_flash_load_blocks(struct gpu_flash *f);
/* In turns: loads one part of the next keys or values into threadgroup memory, between two barriers. */
void gpu_flash_load_part(struct gpu_flash *f, bool is_v, unsigned part);
/* Streamed queries: loads sixteen number `depth` of this lane's query. gpu_wait(0) before its use. */
void gpu_flash_stream_query(struct gpu_flash *f, unsigned depth);

static inline uint32_t gpu_flash_bytes(const struct gpu_flash *f)
{
    return (uint32_t)gpu_type_bytes(f->a->type, 1);
}

static inline uint32_t gpu_flash_queries(const struct gpu_flash *f)
{
    return 8 * f->row_tiles * FLASH_SIMDGROUPS;
}

static inline unsigned gpu_flash_column_step(const struct gpu_flash *f)
{
    return f->part % 2 ? 4 : 8;
}

/* Whether queries are too long for registers: each block of keys loads them again. Two sixteens lie behind the fragments. */
static inline bool gpu_flash_streams(const struct gpu_flash *f)
{
    return f->parts > 1;
}

static inline unsigned gpu_flash_query_half(const struct gpu_flash *f, unsigned i, unsigned depth, unsigned h)
{
    const unsigned place = gpu_flash_streams(f) ? depth % 2 : i * f->depths + depth;
    return 2 * f->query + place * f->four_halves + h * f->four_halves / 2;
}

#endif
