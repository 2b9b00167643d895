/* Puts an ELF file into a simulated address space: segments of executables, sections of objects, the first stack.
 *
 *   executable   segments at their own addresses
 *   static PIE   the same, 0x10000000 higher, R_AARCH64_RELATIVE applied
 *   object       sections laid out from 0x10000000 (code, read-only data, data, common symbols, each on fresh pages)
 *                and linked against themselves; constructors in .init_array are not run
 *
 * Simulated pages are 16 KiB. Where segments of a file linked for 4 KiB pages meet in one page, the page gets the
 * permissions of all of them.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_LOAD_H
#define ORCHARD_UNITS_CPU_CPU_LOAD_H

#include "isa/elf/elf_read.h"
#include "units/mem/mem_space.h"

#define CPU_LOAD_BASE UINT64_C(0x10000000)

/* What an object needs and nothing defines gets an address of its own below the object, where nothing is mapped: only a program
 * that reaches it faults (cpu_image_unresolved names it). */
#define CPU_UNRESOLVED_BASE  (CPU_LOAD_BASE - UINT64_C(0x1000000))
#define CPU_UNRESOLVED_BYTES 16

/* A loaded file. It keeps pointing into `elf` and its bytes, which must outlive it. */
struct cpu_image {
    const struct elf_file *elf;
    uint64_t bias;          /* added to the addresses of the file */
    uint64_t entry;         /* biased; 0 = none */
    uint64_t end;           /* first address past the program, where the heap starts */
    uint64_t phdr_addr;     /* where the program sees its program headers; 0 = not loaded */
    uint32_t page_bytes;    /* page size that the program is told: 16384, or 4096 when its segments need that */
    uint64_t *section_addr; /* objects: by section, 0 = not loaded */
    uint64_t *symbol_addr;  /* objects: by symbol */
};

/* Loads the file. When false, *error names what does not fit or is undefined; pages mapped until then stay mapped. */
bool cpu_load(struct mem_space *space, const struct elf_file *elf, struct cpu_image *image, struct isa_error *error);
void cpu_image_release(struct cpu_image *image);

/* Finds the address of a defined symbol by name. */
bool cpu_image_symbol(const struct cpu_image *image, const char *name, uint64_t *addr);
/* Finds the function or object that contains `addr`, for messages and listings: its name and the offset in it. */
bool cpu_image_locate(const struct cpu_image *image, uint64_t addr, const char **name, uint64_t *offset);

/* Functions that the program's start-up code chooses by calling a resolver (R_AARCH64_IRELATIVE), one by one until false: whoever
 * calls a function without that start has to do so. `place` takes what the resolver returns. */
bool cpu_image_is_resolver(const struct cpu_image *image, const char *name); /* the symbol is one, not the function itself */
bool cpu_image_indirect(const struct cpu_image *image, uint32_t index, uint64_t *place, uint64_t *resolver);

/* The undefined symbol whose address this is, or NULL. */
const char *cpu_image_unresolved(const struct cpu_image *image, uint64_t addr);

struct cpu_stack_params {
    uint64_t bytes;          /* size of the stack; 0 = 8 MiB */
    const char *const *argv; /* argc of them; argv[0] is the program's name */
    const char *const *envp; /* envc of them */
    uint32_t argc, envc;
    uint64_t seed; /* seed of the 16 random bytes that a program gets at its start */
};

struct cpu_stack {
    uint64_t sp;       /* 16-byte aligned */
    uint64_t low, top; /* its pages; the pages around them must stay unmapped */
};

/* Maps a stack below the end of the space and writes what Linux hands to a new process: argc, argv, envp, auxiliary vector. With
 * image == NULL the stack is empty, for plain function calls. */
bool cpu_load_stack(struct mem_space *space, const struct cpu_image *image, const struct cpu_stack_params *params,
                    struct cpu_stack *stack, struct isa_error *error);

#endif
