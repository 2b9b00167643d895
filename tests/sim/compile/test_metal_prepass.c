/* The pass over Metal's tokens: what it makes of each thing that clang does not take. No clang is needed. */
#include "sim/compile/metal_prepass.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static struct metal_unit unit;
static struct orch_error error;

static bool run(const char *text)
{
    metal_unit_free(&unit);
    error = (struct orch_error){0};
    return metal_prepass(text, strlen(text), &unit, &error);
}

/* What is made of a text, behind the definitions of address spaces. */
static const char *made(const char *text)
{
    if (!run(text))
        return error.text;
    const char *thread = strstr(unit.text, "#define thread\n");
    return thread ? thread + strlen("#define thread\n") : "no definitions";
}

static void expect(const char *text, const char *want)
{
    const char *got = made(text);
    CHECK(strcmp(got, want) == 0, "of: %s\n  got:  %s\n  want: %s", text, got, want);
}

static void holds(const char *text, const char *part)
{
    const char *got = made(text);
    CHECK(strstr(got, part) != NULL, "of: %s\n  got: %s\n  without: %s", text, got, part);
}

static void fails(const char *text, int code, const char *message)
{
    CHECK(!run(text), "taken: %s", text);
    CHECK(error.exit_code == code && strstr(error.text, message), "of: %s\n  got %d %s", text, error.exit_code, error.text);
}

static void reset(void)
{
    metal_unit_free(&unit);
    unit = (struct metal_unit){0};
}

static void test_literals(void)
{
    expect("a = 1.0 + .5 + 1e3 + 0x1p3;", "a = 1.0f + .5f + 1e3f + 0x1p3f;");
    expect("a = 1.5h + 2h + 1.0H;", "a = 1.5f16 + 2.0f16 + 1.0f16;");
    expect("a = 1.5bf;", "a = bfloat(1.5f);");
    expect("a = 1.0f + 0xef + 10 + 3u + 0x1.8p1f + 2.0f16;", "a = 1.0f + 0xef + 10 + 3u + 0x1.8p1f + 2.0f16;");
    reset();
}

static void test_choices(void)
{
    expect("a = c ? x[0] : f(y, 1);", "a = c ? __orchard_rv(x[0]) : __orchard_rv(f(y, 1));");
    expect("a = c ? b : d ? e : g;", "a = c ? __orchard_rv(b) : __orchard_rv(d ? __orchard_rv(e) : __orchard_rv(g));");
    expect("f(c ? a : b, d);", "f(c ? __orchard_rv(a) : __orchard_rv(b), d);");
    expect("a = c ? 1 : -2;", "a = c ? 1 : -2;");
    expect("a = c ? p : nullptr;", "a = c ? p : nullptr;");
    expect("a = c ? b : g<int, 4>(d);", "a = c ? __orchard_rv(b) : __orchard_rv(g<int, 4>(d));");
    expect("vec<int, c ? N : 2> v;", "vec<int, c ? __orchard_rv(N) : __orchard_rv(2)> v;");
    expect("a = i < n && j > m ? b : d;", "a = i < n && j > m ? __orchard_rv(b) : __orchard_rv(d);");
    reset();
}

static void test_threadgroup_variables(void)
{
    expect("void f() { threadgroup float s[4 * 8]; }", "void f() { static threadgroup float s[4 * 8]; }");
    expect("void f() { threadgroup float *p = q; }", "void f() { threadgroup float *p = q; }");
    expect("void f() { threadgroup float (&p)[4] = q; }", "void f() { threadgroup float (&p)[4] = q; }");
    expect("void f() { threadgroup vec<float, 2 * 2> v; }", "void f() { static threadgroup vec<float, 2 * 2> v; }");
    expect("void f() { alignas(16) threadgroup half s[8]; }", "void f() { static alignas(16) threadgroup half s[8]; }");
    expect("void f(threadgroup float *s) { g((threadgroup int *)s); }",
           "void f(threadgroup float *s) { g((threadgroup int *)s); }");
    reset();
}

