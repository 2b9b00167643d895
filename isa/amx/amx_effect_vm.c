/* The effect of vecint, vecfp, matint and matfp. */
#include "isa/amx/amx_effect_parts.h"

enum { POOL_X, POOL_Y };

/* Some fields are read here under the name of one layout for several instructions. */
_Static_assert((int)AMX_POS_VECFP_ALU == (int)AMX_POS_VECINT_ALU && (int)AMX_POS_MATINT_ALU == (int)AMX_POS_VECINT_ALU &&
                   (int)AMX_POS_MATFP_ALU == (int)AMX_POS_VECINT_ALU,
               "ALU mode");
_Static_assert((int)AMX_POS_VECFP_LANES == (int)AMX_POS_VECINT_LANES && (int)AMX_POS_MATFP_LANES == (int)AMX_POS_MATINT_LANES,
               "lane mode");
_Static_assert((int)AMX_POS_VECFP_Z == (int)AMX_POS_VECINT_Z && (int)AMX_POS_VECFP_REPEAT == (int)AMX_POS_VECINT_REPEAT &&
                   (int)AMX_POS_VECFP_BROADCAST == (int)AMX_POS_VECINT_BROADCAST &&
                   (int)AMX_POS_VECFP_MASK_MODE == (int)AMX_POS_VECINT_MASK_MODE,
               "row, repeat and mask of the vector forms");

/* The inputs that an ALU mode takes. */
struct alu_use {
    bool exists, x, y, z;
    bool counts; /* it multiplies, adds or popcount-accumulates: one operation of the array per element */
};

/* Where the operands of vecint, vecfp, matint and matfp come from. */
struct amx_vm {
    unsigned offset[2]; /* bytes, of x and y */
    bool indexed;
    unsigned indexed_pool; /* 0 X, 1 Y */
    unsigned index_bits, table;
    unsigned alu;
};

/* Lane formats of vecfp and matfp. */
struct amx_fp_lanes {
    enum amx_element in, out;
    unsigned in_bytes, out_bytes;
};

/* False when the instruction does nothing because of operand bits 54..56. */
static bool amx_vm_decode(unsigned op, uint64_t operand, struct amx_vm *vm)
{
    const unsigned high = AMX_GET(operand, VM_ALU_HIGH);
    *vm = (struct amx_vm){.offset = {AMX_GET(operand, VM_X), AMX_GET(operand, VM_Y)},
                          .indexed = AMX_GET(operand, VM_INDEXED),
                          .indexed_pool = AMX_GET(operand, VM_INDEXED_Y),
                          .index_bits = AMX_GET(operand, VM_INDEX4) ? 4 : 2,
                          .table = AMX_GET(operand, VM_TABLE),
                          .alu = AMX_GET(operand, VECINT_ALU)};
    if (vm->indexed)
        vm->alu = 8 * high; /* matint: bit 54 asks for ALU mode 8 */
    return high == 0 || (op == AMX_MATINT && vm->indexed && high == 1);
}

/* The registers that are read for operand `pool` (0 X, 1 Y) with lanes of `lane_bytes` at a byte offset. */
static uint8_t amx_vm_registers(const struct amx_vm *vm, unsigned pool, unsigned offset, unsigned lane_bytes)
{
    if (vm->indexed && vm->indexed_pool == pool)
        return (uint8_t)(amx_span(offset, 8 * vm->index_bits / lane_bytes) | 1u << vm->table);
    return amx_span(offset, 64);
}

static struct amx_fp_lanes amx_fp_lanes_of(unsigned mode, enum amx_gen gen)
{
    if (gen >= AMX_GEN_M2 && mode == 0)
        return (struct amx_fp_lanes){AMX_E_BF16, AMX_E_BF16, 2, 2};
    if (gen >= AMX_GEN_M2 && mode == 1)
        return (struct amx_fp_lanes){AMX_E_BF16, AMX_E_F32, 2, 4};
    switch (mode) {
    case 3: return (struct amx_fp_lanes){AMX_E_F16, AMX_E_F32, 2, 4};
    case 4: return (struct amx_fp_lanes){AMX_E_F32, AMX_E_F32, 4, 4};
    case 7: return (struct amx_fp_lanes){AMX_E_F64, AMX_E_F64, 8, 8};
    default: return (struct amx_fp_lanes){AMX_E_F16, AMX_E_F16, 2, 2};
    }
}

