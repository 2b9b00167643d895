#include "sim/workload/cpu/cpu_kernel.h"

#include "isa/array_count.h"
#include "isa/elf/elf_write.h"
#include "sim/base/checksum.h"
#include "isa/a64/a64_emit.h"
#include "units/cpu/cpu_random.h"
#include "units/kernel_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registers: x0 out, x1 a, x2 b, x3 whole turns of the main loop, x4 elements left over; v31 has the scalar in every lane. */
enum { OUT, A, B, TURNS, REST, SCALAR_V = 31 };
#define TURN_BYTES 128u
#define CODE_ADDR  ELF_WRITE_ALIGN

static const struct kernel_info kernels[] = {
    [CPU_STREAM_COPY] = {"copy", "BYTES", "cpu", "f32 f64", "out = a; BYTES of each array"},
    [CPU_STREAM_SCALE] = {"stream-scale", "BYTES[,s=S]", "cpu", "f32 f64", "out = s * a; BYTES of each array"},
    [CPU_STREAM_ADD] = {"stream-add", "BYTES", "cpu", "f32 f64", "out = a + b; BYTES of each array"},
    [CPU_STREAM_TRIAD] = {"stream-triad", "BYTES[,s=S]", "cpu", "f32 f64", "out = a + s * b; BYTES of each array"},
};
#define KERNELS (ARRAY_COUNT(kernels))

static const struct kernel_parameter parameters[] = {
    {.name = "bytes", .least = 4, .most = INT64_C(1) << 34, .required = true},
    {.name = "s", .missing = 3, .least = -65504, .most = 65504, .decimal = true},
    {.name = NULL},
};
static const struct kernel_parameter only_bytes[] = {
    {.name = "bytes", .least = 4, .most = INT64_C(1) << 34, .required = true},
    {.name = NULL},
};

size_t cpu_kernel_count(void)
{
    return KERNELS;
}

const struct kernel_info *cpu_kernel_at(size_t index)
{
    return index < KERNELS ? &kernels[index] : NULL;
}

bool cpu_kernel_has(const char *workload)
{
    return kernel_info_find(kernels, KERNELS, workload) != NULL;
}

static unsigned element_bytes(const struct cpu_kernel *k)
{
    return k->is_f64 ? 8 : 4;
}

static unsigned inputs_of(const struct cpu_kernel *k)
{
    return k->operation >= CPU_STREAM_ADD ? 2 : 1;
}

const char *cpu_kernel_precision(const struct cpu_kernel *k)
{
    return k->is_f64 ? "f64" : "f32";
}

bool cpu_kernel_open(struct cpu_kernel *k, const char *workload, const char *precision, struct orch_error *error)
{
    int64_t value[2] = {0};
    double decimal[2] = {0};
    struct isa_error why = {0};
    *k = (struct cpu_kernel){.info = kernel_info_find(kernels, KERNELS, workload)};
    if (!k->info)
        return orch_fail(error, ORCH_USAGE, "%.60s is not a kernel of the CPU", workload);
    k->operation = (enum cpu_stream)(k->info - kernels);
    const bool scaled = k->operation == CPU_STREAM_SCALE || k->operation == CPU_STREAM_TRIAD;
    const struct kernel_form form = {k->info->name, k->info->grammar, 1, scaled ? parameters : only_bytes};
    if (precision && strcmp(precision, "f32") != 0 && strcmp(precision, "f64") != 0)
        return orch_fail(error, ORCH_USAGE, "%s on cpu has no precision %.20s; it has %s", k->info->name, precision,
                         k->info->precisions);
    k->is_f64 = precision && strcmp(precision, "f64") == 0;
    if (!kernel_text_read(&form, workload + strlen(k->info->name) + 1, value, decimal, &why))
        return orch_fail(error, ORCH_USAGE, "%s", why.text);
    k->bytes = (uint64_t)value[0];
    k->scalar = decimal[1];
    if (k->bytes % element_bytes(k))
        return orch_fail(error, ORCH_USAGE, "%s: %llu bytes are no whole number of %s elements", k->info->name,
                         (unsigned long long)k->bytes, cpu_kernel_precision(k));
    const double elements = (double)(k->bytes / element_bytes(k));
    k->flops = k->operation == CPU_STREAM_COPY ? 0 : k->operation == CPU_STREAM_TRIAD ? 2 * elements : elements;
    k->min_bytes = (inputs_of(k) + 1.0) * (double)k->bytes;
    kernel_text_write(&form, value, decimal, k->text, sizeof k->text);
    return true;
}

