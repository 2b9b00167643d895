/* The compiler's back end: kernels in lowered form compute on the simulated GPU what the interpreter says, also with few
 * registers; random control flow; what is refused; places in the source. */
#include "isa/agx/compiler/ir_lower.h"
#include "tests/isa/agx_compile_example.h"

static void check(struct kit *k)
{
    unsigned spills;
    struct isa_error error;
    const bool lowered = ir_number(k->f) && ir_verify_lowered(k->f, &error);
    CHECK(lowered, "%s", error.text);
    if (lowered)
        agrees(k->f, 0, &spills);
    ir_module_free(k->m);
}

/* ---- kernels ---- */

/* if (i < n) out[i] = 3 * in[i] + in[i + 64] */
static void test_guarded(void)
{
    struct kit k = kit_kernel();
    struct ir_block *const yes = block(&k, "yes"), *const end = block(&k, "end");
    const val i = position(&k, IR_B_GLOBAL_ID);
    branch(&k, compare(&k, IR_ULT, i, k.f->argument[2]), yes, end);
    k.b = yes;
    const val a = load(&k, k.i32, k.f->argument[0], i), next = op2(&k, IR_ADD, k.i32, i, number(&k, 64));
    const val b = load(&k, k.i32, k.f->argument[0], next), three = op2(&k, IR_MUL, k.i32, a, number(&k, 3));
    store(&k, op2(&k, IR_ADD, k.i32, three, b), k.f->argument[1], i);
    jump(&k, end);
    k.b = end;
    give(&k, NULL);
    check(&k);
}

/* do { (a, b, c) = (b, c, a) } while (++j < (i & 7)): three values change places at once. */
static void test_rotating_phis(void)
{
    struct kit k = kit_kernel();
    struct ir_block *const entry = k.b, *const loop = block(&k, "loop"), *const end = block(&k, "end");
    const val i = position(&k, IR_B_GLOBAL_ID), most = op2(&k, IR_AND, k.i32, i, number(&k, 7));
    jump(&k, loop);
    k.b = loop;
    const val j = phi(&k, k.i32), a = phi(&k, k.i32), b = phi(&k, k.i32), c = phi(&k, k.i32);
    const val more = op2(&k, IR_ADD, k.i32, j, number(&k, 1));
    branch(&k, compare(&k, IR_ULT, more, most), loop, end);
    const val first[] = {number(&k, 0), i, number(&k, 1000), most}, next[] = {more, b, c, a}, all[] = {j, a, b, c};
    for (unsigned p = 0; p < 4; p++) {
        ir_add_incoming(all[p], first[p], entry);
        ir_add_incoming(all[p], next[p], loop);
    }
    k.b = end;
    const val sum = op2(&k, IR_ADD, k.i32, op2(&k, IR_MUL, k.i32, a, number(&k, 77)), op2(&k, IR_SUB, k.i32, b, c));
    store(&k, sum, k.f->argument[1], i);
    give(&k, NULL);
    check(&k);
}

/* Through threadgroup memory, in the other order. */
static void test_barrier(void)
{
    struct kit k = kit_kernel();
    const val shared = ir_add_global(k.m, "s", ir_array(k.m, k.i32, GROUP), IR_THREADGROUP);
    const val t = position(&k, IR_B_LOCAL_ID), i = position(&k, IR_B_GLOBAL_ID);
    store(&k, load(&k, k.i32, k.f->argument[0], i), shared, t);
    builtin0(&k, IR_B_BARRIER, k.none);
    const val other = op2(&k, IR_SUB, k.i32, number(&k, GROUP - 1), t);
    store(&k, load(&k, k.i32, shared, other), k.f->argument[1], i);
    give(&k, NULL);
    check(&k);
}

