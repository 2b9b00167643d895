#include "sim/workload/gpu/gpu_setup.h"

#include "sim/workload/gpu/abi_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static bool no_room(const struct abi_kernel *k, const char *what, struct orch_error *error)
{
    return orch_fail(error, ORCH_USAGE, "%.200s: %s does not fit the simulated memory; make the launch smaller", k->path, what);
}

static bool place_buffers(struct gpu_setup *s, const uint64_t *given, struct orch_error *error)
{
    const struct abi_kernel *k = s->kernel;
    for (unsigned i = 0; i < k->args; i++) {
        if (!k->arg[i].buffer)
            continue;
        s->address[i] = given ? given[i] : 0;
        if (!s->address[i])
            s->address[i] = mem_space_alloc(s->space, k->arg[i].bytes, MEM_PAGE_BYTES);
        if (!s->address[i])
            return no_room(k, k->arg[i].name, error);
    }
    for (unsigned i = 0; i < k->args; i++)
        if (k->arg[i].buffer)
            s->buffer[s->launch.buffer_count++] = (struct gpu_buffer){k->arg[i].name, s->address[i], k->arg[i].bytes};
    s->code_address = mem_space_alloc(s->space, k->code_bytes, MEM_PAGE_BYTES);
    uint8_t *code = s->code_address ? mem_at(s->space, s->code_address, k->code_bytes, MEM_WRITE) : NULL;
    if (!code)
        return no_room(k, "the code", error);
    memcpy(code, k->code, k->code_bytes);
    return true;
}

static void fill(const struct abi_arg *arg, uint8_t *to)
{
    if (arg->start == ABI_START_BYTES)
        memcpy(to, arg->initial, arg->bytes);
    else if (arg->start == ABI_START_GENERATED)
        abi_generator_fill(&arg->generator, arg->type, arg->count, to);
    else
        memset(to, 0, arg->bytes);
}

/* The zeros of `fresh` memory are left to the host, which supplies pages of zeros as they are first written. */
static void restore(const struct gpu_setup *s, bool fresh)
{
    for (unsigned i = 0; s->contents && i < s->kernel->args; i++) {
        const struct abi_arg *arg = &s->kernel->arg[i];
        if (fresh && arg->start == ABI_START_ZEROS)
            continue;
        uint8_t *to = arg->buffer ? mem_at(s->space, s->address[i], arg->bytes, MEM_READ | MEM_WRITE) : NULL;
        if (to && s->kept[i])
            memcpy(to, s->kept[i], arg->bytes);
        else if (to && !s->shared)
            fill(arg, to);
    }
}

void gpu_setup_restore(const struct gpu_setup *s)
{
    restore(s, false);
}

/* Frees what was kept. */
static void gpu_setup_forget(struct gpu_setup *s)
{
    for (unsigned i = 0; i < ABI_ARGS_MAX; i++) {
        free(s->kept[i]);
        s->kept[i] = NULL;
    }
}

bool gpu_setup_keep(struct gpu_setup *s, struct orch_error *error)
{
    gpu_setup_forget(s);
    for (unsigned i = 0; s->contents && i < s->kernel->args; i++) {
        const struct abi_arg *arg = &s->kernel->arg[i];
        if (!arg->buffer || arg->unchanged)
            continue;
        s->kept[i] = malloc(arg->bytes);
        if (!s->kept[i])
            return orch_no_memory(error);
        memcpy(s->kept[i], gpu_setup_bytes(s, i), arg->bytes);
    }
    return true;
}

const uint8_t *gpu_setup_bytes(const struct gpu_setup *s, unsigned arg)
{
    return mem_at(s->space, s->address[arg], s->kernel->arg[arg].bytes, MEM_READ);
}

/* ---- uniforms and programs ---- */

static void fill_uniforms(struct gpu_setup *s)
{
    const struct abi_kernel *k = s->kernel;
    uint8_t *block = (uint8_t *)s->uniforms;
    for (unsigned i = 0; i < k->args; i++) {
        const struct abi_arg *arg = &k->arg[i];
        if (arg->buffer)
            memcpy(block + arg->offset, &s->address[i], sizeof s->address[i]);
        else
            memcpy(block + arg->offset, arg->scalar, arg->size);
    }
    memcpy(block + 2 * k->constants_first, k->code + k->constants_offset, 2 * k->constants_count);
}

