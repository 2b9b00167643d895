/* The interpreter of the compiler's intermediate representation: control flow that parts and meets, barriers, functions of
 * simdgroups, atomics, memory, calls, refusals. */
#include "isa/agx/compiler/ir_interpret.h"
#include "tests/isa/ir_kit.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

#define IN_ADDRESS  UINT64_C(0x100000)
#define OUT_ADDRESS UINT64_C(0x200000)
#define WORDS       2048u

struct bench {
    uint32_t in[WORDS], out[WORDS];
    struct ir_counts counts;
    struct isa_error error;
    uint32_t grid, group;
    uint64_t most;
    bool flush;
};

static void *memory_at(void *context, uint64_t address, uint64_t bytes)
{
    struct bench *const b = context;
    const bool out = address >= OUT_ADDRESS;
    const uint64_t offset = address - (out ? OUT_ADDRESS : IN_ADDRESS);
    return offset <= sizeof b->in && bytes <= sizeof b->in - offset ? (uint8_t *)(out ? b->out : b->in) + offset : NULL;
}

static struct bench bench_new(uint32_t grid, uint32_t group)
{
    struct bench b = {.grid = grid, .group = group};
    for (uint32_t i = 0; i < WORDS; i++) {
        b.in[i] = i * UINT32_C(2654435761);
        b.out[i] = 0;
    }
    return b;
}

static bool run(struct kit *k, struct bench *b, uint32_t n)
{
    const struct {
        uint64_t in, out;
        uint32_t n;
    } arguments = {IN_ADDRESS, OUT_ADDRESS, n};
    const struct ir_launch launch = {.grid = {b->grid, 1, 1},
                                     .group = {b->group, 1, 1},
                                     .arguments = &arguments,
                                     .argument_bytes = 20,
                                     .memory = {memory_at, b},
                                     .most_instructions = b->most,
                                     .flush_subnormals = b->flush,
                                     .counts = &b->counts};
    struct isa_error error = {.text = ""};
    struct ir_function *const kernel = ir_find_function(k->m, "k");
    CHECK(ir_number(kernel) && ir_verify(kernel, &error), "%s", error.text);
    return ir_interpret(kernel, &launch, &b->error);
}

/* Ends the kernel and runs it; the module is gone afterwards. */
static void finish(struct kit *k, struct bench *b, uint32_t n)
{
    give(k, NULL);
    const bool ran = run(k, b, n);
    CHECK(ran, "%s", b->error.text);
    ir_module_free(k->m);
}

static void refused(struct kit *k, struct bench *b, unsigned long line, const char *text)
{
    const bool ran = run(k, b, 0);
    CHECK(!ran && strstr(b->error.text, text) && b->error.line == line, "%d, line %lu: %s", ran, b->error.line, b->error.text);
    ir_module_free(k->m);
}

#define EXPECT(b, threads, i, value)                                                                                             \
    for (uint32_t i = 0; i < (threads); i++)                                                                                     \
    CHECK((b).out[i] == (uint32_t)(value), "out[%u] is %x, not %x", i, (unsigned)(b).out[i], (unsigned)(value))

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

