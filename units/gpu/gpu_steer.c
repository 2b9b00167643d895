/* Which instructions decide where execution goes and which addresses are accessed. Timing needs nothing else: most programs
 * compute values that no branch and no address depends on.
 *
 * For every place of the program and every register half the search knows whether its value will steer, and if so, the level of
 * nested masks at which it is read. A write hides earlier writes only from readers at its own level or further inside, because
 * lanes that are inactive at the write keep what they had; from all readers where no lane can be inactive, or where the same
 * lanes made the earlier write and none has come or gone since. An instruction steers when it changes the mask or the flow, or
 * writes a half that will steer. A load that steers makes all stores to the same memory steer.
 */
#include "units/gpu/gpu_exec.h"

#include <stdlib.h>

enum memory { NO_MEMORY, DEVICE, THREADGROUP, STACK, MEMORIES };

#define NEVER   UINT8_MAX /* level of a half that does not steer */
#define DEEPEST 200       /* levels; more are no structured program */
/* The level of the first instruction. Levels further out are those behind a loop whose lanes leave one by one: its pop_exec takes
 * back what no instruction before it pushed. */
#define FIRST 100

/* The largest counter (r0l) that a lane may have before an instruction: a number, or one of these. */
enum { UNREACHED = 253, FULL, UNKNOWN }; /* FULL: no counter has counted yet, so that all lanes are active */

struct search {
    struct gpu_program *program;
    uint8_t (*level)[AGX_HALVES]; /* before each instruction: the outermost level at which the half steers */
    uint8_t *depth;               /* level of each instruction; NEVER: not reached yet */
    uint8_t *away;                /* before each instruction: the largest counter */
    bool memory[MEMORIES];        /* what was stored there steers */
    bool levelled;                /* false: masks are not nested in a way that is understood, so no write hides another */
    bool grew;
};

/* ---- operands ---- */

static enum memory memory_of(const struct agx_effect *effect)
{
    switch (effect->unit_class) {
    case AGX_CLASS_DEVICE_LOAD:
    case AGX_CLASS_DEVICE_STORE:
    case AGX_CLASS_DEVICE_ATOMIC: return DEVICE;
    case AGX_CLASS_GROUP_LOAD:
    case AGX_CLASS_GROUP_STORE:
    case AGX_CLASS_GROUP_ATOMIC: return THREADGROUP;
    case AGX_CLASS_STACK_LOAD:
    case AGX_CLASS_STACK_STORE: return STACK;
    default: return NO_MEMORY;
    }
}

static bool stores(const struct agx_effect *effect)
{
    switch (effect->unit_class) {
    case AGX_CLASS_DEVICE_STORE:
    case AGX_CLASS_DEVICE_ATOMIC:
    case AGX_CLASS_GROUP_STORE:
    case AGX_CLASS_GROUP_ATOMIC:
    case AGX_CLASS_STACK_STORE: return true;
    default: return false;
    }
}

/* Tells whether lanes read what other lanes hold, active or not. */
static bool across_lanes(const struct agx_effect *effect)
{
    switch (effect->unit_class) {
    case AGX_CLASS_SHUFFLE:
    case AGX_CLASS_BALLOT:
    case AGX_CLASS_REDUCE:
    case AGX_CLASS_MATRIX_F32:
    case AGX_CLASS_MATRIX_F16: return true;
    default: return false;
    }
}

static unsigned halves_of(const struct agx_operand *operand)
{
    const unsigned each = operand->place == AGX_PLACE_HALF ? 1 : operand->place == AGX_PLACE_WORD ? 2 : 4;
    return each * (operand->count ? operand->count : 1u);
}

static void mark(uint8_t level[AGX_HALVES], const struct agx_operand *operand, uint8_t at)
{
    if (operand->place < AGX_PLACE_HALF || operand->place > AGX_PLACE_PAIR)
        return;
    for (unsigned i = operand->index; i < operand->index + halves_of(operand) && i < AGX_HALVES; i++)
        level[i] = at < level[i] ? at : level[i];
}