static bool run_preamble(struct gpu_setup *s, enum gpu_generation generation, struct orch_error *error)
{
    const struct abi_kernel *k = s->kernel;
    struct unit_fault fault = {0};
    if (!k->has_preamble)
        return true;
    struct gpu_program *preamble = gpu_program_create(k->code, k->code_bytes, k->preamble_offset, generation, &fault);
    const bool ok = preamble && gpu_preamble_run(preamble, s->space, s->uniforms, &fault);
    gpu_program_free(preamble);
    return ok || orch_fail_in((gpu_setup_explain(s, &fault, error), error), "preamble");
}

struct gpu_launch gpu_setup_launch(const struct abi_kernel *k, const struct gpu_program *program)
{
    struct gpu_launch launch = {.program = program,
                                .threadgroup_memory_bytes = k->threadgroup_memory_bytes,
                                .stack_bytes_per_thread = 4 * k->stack_words,
                                .register_halves = k->register_halves,
                                .holds_more = k->holds_more};
    if (!launch.register_halves)
        launch.register_halves = gpu_program_register_halves(program);
    memcpy(launch.grid_threads, k->grid, sizeof k->grid);
    memcpy(launch.group_threads, k->group, sizeof k->group);
    return launch;
}

static bool open_setup(struct gpu_setup *s, const struct abi_kernel *k, enum gpu_generation generation, struct mem_space *space,
                       const uint64_t *given, bool steering, struct orch_error *error)
{
    struct unit_fault fault = {0};
    *s = (struct gpu_setup){.kernel = k, .space = space, .shared = given != NULL};
    if (!place_buffers(s, given, error))
        return false;
    s->program = gpu_program_create(k->code, k->code_bytes, k->main_offset, generation, &fault);
    if (!s->program)
        return gpu_setup_explain(s, &fault, error);
    s->contents = !steering || (!k->values_steer_nothing && (k->has_preamble || gpu_program_steered_by_memory(s->program)));
    if (!given)
        restore(s, true);
    fill_uniforms(s);
    const uint32_t named = gpu_program_register_halves(s->program);
    if (k->register_halves && named > k->register_halves)
        return orch_fail(error, ORCH_USAGE,
                         "%.200s: gpr_halfregs: the program names %u register halves, %u are stated; leave "
                         "gpr_halfregs out to have them counted",
                         k->path, named, k->register_halves);
    const size_t buffers = s->launch.buffer_count;
    s->launch = gpu_setup_launch(k, s->program);
    s->launch.uniforms = s->uniforms;
    s->launch.space = space;
    s->launch.buffer = s->buffer;
    s->launch.buffer_count = buffers;
    gpu_launch_groups(&s->launch, s->groups);
    s->group_count = (uint64_t)s->groups[0] * s->groups[1] * s->groups[2];
    return run_preamble(s, generation, error);
}

bool gpu_setup_open(struct gpu_setup *setup, const struct abi_kernel *kernel, enum gpu_generation generation,
                    struct mem_space *space, const uint64_t *given, struct orch_error *error)
{
    return open_setup(setup, kernel, generation, space, given, false, error);
}

bool gpu_setup_open_steering(struct gpu_setup *setup, const struct abi_kernel *kernel, enum gpu_generation generation,
                             struct mem_space *space, const uint64_t *given, struct orch_error *error)
{
    return open_setup(setup, kernel, generation, space, given, true, error);
}

void gpu_setup_close(struct gpu_setup *s)
{
    gpu_setup_forget(s);
    gpu_program_free(s->program);
    s->program = NULL;
}

void gpu_setup_position(const struct gpu_setup *s, uint64_t number, uint32_t position[3])
{
    position[0] = (uint32_t)(number % s->groups[0]);
    position[1] = (uint32_t)(number / s->groups[0] % s->groups[1]);
    position[2] = (uint32_t)(number / s->groups[0] / s->groups[1]);
}

void gpu_setup_start(const struct gpu_setup *s, struct gpu_group *group, uint64_t number, uint32_t core)
{
    uint32_t position[3];
    gpu_setup_position(s, number, position);
    gpu_group_start(group, position, core);
}

uint64_t gpu_setup_instruction_limit(const struct gpu_setup *s)
{
    const uint64_t asked = s->instruction_limit;
    return asked && asked < GPU_WATCHDOG_INSTRUCTIONS ? asked : GPU_WATCHDOG_INSTRUCTIONS;
}

struct gpu_group *gpu_setup_steering_group(const struct gpu_setup *s)
{
    const struct gpu_checks checks = {.steer = true, .instruction_limit = gpu_setup_instruction_limit(s)};
    return gpu_group_create(&s->launch, &checks);
}

/* ---- faults ---- */

