/* Operators on integers with scales: what they mean is the plain operator between DequantizeLinear and QuantizeLinear, which
 * passes make products of integers of again. */
#include "sim/network/onnx/extended.h"

#include "sim/network/operators/operator.h"

/* Three inputs from `first` on: integers, scale, zero point. */
static net_id number_of(struct onnx_parts *p, size_t first)
{
    return ONNX_PART(p, "DequantizeLinear", onnx_part_in(p, first), onnx_part_in(p, first + 1), onnx_part_in(p, first + 2));
}

/* The output by the scale and zero point at `first`. */
static void give(struct onnx_parts *p, net_id y, size_t first)
{
    onnx_part_give(p, 0, ONNX_PART(p, "QuantizeLinear", y, onnx_part_in(p, first), onnx_part_in(p, first + 1)));
}

void onnx_extend_quantised_pair(struct onnx_parts *p)
{
    const net_id a = number_of(p, 0), b = number_of(p, 3);
    give(p, ONNX_PART(p, p->of->op + sizeof "QLinear" - 1, a, b), 6);
}

void onnx_extend_quantised_function(struct onnx_parts *p)
{
    const net_id y = ONNX_PART(p, p->of->op + sizeof "QLinear" - 1, number_of(p, 0));
    onnx_part_copy(p, (const char *const[]){"alpha"}, 1);
    give(p, y, 3);
}

void onnx_extend_quantised_softmax(struct onnx_parts *p)
{
    const bool flat = net_attr_int(p->of, "opset", 13) < 13;
    const net_id y = ONNX_PART(p, "Softmax", number_of(p, 0));
    onnx_part_int(p, "axis", net_attr_int(p->of, "axis", flat ? 1 : -1));
    if (flat)
        onnx_part_int(p, "flat", 1);
    give(p, y, 3);
}

void onnx_extend_quantised_where(struct onnx_parts *p)
{
    const net_id a = number_of(p, 1), b = number_of(p, 4);
    give(p, ONNX_PART(p, "Where", onnx_part_in(p, 0), a, b), 7);
}

/* Scale and zero point of the result, then three inputs for each operand. */
void onnx_extend_quantised_concat(struct onnx_parts *p)
{
    enum { OPERANDS_MAX = 64 };
    net_id part[OPERANDS_MAX];
    size_t count = 0;
    if (p->of->inputs < 5 || (p->of->inputs - 2) % 3 || (p->of->inputs - 2) / 3 > OPERANDS_MAX) {
        onnx_part_refuse(p, ORCH_USAGE, "%zu inputs", p->of->inputs);
        return;
    }
    for (size_t k = 2; k < p->of->inputs; k += 3)
        part[count++] = number_of(p, k);
    const net_id y = onnx_part(p, "Concat", part, count);
    onnx_part_int(p, "axis", net_attr_int(p->of, "axis", 1));
    give(p, y, 0);
}

/* ---- pools ---- */

static const int64_t channels_first[4] = {0, 3, 1, 2}, channels_last[4] = {0, 2, 3, 1};