static val ballot_all(struct kit *k)
{
    return builtin1(k, IR_B_SIMD_BALLOT, k->i32, ir_constant(k->m, k->i1, 1));
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

static val group_array(struct kit *k, uint64_t count)
{
    return ir_add_global(k->m, "s", ir_array(k->m, k->i32, count), IR_THREADGROUP);
}

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

/* ---- memory ---- */

static void test_atomics(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(256, 64);
    const val s = group_array(&k, 4), t = position(&k, IR_B_LOCAL_ID), id = position(&k, IR_B_GLOBAL_ID), out = k.f->argument[1];
    const val slot = op2(&k, IR_AND, k.i32, t, number(&k, 3));
    store(&k, number(&k, 0), s, slot);
    builtin0(&k, IR_B_BARRIER, k.none);
    kit_list(&k, builtin2(&k, IR_B_ATOMIC, k.i32, element(&k, s, k.i32, slot), t), IR_ATOMIC_ADD);
    builtin0(&k, IR_B_BARRIER, k.none);
    store(&k, load(&k, k.i32, s, slot), out, op2(&k, IR_ADD, k.i32, id, number(&k, 64)));
    const enum ir_atomic all[] = {IR_ATOMIC_UMAX, IR_ATOMIC_SMIN, IR_ATOMIC_OR, IR_ATOMIC_SUB};
    const val negative = op2(&k, IR_SUB, k.i32, number(&k, 0), id);
    for (unsigned i = 0; i < 4; i++)
        kit_list(&k, builtin2(&k, IR_B_ATOMIC, k.i32, element(&k, out, k.i32, number(&k, i)), i == 1 ? negative : id), all[i]);
    const val wanted = op2(&k, IR_ADD, k.i32, id, number(&k, 1)), address = element(&k, out, k.i32, number(&k, 4));
    builtin3(&k, IR_B_ATOMIC_CMPXCHG, k.i32, address, id, wanted); /* each thread finds what the one before it left */
    const val old = builtin2(&k, IR_B_ATOMIC, k.i32, element(&k, out, k.i32, number(&k, 5)), number(&k, 1));
    kit_list(&k, old, IR_ATOMIC_ADD);
    store(&k, old, out, op2(&k, IR_ADD, k.i32, id, number(&k, 512)));
    finish(&k, &b, 0);
    for (uint32_t i = 0; i < 256; i++)
        CHECK(b.out[64 + i] == 16 * (i % 4) + 4 * 15 * 16 / 2, "sum %u: %u", i, (unsigned)b.out[64 + i]);
    CU_ASSERT_EQUAL(b.out[0], 255);
    CU_ASSERT_EQUAL(b.out[1], (uint32_t)-255);
    CU_ASSERT_EQUAL(b.out[2], 255);
    CU_ASSERT_EQUAL(b.out[3], (uint32_t)(-255 * 256 / 2));
    CU_ASSERT_EQUAL(b.out[4], 256);
    bool seen[256] = {false};
    for (uint32_t i = 0; i < 256; i++)
        seen[b.out[512 + i] & 255] = true;
    for (uint32_t i = 0; i < 256; i++)
        CU_ASSERT(seen[i]);
}

/* A private array with an index that differs, elements of one byte, and a structure with a hole. */
static void test_private(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(64, 64);
    const struct ir_type *const array = ir_array(k.m, k.i8, 8);
    const struct ir_type *const whole = ir_struct(k.m, (const struct ir_type *const[]){k.i8, array, k.i32}, 3, false);
    const val one = number(&k, 1), place = kit_put(&k, ir_make(k.f, IR_ALLOCA, k.private, (val[]){one}, 1));
    place->held = whole;
    const val id = position(&k, IR_B_GLOBAL_ID), low = op2(&k, IR_AND, k.i32, id, number(&k, 7));
    for (unsigned i = 0; i < 8; i++) {
        const val at = kit_put(&k, ir_make(k.f, IR_GEP, k.private, (val[]){place, number(&k, 0), one, number(&k, i)}, 4));
        at->held = whole;
        op2(&k, IR_STORE, k.none, op1(&k, IR_TRUNC, k.i8, op2(&k, IR_MUL, k.i32, id, number(&k, i + 250))), at);
    }
    const val at = kit_put(&k, ir_make(k.f, IR_GEP, k.private, (val[]){place, number(&k, 0), one, low}, 4)),
              last = kit_put(&k, ir_make(k.f, IR_GEP, k.private, (val[]){place, number(&k, 0), number(&k, 2)}, 3));
    at->held = last->held = whole;
    op2(&k, IR_STORE, k.none, id, last);
    const val x = op1(&k, IR_SEXT, k.i32, op1(&k, IR_LOAD, k.i8, at)), y = op1(&k, IR_LOAD, k.i32, last);
    store(&k, op2(&k, IR_ADD, k.i32, x, op2(&k, IR_SHL, k.i32, y, number(&k, 16))), k.f->argument[1], id);
    finish(&k, &b, 0);
    EXPECT(b, 64, i, (uint32_t)(int8_t)(i * ((i & 7) + 250)) + (i << 16));
}

static void test_vectors(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(32, 32);
    const struct ir_type *const four = ir_vector(k.m, k.i32, 4), *const eight = ir_vector(k.m, k.i16, 8);
    const val id = position(&k, IR_B_GLOBAL_ID), low = op2(&k, IR_AND, k.i32, id, number(&k, 3));
    const val v = load(&k, four, k.f->argument[0], id), w = op2(&k, IR_ADD, four, v, v);
    const val turned = kit_put(&k, ir_make(k.f, IR_SHUFFLE, four, (val[]){v, w}, 2));
    turned->list = ir_alloc(k.m, 4 * sizeof(uint32_t));
    turned->lists = 4;
    memcpy(turned->list, (uint32_t[]){5, 0, 7, 2}, 16);
    const val put = op3(&k, IR_INSERT, four, turned, op2(&k, IR_EXTRACT, k.i32, v, low), low);
    const val halves = op1(&k, IR_BITCAST, eight, put), part = op2(&k, IR_EXTRACT, k.i16, halves, number(&k, 3));
    store(&k, put, k.f->argument[1], id);
    store(&k, op1(&k, IR_ZEXT, k.i32, part), k.f->argument[1], op2(&k, IR_ADD, k.i32, id, number(&k, 128)));
    store(&k, op1(&k, IR_BITCAST, four, halves), k.f->argument[1], op2(&k, IR_ADD, k.i32, id, number(&k, 64)));
    finish(&k, &b, 0);
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t *const in = b.in + 4 * i;
        uint32_t wanted[4] = {2 * in[1], in[0], 2 * in[3], in[2]};
        wanted[i & 3] = in[i & 3];
        CHECK(memcmp(wanted, b.out + 4 * i, 16) == 0 && memcmp(wanted, b.out + 256 + 4 * i, 16) == 0, "thread %u", i);
        CHECK(b.out[128 + i] == wanted[1] >> 16, "half of thread %u", i);
    }
}