/* Writes "; that is element 12 of buffer x, which has 10" for the nearest buffer that begins at or below the address. */
static void near_buffer(const struct gpu_setup *s, uint64_t address, char *text, size_t size)
{
    uint64_t best = UINT64_MAX;
    text[0] = 0;
    for (unsigned i = 0; i < s->kernel->args; i++) {
        const struct abi_arg *arg = &s->kernel->arg[i];
        if (!arg->buffer || address < s->address[i] || address - s->address[i] >= best)
            continue;
        best = address - s->address[i];
        const uint64_t element = best / element_type_bytes(arg->type);
        snprintf(text, size, "; that is element %" PRIu64 " of buffer %s, which has %" PRIu64, element, arg->name, arg->count);
    }
}

bool gpu_setup_explain(const struct gpu_setup *s, const struct unit_fault *fault, struct orch_error *error)
{
    const struct abi_kernel *k = s->kernel;
    const bool memory = fault->kind == UNIT_FAULT_UNMAPPED || fault->kind == UNIT_FAULT_PERMISSION;
    char instruction[AGX_TEXT_BYTES] = "", buffer[160] = "";
    struct agx_inst inst;
    if (fault->kind == UNIT_FAULT_NONE)
        return orch_fail(error, ORCH_INTERNAL, "%.200s: %s", k->path, fault->text[0] ? fault->text : "out of memory");
    if (fault->pc < k->code_bytes && agx_decode(k->code + fault->pc, k->code_bytes - fault->pc, &inst))
        agx_disasm(&inst, instruction, sizeof instruction);
    if (memory)
        near_buffer(s, fault->address, buffer, sizeof buffer);
    const bool repeats = instruction[0] && strncmp(fault->text, instruction, strlen(instruction)) == 0;
    const int code = fault->kind == UNIT_FAULT_UNMODELLED ? ORCH_UNMODELLED
                     : !s->launch.program && !memory      ? ORCH_USAGE
                                                          : ORCH_FAULT;
    return orch_fail(error, code, "%.150s: %.60s: pc 0x%" PRIx64 "%s%.100s: %s%s", k->path, k->code_name, fault->pc,
                     instruction[0] && !repeats ? ": " : "", repeats ? "" : instruction, fault->text, buffer);
}

bool gpu_setup_explain_group(const struct gpu_setup *s, const struct unit_fault *fault, uint64_t number, struct orch_error *error)
{
    uint32_t at[3];
    gpu_setup_position(s, number, at);
    gpu_setup_explain(s, fault, error);
    return orch_fail_more(error, "; threadgroup %u,%u,%u", at[0], at[1], at[2]);
}

/* ---- results ---- */

static bool compare_digest(const struct abi_arg *arg, const uint8_t *got, char *text, size_t size)
{
    uint8_t digest[ABI_DIGEST_BYTES];
    abi_sha256(got, arg->bytes, digest);
    if (memcmp(digest, arg->digest, sizeof digest) == 0)
        return true;
    snprintf(text, size, "its SHA-256 is not the expected one");
    return false;
}

static bool compare_unchanged(const struct abi_arg *arg, const uint8_t *got, char *text, size_t size)
{
    const struct abi_compare bits = {.mode = ABI_COMPARE_BITS};
    uint8_t *start = arg->start == ABI_START_BYTES ? arg->initial : malloc(arg->bytes);
    bool same = false;
    if (!start) {
        snprintf(text, size, "no memory to compare it");
        return false;
    }
    if (start != arg->initial)
        fill(arg, start);
    same = abi_compare(&bits, arg->type, arg->count, got, start, text, size);
    if (start != arg->initial)
        free(start);
    return same;
}

void gpu_setup_compare(const struct gpu_setup *s, unsigned *expected, unsigned *right, char *text, size_t size)
{
    *expected = *right = 0;
    text[0] = 0;
    for (unsigned i = 0; i < s->kernel->args; i++) {
        const struct abi_arg *arg = &s->kernel->arg[i];
        const uint8_t *got = arg->buffer ? gpu_setup_bytes(s, i) : NULL;
        char why[256];
        bool same = true;
        if (!got || (!arg->unchanged && !arg->expected && !arg->has_digest) || arg->constant)
            continue;
        ++*expected;
        if (arg->unchanged)
            same = compare_unchanged(arg, got, why, sizeof why);
        else if (arg->expected)
            same = abi_compare(&arg->compare, arg->type, arg->count, got, arg->expected, why, sizeof why);
        else
            same = compare_digest(arg, got, why, sizeof why);
        *right += same;
        if (!same && !text[0])
            snprintf(text, size, "%s: %s", arg->name, why);
    }
}
