/* The interpreter of the compiler's intermediate representation: control flow that parts and meets, barriers, functions of
 * simdgroups. */
#include "tests/isa/ir_bench.h"

/* ---- threads and control flow ---- */

static void test_positions(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(100, 48);
    const val id = position(&k, IR_B_GLOBAL_ID), x = load(&k, k.i32, k.f->argument[0], id);
    val y = op2(&k, IR_MUL, k.i32, x, number(&k, 3));
    const enum ir_builtin all[] = {IR_B_LOCAL_ID, IR_B_GROUP_ID, IR_B_LOCAL_SIZE, IR_B_GROUP_COUNT, IR_B_GLOBAL_SIZE};
    for (unsigned i = 0; i < ARRAY_COUNT(all); i++)
        y = op2(&k, IR_ADD, k.i32, op2(&k, IR_MUL, k.i32, y, number(&k, 7)), position(&k, all[i]));
    y = op2(&k, IR_ADD, k.i32, y, k.f->argument[2]);
    store(&k, y, k.f->argument[1], id);
    finish(&k, &b, 11);
    for (uint32_t i = 0; i < 100; i++) {
        const uint32_t position[] = {i % 48, i / 48, i < 96 ? 48 : 4, 3, 100};
        uint32_t wanted = b.in[i] * 3;
        for (unsigned j = 0; j < 5; j++)
            wanted = wanted * 7 + position[j];
        CHECK(b.out[i] == wanted + 11, "thread %u", i);
    }
    CU_ASSERT_EQUAL(b.out[100], 0);
    CHECK(b.counts.lane_steps % 100 == 0 && b.counts.simdgroup_steps > 0, "%llu", (unsigned long long)b.counts.lane_steps);
}

/* Lanes part at an if and are together again behind it. */
static void test_if(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(64, 64);
    const val id = position(&k, IR_B_GLOBAL_ID), odd = op2(&k, IR_AND, k.i32, id, number(&k, 1));
    struct ir_block *const yes = block(&k, "yes"), *const no = block(&k, "no"), *const end = block(&k, "end");
    branch(&k, compare(&k, IR_NE, odd, number(&k, 0)), yes, no);
    k.b = yes;
    const val there = ballot_all(&k);
    jump(&k, end);
    k.b = no;
    const val here = op2(&k, IR_XOR, k.i32, ballot_all(&k), number(&k, 0xff));
    jump(&k, end);
    k.b = end;
    const val either = phi(&k, k.i32);
    ir_add_incoming(either, there, yes);
    ir_add_incoming(either, here, no);
    store(&k, either, k.f->argument[1], id);
    store(&k, ballot_all(&k), k.f->argument[1], op2(&k, IR_ADD, k.i32, id, number(&k, 64)));
    finish(&k, &b, 0);
    EXPECT(b, 64, i, i & 1 ? 0xaaaaaaaa : 0x555555aa);
    for (uint32_t i = 64; i < 128; i++)
        CHECK(b.out[i] == UINT32_MAX, "after the if %x", (unsigned)b.out[i]);
}

/* A loop of another number of turns in each lane, whose exit stands before its body as clang likes to write it; two phis that
 * change places in every turn. */
static void test_loop(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(96, 96);
    const val id = position(&k, IR_B_GLOBAL_ID), turns = op2(&k, IR_UREM, k.i32, id, number(&k, 7));
    struct ir_block *const entry = k.b, *const out = block(&k, "out"), *const body = block(&k, "body");
    branch(&k, compare(&k, IR_EQ, turns, number(&k, 0)), out, body);
    k.b = body;
    const val i = phi(&k, k.i32), a = phi(&k, k.i32), c = phi(&k, k.i32);
    const val next = op2(&k, IR_ADD, k.i32, i, number(&k, 1));
    branch(&k, compare(&k, IR_ULT, next, turns), body, out);
    ir_add_incoming(i, number(&k, 0), entry);
    ir_add_incoming(i, next, body);
    ir_add_incoming(a, number(&k, 1000), entry);
    ir_add_incoming(a, c, body);
    ir_add_incoming(c, id, entry);
    ir_add_incoming(c, a, body);
    k.b = out;
    const val last = phi(&k, k.i32);
    ir_add_incoming(last, number(&k, 5), entry);
    ir_add_incoming(last, a, body);
    store(&k, op2(&k, IR_ADD, k.i32, last, builtin1(&k, IR_B_POPCOUNT, k.i32, ballot_all(&k))), k.f->argument[1], id);
    finish(&k, &b, 0);
    EXPECT(b, 96, t, 32 + (t % 7 == 0 ? 5 : t % 7 % 2 ? 1000 : t));
}

