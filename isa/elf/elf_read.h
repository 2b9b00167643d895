/* Reads ELF files of AArch64 (64-bit, little-endian) in memory: static executables, static PIE and relocatable objects. Nothing
 * is allocated or copied; a struct elf_file points into the caller's bytes.
 *
 * elf_open checks every table, offset, count and name once, so that the accessors below cannot fail for an index in range. Errors
 * carry the byte offset of the field that is wrong.
 *
 * Facts: System V ABI, ELF-64 object file format; ARM "ELF for the Arm 64-bit Architecture" (AAELF64).
 */
#ifndef ORCHARD_ISA_ELF_ELF_READ_H
#define ORCHARD_ISA_ELF_ELF_READ_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum elf_kind { ELF_EXECUTABLE, ELF_PIE, ELF_OBJECT };

/* One PT_LOAD entry. */
struct elf_segment {
    uint64_t offset, file_bytes; /* in the file */
    uint64_t addr, mem_bytes;    /* in memory; mem_bytes >= file_bytes, the rest is zero */
    uint64_t align;              /* at least 1 */
    bool read, write, exec;
};

struct elf_section {
    const char *name;
    uint32_t type; /* SHT_* */
    uint32_t link, info;
    uint64_t flags; /* SHF_* */
    uint64_t addr;
    uint64_t offset, bytes; /* SHT_NOBITS has bytes but nothing in the file */
    uint64_t align;         /* a power of two */
};

struct elf_symbol {
    const char *name;
    uint64_t value, bytes;
    uint16_t section; /* index, or SHN_UNDEF, SHN_ABS, SHN_COMMON */
    uint8_t type;     /* STT_* */
    uint8_t binding;  /* STB_* */
};

struct elf_relocation {
    uint64_t offset; /* in the section that is patched */
    uint32_t type;   /* R_AARCH64_* */
    uint32_t symbol;
    int64_t addend;
};

/* Callers may read the first fields; those after the empty line are for the accessors. */
struct elf_file {
    enum elf_kind kind;
    uint64_t entry;      /* 0 = none */
    uint32_t load_count; /* PT_LOAD segments */
    uint32_t section_count;
    uint32_t symbol_count;
    uint64_t low, high; /* addresses covered by the segments, [low, high) */
    uint64_t phdr_addr; /* address of the program headers when a segment holds them, else 0 */
    uint32_t phdr_count;
    uint64_t relative_offset, relative_bytes; /* file range of the dynamic RELA table of a PIE */

    const uint8_t *bytes;
    size_t size;
    uint64_t phdr_offset, section_offset;
    uint64_t symbol_offset, symbol_names_offset;
};

/* True when the bytes start like an ELF file of any machine, for recognition by content. */
bool elf_is(const void *bytes, size_t size);

/* False, with *error, when the file cannot be run here; the text says what to do instead. */
bool elf_open(struct elf_file *elf, const void *bytes, size_t size, struct isa_error *error);

void elf_segment(const struct elf_file *elf, uint32_t index, struct elf_segment *out); /* index < load_count */
void elf_section(const struct elf_file *elf, uint32_t index, struct elf_section *out); /* index < section_count */
void elf_symbol(const struct elf_file *elf, uint32_t index, struct elf_symbol *out);   /* index < symbol_count */

/* The number of relocations in a section: 0 unless it is SHT_RELA for a section that is loaded. */
uint32_t elf_relocation_count(const struct elf_file *elf, const struct elf_section *rela);
void elf_relocation(const struct elf_file *elf, const struct elf_section *rela, uint32_t index, struct elf_relocation *out);

/* Finds a defined symbol by name, preferring global to weak to local ones. False when there is none. */
bool elf_find_symbol(const struct elf_file *elf, const char *name, uint32_t *index);
/* Whether a caller outside the file can name this symbol as a function: defined, global or weak, of type function. Executables
 * written in assembly often leave the type out, so a symbol without type in an executable section counts too. */
bool elf_symbol_is_entry(const struct elf_file *elf, const struct elf_symbol *symbol);

/* Replaces everything but printable ASCII: names from a file may hold anything, but an error is one line. */
void elf_clean_text(char *text);
/* Sets the error to such a text, of what is wrong at that byte of the file; returns false. */
bool elf_refuse(struct isa_error *error, uint64_t offset, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "R_AARCH64_CALL26" for 283; NULL for types that units/cpu does not apply either. */
const char *elf_relocation_name(uint32_t type);

#endif