static struct alu_use fp_alu(unsigned op, unsigned alu, enum amx_gen gen)
{
    const bool vector = op == AMX_VECFP, m2 = vector && gen >= AMX_GEN_M2;
    switch (alu) {
    case 0:
    case 1: return (struct alu_use){true, true, true, true, true};
    case 4: /* x <= 0 ? 0 : y */ return (struct alu_use){true, true, true, false, false};
    case 5: /* min, max of x and z */
    case 7: return (struct alu_use){vector, true, false, true, false};
    case 10: return (struct alu_use){m2, true, true, false, true};
    case 11: return (struct alu_use){m2, true, false, true, true};
    case 12: return (struct alu_use){m2, false, true, true, true};
    default: return (struct alu_use){.exists = false};
    }
}

static struct alu_use int_alu(unsigned op, unsigned alu, enum amx_gen gen)
{
    const bool vector = op == AMX_VECINT;
    if (alu == 4)
        return (struct alu_use){true, false, false, true, false};
    if (alu <= 6)
        return (struct alu_use){true, true, true, true, true};
    if (alu == 8 || alu == 9)
        return (struct alu_use){!vector, true, true, true, true};
    if (alu >= 10 && alu <= 12)
        return (struct alu_use){vector && gen >= AMX_GEN_M2, alu != 12, alu != 11, alu != 10, true};
    return (struct alu_use){.exists = false};
}

/* The bytes of a lane of x, y and z. In ALU mode 4 only z matters, and all three are equal. */
struct lane_bytes {
    unsigned x, y, z;
};

static struct lane_bytes in_place_bytes(unsigned mode, bool vector)
{
    const unsigned z = mode == 3 || mode == 4 || mode == 10 ? 4 : mode == 9 && vector ? 1 : 2;
    return (struct lane_bytes){z, z, z};
}

static struct lane_bytes vecint_bytes(unsigned mode, unsigned alu)
{
    if (alu == 4)
        return in_place_bytes(mode, true);
    if (alu == 5 || alu == 6)
        return (struct lane_bytes){2, 2, 2};
    switch (mode) {
    case 3: return (struct lane_bytes){2, 2, 4};
    case 10: return (struct lane_bytes){1, 1, 4};
    case 11: return (struct lane_bytes){1, 1, 2};
    case 12: return (struct lane_bytes){1, 2, 4};
    case 13: return (struct lane_bytes){2, 1, 4};
    default: return (struct lane_bytes){2, 2, 2};
    }
}

static struct lane_bytes matint_bytes(unsigned mode, unsigned alu, enum amx_gen gen)
{
    if (alu == 4)
        return in_place_bytes(mode, false);
    if (alu == 8) {
        if (mode == 12 && gen >= AMX_GEN_M3)
            return (struct lane_bytes){1, 2, 4};
        return (struct lane_bytes){1, 1, mode == 10 ? 4 : 2};
    }
    if (alu == 9 && mode == 4)
        return (struct lane_bytes){4, 4, 4};
    return (struct lane_bytes){2, 2, mode == 3 && alu != 5 && alu != 6 ? 4 : 2};
}

/* ---- vector forms ------------------------------------------------------------------------------------------- */

