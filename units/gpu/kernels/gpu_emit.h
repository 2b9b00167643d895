/* Writes AGX programs: assembler text that grows line by line, registers, arguments, masks and loops, elements in memory.
 *
 *     struct gpu_emit *e = gpu_emit_begin(kernel, "add_f32", error);
 *     const unsigned index = gpu_register(e, 1), value = gpu_register(e, 1);
 *     const struct gpu_base in = gpu_argument_buffer(e, 0, 0), out = gpu_argument_buffer(e, 1, 0);
 *     gpu_emit(e, "get_sr r%u, sr%u", index, GPU_SR_GRID_X);
 *     gpu_if(e, "ult", gpu_r(e, index), gpu_int(e, count));
 *     gpu_load_element(e, 0, GPU_F16, value, in, index);
 *     ...
 *     gpu_endif(e);
 *     gpu_emit_grid(e, threads, 1, 1, 256, 1, 1);
 *     return gpu_emit_end(e);
 *
 * Errors (memory, registers, arguments, text that does not assemble) are kept and reported by gpu_emit_end: no call in between
 * needs to be checked. The argument block is the uniforms from u0 on: buffers are 64-bit pairs, the rest 32-bit words, in the
 * order of the requests; requesting the same one twice gives one argument.
 */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_EMIT_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_EMIT_H

#include "isa/float_bits.h"
#include "units/gpu/kernels/gpu_kernels.h"

struct gpu_emit;

/* Special registers (dougallj/applegpu). */
enum {
    GPU_SR_GROUP_X = 0,
    GPU_SR_GROUP_Y = 1,
    GPU_SR_GROUP_Z = 2, /* threadgroup position in grid */
    GPU_SR_LOCAL_X = 48,
    GPU_SR_LOCAL_Y = 49,
    GPU_SR_LOCAL_Z = 50,
    GPU_SR_LOCAL_INDEX = 51,
    GPU_SR_LANE = 52,
    GPU_SR_SIMDGROUP = 53,
    GPU_SR_GRID_X = 80,
    GPU_SR_GRID_Y = 81,
    GPU_SR_GRID_Z = 82
};

/* ---- a step ---- */

/* Appends a step to `kernel` and starts its program with "mov_imm r0l, 0": r0l is the mask counter; the rest of r0 is free and
 * not handed out. NULL only when memory is out; NULL may be passed to all calls below. */
struct gpu_emit *gpu_emit_begin(struct gpu_kernel *kernel, const char *variant, struct isa_error *error);
/* Ends the program ("stop"), assembles it into the step and frees the emitter. False with a text: memory, too many registers, or
 * the line that does not assemble. */
bool gpu_emit_end(struct gpu_emit *e);
void gpu_emit_grid(struct gpu_emit *e, uint32_t x, uint32_t y, uint32_t z, uint32_t group_x, uint32_t group_y, uint32_t group_z);
/* Appends one line of text. */
__attribute__((format(printf, 2, 3))) void gpu_emit(struct gpu_emit *e, const char *format, ...);

/* ---- registers ---- */

/* Returns the first number of the lowest free run of `count` 32-bit registers. */
unsigned gpu_register(struct gpu_emit *e, unsigned count);
void gpu_register_free(struct gpu_emit *e, unsigned first, unsigned count);
/* Returns the lowest free address for so many bytes of threadgroup memory, 16-byte aligned. */
uint32_t gpu_threadgroup_memory(struct gpu_emit *e, uint32_t bytes);

/* ---- operands: the text stays valid until 64 others have been requested, so request it where you use it ---- */

const char *gpu_r(struct gpu_emit *e, unsigned number);                  /* "r5" */
const char *gpu_run(struct gpu_emit *e, unsigned first, unsigned count); /* "r5_r6_r7" */
const char *gpu_h(struct gpu_emit *e, unsigned half);                    /* half index 11: "r5h" */
const char *gpu_half_run(struct gpu_emit *e, unsigned half, unsigned count);
/* 0..255 as an immediate, otherwise a 32-bit uniform argument. */
const char *gpu_int(struct gpu_emit *e, uint32_t value);
/* As an immediate where the 8-bit float format has the value, otherwise a uniform argument. */
const char *gpu_float(struct gpu_emit *e, float value);

/* ---- arguments ---- */

/* A 64-bit base address for memory instructions: a uniform or a register pair. */
struct gpu_base {
    bool in_registers;
    unsigned number;
};
struct gpu_base gpu_argument_buffer(struct gpu_emit *e, unsigned buffer, uint64_t offset_bytes);
struct gpu_base gpu_register_base(unsigned first);
/* Indices of elements are 32-bit numbers. What lies further away has its own base, which is moved in 64 bits:
 * first_first+1 = the base, then += place * bytes. */
void gpu_far_begin(struct gpu_emit *e, unsigned first, struct gpu_base base);
void gpu_far_add(struct gpu_emit *e, unsigned first, unsigned place, uint64_t bytes);
const char *gpu_argument_u32(struct gpu_emit *e, uint32_t value); /* "u8": always a uniform */
const char *gpu_argument_u16(struct gpu_emit *e, uint16_t value); /* "u8l" */

