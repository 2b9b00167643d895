/* Finds loops of multiply-adds in decoded blocks, and runs them (cpu_exec_loop.h). */
#include "units/cpu/cpu_exec_loop.h"

#include "units/cpu/cpu_exec_alu.h"

#include <stdlib.h>
#include <string.h>

enum { LOADS_MAX = 16, TILES_MAX = 8, SOURCE_NONE = 255 };

/* What a lap does to its sums. */
struct kind {
    uint16_t form;
    uint8_t size;
    unsigned rows; /* elements of a register */
    bool is_float;
    cpu_tile_function *run;
};

static const struct kind kinds[] = {
#if defined(__x86_64__)
    {A64_FMLA_E, 2, 4, true, cpu_tile_f32_avx2},
    {A64_FMLA_E, 3, 2, true, cpu_tile_f64_avx2},
    {A64_SDOT_E, 2, 4, false, cpu_tile_i8_avx2},
#endif
    {A64_UNDEFINED, 0, 0, false, NULL}};

static const struct kind *kind_of(const struct a64_insn *insn)
{
    const struct kind *kind = kinds;
    while (kind->run && (kind->form != insn->form || kind->size != insn->size))
        kind++;
    return kind->run && insn->q ? kind : NULL;
}

/* A vector that every lap loads. */
struct load {
    uint8_t reg, base;
    int64_t offset; /* from the base register at the beginning of a lap */
};

struct tile {
    uint8_t elements, columns;
    uint8_t vector[CPU_TILE_COLUMNS], sum[CPU_TILE_ROWS][CPU_TILE_COLUMNS]; /* registers */
};

/* What the loop compares before it branches: register `reg` with a constant or with a register that stays as it is. */
struct bound {
    bool found, constant, counts, wide; /* counts: the constant is taken off the register itself */
    uint8_t reg, other;
    int64_t change; /* of `reg` in a lap before it is compared; a constant is subtracted from it then */
    uint64_t value;
};

struct cpu_loop {
    const struct kind *kind;
    int64_t step[CPU_X_SP + 1]; /* what a lap adds to the general registers */
    struct load load[LOADS_MAX];
    struct tile tile[TILES_MAX];
    struct bound bound;
    uint32_t loads, tiles;
    uint64_t rest; /* laps to be left to the interpreter, because a sum became NaN */
};

/* A block being read. */
struct reading {
    struct cpu_loop *loop;
    uint8_t load_of[32]; /* by vector register: the load that filled it in this lap */
    bool loaded[32];     /* by a load anywhere in the block */
    bool summed[32];
    bool narrow[CPU_X_SP + 1]; /* changed as 32 bits */
};

