/* The reader of a listing: where it stands, and words and numbers of the line. Inside isa/ane only. */
#ifndef ORCHARD_ISA_ANE_ANE_ASM_SCAN_H
#define ORCHARD_ISA_ANE_ANE_ASM_SCAN_H

#include "isa/ane/ane_asm_parts.h"

enum { ANE_ASM_WORD_BYTES = 120 };

/* What lines without a name continue. */
enum ane_asm_reading { ANE_ASM_NOTHING, ANE_ASM_HEX, ANE_ASM_WEIGHTS, ANE_ASM_BIAS };

struct ane_asm_reader {
    struct ane_asm_listing *l;
    struct isa_error *error;
    unsigned long line;
    const char *at; /* rest of the line */
    enum ane_asm_reading reading;
};

/* Sets the error to "WHAT: WORD" at the present line, or to WHAT when the word is NULL; false. */
bool ane_asm_complain(struct ane_asm_reader *r, const char *what, const char *word);
/* Makes room for one more element of `size` bytes in an array of the listing; `array` is the address of its pointer. */
bool ane_asm_grow(struct ane_asm_reader *r, void *array, size_t count, size_t *room, size_t size);

/* Takes the next word of the line, up to a blank or '='; it is empty at the end. */
bool ane_asm_next_word(struct ane_asm_reader *r, char word[ANE_ASM_WORD_BYTES]);
/* Takes a whole number up to `most`. */
bool ane_asm_next_integer(struct ane_asm_reader *r, uint64_t most, uint64_t *value);
/* Fails unless the line ends here. */
bool ane_asm_at_end(struct ane_asm_reader *r);
bool ane_asm_parse_integer(const char *word, uint64_t *value); /* decimal or 0x..., no sign */
bool ane_asm_parse_number(const char *word, double *number);

/* The descriptor that lines belong to; NULL before the first .td. */
struct ane_asm_td *ane_asm_td(struct ane_asm_reader *r);

/* "NAME = VALUE ..." after the name, and ".word BYTE = VALUE" after the directive (ane_asm_fields.c). */
bool ane_asm_read_assignment(struct ane_asm_reader *r, const char *name);
bool ane_asm_read_word(struct ane_asm_reader *r);

#endif
