/* Kernels of the NEON library that only move elements, executed: exact, in all types, at odd sizes; the same bytes on three
 * threads. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

static const char *const types[] = {"f32", "f16", "bf16", "i32", "u32", "u8"};

static void test_transpose(void)
{
    static const char *const workloads[] = {"transpose:1x1",   "transpose:2x3",   "transpose:7x17",          "transpose:16x16",
                                            "transpose:33x15", "transpose:64x48", "transpose:17x33,batch=3", "transpose:1x100"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_concat(void)
{
    static const char *const workloads[] = {"concat:1x1x1", "concat:3x2x7", "concat:5x17x33,c=2", "concat:4x64x3,c=1,d=129",
                                            "concat:2x3x4,d=5"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_gather(void)
{
    static const char *const workloads[] = {"gather:1x1x1", "gather:7x3x5", "gather:100x33x17", "gather:3x128x40"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_windows(void)
{
    static const char *const workloads[] = {"pad:1x1",
                                            "pad:3x7,top=1,left=2,value=3",
                                            "pad:5x17,bottom=2,right=33,value=-1.5",
                                            "pad:2x2,top=1,bottom=1,left=1,right=1,value=7",
                                            "slice:3x7,h=1,w=1",
                                            "slice:3x7,h=2,w=5,row=1,column=2",
                                            "slice:40x100,h=33,w=65,row=7,column=35",
                                            "broadcast:1x1",
                                            "broadcast:7x13",
                                            "broadcast:33x1024"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

/* Some places are beyond the table of three rows. */
static double beyond(const struct neon_example *x, unsigned operand, uint64_t index)
{
    (void)x;
    return operand == 1 ? (double)(index % 5) : 0.25 * (double)(index + 1);
}

/* Rows in f32 whatever the table is; blocks give what they say to the bit. */
static void test_embedding(void)
{
    static const char *const plain[] = {"embedding:1x1x1", "embedding:7x3x5", "embedding:100x34x17"};
    static const char *const of_blocks[] = {"embedding:3x32x5", "embedding:40x512x9"};
    static const char *const floats[] = {"f32", "f16", "bf16"}, *const blocks[] = {"q4_0", "q8_0"};
    neon_all(plain, ARRAY_COUNT(plain), floats, ARRAY_COUNT(floats));
    neon_all(of_blocks, ARRAY_COUNT(of_blocks), blocks, ARRAY_COUNT(blocks));
    neon_refused("embedding:3x33x1", "q8_0", "whole blocks of 32");
}

static void test_gather_beyond(void)
{
    struct neon_example x = {.value = beyond};
    if (neon_compare(&x, "gather:3x21x9", "f32", 1)) {
        double *const out = routine_values(&x.library.work.operand[2], neon_bytes(&x, 2));
        CHECK(out && out[3 * 21] == 0 && out[4 * 21 + 20] == 0 && out[2 * 21] != 0, "no zeros");
        free(out);
    }
    neon_close(&x);
}

static void test_refusals(void)
{
    neon_refused("slice:3x7,h=3,w=7,row=1", NULL, "beyond the 3 x 7 matrix");
    neon_refused("transpose:3", NULL, "columns is missing");
    neon_refused("gather:3x3x3", "i8", "f32 f16 bf16 i32 u32 u8");
}

/* Between numbers and integers: one channel, runs of channels, rows of them; what is beyond a type is limited. */
static void test_convert(void)
{
    static const char *const workloads[] = {"convert:1,to=u8",
                                            "convert:4113,to=i8",
                                            "convert:8200,to=i32",
                                            "convert:70,to=u8,channels=5,inner=7",
                                            "convert:102,to=i8,channels=17",
                                            "convert:37,from=u8",
                                            "convert:4100,from=i8,bias=1",
                                            "convert:132,from=i32,channels=33,bias=1",
                                            "convert:120,from=u8,channels=3,inner=20",
                                            "convert:65,from=u8,to=i8",
                                            "convert:34,from=i32,to=u8,channels=17"};
    static const char *const floats[] = {"f32", "f16", "bf16"};
    neon_all(workloads, ARRAY_COUNT(workloads), floats, ARRAY_COUNT(floats));
    neon_refused("convert:8", "f32", "is missing");
    neon_refused("convert:8,to=u8,channels=3", "f32", "multiple of channels times inner");
    neon_refused("convert:8,to=u8,bias=1", "f32", "no integers");
}

static const struct suite_test tests[] = {
    {"transpose", test_transpose},   {"concat", test_concat},
    {"gather", test_gather},         {"embedding", test_embedding},
    {"pad and slice", test_windows}, {"places beyond the table give zeros", test_gather_beyond},
    {"refusals", test_refusals},     {"numbers from and to integers", test_convert},
};
SUITE_MAIN("neon moves", tests)