static void test_lowered_address(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(32, 32);
    const val id = position(&k, IR_B_GLOBAL_ID), top = op2(&k, IR_OR, k.i32, id, number(&k, 0x80000000));
    const val far = op2(&k, IR_GEP, k.device, k.f->argument[0], top), from = op2(&k, IR_GEP, k.device, far, top);
    far->held = from->held = k.i16;
    far->exact = true; /* up by 2^31 and the number, down again by a signed index */
    from->offset = -3;
    const val narrow = op1(&k, IR_LOAD, k.i32, from);
    narrow->held = k.i8;
    narrow->align = 1;
    store(&k, narrow, k.f->argument[1], id);
    ((uint8_t *)b.in)[0] = 1;
    give(&k, NULL);
    CU_ASSERT(!run(&k, &b, 0));
    CHECK(strstr(b.error.text, "outside the buffers") && strstr(b.error.text, "thread (0, 0, 0)"), "%s", b.error.text);
    from->offset = 5;
    CU_ASSERT(run(&k, &b, 0));
    ir_module_free(k.m);
    EXPECT(b, 32, i, ((const uint8_t *)b.in)[4 * i + 10]);
}

static void test_memory_errors(void)
{
    struct bench b = bench_new(32, 32);
    struct kit k = kit_kernel();
    const val s = group_array(&k, 31);
    store(&k, number(&k, 1), s, position(&k, IR_B_LOCAL_ID))->line = 8;
    give(&k, NULL);
    refused(&k, &b, 8, "is outside the threadgroup's variables, by thread (31, 0, 0)");
    k = kit_kernel();
    load(&k, k.i32, k.f->argument[0], number(&k, WORDS))->line = 9;
    give(&k, NULL);
    refused(&k, &b, 9, "a load of 4 bytes at 0x102000 is outside the buffers");
    k = kit_kernel();
    val at = op2(&k, IR_GEP, k.device, k.f->argument[0], number(&k, 2));
    at->held = k.i8;
    val v = op1(&k, IR_LOAD, k.i32, at);
    v->align = 4;
    v->line = 12;
    give(&k, NULL);
    refused(&k, &b, 12, "not aligned");
    k = kit_kernel();
    at = op1(&k, IR_SPACECAST, k.device, group_array(&k, 4));
    op1(&k, IR_LOAD, k.i32, at)->line = 13;
    give(&k, NULL);
    refused(&k, &b, 13, "another address space");
}

