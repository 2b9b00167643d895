/* The assembler of whole AGX programs: text in, code and its launch description out.
 *
 *     ; y = a * x + y                       comments: ; # //
 *     .arg X u64                            arguments, in order, naturally aligned from uniform 0: u64 u32 i32 f32 u16 i16 f16
 *     .arg Y u64
 *     .arg A f32
 *     .const half_pi f32 1.5707964          pooled constants stand before the code and are loaded into uniforms after the
 * arguments .local_size 64 1 1 .reg acc r4                           names of registers: r4, r2h, r4..r7 (then acc[0] .. acc[3],
 * acc[1..2], acc) get_sr r0, thread_position_in_grid.x device_load 0, i32, x, acc, X, r0, unsigned device_load 0, i32, x, r5, Y,
 * r0, unsigned wait 0 fmadd32 r5, acc, A, r5 device_store 0, i32, x, r5, Y, r0, unsigned, 0 stop
 *
 * Also: labels (`top:`), `.uniform NAME uN TYPE` (a name without an argument), `.set NAME expression`, `.main` and `.preamble`,
 * `.threadgroup_memory BYTES`, `.registers HALVES`, `.stack WORDS`, `.repeat N [COUNTER] ... .end` (counter i unless named),
 * `.macro NAME parameters ... .end`, and {expressions} anywhere: r{4+i}. Operands are written as the disassembler prints
 * them; see isa/agx/README.md for shorter spellings.
 */
#ifndef ORCHARD_ISA_AGX_AGX_ASM_H
#define ORCHARD_ISA_AGX_AGX_ASM_H

#include "isa/agx/agx_isa.h"

#define AGX_ASSEMBLY_ALIGN      128 /* bytes, of main and preamble in the code; source: Mesa's kernel images */
#define AGX_ARGUMENT_NAME_BYTES 48

struct agx_argument {
    char name[AGX_ARGUMENT_NAME_BYTES];
    char type[4];          /* "u64", "f32", "i16" ... */
    uint16_t offset_bytes; /* in the argument block: 2 * first uniform half */
    uint8_t bytes;
};

/* Where an instruction came from. */
struct agx_source_line {
    uint32_t offset; /* in code */
    uint32_t line;
};

struct agx_assembly {
    uint8_t *code; /* constants, main, preamble */
    size_t code_bytes;
    size_t main_offset, main_end; /* main_end is past its last instruction */
    bool has_preamble;
    size_t preamble_offset, preamble_end;
    size_t constants_offset;      /* of constant_halves half-words in code ... */
    unsigned constant_halves;     /* ... that belong into uniforms ... */
    unsigned constant_first_half; /* ... from this half on */
    struct agx_argument *arguments;
    unsigned argument_count, argument_bytes;
    uint32_t local_size[3]; /* threads per threadgroup; 0 0 0 when the text does not say it */
    uint32_t threadgroup_memory_bytes, stack_words;
    unsigned register_halves, preamble_register_halves; /* per lane: as declared, else one past the highest touched */
    struct agx_source_line *lines;
    size_t line_count;
};

/* Assembles `size` bytes of text, which need no terminator. On failure `error` has line, offset (the column, from 0) and text,
 * and the assembly is empty; on success the caller frees it. */
bool agx_assemble(const char *text, size_t size, struct agx_assembly *assembly, struct isa_error *error);
void agx_assembly_free(struct agx_assembly *assembly);

/* One instruction without labels, names or directives: "fmadd32 r0, r1, r2, r3". */
bool agx_asm_one(const char *line, struct agx_inst *inst, struct isa_error *error);

#endif
