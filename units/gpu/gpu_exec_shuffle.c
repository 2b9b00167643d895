/* Moves between lanes: shuffles, ballots, matrix multiply. */
#include "units/gpu/gpu_exec_numeric.h"
#include "units/gpu/gpu_exec_plain.h"

/* --- shuffles: a move inside each quad, shared by its lanes, then a choice of the quad --- */

/* OR of the low two bits of B over each quad, inactive lanes included (hardware-tested by dougallj/applegpu). */
static void quad_amounts(const uint32_t b[GPU_LANES], unsigned q[GPU_LANES / 4])
{
    for (unsigned quad = 0; quad < GPU_LANES / 4; quad++)
        q[quad] = (b[4 * quad] | b[4 * quad + 1] | b[4 * quad + 2] | b[4 * quad + 3]) & 3;
}

enum way { INDEX, XOR, UP, DOWN, ROTATE };

static enum way way_of(unsigned op)
{
    switch (op) {
    case AGX_OP_SIMD_SHUFFLE:
    case AGX_OP_QUAD_SHUFFLE: return INDEX;
    case AGX_OP_SIMD_SHUFFLE_XOR:
    case AGX_OP_QUAD_SHUFFLE_XOR: return XOR;
    case AGX_OP_SIMD_SHUFFLE_UP:
    case AGX_OP_QUAD_SHUFFLE_UP: return UP;
    case AGX_OP_SIMD_SHUFFLE_DOWN:
    case AGX_OP_QUAD_SHUFFLE_DOWN: return DOWN;
    default: return ROTATE;
    }
}

/* The lane of its own quad that slot i of the quad reads. */
static unsigned inside(enum way way, unsigned i, unsigned q)
{
    switch (way) {
    case INDEX: return q;
    case XOR: return i ^ q;
    case DOWN: return (i + q) & 3;
    default: return (i - q) & 3;
    }
}

/* The lane whose quad and slot lane t reads among `lanes` lanes; -1 = out of range: the lane keeps its own A. */
static int source_lane(enum way way, unsigned t, uint32_t b, unsigned lanes)
{
    switch (way) {
    case INDEX: return b < lanes ? (int)b : -1;
    case XOR: return b < lanes && (t ^ b) < lanes ? (int)(t ^ b) : -1;
    case UP: return b <= t ? (int)(t - b) : -1;
    case DOWN: return b < lanes && t + b < lanes ? (int)(t + b) : -1;
    default: return (int)((t - b) & (lanes - 1));
    }
}

static const struct gpu_op *simd_shuffle(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const enum way way = way_of(op->inst->op);
    uint32_t a[GPU_LANES], b[GPU_LANES];
    unsigned q[GPU_LANES / 4];
    uint64_t out[GPU_LANES];
    gpu_read_raw(group, &op->source[0], 0, a);
    gpu_read_raw(group, &op->source[1], 0, b);
    quad_amounts(b, q);
    for (unsigned t = 0; t < GPU_LANES; t++) {
        const int from = source_lane(way, t, b[t], GPU_LANES);
        /* Slot of the chosen quad: for `index` all four are alike; otherwise it is the lane's own place. */
        out[t] = from < 0 ? a[t] : a[((unsigned)from & ~3U) + inside(way, t & 3, q[from / 4])];
    }
    gpu_write_int(group, op, out);
    return op->next;
}

/* Confined to the quad, by name and by analogy (dougallj/applegpu and Mesa do not describe it further). */
static const struct gpu_op *quad_shuffle(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const enum way way = way_of(op->inst->op);
    uint32_t a[GPU_LANES], b[GPU_LANES];
    unsigned q[GPU_LANES / 4];
    uint64_t out[GPU_LANES];
    gpu_read_raw(group, &op->source[0], 0, a);
    gpu_read_raw(group, &op->source[1], 0, b);
    quad_amounts(b, q);
    for (unsigned t = 0; t < GPU_LANES; t++) {
        const bool reachable = way == INDEX || source_lane(way, t & 3, b[t], 4) >= 0;
        out[t] = reachable ? a[(t & ~3U) + inside(way, t & 3, q[t / 4])] : a[t];
    }
    gpu_write_int(group, op, out);
    return op->next;
}

/* --- ballots --- */

