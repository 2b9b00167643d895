/* All keys of the chip database in one table: those of the chip itself (chip_keys.inc) and the parameters of units and power/,
 * each from the list beside its unit. The order of the table is the order in which `orchard chips show` prints values. */
#include "isa/a64/a64_isa.h"
#include "isa/array_count.h"
#include "power/energy.h"
#include "power/gpu_control.h"
#include "sim/chip/chip.h"
#include "sim/chip/chip_keys.inc"
#include "sim/base/suggest.h"
#include "units/amx/amx_params.inc"
#include "units/ane/ane_params.inc"
#include "units/cpu/cpu_params.inc"
#include "units/gpu/gpu_params.inc"
#include "units/mem/mem_params.inc"

#include <string.h>

/* Kinds of parameters (units/unit_params.h) that are spelled in another way in the database. */
#define CHIP_SWITCH CHIP_INT
#define CHIP_CHOICE CHIP_TEXT

/* Each of these macros turns one row of a list into a key; its name says under which prefix. */
/* clang-format off */
#define KEY(name, unit, type, lowest, highest, text) {name, unit, CHIP_##type, lowest, highest, text},
#define PLAIN(name, ...) KEY(#name, __VA_ARGS__)

#define AMX_P(name, ...) KEY("amx." #name, __VA_ARGS__)
#define AMX_E(name, ...) KEY("amx_e." #name, __VA_ARGS__)
#define CPU_P(name, ...) KEY("cpu_p." #name, __VA_ARGS__)
#define CPU_E(name, ...) KEY("cpu_e." #name, __VA_ARGS__)
#define GPU(name, ...)   KEY("gpu." #name, __VA_ARGS__)
#define ANE(name, ...)   KEY("ane." #name, __VA_ARGS__)
#define AREA(name, ...)  KEY("area." #name, __VA_ARGS__)
#define POWER(name, ...) KEY("power." #name, __VA_ARGS__)

/* Rows of the memory system: those that set a member of a struct, and the others. */
#define MEM_P(how, member, name, ...) KEY("mem.p_" #name, __VA_ARGS__)
#define MEM_E(how, member, name, ...) KEY("mem.e_" #name, __VA_ARGS__)
#define MEM(how, member, name, ...)   KEY("mem." #name, __VA_ARGS__)
#define MEM_OTHER(name, ...)          KEY("mem." #name, __VA_ARGS__)
#define DRAM(how, member, name, ...)  KEY("dram." #name, __VA_ARGS__)
#define DRAM_OTHER(name, ...)         KEY("dram." #name, __VA_ARGS__)
#define MEM_GPU(how, member, name, ...) KEY("gpu." #name, __VA_ARGS__)

/* Port groups and classes of instructions: each has keys of its own. */
#define PORT_P(enumerator, name)       CPU_PORT_PARAM(CPU_P, name)
#define PORT_E(enumerator, name)       CPU_PORT_PARAM(CPU_E, name)
#define OF_CLASS(class, name, ...)     KEY(class "." #name, __VA_ARGS__)
#define CLASS_P(enumerator, name)      CPU_CLASS_PARAMS(OF_CLASS, "cpu_p." #name)
#define CLASS_E(enumerator, name)      CPU_CLASS_PARAMS(OF_CLASS, "cpu_e." #name)
#define CLASS_GPU(enumerator, name)    GPU_COST_PARAMS(OF_CLASS, "gpu." #name)

/* The lists of power/ name no kind, because all their values are quantities. */
#define QUANTITY(name, unit, lowest, highest, text) KEY(name, unit, REAL, lowest, highest, text)
#define POWER_ALL(field, ...)          QUANTITY("power." #field, __VA_ARGS__)
#define POWER_EVENT(name, unit, text)  QUANTITY("power.pj." #name, "pJ", 0, 1e6, text)
#define POWER_P_CPU(field, ...)        QUANTITY("power.p_cpu." #field, __VA_ARGS__)
#define POWER_E_CPU(field, ...)        QUANTITY("power.e_cpu." #field, __VA_ARGS__)
#define POWER_AMX(field, ...)          QUANTITY("power.amx." #field, __VA_ARGS__)
#define POWER_GPU(field, ...)          QUANTITY("power.gpu." #field, __VA_ARGS__)
#define POWER_ANE(field, ...)          QUANTITY("power.ane." #field, __VA_ARGS__)
#define POWER_SLC(field, ...)          QUANTITY("power.slc." #field, __VA_ARGS__)
#define POWER_FABRIC(field, ...)       QUANTITY("power.fabric." #field, __VA_ARGS__)
#define POWER_DRAM(field, ...)         QUANTITY("power.dram." #field, __VA_ARGS__)
#define POWER_SOC(field, ...)          QUANTITY("power.soc." #field, __VA_ARGS__)
#define GPU_CONTROL(field, ...)        QUANTITY("gpu_control." #field, __VA_ARGS__)

