/* Apple GPU (AGX2: G13 = M1 family, G14 = M2 family) instructions: bytes in, meaning out, without state or time.
 *
 * Instructions are 2..12 bytes, little-endian. Each has a form (a row of agx_table.inc: length, constant bits, fields,
 * operands); several forms may share an operation. Facts: dougallj/applegpu (commit 4c5bae6), Mesa src/asahi/compiler.
 */
#ifndef ORCHARD_ISA_AGX_AGX_ISA_H
#define ORCHARD_ISA_AGX_AGX_ISA_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define AGX_MAX_BYTES      12
#define AGX_MAX_FIELDS     28
#define AGX_MAX_SOURCES    5
#define AGX_REGISTERS      128 /* 32-bit, per lane */
#define AGX_HALVES         256 /* the same, as 16-bit halves: 2n = low, 2n+1 = high */
#define AGX_UNIFORM_HALVES 512

/* What an instruction does, named after applegpu's mnemonics: one enumerator for each operation of agx_table.inc. */
enum agx_op {
    AGX_OP_NONE, /* no form matches */
#define AGX_FORM(op, ...) AGX_OP_##op,
#define AGX_FORM_AGAIN(...)
#include "isa/agx/agx_table.inc"
    AGX_OP_COUNT
};

/* Where an operand lives. Halves, words and pairs are all indexed in halves (word r5 = 10, half r5h = 11), so that operands of
 * different widths can be compared; uniforms likewise. */
enum agx_place {
    AGX_PLACE_NONE,
    AGX_PLACE_HALF,
    AGX_PLACE_WORD,
    AGX_PLACE_PAIR, /* registers: 16, 32, 64 bits */
    AGX_PLACE_UNIFORM_HALF,
    AGX_PLACE_UNIFORM_WORD,
    AGX_PLACE_UNIFORM_PAIR, /* uniforms */
    AGX_PLACE_IMMEDIATE,    /* `immediate` */
    AGX_PLACE_OTHER         /* texture state, coefficient register ...: `index` is the raw number */
};
enum agx_hint { AGX_HINT_NONE, AGX_HINT_CACHE, AGX_HINT_DISCARD };

struct agx_operand {
    enum agx_place place;
    enum agx_hint hint;
    uint16_t index;        /* in halves */
    uint8_t count;         /* consecutive registers of this width: 1; memory data 1..4; matrix operands 2 */
    bool sign_extend;      /* integer sources narrower than the operation */
    bool absolute, negate; /* float sources, absolute first */
    int32_t immediate;     /* integer value; float sources have the bits of the float32 that the minifloat stands for */
};

/* Memory formats (field F of loads and stores). */
enum agx_format {
    AGX_FORMAT_I8,
    AGX_FORMAT_I16,
    AGX_FORMAT_I32,
    AGX_FORMAT_F16,
    AGX_FORMAT_U8NORM,
    AGX_FORMAT_S8NORM,
    AGX_FORMAT_U16NORM,
    AGX_FORMAT_S16NORM,
    AGX_FORMAT_RGB10A2,
    AGX_FORMAT_SRGBA8 = 10,
    AGX_FORMAT_RG11B10F = 12,
    AGX_FORMAT_RGB9E5,
    AGX_FORMAT_RG11B10F_RTZ,
    AGX_FORMAT_RGB9E5_RTZ
};
enum agx_atomic {
    AGX_ATOMIC_ADD,
    AGX_ATOMIC_SUB,
    AGX_ATOMIC_XCHG,
    AGX_ATOMIC_CMPXCHG,
    AGX_ATOMIC_UMIN,
    AGX_ATOMIC_IMIN,
    AGX_ATOMIC_UMAX,
    AGX_ATOMIC_IMAX,
    AGX_ATOMIC_AND,
    AGX_ATOMIC_OR,
    AGX_ATOMIC_XOR
};
enum agx_reduction {
    AGX_REDUCE_AND = 0,
    AGX_REDUCE_FADD = 1,
    AGX_REDUCE_OR = 2,
    AGX_REDUCE_FMUL = 3,
    AGX_REDUCE_XOR = 4,
    AGX_REDUCE_FMIN = 5,
    AGX_REDUCE_FMAX = 7,
    AGX_REDUCE_IADD = 16,
    AGX_REDUCE_SMIN = 20,
    AGX_REDUCE_SMAX = 22,
    AGX_REDUCE_UMIN = 28,
    AGX_REDUCE_UMAX = 30
};
/* Integer conditions (3 bits of cc; + 8 inverted) and float conditions. */
enum agx_int_condition { AGX_UEQ = 0, AGX_ULT = 1, AGX_UGT = 2, AGX_SEQ = 4, AGX_SLT = 5, AGX_SGT = 6 };
enum agx_float_condition { AGX_FEQ = 0, AGX_FLT = 1, AGX_FGT = 2, AGX_FLTN = 3, AGX_FGE = 5, AGX_FLE = 6, AGX_FGTN = 7 };
enum agx_convert {
    AGX_U8_TO_F = 0,
    AGX_S8_TO_F = 1,
    AGX_F_TO_U16 = 4,
    AGX_F_TO_S16 = 5,
    AGX_U16_TO_F = 6,
    AGX_S16_TO_F = 7,
    AGX_F_TO_U32 = 8,
    AGX_F_TO_S32 = 9,
    AGX_U32_TO_F = 10,
    AGX_S32_TO_F = 11
};