struct vector_plan {
    struct alu_use use;
    struct lane_bytes bytes;
    uint64_t enabled;   /* positions, each as wide as the narrower lane of x and y */
    unsigned broadcast; /* operand mode of the repeat form, else 0 */
    unsigned iterations, z;
};

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* With x and y lanes of different size (vecint), both lanes of a position must be enabled. */
static uint64_t enabled_positions(const struct lane_bytes *bytes, unsigned mode, unsigned n)
{
    const uint64_t x = amx_mask9(mode, n, 64 / bytes->x), y = amx_mask9(mode, n, 64 / bytes->y);
    if (bytes->x == bytes->y)
        return x;
    const unsigned step = smaller(bytes->x, bytes->y);
    uint64_t enabled = 0;
    for (unsigned b = 0; b < 64; b += step)
        if (x >> (b / bytes->x) & y >> (b / bytes->y) & 1)
            enabled |= amx_bit(b / step);
    return enabled;
}

/* Mask mode 0 or a broadcast mode may force the result or an operand to zero, which is then not read. */
static void apply_special(struct alu_use *use, bool zero_result, bool zero_x, bool zero_y)
{
    if (zero_result)
        *use = (struct alu_use){.exists = true};
    use->x = use->x && !zero_x;
    use->y = use->y && !zero_y;
}

static void plan_single(struct vector_plan *plan, unsigned mode, unsigned n)
{
    const unsigned step = smaller(plan->bytes.x, plan->bytes.y);
    plan->iterations = 1;
    plan->enabled = mode == 1 ? amx_first_lanes(64 / step) : enabled_positions(&plan->bytes, mode, n);
    apply_special(&plan->use, amx_mask_is(mode, n, AMX_MASK_WRITE_ZERO), amx_mask_is(mode, n, AMX_MASK_ZERO_X),
                  amx_mask_is(mode, n, AMX_MASK_ZERO_Y));
}

static void plan_repeat(struct vector_plan *plan, unsigned broadcast)
{
    plan->iterations = plan->z & 32 ? 4 : 2;
    plan->broadcast = broadcast;
    plan->enabled = amx_first_lanes(64 / smaller(plan->bytes.x, plan->bytes.y));
    apply_special(&plan->use, broadcast == 1, broadcast == 4, broadcast == 5);
}

/* M4 rounds the offsets of the repeat form down: to index blocks, lanes or registers. */
static unsigned rounded_offset(const struct amx_vm *vm, const struct vector_plan *plan, unsigned pool, unsigned bytes)
{
    unsigned multiple = 64;
    if (vm->indexed && vm->indexed_pool == pool)
        multiple = smaller(64, 8 * vm->index_bits * plan->iterations / bytes);
    else if (plan->broadcast == 6 + pool)
        multiple = bytes;
    return vm->offset[pool] & ~(multiple - 1);
}

static uint8_t vector_registers(const struct amx_vm *vm, const struct vector_plan *plan, unsigned pool, enum amx_gen gen)
{
    const unsigned bytes = pool == POOL_X ? plan->bytes.x : plan->bytes.y;
    const bool indexed = vm->indexed && vm->indexed_pool == pool;
    unsigned step = indexed ? 8 * vm->index_bits / bytes : 64, offset = vm->offset[pool];
    if (plan->broadcast == 2 + pool || plan->broadcast == 6 + pool)
        step = 0;
    if (plan->iterations > 1 && gen >= AMX_GEN_M4)
        offset = rounded_offset(vm, plan, pool, bytes);
    uint8_t registers = 0;
    for (unsigned q = 0; q < plan->iterations; q++)
        registers |= amx_vm_registers(vm, pool, offset + q * step, bytes);
    return registers;
}

static uint64_t vector_rows(const struct vector_plan *plan)
{
    const unsigned group = plan->bytes.z / smaller(plan->bytes.x, plan->bytes.y) - 1, stride = 64 / plan->iterations;
    uint64_t in_group = 0, rows = 0; /* rows of a group that have an enabled position */
    for (unsigned r = 0; r <= group; r++) {
        const uint64_t every = group == 0 ? UINT64_MAX : group == 1 ? AMX_EVEN_LANES : UINT64_C(0x1111111111111111);
        if (plan->enabled & every << r)
            in_group |= amx_bit(r);
    }
    for (unsigned q = 0; q < plan->iterations; q++)
        rows |= in_group << ((plan->z % stride + q * stride) & ~group);
    return rows;
}

