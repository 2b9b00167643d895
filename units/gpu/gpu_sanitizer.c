/* The checks of the slow path: mistakes of a program that cause no fault on hardware.
 *
 * Shadow state: which lanes of a register half were written and which halves wait for a load; for each byte of threadgroup
 * memory, who wrote and read it since the last barrier. Findings are kept once per kind and instruction, with the number of
 * times.
 */
#include "isa/list_grow.h"
#include "units/gpu/gpu_exec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct byte_shadow {
    uint32_t readers, writers, atomics; /* simdgroups since the last barrier */
    bool written;                       /* since the threadgroup began */
};

struct simdgroup_shadow {
    uint32_t written[AGX_HALVES]; /* lanes */
    uint8_t pending[AGX_HALVES];  /* scoreboard slot + 1 of a load under way */
};

struct gpu_sanitizer {
    const struct gpu_group *group;
    struct simdgroup_shadow *simdgroup;
    struct byte_shadow *byte;
    struct gpu_finding *finding;
    size_t count, room;
    const struct gpu_op *barrier; /* where the first simdgroup waits, NULL = none */
    bool barrier_empty;           /* it arrived without an active lane */
};

/* --- findings --- */

static const char *const kind_names[] = {"bounds", "race", "barrier", "wait", "uninitialised"};

const char *gpu_finding_name(enum gpu_finding_kind kind)
{
    return kind_names[kind];
}

static struct gpu_finding *known(struct gpu_sanitizer *s, enum gpu_finding_kind kind, uint32_t instruction)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->finding[i].kind == kind && s->finding[i].instruction == instruction)
            return &s->finding[i];
    return NULL;
}

static void find(struct gpu_sanitizer *s, enum gpu_finding_kind kind, const struct gpu_simdgroup *group, const struct gpu_op *op,
                 uint64_t address, const char *format, ...) __attribute__((format(printf, 6, 7)));