/* Twenty values that are all alive at once, in fewer registers than they need. */
static void test_spilling(void)
{
    struct kit k = kit_kernel();
    const val i = position(&k, IR_B_GLOBAL_ID);
    val v[20];
    unsigned spills = 0, none = 0;
    for (unsigned j = 0; j < 20; j++)
        v[j] = load(&k, k.i32, k.f->argument[0], op2(&k, IR_XOR, k.i32, i, number(&k, j)));
    val sum = number(&k, 0);
    for (unsigned j = 0; j < 20; j++)
        sum = op2(&k, IR_XOR, k.i32, op2(&k, IR_MUL, k.i32, sum, number(&k, 5)), op2(&k, IR_MUL, k.i32, v[19 - j], v[j]));
    store(&k, sum, k.f->argument[1], i);
    give(&k, NULL);
    ir_number(k.f);
    CU_ASSERT_TRUE(agrees(k.f, 0, &none));
    CU_ASSERT_TRUE(agrees(k.f, 24, &spills));
    CU_ASSERT_EQUAL(none, 0);
    CU_ASSERT_TRUE(spills > 0);
    ir_module_free(k.m);
}

/* Each function over the lanes of a simdgroup, for lanes that are all on. */
static void test_lanes(void)
{
    static const struct {
        enum ir_builtin builtin;
        int kind; /* of reductions; -1 = none */
    } functions[] = {{IR_B_SIMD_REDUCE, IR_REDUCE_ADD}, {IR_B_SIMD_REDUCE, IR_REDUCE_SMAX}, {IR_B_SIMD_REDUCE, IR_REDUCE_XOR},
                     {IR_B_SIMD_PREFIX, IR_REDUCE_ADD}, {IR_B_QUAD_REDUCE, IR_REDUCE_UMIN}, {IR_B_SIMD_SHUFFLE, -1},
                     {IR_B_SIMD_SHUFFLE_XOR, -1},       {IR_B_SIMD_BROADCAST, -1},          {IR_B_SIMD_BALLOT, -1}};
    for (unsigned n = 0; n < ARRAY_COUNT(functions); n++) {
        struct kit k = kit_kernel();
        const enum ir_builtin builtin = functions[n].builtin;
        const val i = position(&k, IR_B_GLOBAL_ID), a = load(&k, k.i32, k.f->argument[0], i);
        const val lane = op2(&k, IR_AND, k.i32, a, number(&k, 31));
        val got;
        if (functions[n].kind >= 0) {
            got = builtin1(&k, builtin, k.i32, a);
            kit_list(&k, got, (uint32_t)functions[n].kind);
        } else if (builtin == IR_B_SIMD_BALLOT) {
            got = builtin1(&k, builtin, k.i32, compare(&k, IR_UGE, a, number(&k, 1u << 30)));
        } else {
            got = builtin2(&k, builtin, k.i32, a, builtin == IR_B_SIMD_SHUFFLE ? lane : number(&k, 5));
        }
        store(&k, got, k.f->argument[1], i);
        give(&k, NULL);
        check(&k);
    }
}

/* Matrices of 8 times 8 whose elements are small numbers, so that every order of additions gives the same. */
static void test_matrices(void)
{
    struct kit k = kit_kernel();
    const struct ir_type *const two = ir_vector(k.m, k.f32, 2);
    const val i = position(&k, IR_B_GLOBAL_ID);
    val matrix[3];
    for (unsigned m = 0; m < 3; m++) {
        matrix[m] = ir_undefined(k.m, two);
        for (unsigned e = 0; e < 2; e++) {
            const val bits = op2(&k, IR_LSHR, k.i32, load(&k, k.i32, k.f->argument[0], i), number(&k, 4 * (2 * m + e)));
            const val small = op1(&k, IR_UITOFP, k.f32, op2(&k, IR_AND, k.i32, bits, number(&k, 15)));
            matrix[m] = op3(&k, IR_INSERT, two, matrix[m], small, number(&k, e));
        }
    }
    const val product = builtin3(&k, IR_B_MATRIX_FMA, two, matrix[0], matrix[1], matrix[2]);
    const val sum = op3(&k, IR_FMA, k.f32, op2(&k, IR_EXTRACT, k.f32, product, number(&k, 0)),
                        ir_constant(k.m, k.f32, 0x44800000), op2(&k, IR_EXTRACT, k.f32, product, number(&k, 1)));
    store(&k, op1(&k, IR_BITCAST, k.i32, sum), k.f->argument[1], i);
    give(&k, NULL);
    check(&k);
}

/* ---- random control flow: variables in private memory, loops ended by fuel ---- */

enum { VARIABLES = 4, SCOPES = 8 };

struct maker {
    struct kit k;
    uint64_t random;
    val i, variable;
    struct ir_block *leave[SCOPES], *again[SCOPES]; /* enclosing loops and blocks; again NULL: a block */
    struct ir_block *end;
    unsigned scopes, blocks;
};

