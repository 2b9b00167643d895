/* Activation tables: their halfwords, making a table of a function, and recognising the function of a table. */
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_table_functions.h"
#include "isa/ane/ane_task_parts.h"
#include "isa/array_count.h"

#include <string.h>

/* The places of the halfwords (our own reading of the tables in eiln/ane and tinygrad programs). */
enum { LOW, HIGH, BELOW, ABOVE, KNOTS, LEFT_SLOPE = 37, LEFT_INTERCEPT, RIGHT_SLOPE, RIGHT_INTERCEPT, SPACING, MODE, USED };

static uint16_t half_at(const uint8_t *bytes, unsigned index)
{
    return ane_get16(bytes + 2 * (size_t)index);
}

static void set_half(uint8_t *bytes, unsigned index, uint16_t value)
{
    ane_put16(bytes + 2 * (size_t)index, value);
}

bool ane_table_mode_is_known(uint16_t mode)
{
    switch (mode) {
    case ANE_TABLE_CENTRED:
    case ANE_TABLE_RIGHT:
    case ANE_TABLE_EXP2:
    case ANE_TABLE_ODD:
    case ANE_TABLE_FRACTION:
    case ANE_TABLE_INTEGER:
    case ANE_TABLE_RECIPROCAL:
    case ANE_TABLE_SQRT:
    case ANE_TABLE_RSQRT:
    case ANE_TABLE_LOG2: return true;
    default: return false;
    }
}

bool ane_table_read(const uint8_t *bytes, size_t size, struct ane_table *table, struct isa_error *error)
{
    if (size < 2 * ANE_TABLE_HALVES)
        return ane_fail(error, size, "activation table of %zu bytes, expected 128", size);
    *table = (struct ane_table){.low = half_at(bytes, LOW),
                                .high = half_at(bytes, HIGH),
                                .below = half_at(bytes, BELOW),
                                .above = half_at(bytes, ABOVE),
                                .left_slope = half_at(bytes, LEFT_SLOPE),
                                .left_intercept = half_at(bytes, LEFT_INTERCEPT),
                                .right_slope = half_at(bytes, RIGHT_SLOPE),
                                .right_intercept = half_at(bytes, RIGHT_INTERCEPT),
                                .spacing_log2 = (int16_t)half_at(bytes, SPACING),
                                .mode = half_at(bytes, MODE)};
    for (unsigned k = 0; k < ANE_TABLE_KNOTS; k++)
        table->knot[k] = half_at(bytes, KNOTS + k);
    if (!ane_table_mode_is_known(table->mode))
        return ane_fail(error, 2 * MODE, "activation table of mode 0x%x, which is not known", table->mode);
    if (table->spacing_log2 != ANE_TABLE_TAILS && (table->spacing_log2 < -16 || table->spacing_log2 > 24))
        return ane_fail(error, 2 * SPACING, "knots of an activation table 2^%d apart", -table->spacing_log2);
    return true;
}

void ane_table_write(const struct ane_table *table, uint8_t bytes[2 * ANE_TABLE_HALVES])
{
    memset(bytes, 0, 2 * ANE_TABLE_HALVES);
    set_half(bytes, LOW, table->low);
    set_half(bytes, HIGH, table->high);
    set_half(bytes, BELOW, table->below);
    set_half(bytes, ABOVE, table->above);
    for (unsigned k = 0; k < ANE_TABLE_KNOTS; k++)
        set_half(bytes, KNOTS + k, table->knot[k]);
    set_half(bytes, LEFT_SLOPE, table->left_slope);
    set_half(bytes, LEFT_INTERCEPT, table->left_intercept);
    set_half(bytes, RIGHT_SLOPE, table->right_slope);
    set_half(bytes, RIGHT_INTERCEPT, table->right_intercept);
    set_half(bytes, SPACING, (uint16_t)table->spacing_log2);
    set_half(bytes, MODE, table->mode);
}

/* ---- making ---- */

/* The x of a knot under a mode and spacing; 0 for tables without knots. */
static double ane_table_knot_x(uint16_t mode, int spacing_log2, unsigned knot)
{
    const int n = (int)knot;
    if (spacing_log2 == ANE_TABLE_TAILS)
        return 0;
    switch (mode) {
    case ANE_TABLE_CENTRED: return ldexp(n - 16, -spacing_log2);
    case ANE_TABLE_RIGHT: return ldexp(n - 32, -spacing_log2);
    case ANE_TABLE_LOG2:
    case ANE_TABLE_RECIPROCAL: return 0.5 + ldexp(n, -6); /* mantissa */
    default: /* odd functions, fraction of exp2's argument, mantissa of two octaves for roots */ return ldexp(n, -spacing_log2);
    }
}

static void make_knots(const struct ane_table_function *f, double alpha, struct ane_table *table)
{
    const double first = ane_table_knot_x(f->mode, f->spacing_log2, 0);
    double knot[ANE_TABLE_KNOTS];
    if (f->kind == ANE_KNOTS_NONE)
        return;
    if (f->kind == ANE_KNOTS_FITTED) {
        /* The fit starts at 0 where the clamped left side or the odd function is 0, as gelu's does. */
        const bool zero = f->mode == ANE_TABLE_ODD || (f->left.tail == ANE_EDGE_LINE && f->left.value == 0);
        ane_table_fit(f->value, alpha, first, ldexp(1, -f->spacing_log2), zero ? 0 : (double)NAN, knot);
    } else {
        for (unsigned k = 0; k < ANE_TABLE_KNOTS; k++)
            knot[k] = f->value(ane_table_knot_x(f->mode, f->spacing_log2, k), alpha);
    }
    for (unsigned k = 0; k < ANE_TABLE_KNOTS; k++)
        table->knot[k] = ane_half_bits(knot[k]);
}

