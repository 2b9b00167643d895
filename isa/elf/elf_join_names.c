/* Which objects are needed, and who defines what. */
#include "isa/elf/elf_join_parts.h"
#include "isa/list_grow.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool join_is_global(const struct elf_symbol *s)
{
    return s->binding != STB_LOCAL && s->name[0] != 0;
}

/* ---- names ---- */

static uint64_t hash_of(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return h;
}

static size_t slot_of(const struct join *j, const char *name)
{
    size_t at = hash_of(name) & (j->buckets - 1);
    while (j->bucket[at] && strcmp(j->name[j->bucket[at] - 1].name, name) != 0)
        at = (at + 1) & (j->buckets - 1);
    return at;
}

struct join_name *join_find(const struct join *j, const char *name)
{
    if (!j->buckets)
        return NULL;
    const uint32_t found = j->bucket[slot_of(j, name)];
    return found ? &j->name[found - 1] : NULL;
}

static bool grow_buckets(struct join *j)
{
    if (2 * j->names < j->buckets)
        return true;
    free(j->bucket);
    j->buckets = j->buckets ? 2 * j->buckets : 1024;
    j->bucket = calloc(j->buckets, sizeof *j->bucket);
    if (!j->bucket) {
        j->buckets = 0;
        return elf_refuse(j->error, 0, "no memory");
    }
    for (size_t i = 0; i < j->names; i++)
        j->bucket[slot_of(j, j->name[i].name)] = (uint32_t)i + 1;
    return true;
}

static struct join_name *add_name(struct join *j, const char *name)
{
    struct join_name *const known = join_find(j, name);
    if (known)
        return known;
    struct join_name *const list = grow_buckets(j) ? list_grow(j->name, j->names, &j->name_room, sizeof *list) : NULL;
    if (!list)
        return NULL;
    j->name = list;
    j->bucket[slot_of(j, name)] = (uint32_t)j->names + 1;
    j->name[j->names] = (struct join_name){.name = name, .object = UINT32_MAX};
    return &j->name[j->names++];
}

static enum join_rank rank_of(const struct join_object *o, const struct elf_symbol *s)
{
    if (s->section == SHN_UNDEF || (s->section < o->elf.section_count && o->dropped[s->section]))
        return s->binding == STB_WEAK ? JOIN_UNDEFINED_WEAK : JOIN_UNDEFINED;
    if (s->section == SHN_COMMON)
        return JOIN_COMMON;
    return s->binding == STB_WEAK ? JOIN_WEAK : JOIN_STRONG;
}

/* The larger of two common symbols stays. */
static bool is_better(const struct join *j, const struct join_name *n, enum join_rank rank, const struct elf_symbol *s)
{
    struct elf_symbol old;
    if (n->object == UINT32_MAX || rank != n->rank || rank != JOIN_COMMON)
        return n->object == UINT32_MAX || rank > n->rank;
    elf_symbol(&j->object[n->object].elf, n->symbol, &old);
    return s->bytes > old.bytes;
}

static bool note_symbol(struct join *j, uint32_t object, uint32_t symbol, const struct elf_symbol *s)
{
    const enum join_rank rank = rank_of(&j->object[object], s);
    struct join_name *const n = add_name(j, s->name);
    if (!n)
        return elf_refuse(j->error, 0, "no memory");
    if (rank == JOIN_STRONG && n->rank == JOIN_STRONG && n->object != UINT32_MAX)
        return elf_refuse(j->error, 0, "%.120s: %.80s is defined a second time, after %.120s", j->object[object].name, s->name,
                          j->object[n->object].name);
    if (!is_better(j, n, rank, s))
        return true;
    n->object = object;
    n->symbol = symbol;
    n->rank = (uint8_t)rank;
    return true;
}

/* ---- groups ---- */

#define GROUP_PREFIX "group " /* no symbol has a blank in its name */

