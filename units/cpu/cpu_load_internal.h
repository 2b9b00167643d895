/* Shared by the files of the loader only. */
#ifndef ORCHARD_UNITS_CPU_CPU_LOAD_INTERNAL_H
#define ORCHARD_UNITS_CPU_CPU_LOAD_INTERNAL_H

#include "units/cpu/cpu_load.h"

/* Maps [addr, addr+bytes) readable and writable. False with a reason when a page is taken or outside the space. */
bool cpu_load_claim(struct mem_space *space, uint64_t addr, uint64_t bytes, const char *what, struct isa_error *error);

/* Lays out, copies and links the sections of an object. */
bool cpu_load_object(struct mem_space *space, struct cpu_image *image, struct isa_error *error);

/* One place to patch. */
struct cpu_patch {
    uint32_t type;     /* R_AARCH64_* */
    uint64_t place;    /* simulated address that is patched */
    uint64_t value;    /* symbol + addend */
    uint64_t got_slot; /* address of the symbol's entry in the offset table, when the type needs one */
    uint64_t got_base;
    bool undefined_weak;
};

/* Bytes that a relocation of this type changes; 0 for an unknown type. */
uint32_t cpu_patch_bytes(uint32_t type);
bool cpu_patch_needs_got(uint32_t type);
/* Changes the bytes at `host`. When false, *why says what does not fit ("is out of range ..."). */
bool cpu_patch_apply(const struct cpu_patch *patch, uint8_t *host, const char **why);

#endif
