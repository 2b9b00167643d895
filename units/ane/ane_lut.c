/* Activation tables: 33 knots joined by straight lines, tails beyond them, and clamps (our reading of the 36 programs of
 * eiln/ane).
 *
 * The mode has two halves. High: 6 = odd function of x, c = only defined for x > 0 (below: +0; sbryngelson/ane-guide measures
 * sqrt(-1) = rsqrt(-1) = log(-1) = +0), 0 = neither. Low, the place of the knots: 0 = from x = 0 on, 1 = centred, 2 = up to x =
 * 0, 3 = fraction, 4 = whole part, 5 = square root, 6 = its inverse, 7 = reciprocal, 9 = log2, a = exp2; 5 to 9 work on mantissa
 * and exponent.
 */
#include "units/ane/ane_internal.h"

enum { ODD = 0x60, POSITIVE = 0xc0, SYMMETRY = 0xf0, TAILS_ONLY = 0x40 };

static bool ane_lut_prepare(const struct ane_numeric *rules, const struct ane_table *table, struct ane_lut *lut)
{
    if (!ane_table_mode_is_known(table->mode))
        return false;
    *lut = (struct ane_lut){.low = ane_operand_value(rules, table->low),
                            .high = ane_operand_value(rules, table->high),
                            .below = ane_half_to_float(table->below), /* infinities are kept */
                            .above = ane_half_to_float(table->above),
                            .left_slope = ane_operand_value(rules, table->left_slope),
                            .left_intercept = ane_operand_value(rules, table->left_intercept),
                            .right_slope = ane_operand_value(rules, table->right_slope),
                            .right_intercept = ane_operand_value(rules, table->right_intercept),
                            .tails_only = table->spacing_log2 == TAILS_ONLY,
                            .mode = table->mode};
    if (!lut->tails_only && (table->spacing_log2 > 24 || table->spacing_log2 < -16))
        return false;
    lut->per_knot = lut->tails_only ? 0 : ldexpf(1, table->spacing_log2);
    for (unsigned i = 0; i < ANE_TABLE_KNOTS; i++)
        lut->knot[i] = ane_operand_value(rules, table->knot[i]);
    return true;
}

/* place: 0 = first knot, 32 = last. */
static float between(const struct ane_lut *lut, float place)
{
    const int left = place < 31 ? (int)place : 31;
    const float part = place - (float)left;
    return lut->knot[left] + part * (lut->knot[left + 1] - lut->knot[left]);
}

/* Knots at fixed x; place = x * per_knot + first. */
static float placed(const struct ane_lut *lut, float x, float first)
{
    const float place = x * lut->per_knot + first;
    if (lut->tails_only ? x <= 0 : place < 0)
        return lut->left_slope * x + lut->left_intercept;
    if (lut->tails_only || place > ANE_TABLE_KNOTS - 1)
        return lut->right_slope * x + lut->right_intercept;
    return between(lut, place);
}

static float exp2_of(const struct ane_lut *lut, float x)
{
    const float whole = floorf(x);
    return ldexpf(between(lut, (x - whole) * lut->per_knot), (int)whole);
}

/* Writes x > 0 as m * 2^e with m in [0.5, 1). */
static float by_mantissa(const struct ane_lut *lut, float x)
{
    int e;
    float m = frexpf(x, &e);
    if ((lut->mode & 15) == 5 || (lut->mode & 15) == 6) {
        if (e & 1) { /* make the exponent even: m in [0.5, 2) */
            m *= 2;
            e--;
        }
        return ldexpf(between(lut, m * lut->per_knot), (lut->mode & 15) == 5 ? e / 2 : -e / 2);
    }
    const float y = between(lut, (m - 0.5f) * lut->per_knot);
    return lut->mode == ANE_TABLE_LOG2 ? (float)e + y : ldexpf(y, -e);
}

static float one_sided(const struct ane_lut *lut, float x, bool *clamped)
{
    if (x <= lut->low || x >= lut->high) {
        *clamped = true;
        return x <= lut->low ? lut->below : lut->above;
    }
    switch (lut->mode) {
    case ANE_TABLE_CENTRED: return placed(lut, x, 16);
    case ANE_TABLE_RIGHT: return placed(lut, x, 32);
    case ANE_TABLE_ODD: return placed(lut, x, 0);
    case ANE_TABLE_EXP2: return exp2_of(lut, x);
    case ANE_TABLE_FRACTION: return x - truncf(x);
    case ANE_TABLE_INTEGER: return truncf(x);
    case ANE_TABLE_RECIPROCAL:
    case ANE_TABLE_SQRT:
    case ANE_TABLE_RSQRT:
    case ANE_TABLE_LOG2: return x > 0 ? by_mantissa(lut, x) : 0;
    }
    return 0;
}

float ane_lut_value(const struct ane_lut *lut, float x, bool *clamped)
{
    *clamped = false;
    if (x != x) /* an invalid operation before the table, under IEEE rules */
        return x;
    const int symmetry = lut->mode & SYMMETRY;
    if (symmetry == POSITIVE && x < 0) {
        *clamped = true;
        return 0;
    }
    if (symmetry == ODD && x < 0)
        return -one_sided(lut, -x, clamped);
    return one_sided(lut, x, clamped);
}

bool ane_lut_open(struct ane_job *job)
{
    const struct ane_bank *bank = &job->task->bank[0];
    struct ane_table table;
    struct isa_error error = {.text = ""};
    if (!bank->enabled)
        return ane_fault(job, UNIT_FAULT_UNMODELLED, 0, "activation by table, but the first bank is off");
    if (bank->base > job->coefficient_bytes || bank->bytes > job->coefficient_bytes - bank->base)
        return ane_fault(job, UNIT_FAULT_UNMAPPED, bank->base, "table at %u of %llu bytes of coefficients", (unsigned)bank->base,
                         (unsigned long long)job->coefficient_bytes);
    if (!ane_table_read(job->coefficients + bank->base, bank->bytes, &table, &error))
        return ane_fault(job, UNIT_FAULT_UNMODELLED, bank->base, "table: %s", error.text);
    if (!ane_lut_prepare(&job->core->numeric, &table, &job->lut))
        return ane_fault(job, UNIT_FAULT_UNMODELLED, bank->base, "table of mode %#x, knots 2^-%d apart", (unsigned)table.mode,
                         (int)table.spacing_log2);
    job->counts->coefficient_bytes += 2 * ANE_TABLE_HALVES;
    return true;
}
