/* Constant tables: variables of the module outside of threadgroups. Each becomes a buffer behind the kernel's arguments, whose
 * contents go along with the code. */
#include "isa/agx/compiler/agx_select.h"
#include "isa/agx/compiler/ir_initial.h"

#include <stdlib.h>

enum { TABLE_BYTES_MAX = 16 << 20, TABLES_MAX = 64 };

static uint32_t place(struct agx_compiler *c, const struct ir_value *global)
{
    const int length = 80;
    const char *const name = global->name ? global->name : "without a name";
    if (!global->exact)
        agx_refuse(c, c->what, "the variable %.*s outside of kernels, which is not constant", length, name);
    if (global->held->bytes > TABLE_BYTES_MAX)
        agx_refuse(c, c->what, "the constant table %.*s of more than %d bytes", length, name, TABLE_BYTES_MAX);
    if (!global->initial)
        agx_refuse(c, c->what, "the variable %.*s, which has no value", length, name);
    if (c->tables == TABLES_MAX) {
        agx_refuse(c, c->what, "more than %d constant tables", TABLES_MAX);
        return 0;
    }
    c->argument_bytes = (c->argument_bytes + 7) & ~7u;
    c->table[c->tables++] = (struct agx_table_place){global, c->argument_bytes / 2};
    c->argument_bytes += 8;
    return c->argument_bytes / 2 - 4;
}

struct agx_ref agx_table(struct agx_compiler *c, const struct ir_value *global)
{
    uint32_t half = 0;
    if (!c->table)
        c->table = agx_alloc(c, TABLES_MAX * sizeof *c->table);
    for (unsigned i = 0; i < c->tables && !half; i++)
        if (c->table[i].global == global)
            half = c->table[i].half + 1;
    if (!half)
        half = place(c, global) + 1;
    return (struct agx_ref){.kind = AGX_REF_UNIFORM, .part = 32, .count = 2, .index = half - 1};
}

bool agx_take_tables(struct agx_compiler *c, struct agx_compiled *out)
{
    out->table = calloc(c->tables + 1, sizeof *out->table);
    if (!out->table)
        return agx_refuse(c, NULL, "out of memory");
    for (unsigned i = 0; i < c->tables; i++) {
        const struct ir_value *const global = c->table[i].global;
        struct agx_table *const t = &out->table[out->tables++];
        t->byte_count = (size_t)global->held->bytes;
        t->bytes = calloc(t->byte_count + 1, 1);
        if (!t->bytes)
            return agx_refuse(c, NULL, "out of memory for a table of %zu bytes", t->byte_count);
        if (!ir_initial_bytes(global, t->bytes))
            return agx_refuse(c, NULL, "the constant table %.80s, in which addresses stand", global->name ? global->name : "");
    }
    return true;
}
