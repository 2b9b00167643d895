/* Programs as text: lines, registers, arguments, masks. */
#include "units/gpu/kernels/gpu_emit.h"

#include "isa/agx/agx_minifloat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERAND_TEXTS = 64, OPERAND_BYTES = 48, NESTING_MAX = 24, FIRST_REGISTER = 1, THREADGROUP_ALIGN = 16 };
enum { THREADGROUP_BYTES_MAX = 32 << 10 }; /* Metal feature set tables */

struct nesting {
    bool is_loop;
    unsigned label; /* loop: its top; if: where the lanes rejoin, or the else part */
};

struct gpu_emit {
    struct gpu_kernel_step *step;
    struct isa_error *error;
    char *text;
    size_t length, room;
    bool failed;
    uint8_t used[AGX_REGISTERS];
    unsigned labels, depth;
    struct nesting nesting[NESTING_MAX];
    char operand[OPERAND_TEXTS][OPERAND_BYTES];
    unsigned next_operand;
    uint32_t argument_bytes, threadgroup_bytes;
};

/* Records a builder's own failure, which gpu_emit_end reports. */
__attribute__((format(printf, 2, 3))) static void gpu_emit_fail(struct gpu_emit *e, const char *format, ...)
{
    va_list args;
    if (!e || e->failed)
        return;
    e->failed = true;
    va_start(args, format);
    *e->error = (struct isa_error){.line = 0};
    vsnprintf(e->error->text, sizeof e->error->text, format, args);
    va_end(args);
}

/* ---- a step ---- */

struct gpu_emit *gpu_emit_begin(struct gpu_kernel *kernel, const char *variant, struct isa_error *error)
{
    struct gpu_emit *e = calloc(1, sizeof *e);
    if (!e || kernel->steps == GPU_KERNEL_STEPS) {
        if (e)
            kernel_refuse(error, "the kernel takes more than %d launches", GPU_KERNEL_STEPS);
        else
            kernel_refuse(error, "out of memory");
        free(e);
        return NULL;
    }
    e->step = &kernel->step[kernel->steps++];
    e->error = error;
    snprintf(e->step->variant, sizeof e->step->variant, "%s", variant);
    gpu_emit(e, "mov_imm r0l, 0");
    return e;
}

/* Writes the directives that give the assembly what it must know of the launch. */
static void directives(struct gpu_emit *e)
{
    const struct gpu_kernel_step *step = e->step;
    for (unsigned i = 0; i < step->arguments; i++)
        gpu_emit(e, ".arg argument_%u %s", i, step->argument[i].kind == GPU_ARGUMENT_BUFFER ? "u64" : "u32");
    gpu_emit(e, ".local_size %u %u %u", (unsigned)step->group_threads[0], (unsigned)step->group_threads[1],
             (unsigned)step->group_threads[2]);
    if (e->threadgroup_bytes)
        gpu_emit(e, ".threadgroup_memory %u", (unsigned)e->threadgroup_bytes);
}

static bool assemble(struct gpu_emit *e)
{
    struct isa_error error = {.line = 0};
    if (agx_assemble(e->text, e->length, &e->step->code, &error))
        return true;
    gpu_emit_fail(e, "%s: line %lu of the program: %.180s", e->step->variant, error.line, error.text);
    return false;
}

bool gpu_emit_end(struct gpu_emit *e)
{
    if (!e)
        return false;
    if (e->depth)
        gpu_emit_fail(e, "%s: an open block", e->step->variant);
    if (e->threadgroup_bytes > THREADGROUP_BYTES_MAX)
        gpu_emit_fail(e, "%s: %u bytes of threadgroup memory, of which there are %d", e->step->variant,
                      (unsigned)e->threadgroup_bytes, THREADGROUP_BYTES_MAX);
    gpu_emit(e, "stop");
    directives(e);
    const bool ok = !e->failed && assemble(e);
    free(e->text);
    free(e);
    return ok;
}

void gpu_emit_grid(struct gpu_emit *e, uint32_t x, uint32_t y, uint32_t z, uint32_t group_x, uint32_t group_y, uint32_t group_z)
{
    if (!e)
        return;
    const uint32_t grid[3] = {x, y, z}, group[3] = {group_x, group_y, group_z};
    memcpy(e->step->grid_threads, grid, sizeof grid);
    memcpy(e->step->group_threads, group, sizeof group);
}

static bool reserve(struct gpu_emit *e, size_t bytes)
{
    if (e->length + bytes <= e->room)
        return true;
    const size_t room = 2 * (e->length + bytes) + 4096;
    char *text = realloc(e->text, room);
    if (!text) {
        gpu_emit_fail(e, "out of memory");
        return false;
    }
    e->text = text;
    e->room = room;
    return true;
}

