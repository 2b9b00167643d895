/* Rows that say how much a core holds: loads, stores and registers in flight, and its caches. Nobody can ask for that, so it is
 * looked for as the sources did: programs of growing size run until their time rises.
 *
 * In flight (dougallj/applecpu firestorm.html): two chains of loads that miss every cache, with fillers between their steps. As
 * long as a step of each chain fits into the core together with the fillers between them, both wait at the same time.
 * Caches: a chain goes round over so many KiB, page by page, so that translations cost little.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/program.h"

#include <stdlib.h>
#include <string.h>

#define KIB  UINT64_C(1024)
#define LINE 128
#define PAGE (16 * KIB)

enum { COUNTER = 28, BASE = 25, FILLED = 6, PAGE_BITS = 7, MISS_BITS = 18, MISS_STEPS = 48, TURN = 16 };

/* ---- in flight ---- */

static uint64_t scattered(uint64_t i)
{
    return validate_scatter(i, MISS_BITS) * LINE;
}

static void emit_fillers(struct emit *e, const uint32_t filler[2], unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        emit_word(e, filler[i % 2]);
}

static bool build_fillers(struct validate_program *program, unsigned size)
{
    struct emit e = {0};
    for (unsigned chain = 0; chain < 2; chain++)
        emit_constant(&e, chain, VALIDATE_DATA_ADDR + scattered(chain * (MISS_STEPS + 1)));
    emit_constant(&e, BASE, VALIDATE_DATA_ADDR + (UINT64_C(1) << MISS_BITS) * LINE);
    const size_t top = emit_loop(&e, COUNTER, MISS_STEPS);
    for (unsigned chain = 0; chain < 2; chain++) {
        emit_ldr_x(&e, chain, chain, 0);
        emit_fillers(&e, program->search.filler, size);
    }
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    return validate_replace_code(program, &e);
}

static bool link_misses(struct validate_program *program)
{
    program->patches = 2 * MISS_STEPS;
    program->patch = malloc(program->patches * sizeof *program->patch);
    for (uint64_t i = 0; program->patch && i < program->patches; i++) {
        const uint64_t node = i + i / MISS_STEPS; /* the last node of a chain leads nowhere */
        program->patch[i] = (struct validate_patch){scattered(node), VALIDATE_DATA_ADDR + scattered(node + 1)};
    }
    return program->patch;
}

struct flight {
    const char *what;
    uint32_t filler[2];  /* in turn */
    unsigned high, more; /* more: the loads of the chains that are in flight as well */
};

#define LDR_FILLED  (UINT32_C(0xf9400000) | BASE << 5 | FILLED)
#define STR_FILLED  (UINT32_C(0xf9000000) | BASE << 5 | FILLED)
#define MOVZ_FILLED (UINT32_C(0xd2800020) | FILLED)
#define MOVI_FILLED (UINT32_C(0x4f000420) | FILLED) /* movi v6.4s, #1 */

static const struct flight flights[] = {
    {"in-flight renames", {MOVZ_FILLED, MOVI_FILLED}, 1024, 2}, {"in-flight loads", {LDR_FILLED, LDR_FILLED}, 256, 2},
    {"load buffers", {LDR_FILLED, LDR_FILLED}, 256, 2},         {"in-flight stores", {STR_FILLED, STR_FILLED}, 256, 0},
    {"store buffers", {STR_FILLED, STR_FILLED}, 256, 0},
};

static bool plan_flight(struct validate_row *row, struct validate_program *program, const struct flight *flight)
{
    program->core = strncmp(row->chip, "E (", 3) == 0 ? VALIDATE_E_CORE : VALIDATE_P_CORE;
    program->data_bytes = (UINT64_C(1) << MISS_BITS) * LINE + PAGE;
    program->work = MISS_STEPS;
    program->search =
        (struct validate_search){build_fillers, {flight->filler[0], flight->filler[1]}, 4, flight->high, 1, 1.5, flight->more, 1};
    return link_misses(program);
}

/* ---- caches ---- */

static uint64_t in_pages(uint64_t i)
{
    return i / (PAGE / LINE) * PAGE + validate_scatter(i % (PAGE / LINE), PAGE_BITS) * LINE;
}

static bool build_ring(struct validate_program *program, unsigned kib)
{
    const uint64_t lines = kib * KIB / LINE;
    struct emit e = {0};
    emit_constant(&e, 0, VALIDATE_DATA_ADDR + in_pages(0));
    const size_t top = emit_loop(&e, COUNTER, lines / TURN);
    for (unsigned i = 0; i < TURN; i++)
        emit_ldr_x(&e, 0, 0, 0);
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    program->work = (double)(lines / TURN * TURN);
    free(program->patch);
    program->patches = lines;
    program->patch = malloc(lines * sizeof *program->patch);
    for (uint64_t i = 0; program->patch && i < lines; i++)
        program->patch[i] = (struct validate_patch){in_pages(i), VALIDATE_DATA_ADDR + in_pages((i + 1) % lines)};
    return validate_replace_code(program, &e) && program->patch;
}

struct cache {
    const char *what;
    enum validate_core core;
    unsigned low, high, step; /* KiB */
};

static const struct cache caches[] = {
    {"L1D P core", VALIDATE_P_CORE, 16, 512, 16},
    {"L1D E core", VALIDATE_E_CORE, 16, 512, 16},
    {"L2 per P cluster", VALIDATE_P_CORE, 512, 24576, 256},
    {"L2 per E cluster", VALIDATE_E_CORE, 512, 8192, 256},
};

static bool plan_cache(struct validate_row *row, struct validate_program *program, const struct cache *cache)
{
    const bool mib = strcmp(row->unit, "MB") == 0;
    program->core = cache->core;
    program->data_bytes = cache->high * KIB + PAGE;
    program->warm = true;
    program->search =
        (struct validate_search){build_ring, {0}, cache->low, cache->high, cache->step, 1.2, 0, mib ? 1 / 1024.0 : 1};
    return true;
}

/* ---- the row ---- */

bool validate_is_capacity(const struct validate_row *row)
{
    for (size_t i = 0; i < ARRAY_COUNT(flights); i++)
        if (strcmp(row->what, flights[i].what) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_COUNT(caches); i++)
        if (strcmp(row->what, caches[i].what) == 0)
            return true;
    return false;
}

static bool plan_named(struct validate_row *row, struct validate_program *program)
{
    for (size_t i = 0; i < ARRAY_COUNT(flights); i++)
        if (strcmp(row->what, flights[i].what) == 0)
            return plan_flight(row, program, &flights[i]);
    for (size_t i = 0; i < ARRAY_COUNT(caches); i++)
        if (strcmp(row->what, caches[i].what) == 0)
            return plan_cache(row, program, &caches[i]);
    return false;
}

bool validate_plan_capacity(struct validate_row *row, struct validate_program *program)
{
    if (!validate_is_capacity(row))
        return false;
    program->threads = 1;
    program->measure = VALIDATE_NS_PER_WORK;
    program->note = "the largest size before a program takes longer";
    return (plan_named(row, program) && program->search.build(program, program->search.low)) ||
           validate_refuse(row, "out of memory");
}