#define DOMAIN(enumerator, name, text) POWER_DOMAIN_FIELDS(POWER_##enumerator)

static const struct chip_key keys[] = {
    CHIP_CHARACTERISTICS(PLAIN)
    AMX_PARAMS(AMX_P) AMX_PARAMS(AMX_E)
    CPU_PARAMS(CPU_P) CPU_PORT_TABLE(PORT_P) A64_CLASS_TABLE(CLASS_P)
    CPU_PARAMS(CPU_E) CPU_PORT_TABLE(PORT_E) A64_CLASS_TABLE(CLASS_E)
    MEM_CORE_PARAMS(MEM_P, MEM_P, MEM_P, MEM_P)
    MEM_CORE_PARAMS(MEM_E, MEM_E, MEM_E, MEM_E)
    MEM_SHARED_PARAMS(MEM, MEM, MEM, MEM_OTHER)
    MEM_DRAM_PARAMS(DRAM, DRAM_OTHER)
    GPU_PARAMS(GPU) GPU_COST_TABLE(CLASS_GPU) MEM_GPU_PARAMS(MEM_GPU, MEM_GPU, GPU)
    ANE_PARAMS(ANE) ANE_LIMITS(ANE) ANE_NUMERIC(ANE)
    CHIP_AREA_FIELDS(AREA)
    POWER_FIELDS(POWER_ALL) CHIP_POWER_CURVES(POWER) ACTIVITY_TABLE(POWER_EVENT) POWER_DOMAIN_TABLE(DOMAIN)
    GPU_CONTROL_FIELDS(GPU_CONTROL)
};
/* clang-format on */
enum { KEY_COUNT = ARRAY_COUNT(keys) };

size_t chip_key_count(void)
{
    return KEY_COUNT;
}

const struct chip_key *chip_key_at(size_t index)
{
    return index < KEY_COUNT ? &keys[index] : NULL;
}

const struct chip_key *chip_key_find(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (keys[i].name[0] == name[0] && strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

const char *chip_key_nearest(const char *name)
{
    struct suggest s;
    suggest_start(&s, name);
    for (size_t i = 0; i < KEY_COUNT; i++)
        suggest_offer(&s, keys[i].name);
    return suggest_best(&s);
}

/* The default uncertainties are a convention of orchard. They follow from how well independent sources agree: AMX throughput
 * tables (corsix/amx, eugenehp/amx-rs) differ by up to 5 %, and advertised figures are rounded to about 1 %. Clocks that were
 * read from device trees are exact as printed, but what they stand for is a little less sure. Values inferred from one another
 * missed later measurements by about 15 %. A fitted value reproduces the rows it was fitted on; what it is elsewhere is no surer
 * than between an inferred one and a guess. A guess is taken to be right within a factor of 1.5. */
static const struct {
    const char *name;
    double quantity, count;
} kinds[CHIP_KIND_COUNT] = {
    [CHIP_VENDOR_SPEC] = {"vendor-spec", 0.01, 0},
    [CHIP_MEASURED] = {"measured", 0.05, 0},
    [CHIP_REVERSE_ENGINEERED] = {"reverse-engineered", 0.01, 0},
    [CHIP_INFERRED] = {"inferred", 0.15, 0},
    [CHIP_FITTED] = {"fitted", 0.3, 0.3},
    [CHIP_GUESS] = {"guess", 0.5, 0.5},
};

const char *chip_kind_name(enum chip_kind kind)
{
    return (unsigned)kind < CHIP_KIND_COUNT ? kinds[kind].name : "?";
}

double chip_value_uncertainty(const struct chip_value *value, unsigned active)
{
    const size_t index = active ? active - 1 : 0;
    if (!value->uncertainties || value->count == 0)
        return value->uncertainty;
    return value->uncertainties[index < value->count ? index : value->count - 1];
}

double chip_kind_uncertainty(enum chip_kind kind, enum chip_type type)
{
    if ((unsigned)kind >= CHIP_KIND_COUNT || type == CHIP_TEXT)
        return 0;
    return type == CHIP_INT || type == CHIP_LIST ? kinds[kind].count : kinds[kind].quantity;
}
