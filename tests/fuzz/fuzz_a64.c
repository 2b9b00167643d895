/* Arbitrary words: decoding, encoding and disassembling must agree, and running them must stay inside the simulated space and end
 * in a fault or at the budget.
 */
#include "isa/a64/a64_isa.h"
#include "units/cpu/cpu_core.h"

#include <stdlib.h>
#include <string.h>

#define CODE UINT64_C(0x10000)
#define DATA UINT64_C(0x40000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void read_back(uint32_t word)
{
    struct a64_insn insn, again;
    char text[64];
    uint32_t back = 0;
    a64_decode(word, &insn);
    const int length = a64_disasm(&insn, CODE, text, sizeof text);
    check(length > 0 && strlen(text) < sizeof text);
    if (insn.form == A64_UNDEFINED)
        return;
    check(a64_encode(&insn, &back));
    a64_decode(back, &again);
    again.word = insn.word; /* ignored bits may differ */
    check(memcmp(&again, &insn, sizeof insn) == 0);
}

static bool accept(void *context, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    (void)context, (void)op, (void)operand, (void)fault;
    return true;
}

static void run(const uint8_t *data, size_t size)
{
    static const struct cpu_coprocessor unit = {accept, NULL, NULL};
    struct mem_space *space = mem_space_create(UINT64_C(1) << 20);
    struct cpu_core *core = space ? cpu_core_create(space) : NULL;
    if (core) {
        mem_space_map(space, CODE, 2 * MEM_PAGE_BYTES, MEM_READ | MEM_WRITE | MEM_EXEC);
        mem_space_map(space, DATA, 2 * MEM_PAGE_BYTES, MEM_READ | MEM_WRITE);
        memcpy(space->host + CODE, data, size < 2 * MEM_PAGE_BYTES ? size : 2 * MEM_PAGE_BYTES);
        for (unsigned i = 0; i < 32; i++)
            cpu_core_set_x(core, i, i & 1 ? DATA + 512 * i : i);
        cpu_core_set_coprocessor(core, &unit);
        cpu_core_set_pc(core, CODE);
        struct unit_fault fault;
        const enum cpu_stop stop = cpu_core_run(core, 2000, NULL, &fault);
        check(stop == CPU_STOP_BUDGET || (stop == CPU_STOP_FAULT && fault.kind != UNIT_FAULT_NONE && fault.text[0]));
    }
    cpu_core_free(core);
    mem_space_free(space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 4 <= size; at += 4) {
        uint32_t word;
        memcpy(&word, data + at, 4);
        read_back(word);
    }
    run(data, size);
    return 0;
}