static void test_parameters_of_constant_arrays(void)
{
    expect("void f(constant const int s[2], int n);", "void f(constant const int *s, int n);");
    expect("void f(device float m[2][4]);", "void f(device float (*m)[4]);");
    expect("void f(int s[2]);", "void f(int s[2]);");
    reset();
}

static void test_members(void)
{
    expect("struct s { int get() const thread { return v; } int get() const device { return v; } int v; };",
           "struct s { int get() const  { return v; }  int v; };");
    expect("struct s { s(int x) thread : v{x} {} s(int x) device : v{x} {} int v; };",
           "struct s { s(int x)  : v{x} {}  int v; };");
    expect("struct s { s(int x) : v{x} {} s() {} s() threadgroup {} s(int x) device : v{x} {} int v; };",
           "struct s { s(int x) : v{x} {} s() {}   int v; };");
    expect("struct s { int f() thread; int g() thread; };", "struct s { int f() ; int g() ; };");
    expect("struct s { int f() thread {} }; struct t { int f() thread {} };",
           "struct s { int f()  {} }; struct t { int f()  {} };");
    reset();
}

static void test_kernels(void)
{
    holds("kernel void f(device float *a [[buffer(2)]], uint i [[thread_position_in_grid]], constant int &n) { a[i] = n; }",
          " void f(device float *a , constant int &n) { uint i = orchard::thread_position_in_grid<decltype(i)>(); a[i] = n; }"
          " extern \"C\" [[clang::annotate(\"host_name=f\"), gnu::used]] auto *const __orchard_kernel_0 = &::f;");
    CU_ASSERT_EQUAL_FATAL(unit.kernels, 1);
    const struct metal_kernel *k = &unit.kernel[0];
    CU_ASSERT_STRING_EQUAL(k->name, "f");
    CU_ASSERT_STRING_EQUAL(k->entry, "__orchard_kernel_0");
    CU_ASSERT_EQUAL_FATAL(k->arguments, 2);
    CU_ASSERT_STRING_EQUAL(k->argument[0].name, "a");
    CU_ASSERT_EQUAL(k->argument[0].index, 2);
    CU_ASSERT_STRING_EQUAL(k->argument[1].name, "n");
    CU_ASSERT_EQUAL(k->argument[1].index, 0);
    holds("kernel void f(uint2 a [[thread_position_in_grid]], uint b [[thread_index_in_simdgroup]]) {}", " void f( )");
    holds("kernel void f(uint2 a [[thread_position_in_grid]], device int *p, uint b [[thread_index_in_simdgroup]], device int "
          "*q) {}",
          " void f( device int *p, device int *q)");
    holds("[[kernel, max_total_threads_per_threadgroup(64)]] void f(threadgroup int *s [[threadgroup(1)]]) {}",
          " void f(threadgroup int *s ) {}");
    CU_ASSERT_EQUAL(unit.kernel[0].argument[0].kind, METAL_THREADGROUP);
    CU_ASSERT_EQUAL(unit.kernel[0].argument[0].index, 1);
    holds("kernel void f(device int *p [[buffer(0), function_constant(has)]]) {}", "device int *p )");
    CU_ASSERT_TRUE(unit.kernel[0].argument[0].conditional);
    reset();
}

static const char scale[] = "template <typename T>\n"
                            "[[kernel]] void scale(device T *a, uint i [[thread_position_in_grid]]) { a[i] *= 2; }\n"
                            "template [[host_name(\"scale_\" \"f32\")]] [[kernel]] decltype(scale<float>) scale<float>;\n"
                            "template [[host_name(\"scale_i32\")]] kernel void scale<int>(device int *, uint);\n"
                            "kernel void other(device int *a) { *a = 1; }\n";

