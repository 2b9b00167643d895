#include "sim/workload/gpu/gpu_library.h"

#include "sim/workload/distinct.h"
#include "units/cpu/cpu_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(ABI_ARGS_MAX >= GPU_KERNEL_ARGUMENTS, "every kernel of the library can be described");

bool gpu_library_has(const char *workload)
{
    const char *colon = strchr(workload, ':');
    return colon && gpu_kernel_find(workload, (size_t)(colon - workload));
}

/* ---- steps as launches ---- */

/* For texts within one library: the compiler's checks of snprintf take the whole structure for one object. */
static void copy_text(char *to, size_t size, const char *from)
{
    const size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = 0;
}

/* The element type as descriptions count elements: quantised blocks count as bytes. */
static enum element_type type_of(enum gpu_type type)
{
    static const enum element_type types[GPU_TYPE_COUNT] = {
        [GPU_F32] = ELEMENT_F32, [GPU_F16] = ELEMENT_F16, [GPU_BF16] = ELEMENT_BF16, [GPU_I32] = ELEMENT_I32,
        [GPU_U32] = ELEMENT_U32, [GPU_U8] = ELEMENT_U8,   [GPU_Q4_0] = ELEMENT_U8,   [GPU_Q8_0] = ELEMENT_U8,
        [GPU_Q4_K] = ELEMENT_U8, [GPU_Q6_K] = ELEMENT_U8,
    };
    return types[type];
}

void gpu_library_set_buffer(struct abi_arg *arg, const struct gpu_kernel_buffer *b, uint64_t offset_bytes)
{
    copy_text(arg->name, sizeof b->name, b->name);
    arg->buffer = true;
    arg->type = type_of(b->type);
    arg->size = 8;
    arg->bytes = gpu_type_bytes(b->type, b->count) - offset_bytes;
    arg->count = arg->bytes / element_type_bytes(arg->type);
    arg->unchanged = b->role == GPU_BUFFER_INPUT;
}

static void set_scalar(struct abi_arg *arg, uint64_t value)
{
    snprintf(arg->name, sizeof arg->name, "at%u", arg->offset);
    arg->type = ELEMENT_U32;
    arg->size = 4;
    memcpy(arg->scalar, &value, sizeof arg->scalar);
}

static void set_arguments(struct gpu_library *l, unsigned number)
{
    const struct gpu_kernel_step *s = &l->kernel.step[number];
    struct abi_kernel *k = &l->step[number];
    for (unsigned i = 0; i < s->arguments; i++) {
        const struct gpu_kernel_argument *a = &s->argument[i];
        struct abi_arg *arg = &k->arg[k->args];
        arg->offset = a->offset_bytes;
        if (a->kind == GPU_ARGUMENT_BUFFER)
            gpu_library_set_buffer(arg, &l->kernel.buffer[a->buffer], a->value);
        else
            set_scalar(arg, a->value);
        l->place[number][k->args++] = (struct gpu_library_place){a->buffer, a->value};
    }
}

static bool set_step(struct gpu_library *l, unsigned number, struct orch_error *error)
{
    const struct gpu_kernel_step *s = &l->kernel.step[number];
    const struct agx_assembly *code = &s->code;
    struct abi_kernel *k = &l->step[number];
    *k = (struct abi_kernel){.path = strdup(l->text),
                             .code = malloc(code->code_bytes),
                             .code_bytes = code->code_bytes,
                             .main_offset = (uint32_t)code->main_offset,
                             .preamble_offset = (uint32_t)code->preamble_offset,
                             .has_preamble = code->has_preamble,
                             .constants_offset = (uint32_t)code->constants_offset,
                             .constants_first = code->constant_first_half,
                             .constants_count = code->constant_halves,
                             .argument_bytes = code->argument_bytes,
                             .register_halves = code->register_halves,
                             .threadgroup_memory_bytes = code->threadgroup_memory_bytes,
                             .stack_words = code->stack_words};
    if (!k->path || !k->code)
        return orch_no_memory(error);
    memcpy(k->code, code->code, code->code_bytes);
    memcpy(k->grid, s->grid_threads, sizeof k->grid);
    memcpy(k->group, s->group_threads, sizeof k->group);
    copy_text(k->name, sizeof k->name, l->request.info->name);
    copy_text(k->code_name, sizeof k->code_name, s->variant);
    set_arguments(l, number);
    return true;
}

bool gpu_library_open(struct gpu_library *l, const char *workload, const char *precision, enum gpu_generation generation,
                      uint32_t cores, struct orch_error *error)
{
    struct isa_error why = {0};
    memset(l, 0, sizeof *l);
    l->request.generation = generation;
    l->request.cores = cores;
    if (!gpu_kernel_parse(workload, precision, &l->request, &why) || !gpu_kernel_build(&l->request, &l->kernel, &why))
        return orch_fail(error, ORCH_USAGE, "%s", why.text);
    const int length = gpu_kernel_describe(&l->request, l->text, sizeof l->text);
    if (length > 0 && (size_t)length < sizeof l->text)
        snprintf(l->text + length, sizeof l->text - (size_t)length, " %s", gpu_type_name(l->request.type));
    for (unsigned i = 0; i < l->kernel.steps; i++)
        if (!set_step(l, i, error))
            return false;
    return true;
}