/* A loop in a loop, the inner one with a way out of both. */
static void test_nested_loops(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(64, 32);
    const val id = position(&k, IR_B_GLOBAL_ID);
    struct ir_block *const entry = k.b, *const found = block(&k, "found"), *const outer = block(&k, "outer"),
                           *const inner = block(&k, "inner"), *const more = block(&k, "more"), *const again = block(&k, "again"),
                           *const end = block(&k, "end");
    jump(&k, outer);
    k.b = outer;
    const val i = phi(&k, k.i32);
    jump(&k, inner);
    k.b = inner;
    const val j = phi(&k, k.i32), product = op2(&k, IR_MUL, k.i32, i, j);
    branch(&k, compare(&k, IR_UGT, op2(&k, IR_ADD, k.i32, product, j), id), found, more);
    k.b = more;
    const val next_j = op2(&k, IR_ADD, k.i32, j, number(&k, 1));
    branch(&k, compare(&k, IR_ULE, next_j, i), inner, again);
    k.b = again;
    const val next_i = op2(&k, IR_ADD, k.i32, i, number(&k, 1));
    branch(&k, compare(&k, IR_ULT, next_i, number(&k, 6)), outer, end);
    ir_add_incoming(i, number(&k, 0), entry);
    ir_add_incoming(i, next_i, again);
    ir_add_incoming(j, number(&k, 0), outer);
    ir_add_incoming(j, next_j, more);
    k.b = found;
    store(&k, op2(&k, IR_ADD, k.i32, op2(&k, IR_MUL, k.i32, i, number(&k, 100)), j), k.f->argument[1], id);
    jump(&k, end);
    k.b = end;
    store(&k, ballot_all(&k), k.f->argument[1], op2(&k, IR_ADD, k.i32, id, number(&k, 64)));
    finish(&k, &b, 0);
    for (uint32_t t = 0; t < 64; t++) {
        uint32_t wanted = 0;
        for (uint32_t x = 0; x < 6 && !wanted; x++)
            for (uint32_t y = 0; y <= x && !wanted; y++)
                wanted = x * y + y > t ? 100 * x + y : 0;
        CHECK(b.out[t] == wanted && b.out[64 + t] == UINT32_MAX, "%u: %u, not %u", t, (unsigned)b.out[t], wanted);
    }
}

static void test_switch(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(32, 32);
    const val id = position(&k, IR_B_GLOBAL_ID);
    struct ir_block *const entry = k.b, *const five = block(&k, "five"), *const end = block(&k, "end");
    const val v = ir_make(k.f, IR_SWITCH, k.none, (val[]){id, number(&k, 5), number(&k, 9), number(&k, 31)}, 4);
    v->blocks = 4;
    v->block = ir_alloc(k.m, 4 * sizeof(struct ir_block *));
    v->block[0] = v->block[2] = end;
    v->block[1] = v->block[3] = five;
    kit_put(&k, v);
    k.b = five;
    const val twice = op2(&k, IR_SHL, k.i32, id, number(&k, 1));
    jump(&k, end);
    k.b = end;
    const val x = phi(&k, k.i32);
    ir_add_incoming(x, number(&k, 77), entry);
    ir_add_incoming(x, twice, five);
    store(&k, x, k.f->argument[1], id);
    finish(&k, &b, 0);
    EXPECT(b, 32, i, i == 5 || i == 31 ? 2 * i : 77);
}

/* ---- barriers ---- */

static void test_barrier(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(1024, 256);
    const val s = group_array(&k, 256), id = position(&k, IR_B_GLOBAL_ID), t = position(&k, IR_B_LOCAL_ID);
    store(&k, op2(&k, IR_MUL, k.i32, id, id), s, t);
    builtin0(&k, IR_B_BARRIER, k.none);
    const val other = load(&k, k.i32, s, op2(&k, IR_XOR, k.i32, t, number(&k, 255)));
    builtin0(&k, IR_B_BARRIER, k.none);
    store(&k, number(&k, 0), s, t);
    store(&k, other, k.f->argument[1], id);
    finish(&k, &b, 0);
    EXPECT(b, 1024, i, (i ^ 255) * (i ^ 255));
}

