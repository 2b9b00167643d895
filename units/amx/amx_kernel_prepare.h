/* Preparation of outer products: operands whose lanes differ from those of Z are rewritten, a chunk of pairs at a time, as
 * operands of a plain outer product. */
#ifndef ORCHARD_UNITS_AMX_AMX_KERNEL_PREPARE_H
#define ORCHARD_UNITS_AMX_AMX_KERNEL_PREPARE_H

#include "units/amx/amx_kernel_outer.h"

typedef uint32_t u32x16 __attribute__((vector_size(64)));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef float f32x16 __attribute__((vector_size(64)));
typedef int16_t i16x32 __attribute__((vector_size(64)));
typedef uint16_t u16x32 __attribute__((vector_size(64)));
typedef uint16_t u16x16 __attribute__((vector_size(32)));

#define PREPARED_CHUNK 32 /* entries prepared at a time: 12 KiB, so that L1 holds them */

struct prepared {
    u32x16 x[4];
    u32x16 y[2];
};

struct prepared_batch {
    struct prepared entry[PREPARED_CHUNK];
    struct amx_pair pairs[PREPARED_CHUNK];
    struct amx_batch batch;
};

typedef void prepare_fn(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags);

KERNEL_INLINE u32x16 load_u32x16(const uint8_t *from)
{
    u32x16 v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* 16 lanes of 16 bits, zero-extended. */
KERNEL_INLINE u32x16 load_half(const uint8_t *from)
{
    u16x16 v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, u32x16);
}

#ifndef WIDEN_F16
/* With exponent and fraction moved into place, the value is too small by 2^112, denormals included. NaN payloads are kept,
 * because arithmetic follows. */
KERNEL_INLINE u32x16 widen_f16(u32x16 h)
{
    const f32x16 scaled = (f32x16)((h & 0x7fff) << 13) * 0x1p112f;
    const u32x16 special = (u32x16)((h & 0x7c00) == 0x7c00) & 0x7f800000;
    return (u32x16)scaled | special | (h & 0x8000) << 16;
}
#define WIDEN_F16 widen_f16
#endif

#ifndef NARROW_F16
/* The reverse, for f32 lanes that hold f16 values and no NaN but the default one. */
KERNEL_INLINE u32x16 narrow_f16(u32x16 v)
{
    const u32x16 magnitude = v & 0x7fffffff;
    const u32x16 finite = (u32x16)((f32x16)magnitude * 0x1p-112f) >> 13;
    const u32x16 special = 0x7c00 | (magnitude >> 13 & 0x200);
    const u32x16 is_special = (u32x16)(magnitude >= 0x7f800000);
    return (finite & ~is_special) | (special & is_special) | (v >> 16 & 0x8000);
}
#define NARROW_F16 narrow_f16
#endif

KERNEL_INLINE void prepare_f16_f32(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    (void)flags;
    const u32x16 lanes = load_u32x16(x);
    to->x[0] = WIDEN_F16(lanes & 0xffff);
    to->x[1] = WIDEN_F16(lanes >> 16);
    to->y[0] = WIDEN_F16(load_half(y));
    to->y[1] = WIDEN_F16(load_half(y + 32));
}

KERNEL_INLINE void prepare_bf16_f32(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    (void)flags;
    const u32x16 lanes = load_u32x16(x);
    to->x[0] = lanes << 16;
    to->x[1] = lanes & 0xffff0000;
    to->y[0] = load_half(y) << 16;
    to->y[1] = load_half(y + 32) << 16;
}

/* 16-bit lanes of one operand of mac16 or matint: unchanged, or their signed low bytes. */
KERNEL_INLINE u32x16 lanes16(const uint8_t *from, unsigned low_byte)
{
    const u32x16 v = load_u32x16(from);
    return low_byte ? (u32x16)((i16x32)((u16x32)v << 8) >> 8) : v;
}

/* Puts each y lane twice into 32 bits, so that a 32-bit broadcast, which costs no shuffle, distributes it. */
KERNEL_INLINE void prepare_i16(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    to->x[0] = lanes16(x, flags & AMX_X_LOW_BYTE);
    const u32x16 y_lanes = lanes16(y, flags & AMX_Y_LOW_BYTE);
    to->y[0] = load_half((const uint8_t *)&y_lanes) * 0x10001;
    to->y[1] = load_half((const uint8_t *)&y_lanes + 32) * 0x10001;
}

/* Extends byte `part` (0 or 1) of every 16-bit lane to the lane. */
KERNEL_INLINE u32x16 bytes_of_pairs(u32x16 v, unsigned part, unsigned is_signed)
{
    const u16x32 up = part ? (u16x32)v & 0xff00 : (u16x32)v << 8;
    return is_signed ? (u32x16)((i16x32)up >> 8) : (u32x16)(up >> 8);
}

