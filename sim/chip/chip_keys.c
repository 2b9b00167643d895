#include "isa/array_count.h"
#include "power/energy.h"
#include "power/gpu_control.h"
#include "sim/chip/chip.h"
#include "sim/chip/chip_keys.inc"
#include "sim/base/suggest.h"

#include <string.h>

#define KEY(name, unit, type, lowest, highest, text)            {name, unit, CHIP_##type, lowest, highest, text},
#define CHARACTERISTIC(name, unit, type, lowest, highest, text) KEY(#name, unit, type, lowest, highest, text)
#define AMX_P(name, ...)                                        KEY("amx." #name, __VA_ARGS__)
#define AMX_E(name, ...)                                        KEY("amx_e." #name, __VA_ARGS__)
#define CPU_P(name, ...)                                        KEY("cpu_p." #name, __VA_ARGS__)
#define CPU_E(name, ...)                                        KEY("cpu_e." #name, __VA_ARGS__)
#define MEM_P(name, ...)                                        KEY("mem.p_" #name, __VA_ARGS__)
#define MEM_E(name, ...)                                        KEY("mem.e_" #name, __VA_ARGS__)
#define MEM(name, ...)                                          KEY("mem." #name, __VA_ARGS__)
#define DRAM(name, ...)                                         KEY("dram." #name, __VA_ARGS__)
#define GPU(name, ...)                                          KEY("gpu." #name, __VA_ARGS__)
#define ANE(name, ...)                                          KEY("ane." #name, __VA_ARGS__)
#define PORT_P(group, name)                                     KEY("cpu_p.ports_" #name, "ports", INT, 0, 32, "ports of the group " #name)
#define PORT_E(group, name)                                     KEY("cpu_e.ports_" #name, "ports", INT, 0, 32, "ports of the group " #name)

#define AREA(name, ...)                                  KEY("area." #name, __VA_ARGS__)
#define POWER(name, ...)                                 KEY("power." #name, __VA_ARGS__)
#define POWER_EVENT(name, unit, text)                    KEY("power.pj." #name, "pJ", REAL, 0, 1e6, text)
#define POWER_P_CPU(field, unit, lowest, highest, text)  KEY("power.p_cpu." #field, unit, REAL, lowest, highest, text)
#define POWER_E_CPU(field, unit, lowest, highest, text)  KEY("power.e_cpu." #field, unit, REAL, lowest, highest, text)
#define POWER_AMX(field, unit, lowest, highest, text)    KEY("power.amx." #field, unit, REAL, lowest, highest, text)
#define POWER_GPU(field, unit, lowest, highest, text)    KEY("power.gpu." #field, unit, REAL, lowest, highest, text)
#define POWER_ANE(field, unit, lowest, highest, text)    KEY("power.ane." #field, unit, REAL, lowest, highest, text)
#define POWER_SLC(field, unit, lowest, highest, text)    KEY("power.slc." #field, unit, REAL, lowest, highest, text)
#define POWER_FABRIC(field, unit, lowest, highest, text) KEY("power.fabric." #field, unit, REAL, lowest, highest, text)
#define POWER_DRAM(field, unit, lowest, highest, text)   KEY("power.dram." #field, unit, REAL, lowest, highest, text)
#define POWER_SOC(field, unit, lowest, highest, text)    KEY("power.soc." #field, unit, REAL, lowest, highest, text)

#define GPU_CONTROL(field, unit, lowest, highest, text) KEY("gpu_control." #field, unit, REAL, lowest, highest, text)

#define CLASS_FIELD(prefix, name, ...) KEY(prefix "." #name, __VA_ARGS__)
#define CLASS_P(enumerator, name)      CHIP_CPU_CLASS_FIELDS(CLASS_FIELD, "cpu_p." #name)
#define CLASS_E(enumerator, name)      CHIP_CPU_CLASS_FIELDS(CLASS_FIELD, "cpu_e." #name)

#define GPU_COST(enumerator, name) CHIP_GPU_COST_FIELDS(CLASS_FIELD, "gpu." #name)

static const struct chip_key keys[] = {
    CHIP_CHARACTERISTICS(CHARACTERISTIC) CHIP_AMX_FIELDS(AMX_P) CHIP_AMX_FIELDS(AMX_E) CHIP_CPU_FIELDS(CPU_P)
        CHIP_CPU_PORTS(PORT_P) CHIP_CPU_CLASSES(CLASS_P) CHIP_CPU_FIELDS(CPU_E) CHIP_CPU_PORTS(PORT_E) CHIP_CPU_CLASSES(CLASS_E)
            CHIP_MEM_CORE_FIELDS(MEM_P) CHIP_MEM_CORE_FIELDS(MEM_E) CHIP_MEM_FIELDS(MEM) CHIP_DRAM_FIELDS(DRAM)
                CHIP_GPU_FIELDS(GPU) CHIP_GPU_COSTS(GPU_COST) CHIP_GPU_MEM_FIELDS(GPU) CHIP_ANE_FIELDS(ANE) CHIP_ANE_LIMITS(ANE)
                    CHIP_ANE_NUMERIC(ANE) CHIP_AREA_FIELDS(AREA) CHIP_POWER_FIELDS(POWER) CHIP_POWER_CURVES(POWER)
                        ACTIVITY_TABLE(POWER_EVENT) POWER_DOMAIN_FIELDS(POWER_P_CPU) POWER_DOMAIN_FIELDS(POWER_E_CPU)
                            POWER_DOMAIN_FIELDS(POWER_AMX) POWER_DOMAIN_FIELDS(POWER_GPU) POWER_DOMAIN_FIELDS(POWER_ANE)
                                POWER_DOMAIN_FIELDS(POWER_SLC) POWER_DOMAIN_FIELDS(POWER_FABRIC) POWER_DOMAIN_FIELDS(POWER_DRAM)
                                    POWER_DOMAIN_FIELDS(POWER_SOC) GPU_CONTROL_FIELDS(GPU_CONTROL)};
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

/* The default uncertainties are a convention of orchard, chosen from how well repeated sources agree: independent
 * AMX throughput tables (corsix/amx, eugenehp/amx-rs) differ by up to 5 %, advertised figures are rounded to about 1 %,
 * clocks read from device trees are exact as printed, what they stand for is a little less sure; values inferred from one
 * another missed later measurements by about 15 %; a guess is right within a factor 1.5. */
static const struct {
    const char *name;
    double quantity, count;
} kinds[CHIP_KIND_COUNT] = {
    [CHIP_VENDOR_SPEC] = {"vendor-spec", 0.01, 0},
    [CHIP_MEASURED] = {"measured", 0.05, 0},
    [CHIP_REVERSE_ENGINEERED] = {"reverse-engineered", 0.01, 0},
    [CHIP_INFERRED] = {"inferred", 0.15, 0},
    [CHIP_GUESS] = {"guess", 0.5, 0.5},
};

const char *chip_kind_name(enum chip_kind kind)
{
    return (unsigned)kind < CHIP_KIND_COUNT ? kinds[kind].name : "?";
}

double chip_kind_uncertainty(enum chip_kind kind, enum chip_type type)
{
    if ((unsigned)kind >= CHIP_KIND_COUNT || type == CHIP_TEXT)
        return 0;
    return type == CHIP_INT || type == CHIP_LIST ? kinds[kind].count : kinds[kind].quantity;
}