/* One decoded instruction. What does not apply is 0. */
struct agx_inst {
    uint16_t form; /* row of the table */
    uint16_t op;   /* enum agx_op */
    uint8_t bytes;
    uint8_t source_count;
    /* Destination and sources by role: A, B and C are source[0..2]; X and Y of compare-select are source[2] and source[3]. Of
     * memory operations source[1] is the base and source[2] the offset; loads write dst, stores read source[0], atomics read
     * source[0] and write the old value to dst. The dst of mask operations (if, else, while, pop) is r0l. */
    struct agx_operand dst;
    struct agx_operand source[AGX_MAX_SOURCES];
    uint8_t condition; /* 3 bits */
    bool invert;       /* ccn */
    bool subtract;     /* N of iadd, imadd */
    bool saturate;
    uint8_t shift;      /* lsl 0..7 */
    uint8_t truth;      /* bitop: bit a + 2b = result */
    uint8_t field_bits; /* bit-field width: 1..32 */
    uint8_t nesting;    /* n of mask operations */
    uint8_t special;    /* get_sr */
    uint8_t mode;       /* convert */
    uint8_t round;      /* convert: 0 toward zero, 1 nearest even */
    uint8_t format;     /* enum agx_format */
    uint8_t component_mask;
    uint8_t slot;   /* scoreboard 0, 1: device and stack memory, wait */
    uint8_t atomic; /* enum agx_atomic */
    /* Reductions and prefixes (all forms of value 0x806f): enum agx_reduction, over the simdgroup or the quad. */
    uint8_t reduction;
    bool whole_simdgroup, prefix;
    uint8_t coherency;              /* bits 44..46 of device memory operations and atomics, undecoded */
    bool zero_extend_offset;        /* Ou */
    int32_t branch_bytes;           /* counted from the first byte of this instruction */
    uint32_t field[AGX_MAX_FIELDS]; /* raw, in the table's order */
    /* NULL, or why the instruction has no known meaning ("a source register with hint 0"). Such words decode and print, but
     * must not be executed. */
    const char *invalid;
};

/* Decodes the instruction at `code`, of which `available` bytes are readable; missing ones count as zero. Returns its length,
 * or 0 when no form matches (op NONE). */
size_t agx_decode(const uint8_t *code, size_t available, struct agx_inst *inst);
/* Encodes form and field[] into bytes[AGX_MAX_BYTES], in the short length when it suffices. Returns the length. */
size_t agx_encode(const struct agx_inst *inst, uint8_t bytes[AGX_MAX_BYTES]);

