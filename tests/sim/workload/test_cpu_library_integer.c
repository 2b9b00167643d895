/* Kernels of the NEON library on whole numbers, executed: exact, at odd sizes, with operands that begin again; the same bytes on
 * three threads. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

#include <math.h>

static const char *const floats[] = {"f32", "f16", "bf16"};

static void test_integer(void)
{
    static const char *const workloads[] = {"integer:1,of=i32",
                                            "integer:4113,of=i32,op=sub",
                                            "integer:8201,of=i64,op=add",
                                            "integer:333,of=i64,op=mul",
                                            "integer:90,of=i32,op=mul,period=9",
                                            "integer:35,of=i64,op=sub,period=1",
                                            "integer:129,of=u8,op=xor,period=1",
                                            "integer:66,of=u8,op=and",
                                            "integer:66,of=u8,op=or",
                                            "integer:127,of=i64,op=min",
                                            "integer:4100,of=i32,op=max,period=4",
                                            "integer:4113,of=i32,op=div",
                                            "integer:333,of=i64,op=div",
                                            "integer:129,of=u8,op=div",
                                            "integer:4113,of=i32,op=mod,period=9",
                                            "integer:333,of=i64,op=mod",
                                            "integer:129,of=u8,op=mod,period=1",
                                            "integer:4113,of=i32,op=rem",
                                            "integer:333,of=i64,op=rem,period=3",
                                            "integer:129,of=u8,op=shl",
                                            "integer:333,of=i32,op=shl",
                                            "integer:333,of=i64,op=shr",
                                            "integer:129,of=u8,op=shr,period=1",
                                            "integer:333,of=i32,op=shr"};
    neon_all(workloads, ARRAY_COUNT(workloads), floats, 1);
    neon_refused("integer:8", "f32", "is missing");
    neon_refused("integer:8,of=i32,period=3", "f32", "multiple of period");
}

static void test_compare(void)
{
    static const char *const workloads[] = {"compare:1",
                                            "compare:4099,op=lt",
                                            "compare:77,op=ge,period=11",
                                            "compare:40,op=le,period=1",
                                            "compare:4099,of=i64,op=le",
                                            "compare:4099,of=i64",
                                            "compare:129,of=i32,op=gt,period=43",
                                            "compare:65,of=u8",
                                            "compare:33,of=i64,op=ge,period=1"};
    neon_all(workloads, ARRAY_COUNT(workloads), floats, ARRAY_COUNT(floats));
}

static void test_select(void)
{
    static const char *const workloads[] = {
        "select:1",           "select:4101",      "select:70,single=a",        "select:70,single=b",       "select:9,single=both",
        "select:4101,of=i64", "select:131,of=u8", "select:67,of=i32,single=b", "select:67,of=i64,single=a"};
    neon_all(workloads, ARRAY_COUNT(workloads), floats, ARRAY_COUNT(floats));
}

static void test_topk(void)
{
    static const char *const workloads[] = {"topk:1x1,k=1", "topk:3x7,k=7", "topk:5x33,k=4,smallest=1", "topk:2x1000,k=9",
                                            "topk:40x31,k=1"};
    neon_all(workloads, ARRAY_COUNT(workloads), floats, ARRAY_COUNT(floats));
    neon_refused("topk:3x4,k=5", "f32", "at most columns");
}

/* Boxes of classes that overlap, against the definition; one box; as many as are wanted and fewer. */
static void test_nms(void)
{
    static const char *const workloads[] = {"nms:1x1x1,k=1", "nms:2x3x40,k=40", "nms:1x2x60,k=5,center=1", "nms:3x1x33,k=33"};
    static const char *const numbers[] = {"f32"};
    neon_all(workloads, ARRAY_COUNT(workloads), numbers, ARRAY_COUNT(numbers));
    neon_refused("nms:1x1x4,k=5", "f32", "at most the number of boxes");
}

static void test_cast(void)
{
    static const char *const workloads[] = {"cast:1,to=i32",           "cast:4101,to=i64",        "cast:35,to=u8",
                                            "cast:35,to=bool",         "cast:4101,from=i64",      "cast:35,from=i32",
                                            "cast:35,from=u8",         "cast:35,from=i64,to=i32", "cast:35,from=i64,to=u8",
                                            "cast:35,from=i32,to=i64", "cast:35,from=u8,to=i64",  "cast:35,from=i64,to=bool"};
    neon_all(workloads, ARRAY_COUNT(workloads), floats, ARRAY_COUNT(floats));
    static const char *const sizes[] = {"cast:4101,to=f32", "cast:4101,from=f32"}, *const halves[] = {"f16", "bf16"};
    neon_all(sizes, ARRAY_COUNT(sizes), halves, ARRAY_COUNT(halves));
    neon_refused("cast:8", "f32", "must differ");
    neon_refused("cast:8,to=f32", "f32", "of 16 bits");
    neon_refused("cast:8,from=f32,to=u8", "f16", "of 16 bits");
}

/* No NaN is less than, as large as or more than anything; a zero is as large as the other one. */
static double special(const struct neon_example *x, unsigned operand, uint64_t index)
{
    static const double values[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1};
    (void)x;
    return values[operand ? index / 6 : index % 6];
}

static void test_specials(void)
{
    static const char *const workloads[] = {"compare:36", "compare:36,op=lt", "compare:36,op=le", "compare:36,op=gt",
                                            "compare:36,op=ge"};
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++)
        for (size_t p = 0; p < ARRAY_COUNT(floats); p++) {
            struct neon_example x = {.seed = 1, .value = special};
            neon_compare(&x, workloads[i], floats[p], 1);
            neon_close(&x);
        }
}

static const struct suite_test tests[] = {
    {"arithmetic of whole numbers", test_integer},
    {"comparisons", test_compare},
    {"comparisons of zeros, infinities and no numbers", test_specials},
    {"choices", test_select},
    {"other types", test_cast},
    {"places of the largest", test_topk},
    {"boxes that stay", test_nms},
};
SUITE_MAIN("neon whole numbers", tests)
