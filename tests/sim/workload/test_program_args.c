/* The texts of arguments: what each of them puts into memory, and how wrong ones are refused. */
#include "isa/array_count.h"
#include "sim/workload/cpu/program_args.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

static void test_argument_errors(void)
{
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {"f32:4x", "not a shape"},
        {"f33:4", "unknown element type 'f33'; did you mean f32?"},
        {"f32", "not an argument"},
        {"f32:0", "not a shape"},
        {"f32:4:rnd:1", "zero, seq, rand:SEED"},
        {"f32:4:rand", "needs a seed"},
        {"f32:4:rand:x", "needs a seed"},
        {"f32:4:fill:", "needs a number"},
        {"f32:4:zero:1", "left over"},
        {"3.5", "3.5f (float) or 3.5d (double)"},
        {"99999999999999999999", "64 bits"},
        {"12abc", "needs its type"},
        {"in:/no/such.npy", "/no/such.npy: cannot be opened"},
        {"in:", "a .npy file must follow"},
        {"out:bf16:4:x.npy", "bf16 has no .npy type"},
        {"out:f32", "a shape must follow"},
        {"buf:", "not a shape"},
        {"f32:1G", "does not fit the simulated address space"},
        {"f32:9999999999x9999999999", "larger than 2^64"},
        {"hello", "not an argument"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct program_arg arg;
        struct orch_error error = {0};
        char quoted[100];
        struct mem_space *space = mem_space_create(UINT64_C(1) << 28);
        bool ok = program_arg_parse(bad[i].text, &arg, &error);
        if (ok) {
            ok = program_arg_place(&arg, space, &error);
            program_arg_release(&arg);
        } else {
            snprintf(quoted, sizeof quoted, "argument '%s': ", bad[i].text);
            CHECK(strncmp(error.text, quoted, strlen(quoted)) == 0, "'%s'", error.text);
        }
        CHECK(!ok && error.exit_code == ORCH_USAGE && strstr(error.text, bad[i].expected), "%s: '%s'", bad[i].text, error.text);
        mem_space_free(space);
    }
}

/* Buffers hold what the grammar promises. The bits of f16 and bf16 follow from IEEE 754 and the definition of bfloat16. */
static void test_fills(void)
{
    static const struct {
        const char *text;
        size_t bytes;
        uint8_t first[8];
    } fills[] = {
        {"f16:3:seq", 6, {0, 0, 0x00, 0x3c, 0x00, 0x40}},
        {"bf16:3:seq", 6, {0, 0, 0x80, 0x3f, 0x00, 0x40}},
        {"f16:1:fill:65519", 2, {0xff, 0x7b}},
        {"f16:1:fill:65520", 2, {0x00, 0x7c}},
        {"f16:1:fill:-5.9604644775390625e-8", 2, {0x01, 0x80}},
        {"f16:1:fill:2.98e-8", 2, {0x00, 0x00}},
        {"f16:1:fill:2.99e-8", 2, {0x01, 0x00}},
        {"bf16:1:fill:1.00390625", 2, {0x80, 0x3f}},
        {"bf16:1:fill:1.01171875", 2, {0x82, 0x3f}},
        {"f16:1:fill:6.103515625e-5", 2, {0x00, 0x04}},
        {"i8:4:fill:-3", 4, {0xfd, 0xfd, 0xfd, 0xfd}},
        {"u16:2x2:seq", 8, {0, 0, 1, 0, 2, 0, 3, 0}},
        {"i32:2:seq", 8, {0, 0, 0, 0, 1, 0, 0, 0}},
        {"f64:1:fill:1", 8, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
        {"f32:2:seq", 8, {0, 0, 0, 0, 0, 0, 0x80, 0x3f}},
        {"buf:8", 8, {0}},
        {"buf:4:seq", 4, {0, 1, 2, 3}},
        {"str:ab", 3, {'a', 'b', 0}},
        {"out:u64:1", 8, {0}},
        {"f16:1:fill:inf", 2, {0x00, 0x7c}},
    };
    struct mem_space *space = mem_space_create(UINT64_C(1) << 28);
    for (size_t i = 0; i < ARRAY_COUNT(fills); i++) {
        struct program_arg arg;
        struct orch_error error = {0};
        CHECK(program_arg_parse(fills[i].text, &arg, &error) && program_arg_place(&arg, space, &error), "%s", error.text);
        const uint8_t *host = mem_at(space, arg.bits, fills[i].bytes, MEM_READ);
        CHECK(arg.array.bytes == fills[i].bytes && host && memcmp(host, fills[i].first, fills[i].bytes) == 0, "%s: %02x %02x",
              fills[i].text, host ? host[0] : 0, host ? host[1] : 0);
        program_arg_release(&arg);
    }
    struct program_arg arg;
    struct orch_error error = {0};
    CU_ASSERT_TRUE(program_arg_parse("f64:10K:rand:7", &arg, &error) && program_arg_place(&arg, space, &error));
    CU_ASSERT_EQUAL(arg.array.count, 10240);
    double sum = 0, square = 0;
    for (uint64_t i = 0; i < arg.array.count; i++) {
        double x;
        memcpy(&x, space->host + arg.bits + 8 * i, sizeof x);
        CU_ASSERT_TRUE_FATAL(x >= -1 && x < 1);
        sum += x;
        square += x * x;
    }
    CHECK(fabs(sum / 10240) < 0.03 && fabs(square / 10240 - 1.0 / 3) < 0.02, "mean %g, square %g", sum / 10240, square / 10240);
    program_arg_release(&arg);
    mem_space_free(space);
}

static const struct suite_test tests[] = {
    {"wrong arguments are refused by name", test_argument_errors},
    {"buffers are filled as asked", test_fills},
};
SUITE_MAIN("program args", tests)
