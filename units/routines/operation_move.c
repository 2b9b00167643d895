/* Operations that only move elements. Results are exact. */
#include "units/routines/operations.h"

#include <math.h>

static bool is_float(enum routine_type type)
{
    return routine_type_epsilon(type) > 0;
}

static unsigned add_input(const struct routine_request *r, struct routine_work *w, const char *name, const uint64_t dims[4])
{
    const unsigned i = routine_add_operand(w, name, r->type, ROUTINE_INPUT, dims);
    routine_set_range(w, is_float(r->type) ? -4 : 0, is_float(r->type) ? 4 : 200);
    return i;
}

static void set_exact(const struct routine_truth *t, int64_t at, double value)
{
    t->value[at] = value;
    t->error[at] = 0;
}

/* ---- transpose ---- */

static bool transpose_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)r->value[MOVE_ROWS], columns = (uint64_t)r->value[MOVE_COLUMNS];
    const uint64_t batch = (uint64_t)r->value[TRANSPOSE_BATCH];
    if (!routine_check_count("transpose", ROUTINE_DIMS(batch, rows, columns), error))
        return false;
    add_input(r, w, "x", ROUTINE_DIMS(batch, rows, columns));
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, ROUTINE_DIMS(batch, columns, rows));
    w->min_bytes = 2 * (double)routine_type_bytes(r->type, w->operand[0].count);
    return true;
}

static void transpose_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t rows = r->value[MOVE_ROWS], columns = r->value[MOVE_COLUMNS], each = rows * columns;
    for (int64_t at = 0; at < each * r->value[TRANSPOSE_BATCH]; at++) {
        const int64_t i = at % each / columns, j = at % columns;
        set_exact(t, at / each * each + j * rows + i, operand[0][at]);
    }
}

/* ---- concat ---- */

static bool concat_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)r->value[CONCAT_ROWS];
    uint64_t all = 0;
    for (unsigned i = 0; i < CONCAT_INPUTS; i++) {
        const uint64_t width = (uint64_t)r->value[CONCAT_A + i];
        const char name[2] = {(char)('a' + i), '\0'};
        all += width;
        if (!routine_check_count("concat", ROUTINE_DIMS(rows, all), error))
            return false;
        if (width)
            add_input(r, w, name, ROUTINE_DIMS(rows, width));
    }
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, ROUTINE_DIMS(rows, all));
    w->min_bytes = 2 * (double)routine_type_bytes(r->type, rows * all);
    return true;
}

static void concat_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    int64_t at = 0;
    for (int64_t row = 0; row < r->value[CONCAT_ROWS]; row++)
        for (unsigned i = 0, given = 0; i < CONCAT_INPUTS; i++) {
            const int64_t width = r->value[CONCAT_A + i];
            for (int64_t j = 0; j < width; j++)
                set_exact(t, at++, operand[given][row * width + j]);
            given += width > 0;
        }
}

/* ---- gather ---- */

static bool gather_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)r->value[MOVE_ROWS], columns = (uint64_t)r->value[MOVE_COLUMNS];
    const uint64_t count = (uint64_t)r->value[GATHER_COUNT];
    if (!routine_check_count("gather", ROUTINE_DIMS(rows, columns), error) ||
        !routine_check_count("gather", ROUTINE_DIMS(count, columns), error))
        return false;
    add_input(r, w, "table", ROUTINE_DIMS(rows, columns));
    routine_add_operand(w, "index", ROUTINE_U32, ROUTINE_INPUT, ROUTINE_DIMS(count));
    routine_set_range(w, 0, (double)rows);
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, ROUTINE_DIMS(count, columns));
    w->min_bytes = 2 * (double)routine_type_bytes(r->type, count * columns) + 4 * (double)count;
    return true;
}

