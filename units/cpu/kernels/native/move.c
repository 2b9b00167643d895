/* Kernels that only move elements: transpose, concat, gather, windows (pad and slice), broadcast. Compiled for elements of 4, 2
 * and 1 bytes.
 */
#include <arm_neon.h>
#include <stdbool.h>
#include <stdint.h>

#if defined ELEMENT_32
#define NAME(x) x##_32
typedef uint32_t element;
typedef uint32x4_t vector;
#define load   vld1q_u32
#define store  vst1q_u32
#define spread vdupq_n_u32
#define zip1   vzip1q_u32
#define zip2   vzip2q_u32
#elif defined ELEMENT_16
#define NAME(x) x##_16
typedef uint16_t element;
typedef uint16x8_t vector;
#define load    vld1q_u16
#define store   vst1q_u16
#define spread  vdupq_n_u16
#define zip1    vzip1q_u16
#define zip2    vzip2q_u16
#else
#define NAME(x) x##_8
typedef uint8_t element;
typedef uint8x16_t vector;
#define load    vld1q_u8
#define store   vst1q_u8
#define spread  vdupq_n_u8
#define zip1    vzip1q_u8
#define zip2    vzip2q_u8
#endif

enum { LANES = 16 / sizeof(element), TILE = 16, INPUTS = 4 };

/* ORDER of all: cpu_kernel_move.c. */
struct transpose {
    const element *x;
    element *out;
    int64_t rows, columns;
};
struct concat {
    element *out;
    const element *in[INPUTS];
    int64_t width[INPUTS];
};
struct gather {
    const element *table;
    const uint32_t *index;
    element *out;
    int64_t rows, columns;
};
struct window {
    const element *x;
    element *out;
    int64_t rows, columns, out_columns;
    int64_t top, left;   /* element (0, 0) of the result is (top, left) of the input */
    int64_t filler_bits; /* of elements outside the input */
};
struct broadcast {
    const element *x;
    element *out;
    int64_t columns, from_step, to_step; /* steps in elements */
};
void NAME(neon_broadcast)(const struct broadcast *b, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_transpose)(const struct transpose *t, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_concat)(const struct concat *c, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_gather)(const struct gather *g, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_window)(const struct window *w, uint64_t first, uint64_t end, uint64_t thread);

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void copy(element *to, const element *from, int64_t count)
{
    int64_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) {
        const vector a = load(from + i), b = load(from + i + LANES), c = load(from + i + 2 * LANES),
                     d = load(from + i + 3 * LANES);
        store(to + i, a);
        store(to + i + LANES, b);
        store(to + i + 2 * LANES, c);
        store(to + i + 3 * LANES, d);
    }
    for (; i + LANES <= count; i += LANES)
        store(to + i, load(from + i));
    for (; i < count; i++)
        to[i] = from[i];
}

static void fill(element *to, element value, int64_t count)
{
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        store(to + i, spread(value));
    for (; i < count; i++)
        to[i] = value;
}

/* ---- transpose: items are rows of tiles of 16 x 16, of all matrices ---- */

/* LANES x LANES elements: rows meet the ones half of all rows away, again and again. */
static inline void turn_square(element *to, int64_t to_row, const element *from, int64_t from_row)
{
    vector a[LANES], b[LANES];
    for (int i = 0; i < LANES; i++)
        a[i] = load(from + i * from_row);
    for (int step = 1; step < LANES; step *= 2) {
        for (int i = 0; i < LANES / 2; i++) {
            b[2 * i] = zip1(a[i], a[i + LANES / 2]);
            b[2 * i + 1] = zip2(a[i], a[i + LANES / 2]);
        }
        for (int i = 0; i < LANES; i++)
            a[i] = b[i];
    }
    for (int i = 0; i < LANES; i++)
        store(to + i * to_row, a[i]);
}

static void turn_tile(const struct transpose *t, const element *x, element *out, int64_t row, int64_t column)
{
    const int64_t rows = least(TILE, t->rows - row), columns = least(TILE, t->columns - column);
    const element *const from = x + row * t->columns + column;
    element *const to = out + column * t->rows + row;
    if (rows == TILE && columns == TILE) {
        for (int64_t i = 0; i < TILE; i += LANES)
            for (int64_t j = 0; j < TILE; j += LANES)
                turn_square(to + j * t->rows + i, t->rows, from + i * t->columns + j, t->columns);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[j * t->rows + i] = from[i * t->columns + j];
}

void NAME(neon_transpose)(const struct transpose *t, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t tiles = (t->rows + TILE - 1) / TILE;
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t matrix = at / tiles * t->rows * t->columns;
        for (int64_t column = 0; column < t->columns; column += TILE)
            turn_tile(t, t->x + matrix, t->out + matrix, at % tiles * TILE, column);
    }
}

/* ---- rows: items are rows of the result ---- */

void NAME(neon_concat)(const struct concat *c, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t all = c->width[0] + c->width[1] + c->width[2] + c->width[3];
    (void)thread;
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {
        element *to = c->out + row * all;
        for (int i = 0; i < INPUTS; i++) {
            copy(to, c->in[i] + row * c->width[i], c->width[i]);
            to += c->width[i];
        }
    }
}

void NAME(neon_gather)(const struct gather *g, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++) {
        const int64_t row = g->index[i];
        if (row < g->rows)
            copy(g->out + i * g->columns, g->table + row * g->columns, g->columns);
        else
            fill(g->out + i * g->columns, 0, g->columns);
    }
}

void NAME(neon_window)(const struct window *w, uint64_t first, uint64_t end, uint64_t thread)
{
    const element filler = (element)w->filler_bits;
    (void)thread;
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++) {
        const int64_t row = i + w->top, before = w->left < 0 ? least(-w->left, w->out_columns) : 0;
        const int64_t from = w->left + before, inside = least(w->columns - from, w->out_columns - before);
        element *const to = w->out + i * w->out_columns;
        if (row < 0 || row >= w->rows) {
            fill(to, filler, w->out_columns);
            continue;
        }
        fill(to, filler, before);
        copy(to + before, w->x + row * w->columns + from, inside);
        fill(to + before + inside, filler, w->out_columns - before - inside);
    }
}

/* ---- broadcast: items are rows of the result ---- */

/* One element a turn: the steps are known only when it runs, and the empty statement keeps the compiler from a second loop for
 * steps of 1. */
void NAME(neon_broadcast)(const struct broadcast *b, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t columns = b->columns, from_step = b->from_step, to_step = b->to_step;
    const element *const row = b->x;
    element *to = b->out + (int64_t)first * columns * to_step;
    (void)thread;
    for (int64_t i = (int64_t)first; i < (int64_t)end; i++) {
        const element *from = row;
        for (int64_t j = 0; j < columns; j++, from += from_step, to += to_step) {
            *to = *from;
            __asm__ volatile("" ::: "memory");
        }
    }
}
