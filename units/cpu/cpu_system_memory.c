/* brk, mmap, munmap, mremap, mprotect, madvise. Mappings grow down from the top of the space, so that they stay clear of the heap
 * and of buffers that orchard allocates from below. The program may count in 4 KiB pages: a 16 KiB page that it handles in parts
 * keeps the permissions of all parts, and is unmapped with the last of them.
 */
#include "units/cpu/cpu_system_internal.h"

#include <string.h>

enum { L_PROT_READ = 1, L_PROT_WRITE = 2, L_PROT_EXEC = 4 };
enum { L_MAP_SHARED = 1, L_MAP_FIXED = 0x10, L_MAP_ANONYMOUS = 0x20, L_MAP_FIXED_NOREPLACE = 0x100000 };
enum { L_MADV_DONTNEED = 4 };
enum { PART_SHIFT = 12, PARTS = MEM_PAGE_BYTES >> PART_SHIFT, ALL_PARTS = (1 << PARTS) - 1 };

static uint64_t page_down(uint64_t addr)
{
    return addr & ~(MEM_PAGE_BYTES - 1);
}

static uint64_t page_up(uint64_t addr)
{
    return page_down(addr + MEM_PAGE_BYTES - 1);
}

static bool in_space(const struct mem_space *space, uint64_t addr, uint64_t bytes)
{
    return addr < space->bytes && bytes <= space->bytes - addr;
}

static unsigned page_prot(const struct mem_space *space, uint64_t page)
{
    unsigned prot = 0;
    for (unsigned bit = MEM_READ; bit <= MEM_EXEC; bit <<= 1)
        if (mem_at(space, page, 1, bit))
            prot |= bit;
    return prot;
}

static bool in_use(const struct cpu_linux *l, uint64_t page)
{
    return l->owned[page >> MEM_PAGE_SHIFT] || page_prot(l->space, page);
}

/* Write-only memory does not exist on AArch64. */
static unsigned to_prot(uint64_t prot)
{
    return (prot & (L_PROT_READ | L_PROT_WRITE) ? MEM_READ : 0u) | (prot & L_PROT_WRITE ? MEM_WRITE : 0u) |
           (prot & L_PROT_EXEC ? MEM_EXEC : 0u);
}

/* The quarters of the page at `page` that [addr, end) covers, as bits. */
static uint8_t parts_of(uint64_t page, uint64_t addr, uint64_t end)
{
    uint8_t parts = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        const uint64_t at = page + ((uint64_t)i << PART_SHIFT);
        if (at >= addr && at < end)
            parts |= (uint8_t)(1u << i);
    }
    return parts;
}

static void own(struct cpu_linux *l, uint64_t addr, uint64_t end)
{
    for (uint64_t page = page_down(addr); page < end; page += MEM_PAGE_BYTES)
        l->owned[page >> MEM_PAGE_SHIFT] |= parts_of(page, addr, end);
}

/* Finds the highest free stretch below `top`; 0 when there is none. Page 0 is never handed out. */
static uint64_t find_free(const struct cpu_linux *l, uint64_t top, uint64_t bytes)
{
    while (top > MEM_PAGE_BYTES && bytes <= top - MEM_PAGE_BYTES) {
        uint64_t page = top;
        while (page > top - bytes && !in_use(l, page - MEM_PAGE_BYTES))
            page -= MEM_PAGE_BYTES;
        if (page == top - bytes)
            return page;
        top = page - MEM_PAGE_BYTES;
    }
    return 0;
}

int64_t cpu_linux_brk(struct cpu_linux_call *c)
{
    struct cpu_linux *l = c->system;
    const uint64_t want = c->arg[0];
    if (want < l->params.heap_start || want > l->space->bytes)
        return (int64_t)l->brk;
    const uint64_t end = page_up(want);
    for (uint64_t page = l->heap_mapped; page < end; page += MEM_PAGE_BYTES)
        if (in_use(l, page))
            return (int64_t)l->brk;
    if (end > l->heap_mapped && !mem_space_map(l->space, l->heap_mapped, end - l->heap_mapped, MEM_READ | MEM_WRITE))
        return (int64_t)l->brk;
    if (end < l->heap_mapped)
        mem_space_unmap(l->space, end, l->heap_mapped - end);
    l->heap_mapped = end;
    l->brk = want;
    return (int64_t)want;
}