static void gather_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t columns = r->value[MOVE_COLUMNS];
    for (int64_t i = 0; i < r->value[GATHER_COUNT]; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double row = operand[1][i];
            set_exact(t, i * columns + j, row < (double)r->value[MOVE_ROWS] ? operand[0][(int64_t)row * columns + j] : 0);
        }
}

/* ---- embedding ---- */

static bool embedding_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)r->value[MOVE_ROWS], columns = (uint64_t)r->value[MOVE_COLUMNS];
    const uint64_t count = (uint64_t)r->value[GATHER_COUNT];
    const unsigned block = routine_type_block(r->type);
    if (columns % block)
        return kernel_refuse(error, "embedding: rows of %s are whole blocks of %u weights; %llu is not",
                             routine_type_name(r->type), block, (unsigned long long)columns);
    if (!routine_check_count("embedding", ROUTINE_DIMS(rows, columns), error) ||
        !routine_check_count("embedding", ROUTINE_DIMS(count, columns), error))
        return false;
    routine_add_operand(w, "table", r->type, ROUTINE_INPUT, ROUTINE_DIMS(rows, columns));
    routine_add_operand(w, "index", ROUTINE_U32, ROUTINE_INPUT, ROUTINE_DIMS(count));
    routine_set_range(w, 0, (double)rows);
    routine_add_operand(w, "out", ROUTINE_F32, ROUTINE_OUTPUT, ROUTINE_DIMS(count, columns));
    w->min_bytes = (double)routine_type_bytes(r->type, count * columns) + 4 * (double)(count * columns + count);
    return true;
}

/* Plain numbers are exact, and so are products of a small integer with a scale of 11 bits. */
static void embedding_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t columns = r->value[MOVE_COLUMNS], rows = r->value[MOVE_ROWS];
    for (int64_t at = 0; at < r->value[GATHER_COUNT] * columns; at++) {
        const double row = operand[1][at / columns];
        const double value = row < (double)rows ? operand[0][(int64_t)row * columns + at % columns] : 0;
        set_exact(t, at, value);
    }
}

/* ---- values in fewer bits ---- */

enum { QUANTISE_COUNT };

static bool quantise_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t count = (uint64_t)r->value[QUANTISE_COUNT];
    const unsigned block = routine_type_block(r->type), least = block > 1 ? block : 4;
    if (count % least)
        return kernel_refuse(error, "quantise: %s takes multiples of %u values; %llu is none", routine_type_name(r->type), least,
                             (unsigned long long)count);
    routine_add_operand(w, "x", ROUTINE_F32, ROUTINE_INPUT, ROUTINE_DIMS(count));
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, ROUTINE_DIMS(count));
    w->min_bytes = (double)(routine_type_bytes(ROUTINE_F32, count) + routine_type_bytes(r->type, count));
    return true;
}

/* Numbers of a block are off by half a step of its scale, and by what 127 steps lose when the scale becomes a half. */
static void quantise_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t block = routine_type_block(r->type), count = r->value[QUANTISE_COUNT];
    for (int64_t first = 0; first < count; first += block) {
        double most = 0;
        for (int64_t i = first; i < first + block; i++)
            most = fmax(most, fabs(operand[0][i]));
        for (int64_t i = first; i < first + block; i++) {
            set_exact(t, i, operand[0][i]);
            t->error[i] = block > 1 ? most / 254 * (1 + 0x1p-20) + most * 0x1p-11 + 0x1p-25 : 0;
        }
    }
}

const struct routine_operation operation_quantise = {
    .name = "quantise", .positional = 1, .operands = quantise_operands, .reference = quantise_reference};

/* ---- windows of a matrix ---- */

struct operation_window operation_window(const struct routine_request *r)
{
    const int64_t *const v = r->value;
    if (r->row->operation == &operation_pad)
        return (struct operation_window){v[MOVE_ROWS] + v[PAD_TOP] + v[PAD_BOTTOM], v[MOVE_COLUMNS] + v[PAD_LEFT] + v[PAD_RIGHT],
                                         -v[PAD_TOP], -v[PAD_LEFT], r->decimal[PAD_VALUE]};
    return (struct operation_window){v[SLICE_H], v[SLICE_W], v[SLICE_ROW], v[SLICE_COLUMN], 0};
}

