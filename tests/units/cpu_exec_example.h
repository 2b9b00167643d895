/* A core with one page of code and some of data, for the suites of the interpreter. */
#ifndef ORCHARD_TESTS_UNITS_CPU_EXEC_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_CPU_EXEC_EXAMPLE_H

#include "tests/support/suite.h"
#include "units/cpu/cpu_core.h"

#include <stdlib.h>
#include <string.h>

#define EXAMPLE_CODE     UINT64_C(0x10000)
#define EXAMPLE_DATA     UINT64_C(0x40000) /* two pages; the next is not mapped */
#define EXAMPLE_DATA_END (EXAMPLE_DATA + 2 * MEM_PAGE_BYTES)
#define EXAMPLE_CONSTANT UINT64_C(0x80000) /* a read-only page */
#define EXAMPLE_MIXED    UINT64_C(0xc0000) /* code and data, writable and executable */
#define BRK7             UINT32_C(0xd42000e0)

struct example {
    struct mem_space *space;
    struct cpu_core *core;
    struct cpu_trace trace;
    struct unit_fault fault;
    const struct cpu_block *block[256];
    uint64_t address[1024];
};

static inline struct example *example_open(void)
{
    struct example *e = calloc(1, sizeof *e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    e->space = mem_space_create(UINT64_C(1) << 24);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e->space);
    mem_space_map(e->space, EXAMPLE_CODE, MEM_PAGE_BYTES, MEM_READ | MEM_EXEC);
    mem_space_map(e->space, EXAMPLE_DATA, 2 * MEM_PAGE_BYTES, MEM_READ | MEM_WRITE);
    mem_space_map(e->space, EXAMPLE_CONSTANT, MEM_PAGE_BYTES, MEM_READ);
    mem_space_map(e->space, EXAMPLE_MIXED, MEM_PAGE_BYTES, MEM_READ | MEM_WRITE | MEM_EXEC);
    e->core = cpu_core_create(e->space);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e->core);
    e->trace = (struct cpu_trace){.block = e->block, .address = e->address, .block_capacity = 256, .address_capacity = 1024};
    return e;
}

static inline void example_close(struct example *e)
{
    cpu_core_free(e->core);
    mem_space_free(e->space);
    free(e);
}

/* Puts words at `at`, closed by brk #7, and the program counter there. */
static inline void example_put(struct example *e, uint64_t at, const uint32_t *words, size_t count)
{
    const uint32_t last = BRK7;
    memcpy(e->space->host + at, words, 4 * count);
    memcpy(e->space->host + at + 4 * count, &last, 4);
    cpu_core_forget_code(e->core, at, 4 * (count + 1));
    cpu_core_set_pc(e->core, at);
}

/* Runs words at EXAMPLE_CODE; true when they ran through to the brk. */
static inline bool example_run(struct example *e, const uint32_t *words, size_t count)
{
    example_put(e, EXAMPLE_CODE, words, count);
    const enum cpu_stop stop = cpu_core_run(e->core, 10000, &e->trace, &e->fault);
    return stop == CPU_STOP_FAULT && e->fault.kind == UNIT_FAULT_TRAP && e->fault.pc == EXAMPLE_CODE + 4 * count;
}
#define EXAMPLE_RUN(e, ...) example_run(e, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static inline uint64_t example_word(const struct example *e, uint64_t addr)
{
    uint64_t value;
    memcpy(&value, e->space->host + addr, 8);
    return value;
}

static inline void example_set_word(struct example *e, uint64_t addr, uint64_t value)
{
    memcpy(e->space->host + addr, &value, 8);
}

#endif