static const struct gpu_op *ballot(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const uint32_t votes = gpu_condition(group, op) & group->mask;
    const bool quad = op->inst->op == AGX_OP_ICMP_QUAD_BALLOT || op->inst->op == AGX_OP_FCMP_QUAD_BALLOT;
    uint64_t out[GPU_LANES];
    for (unsigned t = 0; t < GPU_LANES; t++)
        out[t] = quad ? votes >> (t & ~3U) & 15 : votes;
    gpu_write_int(group, op, out);
    return op->next;
}

/* --- D = A x B + C, 8x8, two neighbours of a row in each lane (layout: philipturner/metal-flash-attention, MLX) --- */

static unsigned matrix_row(unsigned lane)
{
    return (lane >> 4 & 1) * 4 + (lane >> 1 & 3);
}

static unsigned matrix_column(unsigned lane)
{
    return (lane >> 3 & 1) * 4 + (lane & 1) * 2;
}

static void gather_matrix(const struct gpu_simdgroup *group, const struct gpu_operand *from, uint32_t out[8][8])
{
    for (unsigned i = 0; i < 2; i++) {
        struct gpu_operand part = *from;
        if (from->kind == GPU_WORD || from->kind == GPU_PAIR) {
            part.kind = GPU_WORD;
            part.word = (uint8_t)(from->word + i);
        } else if (from->kind != GPU_SCALAR) {
            const unsigned half = 2U * from->word + (from->kind == GPU_HIGH) + i;
            part.kind = half & 1 ? GPU_HIGH : GPU_LOW;
            part.word = (uint8_t)(half / 2);
        }
        uint32_t value[GPU_LANES];
        gpu_read_float(group, &part, value);
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            out[matrix_row(lane)][matrix_column(lane) + i] = value[lane];
    }
}

/* Products are added for k = 0..7 in order, starting from C: bit-identical on M1 for halves with float32 sums (measured, 16.7 M
 * outputs, MLX on Asahi). Two rules are assumptions: fused steps for float32 sources, and for fmadd16 sums in float32 before one
 * last rounding to half. */
static const struct gpu_op *matrix(struct gpu_simdgroup *group, const struct gpu_op *op)
{
    uint32_t a[8][8], b[8][8], c[8][8];
    gather_matrix(group, &op->source[0], a);
    gather_matrix(group, &op->source[1], b);
    gather_matrix(group, &op->source[2], c);
    const bool wide = op->dst_kind == GPU_WORD || op->dst_kind == GPU_PAIR;
    const uint32_t first = 2U * op->dst_word + (op->dst_kind == GPU_HIGH);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t out[GPU_LANES];
        for (unsigned lane = 0; lane < GPU_LANES; lane++) {
            const unsigned row = matrix_row(lane), column = matrix_column(lane) + i;
            uint32_t sum = c[row][column];
            for (unsigned k = 0; k < 8; k++)
                sum = gpu_fma32(a[row][k], b[k][column], sum);
            out[lane] = wide ? sum : gpu_half_from_float(sum);
        }
        gpu_write_tuple(group, first, wide, i, out, group->mask);
    }
    return op->next;
}

gpu_handler *gpu_plain_shuffle(unsigned op)
{
    switch (op) {
    case AGX_OP_SIMD_SHUFFLE:
    case AGX_OP_SIMD_SHUFFLE_XOR:
    case AGX_OP_SIMD_SHUFFLE_UP:
    case AGX_OP_SIMD_SHUFFLE_DOWN:
    case AGX_OP_SIMD_SHUFFLE_ROTATE_UP: return simd_shuffle;
    case AGX_OP_QUAD_SHUFFLE:
    case AGX_OP_QUAD_SHUFFLE_XOR:
    case AGX_OP_QUAD_SHUFFLE_UP:
    case AGX_OP_QUAD_SHUFFLE_DOWN:
    case AGX_OP_QUAD_SHUFFLE_ROTATE_UP: return quad_shuffle;
    case AGX_OP_ICMP_BALLOT:
    case AGX_OP_FCMP_BALLOT:
    case AGX_OP_ICMP_QUAD_BALLOT:
    case AGX_OP_FCMP_QUAD_BALLOT: return ballot;
    case AGX_OP_SIMD_MATRIX_FMADD32:
    case AGX_OP_SIMD_MATRIX_FMADD16: return matrix;
    default: return NULL;
    }
}
