/* Functions of simdgroups and quads: they act on the lanes that are together. The rules are those of the simulator's executing
 * side: sums of floats run over the lanes in ascending order, in f32, halves rounded once at the end; matrices add their products
 * in order, starting from C. What a lane reads of one that is not there is poison. */
#include "isa/agx/compiler/ir_interpret_number.h"
#include "isa/agx/compiler/ir_interpret_parts.h"

#include <string.h>

static bool is_float(unsigned reduction)
{
    return reduction >= IR_REDUCE_FADD && reduction <= IR_REDUCE_FMAX;
}

static uint64_t identity_of(unsigned reduction, unsigned bits)
{
    switch (reduction) {
    case IR_REDUCE_FMUL: return number_bits(1, bits);
    case IR_REDUCE_FMIN: return number_bits(INFINITY, bits);
    case IR_REDUCE_FMAX: return number_bits(-INFINITY, bits);
    case IR_REDUCE_UMIN:
    case IR_REDUCE_AND: return mask_of(bits);
    case IR_REDUCE_SMIN: return mask_of(bits) >> 1;
    case IR_REDUCE_SMAX: return (mask_of(bits) >> 1) + 1;
    default: return 0;
    }
}

pure_function *reduction_pair(unsigned reduction)
{
    switch (reduction) {
    case IR_REDUCE_ADD: return pure_of_op(IR_ADD);
    case IR_REDUCE_FADD: return pure_of_op(IR_FADD);
    case IR_REDUCE_FMUL: return pure_of_op(IR_FMUL);
    case IR_REDUCE_FMIN: return pure_of_builtin(IR_B_FMIN);
    case IR_REDUCE_FMAX: return pure_of_builtin(IR_B_FMAX);
    case IR_REDUCE_UMIN: return pure_of_builtin(IR_B_UMIN);
    case IR_REDUCE_UMAX: return pure_of_builtin(IR_B_UMAX);
    case IR_REDUCE_SMIN: return pure_of_builtin(IR_B_SMIN);
    case IR_REDUCE_SMAX: return pure_of_builtin(IR_B_SMAX);
    case IR_REDUCE_AND: return pure_of_op(IR_AND);
    case IR_REDUCE_OR: return pure_of_op(IR_OR);
    default: return pure_of_op(IR_XOR);
    }
}

/* One pair after another, by the functions that work on all lanes. */
static uint64_t reduce_pair(const struct step *step, uint64_t a, uint64_t b)
{
    uint64_t x[LANES] = {a}, y[LANES] = {b}, none[LANES] = {0}, out[LANES];
    reduction_pair(step->list)(step, out, x, y, none);
    return out[0];
}

static void reduce(struct step step, const uint64_t *in, uint64_t *out, uint32_t mask)
{
    const unsigned lanes = step.which == IR_B_QUAD_REDUCE ? 4 : LANES, bits = step.bits;
    const bool half = is_float(step.list) && bits == 16, prefix = step.which == IR_B_SIMD_PREFIX;
    if (half) {
        step.bits = 32;
        step.mask = UINT32_MAX;
    }
    for (unsigned first = 0; first < LANES; first += lanes) {
        uint64_t so_far = identity_of(step.list, step.bits);
        bool any = false;
        for (unsigned lane = first; lane < first + lanes; lane++) {
            if (!(mask >> lane & 1))
                continue;
            const uint64_t own = half ? number_bits(number_of(in[lane], 16), 32) : in[lane];
            out[lane] = so_far;
            so_far = any ? reduce_pair(&step, so_far, own) : own;
            any = true;
        }
        for (unsigned lane = first; lane < first + lanes; lane++) {
            out[lane] = prefix ? out[lane] : so_far;
            out[lane] = half ? number_bits(number_of(out[lane], 32), 16) : out[lane];
        }
    }
}

/* The lane that this one reads; -1 = none, so its own. */
static int source_lane(unsigned builtin, unsigned lane, uint64_t by)
{
    switch (builtin) {
    case IR_B_SIMD_SHUFFLE_XOR: return by < LANES ? (int)(lane ^ by) : -1;
    case IR_B_SIMD_SHUFFLE_UP: return by <= lane ? (int)(lane - by) : -1;
    case IR_B_SIMD_SHUFFLE_DOWN: return by < LANES - lane ? (int)(lane + by) : -1;
    default: return by < LANES ? (int)by : -1;
    }
}