static bool window_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const struct operation_window o = operation_window(r);
    const uint64_t rows = (uint64_t)r->value[MOVE_ROWS], columns = (uint64_t)r->value[MOVE_COLUMNS];
    const uint64_t *const out = ROUTINE_DIMS((uint64_t)o.rows, (uint64_t)o.columns);
    const char *const name = r->row->operation->name;
    if (!routine_check_count(name, ROUTINE_DIMS(rows, columns), error) || !routine_check_count(name, out, error))
        return false;
    if (r->row->operation == &operation_slice && (o.top + o.rows > (int64_t)rows || o.left + o.columns > (int64_t)columns))
        return kernel_refuse(error, "slice: the window reaches beyond the %llu x %llu matrix", (unsigned long long)rows,
                             (unsigned long long)columns);
    add_input(r, w, "x", ROUTINE_DIMS(rows, columns));
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, out);
    w->min_bytes = 2 * (double)routine_type_bytes(r->type, w->operand[1].count);
    return true;
}

/* The filler is rounded to float32, and to whole numbers towards zero where elements are. */
static void window_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const struct operation_window o = operation_window(r);
    const float narrow = (float)o.filler;
    const double filler = is_float(r->type) ? (double)narrow : (double)(uint32_t)(int64_t)narrow;
    const double kept = r->type == ROUTINE_U8    ? (double)((uint32_t)(int64_t)narrow & 255)
                        : r->type == ROUTINE_I32 ? (double)(int32_t)(int64_t)narrow
                                                 : filler;
    for (int64_t at = 0; at < o.rows * o.columns; at++) {
        const int64_t i = at / o.columns + o.top, j = at % o.columns + o.left;
        const bool inside = i >= 0 && i < r->value[MOVE_ROWS] && j >= 0 && j < r->value[MOVE_COLUMNS];
        set_exact(t, at, inside ? operand[0][i * r->value[MOVE_COLUMNS] + j] : kept);
    }
}

/* ---- broadcast ---- */

static bool broadcast_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)r->value[MOVE_ROWS], columns = (uint64_t)r->value[MOVE_COLUMNS];
    if (!routine_check_count("broadcast", ROUTINE_DIMS(rows, columns), error))
        return false;
    add_input(r, w, "x", ROUTINE_DIMS(1, columns));
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, ROUTINE_DIMS(rows, columns));
    w->min_bytes = (double)routine_type_bytes(r->type, w->operand[1].count);
    return true;
}

static void broadcast_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t columns = r->value[MOVE_COLUMNS];
    for (int64_t at = 0; at < r->value[MOVE_ROWS] * columns; at++)
        set_exact(t, at, operand[0][at % columns]);
}

const struct routine_operation operation_broadcast = {
    .name = "broadcast", .positional = 2, .operands = broadcast_operands, .reference = broadcast_reference};
const struct routine_operation operation_transpose = {
    .name = "transpose", .positional = 2, .operands = transpose_operands, .reference = transpose_reference};
const struct routine_operation operation_concat = {
    .name = "concat", .positional = 3, .operands = concat_operands, .reference = concat_reference};
const struct routine_operation operation_gather = {
    .name = "gather", .positional = 3, .operands = gather_operands, .reference = gather_reference};
const struct routine_operation operation_embedding = {
    .name = "embedding", .positional = 3, .operands = embedding_operands, .reference = embedding_reference};
const struct routine_operation operation_pad = {
    .name = "pad", .positional = 2, .operands = window_operands, .reference = window_reference};
const struct routine_operation operation_slice = {
    .name = "slice", .positional = 2, .operands = window_operands, .reference = window_reference};
