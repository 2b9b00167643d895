/* Memory of a decoded kernel: its constants, its variables. */
#include "isa/agx/compiler/ir_interpret_parts.h"
#include "isa/list_grow.h"
#include "isa/rounding.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Bytes between variables, so that a step over an end reaches none. */
#define GAP_BYTES 64u

struct chunk {
    struct chunk *next;
    size_t used, room;
    _Alignas(16) char bytes[];
};

bool interpret_fail(struct isa_error *error, uint32_t line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (error) {
        error->line = line;
        error->offset = 0;
        vsnprintf(error->text, sizeof error->text, format, list);
    }
    va_end(list);
    return false;
}

void *program_take(struct program *p, size_t bytes)
{
    const size_t wanted = round_up(bytes, 16);
    if (!p->chunk || p->chunk->room - p->chunk->used < wanted) {
        const size_t room = wanted > 65536 ? wanted : 65536;
        struct chunk *const made = calloc(1, sizeof *made + room);
        if (!made)
            return NULL;
        made->next = p->chunk;
        made->room = room;
        p->chunk = made;
    }
    char *const taken = p->chunk->bytes + p->chunk->used;
    p->chunk->used += wanted;
    return taken;
}

static size_t hash_place(const struct program *p, uint64_t bits)
{
    size_t at = (bits * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (p->hash_size - 1);
    while (p->constant_hash[at] && p->constant[p->constant_hash[at] - 1][0] != bits)
        at = (at + 1) & (p->hash_size - 1);
    return at;
}

static bool hash_grow(struct program *p)
{
    uint32_t *const old = p->constant_hash;
    const size_t size = p->hash_size ? 2 * p->hash_size : 256;
    uint32_t *const grown = calloc(size, sizeof *grown);
    if (!grown)
        return false;
    p->constant_hash = grown;
    p->hash_size = size;
    for (uint32_t i = 0; i < p->constants; i++)
        grown[hash_place(p, p->constant[i][0])] = i + 1;
    free(old);
    return true;
}

bool program_constant(struct program *p, uint64_t bits, uint32_t *slot)
{
    *slot = CONSTANT_SLOT;
    if (2 * (p->constants + 1) > p->hash_size && !hash_grow(p))
        return false;
    const size_t at = hash_place(p, bits);
    if (!p->constant_hash[at]) {
        void *const grown = list_grow(p->constant, p->constants, &p->constant_room, sizeof *p->constant);
        if (!grown)
            return false;
        p->constant = grown;
        for (unsigned lane = 0; lane < LANES; lane++)
            p->constant[p->constants][lane] = bits;
        p->constant_hash[at] = (uint32_t)++p->constants;
    }
    *slot = CONSTANT_SLOT | (p->constant_hash[at] - 1);
    return true;
}

bool program_object(struct objects *o, uint64_t bytes, uint64_t align, uint64_t *offset)
{
    void *const grown = list_grow(o->item, o->count, &o->room, sizeof *o->item);
    *offset = 0;
    if (!grown)
        return false;
    o->item = grown;
    const uint64_t at = round_up(o->bytes + (o->count ? GAP_BYTES : 0), align < 16 ? 16 : align);
    o->item[o->count++] = (struct object){at, bytes};
    o->bytes = at + bytes;
    *offset = at;
    return true;
}

void program_free(struct program *p)
{
    while (p->chunk) {
        struct chunk *const next = p->chunk->next;
        free(p->chunk);
        p->chunk = next;
    }
    free(p->step);
    free(p->constant);
    free(p->constant_hash);
    free(p->threadgroup.item);
    free(p->private.item);
    free(p->module.item);
    free(p->module_bytes);
    free(p->special);
    free(p->copy);
}