/* Drops the sections of a group whose signature another object has brought already. */
static bool note_group(struct join *j, struct join_object *o, const struct elf_section *group)
{
    struct elf_symbol s = {.name = ""};
    uint32_t word = 0;
    if (group->info < o->elf.symbol_count)
        elf_symbol(&o->elf, group->info, &s);
    char *const key = malloc(strlen(s.name) + sizeof GROUP_PREFIX);
    if (!key)
        return elf_refuse(j->error, 0, "no memory");
    memcpy(key, GROUP_PREFIX, sizeof GROUP_PREFIX - 1);
    strcpy(key + sizeof GROUP_PREFIX - 1, s.name);
    const bool again = join_find(j, key) != NULL;
    if (group->bytes >= 4)
        memcpy(&word, o->elf.bytes + group->offset, 4);
    if (again && word & GRP_COMDAT)
        for (uint64_t at = 4; at + 4 <= group->bytes; at += 4) {
            memcpy(&word, o->elf.bytes + group->offset + at, 4);
            if (word < o->elf.section_count)
                o->dropped[word] = true;
        }
    struct join_name *const n = again ? NULL : add_name(j, key);
    if (!n) {
        free(key);
        return again || elf_refuse(j->error, 0, "no memory");
    }
    n->rank = JOIN_STRONG;
    n->key = key;
    return true;
}

/* ---- objects ---- */

static bool open_object(struct join *j, struct join_object *o)
{
    struct isa_error why;
    if (o->opened)
        return true;
    if (!elf_open(&o->elf, o->bytes, o->size, &why))
        return elf_refuse(j->error, why.offset, "%.120s: %.300s", o->name, why.text);
    if (o->elf.kind != ELF_OBJECT)
        return elf_refuse(j->error, 0, "%.120s: not an object file (.o) or archive (.a)", o->name);
    o->opened = true;
    o->dropped = calloc(o->elf.section_count + 1u, sizeof *o->dropped);
    o->section = calloc(o->elf.section_count + 1u, sizeof *o->section);
    o->symbol = calloc(o->elf.symbol_count + 1u, sizeof *o->symbol);
    return (o->dropped && o->section && o->symbol) || elf_refuse(j->error, 0, "no memory");
}

static bool include(struct join *j, uint32_t object)
{
    struct join_object *const o = &j->object[object];
    if (!open_object(j, o))
        return false;
    o->included = true;
    for (uint32_t i = 1; i < o->elf.section_count; i++) {
        struct elf_section s;
        elf_section(&o->elf, i, &s);
        if (s.type == SHT_GROUP && !note_group(j, o, &s))
            return false;
    }
    for (uint32_t i = 1; i < o->elf.symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(&o->elf, i, &s);
        if (join_is_global(&s) && !note_symbol(j, object, i, &s))
            return false;
    }
    return true;
}

/* Whether a member defines something that is needed. */
static bool is_needed(const struct join *j, const struct join_object *o)
{
    for (uint32_t i = 1; i < o->elf.symbol_count; i++) {
        struct elf_symbol s;
        elf_symbol(&o->elf, i, &s);
        if (!join_is_global(&s) || s.section == SHN_UNDEF)
            continue;
        const struct join_name *const n = join_find(j, s.name);
        if (n && n->rank == JOIN_UNDEFINED)
            return true;
    }
    return false;
}

static bool want(struct join *j, const char *wanted)
{
    struct join_name *const n = wanted ? add_name(j, wanted) : NULL;
    if (n && n->object == UINT32_MAX)
        n->rank = JOIN_UNDEFINED;
    return !wanted || n || elf_refuse(j->error, 0, "no memory");
}

bool join_choose(struct join *j, const char *wanted)
{
    bool more = true;
    for (size_t i = 0; i < j->objects; i++)
        if (!j->object[i].optional && !include(j, (uint32_t)i))
            return false;
    if (!want(j, wanted))
        return false;
    while (more) {
        more = false;
        for (size_t i = 0; i < j->objects; i++) {
            struct join_object *const o = &j->object[i];
            if (o->included || !o->optional)
                continue;
            if (!open_object(j, o))
                return false;
            if (!is_needed(j, o))
                continue;
            if (!include(j, (uint32_t)i))
                return false;
            more = true;
        }
    }
    return true;
}
