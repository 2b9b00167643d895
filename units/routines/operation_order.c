/* Rows in order, and running sums along rows. */
#include "units/routines/operations.h"

#include <math.h>

static bool is_whole(const struct routine_request *r)
{
    return r->type == ROUTINE_I32 || r->type == ROUTINE_U32;
}

static bool add_operands(const struct routine_request *r, struct routine_work *w, double floats, double wholes,
                         struct isa_error *error)
{
    const uint64_t rows = (uint64_t)r->value[SCAN_ROWS], columns = (uint64_t)r->value[SCAN_COLUMNS];
    const double size = is_whole(r) ? wholes : floats;
    if (!routine_check_count(r->row->operation->name, ROUTINE_DIMS(rows, columns), error))
        return false;
    routine_add_operand(w, "x", r->type, ROUTINE_INPUT, ROUTINE_DIMS(rows, columns));
    routine_set_range(w, r->type == ROUTINE_U32 ? 0 : -size, size);
    routine_add_operand(w, "out", r->type, ROUTINE_OUTPUT, ROUTINE_DIMS(rows, columns));
    w->min_bytes = 2 * (double)routine_type_bytes(r->type, rows * columns);
    return true;
}

/* ---- scan ---- */

static bool scan_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    if (!add_operands(r, w, 1, 100, error))
        return false;
    w->flops = is_whole(r) ? 0 : (double)w->operand[0].count;
    return true;
}

/* Element i: i + 1 roundings of sums in any order. Whole numbers are exact, modulo 2^32. */
static void scan_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t columns = r->value[SCAN_COLUMNS];
    double sum = 0, size = 0;
    for (int64_t at = 0; at < r->value[SCAN_ROWS] * columns; at++) {
        const double x = operand[0][at];
        if (at % columns == 0)
            sum = size = 0;
        t->value[at] = r->value[SCAN_EXCLUSIVE] ? sum : sum + x;
        sum += x;
        size += fabs(x);
        t->error[at] = is_whole(r) ? 0 : t->epsilon * (double)(at % columns + 1) * size;
    }
}

const struct routine_operation operation_scan = {
    .name = "scan", .positional = 2, .operands = scan_operands, .reference = scan_reference};

/* ---- sort ---- */

static bool sort_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    return add_operands(r, w, 4, 1e6, error);
}

/* Lets the first number of a heap sink to its place; the largest is on top, or the smallest. */
static void sink(double *x, int64_t at, int64_t count, bool descending)
{
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && (descending ? x[child + 1] < x[child] : x[child + 1] > x[child]))
            child++;
        if (descending ? x[at] <= x[child] : x[at] >= x[child])
            return;
        const double kept = x[at];
        x[at] = x[child];
        x[child] = kept;
    }
}

static void sort_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t columns = r->value[SCAN_COLUMNS];
    for (int64_t row = 0; row < r->value[SCAN_ROWS]; row++) {
        double *const x = t->value + row * columns;
        for (int64_t i = 0; i < columns; i++) {
            x[i] = operand[0][row * columns + i];
            t->error[row * columns + i] = 0;
        }
        for (int64_t i = columns / 2; i-- > 0;)
            sink(x, i, columns, r->value[SORT_DESCENDING]);
        for (int64_t last = columns - 1; last > 0; last--) {
            const double kept = x[0];
            x[0] = x[last];
            x[last] = kept;
            sink(x, 0, last, r->value[SORT_DESCENDING]);
        }
    }
}

/* ---- topk ---- */

static bool topk_operands(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t rows = (uint64_t)r->value[TOPK_ROWS], columns = (uint64_t)r->value[TOPK_COLUMNS];
    const uint64_t count = (uint64_t)r->value[TOPK_COUNT];
    if (count > columns || columns >= UINT32_MAX)
        return kernel_refuse(error, "topk: k must be at most columns");
    if (!routine_check_count("topk", ROUTINE_DIMS(rows, columns), error))
        return false;
    routine_add_operand(w, "x", r->type, ROUTINE_INPUT, ROUTINE_DIMS(rows, columns));
    routine_set_range(w, -4, 4);
    routine_add_operand(w, "out", ROUTINE_U32, ROUTINE_OUTPUT, ROUTINE_DIMS(rows, count));
    w->min_bytes = (double)routine_type_bytes(r->type, rows * columns) + 4 * (double)(rows * count);
    return true;
}

/* The best element that has no place yet. */
static int64_t next_place(const double *x, int64_t columns, const double *taken, int64_t places, bool smallest)
{
    int64_t best = -1;
    for (int64_t i = 0; i < columns; i++) {
        bool has = x[i] != x[i];
        for (int64_t k = 0; k < places && !has; k++)
            has = taken[k] == (double)i;
        if (!has && (best < 0 || (smallest ? x[i] < x[best] : x[i] > x[best])))
            best = i;
    }
    return best;
}

static void topk_reference(const struct routine_request *r, const double *const *operand, const struct routine_truth *t)
{
    const int64_t columns = r->value[TOPK_COLUMNS], count = r->value[TOPK_COUNT];
    for (int64_t row = 0; row < r->value[TOPK_ROWS]; row++)
        for (int64_t k = 0; k < count; k++) {
            double *const places = t->value + row * count;
            const int64_t place = next_place(operand[0] + row * columns, columns, places, k, r->value[TOPK_SMALLEST] != 0);
            places[k] = place < 0 ? 0x1p32 - 1 : (double)place;
            t->error[row * count + k] = 0;
        }
}

const struct routine_operation operation_topk = {
    .name = "topk", .positional = 2, .operands = topk_operands, .reference = topk_reference, .by_values = true};
const struct routine_operation operation_sort = {
    .name = "sort", .positional = 2, .operands = sort_operands, .reference = sort_reference, .by_values = true};
