#include "tests/opencl/opencl_ways.h"

#include "isa/agx/compiler/agx_compile.h"
#include "isa/agx/compiler/ir_interpret.h"
#include "isa/agx/compiler/ir_lower.h"
#include "isa/agx/compiler/ir_read.h"
#include "sim/compile/clang.h"
#include "sim/compile/kernel_launch.h"
#include "sim/workload/gpu/gpu_functional.h"

#include <stdlib.h>
#include <string.h>

enum { INSTRUCTIONS_MAX = 1 << 24, SPACE_BYTES = 1 << 24, THREADGROUP_ALIGN = 16 };

bool opencl_result_create(struct opencl_result *result, const struct opencl_case *c)
{
    bool good = true;
    for (unsigned i = 0; i < c->args; i++)
        if (c->arg[i].start)
            good = (result->out[i] = calloc(1, c->arg[i].bytes)) != NULL && good;
    return good;
}

void opencl_result_free(struct opencl_result *result)
{
    for (unsigned i = 0; i < OPENCL_ARGS; i++)
        free(result->out[i]);
}

void opencl_outcome_free(struct opencl_outcome *outcome)
{
    for (unsigned w = 0; w < OPENCL_WAYS; w++)
        opencl_result_free(&outcome->result[w]);
}

bool opencl_to_llvm(const char *source, size_t bytes, unsigned level, char **llvm, size_t *llvm_bytes, char *why, size_t size)
{
    static struct clang clang; /* found once for all sources */
    const struct compile_request q = {.path = "kernels.cl", .optimise = level};
    struct orch_error error = {0};
    char *warnings = NULL;
    *llvm = NULL;
    const bool good = (clang.version[0] || clang_find(&clang, &error)) &&
                      clang_compile(&clang, &q, COMPILE_OPENCL, source, bytes, llvm, llvm_bytes, &warnings, &error);
    snprintf(why, size, "%s", error.text);
    free(warnings);
    return good;
}

/* ---- the launch ---- */

struct launch {
    const struct opencl_case *c;
    struct abi_kernel *kernel;
    struct gpu_setup setup;
    struct mem_space *space;
    unsigned place[OPENCL_ARGS]; /* number of the kernel's argument for each of the case */
    uint64_t threadgroup_bytes;  /* of threadgroup memory among the arguments */
    uint32_t threadgroup_begin;  /* what the kernel has by itself */
    char *text;
    size_t text_size;
};

static bool failed(const struct launch *l, const char *way, const char *why)
{
    snprintf(l->text, l->text_size, "%s: %s", way, why);
    return false;
}

static void give_memory(struct launch *l, struct abi_arg *to, const struct opencl_arg *from)
{
    struct abi_kernel *const k = l->kernel;
    const uint32_t begin = (k->threadgroup_memory_bytes + THREADGROUP_ALIGN - 1) / THREADGROUP_ALIGN * THREADGROUP_ALIGN;
    if (!l->threadgroup_bytes)
        l->threadgroup_begin = begin;
    memcpy(to->scalar, &(const uint64_t){begin}, 8);
    k->threadgroup_memory_bytes = begin + (uint32_t)from->bytes;
    l->threadgroup_bytes = k->threadgroup_memory_bytes - l->threadgroup_begin;
}

/* A value is several arguments of the kernel, one for each number in it, at their places. */
static bool give_value(struct launch *l, const struct opencl_arg *from, unsigned *next)
{
    struct abi_kernel *const k = l->kernel;
    const uint32_t begin = *next < k->args ? k->arg[*next].offset : 0;
    for (; *next < k->args; ++*next) {
        struct abi_arg *const to = &k->arg[*next];
        if (to->offset + to->size > begin + from->bytes || to->buffer || to->threadgroup)
            break;
        memcpy(to->scalar, from->value + (to->offset - begin), to->size);
    }
    return true;
}

