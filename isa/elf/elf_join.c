#include "isa/elf/elf_join_parts.h"
#include "isa/list_grow.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool elf_has_undefined(const void *bytes, size_t size)
{
    struct elf_file elf;
    struct isa_error unused;
    if (!elf_is(bytes, size) || !elf_open(&elf, bytes, size, &unused) || elf.kind != ELF_OBJECT)
        return false;
    for (uint32_t i = 1; i < elf.symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(&elf, i, &s);
        if (s.section == SHN_UNDEF && s.name[0] && strcmp(s.name, "_GLOBAL_OFFSET_TABLE_") != 0)
            return true;
    }
    return false;
}

bool join_add_object(struct join *j, const char *name, const char *member, const uint8_t *bytes, size_t size, bool optional)
{
    struct join_object *const list = list_grow(j->object, j->objects, &j->object_room, sizeof *list);
    if (!list)
        return elf_refuse(j->error, 0, "no memory");
    j->object = list;
    struct join_object *const o = &j->object[j->objects++];
    *o = (struct join_object){.bytes = bytes, .size = size, .optional = optional};
    snprintf(o->name, sizeof o->name, member ? "%.120s(%.60s)" : "%.120s%s", name, member ? member : "");
    return true;
}

static bool add_all(struct join *j, const struct elf_join_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool ok = elf_is_archive(files[i].bytes, files[i].size)
                            ? join_add_archive(j, &files[i])
                            : join_add_object(j, files[i].name, NULL, files[i].bytes, files[i].size, files[i].optional);
        if (!ok)
            return false;
    }
    return true;
}

static void release(struct join *j)
{
    for (size_t i = 0; i < j->objects; i++) {
        free(j->object[i].dropped);
        free(j->object[i].section);
        free(j->object[i].symbol);
    }
    for (size_t i = 0; i < j->names; i++)
        free(j->name[i].key);
    free(j->object);
    free(j->name);
    free(j->bucket);
}

uint8_t *elf_join(const struct elf_join_file *files, size_t count, const char *wanted, size_t *size, struct isa_error *error)
{
    struct join j = {.error = error};
    const bool ok = add_all(&j, files, count) && join_choose(&j, wanted);
    uint8_t *const bytes = ok ? join_write(&j, size) : NULL;
    release(&j);
    return bytes;
}