static bool reads(const struct agx_operand *operand, unsigned half)
{
    return operand->place >= AGX_PLACE_HALF && operand->place <= AGX_PLACE_PAIR && half >= operand->index &&
           half < operand->index + halves_of(operand);
}

/* Readers across lanes, at level 0, see lanes that do not exist, too. */
static void hide(uint8_t level[AGX_HALVES], struct agx_range range, uint8_t depth)
{
    for (unsigned i = range.first; i < (unsigned)range.first + range.count && i < AGX_HALVES; i++)
        level[i] = level[i] >= depth ? NEVER : level[i];
}

/* ---- levels ---- */

enum nest { STAY, PUSH, ELSE, WHILE, POP };

static enum nest nest_of(const struct agx_inst *inst)
{
    switch (inst->op) {
    case AGX_OP_IF_ICMP:
    case AGX_OP_IF_FCMP: return PUSH;
    case AGX_OP_ELSE_ICMP:
    case AGX_OP_ELSE_FCMP: return ELSE;
    case AGX_OP_WHILE_ICMP:
    case AGX_OP_WHILE_FCMP: return WHILE;
    case AGX_OP_POP_EXEC: return POP;
    default: return STAY;
    }
}

static bool ends(const struct agx_inst *inst)
{
    return inst->op == AGX_OP_STOP || inst->op == AGX_OP_TRAP || inst->op == AGX_OP_RET;
}

static bool jumps(const struct agx_inst *inst)
{
    return inst->op == AGX_OP_JMP_EXEC_ANY || inst->op == AGX_OP_JMP_EXEC_NONE || inst->op == AGX_OP_CALL;
}

/* The level behind an instruction; NEVER when nesting is not understood. */
static uint8_t level_behind(const struct gpu_inst *at, uint8_t depth)
{
    switch (nest_of(&at->inst)) {
    case PUSH: return depth + at->inst.nesting > DEEPEST ? NEVER : (uint8_t)(depth + at->inst.nesting);
    case POP: return depth < at->inst.nesting ? NEVER : (uint8_t)(depth - at->inst.nesting);
    default: return depth;
    }
}

static bool reach(struct search *s, uint32_t index, uint8_t depth)
{
    if (index == GPU_NO_INSTRUCTION || s->depth[index] == depth)
        return true;
    if (s->depth[index] != NEVER)
        return false;
    s->depth[index] = depth;
    s->grew = true;
    return true;
}

/* Tells whether every instruction has one level, whichever way leads there. A lane that is inactive at some level has a counter
 * (r0l) of at least 1 there, and of one more for each level further inside. Only lanes that are active write it to leave levels,
 * which lets nobody in, so no write of it changes at which levels others may come back. */
static bool find_levels(struct search *s)
{
    const struct gpu_program *p = s->program;
    s->depth[gpu_program_find(p, p->entry)] = FIRST;
    for (s->grew = true; s->grew;) {
        s->grew = false;
        for (uint32_t i = 0; i < p->count; i++) {
            const struct gpu_inst *at = &p->inst[i];
            if (s->depth[i] == NEVER)
                continue;
            const uint8_t behind = level_behind(at, s->depth[i]);
            const bool called = at->inst.op == AGX_OP_CALL || at->inst.op == AGX_OP_CALL_REGISTER;
            if (behind == NEVER || called || (!ends(&at->inst) && !reach(s, at->next, behind)) ||
                (jumps(&at->inst) && !reach(s, at->target, behind)))
                return false;
        }
    }
    return true;
}

/* ---- lanes that are away ---- */

static bool sets_counter(const struct gpu_inst *at)
{
    return nest_of(&at->inst) == STAY && at->effect.write.count && at->effect.write.first == 0;
}

static uint8_t number(unsigned counter)
{
    return counter > DEEPEST ? UNKNOWN : (uint8_t)counter;
}