/* What is not defined, and what nothing wrote, is the same pattern everywhere. */
static void test_poison(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(32, 32);
    const val s = group_array(&k, 32), id = position(&k, IR_B_GLOBAL_ID);
    const val both = op2(&k, IR_XOR, k.i32, ir_undefined(k.m, k.i32), load(&k, k.i32, s, id));
    store(&k, op2(&k, IR_OR, k.i32, both, op1(&k, IR_FREEZE, k.i32, ir_undefined(k.m, k.i32))), k.f->argument[1], id);
    finish(&k, &b, 0);
    EXPECT(b, 32, i, 0xa5a5a5a5);
}

/* ---- calls ---- */

static struct ir_function *add_twice(struct kit *k)
{
    struct ir_function *const kernel = k->f;
    struct ir_block *const at = k->b;
    struct ir_function *const f = kit_function(k, "twice", k->i32, (const struct ir_type *const[]){k->i32}, 1);
    struct ir_block *const big = block(k, "big"), *const small = block(k, "small");
    branch(k, compare(k, IR_UGT, f->argument[0], number(k, 10)), big, small);
    k->b = big;
    give(k, op2(k, IR_SHL, k->i32, f->argument[0], number(k, 1)));
    k->b = small;
    give(k, op2(k, IR_ADD, k->i32, f->argument[0], number(k, 1)));
    k->f = kernel;
    k->b = at;
    ir_number(f);
    return f;
}

static void test_calls(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(64, 64);
    struct ir_function *const f = add_twice(&k);
    const val id = position(&k, IR_B_GLOBAL_ID), once = call(&k, f, id, NULL, NULL), again = call(&k, f, once, NULL, NULL);
    store(&k, op2(&k, IR_ADD, k.i32, again, builtin1(&k, IR_B_POPCOUNT, k.i32, ballot_all(&k))), k.f->argument[1], id);
    finish(&k, &b, 0);
    EXPECT(b, 64, i, 32 + (i > 10 ? 4 * i : i + 1 > 10 ? 2 * (i + 1) : i + 2));
}

static struct ir_function *declare(struct kit *k, const char *name, const struct ir_type *result, const struct ir_type *argument,
                                   unsigned arguments)
{
    const struct ir_type *const all[] = {argument, argument, argument};
    struct ir_function *const f = ir_add_function(k->m, name, result, all, arguments);
    f->declared_only = true;
    return f;
}

static void test_library(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(32, 32);
    struct ir_function *const
        id_of = declare(&k, "_Z13get_global_idj", k.i64, k.i32, 1),
        *const turn = declare(&k, "_Z6rotatejj", k.i32, k.i32, 2), *const fma_of = declare(&k, "_Z3fmafff", k.f32, k.f32, 3),
        *const swap = declare(&k, "llvm.bswap.i32", k.i32, k.i32, 1), *const less = declare(&k, "_Z3minii", k.i32, k.i32, 2);
    const val wide = call(&k, id_of, number(&k, 0), NULL, NULL), id = op1(&k, IR_TRUNC, k.i32, wide), out = k.f->argument[1];
    const val x = load(&k, k.i32, k.f->argument[0], id), third = ir_constant(k.m, k.f32, 0x3eaaaaab);
    store(&k, call(&k, turn, x, id, NULL), out, id);
    const val y = op1(&k, IR_UITOFP, k.f32, id);
    store(&k, call(&k, fma_of, y, third, third), out, op2(&k, IR_ADD, k.i32, id, number(&k, 32)));
    store(&k, call(&k, swap, x, NULL, NULL), out, op2(&k, IR_ADD, k.i32, id, number(&k, 64)));
    store(&k, call(&k, less, x, id, NULL), out, op2(&k, IR_ADD, k.i32, id, number(&k, 96)));
    finish(&k, &b, 0);
    for (uint32_t i = 0; i < 32; i++) {
        const float wanted = fmaf((float)i, 0x1.555556p-2f, 0x1.555556p-2f);
        CHECK(b.out[i] == (b.in[i] << i | (uint32_t)((uint64_t)b.in[i] >> (32 - i))), "rotate %u", i);
        CHECK(memcmp(&wanted, &b.out[32 + i], 4) == 0, "fma %u", i);
        CHECK(b.out[64 + i] == __builtin_bswap32(b.in[i]), "bswap %u", i);
        CHECK((int32_t)b.out[96 + i] == ((int32_t)b.in[i] < (int32_t)i ? (int32_t)b.in[i] : (int32_t)i), "min %u", i);
    }
    k = kit_kernel();
    call(&k, declare(&k, "_Z7unheardj", k.none, k.i32, 1), number(&k, 0), NULL, NULL)->line = 4;
    give(&k, NULL);
    refused(&k, &b, 4, "_Z7unheardj is neither defined nor");
}

