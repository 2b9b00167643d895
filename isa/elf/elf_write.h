/* Writes a static AArch64 executable from bytes that somebody generated: what `objdump -d`, qemu and orchard's own
 * loader read. Layout of the file: header, program headers, parts, symbol table, names, section headers.
 */
#ifndef ORCHARD_ISA_ELF_ELF_WRITE_H
#define ORCHARD_ISA_ELF_ELF_WRITE_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts start at multiples of this (16 KiB, the page of Apple Silicon) and lie above it: page 0 stays empty. */
#define ELF_WRITE_ALIGN UINT64_C(0x4000)

struct elf_part {
    uint64_t addr;
    const void *bytes; /* NULL when size is 0: the part is left out */
    size_t size;
};

struct elf_label {
    const char *name;
    uint64_t addr;
    uint64_t bytes; /* size of the function or object, 0 when unknown */
    bool is_function;
};

struct elf_program {
    struct elf_part code;           /* .text, read and execute; must not be empty */
    struct elf_part rodata;         /* .rodata, read only */
    struct elf_part data;           /* .data, read and write */
    uint64_t bss_addr, bss_bytes;   /* .bss, zero-filled */
    const struct elf_label *labels; /* all global; each must lie inside a part */
    size_t label_count;
    const char *entry; /* name of the label where execution starts; NULL = "_start" */
};

/* The whole file in one allocation that the caller frees; NULL and *error otherwise. */
uint8_t *elf_write(const struct elf_program *program, size_t *size, struct isa_error *error);

#endif
