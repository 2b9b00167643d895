/* getdents64: the entries of a folder, in the order of their names, so that runs repeat whatever the host's file system is. */
#define _GNU_SOURCE
#include "isa/list_grow.h"
#include "units/cpu/cpu_system_internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_AT = 19 };

/* Type, then name. */
static bool add_entry(struct cpu_file *f, size_t *capacity, unsigned char type, const char *name, size_t bytes)
{
    char **const list = list_grow(f->entry, f->entries, capacity, sizeof *list);
    char *const entry = list ? malloc(bytes + 2) : NULL;
    if (list)
        f->entry = list;
    if (!entry)
        return false;
    entry[0] = (char)type;
    memcpy(entry + 1, name, bytes);
    entry[bytes + 1] = 0;
    f->entry[f->entries++] = entry;
    return true;
}

static bool list_host(struct cpu_file *f, size_t *capacity)
{
    const int again = dup(f->host);
    DIR *const folder = again >= 0 ? fdopendir(again) : NULL;
    bool ok = folder != NULL;
    if (!folder && again >= 0)
        close(again);
    if (folder)
        rewinddir(folder);
    for (struct dirent *e; ok && (e = readdir(folder));)
        ok = add_entry(f, capacity, e->d_type, e->d_name, strlen(e->d_name));
    if (folder)
        closedir(folder);
    return ok;
}

static bool list_way(const struct cpu_linux *l, struct cpu_file *f, size_t *capacity)
{
    const char *name;
    size_t bytes = 0;
    bool ok = add_entry(f, capacity, DT_DIR, ".", 1) && add_entry(f, capacity, DT_DIR, "..", 2);
    for (size_t i = 0; ok && (name = cpu_sandbox_way_entry(l->sandbox, f->path, i, &bytes)); i++)
        ok = add_entry(f, capacity, DT_UNKNOWN, name, bytes);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a + 1, *(char *const *)b + 1);
}

static bool list_folder(const struct cpu_linux *l, struct cpu_file *f)
{
    size_t capacity = 0;
    for (size_t i = 0; i < f->entries; i++)
        free(f->entry[i]);
    free(f->entry);
    f->entry = NULL;
    f->entries = 0;
    if (!(f->kind == CPU_FILE_WAY ? list_way(l, f, &capacity) : list_host(f, &capacity)))
        return false;
    qsort(f->entry, f->entries, sizeof *f->entry, by_name);
    return true;
}

int64_t cpu_linux_getdents64(struct cpu_linux_call *c)
{
    struct cpu_file *const f = cpu_linux_file(c->system, c->arg[0]);
    const uint64_t room = (uint32_t)c->arg[2];
    uint64_t used = 0;
    if (!f)
        return -L_EBADF;
    if (f->kind != CPU_FILE_FOLDER && f->kind != CPU_FILE_WAY)
        return -L_ENOTDIR;
    if (f->at == 0 && !list_folder(c->system, f))
        return -L_ENOMEM;
    for (; f->at < f->entries; f->at++) {
        const char *const entry = f->entry[f->at];
        const size_t name_bytes = strlen(entry + 1) + 1;
        const uint16_t bytes = (uint16_t)((NAME_AT + name_bytes + 7) & ~UINT64_C(7));
        uint8_t record[NAME_AT + 256 + 8] = {0};
        const uint64_t number = f->at + 1;
        if (name_bytes > 256)
            continue;
        if (used + bytes > room)
            return used ? (int64_t)used : -L_EINVAL;
        memcpy(record, &number, 8);
        memcpy(record + 8, &number, 8);
        memcpy(record + 16, &bytes, 2);
        record[18] = (uint8_t)entry[0];
        memcpy(record + NAME_AT, entry + 1, name_bytes);
        if (cpu_linux_give(c, c->arg[1] + used, record, bytes))
            return -L_EFAULT;
        used += bytes;
    }
    return (int64_t)used;
}