static void test_recursion(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(32, 32);
    struct ir_function *const kernel = k.f;
    struct ir_block *const at = k.b;
    struct ir_function *const f = kit_function(&k, "deep", k.none, NULL, 0);
    call(&k, f, NULL, NULL, NULL)->line = 6;
    give(&k, NULL);
    k.f = kernel;
    k.b = at;
    call(&k, f, NULL, NULL, NULL);
    give(&k, NULL);
    refused(&k, &b, 6, "deep calls itself");
}

static void test_watchdog(void)
{
    struct kit k = kit_kernel();
    struct bench b = bench_new(32, 32);
    struct ir_block *const forever = block(&k, "forever");
    jump(&k, forever);
    k.b = forever;
    kit_end(&k, IR_JUMP, NULL, forever, NULL)->line = 3;
    b.most = 1000;
    refused(&k, &b, 3, "more than 1000 steps");
}

/* ---- numbers ---- */

static void test_subnormals(void)
{
    for (unsigned flush = 0; flush < 2; flush++) {
        struct kit k = kit_kernel();
        struct bench b = bench_new(1, 1);
        b.flush = flush;
        const val half = ir_constant(k.m, k.f32, 0x3f000000), out = k.f->argument[1];
        const val least = load(&k, k.f32, k.f->argument[0], number(&k, 0)),
                  next = load(&k, k.f32, k.f->argument[0], number(&k, 1));
        store(&k, op2(&k, IR_FMUL, k.f32, least, half), out, number(&k, 0));
        store(&k, op2(&k, IR_FSUB, k.f32, next, least), out, number(&k, 1));
        /* Just below the least normal number, and rounded up to it: flushed all the same. */
        const val below = ir_constant(k.m, k.f32, 0x3f7fffff);
        store(&k, op2(&k, IR_FMUL, k.f32, least, below), out, number(&k, 2));
        store(&k, builtin2(&k, IR_B_FMIN, k.f32, load(&k, k.f32, k.f->argument[0], number(&k, 2)), half), out, number(&k, 3));
        b.in[0] = 0x00800000;
        b.in[1] = 0x00800001;
        b.in[2] = 0x00000005;
        finish(&k, &b, 0);
        CU_ASSERT_EQUAL(b.out[0], flush ? 0 : 0x00400000);
        CU_ASSERT_EQUAL(b.out[1], flush ? 0 : 1);
        CU_ASSERT_EQUAL(b.out[2], flush ? 0 : 0x00800000);
        CU_ASSERT_EQUAL(b.out[3], 5);
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
    {"shuffles, prefixes, reductions", test_shuffles},
    {"simdgroups with fewer lanes", test_partial},
    {"matrix products", test_matrix},
    {"atomics", test_atomics},
    {"variables of threads", test_private},
    {"vectors", test_vectors},
    {"addresses in lowered form", test_lowered_address},
    {"wrong addresses are errors with their line", test_memory_errors},
    {"what is not defined is one pattern", test_poison},
    {"functions that are called", test_calls},
    {"library functions by name", test_library},
    {"recursion is refused", test_recursion},
    {"kernels that do not end are stopped", test_watchdog},
    {"subnormals are kept or flushed", test_subnormals},
};

SUITE_MAIN("ir_interpret", tests)
