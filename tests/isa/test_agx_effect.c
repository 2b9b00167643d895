/* What AGX instructions touch. The expectations were worked out by hand from the texts. */
#include "isa/agx/agx_asm.h"
#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <string.h>

static struct agx_effect effect_of(const char *line)
{
    struct agx_inst inst = {.op = AGX_OP_NONE};
    struct agx_effect effect;
    struct isa_error error = {.text = ""};
    CHECK(agx_asm_one(line, &inst, &error), "%s: %s", line, error.text);
    agx_effect_of(&inst, &effect);
    return effect;
}

static void check_range(const struct agx_range *range, unsigned first, unsigned count, const char *line)
{
    CHECK(range->first == first && range->count == count, "%s: %u halves from %u", line, range->count, range->first);
}

static void test_registers(void)
{
    const char *line = "fmadd32 r4.cache, r1.discard, u3, r1l";
    struct agx_effect effect = effect_of(line);
    check_range(&effect.write, 8, 2, line);
    CU_ASSERT_EQUAL(effect.read_count, 2);
    check_range(&effect.read[0], 2, 2, line);
    check_range(&effect.read[1], 2, 1, line);
    CU_ASSERT_EQUAL(effect.distinct_words_read, 1);
    CU_ASSERT_EQUAL(effect.cached_sources, 1);
    CU_ASSERT(effect.cache_result && effect.flops == 2 && effect.unit_class == AGX_CLASS_F32);

    line = "imadd r6_r7, r0, r2, r4_r5";
    effect = effect_of(line);
    check_range(&effect.write, 12, 4, line);
    check_range(&effect.read[2], 8, 4, line);
    CU_ASSERT_EQUAL(effect.distinct_words_read, 4);
    CU_ASSERT_EQUAL(effect.unit_class, AGX_CLASS_IMUL64);

    line = "simd_matrix_fmadd32 r8_r9, r0l_r0h, r1l_r1h, r8_r9";
    effect = effect_of(line);
    check_range(&effect.write, 16, 4, line);
    check_range(&effect.read[0], 0, 2, line);
    check_range(&effect.read[2], 16, 4, line);
    CU_ASSERT_EQUAL(effect.flops, 32);
    CU_ASSERT_EQUAL(effect.distinct_words_read, 4);
}

static void test_masks_and_branches(void)
{
    const char *line = "if_icmp slt, r2, r3l, 1";
    struct agx_effect effect = effect_of(line);
    check_range(&effect.write, 0, 1, line);
    CU_ASSERT(effect.reads_r0l && effect.writes_mask && effect.unit_class == AGX_CLASS_MASK);
    CU_ASSERT_EQUAL(effect.read_count, 2);
    line = "call pc+64";
    effect = effect_of(line);
    check_range(&effect.write, 2, 2, line);
    CU_ASSERT_EQUAL(effect.unit_class, AGX_CLASS_BRANCH);
    CU_ASSERT_FALSE(effect.writes_mask);
}

static void test_memory(void)
{
    const char *line = "device_load 0, i16, xyw, r3h_r4l_r4h, r8_r9, r10, signed";
    struct agx_effect effect = effect_of(line);
    check_range(&effect.write, 7, 3, line);
    CU_ASSERT_EQUAL(effect.read_count, 2);
    check_range(&effect.read[0], 16, 4, line);
    check_range(&effect.read[1], 20, 2, line);
    CU_ASSERT(effect.element_bytes == 2 && effect.elements == 3 && effect.unit_class == AGX_CLASS_DEVICE_LOAD);

    line = "device_load 0, rgb10a2, x, r4, u0_u1, r10, signed"; /* packed: four registers whatever the mask */
    effect = effect_of(line);
    check_range(&effect.write, 8, 8, line);
    CU_ASSERT(effect.element_bytes == 4 && effect.elements == 1);

    line = "threadgroup_store i32, xy, r2_r3, r1l, r1h";
    effect = effect_of(line);
    CU_ASSERT_EQUAL(effect.write.count, 0);
    check_range(&effect.read[0], 4, 4, line);
    CU_ASSERT_EQUAL(effect.distinct_words_read, 3);
    CU_ASSERT_EQUAL(effect.unit_class, AGX_CLASS_GROUP_STORE);

    effect = effect_of("atomic add, 0, None, u0_u1, 0, signed, r4");
    CU_ASSERT(effect.write.count == 0 && effect.read_count == 1 && effect.unit_class == AGX_CLASS_DEVICE_ATOMIC);
}

static void test_classes(void)
{
    static const struct {
        const char *line;
        enum agx_class class_;
    } cases[] = {
        {"mov r1, r2", AGX_CLASS_INT},
        {"mov_imm r1, 5000", AGX_CLASS_INT},
        {"icmpsel slt, r1, r2, r3, r4, r5", AGX_CLASS_INT},
        {"imadd r1, r2, r3, r4", AGX_CLASS_IMUL},
        {"shl r1, r2, 3", AGX_CLASS_SHIFT},
        {"popcount r1, r2", AGX_CLASS_SHIFT},
        {"fmul16 r1l, r2l, r3l", AGX_CLASS_F16},
        {"rint r1, r2", AGX_CLASS_ROUND},
        {"exp2 r1, r2", AGX_CLASS_EXP2},
        {"rsqrt_special r1, r2", AGX_CLASS_RSQRT},
        {"sin_pt_2 r1, r2", AGX_CLASS_SIN},
        {"convert f_to_s32, r1, r2, rtz", AGX_CLASS_CONVERT},
        {"simd_shuffle_xor r1, r2, 16", AGX_CLASS_SHUFFLE},
        {"quad_shuffle r1, r2, 1", AGX_CLASS_SHUFFLE},
        {"icmp_ballot r1, ult, r2, r3", AGX_CLASS_BALLOT},
        {"simd_prefix_iadd r1, r2", AGX_CLASS_REDUCE},
        {"quad_max.f r1, r2", AGX_CLASS_REDUCE},
        {"get_sr r1, sr80", AGX_CLASS_GET_SR},
        {"wait 1", AGX_CLASS_WAIT},
        {"stop", AGX_CLASS_STOP},
        {"barrier", AGX_CLASS_BARRIER},
        {"fence", AGX_CLASS_FENCE},
        {"simd_matrix_fmadd16 r0l_r0h, r1l_r1h, r2l_r2h, r0l_r0h", AGX_CLASS_MATRIX_F16},
        {"stack_adjust 8", AGX_CLASS_STACK_ADJUST},
        {"uniform_store xy, r0l_r0h, 8", AGX_CLASS_UNIFORM_STORE},
        {"wait_pix 4, 0", AGX_CLASS_GRAPHICS},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct agx_effect effect = effect_of(cases[i].line);
        CHECK(effect.unit_class == cases[i].class_, "%s: class %u", cases[i].line, (unsigned)effect.unit_class);
    }
}

static const struct suite_test tests[] = {
    {"registers of arithmetic", test_registers},
    {"mask instructions and branches", test_masks_and_branches},
    {"memory instructions", test_memory},
    {"timing classes", test_classes},
};
SUITE_MAIN("agx effect", tests)