/* The largest number of an instruction that sets the counter. */
static uint8_t counter_set(const struct gpu_inst *at)
{
    const struct agx_operand *const from = at->inst.source;
    const bool selects = at->inst.op == AGX_OP_ICMPSEL || at->inst.op == AGX_OP_FCMPSEL;
    const unsigned first = selects ? 2 : 0, last = selects ? 3 : 0;
    if ((!selects && at->inst.op != AGX_OP_MOV_IMM) || at->effect.write.count != 1 || from[first].place != AGX_PLACE_IMMEDIATE ||
        from[last].place != AGX_PLACE_IMMEDIATE)
        return UNKNOWN;
    const uint8_t a = number((unsigned)from[first].immediate), b = number((unsigned)from[last].immediate);
    return a > b ? a : b;
}

/* The largest counter behind an instruction. */
static uint8_t away_behind(const struct gpu_inst *at, uint8_t away)
{
    const unsigned n = at->inst.nesting;
    const enum nest nest = nest_of(&at->inst);
    if (nest == STAY && !sets_counter(at))
        return away;
    if (away == UNKNOWN || (nest != STAY && away == FULL))
        return UNKNOWN;
    if (nest == STAY) {
        const uint8_t set = counter_set(at);
        return away == FULL || set > away ? set : away;
    }
    switch (nest) {
    case PUSH: return away ? number(away + n) : 1;
    case POP: return away > n ? (uint8_t)(away - n) : 0;
    default: return away > n ? away : number(n);
    }
}

static void join(struct search *s, uint32_t index, uint8_t away)
{
    if (index == GPU_NO_INSTRUCTION)
        return;
    uint8_t *const known = &s->away[index], before = *known;
    if (before == UNREACHED)
        *known = away;
    else if (before != away && (before == FULL || away == FULL))
        *known = UNKNOWN;
    else
        *known = away > before ? away : before;
    s->grew = s->grew || *known != before;
}

/* Finds where lanes can be away: nowhere else than where they have been sent away since. */
static void find_away(struct search *s)
{
    const struct gpu_program *p = s->program;
    s->away[gpu_program_find(p, p->entry)] = FULL;
    for (s->grew = true; s->grew;) {
        s->grew = false;
        for (uint32_t i = 0; i < p->count; i++) {
            const struct gpu_inst *at = &p->inst[i];
            if (s->away[i] == UNREACHED)
                continue;
            const uint8_t behind = away_behind(at, s->away[i]);
            if (!ends(&at->inst))
                join(s, at->next, behind);
            if (jumps(&at->inst))
                join(s, at->target, behind);
        }
    }
}

/* Readers behind an instruction that lets lanes in again may be lanes that were inactive before it. */
static void let_in(uint8_t level[AGX_HALVES], const struct gpu_inst *at, uint8_t depth)
{
    const unsigned n = at->inst.nesting;
    unsigned most = NEVER;
    switch (nest_of(&at->inst)) {
    case PUSH: most = depth; break;
    case POP: break; /* readers behind it are further out already */
    case ELSE: most = depth > 0 ? depth - 1u : 0; break;
    case WHILE: most = depth + 1u > n ? depth + 1u - n : 0; break;
    case STAY: return;
    }
    for (unsigned i = 0; i < AGX_HALVES; i++)
        level[i] = level[i] != NEVER && level[i] > most ? (uint8_t)most : level[i];
}

/* ---- the search ---- */

/* Control flow, masks and the stack position: whatever else the program does, these must happen. */
static bool must_happen(const struct gpu_inst *at)
{
    return !gpu_goes_straight(&at->inst) || at->effect.writes_mask || at->effect.unit_class == AGX_CLASS_STACK_ADJUST ||
           at->effect.unit_class == AGX_CLASS_UNIFORM_STORE || (at->effect.write.count && at->effect.write.first == 0);
}

static void merge(uint8_t *restrict into, const struct search *s, uint32_t from)
{
    if (from == GPU_NO_INSTRUCTION)
        return;
    const uint8_t *restrict const other = s->level[from];
    for (unsigned i = 0; i < AGX_HALVES; i++)
        into[i] = other[i] < into[i] ? other[i] : into[i];
}

