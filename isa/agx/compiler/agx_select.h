/* Instruction selection: values of the intermediate representation to instructions over virtual registers.
 *
 * Blocks are selected from the last instruction of the kernel to its first, so that when a value's turn comes it is known whether
 * anything wants it in a register. What its users take over (a compare in a branch, a shift in an addition, an address) never
 * gets instructions of its own.
 */
#ifndef ORCHARD_ISA_AGX_COMPILER_AGX_SELECT_H
#define ORCHARD_ISA_AGX_COMPILER_AGX_SELECT_H

#include "isa/agx/compiler/agx_machine.h"

void agx_select_value(struct agx_compiler *c, const struct ir_value *v);
/* Puts what was just emitted in front of the others. */
void agx_prepend(struct agx_compiler *c, struct agx_steps *ops);

/* ---- operands (agx_select_operand.c) ---- */

struct agx_note *agx_note_of(struct agx_compiler *c, const struct ir_value *v);
/* The register of a value, which is thereby wanted. */
struct agx_ref agx_to(struct agx_compiler *c, const struct ir_value *v);
/* Gives a value of which only the low 16 bits are wanted a register of so many; before it is selected. */
void agx_halve(struct agx_compiler *c, const struct ir_value *v);
/* An operand of the value's own width: register, uniform, number or constant. */
struct agx_ref agx_exact(struct agx_compiler *c, const struct ir_value *v);
/* The same, but perhaps of 16 bits that are to be extended with zeros. */
struct agx_ref agx_view(struct agx_compiler *c, const struct ir_value *v);
/* Always a register. */
struct agx_ref agx_in_register(struct agx_compiler *c, const struct ir_value *v);
/* One 32-bit register, in which 16 bits are extended with zeros. */
struct agx_ref agx_word_register(struct agx_compiler *c, struct agx_ref ref);
/* With sign and absolute value folded, of `bits` 16 or 32; for 32, halves will do. */
struct agx_ref agx_float_source(struct agx_compiler *c, const struct ir_value *v, unsigned bits);
/* Values that are the same in all threads (agx_uniform.c): marks them; whether one comes from the preamble, and where it is then.
 */
bool agx_find_same(struct agx_compiler *c);
bool agx_is_result(struct agx_compiler *c, const struct ir_value *v);
bool agx_result(struct agx_compiler *c, const struct ir_value *v, struct agx_ref *ref);
bool agx_select_preamble(struct agx_compiler *c, const struct ir_block *const *block, unsigned blocks);
bool agx_is_constant(const struct ir_value *v, uint64_t *bits);
/* Whether an instruction may compute `v` in place of its only user: no loop lies between them. */
bool agx_takes_over(struct agx_compiler *c, const struct ir_value *user, const struct ir_value *v);
struct agx_ref agx_argument(struct agx_compiler *c, const struct ir_value *v);
struct agx_ref agx_implicit_of(struct agx_compiler *c, const struct ir_value *v); /* of a GLOBAL_SIZE or GROUP_COUNT */
struct agx_ref agx_table(struct agx_compiler *c, const struct ir_value *global);  /* the address of a constant table */
/* The low and high word of 64 bits. */
struct agx_ref agx_low(struct agx_compiler *c, const struct ir_value *v);
struct agx_ref agx_high(struct agx_compiler *c, const struct ir_value *v);

/* ---- conditions (agx_select_condition.c) ---- */

struct agx_condition agx_condition_of(struct agx_compiler *c, const struct ir_value *v);
unsigned agx_conjunction(struct agx_compiler *c, const struct ir_value *v, bool inverted, struct agx_condition *out,
                         unsigned room);
void agx_emit_select(struct agx_compiler *c, const struct agx_condition *condition, struct agx_ref to, struct agx_ref yes,
                     struct agx_ref no);
bool agx_select_boolean(struct agx_compiler *c, const struct ir_value *v); /* AND, OR, XOR, SELECT of i1 */
void agx_select_compare(struct agx_compiler *c, const struct ir_value *v);

/* ---- families; false when the operation is not theirs ---- */

bool agx_select_integer(struct agx_compiler *c, const struct ir_value *v);
bool agx_select_wide(struct agx_compiler *c, const struct ir_value *v); /* 64 bits */
void agx_select_wide_compare(struct agx_compiler *c, const struct ir_value *v);
bool agx_select_float(struct agx_compiler *c, const struct ir_value *v);
bool agx_select_convert(struct agx_compiler *c, const struct ir_value *v);
bool agx_select_memory(struct agx_compiler *c, const struct ir_value *v);
bool agx_select_atomic(struct agx_compiler *c, const struct ir_value *v);
bool agx_select_builtin(struct agx_compiler *c, const struct ir_value *v);
bool agx_select_simd(struct agx_compiler *c, const struct ir_value *v);

#endif