static void shuffle(const struct step *step, const uint64_t *in, const uint64_t *by, uint64_t *out, uint32_t mask)
{
    const uint64_t masked = mask_of(32);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const int from = source_lane(step->which, lane, by[lane] & masked);
        out[lane] = from < 0 ? in[lane] : mask >> from & 1 ? in[from] : POISON & step->mask;
    }
}

void cross_step(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    uint64_t out[LANES] = {0};
    const uint64_t *const in = slot_read(m, s, step->a);
    uint32_t votes = 0;
    switch (step->which) {
    case IR_B_SIMD_REDUCE:
    case IR_B_SIMD_PREFIX:
    case IR_B_QUAD_REDUCE: reduce(*step, in, out, mask); break;
    case IR_B_SIMD_BALLOT:
        for (unsigned lane = 0; lane < LANES; lane++)
            votes |= (uint32_t)(in[lane] & 1) << lane;
        for (unsigned lane = 0; lane < LANES; lane++)
            out[lane] = votes & mask;
        break;
    case IR_B_SIMD_FIRST: out[__builtin_ctz(mask)] = 1; break;
    default: shuffle(step, in, slot_read(m, s, step->b), out, mask); break;
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1)
            s->slot[step->d][lane] = out[lane];
}

/* ---- matrices of 8 x 8, two neighbours of a row in each lane ---- */

static unsigned matrix_row(unsigned lane)
{
    return (lane >> 4 & 1) * 4 + (lane >> 1 & 3);
}

static unsigned matrix_column(unsigned lane)
{
    return (lane >> 3 & 1) * 4 + (lane & 1) * 2;
}

static void gather(const struct machine *m, const struct simdgroup *s, const uint32_t slot[2], unsigned bits, uint64_t out[8][8])
{
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t *const in = slot_read(m, s, slot[i]);
        for (unsigned lane = 0; lane < LANES; lane++)
            out[matrix_row(lane)][matrix_column(lane) + i] = number_bits(number_of(in[lane], bits), 32);
    }
}

void matrix_step(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    uint64_t a[8][8], b[8][8], c[8][8];
    gather(m, s, step->extra, step->from, a);
    gather(m, s, step->extra + 2, step->from, b);
    gather(m, s, step->extra + 4, step->bits, c);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned i = 0; i < 2; i++) {
            const unsigned row = matrix_row(lane), column = matrix_column(lane) + i;
            uint64_t sum = c[row][column];
            for (unsigned k = 0; k < 8; k++)
                sum = fma_bits(a[row][k], b[k][column], sum, 32);
            if (mask >> lane & 1)
                s->slot[step->extra[6 + i]][lane] = number_bits(number_of(sum, 32), step->bits);
        }
}

/* ---- positions ---- */

static uint64_t special_value(const struct machine *m, const struct simdgroup *s, const struct special *special, unsigned lane)
{
    const uint32_t index = s->number * LANES + lane, *const size = m->group_size;
    const uint32_t local[3] = {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
    const unsigned i = special->dimension;
    switch (special->builtin) {
    case IR_B_LOCAL_ID: return local[i];
    case IR_B_GLOBAL_ID: return m->group[i] * (uint64_t)m->launch->group[i] + local[i];
    case IR_B_GROUP_ID: return m->group[i];
    case IR_B_GLOBAL_SIZE: return m->launch->grid[i];
    case IR_B_LOCAL_SIZE: return size[i];
    case IR_B_GROUP_COUNT: return m->group_count[i];
    case IR_B_LOCAL_INDEX: return index;
    case IR_B_LANE: return lane;
    case IR_B_SIMDGROUP: return s->number;
    default: return m->simdgroups;
    }
}

void special_slots(const struct machine *m, struct simdgroup *s)
{
    for (size_t i = 0; i < m->program->specials; i++)
        for (unsigned lane = 0; lane < LANES; lane++)
            s->slot[m->program->special[i].slot][lane] = special_value(m, s, &m->program->special[i], lane);
}