/* Chooses the address of a mapping: the requested one with MAP_FIXED, otherwise a free one. 0 = none. */
static uint64_t choose(struct cpu_linux *l, uint64_t want, uint64_t bytes, uint64_t flags)
{
    if (flags & (L_MAP_FIXED | L_MAP_FIXED_NOREPLACE)) {
        bool usable = want >= MEM_PAGE_BYTES && want % MEM_PAGE_BYTES == 0 && in_space(l->space, want, bytes);
        for (uint64_t at = want; usable && (flags & L_MAP_FIXED_NOREPLACE) && at < want + bytes; at += MEM_PAGE_BYTES)
            usable = !in_use(l, at);
        return usable ? want : 0;
    }
    const uint64_t addr = find_free(l, l->mmap_hint, bytes);
    if (addr && addr + bytes == l->mmap_hint)
        l->mmap_hint = addr;
    return addr;
}

/* The file that a mapping shows, with what it may be mapped as. NULL with *error = 0 for anonymous memory. */
static struct cpu_file *mapped_file(const struct cpu_linux_call *c, int64_t *error)
{
    enum { ACCESS = 3, READ_WRITE = 2 };
    *error = 0;
    if (c->arg[3] & L_MAP_ANONYMOUS)
        return NULL;
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[4]);
    const bool shared_write = c->arg[3] & L_MAP_SHARED && c->arg[2] & L_PROT_WRITE;
    *error = !f                                                                                ? -L_EBADF
             : f->kind != CPU_FILE_HOST && f->kind != CPU_FILE_ZERO                            ? -L_ENODEV
             : (f->flags & ACCESS) == 1 || (shared_write && (f->flags & ACCESS) != READ_WRITE) ? -L_EACCES
             : c->arg[5] % c->system->params.page_bytes                                        ? -L_EINVAL
                                                                                               : 0;
    return f;
}

/* Puts the contents of the file there; a shared mapping that may be written is remembered, to be written back. */
static int64_t fill(struct cpu_linux_call *c, struct cpu_file *f, uint64_t addr)
{
    uint8_t *const host = c->system->space->host + addr;
    for (uint64_t done = 0; done < c->arg[1];) {
        const int64_t n = cpu_linux_file_read(c, f, host + done, c->arg[1] - done, (int64_t)(c->arg[5] + done));
        if (n < 0)
            return n;
        if (n == 0)
            break;
        done += (uint64_t)n;
    }
    if (c->arg[3] & L_MAP_SHARED && c->arg[2] & L_PROT_WRITE && f->kind == CPU_FILE_HOST)
        return cpu_linux_share(c->system, f, addr, c->arg[1], c->arg[5]);
    return 0;
}

int64_t cpu_linux_mmap(struct cpu_linux_call *c)
{
    struct cpu_linux *l = c->system;
    const uint64_t bytes = page_up(c->arg[1]), flags = c->arg[3];
    const unsigned prot = to_prot(c->arg[2]);
    int64_t error;
    struct cpu_file *const file = mapped_file(c, &error);
    if (!error && file && flags & L_MAP_SHARED)
        error = cpu_linux_map_memory(c, file);
    if (error)
        return error;
    if (c->arg[1] == 0)
        return -L_EINVAL;
    if (c->arg[1] > l->space->bytes)
        return -L_ENOMEM;
    const uint64_t addr = choose(l, c->arg[0], bytes, flags);
    if (addr == 0)
        return flags & (L_MAP_FIXED | L_MAP_FIXED_NOREPLACE) ? -L_EINVAL : -L_ENOMEM;
    if (flags & L_MAP_FIXED) {
        cpu_linux_write_back(l, addr, bytes, true);
        mem_space_unmap(l->space, addr, bytes);
        cpu_core_forget_code(c->core, addr, bytes);
    }
    if ((prot || file) && !mem_space_map(l->space, addr, bytes, prot | (file ? MEM_READ | MEM_WRITE : 0)))
        return -L_ENOMEM;
    memset(l->owned + (addr >> MEM_PAGE_SHIFT), 0, bytes >> MEM_PAGE_SHIFT);
    own(l, addr, addr + c->arg[1]);
    if (!file)
        return (int64_t)addr;
    error = fill(c, file, addr);
    mem_space_protect(l->space, addr, bytes, prot);
    return error ? error : (int64_t)addr;
}