void gpu_emit(struct gpu_emit *e, const char *format, ...)
{
    char line[256];
    va_list args;
    if (!e || e->failed)
        return;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof line) {
        gpu_emit_fail(e, "%s: a line longer than %zu characters", e->step->variant, sizeof line);
        return;
    }
    if (!reserve(e, (size_t)length + 2))
        return;
    memcpy(e->text + e->length, line, (size_t)length);
    e->length += (size_t)length;
    e->text[e->length++] = '\n';
    e->text[e->length] = '\0';
}

/* ---- registers ---- */

static bool is_free(const struct gpu_emit *e, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        if (e->used[i])
            return false;
    return true;
}

unsigned gpu_register(struct gpu_emit *e, unsigned count)
{
    if (!e)
        return FIRST_REGISTER;
    for (unsigned first = FIRST_REGISTER; first + count <= AGX_REGISTERS; first++)
        if (is_free(e, first, count)) {
            memset(e->used + first, 1, count);
            return first;
        }
    gpu_emit_fail(e, "%s: more than %d registers are needed", e->step->variant, AGX_REGISTERS);
    return FIRST_REGISTER;
}

void gpu_register_free(struct gpu_emit *e, unsigned first, unsigned count)
{
    if (e && first + count <= AGX_REGISTERS)
        memset(e->used + first, 0, count);
}

uint32_t gpu_threadgroup_memory(struct gpu_emit *e, uint32_t bytes)
{
    if (!e)
        return 0;
    const uint32_t at = e->threadgroup_bytes;
    e->threadgroup_bytes += (bytes + THREADGROUP_ALIGN - 1) / THREADGROUP_ALIGN * THREADGROUP_ALIGN;
    return at;
}

/* ---- operands ---- */

static char *operand_text(struct gpu_emit *e)
{
    return e->operand[e->next_operand++ % OPERAND_TEXTS];
}

const char *gpu_r(struct gpu_emit *e, unsigned number)
{
    return gpu_run(e, number, 1);
}

const char *gpu_run(struct gpu_emit *e, unsigned first, unsigned count)
{
    if (!e)
        return "";
    char *text = operand_text(e);
    size_t used = 0;
    for (unsigned i = 0; i < count && used < OPERAND_BYTES; i++)
        used += (size_t)snprintf(text + used, OPERAND_BYTES - used, "%sr%u", i ? "_" : "", first + i);
    return text;
}

const char *gpu_h(struct gpu_emit *e, unsigned half)
{
    return gpu_half_run(e, half, 1);
}

const char *gpu_half_run(struct gpu_emit *e, unsigned half, unsigned count)
{
    if (!e)
        return "";
    char *text = operand_text(e);
    size_t used = 0;
    for (unsigned i = half; i < half + count && used < OPERAND_BYTES; i++)
        used += (size_t)snprintf(text + used, OPERAND_BYTES - used, "%sr%u%c", i > half ? "_" : "", i / 2, i & 1 ? 'h' : 'l');
    return text;
}

const char *gpu_int(struct gpu_emit *e, uint32_t value)
{
    if (!e)
        return "";
    if (value > 255)
        return gpu_argument_u32(e, value);
    char *text = operand_text(e);
    snprintf(text, OPERAND_BYTES, "%u", (unsigned)value);
    return text;
}

const char *gpu_float(struct gpu_emit *e, float value)
{
    if (!e)
        return "";
    for (unsigned code = 0; code < 256; code++)
        if (agx_minifloat_bits((uint8_t)code) == f32_bits(value)) {
            char *text = operand_text(e);
            snprintf(text, OPERAND_BYTES, "%.9g", (double)value);
            if (!strchr(text, '.'))
                snprintf(text + strlen(text), OPERAND_BYTES - strlen(text), ".0");
            return text;
        }
    return gpu_argument_u32(e, f32_bits(value));
}

/* ---- arguments ---- */

static unsigned argument(struct gpu_emit *e, struct gpu_kernel_argument wanted, uint32_t bytes)
{
    struct gpu_kernel_step *step = e->step;
    for (unsigned i = 0; i < step->arguments; i++) {
        const struct gpu_kernel_argument *a = &step->argument[i];
        if (a->kind == wanted.kind && a->buffer == wanted.buffer && a->value == wanted.value)
            return a->offset_bytes / 4;
    }
    if (step->arguments == GPU_KERNEL_ARGUMENTS) {
        gpu_emit_fail(e, "%s: more than %d arguments", step->variant, GPU_KERNEL_ARGUMENTS);
        return 0;
    }
    e->argument_bytes = (e->argument_bytes + bytes - 1) / bytes * bytes;
    wanted.offset_bytes = (uint16_t)e->argument_bytes;
    e->argument_bytes += bytes;
    step->argument[step->arguments++] = wanted;
    return wanted.offset_bytes / 4u;
}

