/* One result per row or column, in f32; compiled for each type of elements. Rows run in sixteen lanes, sums of rows in eight
 * where that is asked for, columns one row after the other in blocks of 64. */
#include "units/cpu/kernels/native/neon.h"
#include "units/cpu/kernels/native/neon_math.h"

/* ORDER: operations.h. */
enum { SUM, MEAN, MAX, MIN, PROD, NORM2, ARGMAX, ARGMIN };
enum { LANES = 16, BLOCK = 64 };

/* ORDER: cpu_kernel_rows.c. */
struct reduce {
    const element *x;
    void *out; /* elements, or places as uint32_t */
    int64_t rows, columns, op;
    int64_t eight; /* sums of rows run in eight lanes */
};
void NAME(neon_reduce_rows)(const struct reduce *r, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_reduce_columns)(const struct reduce *r, uint64_t first, uint64_t end, uint64_t thread);

static inline float32x4_t combine(int64_t op, float32x4_t all, float32x4_t x)
{
    switch (op) {
    case SUM:
    case MEAN: return vaddq_f32(all, x);
    case MAX: return vmaxq_f32(all, x);
    case MIN: return vminq_f32(all, x);
    case PROD: return vmulq_f32(all, x);
    default: return vfmaq_f32(all, x, x); /* norm2 */
    }
}

static float neutral(int64_t op)
{
    const float infinity = __builtin_inff();
    return op == MAX || op == ARGMAX ? -infinity : op == MIN || op == ARGMIN ? infinity : op == PROD;
}

static float finish(int64_t op, float all, int64_t count)
{
    return op == MEAN ? all / (float)count : op == NORM2 ? __builtin_sqrtf(all) : all;
}

/* In `chains` vectors, each of which waits for its last addition; no more than four. */
static inline float reduce_row(const element *x, int64_t count, int64_t op, int chains)
{
    float32x4_t all[4] = {four(neutral(op)), four(neutral(op)), four(neutral(op)), four(neutral(op))};
    float part[LANES];
    int64_t i = 0;
    for (; i + 4 * chains <= count; i += 4 * chains)
        for (int k = 0; k < chains; k++)
            all[k] = combine(op, all[k], load4(x + i + 4 * k));
    for (int k = 0; k < LANES; k++)
        part[k] = i + k < count ? load1(x + i + k) : op == NORM2 ? 0 : neutral(op);
    for (int k = 0; k < 4; k++)
        all[k] = combine(op, all[k], vld1q_f32(part + 4 * k));
    if (op == NORM2)
        op = SUM; /* of the lanes */
    const float32x4_t both = combine(op, combine(op, all[0], all[1]), combine(op, all[2], all[3]));
    const float32x4_t two = combine(op, both, vextq_f32(both, both, 2));
    return vgetq_lane_f32(combine(op, two, vextq_f32(two, two, 1)), 0);
}

/* Each lane keeps its best element and where that was; of equal ones the first. */
static inline uint32_t find_place(const element *x, int64_t count, bool least_one)
{
    float32x4_t best = four(least_one ? __builtin_inff() : -__builtin_inff());
    uint32x4_t place = vdupq_n_u32(0), at = {0, 1, 2, 3};
    float values[4];
    uint32_t places[4];
    int64_t i = 0;
    for (; i + 4 <= count; i += 4, at = vaddq_u32(at, vdupq_n_u32(4))) {
        const float32x4_t v = load4(x + i);
        const uint32x4_t better = least_one ? vcltq_f32(v, best) : vcgtq_f32(v, best);
        best = vbslq_f32(better, v, best);
        place = vbslq_u32(better, at, place);
    }
    vst1q_f32(values, best);
    vst1q_u32(places, place);
    float value = values[0];
    uint32_t found = places[0];
    for (int k = 1; k < 4; k++) {
        const bool better = least_one ? values[k] < value : values[k] > value;
        if (better || (values[k] == value && places[k] < found)) {
            value = values[k];
            found = places[k];
        }
    }
    for (; i < count; i++) {
        const float v = load1(x + i);
        if (least_one ? v < value : v > value) {
            value = v;
            found = (uint32_t)i;
        }
    }
    return found;
}

/* Items are rows. */
void NAME(neon_reduce_rows)(const struct reduce *r, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (uint64_t i = first; i < end; i++) {
        const element *const x = r->x + (int64_t)i * r->columns;
        float all;
        switch (r->op) { /* so that each has a loop of its own */
        case ARGMAX: ((uint32_t *)r->out)[i] = find_place(x, r->columns, false); continue;
        case ARGMIN: ((uint32_t *)r->out)[i] = find_place(x, r->columns, true); continue;
        case MAX: all = reduce_row(x, r->columns, MAX, 4); break;
        case MIN: all = reduce_row(x, r->columns, MIN, 4); break;
        case PROD: all = reduce_row(x, r->columns, PROD, 4); break;
        case NORM2: all = reduce_row(x, r->columns, NORM2, 4); break;
        default: all = r->eight ? reduce_row(x, r->columns, SUM, 2) : reduce_row(x, r->columns, SUM, 4);
        }
        store1((element *)r->out + i, finish(r->op, all, r->columns));
    }
}

/* Columns `at` .. of all rows into all[], and for places into place[]. */
static inline void reduce_block(const struct reduce *r, const element *x, int64_t used, int64_t op, float *all)
{
    for (int64_t row = 0; row < r->rows; row++, x += r->columns) {
        int64_t j = 0;
        for (; j + 4 <= used; j += 4)
            vst1q_f32(all + j, combine(op, vld1q_f32(all + j), load4(x + j)));
        if (j < used)
            vst1q_f32(all + j, combine(op, vld1q_f32(all + j), load_part(x + j, used - j)));
    }
}

static void place_block(const struct reduce *r, const element *x, int64_t used, float *best, uint32_t *place)
{
    for (int64_t row = 0; row < r->rows; row++, x += r->columns)
        for (int64_t j = 0; j < used; j++) {
            const float v = load1(x + j);
            const bool better = r->op == ARGMIN ? v < best[j] : v > best[j];
            best[j] = better ? v : best[j];
            place[j] = better ? (uint32_t)row : place[j];
        }
}

/* Items are blocks of 64 columns. */
void NAME(neon_reduce_columns)(const struct reduce *r, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (uint64_t block = first; block < end; block++) {
        const int64_t at = (int64_t)block * BLOCK, used = least(BLOCK, r->columns - at);
        float all[BLOCK];
        uint32_t place[BLOCK];
        for (int j = 0; j < BLOCK; j++)
            all[j] = neutral(r->op), place[j] = 0;
        switch (r->op) {
        case ARGMAX:
        case ARGMIN: place_block(r, r->x + at, used, all, place); break;
        case MAX: reduce_block(r, r->x + at, used, MAX, all); break;
        case MIN: reduce_block(r, r->x + at, used, MIN, all); break;
        case PROD: reduce_block(r, r->x + at, used, PROD, all); break;
        case NORM2: reduce_block(r, r->x + at, used, NORM2, all); break;
        default: reduce_block(r, r->x + at, used, SUM, all);
        }
        for (int64_t j = 0; j < used; j++) {
            if (r->op >= ARGMAX)
                ((uint32_t *)r->out)[at + j] = place[j];
            else
                store1((element *)r->out + at + j, finish(r->op, all[j], r->rows));
        }
    }
}
