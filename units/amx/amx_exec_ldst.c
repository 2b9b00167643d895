#include "units/amx/amx_exec_ldst.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_load(unsigned op)
{
    return op == AMX_LDX || op == AMX_LDY || op == AMX_LDZ || op == AMX_LDZI;
}

static bool is_interleaved(unsigned op)
{
    return op == AMX_LDZI || op == AMX_STZI;
}

static bool is_z(unsigned op)
{
    return op >= AMX_LDZ && op <= AMX_STZI;
}

static void decode_registers(struct amx_transfer *t, unsigned op, uint64_t operand, enum amx_gen gen)
{
    const bool several = (operand & AMX_PAIR_BIT) && !is_interleaved(op);
    t->wrap = is_z(op) ? 64 : 8;
    t->first = (uint8_t)amx_field(operand, 56, is_z(op) ? 6 : 3);
    t->count = several ? 2 : 1;
    t->stride = 1;
    if (!several || (op != AMX_LDX && op != AMX_LDY))
        return;
    const bool four = gen >= AMX_GEN_M2 && amx_bit(operand, 60);
    const bool strided = gen >= AMX_GEN_M3 && amx_bit(operand, 61);
    t->count = four ? 4 : 2;
    t->stride = strided ? (four ? 2 : 4) : 1;
}

static bool refuse(struct unit_fault *fault, enum unit_fault_kind kind, const struct amx_transfer *t, unsigned op,
                   uint64_t operand, const char *why)
{
    const uint64_t address = operand & AMX_ADDRESS_MASK;
    fault->kind = kind;
    fault->pc = 0;
    fault->address = address;
    if (is_interleaved(op)) {
        const unsigned row = 2 * amx_field(operand, 57, 5);
        snprintf(fault->text, sizeof fault->text, "%s of rows z%u, z%u at 0x%" PRIx64 ": %s", amx_op_name(op, operand), row,
                 row + 1, address, why);
        return false;
    }
    snprintf(fault->text, sizeof fault->text, "%s of %u bytes, register %c%u, at 0x%" PRIx64 ": %s", amx_op_name(op, operand),
             64u * t->count, "xyz"[is_z(op) ? 2 : op % 2], t -> first, address, why);
    return false;
}

bool amx_transfer_prepare(struct amx_transfer *t, const struct mem_space *space, unsigned op, uint64_t operand, enum amx_gen gen,
                          struct unit_fault *fault)
{
    decode_registers(t, op, operand, gen);
    const uint64_t address = operand & AMX_ADDRESS_MASK;
    const uint64_t bytes = (uint64_t)AMX_ROW_BYTES * t->count;
    const unsigned need = is_load(op) ? MEM_READ : MEM_WRITE;
    if (t->count > 1 && address % 128 != 0)
        return refuse(fault, UNIT_FAULT_ALIGNMENT, t, op, operand, "a transfer of several registers must be 128-byte aligned");
    t->host = mem_at(space, address, bytes, need);
    if (t->host)
        return true;
    bool unmapped = true;
    uint64_t first_bad = address;
    mem_space_explain(space, address, bytes, need, &unmapped, &first_bad);
    char why[80];
    if (unmapped)
        snprintf(why, sizeof why, "no page is mapped at 0x%" PRIx64, first_bad);
    else
        snprintf(why, sizeof why, "the page of 0x%" PRIx64 " may not be %s", first_bad, is_load(op) ? "read" : "written");
    refuse(fault, unmapped ? UNIT_FAULT_UNMAPPED : UNIT_FAULT_PERMISSION, t, op, operand, why);
    fault->address = first_bad;
    return false;
}

/* Word k of an interleaved transfer: the rows of a pair alternate, h selects a half of the elements. */
static uint8_t *interleaved_word(const struct amx_regs *regs, uint64_t operand, unsigned k)
{
    const unsigned row = 2 * amx_field(operand, 57, 5), half = amx_field(operand, 56, 1);
    return regs->z[row + (k & 1)] + 4 * (8 * half + (k >> 1));
}

static uint8_t *register_bytes(const struct amx_regs *regs, unsigned op, unsigned n)
{
    if (is_z(op))
        return regs->z[n];
    return (op % 2 ? regs->y : regs->x) + AMX_ROW_BYTES * n;
}

void amx_transfer_run(const struct amx_transfer *t, const struct amx_regs *regs, unsigned op, uint64_t operand)
{
    if (is_interleaved(op)) {
        for (unsigned k = 0; k < 16; k++) {
            uint8_t *word = interleaved_word(regs, operand, k);
            if (op == AMX_LDZI)
                memcpy(word, t->host + 4 * k, 4);
            else
                memcpy(t->host + 4 * k, word, 4);
        }
        return;
    }
    for (unsigned k = 0; k < t->count; k++) {
        uint8_t *bytes = register_bytes(regs, op, amx_transfer_register(t, k));
        if (is_load(op))
            memcpy(bytes, t->host + AMX_ROW_BYTES * k, AMX_ROW_BYTES);
        else
            memcpy(t->host + AMX_ROW_BYTES * k, bytes, AMX_ROW_BYTES);
    }
}