struct gpu_base gpu_argument_buffer(struct gpu_emit *e, unsigned buffer, uint64_t offset_bytes)
{
    const struct gpu_kernel_argument wanted = {.kind = GPU_ARGUMENT_BUFFER, .buffer = (uint16_t)buffer, .value = offset_bytes};
    return (struct gpu_base){.number = e ? argument(e, wanted, 8) : 0};
}

struct gpu_base gpu_register_base(unsigned first)
{
    return (struct gpu_base){.in_registers = true, .number = first};
}

const char *gpu_argument_u32(struct gpu_emit *e, uint32_t value)
{
    if (!e)
        return "";
    const struct gpu_kernel_argument wanted = {.kind = GPU_ARGUMENT_U32, .value = value};
    char *text = operand_text(e);
    snprintf(text, OPERAND_BYTES, "u%u", argument(e, wanted, 4));
    return text;
}

const char *gpu_argument_u16(struct gpu_emit *e, uint16_t value)
{
    if (!e)
        return "";
    const struct gpu_kernel_argument wanted = {.kind = GPU_ARGUMENT_U32, .value = value};
    char *text = operand_text(e);
    snprintf(text, OPERAND_BYTES, "u%ul", argument(e, wanted, 4));
    return text;
}

/* ---- masks ---- */

static struct nesting *open_block(struct gpu_emit *e, bool is_loop)
{
    if (e->depth == NESTING_MAX) {
        gpu_emit_fail(e, "%s: more than %d nested blocks", e->step->variant, NESTING_MAX);
        return NULL;
    }
    e->nesting[e->depth] = (struct nesting){.is_loop = is_loop, .label = e->labels++};
    return &e->nesting[e->depth++];
}

static struct nesting *close_block(struct gpu_emit *e, bool is_loop)
{
    if (e->depth == 0 || e->nesting[e->depth - 1].is_loop != is_loop) {
        gpu_emit_fail(e, "%s: a block is closed that is not open", e->step->variant);
        return NULL;
    }
    return &e->nesting[--e->depth];
}

void gpu_if(struct gpu_emit *e, const char *condition, const char *a, const char *b)
{
    struct nesting *block = e ? open_block(e, false) : NULL;
    if (!block)
        return;
    gpu_emit(e, "if_icmp r0l, %s, %s, %s, 1", condition, a, b);
    gpu_emit(e, "jmp_exec_none L%u", block->label);
}

void gpu_else(struct gpu_emit *e)
{
    struct nesting *block = e ? close_block(e, false) : NULL;
    if (!block)
        return;
    e->depth++;
    const unsigned end = e->labels++;
    gpu_emit(e, "L%u:", block->label);
    gpu_emit(e, "else_fcmp r0l, eq, 0.0, 0.0, 1");
    gpu_emit(e, "jmp_exec_none L%u", end);
    block->label = end;
}

void gpu_endif(struct gpu_emit *e)
{
    const struct nesting *block = e ? close_block(e, false) : NULL;
    if (!block)
        return;
    gpu_emit(e, "L%u:", block->label);
    gpu_emit(e, "pop_exec r0l, 1");
}

/* Lanes that are inactive further out get one more level, which the pop after the loop removes again: their counter must not mean
 * "left this loop". */
void gpu_do(struct gpu_emit *e)
{
    const bool inside = e && e->depth > 0;
    const struct nesting *block = e ? open_block(e, true) : NULL;
    if (!block)
        return;
    if (inside)
        gpu_emit(e, "push_exec r0l, 1");
    gpu_emit(e, "L%u:", block->label);
}

void gpu_while(struct gpu_emit *e, const char *condition, const char *a, const char *b)
{
    const struct nesting *block = e ? close_block(e, true) : NULL;
    if (!block)
        return;
    gpu_emit(e, "while_icmp r0l, %s, %s, %s, 1", condition, a, b);
    gpu_emit(e, "jmp_exec_any L%u", block->label);
    gpu_emit(e, "pop_exec r0l, 1");
}

void gpu_barrier(struct gpu_emit *e)
{
    gpu_emit(e, "threadgroup_barrier");
}