void gpu_library_close(struct gpu_library *l)
{
    for (unsigned i = 0; i < GPU_KERNEL_STEPS; i++)
        abi_kernel_free(&l->step[i]);
    for (unsigned i = 0; i < GPU_KERNEL_BUFFERS; i++)
        free(l->fixed[i]);
    gpu_kernel_free(&l->kernel);
}

/* ---- buffers ---- */

double gpu_library_bytes(const struct gpu_library *l)
{
    double sum = 0;
    for (unsigned i = 0; i < l->kernel.buffers; i++)
        sum += (double)gpu_type_bytes(l->kernel.buffer[i].type, l->kernel.buffer[i].count);
    return sum;
}

static double next_number(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(cpu_random(state) >> 11) * 0x1p-53;
}

/* Fills blocks of ggml: scales in half precision come first (two of them in q4_k; in q6_k last), then packed numbers, for which
 * any bits will do. The scales are chosen so that the weights stay within the buffer's range. */
static void fill_blocks(const struct gpu_kernel_buffer *b, uint8_t *to, uint64_t bytes, uint64_t *state)
{
    const uint64_t block = gpu_type_bytes(b->type, 1);
    const unsigned scales = b->type == GPU_Q4_K ? 2 : 1;
    const uint64_t first = b->type == GPU_Q6_K ? block - 2 : 0;
    const double steps = b->type == GPU_Q8_0 ? 256 : b->type == GPU_Q4_K ? 16 * 64 : b->type == GPU_Q6_K ? 64 * 256 : 16;
    for (uint64_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(cpu_random(state) >> 56);
    for (uint64_t at = 0; at + block <= bytes; at += block)
        for (unsigned s = 0; s < scales; s++)
            element_write(ELEMENT_F16, next_number(state, 0.5, 1) * (b->high - b->low) / steps, to + at + first + 2 * s);
}

static void fill_input(const struct gpu_kernel_buffer *b, uint8_t *to, uint64_t bytes, uint64_t state)
{
    const enum element_type type = type_of(b->type);
    const bool whole = !element_type_float(type);
    if (b->type >= GPU_Q4_0) {
        fill_blocks(b, to, bytes, &state);
        return;
    }
    if (b->distinct) {
        distinct_fill(type, b->count, b->low, b->high, state, to);
        return;
    }
    for (uint64_t i = 0; i < b->count; i++) {
        const double number = next_number(&state, b->low, b->high);
        element_write(type, whole ? (double)(int64_t)number : number, to + i * element_type_bytes(type));
    }
}

static bool place(const struct gpu_library *l, unsigned i, struct mem_space *space, uint64_t given, bool contents, uint64_t seed,
                  uint64_t *address, struct orch_error *error)
{
    const struct gpu_kernel_buffer *b = &l->kernel.buffer[i];
    const uint64_t bytes = gpu_type_bytes(b->type, b->count);
    *address = given ? given : mem_space_alloc(space, bytes, MEM_PAGE_BYTES);
    uint8_t *to = *address ? mem_at(space, *address, bytes, MEM_READ | MEM_WRITE) : NULL;
    if (!to && given)
        return orch_fail(error, ORCH_USAGE, "%.200s: buffer %s at 0x%" PRIx64 " is shorter than %" PRIu64 " bytes", l->text,
                         b->name, given, bytes);
    if (!to)
        return orch_fail(error, ORCH_USAGE, "%.200s: %s does not fit the simulated memory; make the shape smaller", l->text,
                         b->name);
    if (l->fixed[i])
        memcpy(to, l->fixed[i], bytes);
    if (l->fixed[i] || given || !contents || (l->empty && !b->places))
        return true;
    if (b->role == GPU_BUFFER_INPUT || b->role == GPU_BUFFER_IN_OUT)
        fill_input(b, to, bytes, seed * GPU_KERNEL_BUFFERS + i);
    else
        memset(to, 0, bytes);
    return true;
}

bool gpu_library_place(const struct gpu_library *l, struct mem_space *space, const uint64_t *given, bool contents, uint64_t seed,
                       uint64_t *address, struct orch_error *error)
{
    unsigned next = 0;
    for (unsigned i = 0; i < l->kernel.buffers; i++) {
        const bool named = given && l->kernel.buffer[i].role != GPU_BUFFER_SCRATCH;
        if (!place(l, i, space, named ? given[next++] : 0, contents, seed, &address[i], error))
            return false;
    }
    return true;
}

bool gpu_library_steered(const struct gpu_library *l, enum gpu_generation generation, bool *steered, struct orch_error *error)
{
    *steered = false;
    for (unsigned i = 0; i < l->kernel.steps && !*steered; i++) {
        const struct abi_kernel *k = &l->step[i];
        struct unit_fault fault = {0};
        struct gpu_program *program = gpu_program_create(k->code, k->code_bytes, k->main_offset, generation, &fault);
        if (!program)
            return orch_fail(error, ORCH_INTERNAL, "%.200s: %s", l->text, fault.text);
        *steered = !k->values_steer_nothing && (k->has_preamble || gpu_program_steered_by_memory(program));
        gpu_program_free(program);
    }
    return true;
}