KERNEL_INLINE void prepare_i8_i16(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    const u32x16 lanes = load_u32x16(x);
    to->x[0] = bytes_of_pairs(lanes, 0, flags & AMX_X_SIGNED);
    to->x[1] = bytes_of_pairs(lanes, 1, flags & AMX_X_SIGNED);
    const u32x16 y_lanes = bytes_of_pairs(load_u32x16(y), 0, flags & AMX_Y_SIGNED);
    to->y[0] = load_half((const uint8_t *)&y_lanes) * 0x10001;
    to->y[1] = load_half((const uint8_t *)&y_lanes + 32) * 0x10001;
}

/* Prepares lanes for madd16: one outer product in the low halves; a second one is merged into the high halves. */
KERNEL_INLINE void prepare_i16_i32(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    const u32x16 lanes = lanes16(x, flags & AMX_X_LOW_BYTE);
    to->x[0] = lanes & 0xffff;
    to->x[1] = lanes >> 16;
    const u32x16 y_lanes = lanes16(y, flags & AMX_Y_LOW_BYTE);
    to->y[0] = load_half((const uint8_t *)&y_lanes);
    to->y[1] = load_half((const uint8_t *)&y_lanes + 32);
}

KERNEL_INLINE u32x16 byte_of_words(u32x16 v, unsigned part, unsigned is_signed)
{
    const u32x16 up = v << (24 - 8 * part);
    return (is_signed ? (u32x16)((i32x16)up >> 24) : up >> 24) & 0xffff;
}

/* The same four parts of x, and every other byte of y. */
KERNEL_INLINE void prepare_i8_i16_wide(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    const u32x16 lanes = load_u32x16(x);
#pragma GCC unroll 4
    for (unsigned part = 0; part < 4; part++)
        to->x[part] = byte_of_words(lanes, part, flags & AMX_X_SIGNED);
    const u32x16 y_lanes = bytes_of_pairs(load_u32x16(y), 0, flags & AMX_Y_SIGNED);
    to->y[0] = load_half((const uint8_t *)&y_lanes);
    to->y[1] = load_half((const uint8_t *)&y_lanes + 32);
}

KERNEL_INLINE void prepare_i8_i32(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    const u32x16 lanes = load_u32x16(x);
#pragma GCC unroll 4
    for (unsigned part = 0; part < 4; part++)
        to->x[part] = byte_of_words(lanes, part, flags & AMX_X_SIGNED);
    to->y[0] = byte_of_words(load_u32x16(y), 0, flags & AMX_Y_SIGNED);
}

/* Walks over the pairs of a batch, through all passes. */
struct pair_walk {
    const struct amx_batch *batch;
    unsigned left, n;
    ptrdiff_t x_at, y_at;
};

KERNEL_INLINE struct amx_pair next_pair(struct pair_walk *walk)
{
    const struct amx_batch *batch = walk->batch;
    const struct amx_pair pair = {batch->pairs[walk->n].x + walk->x_at, batch->pairs[walk->n].y + walk->y_at};
    if (++walk->n == batch->count) {
        walk->n = 0;
        walk->x_at += batch->x_step;
        walk->y_at += batch->y_step;
    }
    walk->left--;
    return pair;
}

/* Prepares the next outer products, `merge` (1 or 2) of them in each of up to PREPARED_CHUNK entries. */
KERNEL_INLINE void prepare_chunk(struct prepared_batch *to, struct outer_shape shape, struct pair_walk *walk, unsigned merge,
                                 prepare_fn *prepare)
{
    const unsigned most = PREPARED_CHUNK * merge, flags = walk->batch->flags;
    const unsigned count = walk->left < most ? walk->left : most;
    const unsigned entries = (count + merge - 1) / merge;
    for (unsigned n = 0; n < entries; n++) {
        const struct amx_pair pair = next_pair(walk);
        struct prepared *entry = &to->entry[n];
        prepare(entry, pair.x, pair.y, flags);
        if (merge == 2 && n * 2 + 1 < count) {
            const struct amx_pair merged = next_pair(walk);
            struct prepared second;
            prepare(&second, merged.x, merged.y, flags);
#pragma GCC unroll 4
            for (unsigned v = 0; v < shape.parts; v++)
                entry->x[v] |= second.x[v] << 16;
#pragma GCC unroll 2
            for (unsigned h = 0; h < shape.y_lanes / 16; h++)
                entry->y[h] |= second.y[h] << 16;
        }
        to->pairs[n] = (struct amx_pair){(const uint8_t *)entry->x, (const uint8_t *)entry->y};
    }
    to->batch = (struct amx_batch){.pairs = to->pairs, .count = entries, .passes = 1};
}

KERNEL_INLINE void outer_prepared(z_row *z, struct outer_shape shape, const struct amx_batch *batch, unsigned merge,
                                  prepare_fn *prepare, vec_step *step, vec_finish *finish)
{
    struct prepared_batch chunk;
    struct pair_walk walk = {.batch = batch, .left = batch->count * batch->passes};
    while (walk.left > 0) {
        prepare_chunk(&chunk, shape, &walk, merge, prepare);
        outer_batch(z, shape, &chunk.batch, step, finish);
    }
}

#endif
