/* For tests of parameters: all structs that are filled from a chip, and the rows of all lists with the member that each sets. */
#ifndef ORCHARD_TESTS_SIM_CHIP_PARAMS_ROWS_H
#define ORCHARD_TESTS_SIM_CHIP_PARAMS_ROWS_H

#include "sim/chip/chip_power.h"
#include "sim/chip/chip_units.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

/* A chip with two dies, so that every parameter is read: four P clusters, two E clusters, then the L2s of the GPU. */
#define CHIP "m1-ultra"
enum { P_CLUSTER = 0, E_CLUSTER = 4, GPU_CLUSTER = 6, CLUSTERS = 8 };

/* Everything that is filled from a chip. */
struct filled {
    struct amx_params amx_p, amx_e;
    struct cpu_params cpu_p, cpu_e;
    struct gpu_params gpu;
    struct ane_params ane;
    struct ane_limits ane_limits;
    struct ane_numeric ane_numeric;
    struct mem_params mem;
    struct mem_port_params core_p, core_e, amx_port_p, amx_port_e, gpu_port;
    struct mem_pool_params pool;
    struct power_params power;
    struct gpu_control_params gpu_control;
};

static inline bool fill(const struct chip *chip, struct filled *f, struct orch_error *error)
{
    unsigned first;
    memset(f, 0, sizeof *f);
    return chip_amx_params(chip, CHIP_P_CORE, 1, &f->amx_p, error) && chip_amx_params(chip, CHIP_E_CORE, 1, &f->amx_e, error) &&
           chip_cpu_params(chip, CHIP_P_CORE, 1, &f->cpu_p, error) && chip_cpu_params(chip, CHIP_E_CORE, 1, &f->cpu_e, error) &&
           chip_gpu_params(chip, &f->gpu, error) && chip_ane_params(chip, &f->ane, error) &&
           chip_ane_limits(chip, &f->ane_limits, error) && chip_ane_numeric(chip, &f->ane_numeric, error) &&
           chip_mem_params(chip, NULL, &f->mem, error) && chip_gpu_memory(chip, &f->mem, &first, error) &&
           chip_core_port(chip, P_CLUSTER, &f->core_p, error) && chip_core_port(chip, E_CLUSTER, &f->core_e, error) &&
           chip_amx_port(chip, P_CLUSTER, &f->amx_port_p, error) && chip_amx_port(chip, E_CLUSTER, &f->amx_port_e, error) &&
           chip_gpu_port(chip, GPU_CLUSTER, 0, &f->gpu_port, error) && chip_memory(chip, 0, &f->pool, error) &&
           chip_power_params(chip, &f->power, error) && chip_gpu_control(chip, &f->gpu_control, error);
}

/* ---- the rows of all lists ---- */

enum type { IS_COUNT, IS_QUANTITY, IS_SWITCH, IS_CHOICE };
#define TYPE_OF(member)                                                                                                          \
    _Generic(((struct filled *)0)->member, uint32_t : IS_COUNT, double : IS_QUANTITY, bool : IS_SWITCH, uint8_t : IS_CHOICE)

struct row {
    char key[96];
    const char *unit, *text;
    size_t offset; /* in struct filled */
    enum type type;
};
enum { ROWS_MAX = 1024 };
static struct row rows[ROWS_MAX];
static size_t row_count;

static inline void add(const char *prefix, const char *name, const char *unit, const char *text, size_t offset, enum type type)
{
    CU_ASSERT_TRUE_FATAL(row_count < ROWS_MAX);
    struct row *r = &rows[row_count++];
    snprintf(r->key, sizeof r->key, "%s%s", prefix, name);
    r->unit = unit;
    r->text = text;
    r->offset = offset;
    r->type = type;
}

/* One row of a list (name, unit, kind, lowest, highest, text), of the memory system (how, member, name, ...) or of power/ (field,
 * unit, lowest, highest, text). */
