/* What an instruction costs, computed once per effect, and the activity that it counts as. */
#include "units/amx/amx_timing_state.h"

#include <math.h>
#include <string.h>

static bool is_16_bit_float(enum amx_element e)
{
    return e == AMX_E_F16 || e == AMX_E_BF16;
}

/* Array time of a matrix instruction. Masked lanes save none (a guess: the grid works in lock step). */
static double matrix_cycles(const struct amx_params *p, unsigned op, const struct amx_effect *effect)
{
    switch (effect->z_element) {
    case AMX_E_F64: return p->array_f64_cycles;
    case AMX_E_F32:
        /* fma32 with 16-bit inputs uses only their even lanes: the same 16 x 16 products as with f32. */
        if (op == AMX_FMA32 || op == AMX_FMS32)
            return p->array_f32_cycles;
        return is_16_bit_float(effect->x_element) || is_16_bit_float(effect->y_element) ? p->array_f16_f32_cycles
                                                                                        : p->array_f32_cycles;
    case AMX_E_F16:
    case AMX_E_BF16: return p->array_f16_cycles;
    case AMX_E_I16:
        if (effect->x_element != AMX_E_I16 && effect->y_element != AMX_E_I16)
            return p->array_i8_i16_cycles;
        return p->array_i16_cycles;
    case AMX_E_NONE:
    case AMX_E_I8:
    case AMX_E_I32: break;
    }
    return p->array_i16_cycles;
}

/* Time of one of the two lanes, expressed as time of both. */
static double vector_cycles(const struct amx_params *p, const struct amx_effect *effect)
{
    if (effect->unit_class == AMX_CLASS_EXTRACT)
        return p->extract_cycles;
    if (effect->unit_class == AMX_CLASS_GENLUT)
        return p->genlut_cycles;
    const double rows = effect->z_rows_written ? effect->z_rows_written : 1;
    const bool wide = effect->x_element == AMX_E_I16 || effect->y_element == AMX_E_I16;
    return rows * (wide ? p->vector_i16_row_cycles : p->vector_row_cycles);
}

/* The same of the array that cores share. */
static double shared_vector_cycles(const struct amx_params *p, double cycles)
{
    const double passes = cycles / p->vector_row_cycles;
    return p->vector_shared_cycles + p->vector_shared_pass_cycles * fmax(0, passes - 1);
}

/* Loads of two or four registers of Y take longer than of one, loads of X not. */
static void work_out_request(const struct amx_params *p, struct amx_memo *memo)
{
    const unsigned y = memo->writes >> 8;
    const bool wide_y = !memo->rows && (y & (y - 1)) != 0;
    memo->file = memo->rows ? 2 : y ? 1 : 0;
    memo->request = amx_cycle_ticks(p->load_request_cycles + (wide_y ? p->load_y_wide_cycles : 0));
}

static void work_out_cost(const struct amx_params *p, struct amx_memo *memo, unsigned op)
{
    const struct amx_effect *effect = &memo->effect;
    const double array_cycle = p->array_clock_ghz > 0 ? p->clock_ghz / p->array_clock_ghz : 1; /* in block cycles */
    const double turn = array_cycle / p->array_width;                                          /* of the shared array */
    if (effect->unit_class == AMX_CLASS_MATRIX) {
        const double cycles = matrix_cycles(p, op, effect);
        memo->busy = amx_cycle_ticks(cycles);
        memo->share = amx_cycle_ticks(cycles * turn);
        return;
    }
    const double cycles = vector_cycles(p, effect);
    memo->busy = amx_cycle_ticks(cycles * AMX_LANES);
    if (effect->unit_class == AMX_CLASS_VECTOR && p->vector_row_cycles > 0)
        memo->share = amx_cycle_ticks(shared_vector_cycles(p, cycles) * turn);
}

static void settle(struct amx_block *block, struct amx_memo *memo)
{
    const struct amx_effect *effect = &memo->effect;
    uint64_t *count = block->activity.count;
    const uint64_t n = memo->tally;
    memo->tally = 0;
    count[ACT_AMX_INSTRUCTIONS] += n;
    if (effect->unit_class == AMX_CLASS_LOAD)
        count[ACT_AMX_LOAD_BYTES] += n * effect->memory_bytes;
    if (effect->unit_class == AMX_CLASS_STORE)
        count[ACT_AMX_STORE_BYTES] += n * effect->memory_bytes;
    if (effect->unit_class < AMX_CLASS_MATRIX || effect->unit_class > AMX_CLASS_GENLUT)
        return;
    const bool integer = effect->z_element >= AMX_E_I8 || effect->x_element >= AMX_E_I8;
    const enum activity_event macs = integer                          ? ACT_AMX_INT_MACS
                                     : effect->z_element == AMX_E_F64 ? ACT_AMX_F64_MACS
                                     : effect->z_element == AMX_E_F32 ? ACT_AMX_F32_MACS
                                                                      : ACT_AMX_F16_MACS;
    count[macs] += n * effect->macs;
    count[ACT_AMX_XY_READ_BYTES] += n * 64 * (uint64_t)__builtin_popcount(memo->reads);
    count[ACT_AMX_Z_READ_BYTES] += n * 64 * (uint64_t)__builtin_popcountll(effect->z_read);
    count[ACT_AMX_Z_WRITE_BYTES] += n * 64 * effect->z_rows_written;
}

static enum amx_memo_kind kind_of(enum amx_unit_class unit_class)
{
    if (unit_class == AMX_CLASS_MATRIX)
        return AMX_MEMO_MATRIX;
    return unit_class > AMX_CLASS_MATRIX && unit_class <= AMX_CLASS_GENLUT ? AMX_MEMO_LANE : AMX_MEMO_OTHER;
}

void amx_memo_fill(struct amx_block *block, struct amx_timing_core *core, struct amx_memo *memo, unsigned op, uint64_t fields,
                   uint32_t tag, const struct amx_effect *effect)
{
    if (memo->tally)
        settle(block, memo);
    const uint64_t rows = effect->z_read | effect->z_write;
    *memo = (struct amx_memo){.fields = fields, .tag = tag, .rows = rows, .z_write = effect->z_write};
    memcpy(&memo->effect, effect, sizeof memo->effect); /* including its padding: amx_block_send compares all bytes */
    memo->kind = (uint8_t)kind_of(effect->unit_class);
    memo->reads = (uint16_t)(effect->x_read | effect->y_read << 8);
    memo->writes = (uint16_t)(effect->x_write | effect->y_write << 8);
    memo->slot = rows ? (uint8_t)__builtin_ctzll(rows) : 0;
    work_out_cost(&block->params, memo, op);
    work_out_request(&block->params, memo);
    if (memo->share && !core->computes) {
        core->computes = true;
        block->computing++;
    }
}

void amx_memo_forget(struct amx_block *block)
{
    amx_memo_settle(block);
    for (unsigned c = 0; c < block->cores; c++)
        memset(block->core[c]->memo, 0, sizeof block->core[c]->memo);
}

void amx_memo_settle(struct amx_block *block)
{
    for (unsigned c = 0; c < block->cores; c++)
        for (unsigned i = 0; i < AMX_MEMO_SLOTS; i++)
            if (block->core[c]->memo[i].tally)
                settle(block, &block->core[c]->memo[i]);
}
