/* The sandboxed address space that simulated programs and units see.
 *
 * One host reservation stands for the simulated addresses [0, size). Pages are 16 KiB (Apple Silicon).
 * A simulated address is turned into a host pointer only by mem_at(), which checks range and permission, so
 * no simulated program can reach host memory. All units that share a buffer use the same address for it.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_SPACE_H
#define ORCHARD_UNITS_MEM_MEM_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEM_PAGE_SHIFT 14
#define MEM_PAGE_BYTES (UINT64_C(1) << MEM_PAGE_SHIFT)
#define MEM_LINE_BYTES 128

enum mem_prot { MEM_READ = 1, MEM_WRITE = 2, MEM_EXEC = 4 };

/* Fields are for the inline accessors below only. */
struct mem_space {
    uint8_t *host;       /* host address of simulated address 0 */
    uint8_t *prot;       /* one enum mem_prot byte per page, 0 = unmapped */
    uint64_t bytes;      /* size of the simulated space */
    uint64_t alloc_next; /* where mem_space_alloc looks next */
    uint64_t mapped_bytes, mapped_peak_bytes;
    uint64_t limit_bytes; /* limit on mapped bytes; 0 = no limit. The owner may set it */
};

/* Creates an empty space of `bytes` simulated addresses (rounded up to pages; 0 = 64 GiB). NULL when the host refuses the
 * reservation. The caller owns it. */
struct mem_space *mem_space_create(uint64_t bytes);
void mem_space_free(struct mem_space *space);

/* Maps [addr, addr+bytes) (rounded out to pages) zero-filled with `prot`. Pages that are already mapped keep their bytes and take
 * the new permissions. False when the range does not fit the space or its limit. */
bool mem_space_map(struct mem_space *space, uint64_t addr, uint64_t bytes, unsigned prot);
/* Tells that few of the bytes of a mapped range will ever be touched, far from one another, so that the host keeps them in small
 * pages and clears no others. Only a hint: nothing depends on it. */
void mem_space_sparse(struct mem_space *space, uint64_t addr, uint64_t bytes);
bool mem_space_unmap(struct mem_space *space, uint64_t addr, uint64_t bytes);
bool mem_space_protect(struct mem_space *space, uint64_t addr, uint64_t bytes, unsigned prot);

/* Maps `bytes` readable and writable at a fresh address that is a multiple of `align` (a power of two, at least
 * 128). 0 when the space is full. Allocations are separated by an unmapped guard page. */
uint64_t mem_space_alloc(struct mem_space *space, uint64_t bytes, uint64_t align);

/* What was allocated since a mark goes, as long as allocations have not begun anew at the beginning of the space; the next one
 * lies where the mark is. */
uint64_t mem_space_mark(const struct mem_space *space);
void mem_space_release(struct mem_space *space, uint64_t mark);

/* Host pointer of [addr, addr+bytes), NULL unless every page allows `prot`. bytes >= 1. */
static inline uint8_t *mem_at(const struct mem_space *space, uint64_t addr, uint64_t bytes, unsigned prot)
{
    if (addr >= space->bytes || bytes > space->bytes - addr)
        return NULL;
    uint64_t page = addr >> MEM_PAGE_SHIFT;
    const uint64_t last = (addr + bytes - 1) >> MEM_PAGE_SHIFT;
    do {
        if ((space->prot[page] & prot) != prot)
            return NULL;
    } while (page++ < last);
    return space->host + addr;
}

/* Converts a host pointer that came from mem_at to its simulated address (in-process kernels). False when it lies outside. */
static inline bool mem_addr_of(const struct mem_space *space, const void *host, uint64_t *addr)
{
    const uint64_t offset = (uint64_t)((const uint8_t *)host - space->host);
    *addr = offset;
    return offset < space->bytes;
}

/* Explains why an access was refused. When true, *unmapped tells a missing page from one without permission. */
bool mem_space_explain(const struct mem_space *space, uint64_t addr, uint64_t bytes, unsigned prot, bool *unmapped,
                       uint64_t *first_bad);

#endif