#define ADD(prefix, into, name, unit, kind, lowest, highest, text)                                                               \
    add(prefix, #name, unit, text, offsetof(struct filled, into.name), TYPE_OF(into.name));
#define ADD_MEMBER(prefix, into, member, name, unit, kind, lowest, highest, text)                                                \
    add(prefix, #name, unit, text, offsetof(struct filled, into.member), TYPE_OF(into.member));
#define ADD_QUANTITY(prefix, into, field, unit, lowest, highest, text)                                                           \
    add(prefix, #field, unit, text, offsetof(struct filled, into.field), TYPE_OF(into.field));

static inline void add_amx(void)
{
#define P(...) ADD("amx.", amx_p, __VA_ARGS__)
#define E(...) ADD("amx_e.", amx_e, __VA_ARGS__)
    AMX_PARAMS(P)
    AMX_PARAMS(E)
#undef P
#undef E
}

/* `kind` is 'p' or 'e', `base` the offset of the struct of that kind. */
static inline void add_cpu(char kind, size_t base)
{
    char prefix[48];
    const size_t p = offsetof(struct filled, cpu_p); /* for which the macros make offsets */
    const size_t first = row_count;

    snprintf(prefix, sizeof prefix, "cpu_%c.", kind);
#define X(...) ADD(prefix, cpu_p, __VA_ARGS__)
    CPU_PARAMS(X)
#undef X
#define COUNT(name, unit, kind, lowest, highest, text) add(prefix, #name, unit, text, offset, IS_COUNT);
#define X(enumerator, name)                                                                                                      \
    {                                                                                                                            \
        const size_t offset = offsetof(struct filled, cpu_p.port_count[CPU_PORTS_##enumerator]);                                 \
        CPU_PORT_PARAM(COUNT, name)                                                                                              \
    }
    CPU_PORT_TABLE(X)
#undef X
#undef COUNT
#define X(class, ...) ADD(prefix, cpu_p.cls[A64_C_##class], __VA_ARGS__)
#define CLASS(enumerator, name)                                                                                                  \
    snprintf(prefix, sizeof prefix, "cpu_%c." #name ".", kind);                                                                  \
    CPU_CLASS_PARAMS(X, enumerator)
    A64_CLASS_TABLE(CLASS)
#undef CLASS
#undef X
    for (size_t i = first; i < row_count; i++)
        rows[i].offset += base - p;
}

static inline void add_gpu(void)
{
#define X(...) ADD("gpu.", gpu, __VA_ARGS__)
    GPU_PARAMS(X)
#undef X
    char prefix[48];
#define X(class, ...) ADD(prefix, gpu.cost[GPU_COST_##class], __VA_ARGS__)
#define CLASS(enumerator, name)                                                                                                  \
    snprintf(prefix, sizeof prefix, "gpu." #name ".");                                                                           \
    GPU_COST_PARAMS(X, enumerator)
    GPU_COST_TABLE(CLASS)
#undef CLASS
#undef X
#define PORT(how, ...)    ADD_MEMBER("gpu.", gpu_port, __VA_ARGS__)
#define CLUSTER(how, ...) ADD_MEMBER("gpu.", mem.cluster[GPU_CLUSTER], __VA_ARGS__)
    MEM_GPU_PARAMS(PORT, CLUSTER, PARAM_NONE)
#undef PORT
#undef CLUSTER
}

static inline void add_ane(void)
{
#define TIMING(...)  ADD("ane.", ane, __VA_ARGS__)
#define LIMIT(...)   ADD("ane.", ane_limits, __VA_ARGS__)
#define NUMERIC(...) ADD("ane.", ane_numeric, __VA_ARGS__)
    ANE_PARAMS(TIMING)
    ANE_LIMITS(LIMIT)
    ANE_NUMERIC(NUMERIC)
#undef TIMING
#undef LIMIT
#undef NUMERIC
}

static inline void add_mem(void)
{
#define CORE(how, ...)    ADD_MEMBER("mem.p_", core_p, __VA_ARGS__)
#define AMX(how, ...)     ADD_MEMBER("mem.p_", amx_port_p, __VA_ARGS__)
#define CLUSTER(how, ...) ADD_MEMBER("mem.p_", mem.cluster[P_CLUSTER], __VA_ARGS__)
    MEM_CORE_PARAMS(CORE, AMX, CORE, CLUSTER)
    MEM_CORE_PARAMS(PARAM_NONE, PARAM_NONE, AMX, PARAM_NONE)
#undef CORE
#undef AMX
#undef CLUSTER
#define CORE(how, ...)    ADD_MEMBER("mem.e_", core_e, __VA_ARGS__)
#define AMX(how, ...)     ADD_MEMBER("mem.e_", amx_port_e, __VA_ARGS__)
#define CLUSTER(how, ...) ADD_MEMBER("mem.e_", mem.cluster[E_CLUSTER], __VA_ARGS__)
    MEM_CORE_PARAMS(CORE, AMX, CORE, CLUSTER)
    MEM_CORE_PARAMS(PARAM_NONE, PARAM_NONE, AMX, PARAM_NONE)
#undef CORE
#undef AMX
#undef CLUSTER
#define CHIP_WIDE(how, ...) ADD_MEMBER("mem.", mem, __VA_ARGS__)
#define POOL(how, ...)      ADD_MEMBER("mem.", pool, __VA_ARGS__)
#define DRAM(how, ...)      ADD_MEMBER("dram.", mem, __VA_ARGS__)
    MEM_SHARED_PARAMS(CHIP_WIDE, CHIP_WIDE, POOL, PARAM_NONE)
    MEM_DRAM_PARAMS(DRAM, PARAM_NONE)
#undef CHIP_WIDE
#undef POOL
#undef DRAM
}

static inline void add_power(void)
{
    char prefix[48];
#define FIELD(...) ADD_QUANTITY(prefix, power.domain[domain], __VA_ARGS__)
#define X(enumerator, name, text)                                                                                                \
    {                                                                                                                            \
        enum { domain = POWER_##enumerator };                                                                                    \
        snprintf(prefix, sizeof prefix, "power." #name ".");                                                                     \
        POWER_DOMAIN_FIELDS(FIELD)                                                                                               \
    }
    POWER_DOMAIN_TABLE(X)
#undef X
#undef FIELD
#define X(name, unit, text) add("power.pj.", #name, "pJ", text, offsetof(struct filled, power.event_pj[ACT_##name]), IS_QUANTITY);
    ACTIVITY_TABLE(X)
#undef X
#define X(...) ADD_QUANTITY("power.", power, __VA_ARGS__)
    POWER_FIELDS(X)
#undef X
#define X(...) ADD_QUANTITY("gpu_control.", gpu_control, __VA_ARGS__)
    GPU_CONTROL_FIELDS(X)
#undef X
}

static inline void list_rows(void)
{
    if (row_count)
        return;
    add_amx();
    add_cpu('p', offsetof(struct filled, cpu_p));
    add_cpu('e', offsetof(struct filled, cpu_e));
    add_gpu();
    add_ane();
    add_mem();
    add_power();
}

#endif
