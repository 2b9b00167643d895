/* Arbitrary text as preprocessed Metal: it is refused with a reason and an exit code, or what is made of it has a line for each
 * line, and the same again. Half of the inputs are changes to a source that has everything: each four bytes say where and which
 * piece of text goes there. */
#include "isa/array_count.h"
#include "sim/compile/metal_prepass.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char source[] =
    "# 1 \"k.metal\"\n"
    "using namespace metal;\n"
    "constant bool wide [[function_constant(0)]];\n"
    "constant int steps [[function_constant(1)]];\n"
    "constant bool has = is_function_constant_defined(steps);\n"
    "constant float table[4] = {1.0, 2.5h, .5, 1e3};\n"
    "struct pair { device float *a; int n; float get() const device { return a[n]; } int get(int k) const thread { return k; } "
    "};\n"
    "template <typename T, int N = 4> T sum(threadgroup T *s, thread T (&v)[N], constant T &c) { return s[0] + v[N - 1] * c; }\n"
    "template <typename T> [[kernel]] void scale(device const T *in [[buffer(0)]], device T *out [[buffer(1)]],\n"
    "    constant T &by [[buffer(2)]], threadgroup T *shared [[threadgroup(0)]], uint i [[thread_position_in_grid]],\n"
    "    ushort2 lane [[thread_position_in_threadgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {\n"
    "  threadgroup T tile[32][8 + 1];\n"
    "  tile[lane.x][0] = wide ? in[i] : by;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  out[i] = wide ? tile[0][lane.y] : shared[i];\n"
    "}\n"
    "template [[host_name(\"scale_f32\")]] [[kernel]] decltype(scale<float>) scale<float>;\n"
    "template [[host_name(\"scale_f16\")]] [[kernel]] void scale<half>(device const half *in [[buffer(0)]], device half *out "
    "[[buffer(1)]],\n    constant half &by, threadgroup half *shared, uint i [[thread_position_in_grid]], ushort2 l, uint s);\n"
    "kernel void plain(device atomic_uint *n, constant const int64_t strides[2], uint3 g [[threadgroup_position_in_grid]]) {\n"
    "  for (uint k = 0; k < 4; ++k) { atomic_fetch_add_explicit(n, uint(strides[k & 1]), memory_order_relaxed); }\n"
    "}\n";

static const char *const pieces[] = {
    "",
    " ",
    "\n",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    ",",
    ";",
    ":",
    "::",
    "?",
    "*",
    "&",
    "=",
    "[[",
    "]]",
    "\"",
    "'",
    "\\",
    "//",
    "/*",
    "*/",
    "#",
    "# 7 \"x\"\n",
    "1.5h",
    "1.0",
    "0x1p3",
    "1.5bf",
    "kernel ",
    "[[kernel]] ",
    "template ",
    "template <typename T> ",
    "typename ",
    "constant ",
    "device ",
    "threadgroup ",
    "thread ",
    "const ",
    "static ",
    "struct ",
    "decltype",
    "host_name(\"x\")",
    "buffer(1)",
    "buffer(99999999999)",
    "function_constant(1)",
    "threadgroup(0)",
    "thread_position_in_grid",
    "texture2d<float> ",
    "void ",
    "float ",
    "half4 ",
    "operator",
    "using ",
    "typedef ",
    "namespace n {",
    "if constexpr (",
    "return ",
    "alignas(16) ",
    "R\"(",
    ")\"",
    "a",
    "T",
    "0",
    "...",
    "->",
    ".",
    "stage_in",
    "max_total_threads_per_threadgroup(64)",
    "wide",
    "scale",
    "is_function_constant_defined(",
};

static size_t lines_of(const char *text, size_t bytes)
{
    size_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    return lines;
}

static void check(const char *text, size_t bytes, const char *wanted)
{
    const struct metal_value values[] = {{.name = "wide", .text = "true"}, {.index = 1, .text = "16"}};
    struct metal_unit one = {.wanted = wanted, .value = values, .values = ARRAY_COUNT(values)}, two = one;
    struct orch_error error = {0}, again = {0};
    const bool ok = metal_prepass(text, bytes, &one, &error), same = metal_prepass(text, bytes, &two, &again);
    if (ok != same || (!ok && (!*error.text || (error.exit_code != ORCH_USAGE && error.exit_code != ORCH_UNMODELLED))))
        abort();
    if (ok && (one.bytes != two.bytes || memcmp(one.text, two.text, one.bytes) != 0 ||
               lines_of(one.text, one.bytes) < lines_of(text, bytes)))
        abort();
    for (size_t i = 0; ok && i < one.kernels; i++)
        if (!one.kernel[i].name || !one.kernel[i].function || !one.kernel[i].file)
            abort();
    for (size_t i = 0; ok && i < one.constants; i++)
        if (!one.constant[i].name || !one.constant[i].type)
            abort();
    metal_unit_free(&one);
    metal_unit_free(&two);
}

/* Four bytes: where, how much goes, what comes. */
static void change(const uint8_t *data, size_t size)
{
    enum { ROOM = 16384 };
    static const char *const wanted[] = {NULL, "plain", "scale_f32", "scale_f16", "absent"};
    char *const text = malloc(ROOM);
    size_t bytes = sizeof source - 1;
    if (!text)
        abort();
    memcpy(text, source, bytes);
    for (size_t i = 1; i + 4 <= size && i < 64; i += 4) {
        const char *const piece = pieces[data[i + 3] % ARRAY_COUNT(pieces)];
        const size_t at = (data[i] | (size_t)data[i + 1] << 8) % bytes, length = strlen(piece);
        const size_t gone = data[i + 2] % 16u < bytes - at ? data[i + 2] % 16u : bytes - at;
        memmove(text + at + length, text + at + gone, bytes - at - gone);
        memcpy(text + at, piece, length);
        bytes += length - gone;
    }
    char *const exact = malloc(bytes + 1); /* so that a sanitizer sees reads beyond it */
    if (!exact)
        abort();
    memcpy(exact, text, bytes);
    exact[bytes] = 0;
    check(exact, bytes, wanted[size ? data[0] % ARRAY_COUNT(wanted) : 0]);
    free(exact);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] & 1) {
        change(data + 1, size - 1);
        return 0;
    }
    char *const text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    check(text, size, NULL);
    free(text);
    return 0;
}
