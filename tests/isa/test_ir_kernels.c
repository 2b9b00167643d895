/* The interpreter, and lowering, against kernels whose results are known: their OpenCL source through clang, read as text, run as
 * their abi.json says, and compared by its rules. Needs clang 16 and the kernels next to the checkout. */
#include "isa/agx/compiler/ir_interpret.h"
#include "isa/agx/compiler/ir_lower.h"
#include "isa/agx/compiler/ir_read.h"
#include "sim/workload/gpu/abi_kernel.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLANG                                                                                                                    \
    "clang-16 -x cl -cl-std=CL3.0 -target spir64 -O%d -Xclang -finclude-default-header -emit-llvm -S -mllvm "                    \
    "-unroll-threshold=300 -gline-tables-only -cl-kernel-arg-info -o - '%s/kernel.cl' 2>/dev/null"

static bool have_clang(void)
{
    return system("clang-16 --version >/dev/null 2>&1") == 0;
}

static char *text_of(const char *folder, int level, size_t *size)
{
    char command[8192];
    snprintf(command, sizeof command, CLANG, level, folder);
    FILE *const pipe = popen(command, "r");
    char *text = NULL;
    size_t room = 0, got;
    *size = 0;
    do {
        room += 1 << 16;
        char *const grown = realloc(text, room);
        if (!grown || !pipe)
            break;
        text = grown;
        got = fread(text + *size, 1, room - *size, pipe);
        *size += got;
    } while (got);
    return pipe && pclose(pipe) == 0 ? text : (free(text), NULL);
}

struct buffers {
    const struct abi_kernel *kernel;
    uint8_t *bytes[ABI_ARGS_MAX];
};

static uint64_t address_of(unsigned argument)
{
    return (uint64_t)(argument + 1) << 32;
}

static void *memory_at(void *context, uint64_t address, uint64_t bytes)
{
    const struct buffers *const b = context;
    const uint64_t argument = (address >> 32) - 1, offset = address & UINT32_MAX;
    if (argument >= b->kernel->args || !b->bytes[argument])
        return NULL;
    const uint64_t size = b->kernel->arg[argument].bytes;
    return offset <= size && bytes <= size - offset ? b->bytes[argument] + offset : NULL;
}

/* Fills the argument block and gives buffers their start contents. */
static void fill(const struct abi_kernel *kernel, struct buffers *b, uint8_t *block)
{
    for (unsigned i = 0; i < kernel->args; i++) {
        const struct abi_arg *const arg = &kernel->arg[i];
        const uint64_t address = address_of(i);
        memcpy(block + arg->offset, arg->buffer ? (const void *)&address : arg->scalar, arg->size);
        b->bytes[i] = arg->buffer ? calloc(1, arg->bytes + 1) : NULL;
        if (arg->buffer && arg->start == ABI_START_BYTES)
            memcpy(b->bytes[i], arg->initial, arg->bytes);
    }
}

static void compare_buffers(const struct abi_kernel *kernel, const struct buffers *b, const char *name)
{
    char text[256] = "";
    for (unsigned i = 0; i < kernel->args; i++) {
        const struct abi_arg *const arg = &kernel->arg[i];
        const uint8_t *const wanted = arg->unchanged ? arg->initial : arg->expected;
        if (arg->buffer && wanted)
            CHECK(abi_compare(&arg->compare, arg->type, arg->count, b->bytes[i], wanted, text, sizeof text), "%s, %s: %s", name,
                  arg->name, text);
    }
}

static bool run(const struct abi_kernel *kernel, const struct ir_function *function, const char *name, struct ir_counts *counts)
{
    struct buffers b = {.kernel = kernel};
    uint8_t *const block = calloc(1, kernel->argument_bytes + 8);
    struct isa_error error = {.text = ""};
    fill(kernel, &b, block);
    struct ir_launch launch = {.arguments = block,
                               .argument_bytes = kernel->argument_bytes,
                               .memory = {memory_at, &b},
                               .most_instructions = 100000000,
                               .counts = counts};
    memcpy(launch.grid, kernel->grid, sizeof launch.grid);
    memcpy(launch.group, kernel->group, sizeof launch.group);
    const bool ran = ir_interpret(function, &launch, &error);
    CHECK(ran, "%s, line %lu: %s", name, error.line, error.text);
    if (ran)
        compare_buffers(kernel, &b, name);
    for (unsigned i = 0; i < kernel->args; i++)
        free(b.bytes[i]);
    free(block);
    return ran;
}

/* One kernel at one level of optimisation; true when it was run. */
static bool check_kernel(const char *folder, const char *name, int level, struct ir_counts *all)
{
    const struct abi_target target = {"g13g", false};
    struct abi_kernel kernel;
    struct orch_error why;
    struct isa_error error = {.text = ""};
    struct ir_counts counts = {0, 0};
    size_t size;
    const bool opened = abi_kernel_open(&kernel, folder, &target, &why);
    char *const text = text_of(folder, level, &size);
    CHECK(opened, "%s: %s", name, why.text);
    CHECK(text != NULL, "clang does not take %s", name);
    struct ir_module *const m = text ? ir_read(text, size, &error) : NULL;
    struct ir_function *const function = m ? ir_find_function(m, name) : NULL;
    CHECK(function != NULL, "%s, line %lu: %s", name, error.line, error.text);
    bool ran = opened && function && run(&kernel, function, name, &counts);
    if (ran) {
        const struct ir_lower_options options = {.fast_math = false};
        const bool lowered = ir_lower(m, function, &options, &error) && ir_verify_lowered(function, &error);
        CHECK(lowered, "%s is not lowered, line %lu: %s", name, error.line, error.text);
        ran = lowered && run(&kernel, function, name, &counts);
    }
    all->lane_steps += counts.lane_steps;
    all->simdgroup_steps += counts.simdgroup_steps;
    if (m)
        ir_module_free(m);
    free(text);
    abi_kernel_free(&kernel);
    return ran;
}

static void check_all(int level)
{
    const char *const shared = suite_shared("kernels/agx");
    if (!shared || !have_clang()) {
        suite_skip(shared ? "clang 16 is not installed" : "the complete kernels are not here");
        return;
    }
    DIR *const list = opendir(shared);
    struct ir_counts counts = {0, 0};
    unsigned ran = 0;
    const clock_t start = clock();
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        char folder[4096], file[4200];
        snprintf(folder, sizeof folder, "%s/%s", shared, entry->d_name);
        snprintf(file, sizeof file, "%s/kernel.cl", folder);
        FILE *const there = entry->d_name[0] == '.' ? NULL : fopen(file, "r");
        if (!there)
            continue;
        fclose(there);
        ran += check_kernel(folder, entry->d_name, level, &counts);
    }
    if (list)
        closedir(list);
    CHECK(ran >= 12, "only %u kernels ran", ran);
    if (getenv("SUITE_TIMES"))
        fprintf(stderr, "  -O%d: %.1f million lane steps in %.2f s\n", level, (double)counts.lane_steps / 1e6,
                (double)(clock() - start) / CLOCKS_PER_SEC);
}

static void test_optimised(void)
{
    check_all(2);
}

/* Straight from the source: variables in memory, loops as they stand, functions that are called. */
static void test_plain(void)
{
    check_all(0);
}

static const struct suite_test tests[] = {
    {"compiled kernels give their results, also when lowered", test_optimised},
    {"so they do without optimisation", test_plain},
};

SUITE_MAIN("ir_kernels", tests)
