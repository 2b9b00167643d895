/* Instruction selection: random expressions over integers of 16, 32 and 64 bits, truths and floats compute what the interpreter
 * says. */
#include "tests/isa/agx_compile_example.h"

enum { VALUES = 64, TYPES = 6, FEW_HALVES = 24 };
enum type { I1, I16, I32, I64, F16, F32 };

struct maker {
    struct kit k;
    uint64_t random;
    val value[TYPES][VALUES];
    unsigned count[TYPES];
};

static unsigned any(struct maker *m, unsigned below)
{
    return (unsigned)(suite_random(&m->random) >> 33) % below;
}

static const struct ir_type *type_of(const struct maker *m, enum type t)
{
    const struct ir_type *const all[] = {m->k.i1, m->k.i16, m->k.i32, m->k.i64, m->k.f16, m->k.f32};
    return all[t];
}

static val keep(struct maker *m, enum type t, val v)
{
    v->fast = any(m, 2);
    m->value[t][m->count[t]++ % VALUES] = v;
    return v;
}

/* A value made before, or a constant: small ones, masks and others. */
static val pick(struct maker *m, enum type t)
{
    static const uint16_t floats[] = {0x3c00, 0x4000, 0xb800, 0x4a40, 0x0000, 0x2e66};
    const unsigned have = m->count[t] < VALUES ? m->count[t] : VALUES;
    if (have && any(m, 5))
        return m->value[t][any(m, have)];
    if (t == F16)
        return ir_constant(m->k.m, m->k.f16, floats[any(m, 6)]);
    if (t == F32) {
        const float number = (float)(int)any(m, 4000) * 0.0625f - 100.0f;
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        return ir_constant(m->k.m, m->k.f32, bits);
    }
    const uint64_t bits = suite_random(&m->random), low = any(m, 2) ? bits & 63 : (UINT64_C(1) << any(m, 40)) - 1;
    const uint64_t number = any(m, 3) ? low : bits, mask = t == I64 ? UINT64_MAX : (UINT64_C(1) << type_of(m, t)->bits) - 1;
    return ir_constant(m->k.m, type_of(m, t), number & mask);
}

static void integer(struct maker *m, enum type t)
{
    static const uint16_t ops[] = {IR_ADD, IR_SUB, IR_MUL, IR_AND, IR_OR, IR_XOR, IR_ADD, IR_SHL, IR_LSHR, IR_ASHR};
    const struct ir_type *const type = type_of(m, t);
    const uint16_t op = ops[any(m, 10)];
    val b = pick(m, t);
    if (op == IR_SHL || op == IR_LSHR || op == IR_ASHR) {
        const val most = ir_constant(m->k.m, type, type->bits - 1);
        b = any(m, 2) ? op2(&m->k, IR_AND, type, b, most) : ir_constant(m->k.m, type, any(m, type->bits));
    }
    keep(m, t, op2(&m->k, op, type, pick(m, t), b));
}

static void real(struct maker *m, enum type t)
{
    static const uint16_t ops[] = {IR_FADD, IR_FSUB, IR_FMUL};
    const struct ir_type *const type = type_of(m, t);
    const unsigned what = any(m, 8);
    if (what < 4)
        keep(m, t, op2(&m->k, ops[any(m, 3)], type, pick(m, t), pick(m, t)))->fast = false;
    else if (what == 4)
        keep(m, t, op3(&m->k, IR_FMA, type, pick(m, t), pick(m, t), pick(m, t)));
    else if (what == 5)
        keep(m, t, any(m, 2) ? op1(&m->k, IR_FNEG, type, pick(m, t)) : builtin1(&m->k, IR_B_FABS, type, pick(m, t)));
    else if (what == 6)
        keep(m, t, op1(&m->k, t == F16 ? IR_FPTRUNC : IR_FPEXT, type, pick(m, t == F16 ? F32 : F16)));
    else
        keep(m, t, op1(&m->k, any(m, 2) ? IR_UITOFP : IR_SITOFP, type, pick(m, t == F16 ? I16 : any(m, 2) ? I16 : I32)));
}

static void truth(struct maker *m)
{
    static const uint16_t ops[] = {IR_AND, IR_OR, IR_XOR};
    const enum type t = (enum type)(I16 + any(m, 5));
    if (any(m, 3) == 0)
        keep(m, I1, op2(&m->k, ops[any(m, 3)], m->k.i1, pick(m, I1), pick(m, I1)));
    else if (t >= F16)
        keep(m, I1, compare(&m->k, (enum ir_condition)(IR_OEQ + any(m, IR_TRUE - IR_OEQ)), pick(m, t), pick(m, t)));
    else
        keep(m, I1, compare(&m->k, (enum ir_condition)(IR_EQ + any(m, 10)), pick(m, t), pick(m, t)));
}

static void change(struct maker *m)
{
    const enum type from = (enum type)(I1 + any(m, 4)), to = (enum type)(I1 + any(m, 4));
    if (from == to) {
        const enum type t = (enum type)any(m, TYPES);
        keep(m, t, op3(&m->k, IR_SELECT, type_of(m, t), pick(m, I1), pick(m, t), pick(m, t)));
    } else if (from < to) {
        keep(m, to, op1(&m->k, any(m, 2) ? IR_ZEXT : IR_SEXT, type_of(m, to), pick(m, from)));
    } else {
        keep(m, to, op1(&m->k, IR_TRUNC, type_of(m, to), pick(m, from)));
    }
}

