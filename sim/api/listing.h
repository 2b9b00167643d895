/* Listings and assembly of A64 and AMX words, for the verb isa. */
#ifndef ORCHARD_SIM_API_LISTING_H
#define ORCHARD_SIM_API_LISTING_H

#include "isa/amx/amx_isa.h"
#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum listing_family { LISTING_A64, LISTING_AMX };

/* One line of a listing: a label, or a word with its text. */
struct listing_line {
    const char *label; /* of the symbol or section that begins here; NULL = this line is a word */
    uint64_t address;
    uint32_t word;
    const char *text; /* with tabs where binutils print them */
};
struct listing_sink {
    void (*line)(void *context, const struct listing_line *line);
    void *context;
};

/* Walks the executable sections of an ELF file, or the words of a raw little-endian file from address 0. A64 listings
 * show AMX words as AMX instructions; AMX listings show every other word as .long, so that listing_assemble reads them
 * back. */
bool listing_walk(enum listing_family family, const uint8_t *bytes, size_t size, const struct listing_sink *sink,
                  struct orch_error *error);

/* Assembles AMX text, one instruction per line, into words. "fma32 x5" is one word; a mnemonic with operand fields
 * ("fma32 {z=1}") becomes movz/movk of the operand to x0 and the instruction on x0. *words is the caller's to free. */
bool listing_assemble(const char *text, uint32_t **words, size_t *count, struct orch_error *error);

#endif