/* Removes [addr, end) from one page. Returns whether nothing of it is left, so that it is to be unmapped. */
static bool release_page(struct cpu_linux *l, uint64_t page, uint64_t addr, uint64_t end)
{
    uint8_t *owned = &l->owned[page >> MEM_PAGE_SHIFT];
    const uint8_t before = *owned ? *owned : ALL_PARTS; /* pages of the program file and the heap are complete */
    const uint8_t after = before & (uint8_t)~parts_of(page, addr, end);
    *owned = after;
    return after == 0;
}

/* Removes [addr, end) and unmaps pages in stretches: runtimes of languages reserve gigabytes and give most of them back at once.
 */
static void release(struct cpu_linux *l, uint64_t addr, uint64_t end)
{
    uint64_t first = page_down(addr), page;
    for (page = first; page < end; page += MEM_PAGE_BYTES) {
        if (in_use(l, page) && release_page(l, page, addr, end))
            continue;
        if (page > first)
            mem_space_unmap(l->space, first, page - first);
        first = page + MEM_PAGE_BYTES;
    }
    if (page > first)
        mem_space_unmap(l->space, first, page - first);
}

int64_t cpu_linux_munmap(struct cpu_linux_call *c)
{
    struct cpu_linux *l = c->system;
    const uint64_t addr = c->arg[0], bytes = c->arg[1];
    if (addr % l->params.page_bytes || bytes == 0 || !in_space(l->space, addr, bytes))
        return -L_EINVAL;
    const uint64_t end = addr + bytes;
    cpu_linux_write_back(l, addr, bytes, true);
    release(l, addr, end);
    cpu_core_forget_code(c->core, addr, bytes);
    const uint64_t limit = l->params.map_top ? l->params.map_top : l->space->bytes;
    if (page_up(end) > l->mmap_hint && page_up(end) <= limit)
        l->mmap_hint = page_up(end);
    return 0;
}

/* ---- changing the length of a mapping ---- */

/* Lets the pages of [addr, end) be one mapping with the permissions of a page; false when memory is out. */
static bool take_pages(struct cpu_linux *l, uint64_t addr, uint64_t end, unsigned prot)
{
    if (prot && !mem_space_map(l->space, addr, end - addr, prot))
        return false;
    own(l, addr, end);
    return true;
}

/* A mapping grows where it is when what follows it is free. */
static bool grow_in_place(struct cpu_linux *l, uint64_t end, uint64_t new_end, unsigned prot)
{
    if (new_end > (l->params.map_top ? l->params.map_top : l->space->bytes))
        return false;
    for (uint64_t page = end; page < new_end; page += MEM_PAGE_BYTES)
        if (in_use(l, page))
            return false;
    return take_pages(l, end, new_end, prot);
}

static int64_t move_mapping(struct cpu_linux_call *c, uint64_t from, uint64_t bytes, uint64_t new_bytes, unsigned prot)
{
    struct cpu_linux *const l = c->system;
    const uint64_t to = find_free(l, l->mmap_hint, new_bytes);
    if (!to || !take_pages(l, to, to + new_bytes, prot))
        return -L_ENOMEM;
    if (prot)
        memcpy(l->space->host + to, l->space->host + from, bytes);
    release(l, from, from + bytes);
    cpu_core_forget_code(c->core, from, bytes);
    return (int64_t)to;
}

/* Of anonymous memory with the same permissions throughout. What is shared with a file stays as it is: C libraries then map it
 * anew. */