/* ---- the program; encodings: Arm ARM (DDI 0487) ---- */

/* Emits v = operation(v, v + 2) for the vector registers v = d and d + 1. */
static void emit_vectors(struct emit *e, const struct cpu_kernel *k, unsigned d)
{
    const uint32_t wide = k->is_f64 ? UINT32_C(1) << 22 : 0;
    for (unsigned v = d; v < d + 2; v++) {
        if (k->operation == CPU_STREAM_SCALE)
            emit_word(e, emit_rd_rn_rm(0x6e20dc00 | wide, v, v, SCALAR_V)); /* fmul */
        else if (k->operation == CPU_STREAM_ADD)
            emit_word(e, emit_rd_rn_rm(0x4e20d400 | wide, v, v, v + 2)); /* fadd */
        else if (k->operation == CPU_STREAM_TRIAD)
            emit_word(e, emit_rd_rn_rm(0x4e20cc00 | wide, v, v + 2, SCALAR_V)); /* fmla */
    }
}

static void emit_turn(struct emit *e, const struct cpu_kernel *k)
{
    for (unsigned i = 0; i < TURN_BYTES / 32; i++) {
        const int offset = 32 * (int)i;
        emit_ldp_q(e, 4 * i, A, offset);
        if (inputs_of(k) == 2)
            emit_ldp_q(e, 4 * i + 2, B, offset);
        emit_vectors(e, k, 4 * i);
        emit_stp_q(e, 4 * i, OUT, offset);
    }
    emit_add(e, OUT, OUT, TURN_BYTES);
    emit_add(e, A, A, TURN_BYTES);
    emit_add(e, B, B, TURN_BYTES);
}

/* Emits the work on one element. Its loads and its store advance their pointers. */
static void emit_element(struct emit *e, const struct cpu_kernel *k)
{
    const uint32_t wide = k->is_f64 ? UINT32_C(1) << 22 : 0, step = element_bytes(k) << 12;
    const uint32_t load = (k->is_f64 ? UINT32_C(0xfc400400) : UINT32_C(0xbc400400)) | step;
    emit_word(e, load | A << 5 | 0);
    if (inputs_of(k) == 2)
        emit_word(e, load | B << 5 | 2);
    if (k->operation == CPU_STREAM_SCALE)
        emit_word(e, emit_rd_rn_rm(0x1e200800 | wide, 0, 0, SCALAR_V)); /* fmul */
    else if (k->operation == CPU_STREAM_ADD)
        emit_word(e, emit_rd_rn_rm(0x1e202800 | wide, 0, 0, 2)); /* fadd */
    else if (k->operation == CPU_STREAM_TRIAD)
        emit_word(e, emit_rd_rn_rm(0x1f000000 | wide, 0, 2, SCALAR_V)); /* fmadd, addend register 0 */
    emit_word(e, (load & ~UINT32_C(0x00400000)) | OUT << 5 | 0);
}

/* Emits a loop that counts register x down to 0; it is skipped when x is 0 at the start. */
static void emit_counted(struct emit *e, const struct cpu_kernel *k, unsigned x,
                         void (*body)(struct emit *, const struct cpu_kernel *))
{
    const size_t skip = e->count;
    emit_word(e, UINT32_C(0xb4000000) | x); /* cbz to the end of the loop */
    const size_t top = e->count;
    body(e, k);
    emit_loop_end(e, x, top);
    if (!e->failed)
        e->word[skip] |= (uint32_t)(e->count - skip) << 5;
}

