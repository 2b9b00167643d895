/* Types, interned, with sizes and alignments as the data layout of clang's spir64 target has them: vectors of up to 1024 bits are
 * aligned to their size rounded up to a power of two, everything else as C has it on 64-bit machines
 * (llvm.org/docs/LangRef.html#data-layout). */
#include "isa/agx/compiler/ir_parts.h"

#include "isa/rounding.h"

#include <stdlib.h>
#include <string.h>

/* ---- interning ---- */

uint64_t ir_hash_text(const char *text, size_t length)
{
    uint64_t hash = length;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = ir_hash(hash, word);
        text += 8;
        length -= 8;
    }
    uint64_t rest = 0;
    memcpy(&rest, text, length);
    return ir_hash(hash, rest);
}

void *ir_intern_find(const struct ir_intern *table, uint64_t hash, ir_intern_same same, const void *key)
{
    if (!table->slots)
        return NULL;
    for (size_t i = hash & (table->slots - 1);; i = (i + 1) & (table->slots - 1)) {
        const struct ir_intern_slot *const slot = &table->slot[i];
        if (!slot->item)
            return NULL;
        if (slot->hash == hash && same(slot->item, key))
            return slot->item;
    }
}

static void put(struct ir_intern *table, uint64_t hash, void *item)
{
    size_t i = hash & (table->slots - 1);
    while (table->slot[i].item)
        i = (i + 1) & (table->slots - 1);
    table->slot[i] = (struct ir_intern_slot){hash, item};
    table->used++;
}

bool ir_intern_add(struct ir_intern *table, uint64_t hash, void *item)
{
    if (4 * (table->used + 1) > 3 * table->slots) {
        struct ir_intern grown = {.slots = table->slots ? 2 * table->slots : 64};
        grown.slot = calloc(grown.slots, sizeof *grown.slot);
        if (!grown.slot)
            return false;
        for (size_t i = 0; i < table->slots; i++)
            if (table->slot[i].item)
                put(&grown, table->slot[i].hash, table->slot[i].item);
        free(table->slot);
        *table = grown;
    }
    put(table, hash, item);
    return true;
}

static bool same_type(const void *item, const void *key)
{
    const struct ir_type *const a = item, *const b = key;
    if (a->kind != b->kind || a->bits != b->bits || a->space != b->space || a->count != b->count || a->element != b->element ||
        a->packed != b->packed)
        return false;
    return a->kind != IR_STRUCT || a->count == 0 || memcmp(a->member, b->member, a->count * sizeof(struct ir_type *)) == 0;
}

/* The type that equals `key`; members are copied. */
static const struct ir_type *intern(struct ir_module *m, const struct ir_type *key)
{
    uint64_t hash = ir_hash(ir_hash(key->kind, key->bits), (uint64_t)key->space << 1 | key->packed);
    hash = ir_hash_pointer(ir_hash(hash, key->count), key->element);
    for (uint64_t i = 0; key->kind == IR_STRUCT && i < key->count; i++)
        hash = ir_hash_pointer(hash, key->member[i]);
    const struct ir_type *const found = ir_intern_find(&m->types, hash, same_type, key);
    if (found)
        return found;
    struct ir_type *const made = ir_alloc(m, sizeof *made);
    const struct ir_type **member = NULL;
    uint64_t *offset = NULL;
    if (key->kind == IR_STRUCT) {
        const size_t count = (size_t)key->count;
        member = ir_alloc(m, count * sizeof *member);
        offset = ir_alloc(m, count * sizeof *offset);
        if (count && !m->failed) {
            memcpy(member, key->member, count * sizeof *member);
            memcpy(offset, key->member_offset, count * sizeof *offset);
        }
    }
    if (m->failed || !ir_intern_add(&m->types, hash, made)) {
        m->failed = true;
        return &m->scrap_type;
    }
    *made = *key;
    made->member = member;
    made->member_offset = offset;
    return made;
}

/* ---- the kinds ---- */

const struct ir_type *ir_void(struct ir_module *m)
{
    return intern(m, &(struct ir_type){.kind = IR_VOID, .align = 1});
}

const struct ir_type *ir_label(struct ir_module *m)
{
    return intern(m, &(struct ir_type){.kind = IR_LABEL, .align = 1});
}

const struct ir_type *ir_metadata(struct ir_module *m)
{
    return intern(m, &(struct ir_type){.kind = IR_METADATA, .align = 1});
}

static uint64_t power_of_two_from(uint64_t bytes)
{
    uint64_t power = 1;
    while (power < bytes && power < UINT64_C(1) << 62)
        power *= 2;
    return power;
}

const struct ir_type *ir_int(struct ir_module *m, unsigned bits)
{
    const uint64_t stored = divide_up(bits, 8);
    const uint64_t natural = power_of_two_from(stored), align = natural > 8 ? 8 : natural;
    return intern(m, &(struct ir_type){.kind = IR_INT, .bits = bits, .bytes = round_up(stored, align), .align = align});
}

const struct ir_type *ir_float(struct ir_module *m, unsigned bits)
{
    return intern(m, &(struct ir_type){.kind = IR_FLOAT, .bits = bits, .bytes = bits / 8, .align = bits / 8});
}

const struct ir_type *ir_pointer(struct ir_module *m, enum ir_space space)
{
    return intern(m, &(struct ir_type){.kind = IR_POINTER, .bits = 64, .space = space, .bytes = 8, .align = 8});
}

const struct ir_type *ir_vector(struct ir_module *m, const struct ir_type *element, uint64_t count)
{
    const uint64_t align = power_of_two_from(divide_up(count * element->bits, 8));
    return intern(m, &(struct ir_type){.kind = IR_VECTOR, .count = count, .element = element, .bytes = align, .align = align});
}

const struct ir_type *ir_array(struct ir_module *m, const struct ir_type *element, uint64_t count)
{
    return intern(
        m, &(struct ir_type){
               .kind = IR_ARRAY, .count = count, .element = element, .bytes = count * element->bytes, .align = element->align});
}

const struct ir_type *ir_struct(struct ir_module *m, const struct ir_type *const *member, unsigned count, bool packed)
{
    uint64_t *const offset = calloc(count ? count : 1, sizeof *offset);
    if (!offset) {
        m->failed = true;
        return &m->scrap_type;
    }
    uint64_t bytes = 0, align = 1;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t own = packed ? 1 : member[i]->align;
        bytes = round_up(bytes, own);
        offset[i] = bytes;
        bytes += member[i]->bytes;
        if (own > align)
            align = own;
    }
    const struct ir_type *const type = intern(m, &(struct ir_type){.kind = IR_STRUCT,
                                                                   .count = count,
                                                                   .member = member,
                                                                   .member_offset = offset,
                                                                   .bytes = round_up(bytes, align),
                                                                   .align = align,
                                                                   .packed = packed});
    free(offset);
    return type;
}