static void test_instantiations(void)
{
    holds(scale, "auto *const __orchard_kernel_0 = &scale<float>; ");
    CU_ASSERT_NOT_EQUAL(strstr(unit.text, "host_name=scale_i32\"), gnu::used]] auto *const __orchard_kernel_1 = &scale<int>; "),
                        NULL);
    CU_ASSERT_EQUAL_FATAL(unit.kernels, 3);
    CU_ASSERT_STRING_EQUAL(unit.kernel[0].name, "scale_f32");
    CU_ASSERT_EQUAL(unit.kernel[0].line, 3);
    CU_ASSERT_EQUAL_FATAL(unit.kernel[1].arguments, 1);
    CU_ASSERT_STRING_EQUAL(unit.kernel[1].argument[0].name, "a");
    holds("template <int N> kernel void f(constant dims<N> *d) {} template [[host_name(\"f2\")]] [[kernel]] void f(constant "
          "dims<2> *d "
          "[[buffer(0)]], uint i [[thread_index_in_simdgroup]]);",
          "void (*const __orchard_kernel_0)(constant dims<2> *d) = &f;");
    reset();
}

static void test_wanted(void)
{
    unit.wanted = "scale_i32";
    CU_ASSERT_TRUE_FATAL(run(scale));
    CU_ASSERT_PTR_NULL(strstr(unit.text, "scale<float>"));
    CU_ASSERT_PTR_NULL(strstr(unit.text, "other"));
    CU_ASSERT_PTR_NOT_NULL(strstr(unit.text, "&scale<int>"));
    CU_ASSERT_EQUAL(unit.kernels, 3);
    unit.wanted = "missing";
    fails(scale, ORCH_USAGE, "no kernel is named 'missing' (there is scale_f32");
    reset();
}

static void test_function_constants(void)
{
    const struct metal_value values[] = {{.name = "causal", .text = "true"}, {.index = 302, .text = "16"}};
    unit.value = values;
    unit.values = 2;
    expect("constant bool causal [[function_constant(3)]];", "constant bool causal  = true;");
    expect("constant int rows [[function_constant(300 + 2)]];", "constant int rows  = 16;");
    expect("constant uint3 n [[function_constant(9)]];\nbool b = is_function_constant_defined(n);",
           "constant uint3 n  = {};\nbool b = false;");
    CU_ASSERT_EQUAL_FATAL(unit.constants, 1);
    CU_ASSERT_STRING_EQUAL(unit.constant[0].type, "uint3");
    CU_ASSERT_EQUAL(unit.constant[0].index, 9);
    CU_ASSERT_FALSE(unit.constant[0].given);
    reset();
}

static void test_swizzles(void)
{
    expect("template <class T> void f(T v) { g(v.xy + v.zw); v.xy = v.yx; }",
           "template <class T> void f(T v) { g(v.xy.__orchard_self() + v.zw.__orchard_self()); v.xy = v.yx.__orchard_self(); }");
    expect("template <class T> void f(T v) { v[0].xy += a * 2; }",
           "template <class T> void f(T v) { v[0].xy = v[0].xy.__orchard_self() + ( a * 2); }");
    expect("void f(float4 v) { g(v.xy); }", "void f(float4 v) { g(v.xy); }");
    expect("struct s { int ba; }; template <class T> void f(T v) { g(v.ba); }",
           "struct s { int ba; }; template <class T> void f(T v) { g(v.ba); }");
    reset();
}

static void test_lines_stay(void)
{
    holds("# 7 \"k.metal\"\nkernel void f(device int *a,\n  uint i\n  [[thread_position_in_grid]]) {\n a[i] = 1.0;\n}\nint last;",
          "# 7 \"k.metal\"\n void f(device int *a\n\n) { uint i = orchard::thread_position_in_grid<decltype(i)>();\n a[i] = "
          "1.0f;\n}");
    CU_ASSERT_STRING_EQUAL(unit.kernel[0].file, "k.metal");
    CU_ASSERT_EQUAL(unit.kernel[0].line, 7);
    unit.wanted = "g";
    holds("# 1 \"k.metal\"\nkernel void f() {\n\n}\nkernel void g() {}", "# 1 \"k.metal\"\n\n\n\n void g() {}");
    reset();
}

