/* The compiler's intermediate representation: sizes of types, interning, changes of lists, dominators, what the checks refuse. */
#include "isa/agx/compiler/ir.h"
#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

/* Against the C compiler of this machine, whose layout is that of spir64. */
static void test_layout(void)
{
    struct sample {
        char a;
        double b;
        short c;
        struct inner {
            char d[3];
            float e;
        } f[2];
        char g;
        void *h;
    };
    struct ir_module *const m = ir_module_create();
    const struct ir_type *const i8 = ir_int(m, 8);
    const struct ir_type *const inner =
        ir_struct(m, (const struct ir_type *const[]){ir_array(m, i8, 3), ir_float(m, 32)}, 2, false);
    const struct ir_type *const members[] = {i8, ir_float(m, 64),         ir_int(m, 16), ir_array(m, inner, 2),
                                             i8, ir_pointer(m, IR_DEVICE)};
    const struct ir_type *const whole = ir_struct(m, members, ARRAY_COUNT(members), false);
    static const size_t offsets[] = {offsetof(struct sample, a), offsetof(struct sample, b), offsetof(struct sample, c),
                                     offsetof(struct sample, f), offsetof(struct sample, g), offsetof(struct sample, h)};
    for (unsigned i = 0; i < ARRAY_COUNT(offsets); i++)
        CHECK(whole->member_offset[i] == offsets[i], "member %u lies at %d", i, (int)whole->member_offset[i]);
    CU_ASSERT_EQUAL(whole->bytes, sizeof(struct sample));
    CU_ASSERT_EQUAL(whole->align, _Alignof(struct sample));
    CU_ASSERT_EQUAL(ir_struct(m, members, ARRAY_COUNT(members), true)->bytes, 1 + 8 + 2 + 16 + 1 + 8);
    ir_module_free(m);
}

/* The data layout string of spir64: i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024 */
static void test_vector_layout(void)
{
    static const struct {
        unsigned bits, count, bytes;
    } vectors[] = {{8, 2, 2},   {8, 3, 4},   {8, 4, 4},   {16, 3, 8},   {32, 2, 8},
                   {32, 3, 16}, {64, 3, 32}, {64, 4, 32}, {32, 16, 64}, {64, 16, 128}};
    struct ir_module *const m = ir_module_create();
    for (unsigned i = 0; i < ARRAY_COUNT(vectors); i++) {
        const struct ir_type *const type = ir_vector(m, ir_int(m, vectors[i].bits), vectors[i].count);
        CHECK(type->bytes == vectors[i].bytes && type->align == vectors[i].bytes, "<%u x i%u>: %u bytes", vectors[i].count,
              vectors[i].bits, (unsigned)type->bytes);
    }
    static const unsigned ints[][3] = {{1, 1, 1},  {8, 1, 1},  {16, 2, 2}, {24, 4, 4},
                                       {32, 4, 4}, {48, 8, 8}, {64, 8, 8}, {128, 16, 8}};
    for (unsigned i = 0; i < ARRAY_COUNT(ints); i++) {
        const struct ir_type *const type = ir_int(m, ints[i][0]);
        CHECK(type->bytes == ints[i][1] && type->align == ints[i][2], "i%u", ints[i][0]);
    }
    ir_module_free(m);
}

