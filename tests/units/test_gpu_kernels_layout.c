/* Kernels that move, order or add up elements, executed: against plain loops on the host. Moves and sorts are exact. */
#include "tests/units/gpu_library_example.h"

static const char *const all_types[] = {"f32", "f16", "bf16", "i32", "u32", "u8"};

/* ---- moves: out[i] must be from[source(i)], or `filler` where source is -1 ---- */

typedef long source_of(const long *shape, long i);

static void check_move(const char *workload, const char *precision, const char *from, const long *shape, source_of *source, double filler)
{
    struct gpu_example x;
    if (example_start(&x, workload, precision, 11)) {
        double *in = example_values(&x, from), *out = example_values(&x, "out");
        const uint64_t count = x.kernel.buffer[example_buffer(&x, "out")].count;
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < count; i++) {
            const long at = source(shape, (long)i);
            wrong += out[i] != (at < 0 ? filler : in[at]);
        }
        CHECK(wrong == 0, "%s %s: %llu of %llu", workload, precision, (unsigned long long)wrong, (unsigned long long)count);
        free(in);
        free(out);
    }
    example_close(&x);
}

static long transposed(const long *s, long i)
{
    const long size = s[0] * s[1], at = i % size;
    return i / size * size + at % s[0] * s[1] + at / s[0];
}

static void test_transpose(void)
{
    static const long shapes[][3] = {{1, 1, 1}, {32, 32, 1}, {33, 31, 1}, {5, 70, 2}, {100, 3, 1}, {65, 64, 3}};
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (unsigned t = 0; t < 6; t++) {
            char workload[64];
            snprintf(workload, sizeof workload, "transpose:%ldx%ld,batch=%ld", shapes[i][0], shapes[i][1], shapes[i][2]);
            check_move(workload, all_types[t], "x", shapes[i], transposed, 0);
        }
}

static long windowed(const long *s, long i)
{
    const long row = i / s[3] + s[4], column = i % s[3] + s[5];
    return row < 0 || column < 0 || row >= s[0] || column >= s[1] ? -1 : row * s[1] + column;
}

static void test_pad_and_slice(void)
{
    static const long shapes[][6] = {{7, 9, 10, 16, -1, -3}, {1, 1, 5, 4, -2, -1}, {40, 33, 40, 33, 0, 0}};
    static const long cuts[][6] = {{7, 9, 3, 4, 2, 5}, {30, 300, 30, 1, 0, 299}};
    for (unsigned t = 0; t < 6; t++) {
        char workload[96];
        for (unsigned i = 0; i < 3; i++) {
            const long *s = shapes[i];
            snprintf(workload, sizeof workload, "pad:%ldx%ld,top=%ld,bottom=%ld,left=%ld,right=%ld,value=3", s[0], s[1], -s[4],
                     s[2] - s[0] + s[4], -s[5], s[3] - s[1] + s[5]);
            check_move(workload, all_types[t], "x", s, windowed, 3);
        }
        for (unsigned i = 0; i < 2; i++) {
            const long *s = cuts[i];
            snprintf(workload, sizeof workload, "slice:%ldx%ld,row=%ld,column=%ld,h=%ld,w=%ld", s[0], s[1], s[4], s[5], s[2], s[3]);
            check_move(workload, all_types[t], "x", s, windowed, 0);
        }
    }
}

static void check_concat(const long *s, const char *precision)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "concat:%ldx%ldx%ld,c=%ld,d=%ld", s[0], s[1], s[2], s[3], s[4]);
    if (example_start(&x, workload, precision, 5)) {
        double *out = example_values(&x, "out");
        const long all = s[1] + s[2] + s[3] + s[4];
        long first = 0;
        for (unsigned input = 0; input < 4; input++) {
            const char name[2] = {(char)('a' + input), '\0'};
            const long width = s[1 + input];
            double *in = width ? example_values(&x, name) : NULL;
            unsigned wrong = 0;
            for (long i = 0; i < s[0] * width; i++)
                wrong += out[i / width * all + first + i % width] != in[i];
            CHECK(wrong == 0, "%s %s: %u of input %u", workload, precision, wrong, input);
            first += width;
            free(in);
        }
        free(out);
    }
    example_close(&x);
}

static void test_concat(void)
{
    static const long shapes[][5] = {{1, 3, 4, 0, 0}, {10, 8, 12, 0, 0}, {7, 5, 1, 9, 0}, {33, 4, 8, 3, 20}};
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (unsigned t = 0; t < 6; t++)
            check_concat(shapes[i], all_types[t]);
}

/* Indices beyond the table give zeros and touch nothing. */
static void check_gather(unsigned rows, unsigned columns, unsigned count, const char *precision)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "gather:%ux%ux%u", rows, columns, count);
    bool ok = example_open(&x, workload, precision, 8);
    uint8_t *index_bytes = NULL;
    if (ok) {
        example_fill(&x, 2);
        index_bytes = example_bytes(&x, example_buffer(&x, "index"));
    }
    for (unsigned i = 1; index_bytes && i < count; i += 5)
        example_put(index_bytes, GPU_U32, i, i % 2 ? rows : 4294967295.0);
    ok = ok && example_run(&x, false);
    CHECK(ok, "%s: %s", workload, x.text);
    if (ok) {
        double *table = example_values(&x, "table"), *index = example_values(&x, "index"), *out = example_values(&x, "out");
        unsigned wrong = 0;
        for (unsigned i = 0; i < count * columns; i++) {
            const double row = index[i / columns];
            wrong += out[i] != (row < rows ? table[(size_t)row * columns + i % columns] : 0);
        }
        CHECK(wrong == 0, "%s %s: %u", workload, precision, wrong);
        free(table);
        free(index);
        free(out);
    }
    example_close(&x);
}

static void test_gather(void)
{
    for (unsigned t = 0; t < 6; t++) {
        check_gather(50, 64, 9, all_types[t]);
        check_gather(7, 5, 300, all_types[t]);
        check_gather(1, 1, 2, all_types[t]);
    }
}

static void check_refused(const char *workload, const char *part)
{
    struct gpu_example x;
    const bool opened = example_open(&x, workload, NULL, 8);
    CHECK(!opened && strstr(x.text, part), "%s: %s", workload, x.text);
    example_close(&x);
}

static void test_texts(void)
{
    check_refused("transpose:100000x100000", "2^31");
    check_refused("slice:4x4,row=2,h=3,w=1", "beyond");
    check_refused("gather:4x4", "count is missing");
}

static void test_clean_under_checks(void)
{
    static const char *const workloads[] = {"transpose:33x40", "concat:5x4x3,c=2", "gather:20x7x9", "pad:5x5,top=1,left=2"};
    for (unsigned i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        struct gpu_example x;
        const bool ok = example_open(&x, workloads[i], "f16", 8);
        if (ok)
            example_fill(&x, 1);
        CHECK(ok && example_run(&x, true), "%s: %s", workloads[i], x.text);
        example_close(&x);
    }
}

static const struct suite_test tests[] = {
    {"transpose", test_transpose},
    {"pad and slice", test_pad_and_slice},
    {"concat", test_concat},
    {"gather", test_gather},
    {"workloads that cannot be are explained", test_texts},
    {"programs pass the device's checks", test_clean_under_checks},
};
SUITE_MAIN("gpu_kernels_layout", tests)