static void effect_vector(const struct amx_vm *vm, const struct vector_plan *plan, enum amx_gen gen, struct amx_effect *e)
{
    const unsigned positions = 64 / smaller(plan->bytes.x, plan->bytes.y);
    e->unit_class = AMX_CLASS_VECTOR;
    e->x_read = plan->use.x ? vector_registers(vm, plan, POOL_X, gen) : 0;
    e->y_read = plan->use.y ? vector_registers(vm, plan, POOL_Y, gen) : 0;
    e->z_write = vector_rows(plan);
    e->z_read = plan->use.z ? e->z_write : 0;
    e->masked = plan->enabled != amx_first_lanes(positions);
    e->macs = plan->use.counts ? amx_count(plan->enabled) * plan->iterations : 0;
}

void amx_effect_vec(unsigned op, uint64_t operand, enum amx_gen gen, struct amx_effect *e)
{
    struct amx_vm vm;
    const bool live = amx_vm_decode(op, operand, &vm), fp = op == AMX_VECFP;
    struct vector_plan plan = {.use = fp ? fp_alu(op, vm.alu, gen) : int_alu(op, vm.alu, gen), .z = AMX_GET(operand, VECINT_Z)};
    if (!live || !plan.use.exists)
        return;
    const unsigned mode = AMX_GET(operand, VECINT_LANES);
    const struct amx_fp_lanes lanes = amx_fp_lanes_of(mode, gen);
    plan.bytes = fp ? (struct lane_bytes){lanes.in_bytes, lanes.in_bytes, lanes.out_bytes} : vecint_bytes(mode, vm.alu);
    if (gen >= AMX_GEN_M2 && AMX_GET(operand, VECINT_REPEAT))
        plan_repeat(&plan, AMX_GET(operand, VECINT_BROADCAST));
    else
        plan_single(&plan, AMX_GET(operand, VECINT_MASK_MODE),
                    fp ? AMX_GET(operand, VECFP_MASK_N) : AMX_GET(operand, VECINT_MASK_N));
    effect_vector(&vm, &plan, gen, e);
    e->x_element = !plan.use.x ? AMX_E_NONE : fp ? lanes.in : amx_integer(plan.bytes.x);
    e->y_element = !plan.use.y ? AMX_E_NONE : fp ? lanes.in : amx_integer(plan.bytes.y);
    e->z_element = fp ? lanes.out : amx_integer(plan.bytes.z);
}

/* ---- matrix forms ------------------------------------------------------------------------------------------- */

struct matrix_plan {
    struct alu_use use;
    struct lane_bytes bytes;
    uint64_t x, y; /* enabled lanes along the axes of the grid */
    unsigned x_count, y_count;
    uint64_t rows;
};

static void plan_matfp(struct matrix_plan *plan, uint64_t operand)
{
    const unsigned x_mode = AMX_GET(operand, MATFP_XMASK_MODE), x_n = AMX_GET(operand, MATFP_XMASK_N);
    const unsigned y_mode = AMX_GET(operand, MATFP_YMASK_MODE), y_n = AMX_GET(operand, MATFP_YMASK_N);
    const unsigned lanes = 64 / plan->bytes.x;
    plan->x_count = plan->y_count = lanes;
    plan->x = amx_mask9(x_mode, x_n, lanes);
    plan->y = amx_mask9(y_mode, y_n, lanes);
    apply_special(&plan->use, amx_mask_is(x_mode, x_n, AMX_MASK_WRITE_ZERO) || amx_mask_is(y_mode, y_n, AMX_MASK_WRITE_ZERO),
                  x_mode == 0 && (x_n == 4 || x_n == 5), y_mode == 0 && (y_n == 4 || y_n == 5));
    plan->rows = amx_matrix_rows(plan->x, plan->y, plan->bytes.x, plan->bytes.z, AMX_GET(operand, MATFP_Z));
}