static unsigned any(struct maker *m, unsigned below)
{
    return (unsigned)(suite_random(&m->random) >> 33) % below;
}

static val get(struct maker *m, unsigned variable)
{
    return load(&m->k, m->k.i32, m->variable, number(&m->k, variable));
}

static void put(struct maker *m, unsigned variable, val value)
{
    store(&m->k, value, m->variable, number(&m->k, variable));
}

static void statement(struct maker *m)
{
    static const uint16_t ops[] = {IR_ADD, IR_SUB, IR_XOR, IR_MUL, IR_AND, IR_OR};
    const val a = get(m, any(m, VARIABLES)), b = any(m, 3) ? get(m, any(m, VARIABLES)) : number(&m->k, any(m, 2000));
    put(m, any(m, VARIABLES), op2(&m->k, ops[any(m, 6)], m->k.i32, a, b));
}

static val question(struct maker *m)
{
    static const uint8_t conditions[] = {IR_EQ, IR_NE, IR_ULT, IR_UGE, IR_SGT, IR_SLE};
    const val bits = op2(&m->k, IR_AND, m->k.i32, get(m, any(m, VARIABLES)), number(&m->k, 3));
    const val first = compare(&m->k, conditions[any(m, 6)], bits, number(&m->k, any(m, 4)));
    if (any(m, 3))
        return first;
    const val second = compare(&m->k, conditions[any(m, 6)], get(m, any(m, VARIABLES)), m->i);
    return op2(&m->k, any(m, 2) ? IR_AND : IR_OR, m->k.i1, first, second);
}

static void body(struct maker *m, unsigned depth);

static void body_into(struct maker *m, struct ir_block *from, struct ir_block *to, unsigned depth)
{
    m->k.b = from;
    body(m, depth);
    jump(&m->k, to);
}

static void random_if(struct maker *m, unsigned depth)
{
    struct ir_block *const yes = block(&m->k, NULL), *const no = block(&m->k, NULL), *const join = block(&m->k, NULL);
    branch(&m->k, question(m), yes, any(m, 2) ? no : join);
    body_into(m, yes, join, depth - 1);
    body_into(m, no, join, depth - 1);
    m->k.b = join;
}

static void random_loop(struct maker *m, unsigned depth)
{
    struct ir_block *const top = block(&m->k, NULL), *const latch = block(&m->k, NULL), *const join = block(&m->k, NULL);
    jump(&m->k, top);
    m->leave[m->scopes] = join;
    m->again[m->scopes++] = latch;
    body_into(m, top, latch, depth - 1);
    m->scopes--;
    m->k.b = latch;
    const val fuel = op2(&m->k, IR_ADD, m->k.i32, get(m, VARIABLES), number(&m->k, 1));
    put(m, VARIABLES, fuel);
    const val left = compare(&m->k, IR_ULT, fuel, number(&m->k, 12));
    branch(&m->k, any(m, 2) ? left : op2(&m->k, IR_AND, m->k.i1, left, question(m)), top, join);
    m->k.b = join;
}

/* Leaves any of the enclosing loops and blocks, repeats a loop, or ends the kernel. */
static void random_exit(struct maker *m)
{
    struct ir_block *const go_on = block(&m->k, NULL);
    const unsigned choice = any(m, m->scopes + 1);
    struct ir_block *target = choice < m->scopes ? m->leave[choice] : m->end;
    if (choice < m->scopes && m->again[choice] && any(m, 2))
        target = m->again[choice];
    branch(&m->k, question(m), target, go_on);
    m->k.b = go_on;
}

static void random_block(struct maker *m, unsigned depth)
{
    struct ir_block *const join = block(&m->k, NULL);
    m->leave[m->scopes] = join;
    m->again[m->scopes++] = NULL;
    body(m, depth - 1);
    m->scopes--;
    jump(&m->k, join);
    m->k.b = join;
}

static void body(struct maker *m, unsigned depth)
{
    for (unsigned n = 1 + any(m, 3); n > 0; n--) {
        statement(m);
        const unsigned what = depth ? any(m, 6) : 5;
        if (what < 2)
            random_if(m, depth);
        else if (what == 2)
            random_loop(m, depth);
        else if (what == 3)
            random_block(m, depth);
        else if (what == 4)
            random_exit(m);
    }
}

