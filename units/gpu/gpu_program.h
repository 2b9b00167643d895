/* A GPU program made ready to execute: decoded once, with branch targets resolved to instruction numbers. Shared by the executing
 * and the timing side; immutable after creation.
 */
#ifndef ORCHARD_UNITS_GPU_GPU_PROGRAM_H
#define ORCHARD_UNITS_GPU_GPU_PROGRAM_H

#include "isa/agx/agx_isa.h"
#include "units/unit_fault.h"

/* What a program may use: 64-bit atomics from G14 on. The coherency bit of atomics changes nothing in execution. */
enum gpu_generation { GPU_G13, GPU_G14, GPU_G15 };

struct gpu_program;

/* Decodes everything that can be reached from `entry` (byte offset) in `code` (copied). NULL when memory is out or the program
 * cannot run: *fault then says where and why (UNDEFINED: no such instruction or an invalid operand; UNMODELLED: graphics,
 * texture, unknown or unmodelled instructions, named, and what the generation lacks). Its pc is the byte offset in `code`. */
struct gpu_program *gpu_program_create(const uint8_t *code, size_t bytes, uint32_t entry, enum gpu_generation generation,
                                       struct unit_fault *fault);
void gpu_program_free(struct gpu_program *program);

uint32_t gpu_program_count(const struct gpu_program *program); /* instructions, numbered in order of address */
const struct agx_inst *gpu_program_inst(const struct gpu_program *program, uint32_t index);
const struct agx_effect *gpu_program_effect(const struct gpu_program *program, uint32_t index);
uint32_t gpu_program_pc(const struct gpu_program *program, uint32_t index); /* byte offset */
/* One past the highest register half that any instruction names. */
uint32_t gpu_program_register_halves(const struct gpu_program *program);

#define GPU_SPECIAL_CORE 20 /* special register of get_sr: the number of the core */

/* True when threadgroups of this program may run on several host threads with the same results: it has no device atomics whose
 * outcome depends on order (returned old values, exchange, float sums by compare-exchange). */
bool gpu_program_order_free(const struct gpu_program *program);

/* True when the instruction has a say in where execution goes or in which addresses are accessed, so that a group whose checks
 * say `steer` executes it. */
bool gpu_program_steers(const struct gpu_program *program, uint32_t index);
/* True when values from device memory have a say in it: a gather, a sort, a search. */
bool gpu_program_steered_by_memory(const struct gpu_program *program);

/* NULL when the executing side models the instruction, otherwise the reason why it does not. */
const char *gpu_inst_unmodelled(const struct agx_inst *inst, enum gpu_generation generation);

#endif