static void barrier_if(struct kit *k, enum ir_condition condition, uint32_t limit, bool other_barrier)
{
    struct ir_block *const yes = block(k, "yes"), *const no = block(k, "no"), *const end = block(k, "end");
    branch(k, compare(k, condition, position(k, IR_B_LOCAL_ID), number(k, limit)), yes, no);
    k->b = yes;
    builtin0(k, IR_B_BARRIER, k->none)->line = 17;
    jump(k, end);
    k->b = no;
    if (other_barrier)
        builtin0(k, IR_B_BARRIER, k->none)->line = 21;
    jump(k, end);
    k->b = end;
    give(k, NULL);
}

static void test_barrier_errors(void)
{
    struct bench b = bench_new(128, 128);
    struct kit k = kit_kernel();
    barrier_if(&k, IR_ULT, 40, false);
    refused(&k, &b, 17, "some threads of the threadgroup end without coming to this barrier");
    k = kit_kernel();
    barrier_if(&k, IR_ULT, 64, false); /* whole simdgroups are missing */
    refused(&k, &b, 17, "end without coming");
    k = kit_kernel();
    barrier_if(&k, IR_ULT, 64, true);
    refused(&k, &b, 17, "others are at one of line 21");
    k = kit_kernel();
    barrier_if(&k, IR_ULT, 3, true);
    refused(&k, &b, 17, "others are at one of line 21");
}

/* On the GPU a barrier waits for what still runs: half of a simdgroup ends before it, then two whole simdgroups. */
static void test_barrier_without_ended(void)
{
    const uint32_t limits[] = {16, 40, 64, 127};
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++) {
        struct kit k = kit_kernel();
        struct bench b = bench_new(256, 128);
        struct ir_block *const early = block(&k, "early"), *const late = block(&k, "late");
        const val s = group_array(&k, 128), id = position(&k, IR_B_GLOBAL_ID), t = position(&k, IR_B_LOCAL_ID);
        b.ended_arrive = true;
        store(&k, id, s, t);
        branch(&k, compare(&k, IR_ULT, t, number(&k, limits[i])), late, early);
        k.b = early;
        give(&k, NULL);
        k.b = late;
        builtin0(&k, IR_B_BARRIER, k.none);
        store(&k, load(&k, k.i32, s, op2(&k, IR_XOR, k.i32, t, number(&k, 127))), k.f->argument[1], id);
        finish(&k, &b, 0);
        EXPECT(b, 256, n, n % 128 < limits[i] ? n / 128 * 128 + (n % 128 ^ 127) : 0);
    }
}

/* ---- simdgroups ---- */

static uint32_t loaded(const struct bench *b, uint32_t i)
{
    return b->in[i] >> 20;
}

static void test_shuffles(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(32, 32);
    const val id = position(&k, IR_B_GLOBAL_ID), out = k.f->argument[1];
    const val x = op2(&k, IR_LSHR, k.i32, load(&k, k.i32, k.f->argument[0], id), number(&k, 20));
    const enum ir_builtin moves[] = {IR_B_SIMD_SHUFFLE_XOR, IR_B_SIMD_SHUFFLE_UP, IR_B_SIMD_SHUFFLE_DOWN, IR_B_SIMD_BROADCAST};
    for (unsigned i = 0; i < 4; i++)
        store(&k, builtin2(&k, moves[i], k.i32, x, number(&k, 5)), out, op2(&k, IR_ADD, k.i32, id, number(&k, 32 * i)));
    const val back = op2(&k, IR_SUB, k.i32, number(&k, 31), id);
    store(&k, builtin2(&k, IR_B_SIMD_SHUFFLE, k.i32, x, back), out, op2(&k, IR_ADD, k.i32, id, number(&k, 128)));
    const val before = builtin1(&k, IR_B_SIMD_PREFIX, k.i32, x), most = builtin1(&k, IR_B_SIMD_REDUCE, k.i32, x),
              quad = builtin1(&k, IR_B_QUAD_REDUCE, k.i32, x);
    kit_list(&k, before, IR_REDUCE_ADD);
    kit_list(&k, most, IR_REDUCE_UMAX);
    kit_list(&k, quad, IR_REDUCE_XOR);
    store(&k, before, out, op2(&k, IR_ADD, k.i32, id, number(&k, 160)));
    store(&k, most, out, op2(&k, IR_ADD, k.i32, id, number(&k, 192)));
    store(&k, quad, out, op2(&k, IR_ADD, k.i32, id, number(&k, 224)));
    const val first = op1(&k, IR_ZEXT, k.i32, builtin0(&k, IR_B_SIMD_FIRST, k.i1));
    store(&k, first, out, op2(&k, IR_ADD, k.i32, id, number(&k, 256)));
    finish(&k, &b, 0);
    uint32_t sum = 0, largest = 0;
    for (uint32_t i = 0; i < 32; i++)
        largest = loaded(&b, i) > largest ? loaded(&b, i) : largest;
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t q = i & ~3U;
        const uint32_t wanted[] = {loaded(&b, i ^ 5),
                                   loaded(&b, i < 5 ? i : i - 5),
                                   loaded(&b, i + 5 > 31 ? i : i + 5),
                                   loaded(&b, 5),
                                   loaded(&b, 31 - i),
                                   sum,
                                   largest,
                                   loaded(&b, q) ^ loaded(&b, q + 1) ^ loaded(&b, q + 2) ^ loaded(&b, q + 3),
                                   i == 0};
        for (unsigned j = 0; j < ARRAY_COUNT(wanted); j++)
            CHECK(b.out[32 * j + i] == wanted[j], "function %u of lane %u: %u, not %u", j, i, (unsigned)b.out[32 * j + i],
                  wanted[j]);
        sum += loaded(&b, i);
    }
}

