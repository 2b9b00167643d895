/* The back end: a lowered kernel (ir.h) to Apple GPU machine code, by way of text for the assembler (agx_asm.h).
 *
 * The kernel's arguments are the program's, in order, pointers of 64 bits. Of a pointer to threadgroup memory the low 32 bits
 * count: its byte in threadgroup memory, behind the variables that the program has there (program.threadgroup_memory_bytes). What
 * the hardware does not tell a program and the kernel asks for follows them as arguments of the names AGX_GLOBAL_SIZE and
 * AGX_GROUP_COUNT with _x, _y, _z behind, which the launcher fills, and
 * the addresses of its constant tables, AGX_TABLE with _0, _1 ... behind, of buffers that begin with what `table` says.
 */
#ifndef ORCHARD_ISA_AGX_COMPILER_AGX_COMPILE_H
#define ORCHARD_ISA_AGX_COMPILER_AGX_COMPILE_H

#include "isa/agx/agx_asm.h"
#include "isa/agx/compiler/ir.h"

#define AGX_GLOBAL_SIZE "grid_threads"      /* threads of the launch */
#define AGX_GROUP_COUNT "grid_threadgroups" /* threadgroups of the launch */
#define AGX_TABLE       "constant_table"    /* and _0, _1 ...: addresses of tables */

struct agx_compile_options {
    unsigned register_halves; /* most that may be used; 0 = what the threadgroup of the kernel leaves room for */
};

/* An instruction's place in the source. */
struct agx_source_place {
    uint32_t offset; /* of the instruction in code */
    uint32_t line;   /* in the source */
    uint32_t file;   /* of ir_module_file */
};

/* What stands in a constant table. */
struct agx_table {
    uint8_t *bytes;
    size_t byte_count;
};

struct agx_compiled {
    char *assembly; /* terminated */
    size_t assembly_bytes;
    struct agx_assembly program;
    struct agx_source_place *place; /* by ascending offset */
    size_t places;
    struct agx_table *table;
    unsigned tables;
    unsigned spills; /* values kept on the stack for want of registers */
};

/* On failure *out is empty and the error says what is not supported, with the line of the source. */
bool agx_compile(const struct ir_function *lowered, const struct agx_compile_options *options, struct agx_compiled *out,
                 struct isa_error *error);
void agx_compiled_free(struct agx_compiled *compiled);

#endif
