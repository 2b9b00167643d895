#define _GNU_SOURCE
#include "units/mem/mem_space.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DEFAULT_BYTES (UINT64_C(1) << 36)
/* Allocations start here: above where programs are usually linked, and below their stacks. */
#define ALLOC_BASE (UINT64_C(1) << 33)
/* From this size on the host may use large pages: matrices are touched all over, and every first touch is a host fault. */
#define HUGE_FROM_BYTES (UINT64_C(4) << 20)

static uint64_t page_floor(uint64_t addr)
{
    return addr & ~(MEM_PAGE_BYTES - 1);
}

static uint64_t page_ceil(uint64_t addr)
{
    return page_floor(addr + MEM_PAGE_BYTES - 1);
}

static void *reserve(uint64_t bytes, int prot)
{
    void *p = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

struct mem_space *mem_space_create(uint64_t bytes)
{
    struct mem_space *space = calloc(1, sizeof *space);
    if (!space)
        return NULL;
    space->bytes = page_ceil(bytes ? bytes : DEFAULT_BYTES);
    space->host = reserve(space->bytes, PROT_NONE);
    space->prot = reserve(space->bytes >> MEM_PAGE_SHIFT, PROT_READ | PROT_WRITE);
    space->alloc_next = space->bytes > 2 * ALLOC_BASE ? ALLOC_BASE : MEM_PAGE_BYTES;
    if (!space->host || !space->prot) {
        mem_space_free(space);
        return NULL;
    }
    return space;
}

void mem_space_free(struct mem_space *space)
{
    if (!space)
        return;
    if (space->host)
        munmap(space->host, space->bytes);
    if (space->prot)
        munmap(space->prot, space->bytes >> MEM_PAGE_SHIFT);
    free(space);
}

/* Rounds [addr, addr+bytes) out to pages; false when it leaves the space or is empty. */
static bool page_range(const struct mem_space *space, uint64_t addr, uint64_t bytes, uint64_t *first, uint64_t *end)
{
    if (bytes == 0 || addr >= space->bytes || bytes > space->bytes - addr)
        return false;
    *first = addr >> MEM_PAGE_SHIFT;
    *end = (addr + bytes + MEM_PAGE_BYTES - 1) >> MEM_PAGE_SHIFT;
    return true;
}

bool mem_space_map(struct mem_space *space, uint64_t addr, uint64_t bytes, unsigned prot)
{
    uint64_t first, end;
    if (!page_range(space, addr, bytes, &first, &end))
        return false;
    if (space->limit_bytes) {
        uint64_t fresh = 0;
        for (uint64_t page = first; page < end; page++)
            fresh += space->prot[page] == 0 ? MEM_PAGE_BYTES : 0;
        if (space->mapped_bytes + fresh > space->limit_bytes)
            return false;
    }
    /* Host pages are always readable and writable once mapped; simulated permissions are checked in mem_at. */
    if (mprotect(space->host + (first << MEM_PAGE_SHIFT), (end - first) << MEM_PAGE_SHIFT, PROT_READ | PROT_WRITE) != 0)
        return false;
    if (bytes >= HUGE_FROM_BYTES) /* only a hint: nothing depends on it */
        madvise(space->host + (first << MEM_PAGE_SHIFT), (end - first) << MEM_PAGE_SHIFT, MADV_HUGEPAGE);
    for (uint64_t page = first; page < end; page++) {
        if (space->prot[page] == 0)
            space->mapped_bytes += MEM_PAGE_BYTES;
        space->prot[page] = (uint8_t)prot;
    }
    if (space->mapped_bytes > space->mapped_peak_bytes)
        space->mapped_peak_bytes = space->mapped_bytes;
    return true;
}

void mem_space_sparse(struct mem_space *space, uint64_t addr, uint64_t bytes)
{
    uint64_t first, end;
    if (page_range(space, addr, bytes, &first, &end))
        madvise(space->host + (first << MEM_PAGE_SHIFT), (end - first) << MEM_PAGE_SHIFT, MADV_NOHUGEPAGE);
}

bool mem_space_unmap(struct mem_space *space, uint64_t addr, uint64_t bytes)
{
    uint64_t first, end;
    if (!page_range(space, addr, bytes, &first, &end))
        return false;
    for (uint64_t page = first; page < end; page++) {
        if (space->prot[page] != 0)
            space->mapped_bytes -= MEM_PAGE_BYTES;
        space->prot[page] = 0;
    }
    /* A fresh mapping drops the old bytes, so that pages mapped again later read as zero. */
    void *p = mmap(space->host + (first << MEM_PAGE_SHIFT), (end - first) << MEM_PAGE_SHIFT, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return p != MAP_FAILED;
}

bool mem_space_protect(struct mem_space *space, uint64_t addr, uint64_t bytes, unsigned prot)
{
    uint64_t first, end;
    if (!page_range(space, addr, bytes, &first, &end))
        return false;
    for (uint64_t page = first; page < end; page++)
        if (space->prot[page] == 0)
            return false;
    memset(space->prot + first, (int)prot, end - first);
    if (prot == 0) /* no access at all is equivalent to unmapped, but the bytes stay */
        space->mapped_bytes -= (end - first) << MEM_PAGE_SHIFT;
    return true;
}

/* Finds the first free stretch of `need` bytes that begins in [from, end), at a multiple of `step` and after an unmapped page.
 * Returns 0 when there is none. from >= one page. */
static uint64_t find_free(const struct mem_space *space, uint64_t from, uint64_t end, uint64_t need, uint64_t step)
{
    uint64_t addr = (from + step - 1) & ~(step - 1);
    while (addr >= from && addr < end && need <= space->bytes - addr) {
        uint64_t page = (addr >> MEM_PAGE_SHIFT) - 1;
        const uint64_t last = (addr + need) >> MEM_PAGE_SHIFT;
        while (page < last && space->prot[page] == 0)
            page++;
        if (page == last)
            return addr;
        addr = (((page + 2) << MEM_PAGE_SHIFT) + step - 1) & ~(step - 1);
    }
    return 0;
}

uint64_t mem_space_alloc(struct mem_space *space, uint64_t bytes, uint64_t align)
{
    const uint64_t step = align > MEM_PAGE_BYTES ? align : MEM_PAGE_BYTES;
    if (bytes > space->bytes)
        return 0;
    const uint64_t need = page_ceil(bytes ? bytes : 1), guarded = need + MEM_PAGE_BYTES;
    uint64_t addr = find_free(space, space->alloc_next, space->bytes, guarded, step);
    if (addr == 0) /* what was unmapped meanwhile is found again */
        addr = find_free(space, MEM_PAGE_BYTES, space->alloc_next, guarded, step);
    if (addr == 0 || !mem_space_map(space, addr, need, MEM_READ | MEM_WRITE))
        return 0;
    space->alloc_next = addr + need + MEM_PAGE_BYTES;
    return addr;
}

uint64_t mem_space_mark(const struct mem_space *space)
{
    return space->alloc_next;
}

void mem_space_release(struct mem_space *space, uint64_t mark)
{
    if (space->alloc_next <= mark)
        return;
    mem_space_unmap(space, mark, space->alloc_next - mark);
    space->alloc_next = mark;
}

bool mem_space_explain(const struct mem_space *space, uint64_t addr, uint64_t bytes, unsigned prot, bool *unmapped,
                       uint64_t *first_bad)
{
    *unmapped = true;
    *first_bad = addr;
    if (addr >= space->bytes || bytes == 0)
        return true;
    for (uint64_t at = addr; at - addr < bytes; at = page_floor(at) + MEM_PAGE_BYTES) {
        *first_bad = at;
        if (at >= space->bytes || space->prot[at >> MEM_PAGE_SHIFT] == 0)
            return true;
        if ((space->prot[at >> MEM_PAGE_SHIFT] & prot) != prot) {
            *unmapped = false;
            return true;
        }
    }
    return false;
}