/* Two simdgroups of a group that is no multiple of 32: sums are over the lanes that exist and are together. */
static void test_partial(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(40, 40);
    const val id = position(&k, IR_B_GLOBAL_ID);
    const val sum = builtin1(&k, IR_B_SIMD_REDUCE, k.i32, op2(&k, IR_ADD, k.i32, id, number(&k, 1)));
    kit_list(&k, sum, IR_REDUCE_ADD);
    builtin0(&k, IR_B_BARRIER, k.none);
    store(&k, op2(&k, IR_ADD, k.i32, sum, builtin0(&k, IR_B_SIMDGROUP, k.i32)), k.f->argument[1], id);
    finish(&k, &b, 0);
    EXPECT(b, 40, i, i < 32 ? 32 * 33 / 2 : 40 * 41 / 2 - 32 * 33 / 2 + 1);
}

static void test_matrix(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(32, 32);
    const struct ir_type *const pair = ir_vector(k.m, k.f32, 2);
    const val id = position(&k, IR_B_GLOBAL_ID);
    val part[3];
    for (unsigned i = 0; i < 3; i++)
        part[i] = load(&k, pair, k.f->argument[0], op2(&k, IR_ADD, k.i32, id, number(&k, 32 * i)));
    store(&k, builtin3(&k, IR_B_MATRIX_FMA, pair, part[0], part[1], part[2]), k.f->argument[1], id);
    float matrix[3][8][8];
    for (unsigned i = 0; i < 192; i++) {
        const unsigned lane = i / 2 % 32, row = (lane >> 4) * 4 + (lane >> 1 & 3), column = (lane >> 3 & 1) * 4 + (lane & 1) * 2;
        const float x = (float)(i * 37 % 19) - 9;
        memcpy(&b.in[i], &x, 4);
        matrix[i / 64][row][column + i % 2] = x;
    }
    finish(&k, &b, 0);
    for (unsigned i = 0; i < 64; i++) {
        const unsigned lane = i / 2, row = (lane >> 4) * 4 + (lane >> 1 & 3),
                       column = (lane >> 3 & 1) * 4 + (lane & 1) * 2 + i % 2;
        float wanted = matrix[2][row][column], got; /* small integers: exact in any order */
        for (unsigned j = 0; j < 8; j++)
            wanted += matrix[0][row][j] * matrix[1][j][column];
        memcpy(&got, &b.out[i], 4);
        CHECK(got == wanted, "row %u, column %u: %g, not %g", row, column, (double)got, (double)wanted);
    }
}

static const struct suite_test tests[] = {
    {"threads know where they are, also in a group that the grid cuts", test_positions},
    {"lanes part at an if and meet behind it", test_if},
    {"loops of other lengths in each lane meet behind them, phis change places", test_loop},
    {"loops in loops with a way out of both", test_nested_loops},
    {"switches", test_switch},
    {"barriers order threadgroup memory", test_barrier},
    {"barriers that not all threads come to are errors", test_barrier_errors},
    {"barriers wait for threads that have not ended where that is asked for", test_barrier_without_ended},
    {"shuffles, prefixes, reductions", test_shuffles},
    {"simdgroups with fewer lanes", test_partial},
    {"matrix products", test_matrix},
};

SUITE_MAIN("ir_interpret", tests)