/* Table rows, for checks and documentation. */
unsigned agx_form_count(void);
const char *agx_form_mnemonic(unsigned form); /* "bitop", "iadd" */
unsigned agx_form_field_count(unsigned form);
const char *agx_form_field_name(unsigned form, unsigned field);
const char *agx_op_name(unsigned op);

/* The mnemonic of this very instruction as text shows it: "xor" for a bitop with that truth table, "isub", "push_exec". */
const char *agx_mnemonic(const struct agx_inst *inst);
/* "fmadd32 r0, r1, r2, r3.neg": the spelling of applegpu with single spaces, except for names that it marks as provisional
 * (agx_from_applegpu). Returns the length of the whole text, as snprintf does. */
#define AGX_TEXT_BYTES 256
int agx_disasm(const struct agx_inst *inst, char *text, size_t size);
/* Translates a mnemonic, alone or with operands after it, from applegpu's spelling to ours: the names that applegpu marks as
 * provisional lose their mark. Other texts are copied. */
void agx_from_applegpu(const char *text, char *ours, size_t size);

/* Classes that timing and energy tell apart. F32 and F16 are add, multiply and fma; INT is add, bit operations, compare-select
 * and moves; SHIFT is shifts, bit fields and bit counts; IMUL64 is a multiply-add with a 64-bit result; REDUCE spans a simdgroup
 * or a quad; GRAPHICS is texture, pixel and vertex work, which compute programs do not use. */
enum agx_class {
    AGX_CLASS_F32,
    AGX_CLASS_F16,
    AGX_CLASS_INT,
    AGX_CLASS_GET_SR,
    AGX_CLASS_IMUL,
    AGX_CLASS_IMUL64,
    AGX_CLASS_SHIFT,
    AGX_CLASS_CONVERT,
    AGX_CLASS_ROUND,
    AGX_CLASS_EXP2,
    AGX_CLASS_LOG2,
    AGX_CLASS_RCP,
    AGX_CLASS_RSQRT,
    AGX_CLASS_SIN,
    AGX_CLASS_SHUFFLE,
    AGX_CLASS_BALLOT,
    AGX_CLASS_REDUCE,
    AGX_CLASS_MATRIX_F32,
    AGX_CLASS_MATRIX_F16,
    AGX_CLASS_MASK,
    AGX_CLASS_BRANCH,
    AGX_CLASS_BARRIER,
    AGX_CLASS_FENCE,
    AGX_CLASS_WAIT,
    AGX_CLASS_STOP,
    AGX_CLASS_DEVICE_LOAD,
    AGX_CLASS_DEVICE_STORE,
    AGX_CLASS_DEVICE_ATOMIC,
    AGX_CLASS_GROUP_LOAD,
    AGX_CLASS_GROUP_STORE,
    AGX_CLASS_GROUP_ATOMIC,
    AGX_CLASS_STACK_LOAD,
    AGX_CLASS_STACK_STORE,
    AGX_CLASS_STACK_ADJUST,
    AGX_CLASS_UNIFORM_STORE,
    AGX_CLASS_GRAPHICS,
    AGX_CLASS_UNKNOWN,
    AGX_CLASS_COUNT
};

/* A run of register halves. */
struct agx_range {
    uint16_t first; /* half index */
    uint8_t count;  /* halves; 0 = none */
};
/* What an instruction touches, so that timing need not decode operands again. */
struct agx_effect {
    enum agx_class unit_class;
    struct agx_range write;                 /* destination registers */
    struct agx_range read[AGX_MAX_SOURCES]; /* source registers; uniforms and immediates are not here */
    uint8_t read_count;
    uint8_t distinct_words_read; /* different 32-bit registers among the sources */
    uint8_t cached_sources;      /* bit i: read[i] has the hint cache or discard */
    bool cache_result;
    bool reads_r0l, writes_mask;
    uint8_t flops;                   /* per active lane: fma 2, matrix 32, add/mul 1 */
    uint8_t element_bytes, elements; /* memory: per lane */
};
void agx_effect_of(const struct agx_inst *inst, struct agx_effect *effect);

/* The instruction table as Markdown. */
void agx_table_markdown(FILE *out);

#endif
