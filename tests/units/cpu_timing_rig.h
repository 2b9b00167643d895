/* A core's timing on a memory system of its own, for suites. */
#ifndef ORCHARD_TESTS_UNITS_CPU_TIMING_RIG_H
#define ORCHARD_TESTS_UNITS_CPU_TIMING_RIG_H

#include "tests/support/suite.h"
#include "tests/units/cpu_example.h"

struct rig {
    struct mem_system *system;
    struct mem_port *port;
    struct cpu_timing *timing;
};

static inline struct rig rig_with(const struct cpu_params *cpu, const struct mem_params *mem, const struct mem_port_params *port)
{
    struct rig r = {.system = mem_system_create(mem)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.system);
    r.port = mem_port_open(r.system, port, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.port);
    r.timing = cpu_timing_create(cpu, r.port, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.timing);
    return r;
}

static inline struct rig example_rig(void)
{
    const struct cpu_params cpu = example_cpu();
    const struct mem_params mem = example_mem();
    const struct mem_port_params port = example_p_port();
    return rig_with(&cpu, &mem, &port);
}

static inline void rig_free(struct rig *r)
{
    cpu_timing_free(r->timing);
    mem_system_free(r->system);
}

#endif