static bool give_argument(struct launch *l, const struct opencl_arg *from, unsigned *next)
{
    struct abi_arg *const to = &l->kernel->arg[*next];
    if (from->use == OPENCL_VALUE)
        return give_value(l, from, next);
    if (*next >= l->kernel->args || to->buffer != (from->start != NULL) || to->threadgroup != (from->use == OPENCL_LOCAL))
        return failed(l, "launch", "the arguments do not fit those of the kernel");
    ++*next;
    if (from->use == OPENCL_LOCAL) {
        give_memory(l, to, from);
        return true;
    }
    to->count = from->bytes / element_type_bytes(to->type);
    to->bytes = from->bytes;
    to->start = ABI_START_BYTES;
    to->initial = malloc(from->bytes);
    if (to->initial)
        memcpy(to->initial, from->start, from->bytes);
    return to->initial != NULL;
}

static bool prepare(struct launch *l)
{
    unsigned next = 0;
    for (unsigned i = 0; i < l->c->args; i++) {
        l->place[i] = next;
        if (!give_argument(l, &l->c->arg[i], &next))
            return false;
    }
    memcpy(l->kernel->grid, l->c->grid, sizeof l->c->grid);
    memcpy(l->kernel->group, l->c->group, sizeof l->c->group);
    kernel_launch_sizes(l->kernel);
    return true;
}

/* ---- machine code ---- */

static void take(const struct launch *l, struct opencl_result *result)
{
    for (unsigned i = 0; i < l->c->args; i++)
        if (result->out[i])
            memcpy(result->out[i], gpu_setup_bytes(&l->setup, l->place[i]), l->c->arg[i].bytes);
}

static bool execute(struct launch *l, struct opencl_result *result)
{
    struct gpu_totals totals = {0};
    struct gpu_findings findings = {0};
    struct orch_error error = {0};
    const struct gpu_functional options = {.threads = 1,
                                           .cores = 8,
                                           .checks = {.sanitize = true, .poison = true, .instruction_limit = INSTRUCTIONS_MAX},
                                           .findings = &findings};
    gpu_setup_restore(&l->setup);
    bool good = gpu_totals_init(&totals, l->setup.program, &error) && gpu_functional_run(&l->setup, &options, &totals, &error);
    if (!good)
        failed(l, "machine code", error.text);
    else if (findings.count)
        good = failed(l, "machine code", findings.text[0]);
    if (good)
        take(l, result);
    gpu_totals_free(&totals);
    gpu_findings_free(&findings);
    return good;
}

/* ---- the interpreter ---- */

static void *memory_at(void *context, uint64_t address, uint64_t bytes)
{
    return mem_at(context, address, bytes, MEM_READ | MEM_WRITE);
}

static void fill_block(const struct launch *l, uint8_t *block)
{
    for (unsigned i = 0; i < l->kernel->args; i++) {
        const struct abi_arg *const a = &l->kernel->arg[i];
        uint64_t value;
        memcpy(&value, a->scalar, 8);
        if (a->buffer)
            value = l->setup.address[i];
        else if (a->threadgroup)
            value -= l->threadgroup_begin;
        memcpy(block + a->offset, &value, a->size);
    }
}

static bool interpret(const struct launch *l, const struct ir_function *f, const char *way, struct opencl_result *result)
{
    uint8_t block[2048] = {0};
    struct isa_error error = {.text = ""};
    struct ir_launch launch = {.arguments = block,
                               .argument_bytes = l->kernel->argument_bytes,
                               .threadgroup_bytes = l->threadgroup_bytes,
                               .memory = {memory_at, l->space},
                               .most_instructions = INSTRUCTIONS_MAX,
                               .flush_subnormals = true};
    memcpy(launch.grid, l->c->grid, sizeof launch.grid);
    memcpy(launch.group, l->c->group, sizeof launch.group);
    fill_block(l, block);
    gpu_setup_restore(&l->setup);
    if (!ir_interpret(f, &launch, &error))
        return failed(l, way, error.text);
    take(l, result);
    return true;
}