static void test_interning(void)
{
    struct ir_module *const m = ir_module_create();
    const struct ir_type *const i32 = ir_int(m, 32), *const pair[] = {i32, ir_float(m, 32)};
    CU_ASSERT_PTR_EQUAL(ir_int(m, 32), i32);
    CU_ASSERT_PTR_EQUAL(ir_struct(m, pair, 2, false), ir_struct(m, pair, 2, false));
    CU_ASSERT_PTR_NOT_EQUAL(ir_struct(m, pair, 2, false), ir_struct(m, pair, 2, true));
    CU_ASSERT_PTR_NOT_EQUAL(ir_pointer(m, IR_DEVICE), ir_pointer(m, IR_THREADGROUP));
    CU_ASSERT_PTR_EQUAL(ir_constant(m, i32, UINT64_MAX), ir_constant(m, i32, UINT32_MAX));
    CU_ASSERT_PTR_NOT_EQUAL(ir_constant(m, i32, 0), ir_constant(m, ir_float(m, 32), 0));
    struct ir_value *const parts[] = {ir_constant(m, i32, 1), ir_constant(m, i32, 2)};
    const struct ir_type *const two = ir_vector(m, i32, 2);
    CU_ASSERT_PTR_EQUAL(ir_aggregate(m, two, parts, 2), ir_aggregate(m, two, parts, 2));
    for (unsigned i = 0; i < 5000; i++) /* tables grow */
        CU_ASSERT_EQUAL(ir_constant(m, i32, i)->bits, i);
    CU_ASSERT_PTR_EQUAL(ir_constant(m, i32, 4999), ir_constant(m, i32, 4999));
    CU_ASSERT(!ir_module_failed(m));
    CU_ASSERT_PTR_NULL(ir_alloc(m, IR_ALLOC_MOST + 1));
    CU_ASSERT(ir_module_failed(m));
    ir_module_free(m);
}

/* ---- functions ---- */

static struct ir_function *function(struct ir_module *m, const char *name)
{
    const struct ir_type *const argument[] = {ir_int(m, 32), ir_int(m, 1)};
    return ir_add_function(m, name, ir_void(m), argument, 2);
}

static struct ir_value *end(struct ir_block *b, enum ir_op op, struct ir_value *condition, struct ir_block *first,
                            struct ir_block *second)
{
    struct ir_function *const f = b->function;
    struct ir_value *const v = ir_make(f, op, ir_void(f->module), &condition, condition ? 1 : 0);
    v->blocks = second ? 2 : first ? 1 : 0;
    v->block = ir_alloc(f->module, 2 * sizeof *v->block);
    v->block[0] = first;
    v->block[1] = second;
    ir_append(b, v);
    return v;
}

static void check_refused(struct ir_function *f, const char *expected)
{
    struct isa_error error = {.text = ""};
    CHECK(!ir_verify(f, &error), "%s: accepted", expected);
    CHECK(strstr(error.text, expected) != NULL, "%s instead of %s", error.text, expected);
}

static void test_lists(void)
{
    struct ir_module *const m = ir_module_create();
    struct ir_function *const f = function(m, "f");
    struct ir_block *const b = ir_add_block(f, "entry", NULL);
    struct ir_value *const x = f->argument[0];
    struct ir_value *const first = ir_make(f, IR_ADD, x->type, (struct ir_value *[]){x, x}, 2);
    struct ir_value *const second = ir_make(f, IR_MUL, x->type, (struct ir_value *[]){first, x}, 2);
    ir_append(b, second);
    ir_insert_before(second, first);
    end(b, IR_RETURN, NULL, NULL, NULL);
    struct isa_error error;
    CHECK(ir_verify(f, &error), "%s", error.text);
    CU_ASSERT_EQUAL(first->id, 2);
    CU_ASSERT_EQUAL(second->id, 3);
    ir_replace(f, first, x);
    CU_ASSERT_PTR_EQUAL(second->operand[0], x);
    ir_remove(first);
    CU_ASSERT_PTR_EQUAL(b->first, second);
    CU_ASSERT_PTR_NULL(second->previous);
    CHECK(ir_verify(f, &error), "%s", error.text);
    ir_replace_operands(second, (struct ir_value *[]){x, x, x}, 3);
    check_refused(f, "has 3 operands instead of 2");
    ir_replace_operands(second, (struct ir_value *[]){first, x}, 2);
    check_refused(f, "stands in no block");
    CU_ASSERT_PTR_EQUAL(ir_find_function(m, "f"), f);
    CU_ASSERT_PTR_NULL(ir_find_function(m, "g"));
    ir_module_free(m);
}

