/* CPU clusters, CPU cores and AMX blocks. */
#include "sim/chip/chip_units.h"
#include "isa/array_count.h"
#include "sim/chip/chip_reader.h"

#include <stdio.h>
#include <string.h>

static bool read_list(const struct chip *chip, const char *key, const struct chip_value **value, struct orch_error *error)
{
    *value = chip_value(chip, key);
    if (*value && (*value)->known && (*value)->list)
        return true;
    return orch_fail(error, ORCH_UNMODELLED, "chip %s: %s is not known", chip_id(chip), key);
}

bool chip_clusters(const struct chip *chip, struct chip_clusters *out, struct orch_error *error)
{
    struct chip_reader r = chip_reader_start(chip, "", 1, error);
    const unsigned dies = (unsigned)chip_read(&r, "dies");
    static const char *const keys[2][2] = {{"p_clusters", "amx_blocks_p"}, {"e_clusters", "amx_blocks_e"}};
    out->count = 0;
    for (int kind = 0; kind < 2; kind++) {
        const struct chip_value *list;
        const double blocks = chip_read(&r, keys[kind][1]);
        if (!r.ok || !read_list(chip, keys[kind][0], &list, error))
            return false;
        for (size_t i = 0; i < list->count; i++) {
            if (out->count == MEM_CLUSTERS_MAX)
                return orch_fail(error, ORCH_USAGE, "chip %s: more than %d clusters", chip_id(chip), MEM_CLUSTERS_MAX);
            out->cluster[out->count++] = (struct chip_cluster){
                .kind = (enum chip_core)kind,
                .cores = (unsigned)list->list[i],
                .die = (unsigned)(i * dies / list->count),
                .has_amx = (double)i < blocks,
            };
        }
    }
    return true;
}

bool chip_amx_gen(const struct chip *chip, enum amx_gen *gen, struct orch_error *error)
{
    unsigned generation;
    if (!chip_generation(chip, "AMX", &generation, error))
        return false;
    *gen = (enum amx_gen)(AMX_GEN_M1 + generation);
    return true;
}

bool chip_cpu_clock_ghz(const struct chip *chip, enum chip_core kind, unsigned active, double *ghz, struct orch_error *error)
{
    return chip_number_active(chip, kind == CHIP_P_CORE ? "cpu_p.clock_ghz" : "cpu_e.clock_ghz", active, ghz, error);
}

bool chip_amx_clock_ghz(const struct chip *chip, enum chip_core kind, unsigned active, double *ghz, struct orch_error *error)
{
    return chip_number_active(chip, kind == CHIP_P_CORE ? "amx.clock_ghz" : "amx_e.clock_ghz", active, ghz, error);
}

bool chip_amx_params(const struct chip *chip, enum chip_core kind, unsigned active, struct amx_params *to,
                     struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, kind == CHIP_P_CORE ? "amx." : "amx_e.", active, error), *const r =
                                                                                                                     &reader;
    memset(to, 0, sizeof *to);
    AMX_PARAMS(FILL_FIELD)
    return r->ok;
}

static uint8_t read_port_group(struct chip_reader *r, const char *name)
{
    static const char *const groups[] = {
#define X(enumerator, group) [CPU_PORTS_##enumerator] = #group,
        CPU_PORT_TABLE(X)
#undef X
            [CPU_PORTS_NONE] = "none",
    };
    char key[96];
    snprintf(key, sizeof key, "%s%s", r->prefix, name);
    const struct chip_value *value = chip_value(r->chip, key);
    const char *given = value && value->known ? value->json : "";
    for (unsigned i = 0; i < ARRAY_COUNT(groups); i++)
        if (groups[i] && strcmp(groups[i], given) == 0)
            return (uint8_t)i;
    if (r->ok)
        r->ok = orch_fail(r->error, ORCH_USAGE, "chip %s: %s: '%.30s' is no port group", chip_id(r->chip), key, given);
    return CPU_PORTS_NONE;
}

#define READ_INT(r, name)    (uint32_t) chip_read(r, name)
#define READ_REAL(r, name)   chip_read(r, name)
#define READ_CHOICE(r, name) read_port_group(r, name)

static void read_class(struct chip_reader *r, const char *class_name, struct cpu_class_params *to)
{
    char key[64];
#define X(class, name, unit, kind, ...)                                                                                          \
    snprintf(key, sizeof key, "%s." #name, class_name);                                                                          \
    to->name = READ_##kind(r, key);
    CPU_CLASS_PARAMS(X, )
#undef X
}

bool chip_cpu_params(const struct chip *chip, enum chip_core kind, unsigned active, struct cpu_params *to,
                     struct orch_error *error)
{
    struct chip_reader reader = chip_reader_start(chip, kind == CHIP_P_CORE ? "cpu_p." : "cpu_e.", active, error), *const r =
                                                                                                                       &reader;
    memset(to, 0, sizeof *to);
    CPU_PARAMS(FILL_FIELD)
#define X(enumerator, name) to->port_count[CPU_PORTS_##enumerator] = (uint32_t)chip_read(r, "ports_" #name);
    CPU_PORT_TABLE(X)
#undef X
    for (unsigned c = 0; c < A64_CLASS_COUNT; c++)
        read_class(r, a64_class_name((enum a64_class)c), &to->cls[c]);
    return r->ok;
}