uint8_t *cpu_kernel_elf(const struct cpu_kernel *k, size_t *size, struct orch_error *error)
{
    struct emit e = {0};
    struct isa_error why = {0};
    emit_counted(&e, k, TURNS, emit_turn);
    emit_counted(&e, k, REST, emit_element);
    emit_word(&e, UINT32_C(0xd65f03c0)); /* ret */
    const struct elf_label label = {CPU_KERNEL_ENTRY, CODE_ADDR, e.count * 4, true};
    const struct elf_program program = {
        .code = {CODE_ADDR, e.word, e.count * 4}, .labels = &label, .label_count = 1, .entry = CPU_KERNEL_ENTRY};
    uint8_t *file = e.failed ? NULL : elf_write(&program, size, &why);
    if (!file)
        orch_fail(error, ORCH_INTERNAL, "%.200s", e.failed ? "out of memory for the kernel" : why.text);
    emit_free(&e);
    return file;
}

/* ---- data ---- */

/* Writes elements first.. of the array whose random sequence starts from `state`: uniform in [-1, 1), like the GPU's inputs. */
static void fill(const struct cpu_kernel *k, uint8_t *to, uint64_t first, uint64_t count, uint64_t state)
{
    state += first * UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 steps by a constant */
    for (uint64_t i = 0; i < count; i++) {
        const double number = -1 + 2 * ((double)(cpu_random(&state) >> 11) * 0x1p-53);
        const float narrow = (float)number;
        memcpy(to + i * element_bytes(k), k->is_f64 ? (const void *)&number : (const void *)&narrow, element_bytes(k));
    }
}

static bool place(const struct cpu_kernel *k, struct mem_space *space, uint64_t count, uint64_t *address,
                  struct orch_error *error)
{
    *address = mem_space_alloc(space, count * element_bytes(k), MEM_PAGE_BYTES);
    return *address || orch_fail(error, ORCH_USAGE, "%s: the simulated memory is full; make the shape smaller", k->text);
}

/* Gives every core whole lines, as evenly as possible; the last core also gets the elements that are left over. */
static void divide(const struct cpu_kernel *k, unsigned number, unsigned cores, struct cpu_kernel_part *part)
{
    const uint64_t per_line = TURN_BYTES / element_bytes(k), all = k->bytes / element_bytes(k), lines = all / per_line;
    const uint64_t from = lines * number / cores, to = lines * (number + 1) / cores;
    part->first = from * per_line;
    part->count = (number + 1 == cores ? all : to * per_line) - part->first;
}

bool cpu_kernel_prepare(const struct cpu_kernel *k, unsigned number, unsigned cores, struct mem_space *space,
                        struct cpu_core *core, uint64_t seed, struct cpu_kernel_part *part, struct orch_error *error)
{
    enum { SEEDS = 12 }; /* as many as a GPU kernel has buffers: buffer i starts from seed * SEEDS + i */
    const uint64_t per_line = TURN_BYTES / element_bytes(k);
    uint8_t lanes[16];
    *part = (struct cpu_kernel_part){0};
    divide(k, number, cores, part);
    if (!place(k, space, part->count, &part->a, error) || (inputs_of(k) == 2 && !place(k, space, part->count, &part->b, error)) ||
        !place(k, space, part->count, &part->out, error))
        return false;
    const uint64_t bytes = part->count * element_bytes(k);
    if (part->count)
        fill(k, mem_at(space, part->a, bytes, MEM_WRITE), part->first, part->count, seed * SEEDS);
    if (part->count && inputs_of(k) == 2)
        fill(k, mem_at(space, part->b, bytes, MEM_WRITE), part->first, part->count, seed * SEEDS + 1);
    const float narrow = (float)k->scalar;
    for (unsigned at = 0; at < sizeof lanes; at += element_bytes(k))
        memcpy(lanes + at, k->is_f64 ? (const void *)&k->scalar : (const void *)&narrow, element_bytes(k));
    cpu_core_set_v(core, SCALAR_V, lanes);
    cpu_core_set_x(core, OUT, part->out);
    cpu_core_set_x(core, A, part->a);
    cpu_core_set_x(core, B, part->b);
    cpu_core_set_x(core, TURNS, part->count / per_line);
    cpu_core_set_x(core, REST, part->count % per_line);
    return true;
}

uint64_t cpu_kernel_checksum(const struct cpu_kernel *k, const struct cpu_kernel_part *part, const struct mem_space *space,
                             uint64_t checksum)
{
    const uint64_t bytes = part->count * element_bytes(k);
    const uint8_t *at = bytes ? mem_at(space, part->out, bytes, MEM_READ) : NULL;
    return at ? checksum_add(checksum, at, bytes) : checksum;
}