static void make_tail(const struct ane_table_edge *edge, double x, uint16_t knot, double value, uint16_t *slope,
                      uint16_t *intercept)
{
    if (edge->tail == ANE_EDGE_LINE) {
        *slope = ane_half_bits(edge->slope);
        *intercept = ane_half_bits(edge->intercept);
        return;
    }
    const double y = ane_half_value(knot);
    *slope = ane_half_bits((value - y) / (edge->clamp - x));
    *intercept = ane_half_bits(y - ane_half_value(*slope) * x);
}

static void make(const struct ane_table_function *f, double alpha, struct ane_table *table)
{
    const double a = isnan(alpha) ? f->alpha : alpha;
    const double below = isnan(f->left.value) ? f->value(f->left.clamp, a) : f->left.value;
    const double above = isnan(f->right.value) ? f->value(f->right.clamp, a) : f->right.value;
    *table = (struct ane_table){.low = ane_half_bits(f->left.clamp),
                                .high = ane_half_bits(f->right.clamp),
                                .below = ane_half_bits(below),
                                .above = ane_half_bits(above),
                                .spacing_log2 = f->spacing_log2,
                                .mode = f->mode};
    make_knots(f, a, table);
    make_tail(&f->left, ane_table_knot_x(f->mode, f->spacing_log2, 0), table->knot[0], below, &table->left_slope,
              &table->left_intercept);
    make_tail(&f->right, ane_table_knot_x(f->mode, f->spacing_log2, ANE_TABLE_KNOTS - 1), table->knot[ANE_TABLE_KNOTS - 1], above,
              &table->right_slope, &table->right_intercept);
    if (f->adjust)
        f->adjust(a, table);
}

static const struct ane_table_function *find_by_name(const char *name)
{
    const struct ane_table_function *f;
    for (size_t i = 0; (f = ane_table_function_at(i)); i++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

bool ane_table_make(const char *name, double alpha, struct ane_table *table)
{
    const struct ane_table_function *f = find_by_name(name);
    if (!f)
        return false;
    make(f, alpha, table);
    return true;
}

const char *ane_table_at(size_t index, const char **text)
{
    const struct ane_table_function *f = ane_table_function_at(index);
    if (f && text)
        *text = f->text;
    return f ? f->name : NULL;
}

/* ---- recognising ---- */

/* The distance of two fp16 numbers in representable steps. */
static int steps_between(uint16_t a, uint16_t b)
{
    const int x = a & 0x8000 ? -(a & 0x7fff) : a, y = b & 0x8000 ? -(b & 0x7fff) : b;
    return x > y ? x - y : y - x;
}

static bool same_lines(const struct ane_table *a, const struct ane_table *b)
{
    const uint16_t one[] = {a->low,        a->high,           a->below,       a->above,
                            a->left_slope, a->left_intercept, a->right_slope, a->right_intercept};
    const uint16_t two[] = {b->low,        b->high,           b->below,       b->above,
                            b->left_slope, b->left_intercept, b->right_slope, b->right_intercept};
    for (unsigned i = 0; i < ARRAY_COUNT(one); i++)
        if (steps_between(one[i], two[i]) > 1)
            return false;
    return true;
}

/* The largest distance of a knot from the function at the table's own spacing. It is infinite beyond what sampling or fitting can
 * explain: rounding and, for fits, a quarter of the squared spacing (curvature up to 2). */
static double knots_apart(const struct ane_table_function *f, double alpha, const struct ane_table *table)
{
    const double step = ldexp(1, -table->spacing_log2);
    const double allowed = f->kind == ANE_KNOTS_FITTED ? step * step / 4 : 0;
    double worst = 0;
    for (unsigned k = 0; k < ANE_TABLE_KNOTS; k++) {
        const double y = f->value(ane_table_knot_x(table->mode, table->spacing_log2, k), alpha),
                     got = ane_half_value(table->knot[k]);
        const double apart = fabs(y - got), near = allowed + 0x1p-22 + 0x1p-9 * fabs(y);
        if (!(apart <= near))
            return (double)INFINITY;
        worst = fmax(worst, apart);
    }
    return worst;
}

static double distance(const struct ane_table_function *f, const struct ane_table *table)
{
    const double alpha = f->find_alpha ? f->find_alpha(table) : f->alpha;
    const bool tails = table->spacing_log2 == ANE_TABLE_TAILS;
    struct ane_table own;
    if (f->mode != table->mode || tails != (f->kind == ANE_KNOTS_NONE) || (f->find_alpha && !(fabs(alpha) < (double)INFINITY)))
        return (double)INFINITY;
    if (!tails)
        return knots_apart(f, alpha, table);
    make(f, alpha, &own);
    return same_lines(&own, table) ? 0 : (double)INFINITY;
}

static const struct ane_table_function *recognise(const struct ane_table *table)
{
    const struct ane_table_function *f, *best = NULL;
    double nearest = (double)INFINITY;
    for (size_t i = 0; (f = ane_table_function_at(i)); i++) {
        const double apart = distance(f, table);
        if (apart < nearest) {
            nearest = apart;
            best = f;
        }
    }
    return best;
}

const char *ane_table_name(const struct ane_table *table)
{
    const struct ane_table_function *f = recognise(table);
    return f ? f->name : NULL;
}

double ane_table_alpha(const struct ane_table *table)
{
    const struct ane_table_function *f = recognise(table);
    return f && f->find_alpha ? f->find_alpha(table) : (double)NAN;
}