static void test_random_control_flow(void)
{
    unsigned all_spills = 0;
    for (unsigned seed = 0; seed < 150; seed++) {
        struct maker m = {.k = kit_kernel(), .random = seed};
        unsigned spills;
        m.end = block(&m.k, "end");
        m.i = position(&m.k, IR_B_GLOBAL_ID);
        m.variable = op1(&m.k, IR_ALLOCA, m.k.private, number(&m.k, 1));
        m.variable->held = ir_array(m.k.m, m.k.i32, VARIABLES + 1);
        for (unsigned v = 0; v < VARIABLES; v++)
            put(&m, v, load(&m.k, m.k.i32, m.k.f->argument[0], op2(&m.k, IR_ADD, m.k.i32, m.i, number(&m.k, v))));
        put(&m, VARIABLES, number(&m.k, 0));
        body(&m, 4);
        jump(&m.k, m.end);
        m.k.b = m.end;
        val sum = get(&m, 0);
        for (unsigned v = 1; v < VARIABLES; v++)
            sum = op2(&m.k, IR_XOR, m.k.i32, op2(&m.k, IR_MUL, m.k.i32, sum, number(&m.k, 31)), get(&m, v));
        store(&m.k, sum, m.k.f->argument[1], m.i);
        give(&m.k, NULL);
        ir_number(m.k.f);
        struct isa_error error;
        bool good = agrees(m.k.f, 0, &spills);
        good = good && ir_lower(m.k.m, m.k.f, &(struct ir_lower_options){0}, &error) && agrees(m.k.f, 0, &spills) &&
               agrees(m.k.f, 12 + seed % 6, &spills);
        CHECK(good, "with seed %u", seed);
        all_spills += spills;
        ir_module_free(m.k.m);
        if (!good)
            break;
    }
    CHECK(all_spills > 0, "no program needed the stack");
}

/* ---- what is refused, and places ---- */

static void test_irreducible(void)
{
    struct kit k = kit_kernel();
    struct isa_error error;
    struct agx_compiled code;
    struct ir_block *const a = block(&k, "a"), *const b = block(&k, "b");
    const val i = position(&k, IR_B_GLOBAL_ID);
    branch(&k, compare(&k, IR_EQ, i, number(&k, 3)), a, b);
    k.b = a;
    jump(&k, b);
    k.b = b;
    jump(&k, a);
    ir_number(k.f);
    CU_ASSERT_FALSE(agx_compile(k.f, NULL, &code, &error));
    CHECK(strstr(error.text, "irreducible") != NULL, "%s", error.text);
    ir_module_free(k.m);
}

static void test_places(void)
{
    struct kit k = kit_kernel();
    struct isa_error error;
    struct agx_compiled code;
    const val i = position(&k, IR_B_GLOBAL_ID), a = load(&k, k.i32, k.f->argument[0], i);
    const val sum = op2(&k, IR_ADD, k.i32, a, number(&k, 5));
    const val out = store(&k, sum, k.f->argument[1], i);
    i->line = 11;
    a->line = 12;
    sum->line = 13;
    out->line = 14;
    give(&k, NULL);
    ir_number(k.f);
    CU_ASSERT_TRUE_FATAL(agx_compile(k.f, NULL, &code, &error));
    static const uint32_t lines[] = {11, 12, 13, 13, 14}; /* the wait belongs to what it stands in front of */
    CU_ASSERT_EQUAL_FATAL(code.places, ARRAY_COUNT(lines));
    for (unsigned p = 0; p < code.places; p++)
        CHECK(code.place[p].line == lines[p], "instruction %u comes from line %u", p, code.place[p].line);
    agx_compiled_free(&code);
    ir_module_free(k.m);
}

static const struct suite_test tests[] = {
    {"a guarded statement", test_guarded},
    {"values that change places at once", test_rotating_phis},
    {"threadgroup memory and a barrier", test_barrier},
    {"functions over lanes", test_lanes},
    {"matrices", test_matrices},
    {"more values than registers", test_spilling},
    {"random control flow", test_random_control_flow},
    {"irreducible control flow is refused", test_irreducible},
    {"places in the source", test_places},
};
SUITE_MAIN("agx compile", tests)
