/* Moves and streams of the Neural Engine library: exact. */
#include "tests/units/ane_library_example.h"

/* Element i of the result comes from element place(i) of `source`. */
typedef size_t (*origin)(size_t index, const char **source, const size_t *shape);

static void check_moves(const char *text, const char *result, origin from, const size_t *shape, uint64_t seed)
{
    struct ane_example x;
    if (example_start(&x, text, NULL, seed)) {
        const uint64_t count = example_count(example_tensor(&x, result));
        double *got = example_values(&x, result);
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < count; i++) {
            const char *source = "x";
            const size_t place = from(i, &source, shape);
            const uint8_t *at = example_element(&x, example_tensor(&x, source), place, MEM_READ);
            uint16_t bits = 0;
            if (at)
                memcpy(&bits, at, sizeof bits);
            wrong += !at || got[i] != ane_half_value(bits);
        }
        CHECK(wrong == 0, "%s: %llu of %llu wrong", text, (unsigned long long)wrong, (unsigned long long)count);
        free(got);
    }
    example_close(&x);
}

static size_t turned(size_t i, const char **source, const size_t *s) /* batch, rows, columns, inner */
{
    const size_t inner = i % s[3], r = i / s[3] % s[1], c = i / s[3] / s[1] % s[2], batch = i / s[3] / s[1] / s[2];
    (void)source;
    return ((batch * s[1] + r) * s[2] + c) * s[3] + inner;
}

static void test_transpose(void)
{
    static const size_t plain[] = {1, 37, 53, 1}, rows[] = {2, 5, 7, 33};
    check_moves("transpose:37x53", "out", turned, plain, 1);
    check_moves("transpose:5x7,inner=33,batch=2", "out", turned, rows, 2);
}

static size_t joined(size_t i, const char **source, const size_t *s) /* rows, a, b, c */
{
    const size_t all = s[1] + s[2] + s[3], row = i / all, column = i % all;
    *source = column < s[1] ? "a" : column < s[1] + s[2] ? "b" : "c";
    return column < s[1]          ? row * s[1] + column
           : column < s[1] + s[2] ? row * s[2] + column - s[1]
                                  : row * s[3] + column - s[1] - s[2];
}

static void test_concat(void)
{
    static const size_t small[] = {7, 3, 11, 5}, tall[] = {20011, 2, 1, 0}, wide[] = {1, 50176, 25088, 6272},
                        odd[] = {1, 40401, 40401, 0};
    check_moves("concat:7x3x11,c=5", "out", joined, small, 3);
    check_moves("concat:20011x2x1", "out", joined, tall, 4);
    check_moves("concat:1x50176x25088,c=6272", "out", joined, wide, 6);
    check_moves("concat:1x40401x40401", "out", joined, odd, 7);
}

static size_t second_part(size_t i, const char **source, const size_t *s) /* rows, a, b, all */
{
    (void)source;
    return i / s[2] * s[3] + s[1] + i % s[2];
}

static void test_split(void)
{
    static const size_t shape[] = {9, 4, 13, 20}, wide[] = {1, 70400, 35200, 105600};
    check_moves("split:9x4x13,c=3", "b", second_part, shape, 5);
    check_moves("split:1x70400x35200", "b", second_part, wide, 8);
}

static size_t sliced(size_t i, const char **source, const size_t *s) /* columns, w, row, column */
{
    (void)source;
    return (s[2] + i / s[1]) * s[0] + s[3] + i % s[1];
}

static void test_slice(void)
{
    static const size_t aligned[] = {100, 40, 3, 32}, skipped[] = {100, 50, 5, 47};
    check_moves("slice:20x100,h=9,w=40,row=3,column=32", "out", sliced, aligned, 6);
    check_moves("slice:20x100,h=15,w=50,row=5,column=47", "out", sliced, skipped,
                7); /* values below 1: the gain of 16 does no harm */
}

static void check_stream(const char *text, double s, bool second, uint64_t seed)
{
    struct ane_example x;
    if (example_start(&x, text, NULL, seed)) {
        const uint64_t count = example_count(example_tensor(&x, "out"));
        double *a = example_values(&x, "a"), *b = second ? example_values(&x, "b") : NULL,
               *expected = malloc(count * sizeof *expected);
        for (uint64_t i = 0; expected && i < count; i++)
            expected[i] = b ? a[i] + s * b[i] : s * a[i];
        if (expected)
            example_compare(&x, text, "out", expected, NULL, 0.51);
        free(a), free(b), free(expected);
    }
    example_close(&x);
}

static void test_streams(void)
{
    check_stream("copy:2", 1, false, 10);
    check_stream("copy:1M", 1, false, 11);
    check_stream("stream-scale:200002,s=0.75", 0.75, false, 12);
    check_stream("stream-add:99998", 1, true, 13);
    check_stream("stream-triad:64K,s=-2.5", -2.5, true, 14);
}

static const struct suite_test tests[] = {
    {"transpose", test_transpose}, {"concat", test_concat},   {"split", test_split},
    {"slice", test_slice},         {"streams", test_streams},
};
SUITE_MAIN("ane_kernels_layout", tests)
