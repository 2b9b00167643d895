/* Arguments of compiled kernels: how they are listed, how people give them; launches written and read back; the cache's text. */
#include "sim/base/json_out.h"
#include "sim/compile/compile_cache.h"
#include "sim/compile/kernel_arguments.h"
#include "sim/compile/kernel_launch.h"
#include "sim/workload/gpu/abi_write.h"
#include "tests/sim/agx_example.h"

#include <string.h>
#include <sys/stat.h>

/* ---- arguments from a function ---- */

static struct ir_function *function(struct ir_module *m)
{
    const struct ir_type *const f32 = ir_float(m, 32), *const i32 = ir_int(m, 32), *const i16 = ir_int(m, 16);
    const struct ir_type *const device = ir_pointer(m, IR_DEVICE), *const local = ir_pointer(m, IR_PRIVATE);
    const struct ir_type *const members[] = {i16, f32, ir_vector(m, i32, 2)};
    const struct ir_type *const list[] = {device, i16, device, f32, ir_vector(m, f32, 4), local, i32};
    static const char *const names[] = {"x", "short_one", "y", NULL, "v", "s", "last"};
    struct ir_function *const f = ir_add_function(m, "k", ir_void(m), list, ARRAY_COUNT(list));
    f->kernel = true;
    f->by_value = ir_alloc(m, ARRAY_COUNT(list) * sizeof *f->by_value);
    f->by_value[5] = ir_struct(m, members, 3, false);
    for (unsigned i = 0; i < f->arguments; i++)
        f->argument[i]->name = names[i];
    struct ir_block *const b = ir_add_block(f, "entry", NULL);
    struct ir_value *index[] = {f->argument[2], f->argument[6]};
    struct ir_value *const place = ir_make(f, IR_GEP, device, index, 2);
    place->held = i16;
    ir_append(b, place);
    ir_append(b, ir_make(f, IR_LOAD, i16, &place, 1));
    ir_append(b, ir_make(f, IR_RETURN, ir_void(m), NULL, 0));
    return f;
}

static void test_listing(void)
{
    static const struct {
        const char *name;
        bool buffer;
        enum element_type type;
        uint32_t offset;
    } rows[] = {{"x", true, ELEMENT_F32, 0},      {"short_one", false, ELEMENT_I16, 8}, {"y", true, ELEMENT_U16, 16},
                {"arg4", false, ELEMENT_F32, 24}, {"v.0", false, ELEMENT_F32, 32},      {"v.1", false, ELEMENT_F32, 36},
                {"v.2", false, ELEMENT_F32, 40},  {"v.3", false, ELEMENT_F32, 44},      {"s.0", false, ELEMENT_U16, 48},
                {"s.1", false, ELEMENT_F32, 52},  {"s.2.0", false, ELEMENT_U32, 56},    {"s.2.1", false, ELEMENT_U32, 60},
                {"last", false, ELEMENT_I32, 64}};
    static const char llvm[] =
        "declare void @k()\ndefine spir_kernel void @k(ptr %x) !kernel_arg_base_type !7 {\n}\n!7 = !{!\"float4*\", "
        "!\"short\", !\"void*\", !\"float\", !\"float4\", !\"struct s\", !\"int\"}\n";
    struct ir_module *const m = ir_module_create();
    struct abi_kernel k = {.path = NULL};
    struct orch_error error = {0};
    CHECK(kernel_arguments(function(m), llvm, &k, &error), "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(k.args, ARRAY_COUNT(rows));
    CU_ASSERT_EQUAL(k.argument_bytes, 68);
    for (unsigned i = 0; i < k.args; i++)
        CHECK(strcmp(k.arg[i].name, rows[i].name) == 0 && k.arg[i].buffer == rows[i].buffer && k.arg[i].type == rows[i].type &&
                  k.arg[i].offset == rows[i].offset,
              "%s %d %s at %u", k.arg[i].name, k.arg[i].buffer, element_type_name(k.arg[i].type), k.arg[i].offset);
    ir_module_free(m);
}

static void test_refused(void)
{
    struct ir_module *const m = ir_module_create();
    const struct ir_type *const local = ir_pointer(m, IR_PRIVATE);
    struct ir_function *const f = ir_add_function(m, "k", ir_void(m), &local, 1);
    struct abi_kernel k = {.path = NULL};
    struct orch_error error = {0};
    CU_ASSERT_FALSE(kernel_arguments(f, "", &k, &error));
    CHECK(error.exit_code == ORCH_UNMODELLED && strstr(error.text, "private"), "%s", error.text);
    ir_module_free(m);
}

/* Parts of threadgroup memory follow what the program has there, at multiples of 16 bytes; all together fit a threadgroup. */
static void test_threadgroup_memory(void)
{
    static const struct {
        const char *args[2], *says; /* NULL: 24 bytes are rounded to 32, then 100 to 112 */
    } rows[] = {{{"threadgroup:100", "threadgroup:1K"}, NULL},
                {{"threadgroup:100", "100"}, "threadgroup:BYTES"},
                {{"threadgroup:16K", "threadgroup:16K"}, "32"},
                {{"threadgroup:1x", "threadgroup:1"}, "threadgroup:BYTES"}};
    struct ir_module *const m = ir_module_create();
    const struct ir_type *const local[] = {ir_pointer(m, IR_THREADGROUP), ir_pointer(m, IR_THREADGROUP)};
    const struct ir_function *const f = ir_add_function(m, "k", ir_void(m), local, 2);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct abi_kernel k = {.name = "k", .threadgroup_memory_bytes = 24};
        struct orch_error error = {0};
        const struct kernel_launch l = {{32, 1, 1}, {32, 1, 1}, rows[i].args, 2};
        uint64_t begin[2];
        CHECK(kernel_arguments(f, "", &k, &error) && k.args == 2 && !k.arg[0].buffer, "%s", error.text);
        const bool ok = kernel_launch_complete(&k, &l, &error);
        CHECK(ok == !rows[i].says && (ok || strstr(error.text, rows[i].says)), "row %zu: %s", i, error.text);
        if (!ok)
            continue;
        memcpy(&begin[0], k.arg[0].scalar, 8);
        memcpy(&begin[1], k.arg[1].scalar, 8);
        CHECK(begin[0] == 32 && begin[1] == 144 && k.threadgroup_memory_bytes == 144 + 1024, "%u bytes",
              k.threadgroup_memory_bytes);
    }
    ir_module_free(m);
}