static void test_phis_and_blocks(void)
{
    struct ir_module *const m = ir_module_create();
    struct ir_function *const f = function(m, "f");
    struct ir_block *const b[] = {ir_add_block(f, NULL, NULL), ir_add_block(f, NULL, NULL), ir_add_block(f, NULL, NULL)};
    struct ir_block *const between = ir_add_block(f, NULL, b[0]);
    CU_ASSERT_PTR_EQUAL(b[0]->next, between);
    struct ir_value *const x = f->argument[0], *const phi = ir_make(f, IR_PHI, x->type, NULL, 0);
    ir_append(b[2], phi);
    end(b[0], IR_BRANCH, f->argument[1], between, b[1]);
    end(between, IR_JUMP, NULL, b[2], NULL);
    end(b[1], IR_JUMP, NULL, b[2], NULL);
    end(b[2], IR_RETURN, NULL, NULL, NULL);
    check_refused(f, "has 0 values; its block has 2 predecessors");
    ir_add_incoming(phi, x, between);
    ir_add_incoming(phi, ir_constant(m, x->type, 5), b[1]);
    struct isa_error error;
    CHECK(ir_verify(f, &error), "%s", error.text);
    struct ir_value *const early = ir_make(f, IR_ADD, x->type, (struct ir_value *[]){x, phi}, 2);
    ir_insert_before(b[1]->last, early);
    check_refused(f, "is not computed on every way here");
    ir_remove(early);
    phi->operand[0] = ir_constant(m, ir_int(m, 16), 0);
    check_refused(f, "value 0 is of another type");
    phi->operand[0] = x;
    b[0]->last->block[0] = b[1];
    ir_remove_block(f, between);
    CU_ASSERT_EQUAL(phi->operands, 1);
    CHECK(ir_verify(f, &error), "%s", error.text);
    CU_ASSERT_EQUAL(b[1]->predecessors, 1); /* both targets of the branch are this block */
    b[0]->last->block[0] = between;
    check_refused(f, "removed");
    ir_module_free(m);
}

/* ---- dominators against their definition: a dominates b when b cannot be reached without a ---- */

enum { BLOCKS = 12 };

static void reach(struct ir_block *const *b, unsigned from, unsigned without, bool *reached)
{
    if (from == without || reached[from])
        return;
    reached[from] = true;
    for (unsigned i = 0; i < b[from]->last->blocks; i++)
        for (unsigned to = 0; to < BLOCKS; to++)
            if (b[to] == b[from]->last->block[i])
                reach(b, to, without, reached);
}

static void check_dominators(struct ir_function *f, struct ir_block *const *b)
{
    bool all[BLOCKS] = {false};
    CU_ASSERT(ir_dominate(f));
    reach(b, 0, BLOCKS, all);
    for (unsigned above = 0; above < BLOCKS; above++) {
        bool reached[BLOCKS] = {false};
        reach(b, 0, above, reached);
        for (unsigned below = 0; below < BLOCKS; below++) {
            const bool expected = !all[below] || (all[above] && !reached[below]);
            CHECK(ir_dominates(b[above], b[below]) == expected, "%u and %u", above, below);
            if (all[below] && ir_immediate_dominator(b[below]) == b[above])
                CHECK(expected && above != below, "%u and %u", above, below);
        }
        CU_ASSERT((ir_immediate_dominator(b[above]) != NULL) == (above != 0 && all[above]));
    }
}

