/* The interpreter of the compiler's intermediate representation: memory, atomics, vectors, calls, refusals. */
#include "tests/isa/ir_bench.h"

#include <math.h>

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

SUITE_MAIN("ir_interpret_memory", tests)