static void test_system_headers_stay(void)
{
    expect("# 1 \"/usr/metal_stdlib\" 1 3\nint a = c ? x : 1.0;\n# 2 \"k.metal\" 2\nint b = 1.0;",
           "# 1 \"/usr/metal_stdlib\" 1 3\nint a = c ? x : 1.0;\n# 2 \"k.metal\" 2\nint b = 1.0f;");
    reset();
}

static void test_others(void)
{
    expect("volatile coherent(system) device uint *p;", "volatile  device uint *p;");
    expect("struct s { int a [[id(0)]]; int b [[maybe_unused]]; };", "struct s { int a ; int b [[maybe_unused]]; };");
    expect("#pragma unroll (MIN(N, 4))\nfor (;;) {}", "#pragma unroll\nfor (;;) {}");
    expect("#pragma unroll (N)\nfor (;;) {}", "#pragma unroll (N)\nfor (;;) {}");
    expect("f(\"text\");", "f((constant char *)\"text\");");
    reset();
}

static void test_refusals(void)
{
    fails("# 3 \"k.metal\"\nkernel void f(texture2d<float> t [[texture(0)]]) {}", ORCH_UNMODELLED, "k.metal:3: texture");
    fails("# 4 \"k.metal\"\nfloat g(texture2d<float> t) { return 0; }", ORCH_UNMODELLED,
          "k.metal:4: texture2d: textures are not modelled");
    fails("kernel void f(uint i) {}", ORCH_USAGE, "no buffer and has no attribute");
    fails("kernel void f(uint i [[unknown_position]]) {}", ORCH_UNMODELLED, "unknown_position");
    fails("kernel void f(device int *a) { (; }", ORCH_USAGE, "bracket");
    fails("kernel void f(device int *a) {", ORCH_USAGE, "this bracket has no end");
    fails("}", ORCH_USAGE, "this bracket has no beginning");
    unit.wanted = "v";
    fails("vertex float4 v(uint i [[vertex_id]]) { return 0; }", ORCH_UNMODELLED, "rendering");
    unit.wanted = NULL;
    expect("fragment float4 v(texture2d<float> t [[texture(0)]]) { return 0; } int a;", " int a;");
    reset();
}

/* Whatever the bytes are, the pass ends, and memory stays within bounds (run with MODE=asan). */
static void test_random_texts(void)
{
    static const char *const word[] = {"kernel", "template", "<",     ">",      "(",        ")",          "[",    "]",
                                       "{",      "}",        ";",     "device", "constant", "thread",     "?",    ":",
                                       "::",     "[[",       "]]",    "a.xy",   "+=",       "1.0h",       "void", "f",
                                       ",",      "\n",       "\"s\"", "#",      "vertex",   "host_name(", "*",    "buffer(0)"};
    uint64_t state = 1;
    for (int i = 0; i < 3000; i++) {
        char text[512] = "";
        for (int k = 0; k < 30; k++) {
            strcat(text, word[suite_random(&state) % ARRAY_COUNT(word)]);
            strcat(text, " ");
        }
        if (run(text))
            CU_ASSERT_PTR_NOT_NULL_FATAL(unit.text);
    }
    reset();
}

static const struct suite_test tests[] = {{"gives literals their types", test_literals},
                                          {"makes values of the arms of a choice", test_choices},
                                          {"keeps variables of threadgroups", test_threadgroup_variables},
                                          {"takes arrays with address spaces as parameters", test_parameters_of_constant_arrays},
                                          {"drops address spaces of members", test_members},
                                          {"describes kernels", test_kernels},
                                          {"instantiates templates", test_instantiations},
                                          {"keeps one kernel", test_wanted},
                                          {"sets function constants", test_function_constants},
                                          {"reads swizzles in templates", test_swizzles},
                                          {"keeps lines", test_lines_stay},
                                          {"leaves system headers alone", test_system_headers_stay},
                                          {"drops what says nothing", test_others},
                                          {"refuses what is not modelled", test_refusals},
                                          {"survives random texts", test_random_texts}};
SUITE_MAIN("metal pre-pass", tests)