static void function(struct maker *m)
{
    static const uint16_t both[] = {IR_B_UMIN,      IR_B_UMAX,      IR_B_SMIN,      IR_B_SMAX,
                                    IR_B_ADD_SAT_U, IR_B_ADD_SAT_S, IR_B_SUB_SAT_U, IR_B_SUB_SAT_S};
    static const uint16_t words[] = {IR_B_CLZ, IR_B_CTZ, IR_B_POPCOUNT, IR_B_BIT_REVERSE};
    const enum type t = any(m, 2) ? I16 : I32;
    const struct ir_type *const type = type_of(m, t);
    const unsigned what = any(m, 4);
    if (what == 0)
        keep(m, t, builtin2(&m->k, (enum ir_builtin)both[any(m, 8)], type, pick(m, t), pick(m, t)));
    else if (what == 1)
        keep(m, I32, builtin1(&m->k, (enum ir_builtin)words[any(m, 4)], m->k.i32, pick(m, I32)));
    else if (what == 2)
        keep(m, I32,
             builtin3(&m->k, any(m, 2) ? IR_B_FUNNEL_LEFT : IR_B_FUNNEL_RIGHT, m->k.i32, pick(m, I32), pick(m, I32),
                      pick(m, I32)));
    else
        keep(m, I32, builtin2(&m->k, any(m, 2) ? IR_B_MUL_HIGH_U : IR_B_MUL_HIGH_S, m->k.i32, pick(m, I32), pick(m, I32)));
}

/* A number of 32 bits that depends on all of a value; of NaNs only that they are. */
static val digest(struct maker *m, enum type t, val v)
{
    struct kit *const k = &m->k;
    if (t == I64) {
        const val high = op2(k, IR_LSHR, k->i64, v, ir_constant(k->m, k->i64, 32));
        return op2(k, IR_XOR, k->i32, op1(k, IR_TRUNC, k->i32, v), op1(k, IR_TRUNC, k->i32, high));
    }
    if (t == F16 || t == F32) {
        const struct ir_type *const type = t == F16 ? k->i16 : k->i32;
        const val bits = op1(k, IR_BITCAST, type, v), number_ = compare(k, IR_ORD, v, v);
        const val safe = op3(k, IR_SELECT, type, number_, bits, ir_constant(k->m, type, 77));
        return t == F16 ? op1(k, IR_ZEXT, k->i32, safe) : safe;
    }
    return t == I32 ? v : op1(k, IR_ZEXT, k->i32, v);
}

static bool one(unsigned seed, unsigned *all_spills)
{
    struct maker m = {.k = kit_kernel(), .random = seed};
    struct isa_error error = {0};
    unsigned spills;
    const val i = position(&m.k, IR_B_GLOBAL_ID);
    keep(&m, I32, i);
    for (unsigned v = 0; v < 3; v++)
        keep(&m, I32, load(&m.k, m.k.i32, m.k.f->argument[0], op2(&m.k, IR_ADD, m.k.i32, i, number(&m.k, v))));
    keep(&m, I16, load(&m.k, m.k.i16, m.k.f->argument[0], i));
    keep(&m, I32, m.k.f->argument[2]);
    for (unsigned n = 8 + any(&m, 50); n > 0; n--) {
        const unsigned what = any(&m, 10);
        if (what < 4)
            integer(&m, (enum type)(I16 + any(&m, 3)));
        else if (what < 6)
            real(&m, any(&m, 2) ? F16 : F32);
        else if (what == 6)
            truth(&m);
        else if (what < 9)
            change(&m);
        else
            function(&m);
    }
    val sum = i;
    for (unsigned t = 0; t < TYPES; t++)
        for (unsigned v = m.count[t] > 4 ? m.count[t] - 4 : 0; v < m.count[t]; v++)
            sum = op2(&m.k, IR_XOR, m.k.i32, op2(&m.k, IR_MUL, m.k.i32, sum, number(&m.k, 31)),
                      digest(&m, (enum type)t, m.value[t][v % VALUES]));
    store(&m.k, sum, m.k.f->argument[1], i);
    give(&m.k, NULL);
    const bool lowered = ir_number(m.k.f) && ir_verify_lowered(m.k.f, &error);
    CHECK(lowered, "%s", error.text);
    const bool good = lowered && agrees(m.k.f, 0, &spills) && agrees(m.k.f, FEW_HALVES, &spills);
    CHECK(good, "with seed %u", seed);
    *all_spills += spills;
    ir_module_free(m.k.m);
    return good;
}

static void test_expressions(void)
{
    unsigned spills = 0;
    for (unsigned seed = 0; seed < 400 && one(seed, &spills); seed++)
        continue;
    CHECK(spills > 0, "no expression needed the stack with %d halves", FEW_HALVES);
}

static const struct suite_test tests[] = {
    {"random expressions", test_expressions},
};
SUITE_MAIN("agx select", tests)
