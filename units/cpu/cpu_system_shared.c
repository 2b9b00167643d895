/* Shared mappings of files that may be written: what the program stored goes to the file at msync, at munmap and at the end. */
#include "isa/list_grow.h"
#include "units/cpu/cpu_system_internal.h"

#include <unistd.h>

int64_t cpu_linux_share(struct cpu_linux *l, struct cpu_file *file, uint64_t addr, uint64_t bytes, uint64_t offset)
{
    struct cpu_shared *const list = list_grow(l->shared, l->shares, &l->share_capacity, sizeof *list);
    if (!list)
        return -L_ENOMEM;
    l->shared = list;
    file->refs++;
    l->shared[l->shares++] = (struct cpu_shared){file, addr, bytes, offset};
    return 0;
}

/* The file keeps its length: what the last page has beyond it is not written. */
static void write_part(const struct cpu_linux *l, const struct cpu_shared *s, uint64_t from, uint64_t to)
{
    struct stat st;
    if (fstat(s->file->host, &st) != 0)
        return;
    const uint64_t length = (uint64_t)st.st_size, left = length > s->offset ? length - s->offset : 0;
    to = to - s->addr < left ? to : s->addr + left;
    while (from < to) {
        const ssize_t n = pwrite(s->file->host, l->space->host + from, to - from, (off_t)(s->offset + from - s->addr));
        if (n <= 0)
            return;
        from += (uint64_t)n;
    }
}

void cpu_linux_write_back(struct cpu_linux *l, uint64_t addr, uint64_t bytes, bool forget)
{
    const uint64_t end = bytes > UINT64_MAX - addr ? UINT64_MAX : addr + bytes;
    for (size_t i = 0; i < l->shares;) {
        struct cpu_shared *const s = &l->shared[i];
        const uint64_t from = addr > s->addr ? addr : s->addr, to = end < s->addr + s->bytes ? end : s->addr + s->bytes;
        if (from < to)
            write_part(l, s, from, to);
        if (forget && from <= s->addr && to >= s->addr + s->bytes) {
            cpu_linux_file_drop(s->file);
            l->shared[i] = l->shared[--l->shares];
        } else {
            i++;
        }
    }
}
