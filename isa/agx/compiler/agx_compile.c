/* The back end's passes in order. */
#include "isa/agx/compiler/agx_lines.h"

#include <stdlib.h>
#include <string.h>

enum { SPILL_ROUNDS = 128 };

/* Register halves and the threads per core that they leave room for; source: Mesa, agx_performance.c. */
static const struct occupancy {
    uint16_t halves, threads;
} occupancy[] = {{256, 384}, {232, 448}, {208, 512}, {184, 576}, {160, 640},
                 {144, 704}, {136, 768}, {128, 832}, {112, 896}, {104, 1024}};

static unsigned most_halves(const struct ir_function *f, const struct agx_compile_options *options)
{
    uint64_t threads = 1;
    for (unsigned i = 0; i < 3; i++)
        threads *= f->group_size[i] ? f->group_size[i] : 1;
    if (options && options->register_halves)
        return options->register_halves < AGX_HALVES ? options->register_halves : AGX_HALVES;
    unsigned i = 0;
    while (i + 1 < sizeof occupancy / sizeof *occupancy && occupancy[i].threads < threads)
        i++;
    return occupancy[i].halves;
}

/* Halves up to which a kernel may use more without costing threads: by the table, or as threadgroup memory bounds those anyway.
 */
static unsigned free_halves(const struct agx_compiler *c)
{
    enum { GROUP_MEMORY_BYTES = 60 << 10, SMALL_HALVES = 64 }; /* of a core: philipturner/metal-benchmarks */
    const uint32_t *const size = c->f->group_size;
    if (c->used_halves < SMALL_HALVES)
        return c->used_halves;
    unsigned threads = AGX_HALVES * 4, most = c->used_halves;
    for (unsigned i = 0; i < sizeof occupancy / sizeof *occupancy; i++)
        if (c->used_halves <= occupancy[i].halves)
            threads = occupancy[i].threads;
    if (c->group_bytes && size[0]) {
        const unsigned one = size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1);
        const unsigned room = GROUP_MEMORY_BYTES / c->group_bytes * one;
        threads = room < threads ? room : threads;
    }
    for (unsigned i = 0; i < sizeof occupancy / sizeof *occupancy; i++)
        if (occupancy[i].threads >= threads && occupancy[i].halves > most && occupancy[i].halves <= c->register_halves)
            most = occupancy[i].halves;
    return most;
}

static bool allocate_once(struct agx_compiler *c)
{
    if (!agx_live(c))
        return false;
    agx_coalesce(c);
    return agx_hoist(c) && agx_allocate(c);
}

/* Tried with less and less room: what allocation makes of a schedule shows only afterwards. Without any, all is as before. */
static bool schedule(struct agx_compiler *c)
{
    const unsigned most = free_halves(c), before = c->used_halves;
    bool done = c->spills > 0;
    for (unsigned more = most - before; !done && !c->failed; more /= 2) {
        if (!agx_live(c))
            return false;
        const bool moved = agx_schedule(c, more);
        done = moved && allocate_once(c) && c->used_halves <= most;
        if (!done)
            agx_unschedule(c);
        if (!more)
            break;
    }
    return !c->failed && (done || allocate_once(c));
}

static bool registers(struct agx_compiler *c)
{
    for (unsigned round = 0; round < SPILL_ROUNDS && !c->failed; round++) {
        if (!agx_live(c))
            return false;
        agx_coalesce(c);
        if (!agx_hoist(c))
            return false;
        if (agx_allocate(c))
            return schedule(c);
        if (!c->failed && !agx_spill(c))
            return false;
    }
    return agx_refuse(c, NULL, "the kernel needs more than %u register halves", c->register_halves);
}

/* Which source line each line of text belongs to; waits belong to the instruction that they stand in front of. */
static bool find_places(struct agx_compiler *c, struct agx_compiled *out)
{
    const struct agx_assembly *const p = &out->program;
    out->place = calloc(p->line_count + 1, sizeof *out->place);
    if (!out->place)
        return agx_refuse(c, NULL, "out of memory");
    unsigned at = 0;
    uint32_t text_line = 1;
    for (const char *t = out->assembly; *t == '.'; t = strchr(t, '\n') + 1)
        text_line++;
    for (size_t i = 0; i < p->line_count; i++) {
        while (at < c->lines) {
            const struct agx_line *const line = &c->line[at];
            const uint32_t length = 1u + (line->wait & 1u) + (line->wait >> 1 & 1u);
            if (p->lines[i].line < text_line + length)
                break;
            text_line += length;
            at++;
        }
        if (at < c->lines && c->line[at].line)
            out->place[out->places++] = (struct agx_source_place){p->lines[i].offset, c->line[at].line, c->line[at].file};
    }
    return true;
}

/* The preamble has no stack. */
static bool preamble(struct agx_compiler *c)
{
    struct agx_compiler *const p = c->preamble;
    if (!p)
        return true;
    if (!registers(p))
        return false;
    if (p->spills)
        return agx_refuse(p, NULL, "a preamble that needs the stack");
    agx_slots(p);
    if (!agx_masks(p))
        return false;
    agx_known(p);
    agx_waits(p);
    return !p->failed;
}

static bool finish(struct agx_compiler *c, struct agx_compiled *out)
{
    struct isa_error error = {.line = 0};
    out->assembly = agx_print(c, &out->assembly_bytes);
    if (!out->assembly)
        return false;
    if (!agx_assemble(out->assembly, out->assembly_bytes, &out->program, &error))
        return agx_refuse(c, NULL, "the compiler made line %lu, which the assembler refuses: %.150s", error.line, error.text);
    out->spills = c->spills;
    return agx_take_tables(c, out) && find_places(c, out);
}

static bool compile(struct agx_compiler *c, struct agx_compiled *out)
{
    bool ok = agx_arena_start(c) || agx_refuse(c, NULL, "out of memory");
    ok = ok && agx_structure(c) && agx_select(c) && registers(c);
    if (ok)
        agx_slots(c);
    ok = ok && agx_masks(c) && preamble(c);
    if (ok) {
        agx_known(c);
        agx_waits(c);
        agx_hints(c);
        ok = !c->failed && finish(c, out);
    }
    return ok;
}

/* A preamble that would need the stack is left out: then each thread computes what it would have. */
bool agx_compile(const struct ir_function *lowered, const struct agx_compile_options *options, struct agx_compiled *out,
                 struct isa_error *error)
{
    bool ok = false, again = true;
    for (unsigned attempt = 0; attempt < 2 && !ok && again; attempt++) {
        struct agx_compiler c = {.f = lowered, .error = error, .no_preamble = attempt > 0};
        *out = (struct agx_compiled){.assembly = NULL};
        *error = (struct isa_error){.line = 0};
        c.register_halves = most_halves(lowered, options);
        ok = compile(&c, out);
        again = c.preamble && c.preamble->spills + c.preamble->failed > 0;
        agx_arena_free(&c);
        if (!ok)
            agx_compiled_free(out);
    }
    return ok;
}

void agx_compiled_free(struct agx_compiled *compiled)
{
    free(compiled->assembly);
    free(compiled->place);
    for (unsigned i = 0; i < compiled->tables; i++)
        free(compiled->table[i].bytes);
    free(compiled->table);
    agx_assembly_free(&compiled->program);
    *compiled = (struct agx_compiled){.assembly = NULL};
}