/* 8-bit products multiply every zb-th byte of y with all bytes of x. Masks count all lanes of the masked operand. */
static void plan_matint8(struct matrix_plan *plan, uint64_t y_lanes)
{
    const unsigned zb = plan->bytes.z;
    const uint64_t residue = zb == 2 ? AMX_EVEN_LANES : UINT64_C(0x1111111111111111);
    uint64_t first = 0, y = 0;
    for (unsigned r = 0; r < zb; r++)
        if (plan->x & residue << r)
            first |= amx_bit(r);
    plan->rows = 0;
    for (unsigned j = 0; j < 64; j += zb)
        if (y_lanes >> (j / plan->bytes.y) & 1) {
            y |= amx_bit(j / zb);
            plan->rows |= first << j;
        }
    plan->y = y;
    plan->y_count = 64 / zb;
}

static void plan_matint(struct matrix_plan *plan, uint64_t operand, unsigned alu)
{
    const bool on_y = AMX_GET(operand, MATINT_MASK_Y);
    const unsigned mode = AMX_GET(operand, MATINT_MASK_MODE), n = AMX_GET(operand, MATINT_MASK_N);
    const bool zero = mode == 0 && (n == 4 || n == 5);
    plan->x_count = 64 / plan->bytes.x;
    plan->y_count = 64 / plan->bytes.y;
    plan->x = on_y ? amx_first_lanes(plan->x_count) : amx_mask9(mode, n, plan->x_count);
    plan->y = on_y ? amx_mask9(mode, n, plan->y_count) : amx_first_lanes(plan->y_count);
    apply_special(&plan->use, amx_mask_is(mode, n, AMX_MASK_WRITE_ZERO), zero && !on_y, zero && on_y);
    if (alu == 8)
        plan_matint8(plan, plan->y);
    else
        plan->rows = amx_matrix_rows(plan->x, plan->y, plan->bytes.x, plan->bytes.z, AMX_GET(operand, MATINT_Z));
}

void amx_effect_mat(unsigned op, uint64_t operand, enum amx_gen gen, struct amx_effect *e)
{
    struct amx_vm vm;
    const bool live = amx_vm_decode(op, operand, &vm), fp = op == AMX_MATFP;
    struct matrix_plan plan = {.use = fp ? fp_alu(op, vm.alu, gen) : int_alu(op, vm.alu, gen)};
    if (!live || !plan.use.exists)
        return;
    const unsigned mode = AMX_GET(operand, MATINT_LANES);
    const struct amx_fp_lanes lanes = amx_fp_lanes_of(mode, gen);
    plan.bytes = fp ? (struct lane_bytes){lanes.in_bytes, lanes.in_bytes, lanes.out_bytes} : matint_bytes(mode, vm.alu, gen);
    if (fp)
        plan_matfp(&plan, operand);
    else
        plan_matint(&plan, operand, vm.alu);
    const unsigned elements = amx_count(plan.x) * amx_count(plan.y);
    e->unit_class = AMX_CLASS_MATRIX;
    e->x_read = plan.use.x ? amx_vm_registers(&vm, POOL_X, vm.offset[POOL_X], plan.bytes.x) : 0;
    e->y_read = plan.use.y ? amx_vm_registers(&vm, POOL_Y, vm.offset[POOL_Y], plan.bytes.y) : 0;
    e->z_write = plan.rows;
    e->z_read = plan.use.z ? plan.rows : 0;
    e->masked = elements != plan.x_count * plan.y_count;
    e->macs = plan.use.counts ? elements : 0;
    e->x_element = !plan.use.x ? AMX_E_NONE : fp ? lanes.in : amx_integer(plan.bytes.x);
    e->y_element = !plan.use.y ? AMX_E_NONE : fp ? lanes.in : amx_integer(plan.bytes.y);
    e->z_element = fp ? lanes.out : amx_integer(plan.bytes.z);
}