static void find(struct gpu_sanitizer *s, enum gpu_finding_kind kind, const struct gpu_simdgroup *group, const struct gpu_op *op,
                 uint64_t address, const char *format, ...)
{
    struct gpu_finding *finding = known(s, kind, op->index);
    if (finding) {
        finding->times++;
        return;
    }
    struct gpu_finding *const bigger = list_grow(s->finding, s->count, &s->room, sizeof *bigger);
    if (!bigger)
        return; /* the findings so far are worth more than a fault */
    s->finding = bigger;
    char text[AGX_TEXT_BYTES], what[128];
    agx_disasm(op->inst, text, sizeof text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    finding = &s->finding[s->count++];
    *finding = (struct gpu_finding){.kind = kind,
                                    .instruction = op->index,
                                    .pc = gpu_program_pc(s->group->program, op->index),
                                    .address = address,
                                    .times = 1};
    const uint32_t *at = s->group->position;
    snprintf(finding->text, sizeof finding->text, "%.80s: %s (threadgroup %u,%u,%u simdgroup %u)", text, what, at[0], at[1],
             at[2], group->number);
}

/* --- registers --- */

static void check_read(struct gpu_sanitizer *s, const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned half)
{
    struct simdgroup_shadow *shadow = &s->simdgroup[group->number];
    const uint32_t missing = group->mask & ~shadow->written[half];
    const char *part = half & 1 ? "h" : "l";
    if (shadow->pending[half])
        find(s, GPU_FINDING_WAIT, group, op, half, "r%u%s is read before wait %u", half / 2, part, shadow->pending[half] - 1U);
    if (missing)
        find(s, GPU_FINDING_UNINITIALISED, group, op, half, "r%u%s was never written in lane %d", half / 2, part,
             __builtin_ctz(missing));
}

static bool asynchronous(unsigned op)
{
    return op == AGX_OP_DEVICE_LOAD || op == AGX_OP_STACK_LOAD || op == AGX_OP_ATOMIC;
}

static void check_write(struct gpu_sanitizer *s, const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned half)
{
    struct simdgroup_shadow *shadow = &s->simdgroup[group->number];
    if (shadow->pending[half])
        find(s, GPU_FINDING_WAIT, group, op, half, "r%u%s is written while a load into it waits for slot %u", half / 2,
             half & 1 ? "h" : "l", shadow->pending[half] - 1U);
    shadow->written[half] |= group->mask;
    shadow->pending[half] = asynchronous(op->inst->op) ? (uint8_t)(op->inst->slot + 1) : 0;
}

static void check_registers(struct gpu_sanitizer *s, const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    const struct agx_effect *effect = gpu_program_effect(s->group->program, op->index);
    for (unsigned i = 0; i < effect->read_count; i++)
        for (unsigned h = 0; h < effect->read[i].count; h++)
            check_read(s, group, op, effect->read[i].first + h);
    for (unsigned h = 0; h < effect->write.count; h++)
        check_write(s, group, op, effect->write.first + h);
    for (unsigned h = 0; h < AGX_HALVES && op->inst->op == AGX_OP_WAIT; h++)
        if (s->simdgroup[group->number].pending[h] == op->inst->slot + 1)
            s->simdgroup[group->number].pending[h] = 0;
}

/* --- device memory --- */

static const struct gpu_buffer *nearest_buffer(const struct gpu_launch *launch, uint64_t address, uint64_t *distance)
{
    const struct gpu_buffer *best = NULL;
    for (size_t i = 0; i < launch->buffer_count; i++) {
        const struct gpu_buffer *b = &launch->buffer[i];
        const uint64_t away = address < b->address ? b->address - address : address - b->address;
        if (!best || away < *distance) {
            best = b;
            *distance = away;
        }
    }
    return best;
}

static bool inside_buffer(const struct gpu_launch *launch, uint64_t address, uint32_t bytes)
{
    for (size_t i = 0; i < launch->buffer_count; i++) {
        const struct gpu_buffer *b = &launch->buffer[i];
        if (address >= b->address && address - b->address < b->bytes && bytes <= b->bytes - (address - b->address))
            return true;
    }
    return launch->buffer_count == 0; /* nothing to compare with */
}

static void check_device(struct gpu_sanitizer *s, const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lane,
                         uint64_t address, uint32_t bytes)
{
    const struct gpu_launch *launch = &s->group->launch;
    if (inside_buffer(launch, address, bytes))
        return;
    uint64_t distance = 0;
    const struct gpu_buffer *b = nearest_buffer(launch, address, &distance);
    if (b)
        find(s, GPU_FINDING_BOUNDS, group, op, address, "lane %u: byte %s%llu of buffer %.24s, which has %llu", lane,
             address < b->address ? "-" : "", (unsigned long long)distance, b->name, (unsigned long long)b->bytes);
}

/* --- threadgroup memory --- */

enum touch { TOUCH_READ, TOUCH_WRITE, TOUCH_ATOMIC };

static void check_byte(struct gpu_sanitizer *s, const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lane,
                       uint64_t address, enum touch touch)
{
    struct byte_shadow *byte = &s->byte[address];
    const uint32_t own = 1U << group->number;
    uint32_t others = byte->writers;
    if (touch != TOUCH_READ)
        others |= byte->readers;
    if (touch != TOUCH_ATOMIC)
        others |= byte->atomics;
    others &= ~own;
    if (others)
        find(s, GPU_FINDING_RACE, group, op, address,
             "lane %u: byte %llu of threadgroup memory, touched by simdgroup %d since the last barrier", lane,
             (unsigned long long)address, __builtin_ctz(others));
    if (touch != TOUCH_WRITE && !byte->written)
        find(s, GPU_FINDING_UNINITIALISED, group, op, address, "lane %u: byte %llu of threadgroup memory was never written", lane,
             (unsigned long long)address);
    byte->written = byte->written || touch != TOUCH_READ;
    byte->readers |= touch == TOUCH_READ ? own : 0;
    byte->writers |= touch == TOUCH_WRITE ? own : 0;
    byte->atomics |= touch == TOUCH_ATOMIC ? own : 0;
}

static void check_threadgroup(struct gpu_sanitizer *s, const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned lane,
                              uint64_t address, uint32_t bytes)
{
    const unsigned code = op->inst->op;
    const enum touch touch = code == AGX_OP_THREADGROUP_LOAD    ? TOUCH_READ
                             : code == AGX_OP_THREADGROUP_STORE ? TOUCH_WRITE
                                                                : TOUCH_ATOMIC;
    if (address >= s->group->memory_bytes || bytes > s->group->memory_bytes - address) {
        find(s, GPU_FINDING_BOUNDS, group, op, address, "lane %u: byte %lld of %u of threadgroup memory", lane,
             (long long)address, s->group->memory_bytes);
        return;
    }
    for (uint32_t i = 0; i < bytes; i++)
        check_byte(s, group, op, lane, address + i, touch);
}

static void check_memory(struct gpu_sanitizer *s, const struct gpu_simdgroup *group, const struct gpu_op *op, bool device)
{
    struct gpu_access access;
    gpu_access_of(group, op, &access);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        for (unsigned c = 0; c < 4 && (group->mask >> lane & 1); c++) {
            if (!(access.components >> c & 1))
                continue;
            const uint64_t address = access.address[lane] + c * access.item_bytes;
            if (device)
                check_device(s, group, op, lane, address, access.bytes);
            else
                check_threadgroup(s, group, op, lane, address, access.bytes);
        }
}

/* --- barriers --- */

/* All of a simdgroup's lanes must arrive together or none (the last pass of a loop that everybody has left), and all simdgroups
 * alike. */
static void check_barrier(struct gpu_sanitizer *s, const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    if (group->mask && group->mask != group->exist)
        find(s, GPU_FINDING_BARRIER, group, op, group->mask, "only lanes %08x of %08x arrive", group->mask, group->exist);
    if (!s->barrier) {
        s->barrier = op;
        s->barrier_empty = group->mask == 0;
    } else if (s->barrier != op) {
        find(s, GPU_FINDING_BARRIER, group, op, 0, "other simdgroups stand at the barrier at 0x%x",
             gpu_program_pc(s->group->program, s->barrier->index));
    } else if (s->barrier_empty != (group->mask == 0)) {
        find(s, GPU_FINDING_BARRIER, group, op, 0, "simdgroups arrive with and without active lanes");
    }
}

void gpu_sanitizer_stopped_early(struct gpu_sanitizer *s, const struct gpu_simdgroup *group)
{
    find(s, GPU_FINDING_BARRIER, group, s->barrier ? s->barrier : group->at, 0, "a simdgroup ended instead of arriving");
}

void gpu_sanitizer_barrier_open(struct gpu_sanitizer *s)
{
    s->barrier = NULL;
    for (uint32_t i = 0; i < s->group->memory_bytes; i++)
        s->byte[i].readers = s->byte[i].writers = s->byte[i].atomics = 0;
}

/* --- entry --- */

void gpu_sanitizer_before(struct gpu_sanitizer *s, const struct gpu_simdgroup *group, const struct gpu_op *op)
{
    switch (op->inst->op) {
    case AGX_OP_DEVICE_LOAD:
    case AGX_OP_DEVICE_STORE:
    case AGX_OP_ATOMIC: check_memory(s, group, op, true); break;
    case AGX_OP_THREADGROUP_LOAD:
    case AGX_OP_THREADGROUP_STORE:
    case AGX_OP_THREADGROUP_ATOMIC: check_memory(s, group, op, false); break;
    case AGX_OP_THREADGROUP_BARRIER: check_barrier(s, group, op); break;
    default: break;
    }
    check_registers(s, group, op);
}

struct gpu_sanitizer *gpu_sanitizer_create(const struct gpu_group *group)
{
    struct gpu_sanitizer *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->group = group;
    s->simdgroup = calloc(group->simdgroups_room, sizeof *s->simdgroup);
    s->byte = calloc((size_t)group->memory_bytes + 1, sizeof *s->byte);
    if (s->simdgroup && s->byte)
        return s;
    gpu_sanitizer_free(s);
    return NULL;
}

void gpu_sanitizer_free(struct gpu_sanitizer *s)
{
    if (!s)
        return;
    free(s->simdgroup);
    free(s->byte);
    free(s->finding);
    free(s);
}

void gpu_sanitizer_start(struct gpu_sanitizer *s)
{
    memset(s->simdgroup, 0, s->group->simdgroups_room * sizeof *s->simdgroup);
    memset(s->byte, 0, s->group->memory_bytes * sizeof *s->byte);
    s->barrier = NULL;
}

size_t gpu_group_findings(const struct gpu_group *group, const struct gpu_finding **findings)
{
    *findings = group->sanitizer ? group->sanitizer->finding : NULL;
    return group->sanitizer ? group->sanitizer->count : 0;
}
