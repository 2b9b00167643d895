/* The two halves of the assembler: lines to statements, and statements to a program. Inside isa/ane only. */
#ifndef ORCHARD_ISA_ANE_ANE_ASM_PARTS_H
#define ORCHARD_ISA_ANE_ANE_ASM_PARTS_H

#include "isa/ane/ane_disasm_parts.h"

/* The value that a line gives to a field or, with field = ANE_FIELD_COUNT, to a word. */
struct ane_asm_value {
    unsigned long line;
    enum ane_field field;
    unsigned element; /* word number for words */
    uint32_t value;
};

/* The numbers of .weights or .bias as fp16. */
struct ane_asm_halves {
    uint16_t *half; /* owned */
    size_t count, room;
};

struct ane_asm_td {
    unsigned long line;
    bool placed; /* .td OFFSET */
    uint32_t offset;
    size_t first, end; /* values */
    struct ane_asm_halves weights, bias;
    unsigned long table_line, weights_line; /* 0 = none */
    struct ane_table table;
};

/* The bytes of the file from an offset on. */
struct ane_asm_bytes {
    unsigned long line;
    size_t offset, first, count; /* in `data` */
};

struct ane_asm_listing {
    enum ane_container container;
    bool sized; /* .size was given: the listing holds every byte of the file */
    size_t size, text_offset, const_offset;
    struct ane_asm_td *td;
    size_t tds, td_room;
    struct ane_asm_value *value;
    size_t values, value_room;
    struct ane_asm_bytes *bytes;
    size_t stretches, stretch_room;
    uint8_t *data;
    size_t data_bytes, data_room;
};

bool ane_asm_build(const struct ane_asm_listing *listing, struct ane_program *program, struct isa_error *error);

/* Sets the error, at this line; false. */
bool ane_asm_fail(struct isa_error *error, unsigned long line, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
