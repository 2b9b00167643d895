/* amx_effect_of, on instructions whose effect was counted by hand from the pages of corsix/amx. */
#include "isa/amx/amx_isa.h"
#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <inttypes.h>

struct expected {
    const char *line;
    enum amx_gen gen;
    enum amx_unit_class unit_class;
    uint8_t x_read, y_read;
    uint64_t z_read, z_write;
    uint32_t macs;
    bool masked;
};

#define EVERY(n) (UINT64_MAX / ((UINT64_C(1) << (n)) - 1)) /* rows 0, n, 2n ... */

static const struct expected matrix[] = {
    {"fma64 {z=3}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, EVERY(8) << 3, EVERY(8) << 3, 64, false},
    {"fma32 {z=1}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, EVERY(4) << 1, EVERY(4) << 1, 256, false},
    {"fma32 {z=5, x=448, y=449}", AMX_GEN_M1, AMX_CLASS_MATRIX, 0x80, 0x81, EVERY(4) << 1, EVERY(4) << 1, 256, false},
    {"fma32 {skip_z}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, 0, EVERY(4), 256, false},
    {"fma32 {skip_z, skip_y}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 0, 0, EVERY(4), 0, false},
    {"fma32 {skip_x, skip_y}", AMX_GEN_M1, AMX_CLASS_MATRIX, 0, 0, 0, 0, 0, false},
    {"fma32 {skip_x, skip_y, skip_z}", AMX_GEN_M1, AMX_CLASS_MATRIX, 0, 0, 0, EVERY(4), 0, false},
    {"fma32 {skip_x}", AMX_GEN_M1, AMX_CLASS_MATRIX, 0, 1, EVERY(4), EVERY(4), 256, false},
    {"fma32 {xmask=first, xmask_n=3, ymask=lane, ymask_n=2}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, 0x100, 0x100, 3, true},
    {"fma32 {ymask_n=1}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, EVERY(8) << 4, EVERY(8) << 4, 128, true},
    {"fma32 {xmask_n=3}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, 0, 0, 0, true},
    {"fma16 {z=1}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, EVERY(2) << 1, EVERY(2) << 1, 1024, false},
    {"fma16 {z_f32}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, UINT64_MAX, UINT64_MAX, 1024, false},
    {"mac16 {z_i32, xmask_n=2}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, EVERY(2), EVERY(2), 512, true},
    {"matfp {lanes=bf16}", AMX_GEN_M2, AMX_CLASS_MATRIX, 1, 1, EVERY(2), EVERY(2), 1024, false},
    {"matfp {lanes=f64, z=7, ymask=last, ymask_n=1}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, UINT64_C(1) << 63, UINT64_C(1) << 63, 8,
     true},
    {"matfp {lanes=f32, xmask_n=3, ymask=lane}", AMX_GEN_M1, AMX_CLASS_MATRIX, 0, 0, 0, 1, 0, true},
    {"matfp {lanes=f32, xmask_n=5}", AMX_GEN_M1, AMX_CLASS_MATRIX, 0, 1, EVERY(4), EVERY(4), 256, false},
    {"matfp {lanes=f32, alu=select}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, 0, EVERY(4), 0, false},
    {"matfp {lanes=f32, alu=10}", AMX_GEN_M4, AMX_CLASS_NOP, 0, 0, 0, 0, 0, false},
    {"matfp {lanes=f32, indexed, table=6, x=60}", AMX_GEN_M1, AMX_CLASS_MATRIX, 0x41, 1, EVERY(4), EVERY(4), 256, false},
    {"matfp {lanes=f32, indexed, index4, table=6, x=60}", AMX_GEN_M1, AMX_CLASS_MATRIX, 0x43, 1, EVERY(4), EVERY(4), 256, false},
    {"matint {alu=mla8, lanes=10}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, UINT64_MAX, UINT64_MAX, 1024, false},
    {"matint {alu=mla8, lanes=12}", AMX_GEN_M2, AMX_CLASS_MATRIX, 1, 1, UINT64_MAX, UINT64_MAX, 2048, false},
    {"matint {alu=mla8, lanes=12}", AMX_GEN_M3, AMX_CLASS_MATRIX, 1, 1, UINT64_MAX, UINT64_MAX, 1024, false},
    {"matint {alu=mla8, lanes=10, mask=first, mask_n=5, mask_y}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, 0xff, 0xff, 128, true},
    {"matint {alu=popcount, lanes=4}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, EVERY(4), EVERY(4), 256, false},
    {"matint {alu=shift_sat, lanes=3, z=2}", AMX_GEN_M1, AMX_CLASS_MATRIX, 0, 0, EVERY(4) << 2, EVERY(4) << 2, 0, false},
    {"matint {alu_high=1}", AMX_GEN_M1, AMX_CLASS_NOP, 0, 0, 0, 0, 0, false},
    {"matint {indexed, alu_high=1, lanes=11}", AMX_GEN_M1, AMX_CLASS_MATRIX, 1, 1, UINT64_MAX, UINT64_MAX, 2048, false},
};

static const struct expected vectors[] = {
    {"fma32 {vector, z=9}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 1, 0x200, 0x200, 16, false},
    {"mac16 {vector, z=9, raw=0x4000000000000000}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 1, 0x200, 0x200, 32, false},
    {"vecfp {lanes=f16_f32, z=9}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 1, 0x300, 0x300, 32, false},
    {"vecfp {lanes=f16_f32, z=9, mask_n=1}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 1, 0x200, 0x200, 16, true},
    {"vecfp {lanes=bf16_f32, z=9}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 1, 0x200, 0x200, 32, false},
    {"vecfp {alu=mul, lanes=f32}", AMX_GEN_M1, AMX_CLASS_NOP, 0, 0, 0, 0, 0, false},
    {"vecfp {alu=mul, lanes=f32}", AMX_GEN_M2, AMX_CLASS_VECTOR, 1, 1, 0, 1, 16, false},
    {"vecfp {alu=add_y, lanes=f32}", AMX_GEN_M2, AMX_CLASS_VECTOR, 0, 1, 1, 1, 16, false},
    {"vecfp {alu=max, lanes=f64}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 0, 1, 1, 0, false},
    {"vecfp {repeat, lanes=f32}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 1, 1, 1, 16, false},
    {"vecfp {repeat, lanes=f32, z=3}", AMX_GEN_M2, AMX_CLASS_VECTOR, 3, 3, EVERY(32) << 3 & UINT64_MAX, EVERY(32) << 3, 32,
     false},
    {"vecfp {repeat, lanes=f32, z=33, bcast=same_x}", AMX_GEN_M2, AMX_CLASS_VECTOR, 1, 15, EVERY(16) << 1, EVERY(16) << 1, 64,
     false},
    {"vecfp {repeat, lanes=f32, x=32, y=32}", AMX_GEN_M3, AMX_CLASS_VECTOR, 7, 7, EVERY(32), EVERY(32), 32, false},
    {"vecfp {repeat, lanes=f32, x=32, y=32}", AMX_GEN_M4, AMX_CLASS_VECTOR, 3, 3, EVERY(32), EVERY(32), 32, false},
    {"vecfp {repeat, lanes=f32, bcast=write_zero}", AMX_GEN_M2, AMX_CLASS_VECTOR, 0, 0, 0, EVERY(32), 0, false},
    {"vecint {lanes=10, z=6}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 1, 0xf0, 0xf0, 64, false},
    {"vecint {lanes=12, mask=first, mask_n=2}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 1, 3, 3, 2, true},
    {"vecint {lanes=12, mask=last, mask_n=32}", AMX_GEN_M1, AMX_CLASS_VECTOR, 1, 1, 15, 15, 32, true},
    {"vecint {alu=shift_sat, lanes=9, z=63}", AMX_GEN_M1, AMX_CLASS_VECTOR, 0, 0, UINT64_C(1) << 63, UINT64_C(1) << 63, 0, false},
    {"vecint {alu=shift_sat, alu_high=1}", AMX_GEN_M1, AMX_CLASS_NOP, 0, 0, 0, 0, 0, false},
    {"vecint {mask_n=4}", AMX_GEN_M1, AMX_CLASS_VECTOR, 0, 1, 1, 1, 32, false},
};

static struct amx_effect effect_of(const char *line, enum amx_gen gen)
{
    uint32_t word;
    uint64_t operand;
    bool has_operand;
    struct isa_error error = {.text = ""};
    struct amx_effect effect;
    CHECK(amx_asm_line(line, &word, &operand, &has_operand, &error), "%s: %s", line, error.text);
    amx_effect_of(amx_word_op(word), operand, gen, &effect);
    return effect;
}

static void check_table(const struct expected *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct expected *want = &rows[i];
        const struct amx_effect e = effect_of(want->line, want->gen);
        CHECK(e.unit_class == want->unit_class && e.x_read == want->x_read && e.y_read == want->y_read && e.macs == want->macs &&
                  e.z_read == want->z_read && e.z_write == want->z_write && e.masked == want->masked,
              "%s on M%d: class %d x %02x y %02x z read %" PRIx64 " write %" PRIx64 " macs %u masked %d", want->line,
              (int)want->gen, (int)e.unit_class, e.x_read, e.y_read, e.z_read, e.z_write, e.macs, e.masked);
    }
}

static void test_matrix(void)
{
    check_table(matrix, ARRAY_COUNT(matrix));
}

static void test_vector(void)
{
    check_table(vectors, ARRAY_COUNT(vectors));
}

static void test_elements(void)
{
    struct amx_effect e = effect_of("fma32 {x_f16}", AMX_GEN_M1);
    CU_ASSERT(e.x_element == AMX_E_F16 && e.y_element == AMX_E_F32 && e.z_element == AMX_E_F32);
    e = effect_of("matfp {lanes=bf16_f32}", AMX_GEN_M2);
    CU_ASSERT(e.x_element == AMX_E_BF16 && e.y_element == AMX_E_BF16 && e.z_element == AMX_E_F32);
    e = effect_of("matfp {lanes=bf16_f32}", AMX_GEN_M1);
    CU_ASSERT(e.x_element == AMX_E_F16 && e.z_element == AMX_E_F16);
    e = effect_of("mac16 {y_i8, z_i32}", AMX_GEN_M1);
    CU_ASSERT(e.x_element == AMX_E_I16 && e.y_element == AMX_E_I8 && e.z_element == AMX_E_I32);
    e = effect_of("vecint {lanes=13}", AMX_GEN_M1);
    CU_ASSERT(e.x_element == AMX_E_I16 && e.y_element == AMX_E_I8 && e.z_element == AMX_E_I32);
    e = effect_of("fma64 {skip_x}", AMX_GEN_M1);
    CU_ASSERT(e.x_element == AMX_E_NONE && e.y_element == AMX_E_F64);
    e = effect_of("ldx {}", AMX_GEN_M1);
    CU_ASSERT(e.x_element == AMX_E_NONE && e.z_element == AMX_E_NONE);
}

static void test_memory(void)
{
    static const struct {
        const char *line;
        enum amx_gen gen;
        uint8_t x_write;
        uint32_t bytes;
    } loads[] = {
        {"ldx {reg=7}", AMX_GEN_M1, 0x80, 64},
        {"ldx {reg=7, pair}", AMX_GEN_M1, 0x81, 128},
        {"ldx {reg=7, pair, quad}", AMX_GEN_M1, 0x81, 128},
        {"ldx {reg=7, pair, quad}", AMX_GEN_M2, 0x87, 256},
        {"ldx {reg=1, pair, stride}", AMX_GEN_M2, 0x06, 128},
        {"ldx {reg=1, pair, stride}", AMX_GEN_M3, 0x22, 128},
        {"ldx {reg=1, pair, stride, quad}", AMX_GEN_M4, 0xaa, 256},
        {"ldx {reg=1, raw=0x3000000000000000}", AMX_GEN_M4, 0x02, 64},
    };
    for (size_t i = 0; i < ARRAY_COUNT(loads); i++) {
        const struct amx_effect e = effect_of(loads[i].line, loads[i].gen);
        CHECK(e.unit_class == AMX_CLASS_LOAD && e.x_write == loads[i].x_write && e.memory_bytes == loads[i].bytes &&
                  e.needs_128_alignment == (loads[i].bytes > 64),
              "%s: %02x %u", loads[i].line, e.x_write, e.memory_bytes);
    }
    struct amx_effect e = effect_of("sty {reg=7, pair}", AMX_GEN_M1);
    CU_ASSERT(e.unit_class == AMX_CLASS_STORE && e.y_read == 0x81 && e.memory_bytes == 128);
    e = effect_of("ldz {row=63, pair}", AMX_GEN_M1);
    CU_ASSERT(e.z_write == (UINT64_C(1) << 63 | 1) && e.z_read == 0 && e.z_rows_written == 2);
    e = effect_of("stzi {rows=31, half}", AMX_GEN_M1);
    CU_ASSERT(e.z_read == UINT64_C(3) << 62 && e.z_write == 0 && e.memory_bytes == 64 && !e.needs_128_alignment);
}

static void test_extract_and_genlut(void)
{
    struct amx_effect e = effect_of("extry {yreg=3, xreg=5}", AMX_GEN_M1);
    CU_ASSERT(e.unit_class == AMX_CLASS_EXTRACT && e.y_write == 8 && e.x_read == 32 && e.z_read == 0);
    e = effect_of("extrh {x=500, z=17}", AMX_GEN_M1);
    CU_ASSERT(e.x_write == 0x81 && e.z_read == 1 << 17 && !e.masked && e.macs == 0);
    e = effect_of("extrh {x=60, z=17, lanes=b32, mask=lane, mask_n=0}", AMX_GEN_M1);
    CU_ASSERT(e.x_write == 1 && e.masked);
    e = effect_of("extrv {y=0, z=17, lanes=b32}", AMX_GEN_M1);
    CU_ASSERT(e.y_write == 1 && e.z_read == EVERY(4) << 1);
    e = effect_of("extrv {wide, z=1, lanes=i8_i32}", AMX_GEN_M1);
    CU_ASSERT(e.x_write == 1 && e.z_read == UINT64_MAX && e.x_element == AMX_E_I8 && e.z_element == AMX_E_I32);
    e = effect_of("extrh {wide, z=5, lanes=i16_i32_step2, to_y, mask_n=3}", AMX_GEN_M1);
    CU_ASSERT(e.y_write == 1 && e.x_write == 0 && e.z_read == 0);
    e = effect_of("extrh {wide, z=5, lanes=i16_i32_step2}", AMX_GEN_M1);
    CU_ASSERT(e.z_read == 0xa0);
    e = effect_of("extrh {wide, repeat, z=34, lanes=b32, dst=1}", AMX_GEN_M2);
    CU_ASSERT(e.x_write == 0x1f && e.z_read == EVERY(16) << 2);
    e = effect_of("extrh {wide, repeat, z=34, lanes=b32, dst=1}", AMX_GEN_M4);
    CU_ASSERT(e.x_write == 0x0f);
    e = effect_of("extrh {wide, repeat, z=34, lanes=b32}", AMX_GEN_M1);
    CU_ASSERT(e.x_write == 1 && e.z_read == UINT64_C(1) << 34);
    e = effect_of("genlut {mode=lut2_32, src=62, table=3, to_z, row=40, table_y}", AMX_GEN_M1);
    CU_ASSERT(e.unit_class == AMX_CLASS_GENLUT && e.x_read == 3 && e.y_read == 8 && e.z_write == UINT64_C(1) << 40);
    e = effect_of("genlut {mode=gen_i16, src=64, src_y, table=3, reg=2, raw=0x4000000}", AMX_GEN_M1);
    CU_ASSERT(e.x_read == 8 && e.y_read == 2 && e.x_write == 4 && e.z_write == 0);
}

static void test_set_and_clr(void)
{
    struct amx_effect e;
    amx_effect_of(AMX_SETCLR, 0, AMX_GEN_M1, &e);
    CU_ASSERT(e.unit_class == AMX_CLASS_SET && e.x_write == 0xff && e.y_write == 0xff && e.z_rows_written == 64);
    amx_effect_of(AMX_SETCLR, 1, AMX_GEN_M1, &e);
    CU_ASSERT(e.unit_class == AMX_CLASS_CLR && e.z_write == 0);
    amx_effect_of(23, 0, AMX_GEN_M1, &e);
    CU_ASSERT(e.unit_class == AMX_CLASS_NOP);
}

static const struct suite_test tests[] = {
    {"matrix forms: reads, writes and multiply-accumulates", test_matrix},
    {"vector forms: reads, writes and multiply-accumulates", test_vector},
    {"element formats", test_elements},
    {"loads and stores", test_memory},
    {"extract and genlut", test_extract_and_genlut},
    {"set and clr", test_set_and_clr},
};
SUITE_MAIN("amx effect", tests)