/* The same kernel with fewer registers, if that is possible, in the place of its code. */
static bool execute_tight(struct launch *l, const struct ir_function *f, unsigned halves, struct opencl_outcome *outcome)
{
    const struct agx_compile_options options = {.register_halves = halves};
    const uint32_t group_bytes = l->kernel->threadgroup_memory_bytes;
    struct agx_compiled code;
    struct isa_error why = {.text = ""};
    struct orch_error error = {0};
    if (!halves || !agx_compile(f, &options, &code, &why))
        return !halves || strstr(why.text, "register halves") || failed(l, "machine code in few registers", why.text);
    gpu_setup_close(&l->setup);
    bool good = abi_kernel_take_code(l->kernel, &code.program, &error);
    l->kernel->threadgroup_memory_bytes = group_bytes;
    agx_compiled_free(&code);
    good = good && gpu_setup_open(&l->setup, l->kernel, GPU_G13, l->space, NULL, &error);
    outcome->tight = good && execute(l, &outcome->result[OPENCL_TIGHT]);
    return outcome->tight || failed(l, "machine code in few registers", good ? l->text : error.text);
}

static bool run_all(struct launch *l, const char *llvm, size_t bytes, unsigned halves, struct opencl_outcome *outcome)
{
    const struct ir_lower_options options = {.fast_math = false};
    struct isa_error error = {.text = ""};
    struct ir_module *const m = ir_read(llvm, bytes, &error);
    struct ir_function *const f = m ? ir_find_function(m, l->c->name) : NULL;
    bool good = f ? interpret(l, f, "the interpreter", &outcome->result[OPENCL_READ]) : failed(l, "reading", error.text);
    outcome->unread = f && !good && strstr(l->text, "supported by the interpreter");
    good = good || outcome->unread;
    if (good && !ir_lower(m, f, &options, &error))
        good = failed(l, "lowering", error.text);
    good = good && interpret(l, f, "the interpreter, lowered", &outcome->result[OPENCL_LOWERED]);
    for (unsigned i = 0; good && outcome->unread && i < l->c->args; i++)
        if (l->c->arg[i].start)
            memcpy(outcome->result[OPENCL_READ].out[i], outcome->result[OPENCL_LOWERED].out[i], l->c->arg[i].bytes);
    good = good && execute(l, &outcome->result[OPENCL_MACHINE]) && execute_tight(l, f, halves, outcome);
    ir_module_free(m);
    return good;
}

bool opencl_run(const struct opencl_case *c, const char *llvm, size_t llvm_bytes, unsigned halves, struct opencl_outcome *outcome)
{
    const struct compile_request q = {
        .path = "kernels.ll", .text = llvm, .text_bytes = llvm_bytes, .entry = c->name, .optimise = 2, .fresh = true};
    struct compile_result compiled;
    struct orch_error error = {0};
    struct launch l = {.c = c, .text = outcome->text, .text_size = sizeof outcome->text};
    *outcome = (struct opencl_outcome){.text = ""};
    bool good = true;
    for (unsigned w = 0; w < OPENCL_WAYS; w++)
        good = opencl_result_create(&outcome->result[w], c) && good;
    if (!compile_source(&q, &compiled, &error)) {
        outcome->refused = error.exit_code == ORCH_UNMODELLED;
        good = failed(&l, "compiling", error.text);
    }
    l.kernel = &compiled.kernel;
    l.space = good ? mem_space_create(SPACE_BYTES) : NULL;
    good = good && prepare(&l);
    if (good && !gpu_setup_open(&l.setup, l.kernel, GPU_G13, l.space, NULL, &error))
        good = failed(&l, "launch", error.text);
    good = good && run_all(&l, llvm, llvm_bytes, halves, outcome);
    if (l.space)
        gpu_setup_close(&l.setup);
    mem_space_free(l.space);
    compile_result_free(&compiled);
    return good;
}