static void test_dominators(void)
{
    uint64_t random = 1;
    for (unsigned round = 0; round < 300; round++) {
        struct ir_module *const m = ir_module_create();
        struct ir_function *const f = function(m, "f");
        struct ir_block *b[BLOCKS];
        for (unsigned i = 0; i < BLOCKS; i++)
            b[i] = ir_add_block(f, NULL, NULL);
        for (unsigned i = 0; i < BLOCKS; i++) {
            struct ir_block *const to[] = {b[1 + suite_random(&random) % (BLOCKS - 1)],
                                           b[1 + suite_random(&random) % (BLOCKS - 1)]};
            const uint64_t kind = suite_random(&random) % 8;
            if (kind == 0)
                end(b[i], IR_RETURN, NULL, NULL, NULL);
            else if (kind < 4)
                end(b[i], IR_JUMP, NULL, to[0], NULL);
            else
                end(b[i], IR_BRANCH, f->argument[1], to[0], to[1]);
        }
        check_dominators(f, b);
        ir_module_free(m);
    }
}

/* ---- lowered form ---- */

static void test_lowered(void)
{
    struct ir_module *const m = ir_module_create();
    const struct ir_type *const i32 = ir_int(m, 32), *const i8 = ir_int(m, 8), *const two = ir_vector(m, i32, 2);
    const struct ir_type *const argument[] = {ir_pointer(m, IR_DEVICE), ir_pointer(m, IR_GENERIC)};
    struct ir_function *const f = ir_add_function(m, "k", ir_void(m), argument, 2);
    struct ir_block *const b = ir_add_block(f, NULL, NULL);
    struct ir_value *const place =
        ir_make(f, IR_GEP, argument[0], (struct ir_value *[]){f->argument[0], ir_constant(m, i32, 3)}, 2);
    place->held = i32;
    struct ir_value *const loaded = ir_make(f, IR_LOAD, two, &(struct ir_value *){place}, 1);
    struct ir_value *const lane = ir_make(f, IR_EXTRACT, i32, (struct ir_value *[]){loaded, ir_constant(m, i32, 1)}, 2);
    struct ir_value *const store = ir_make(f, IR_STORE, ir_void(m), (struct ir_value *[]){lane, place}, 2);
    struct isa_error error;
    ir_append(b, place);
    ir_append(b, loaded);
    ir_append(b, lane);
    ir_append(b, store);
    end(b, IR_RETURN, NULL, NULL, NULL);
    CHECK(ir_verify_lowered(f, &error), "%s", error.text);
    store->operand[1] = f->argument[1];
    CU_ASSERT(ir_verify(f, &error));
    CU_ASSERT(!ir_verify_lowered(f, &error));
    CHECK(strstr(error.text, "address space 4") != NULL, "%s", error.text);
    store->operand[1] = place;
    struct ir_value *const sum = ir_make(f, IR_ADD, two, (struct ir_value *[]){loaded, loaded}, 2);
    ir_insert_before(lane, sum);
    CU_ASSERT(ir_verify(f, &error) && !ir_verify_lowered(f, &error));
    ir_remove(sum);
    struct ir_value *const narrow = ir_make(f, IR_TRUNC, i8, &(struct ir_value *){lane}, 1);
    ir_insert_before(store, narrow);
    CU_ASSERT(ir_verify(f, &error) && !ir_verify_lowered(f, &error));
    ir_remove(narrow);
    struct ir_value *const call = ir_make(f, IR_CALL, ir_void(m), &(struct ir_value *){ir_function_value(function(m, "g"))}, 1);
    ir_insert_before(store, call);
    check_refused(f, "gives g 0 arguments instead of 2");
    ir_remove(call);
    place->held = two;
    CU_ASSERT(ir_verify(f, &error) && !ir_verify_lowered(f, &error));
    CHECK(strstr(error.text, "1, 2, 4 or 8 bytes") != NULL, "%s", error.text);
    ir_module_free(m);
}

static const struct suite_test tests[] = {
    {"structures and arrays lie as in C", test_layout},   {"vectors and integers have the sizes of spir64", test_vector_layout},
    {"types and constants are interned", test_interning}, {"instructions are put in, exchanged and taken out", test_lists},
    {"phis follow the blocks", test_phis_and_blocks},     {"dominators are as defined", test_dominators},
    {"what is not lowered is found", test_lowered},
};
SUITE_MAIN("ir", tests)
