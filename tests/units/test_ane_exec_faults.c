/* Faults of ANE tasks: what a request or descriptor gets wrong, at which task, and how it is told. */
#include "isa/array_count.h"
#include "tests/units/ane_exec_planar.h"

/* ---- faults ---- */

typedef void (*spoil)(struct ane_example *e, struct ane_task *t);

static void short_buffer(struct ane_example *e, struct ane_task *t)
{
    (void)t;
    e->request.bytes[BAR_IN] -= 64;
}
static void short_result(struct ane_example *e, struct ane_task *t)
{
    (void)t;
    e->request.bytes[BAR_OUT] = 64;
}
static void no_buffer(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->source.bar = 9;
}
static void bad_register(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->source.bar = 40;
}
static void past_tile_memory(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->result = ane_example_operand(ANE_PLACE_L2, 0, EXAMPLE_L2 - 64, 2, 4, 32);
}
static void huge_strides(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->source.plane = UINT32_MAX;
}
static void empty_ring(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->source.place = ANE_PLACE_CHAIN;
}
static void no_result(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->result.place = ANE_PLACE_NONE;
}
static void empty(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->width_in = 0;
}
static void reshaped(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->channels_out = 1;
}
static void odd_groups(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->engine = ANE_ENGINE_NE;
    t->ne_op = ANE_NE_CONVOLUTION;
    t->groups = 3;
}
static void no_weights(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->engine = ANE_ENGINE_NE;
    t->ne_op = ANE_NE_CONVOLUTION;
}
static void no_matrix(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->engine = ANE_ENGINE_NE;
    t->ne_op = ANE_NE_MATMUL;
}
static void unmapped(struct ane_example *e, struct ane_task *t)
{
    (void)t;
    mem_space_unmap(e->space, e->request.address[BAR_IN], 16384);
}
static void read_only(struct ane_example *e, struct ane_task *t)
{
    (void)t;
    mem_space_protect(e->space, e->request.address[BAR_OUT], 16384, MEM_READ);
}
static void huge_image(struct ane_example *e, struct ane_task *t)
{
    no_weights(e, t);
    ane_example_buffer(e, BAR_OUT, 65536);
    t->stride_x = 3;
    t->stride_y = 3;
    t->width_out = t->height_out = 32767;
    t->result.row = t->result.plane = 0;
}

static void test_faults(void)
{
    static const struct {
        spoil how;
        enum unit_fault_kind kind;
        const char *text;
    } rows[] = {
        {short_buffer, UNIT_FAULT_UNMAPPED, "first source: bytes 0 to 512 of a buffer of 448 (base register 5)"},
        {short_result, UNIT_FAULT_UNMAPPED, "result: bytes"},
        {no_buffer, UNIT_FAULT_UNMAPPED, "no buffer for base register 9"},
        {bad_register, UNIT_FAULT_UNMAPPED, "no buffer for base register 40"},
        {past_tile_memory, UNIT_FAULT_UNMAPPED, "of 2097152 bytes of tile memory"},
        {huge_strides, UNIT_FAULT_UNMAPPED, "first source: bytes 0 to 4294967551"},
        {empty_ring, UNIT_FAULT_UNMAPPED, "no task before this one fills the ring"},
        {no_result, UNIT_FAULT_UNMODELLED, "result: none"},
        {empty, UNIT_FAULT_UNMODELLED, "an empty tensor"},
        {reshaped, UNIT_FAULT_UNMODELLED, "from 2x4x32 to 1x4x32 without pooling"},
        {odd_groups, UNIT_FAULT_UNMODELLED, "2 channels to 2 in 3 groups"},
        {no_weights, UNIT_FAULT_UNMAPPED, "coefficients"},
        {no_matrix, UNIT_FAULT_UNMODELLED, "product of tensors"},
        {unmapped, UNIT_FAULT_UNMAPPED, "memory that is not mapped"},
        {read_only, UNIT_FAULT_PERMISSION, "memory that must not be written"},
        {huge_image, UNIT_FAULT_UNMODELLED, "an image of"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct ane_example e;
        size_t offset[2] = {0, 0x300};
        ane_example_open(&e);
        struct ane_task *first = planar(&e, 2, 4, 32), *t = planar(&e, 2, 4, 32);
        t->source = first->source = ane_example_dram(&e, BAR_IN, 2, 4, 32);
        t->result = first->result = ane_example_dram(&e, BAR_OUT, 2, 4, 32);
        e.program.td_offset = offset;
        rows[i].how(&e, t);
        const bool whole =
            rows[i].how == short_buffer || rows[i].how == short_result || rows[i].how == unmapped || rows[i].how == read_only;
        CU_ASSERT_FALSE(ane_example_run(&e, 1));
        CU_ASSERT_EQUAL(e.fault.kind, rows[i].kind);
        CU_ASSERT_EQUAL(e.fault.pc, whole ? 0 : 0x300);
        CHECK(strstr(e.fault.text, rows[i].text) && strstr(e.fault.text, whole ? "task 0, " : "task 1, "), "%zu: %s", i,
              e.fault.text);
        ane_example_close(&e);
    }
}

static void cropped_ring(struct ane_example *e, struct ane_task *t)
{
    e->task[0].result.place = t->source.place = ANE_PLACE_CHAIN;
    t->pixel_offset = 1;
}

static void test_cropped_ring(void)
{
    struct ane_example e;
    ane_example_open(&e);
    struct ane_task *first = planar(&e, 2, 4, 32), *t = planar(&e, 2, 4, 32);
    t->source = first->source = ane_example_dram(&e, BAR_IN, 2, 4, 32);
    t->result = first->result = ane_example_dram(&e, BAR_OUT, 2, 4, 32);
    cropped_ring(&e, t);
    CU_ASSERT_FALSE(ane_example_run(&e, 1));
    CU_ASSERT_EQUAL(e.fault.kind, UNIT_FAULT_UNMODELLED);
    ane_example_close(&e);
}

static const struct suite_test tests[] = {
    {"faults", test_faults},
    {"crop of a ring", test_cropped_ring},
};
SUITE_MAIN("ane exec faults", tests)