static void pool(struct onnx_parts *p, const char *op)
{
    static const char *const names[] = {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"};
    const bool last = net_attr_int(p->of, "channels_last", 0) != 0;
    const net_id x = number_of(p, 0);
    net_id y = ONNX_PART(p, op, last ? onnx_part_turn(p, x, channels_first, 4) : x);
    onnx_part_copy(p, names, sizeof names / sizeof *names);
    y = last ? onnx_part_turn(p, y, channels_last, 4) : y;
    give(p, y, 3);
}

void onnx_extend_quantised_average_pool(struct onnx_parts *p)
{
    pool(p, "AveragePool");
}

void onnx_extend_quantised_global_pool(struct onnx_parts *p)
{
    pool(p, "GlobalAveragePool");
}

/* ---- products ---- */

static net_id as_numbers(struct onnx_parts *p, net_id integers)
{
    const net_id y = ONNX_PART(p, "Cast", integers);
    onnx_part_int(p, "to", net_type_to_onnx(NET_F32));
    return y;
}

/* sums of integers by both scales, and a bias. */
static void give_product(struct onnx_parts *p, net_id sums, net_id scale_a, net_id scale_b, net_id bias)
{
    net_id y = ONNX_PART(p, "Mul", as_numbers(p, sums), ONNX_PART(p, "Mul", scale_a, scale_b));
    if (bias != NET_NONE)
        y = ONNX_PART(p, "Add", y, bias);
    onnx_part_give(p, 0, y);
}

/* A, B, their scales, their zero points, bias. */
void onnx_extend_matmul_integer_to_float(struct onnx_parts *p)
{
    const net_id sums =
        ONNX_PART(p, "MatMulInteger", onnx_part_in(p, 0), onnx_part_in(p, 1), onnx_part_in(p, 4), onnx_part_in(p, 5));
    give_product(p, sums, onnx_part_in(p, 2), onnx_part_in(p, 3), onnx_part_in(p, 6));
}

/* A as numbers, B with scale and zero point, bias. */
void onnx_extend_dynamic_quantise_matmul(struct onnx_parts *p)
{
    net_id made[3];
    if (!onnx_part_outputs(p, "DynamicQuantizeLinear", p->of->input, 1, made, 3))
        return;
    const net_id sums = ONNX_PART(p, "MatMulInteger", made[0], onnx_part_in(p, 1), made[2], onnx_part_in(p, 3));
    give_product(p, sums, made[1], onnx_part_in(p, 2), onnx_part_in(p, 4));
}

/* x as eight bits can say it, with the scale that its numbers ask for. */
static net_id rounded(struct onnx_parts *p, net_id x)
{
    net_id made[3];
    if (!onnx_part_outputs(p, "DynamicQuantizeLinear", &x, 1, made, 3))
        return NET_NONE;
    return ONNX_PART(p, "DequantizeLinear", made[0], made[1], made[2]);
}

/* Weights [directions, depth, gates] of integers as LSTM has them, [directions, gates, depth] of numbers. There is a scale for
 * each direction or for each column: both take their place by the same shape. */
static net_id weights_of(struct onnx_parts *p, size_t weights, size_t scale)
{
    static const int64_t turned[3] = {0, 2, 1};
    const int64_t shape[3] = {0, 1, -1};
    net_id y = as_numbers(p, onnx_part_in(p, weights));
    if (onnx_part_in(p, scale + 1) != NET_NONE)
        y = ONNX_PART(p, "Sub", y, onnx_part_reshape(p, as_numbers(p, onnx_part_in(p, scale + 1)), shape, 3));
    y = ONNX_PART(p, "Mul", y, onnx_part_reshape(p, onnx_part_in(p, scale), shape, 3));
    return onnx_part_turn(p, y, turned, 3);
}

/* The inputs of LSTM with weights turned, then scale and zero point of W and of R. The products are of integers: X is rounded
 * once, a state in each step. */
void onnx_extend_dynamic_quantise_lstm(struct onnx_parts *p)
{
    static const char *const names[] = {"activation_alpha", "activation_beta", "activations", "clip",
                                        "direction",        "hidden_size",     "input_forget"};
    const net_id in[8] = {rounded(p, onnx_part_in(p, 0)),
                          weights_of(p, 1, 8),
                          weights_of(p, 2, 10),
                          onnx_part_in(p, 3),
                          onnx_part_in(p, 4),
                          onnx_part_in(p, 5),
                          onnx_part_in(p, 6),
                          onnx_part_in(p, 7)};
    net_id made[3];
    if (!onnx_part_outputs(p, "LSTM", in, 8, made, 3))
        return;
    onnx_part_copy(p, names, sizeof names / sizeof *names);
    onnx_part_int(p, NET_ROUNDED_STATE, 1);
    for (size_t k = 0; k < 3; k++)
        if (onnx_part_wanted(p, k))
            onnx_part_give(p, k, made[k]);
}

/* A, scale, zero point, B, scale, zero point, C of sums, scale and zero point of the result. */
void onnx_extend_quantised_gemm(struct onnx_parts *p)
{
    static const char *const names[] = {"alpha", "transA", "transB"};
    const net_id a = number_of(p, 0), b = number_of(p, 3);
    onnx_part_int(p, "axis", net_attr_int(p->of, "transB", 0) ? 0 : 1);
    net_id c = onnx_part_in(p, 6);
    if (c != NET_NONE) /* in units of both scales, and of alpha */
        c = ONNX_PART(p, "Mul", as_numbers(p, c), ONNX_PART(p, "Mul", onnx_part_in(p, 1), onnx_part_in(p, 4)));
    const net_id y = ONNX_PART(p, "Gemm", a, b, c);
    onnx_part_copy(p, names, sizeof names / sizeof *names);
    onnx_part_real(p, "beta", net_attr_real(p->of, "alpha", 1));
    if (onnx_part_in(p, 7) == NET_NONE)
        onnx_part_give(p, 0, y);
    else
        give(p, y, 7);
}

/* ---- weights of few bits ---- */

struct packed {
    int64_t n, k, bits, block, blocks;
};

static bool read_packed(struct onnx_parts *p, struct packed *w)
{
    *w = (struct packed){net_attr_int(p->of, "N", 0), net_attr_int(p->of, "K", 0), net_attr_int(p->of, "bits", 4),
                         net_attr_int(p->of, "block_size", 0), 0};
    if (w->n < 1 || w->k < 1 || w->block < 1 || w->n > INT32_MAX || w->k > INT32_MAX || w->block > INT32_MAX)
        onnx_part_refuse(p, ORCH_USAGE, "K %lld, N %lld, block_size %lld", (long long)w->k, (long long)w->n, (long long)w->block);
    else if (w->bits != 4 && w->bits != 8)
        onnx_part_refuse(p, ORCH_UNMODELLED, "weights of %lld bits", (long long)w->bits);
    else
        w->blocks = (w->k + w->block - 1) / w->block;
    return !p->failed;
}

/* Number `at` of a row of packed ones, the first in the low half of a byte. */
static int64_t unpacked(const uint8_t *row, int64_t at, int64_t bits)
{
    return bits == 8 ? row[at] : at % 2 ? row[at / 2] >> 4 : row[at / 2] & 15;
}

/* [N, blocks, block bytes] as [N, K]; zero points [N, blocks] likewise, their rows full bytes. */
static net_id unpack(struct onnx_parts *p, const struct packed *w, net_id id, int64_t columns, int64_t row_bytes)
{
    const struct net_array *const from = onnx_part_constant(p, id);
    const enum net_type type = w->bits == 4 ? NET_U4 : NET_U8;
    if (!from || from->type != NET_U8 || from->count != w->n * row_bytes) {
        onnx_part_refuse(p, ORCH_USAGE, "packed numbers must be a constant of %lld bytes", (long long)(w->n * row_bytes));
        return NET_NONE;
    }
    struct net_array *const to = net_array_new(type, (const int64_t[]){w->n, columns}, 2, p->error);
    for (int64_t k = 0; to && k < to->count; k++) {
        const uint8_t *const row = (const uint8_t *)from->data + k / columns * row_bytes;
        const int64_t number = unpacked(row, k % columns, w->bits);
        net_write_integers(type, to->data, k, 1, &number);
    }
    return onnx_part_array(p, to);
}

/* Zero points that are left out are the middle. */
static net_id zero_points(struct onnx_parts *p, const struct packed *w)
{
    const net_id given = onnx_part_in(p, 3);
    const int64_t middle = w->bits == 4 ? 8 : 128;
    if (given != NET_NONE)
        return unpack(p, w, given, w->blocks, (w->blocks * w->bits + 7) / 8);
    struct net_array *const zero = net_array_new(w->bits == 4 ? NET_U4 : NET_U8, (const int64_t[]){w->n, w->blocks}, 2, p->error);
    for (int64_t k = 0; zero && k < zero->count; k++)
        net_write_integers(zero->type, zero->data, k, 1, &middle);
    return onnx_part_array(p, zero);
}

/* A, packed weights [N, blocks, bytes], scales, zero points, order of the rows, bias. */
void onnx_extend_matmul_n_bits(struct onnx_parts *p)
{
    struct packed w;
    if (!read_packed(p, &w))
        return;
    const net_id zeros = onnx_part_in(p, 3);
    if (onnx_part_in(p, 4) != NET_NONE || (zeros != NET_NONE && onnx_part_type(p, zeros) != NET_U8)) {
        onnx_part_refuse(p, ORCH_UNMODELLED, "g_idx, or zero points that are no integers");
        return;
    }
    const net_id integers = unpack(p, &w, onnx_part_in(p, 1), w.k, w.blocks * w.block * w.bits / 8);
    const net_id scales = onnx_part_reshape(p, onnx_part_in(p, 2), (const int64_t[]){w.n, w.blocks}, 2);
    const net_id weights = ONNX_PART(p, "DequantizeLinear", integers, scales, zero_points(p, &w));
    onnx_part_int(p, "axis", 1);
    onnx_part_int(p, "block_size", w.block);
    net_id y = ONNX_PART(p, "MatMul", onnx_part_in(p, 0), onnx_part_turn(p, weights, (const int64_t[]){1, 0}, 2));
    if (onnx_part_in(p, 5) != NET_NONE)
        y = ONNX_PART(p, "Add", y, onnx_part_in(p, 5));
    onnx_part_give(p, 0, y);
}