static bool host_has_vectors(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static bool read_load(struct reading *r, unsigned reg, unsigned base, int64_t ahead)
{
    struct cpu_loop *loop = r->loop;
    if (loop->loads == LOADS_MAX || r->load_of[reg] != SOURCE_NONE)
        return false;
    r->load_of[reg] = (uint8_t)loop->loads;
    loop->load[loop->loads++] = (struct load){(uint8_t)reg, (uint8_t)base, loop->step[base] + ahead};
    return true;
}

static bool read_loads(struct reading *r, const struct a64_insn *insn, bool pair, bool post)
{
    const int64_t ahead = post ? 0 : insn->imm;
    if (!read_load(r, insn->rd, insn->rn, ahead) || (pair && !read_load(r, insn->ra, insn->rn, ahead + 16)))
        return false;
    if (post)
        r->loop->step[insn->rn] += insn->imm;
    return true;
}

/* The place of a sum in a tile of this element register, or in a new tile. */
static struct tile *tile_of(struct cpu_loop *loop, unsigned elements)
{
    for (uint32_t i = 0; i < loop->tiles; i++)
        if (loop->tile[i].elements == elements)
            return &loop->tile[i];
    if (loop->tiles == TILES_MAX)
        return NULL;
    struct tile *tile = &loop->tile[loop->tiles++];
    memset(tile, SOURCE_NONE, sizeof *tile);
    tile->elements = (uint8_t)elements;
    tile->columns = 0;
    return tile;
}

static bool read_multiply(struct reading *r, const struct a64_insn *insn)
{
    const struct kind *kind = kind_of(insn);
    struct tile *tile = kind ? tile_of(r->loop, insn->rm) : NULL;
    const unsigned row = insn->amount;
    unsigned column = 0;
    if (!tile || (r->loop->kind && r->loop->kind != kind) || row >= kind->rows || r->summed[insn->rd])
        return false;
    r->loop->kind = kind;
    /* A vector that is loaded behind its first use belongs to the next lap. */
    if ((r->loaded[insn->rn] && r->load_of[insn->rn] == SOURCE_NONE) ||
        (r->loaded[insn->rm] && r->load_of[insn->rm] == SOURCE_NONE))
        return false;
    while (column < tile->columns && tile->vector[column] != insn->rn)
        column++;
    if (column == CPU_TILE_COLUMNS || (column < tile->columns && tile->sum[row][column] != SOURCE_NONE))
        return false;
    if (column == tile->columns)
        tile->vector[tile->columns++] = insn->rn;
    tile->sum[row][column] = insn->rd;
    r->summed[insn->rd] = true;
    return true;
}

static bool read_compare(struct reading *r, const struct a64_insn *insn, bool constant)
{
    struct bound *bound = &r->loop->bound;
    const bool counts = insn->rd == insn->rn;
    if (bound->found || insn->rn == 31 || (insn->rd != 31 && !(constant && counts)) || (!constant && insn->amount != 0))
        return false;
    *bound = (struct bound){.found = true,
                            .constant = constant,
                            .counts = insn->rd != 31,
                            .wide = insn->size == 3,
                            .reg = insn->rn,
                            .other = insn->rm,
                            .change = r->loop->step[insn->rn],
                            .value = constant ? (uint64_t)insn->imm : 0};
    if (insn->rd != 31) {
        r->loop->step[insn->rd] -= insn->imm;
        r->narrow[insn->rd] = insn->size != 3;
    }
    return true;
}

static bool read_instruction(struct reading *r, const struct a64_insn *insn)
{
    switch (insn->form) {
    case A64_LDR_Q_UIMM:
    case A64_LDR_Q_UNSC: return read_loads(r, insn, false, false);
    case A64_LDR_Q_POST: return read_loads(r, insn, false, true);
    case A64_LDP_Q_OFF: return read_loads(r, insn, true, false);
    case A64_LDP_Q_POST: return read_loads(r, insn, true, true);
    case A64_SUBS_IMM: return read_compare(r, insn, true);
    case A64_SUBS_REG: return read_compare(r, insn, false);
    case A64_ADD_IMM:
    case A64_SUB_IMM:
        if (insn->rd != insn->rn || insn->size != 3)
            return false;
        r->loop->step[insn->rd] += insn->form == A64_ADD_IMM ? insn->imm : -insn->imm;
        return true;
    default: return read_multiply(r, insn);
    }
}

/* Whether every tile is full, sums and loaded vectors are different registers, and what is compared and added to stays simple. */
static bool complete(const struct reading *r)
{
    const struct cpu_loop *loop = r->loop;
    for (uint32_t i = 0; i < loop->tiles; i++) {
        const struct tile *tile = &loop->tile[i];
        if (r->summed[tile->elements])
            return false;
        for (unsigned column = 0; column < tile->columns; column++)
            for (unsigned row = 0; row < loop->kind->rows; row++)
                if (tile->sum[row][column] == SOURCE_NONE || r->summed[tile->vector[column]])
                    return false;
    }
    for (unsigned v = 0; v < 32; v++)
        if (r->loaded[v] && r->summed[v])
            return false;
    for (uint32_t i = 0; i < loop->loads; i++)
        if (loop->step[loop->load[i].base] < 0 || r->narrow[loop->load[i].base])
            return false;
    if (loop->bound.counts && loop->step[loop->bound.reg] != -(int64_t)loop->bound.value)
        return false;
    return loop->tiles > 0 && loop->bound.found && loop->step[loop->bound.reg] != 0 &&
           (loop->bound.constant || loop->bound.other == 31 || loop->step[loop->bound.other] == 0);
}

static bool read_block(struct reading *r, const struct a64_insn *insn, uint32_t count)
{
    const struct a64_insn *last = &insn[count - 1];
    if (count < 4 || last->form != A64_B_COND || last->cond != 1 || last->imm != -4 * (int64_t)(count - 1))
        return false;
    memset(r->load_of, SOURCE_NONE, sizeof r->load_of);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const bool loads = insn[i].flags & A64_INSN_LOAD;
        if (loads)
            r->loaded[insn[i].rd] = true;
        if (loads && (insn[i].form == A64_LDP_Q_OFF || insn[i].form == A64_LDP_Q_POST))
            r->loaded[insn[i].ra] = true;
    }
    for (uint32_t i = 0; i + 1 < count; i++)
        if (!read_instruction(r, &insn[i]))
            return false;
    return complete(r);
}

struct cpu_loop *cpu_loop_find(const struct a64_insn *insn, uint32_t count)
{
    struct cpu_loop *loop = host_has_vectors() ? calloc(1, sizeof *loop) : NULL;
    struct reading reading = {.loop = loop};
    if (!loop || read_block(&reading, insn, count))
        return loop;
    free(loop);
    return NULL;
}

/* --- running --- */

/* What the loop compares in the lap that begins with `at` in its register, and with what. */
static uint64_t compared(const struct cpu_loop *loop, uint64_t at)
{
    return at + (uint64_t)loop->bound.change;
}

static uint64_t compared_with(const struct cpu_core *core, const struct cpu_loop *loop)
{
    return loop->bound.constant ? loop->bound.value : cpu_reg(core, loop->bound.other);
}

/* How many laps come before the last one; 0 when that is not certain. */
static uint64_t laps_before_last(const struct cpu_core *core, const struct cpu_loop *loop)
{
    const int64_t step = loop->step[loop->bound.reg];
    uint64_t way = compared_with(core, loop) - compared(loop, core->x[loop->bound.reg]);
    uint64_t each = (uint64_t)step;
    if (step < 0) {
        way = 0 - way;
        each = 0 - each;
    }
    if (!loop->bound.wide)
        way &= UINT32_MAX;
    return way % each == 0 ? way / each : 0;
}