int64_t cpu_linux_mremap(struct cpu_linux_call *c)
{
    enum { MAY_MOVE = 1 };
    struct cpu_linux *const l = c->system;
    const uint64_t addr = c->arg[0], bytes = page_up(c->arg[1]), new_bytes = page_up(c->arg[2]);
    if (addr % MEM_PAGE_BYTES || !c->arg[1] || !c->arg[2] || c->arg[3] & ~(uint64_t)MAY_MOVE)
        return -L_EINVAL;
    if (!in_space(l->space, addr, bytes) || c->arg[1] > l->space->bytes || c->arg[2] > l->space->bytes || l->shares)
        return -L_ENOMEM;
    const unsigned prot = page_prot(l->space, addr);
    for (uint64_t page = addr; page < addr + bytes; page += MEM_PAGE_BYTES)
        if (!in_use(l, page) || page_prot(l->space, page) != prot)
            return -L_EFAULT;
    if (new_bytes <= bytes) {
        release(l, addr + new_bytes, addr + bytes);
        cpu_core_forget_code(c->core, addr + new_bytes, bytes - new_bytes);
        return (int64_t)addr;
    }
    if (grow_in_place(l, addr + bytes, addr + new_bytes, prot))
        return (int64_t)addr;
    return c->arg[3] & MAY_MOVE ? move_mapping(c, addr, bytes, new_bytes, prot) : -L_ENOMEM;
}

int64_t cpu_linux_mprotect(struct cpu_linux_call *c)
{
    struct cpu_linux *l = c->system;
    const uint64_t addr = c->arg[0], bytes = c->arg[1];
    const unsigned prot = to_prot(c->arg[2]);
    if (addr % l->params.page_bytes)
        return -L_EINVAL;
    if (bytes == 0)
        return 0;
    if (!in_space(l->space, addr, bytes))
        return -L_ENOMEM;
    for (uint64_t page = page_down(addr); page < addr + bytes; page += MEM_PAGE_BYTES)
        if (!in_use(l, page))
            return -L_ENOMEM;
    /* The program rounds its last page up to its own page size; what follows in the same simulated page keeps its permissions. */
    const uint64_t end = (addr + bytes + l->params.page_bytes - 1) & ~(uint64_t)(l->params.page_bytes - 1);
    for (uint64_t page = page_down(addr); page < addr + bytes; page += MEM_PAGE_BYTES) {
        const bool whole = addr <= page && end >= page + MEM_PAGE_BYTES;
        const unsigned next = whole ? prot : prot | page_prot(l->space, page);
        if (next ? !mem_space_map(l->space, page, MEM_PAGE_BYTES, next)
                 : page_prot(l->space, page) && !mem_space_protect(l->space, page, MEM_PAGE_BYTES, 0))
            return -L_ENOMEM;
        if (next == 0)
            own(l, page, page + MEM_PAGE_BYTES); /* a page without permissions stays taken */
    }
    cpu_core_forget_code(c->core, addr, bytes);
    return 0;
}

/* Advice that may be ignored is ignored; pages that are given back read as zero afterwards. */
int64_t cpu_linux_madvise(struct cpu_linux_call *c)
{
    struct cpu_linux *l = c->system;
    if (c->arg[2] != L_MADV_DONTNEED || c->arg[1] == 0)
        return 0;
    if (c->arg[0] % l->params.page_bytes || !in_space(l->space, c->arg[0], c->arg[1]))
        return -L_EINVAL;
    uint8_t *host = mem_at(l->space, c->arg[0], c->arg[1], MEM_READ | MEM_WRITE);
    if (!host)
        return -L_ENOMEM;
    memset(host, 0, c->arg[1]);
    return 0;
}

int64_t cpu_linux_msync(struct cpu_linux_call *c)
{
    if (c->arg[0] % c->system->params.page_bytes || !in_space(c->system->space, c->arg[0], c->arg[1]))
        return -L_EINVAL;
    cpu_linux_write_back(c->system, c->arg[0], c->arg[1], false);
    return 0;
}

/* All mapped pages are in memory. */
int64_t cpu_linux_mincore(struct cpu_linux_call *c)
{
    const uint64_t page_bytes = c->system->params.page_bytes, pages = (c->arg[1] + page_bytes - 1) / page_bytes;
    const uint8_t there = 1;
    if (c->arg[0] % page_bytes)
        return -L_EINVAL;
    if (!in_space(c->system->space, c->arg[0], c->arg[1]))
        return -L_ENOMEM;
    for (uint64_t i = 0; i < pages; i++) {
        if (!in_use(c->system, page_down(c->arg[0] + i * page_bytes)))
            return -L_ENOMEM;
        if (cpu_linux_give(c, c->arg[2] + i, &there, 1))
            return -L_EFAULT;
    }
    return 0;
}