/* Tells whether a half counts to an instruction that steers, or says where an access goes. */
static bool steers_by(const struct gpu_inst *at, unsigned half)
{
    const bool accesses = memory_of(&at->effect) != NO_MEMORY;
    for (unsigned i = 0; i < at->inst.source_count && i < AGX_MAX_SOURCES; i++)
        if ((at->steers || (accesses && i > 0)) && reads(&at->inst.source[i], half))
            return true;
    return false;
}

/* Tells whether all lanes that write a half here write it again before it steers anything and before lanes come or go. Then
 * readers further out do not see what they write here: a loop may keep what it loads in the register that is the counter at its
 * end. */
static bool written_again(const struct search *s, uint32_t index, unsigned half)
{
    const struct gpu_program *p = s->program;
    for (uint32_t i = p->inst[index].next; i != GPU_NO_INSTRUCTION; i = p->inst[i].next) {
        const struct gpu_inst *at = &p->inst[i];
        const struct agx_range write = at->effect.write;
        if (must_happen(at))
            return false;
        if (steers_by(at, half))
            return false;
        if (half >= write.first && half < (unsigned)write.first + write.count)
            return !stores(&at->effect);
    }
    return false;
}

/* Tells whether anything that steers comes from what an instruction writes. */
static bool writes_steering(const struct search *s, uint32_t index, const uint8_t level[AGX_HALVES])
{
    const struct agx_range write = s->program->inst[index].effect.write;
    for (unsigned i = write.first; i < (unsigned)write.first + write.count && i < AGX_HALVES; i++)
        if (level[i] != NEVER && !(s->levelled && written_again(s, index, i)))
            return true;
    return false;
}

/* Follows the halves that steer from behind an instruction to before it. */
static void follow(struct search *s, uint32_t index)
{
    struct gpu_inst *at = &s->program->inst[index];
    const enum memory memory = memory_of(&at->effect);
    const uint8_t depth = s->levelled ? s->depth[index] : 0;
    uint8_t level[AGX_HALVES];
    memset(level, NEVER, sizeof level);
    if (!ends(&at->inst))
        merge(level, s, at->next);
    if (jumps(&at->inst))
        merge(level, s, at->target);
    if (s->levelled)
        let_in(level, at, depth);
    const bool written = writes_steering(s, index, level);
    const bool steers = at->steers || must_happen(at) || written || (stores(&at->effect) && s->memory[memory]);
    if (written && memory != NO_MEMORY && !s->memory[memory])
        s->memory[memory] = s->grew = true;
    if (s->levelled && !stores(&at->effect))
        hide(level, at->effect.write, s->away[index] == 0 ? 1 : depth);
    for (unsigned i = 0; i < at->inst.source_count && i < AGX_MAX_SOURCES; i++)
        if (steers || (memory != NO_MEMORY && i > 0)) /* of an access, base and offset, whatever the value is for */
            mark(level, &at->inst.source[i], across_lanes(&at->effect) ? 0 : depth);
    s->grew = s->grew || at->steers != steers || memcmp(level, s->level[index], sizeof level) != 0;
    at->steers = steers;
    memcpy(s->level[index], level, sizeof level);
}

bool gpu_program_find_steering(struct gpu_program *program)
{
    const size_t count = program->count;
    struct search s = {
        .program = program, .level = malloc(count * sizeof *s.level), .depth = malloc(count), .away = malloc(count)};
    const bool ok = s.level && s.depth && s.away;
    if (ok) {
        memset(s.level, NEVER, count * sizeof *s.level);
        memset(s.depth, NEVER, count);
        memset(s.away, UNREACHED, count);
        s.levelled = find_levels(&s);
        if (s.levelled)
            find_away(&s);
        for (s.grew = true; s.grew;) {
            s.grew = false;
            for (uint32_t i = program->count; i-- > 0;)
                follow(&s, i);
        }
        program->steered_by_memory = s.memory[DEVICE];
    }
    free(s.level);
    free(s.depth);
    free(s.away);
    return ok;
}

bool gpu_program_steers(const struct gpu_program *program, uint32_t index)
{
    return program->inst[index].steers;
}

bool gpu_program_steered_by_memory(const struct gpu_program *program)
{
    return program->steered_by_memory;
}