/* ---- launches ---- */

static struct abi_kernel kernel(void)
{
    struct abi_kernel k = {.name = "k", .group = {0}, .args = 5, .code_bytes = 4, .argument_bytes = 28, .register_halves = 8};
    k.code = calloc(1, 8);
    k.arg[0] = (struct abi_arg){.name = "x", .buffer = true, .type = ELEMENT_F32, .size = 8};
    k.arg[1] = (struct abi_arg){.name = "a", .type = ELEMENT_F32, .offset = 8, .size = 4};
    k.arg[2] = (struct abi_arg){.name = "n", .type = ELEMENT_U32, .offset = 12, .size = 4};
    k.arg[3] = (struct abi_arg){.name = "y", .buffer = true, .type = ELEMENT_F32, .offset = 16, .size = 8};
    k.arg[4] = (struct abi_arg){.name = "grid_threadgroups_x", .type = ELEMENT_U32, .offset = 24, .size = 4};
    return k;
}

static void test_complete(void)
{
    const char *const args[] = {"f32:100:seq", "2.5f", "0x64", "out:f32:10x10:/tmp/never-written.npy"};
    const struct kernel_launch l = {{100, 1, 1}, {32, 1, 1}, args, 4};
    struct abi_kernel k = kernel();
    struct orch_error error = {0};
    float number;
    uint32_t integer;
    CHECK(kernel_launch_complete(&k, &l, &error), "%s", error.text);
    CU_ASSERT_EQUAL(k.arg[0].count, 100);
    CU_ASSERT_EQUAL_FATAL(k.arg[0].start, ABI_START_BYTES);
    memcpy(&number, k.arg[0].initial + 4 * 99, 4);
    CU_ASSERT_EQUAL(number, 99);
    memcpy(&number, k.arg[1].scalar, 4);
    CU_ASSERT_EQUAL(number, 2.5f);
    memcpy(&integer, k.arg[2].scalar, 4);
    CU_ASSERT_EQUAL(integer, 100);
    CU_ASSERT_EQUAL(k.arg[3].start, ABI_START_ZEROS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(k.arg[3].save);
    CU_ASSERT_EQUAL(k.arg[3].save->array.dims, 2);
    memcpy(&integer, k.arg[4].scalar, 4);
    CU_ASSERT_EQUAL(integer, 4);
    abi_kernel_free(&k);
}

/* A number for constant memory is a buffer of it; the type says nothing of signs. */
static void test_constants(void)
{
    static const struct {
        const char *text;
        enum element_type type;
        uint32_t bits;
        const char *says;
    } rows[] = {{"2.5f", ELEMENT_F32, 0x40200000, NULL},       {"-1", ELEMENT_U32, 0xffffffff, NULL},
                {"0xffffffff", ELEMENT_I32, 0xffffffff, NULL}, {"3", ELEMENT_F32, 0x40400000, NULL},
                {"-129", ELEMENT_U8, 0, "does not fit"},       {"1.5f", ELEMENT_U32, 0, "is an integer"}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct abi_kernel k = {.name = "k", .args = 1};
        const struct kernel_launch l = {{32, 1, 1}, {32, 1, 1}, &rows[i].text, 1};
        struct orch_error error = {0};
        uint32_t bits = 0;
        k.arg[0] = (struct abi_arg){.name = "x", .buffer = true, .constant = true, .type = rows[i].type, .size = 8};
        const bool ok = kernel_launch_complete(&k, &l, &error);
        CHECK(ok == !rows[i].says && (ok || strstr(error.text, rows[i].says)), "%s: %s", rows[i].text, error.text);
        if (ok) {
            memcpy(&bits, k.arg[0].initial, sizeof bits);
            CHECK(bits == rows[i].bits && k.arg[0].bytes == 4 && k.arg[0].unchanged, "%s: %08x", rows[i].text, bits);
        }
        abi_kernel_free(&k);
    }
}

static void test_wrong_launches(void)
{
    static const struct {
        uint32_t grid, group, own; /* own: what the source states */
        const char *x, *a, *n;
        const char *says;
    } rows[] = {
        {0, 32, 0, "f32:64", "1f", "1", "--grid"},
        {64, 0, 0, "f32:64", "1f", "1", "--group"},
        {64, 32, 64, "f32:64", "1f", "1", "compiled for threadgroups of 64x1x1"},
        {64, 2048, 0, "f32:64", "1f", "1", "at most 1024"},
        {64, 32, 0, "1", "1f", "1", "x: is a buffer"},
        {64, 32, 0, "f32:64", "f32:4", "1", "a: is a number (f32), not a buffer"},
        {64, 32, 0, "f32:64", "1f", "1.5f", "n: is an integer (u32)"},
        {64, 32, 0, "f32:64", "1f", "-1", "n: does not fit u32"},
        {64, 32, 0, "f32:64", "1f", "0x100000000", "n: does not fit u32"},
        {64, 32, 0, "f32:64", "1f", NULL, "4 arguments, not 2: x (buffer of f32) a (f32)"},
        {64, 32, 0, "f33:64", "1f", "1", "unknown element type"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *const args[] = {rows[i].x, rows[i].a, rows[i].n, "f32:64"};
        const struct kernel_launch l = {{rows[i].grid, rows[i].grid > 0, rows[i].grid > 0},
                                        {rows[i].group, rows[i].group > 0, rows[i].group > 0},
                                        args,
                                        rows[i].n ? 4 : 2};
        struct abi_kernel k = kernel();
        struct orch_error error = {0};
        if (rows[i].own)
            k.group[0] = rows[i].own, k.group[1] = k.group[2] = 1;
        CHECK(!kernel_launch_complete(&k, &l, &error) && error.exit_code == ORCH_USAGE, "row %zu", i);
        CHECK(strstr(error.text, rows[i].says) != NULL, "row %zu: %s", i, error.text);
        abi_kernel_free(&k);
    }
}

static void test_extents(void)
{
    static const struct {
        const char *text;
        bool right;
        uint32_t extent[3];
    } rows[] = {{"64", true, {64, 1, 1}},   {"8x4", true, {8, 4, 1}}, {"2x3x4", true, {2, 3, 4}}, {"", false, {0}},
                {"0", false, {0}},          {"2x", false, {0}},       {"2x3x4x5", false, {0}},    {"-1", false, {0}},
                {"4294967296", false, {0}}, {"2,3", false, {0}},      {"1x0", false, {0}}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t extent[3];
        struct orch_error error = {0};
        CHECK(kernel_launch_extent("grid", rows[i].text, extent, &error) == rows[i].right, "%s", rows[i].text);
        CHECK(!rows[i].right || memcmp(extent, rows[i].extent, sizeof extent) == 0, "%s", rows[i].text);
    }
}

/* What is written is what is read. */
static void test_folder(void)
{
    const char *const args[] = {"f32:100:seq", "0.1f", "4000000000", "in:x"};
    const struct kernel_launch l = {{100, 1, 1}, {32, 1, 1}, args, 0};
    const struct abi_target target = {"g13g", false};
    char folder[] = "/tmp/orchard-launch-XXXXXX";
    struct abi_kernel k = kernel(), back;
    struct orch_error error = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    CHECK(kernel_launch_outline(&k, &l, &error), "%s", error.text);
    k.arg[0].start = ABI_START_BYTES;
    k.arg[0].initial = calloc(1, k.arg[0].bytes);
    k.arg[0].initial[5] = 77;
    memcpy(k.arg[1].scalar, &(float){0.1f}, 4);
    memcpy(k.arg[2].scalar, &(uint32_t){4000000000u}, 4);
    k.arg[3].unchanged = true;
    k.constants_count = 2;
    k.constants_first = 100;
    CHECK(abi_write(&k, NULL, folder, &error), "%s", error.text);
    CHECK(abi_kernel_open(&back, folder, &target, &error), "%s", error.text);
    CU_ASSERT_EQUAL_FATAL(back.args, k.args);
    for (unsigned i = 0; i < k.args; i++) {
        const struct abi_arg *const a = &k.arg[i], *const b = &back.arg[i];
        CHECK(strcmp(a->name, b->name) == 0 && a->buffer == b->buffer && a->type == b->type && a->offset == b->offset &&
                  a->count == b->count && a->unchanged == b->unchanged && memcmp(a->scalar, b->scalar, 8) == 0,
              "%s", a->name);
    }
    CHECK(back.arg[0].initial && memcmp(back.arg[0].initial, k.arg[0].initial, 400) == 0, "contents of %s", back.arg[0].name);
    CU_ASSERT_TRUE(memcmp(back.grid, k.grid, sizeof k.grid) == 0 && memcmp(back.group, k.group, sizeof k.group) == 0);
    CU_ASSERT_TRUE(back.constants_count == 2 && back.constants_first == 100 && back.register_halves == 8);
    abi_kernel_free(&k);
    abi_kernel_free(&back);
    CU_ASSERT_TRUE(suite_remove(folder));
}

/* ---- the cache ---- */

static void test_cache_text(void)
{
    struct compile_line lines[] = {{0, 0, 3}, {8, 0, 4}};
    char *files[] = {(char[]){"k \"x\".cl"}};
    struct compile_result r = {.kernel = kernel(), .line = lines, .lines = 2, .file = files, .files = 1, .spills = 7}, back;
    r.warnings = (char[]){"K.cl:1: warning: \"odd\"\n"};
    memcpy(r.kernel.code, "\x08\xff\x00\x7f", 4);
    json_object *const o = compile_to_json(&r, "0123");
    char *const text = json_line(o);
    CU_ASSERT_TRUE_FATAL(compile_from_json(text, strlen(text), "0123", &back));
    CU_ASSERT_TRUE(back.kernel.code_bytes == 4 && memcmp(back.kernel.code, r.kernel.code, 4) == 0);
    CU_ASSERT_TRUE(back.lines == 2 && back.line[1].offset == 8 && back.line[1].line == 4 && back.spills == 7);
    CU_ASSERT_STRING_EQUAL(back.file[0], files[0]);
    CU_ASSERT_STRING_EQUAL(back.warnings, r.warnings);
    CU_ASSERT_TRUE(back.kernel.args == 5 && strcmp(back.kernel.arg[3].name, "y") == 0 && back.kernel.arg[3].buffer);
    compile_result_free(&back);
    CU_ASSERT_FALSE(compile_from_json(text, strlen(text), "0124", &back));
    compile_result_free(&back);
    for (size_t n = 0; n < strlen(text); n++) {
        CHECK(!compile_from_json(text, n, "0123", &back), "cut at %zu", n);
        compile_result_free(&back);
    }
    free(text);
    free(r.kernel.code);
}

static void test_cache_keys(void)
{
    const struct compile_request base = {.optimise = 2}, rows[] = {{.optimise = 1},
                                                                   {.optimise = 2, .fast_math = true},
                                                                   {.optimise = 2, .entry = "f"},
                                                                   {.optimise = 2}};
    char first[CONTENT_HASH_SIZE], key[CONTENT_HASH_SIZE];
    compile_cache_key(&base, COMPILE_OPENCL, "clang 16", "text", 4, first);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        compile_cache_key(&rows[i], COMPILE_OPENCL, "clang 16", "text", 4, key);
        CHECK((strcmp(key, first) == 0) == (i == 3), "row %zu", i);
    }
    compile_cache_key(&base, COMPILE_OPENCL, "clang 17", "text", 4, key);
    CU_ASSERT_STRING_NOT_EQUAL(key, first);
    compile_cache_key(&base, COMPILE_OPENCL, "clang 16", "texu", 4, key);
    CU_ASSERT_STRING_NOT_EQUAL(key, first);
}

static const struct suite_test tests[] = {
    {"arguments are listed", test_listing},
    {"pointers to private memory are refused", test_refused},
    {"parts of threadgroup memory are placed", test_threadgroup_memory},
    {"launches are completed", test_complete},
    {"wrong launches", test_wrong_launches},
    {"numbers for constant memory", test_constants},
    {"extents", test_extents},
    {"folders read back", test_folder},
    {"entries of the cache read back", test_cache_text},
    {"keys of the cache", test_cache_keys},
};
SUITE_MAIN("kernel launch", tests)