/* ---- integers ---- */

void gpu_mov_imm(struct gpu_emit *e, unsigned to, uint32_t value);        /* 32-bit register */
void gpu_clear_words(struct gpu_emit *e, unsigned first, unsigned count); /* so many of them */
void gpu_mov(struct gpu_emit *e, unsigned to, unsigned from);
void gpu_add_imm(struct gpu_emit *e, unsigned to, unsigned from, int64_t value);
void gpu_shl(struct gpu_emit *e, unsigned to, unsigned from, unsigned bits);
void gpu_shr(struct gpu_emit *e, unsigned to, unsigned from, unsigned bits); /* logical */
void gpu_and_imm(struct gpu_emit *e, unsigned to, unsigned from, uint32_t mask);
/* to = a * factor + b (b == GPU_NO_REGISTER: none). Uses cheap forms where they exist. */
#define GPU_NO_REGISTER 255U
void gpu_mad_imm(struct gpu_emit *e, unsigned to, unsigned a, uint32_t factor, unsigned b);
void gpu_min_imm(struct gpu_emit *e, unsigned to, unsigned from, uint32_t most); /* unsigned */
/* quotient = n / divisor, remainder = n % divisor (either may be GPU_NO_REGISTER); n below 2^31. The results may not overlap n.
 */
void gpu_divide_imm(struct gpu_emit *e, unsigned quotient, unsigned remainder, unsigned n, uint32_t divisor);

/* ---- masks ---- */

/* Lanes where `condition` does not hold are inactive until gpu_endif. Conditions as in AGX text: ult ugt ueq slt ugte ulte ... */
void gpu_if(struct gpu_emit *e, const char *condition, const char *a, const char *b);
void gpu_else(struct gpu_emit *e);
void gpu_endif(struct gpu_emit *e);
/* do { ... } while (condition): lanes leave one by one, and the body runs at least once. May be nested with ifs and loops. */
void gpu_do(struct gpu_emit *e);
void gpu_while(struct gpu_emit *e, const char *condition, const char *a, const char *b);
/* A barrier for data in device and threadgroup memory. */
void gpu_barrier(struct gpu_emit *e);

/* ---- memory ---- */

void gpu_wait(struct gpu_emit *e, unsigned slot);
/* Move `count` (1..4) elements between base + index elements and consecutive registers (f32, i32, u32) or, for 16- and 8-bit
 * types, consecutive halves, as they are in memory. `to` and `from` are half indices (2 * register). */
void gpu_load_raw(struct gpu_emit *e, unsigned slot, enum gpu_type type, unsigned count, unsigned to_half, struct gpu_base base,
                  const char *index);
void gpu_store_raw(struct gpu_emit *e, unsigned slot, enum gpu_type type, unsigned count, unsigned from_half,
                   struct gpu_base base, const char *index);
/* Converts raw halves of f16 or bf16 to float32 words. 32-bit types need no conversion; to == raw_half / 2 is required. */
void gpu_widen(struct gpu_emit *e, enum gpu_type type, unsigned count, unsigned to, unsigned raw_half);
/* Converts float32 words to raw elements; f32 as in gpu_widen. bf16 rounds to nearest even and uses `scratch`, one register
 * (others may pass GPU_NO_REGISTER). */
void gpu_narrow(struct gpu_emit *e, enum gpu_type type, unsigned count, unsigned to_half, unsigned from, unsigned scratch);
/* The same in threadgroup memory at `base` ("u8l", "r3h": byte address) + `offset` ("r5l": elements). */
void gpu_group_load_raw(struct gpu_emit *e, enum gpu_type type, unsigned count, unsigned to_half, const char *base,
                        const char *offset);
void gpu_group_store_raw(struct gpu_emit *e, enum gpu_type type, unsigned count, unsigned from_half, const char *base,
                         const char *offset);
/* Loads one element as float32 and waits for it. */
void gpu_load_element(struct gpu_emit *e, unsigned slot, enum gpu_type type, unsigned to, struct gpu_base base,
                      const char *index);
/* Stores one float32 as an element; 16-bit types overwrite `from`. */
void gpu_store_element(struct gpu_emit *e, unsigned slot, enum gpu_type type, unsigned from, struct gpu_base base,
                       const char *index);

/* ---- what simdgroups do together ---- */

/* to = sum (op "fadd", "iadd"), product ("fmul"), largest ("fmax") or least ("fmin", "umin") of `from` over the simdgroup's
 * active lanes, in all of them. */
void gpu_simd_reduce(struct gpu_emit *e, const char *op, unsigned to, unsigned from);
/* The same over lanes that differ only in the bits of `lane_bits`; all lanes must be active. `scratch`: one register. */
void gpu_lanes_reduce(struct gpu_emit *e, const char *op, unsigned value, unsigned lane_bits, unsigned scratch);

/* ---- kernels ---- */

/* Adds a buffer and returns its index. Inputs are filled from [low, high). */
unsigned gpu_kernel_add_buffer(struct gpu_kernel *kernel, const char *name, enum gpu_type type, uint64_t count,
                               enum gpu_buffer_role role, double low, double high);

#endif
