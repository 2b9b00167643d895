#include "units/gpu/gpu_program.h"

#include "isa/list_grow.h"
#include "units/gpu/gpu_program_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* While decoding: one slot per two bytes of code. 0 = nothing decoded there, otherwise number + 1 in order of discovery. */
struct discovery {
    struct gpu_program *program;
    const uint8_t *code;
    size_t bytes;
    uint32_t *found;   /* per half-word of code */
    uint32_t *pending; /* byte offsets still to decode */
    uint32_t pending_count;
    size_t room;
    struct unit_fault *fault;
};

static bool fail(struct unit_fault *fault, enum unit_fault_kind kind, uint32_t pc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool fail(struct unit_fault *fault, enum unit_fault_kind kind, uint32_t pc, const char *format, ...)
{
    fault->kind = kind;
    fault->pc = pc;
    fault->address = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool fail_out_of_memory(struct unit_fault *fault)
{
    return fail(fault, UNIT_FAULT_NONE, 0, "out of memory while decoding a GPU program");
}

/* --- what may run --- */

static bool check_inst(const struct discovery *d, const struct agx_inst *inst, uint32_t pc)
{
    const char *const why = gpu_inst_unmodelled(inst, d->program->generation);
    if (!why && !inst->invalid)
        return true;
    char text[AGX_TEXT_BYTES];
    agx_disasm(inst, text, sizeof text);
    return fail(d->fault, why ? UNIT_FAULT_UNMODELLED : UNIT_FAULT_UNDEFINED, pc, "%.120s: %s", text, why ? why : inst->invalid);
}

/* --- discovery --- */

static bool queue(struct discovery *d, int64_t target, uint32_t from)
{
    if (target < 0 || (uint64_t)target >= d->bytes)
        return fail(d->fault, UNIT_FAULT_UNDEFINED, from, "execution can leave the code: next instruction at byte %lld of %zu",
                    (long long)target, d->bytes);
    if (target & 1)
        return fail(d->fault, UNIT_FAULT_UNDEFINED, from, "branch to the odd byte offset %lld", (long long)target);
    if (d->found[target / 2] == 0) {
        d->found[target / 2] = UINT32_MAX; /* queued */
        d->pending[d->pending_count++] = (uint32_t)target;
    }
    return true;
}

static bool grow(struct discovery *d)
{
    struct gpu_inst *const inst = list_grow(d->program->inst, d->program->count, &d->room, sizeof *inst);
    if (!inst)
        return fail_out_of_memory(d->fault);
    d->program->inst = inst;
    return true;
}

static bool queue_successors(struct discovery *d, const struct agx_inst *inst, uint32_t pc)
{
    switch (inst->op) {
    case AGX_OP_STOP:
    case AGX_OP_TRAP:
    case AGX_OP_RET: return true;
    case AGX_OP_CALL:
    case AGX_OP_JMP_EXEC_ANY:
    case AGX_OP_JMP_EXEC_NONE:
        if (!queue(d, (int64_t)pc + inst->branch_bytes, pc))
            return false;
        break;
    default: break;
    }
    return queue(d, (int64_t)pc + inst->bytes, pc);
}

static bool decode_at(struct discovery *d, uint32_t pc)
{
    if (!grow(d))
        return false;
    struct gpu_inst *slot = &d->program->inst[d->program->count];
    memset(slot, 0, sizeof *slot);
    slot->pc = pc;
    if (agx_decode(d->code + pc, d->bytes - pc, &slot->inst) == 0)
        return fail(d->fault, UNIT_FAULT_UNDEFINED, pc, "no instruction starts with the bytes %02x %02x", d->code[pc],
                    pc + 1 < d->bytes ? d->code[pc + 1] : 0);
    agx_effect_of(&slot->inst, &slot->effect);
    d->program->count++;
    return check_inst(d, &slot->inst, pc) && queue_successors(d, &slot->inst, pc);
}

/* --- order and links --- */

static int by_pc(const void *a, const void *b)
{
    const uint32_t left = ((const struct gpu_inst *)a)->pc, right = ((const struct gpu_inst *)b)->pc;
    return left < right ? -1 : left > right;
}

static uint32_t highest(struct agx_range range, uint32_t so_far)
{
    const uint32_t end = (uint32_t)range.first + range.count;
    return range.count && end > so_far ? end : so_far;
}

static void link_all(struct discovery *d)
{
    struct gpu_program *program = d->program;
    qsort(program->inst, program->count, sizeof *program->inst, by_pc);
    for (uint32_t i = 0; i < program->count; i++)
        d->found[program->inst[i].pc / 2] = i + 1;
    for (uint32_t i = 0; i < program->count; i++) {
        struct gpu_inst *at = &program->inst[i];
        at->next = gpu_program_find(program, at->pc + at->inst.bytes);
        at->target = gpu_program_find(program, (uint32_t)((int64_t)at->pc + at->inst.branch_bytes));
        program->register_halves = highest(at->effect.write, program->register_halves);
        for (unsigned s = 0; s < at->effect.read_count; s++)
            program->register_halves = highest(at->effect.read[s], program->register_halves);
        if (at->effect.reads_r0l || at->effect.writes_mask)
            program->register_halves = program->register_halves ? program->register_halves : 1;
    }
}

static bool discover(struct discovery *d, uint32_t entry)
{
    if (!queue(d, entry, entry))
        return false;
    while (d->pending_count > 0)
        if (!decode_at(d, d->pending[--d->pending_count]))
            return false;
    link_all(d);
    return true;
}

struct gpu_program *gpu_program_create(const uint8_t *code, size_t bytes, uint32_t entry, enum gpu_generation generation,
                                       struct unit_fault *fault)
{
    memset(fault, 0, sizeof *fault);
    struct discovery d = {.code = code, .bytes = bytes, .fault = fault};
    if (bytes > INT32_MAX) {
        fail(fault, UNIT_FAULT_UNMODELLED, 0, "programs of 2 GiB and more are not modelled");
        return NULL;
    }
    d.program = calloc(1, sizeof *d.program);
    d.found = calloc(bytes / 2 + 1, sizeof *d.found);
    d.pending = calloc(bytes / 2 + 1, sizeof *d.pending);
    bool ok = d.program && d.found && d.pending;
    if (!ok)
        fail_out_of_memory(fault);
    if (ok) {
        d.program->generation = generation;
        d.program->entry = entry;
        d.program->found = d.found;
        d.program->found_count = bytes / 2 + 1;
        ok = generation == GPU_G15
                 ? fail(fault, UNIT_FAULT_UNMODELLED, entry, "the instruction set of G15 (M3, M4) is not modelled")
                 : discover(&d, entry);
    }
    free(d.pending);
    ok = ok && (gpu_program_find_steering(d.program) || fail_out_of_memory(fault));
    if (ok)
        return d.program;
    if (!d.program || !d.program->found)
        free(d.found);
    gpu_program_free(d.program);
    return NULL;
}

void gpu_program_free(struct gpu_program *program)
{
    if (!program)
        return;
    free(program->found);
    free(program->inst);
    free(program);
}

uint32_t gpu_program_find(const struct gpu_program *program, uint32_t pc)
{
    if ((pc & 1) || pc / 2 >= program->found_count)
        return GPU_NO_INSTRUCTION;
    return program->found[pc / 2] - 1; /* 0, for nothing there, becomes GPU_NO_INSTRUCTION */
}

uint32_t gpu_program_count(const struct gpu_program *program)
{
    return program->count;
}

const struct agx_inst *gpu_program_inst(const struct gpu_program *program, uint32_t index)
{
    return &program->inst[index].inst;
}

const struct agx_effect *gpu_program_effect(const struct gpu_program *program, uint32_t index)
{
    return &program->inst[index].effect;
}

uint32_t gpu_program_pc(const struct gpu_program *program, uint32_t index)
{
    return program->inst[index].pc;
}

uint32_t gpu_program_register_halves(const struct gpu_program *program)
{
    return program->register_halves;
}