/* Where the laps read, NULL when any of it needs a closer look. */
static const uint8_t *place_of(const struct cpu_core *core, const struct cpu_loop *loop, const struct load *load, uint64_t laps)
{
    const uint64_t from = core->x[load->base] + (uint64_t)load->offset, step = (uint64_t)loop->step[load->base];
    const uint64_t bytes = (laps - 1) * step + 16;
    if (from >= core->fast_limit || bytes > core->fast_limit - from)
        return NULL;
    return mem_at(core->space, from, bytes, MEM_READ);
}

static struct cpu_loop_source source_of(const struct cpu_core *core, const struct cpu_loop *loop, const uint8_t *const *place,
                                        unsigned reg)
{
    for (uint32_t i = 0; i < loop->loads; i++)
        if (loop->load[i].reg == reg)
            return (struct cpu_loop_source){place[i], (size_t)loop->step[loop->load[i].base]};
    return (struct cpu_loop_source){core->v[reg].u8, 0};
}

static bool any_nan(const struct kind *kind, const struct tile *tile, union cpu_vec sum[CPU_TILE_ROWS][CPU_TILE_COLUMNS])
{
    int nan = 0;
    for (unsigned row = 0; kind->is_float && row < kind->rows; row++)
        for (unsigned column = 0; column < tile->columns; column++)
            for (unsigned i = 0; i < kind->rows; i++)
                nan |= kind->size == 2 ? sum[row][column].f32[i] != sum[row][column].f32[i]
                                       : sum[row][column].f64[i] != sum[row][column].f64[i];
    return nan;
}

/* False when a sum became NaN: which one it is, is the interpreter's affair. A sum that was NaN once stays NaN. */
static bool add_up(const struct cpu_core *core, const struct cpu_loop *loop, const uint8_t *const *place, uint64_t laps,
                   union cpu_vec sum[TILES_MAX][CPU_TILE_ROWS][CPU_TILE_COLUMNS])
{
    for (uint32_t i = 0; i < loop->tiles; i++) {
        const struct tile *tile = &loop->tile[i];
        struct cpu_loop_source vector[CPU_TILE_COLUMNS];
        for (unsigned column = 0; column < tile->columns; column++) {
            vector[column] = source_of(core, loop, place, tile->vector[column]);
            for (unsigned row = 0; row < loop->kind->rows; row++)
                sum[i][row][column] = core->v[tile->sum[row][column]];
        }
        loop->kind->run(laps, source_of(core, loop, place, tile->elements), vector, tile->columns, sum[i]);
        if (any_nan(loop->kind, tile, sum[i]))
            return false;
    }
    return true;
}

/* Brings general registers, flags and vectors to where they are behind the laps. */
static void move_on(struct cpu_core *core, const struct cpu_loop *loop, const uint8_t *const *place, uint64_t laps,
                    union cpu_vec sum[TILES_MAX][CPU_TILE_ROWS][CPU_TILE_COLUMNS])
{
    const struct bound *bound = &loop->bound;
    for (uint32_t i = 0; i < loop->loads; i++)
        memcpy(&core->v[loop->load[i].reg], place[i] + (laps - 1) * (uint64_t)loop->step[loop->load[i].base], 16);
    for (uint32_t i = 0; i < loop->tiles; i++)
        for (unsigned row = 0; row < loop->kind->rows; row++)
            for (unsigned column = 0; column < loop->tile[i].columns; column++)
                core->v[loop->tile[i].sum[row][column]] = sum[i][row][column];
    for (unsigned reg = 0; reg <= CPU_X_SP; reg++)
        core->x[reg] += laps * (uint64_t)loop->step[reg];
    const uint64_t a = compared(loop, core->x[bound->reg] - (uint64_t)loop->step[bound->reg]), b = compared_with(core, loop);
    if (bound->wide) {
        alu_compare_x(&core->flags, a, b);
        return;
    }
    alu_compare_w(&core->flags, (uint32_t)a, (uint32_t)b);
    if (bound->counts) /* in 32 bits */
        core->x[bound->reg] = (uint32_t)core->x[bound->reg];
}

uint64_t cpu_loop_run(struct cpu_core *core, struct cpu_loop *loop, uint64_t laps)
{
    const uint64_t before_last = laps_before_last(core, loop);
    const uint8_t *place[LOADS_MAX];
    union cpu_vec sum[TILES_MAX][CPU_TILE_ROWS][CPU_TILE_COLUMNS];
    laps = laps < before_last ? laps : before_last;
    if (loop->rest > 0) {
        loop->rest--;
        return 0;
    }
    if (laps < 2 || core->fp_special)
        return 0;
    for (uint32_t i = 0; i < loop->loads; i++) {
        place[i] = place_of(core, loop, &loop->load[i], laps);
        if (!place[i])
            return 0;
    }
    if (!add_up(core, loop, place, laps, sum)) {
        loop->rest = laps;
        return 0;
    }
    move_on(core, loop, place, laps, sum);
    return laps;
}
