/* The pages PARAMETERS.md of units/ and power/ say what the lists of parameters say. `make parameters` writes them anew: the
 * program does that when it is called with --write. */
#include "isa/a64/a64_isa.h"
#include "power/battery.h"
#include "power/energy.h"
#include "power/governor.h"
#include "power/gpu_control.h"
#include "power/thermal_device.h"
#include "tests/support/suite.h"
#include "units/amx/amx_params.inc"
#include "units/ane/ane_params.inc"
#include "units/cpu/cpu_params.inc"
#include "units/gpu/gpu_params.inc"
#include "units/mem/mem_params.inc"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void head(FILE *out, const char *of, const char *from)
{
    fprintf(
        out,
        "# Parameters of %s\n\nWritten by `make parameters` from %s. Values, each with its source: `orchard chips show CHIP`.\n",
        of, from);
}

static void section(FILE *out, const char *title, const char *text, const char *columns)
{
    fprintf(out, "\n## %s\n\n%s\n\n|", title, text);
    unsigned count = 0;
    for (const char *c = columns; *c; count++) {
        const size_t n = strcspn(c, "|");
        fprintf(out, " %.*s |", (int)n, c);
        c += n + (c[n] == '|');
    }
    fprintf(out, "\n|");
    for (unsigned i = 0; i < count; i++)
        fputs("---|", out);
    fputs("\n", out);
}

static void write_range(FILE *out, const char *kind, double lowest, double highest)
{
    if (strcmp(kind, "SWITCH") == 0)
        fputs(" 0 or 1 |", out);
    else if (strcmp(kind, "CHOICE") == 0 || strcmp(kind, "TEXT") == 0)
        fputs(" a name |", out);
    else
        fprintf(out, " %.7g to %.7g%s |", lowest, highest,
                strcmp(kind, "INT") == 0     ? ", whole"
                : strcmp(kind, "CORES") == 0 ? ", by busy cores"
                                             : "");
}

/* The key is written with the first prefix of its section. `owner` NULL: a table without the column of members. */
static void write_row(FILE *out, const char *prefix, const char *name, const char *owner, const char *member, const char *unit,
                      const char *kind, double lowest, double highest, const char *text)
{
    fprintf(out, "| `%s%s` |", prefix, name);
    if (owner && member)
        fprintf(out, " %s `%s` |", owner, member);
    else if (owner)
        fprintf(out, " %s |", owner);
    fprintf(out, " %s |", unit);
    write_range(out, kind, lowest, highest);
    fprintf(out, " %s |\n", text);
}

/* One row of a list, for the file `out` and with `prefix` before its name. */
#define COLUMNS "key|unit|values|meaning"
#define ROW(name, unit, kind, lowest, highest, text)                                                                             \
    write_row(out, prefix, #name, NULL, NULL, unit, #kind, lowest, highest, text);
#define CLASS_ROW(class, ...) ROW(__VA_ARGS__)
#define QUANTITY_ROW(field, unit, lowest, highest, meaning)                                                                      \
    write_row(out, prefix, #field, NULL, NULL, unit, "REAL", lowest, highest, meaning);
#define NAME(enumerator, name)              " `" #name "`"
#define DOMAIN_NAME(enumerator, name, text) " `" #name "`"

static void amx_page(FILE *out)
{
    const char *const prefix = "amx.";
    head(out, "an AMX block", "`amx_params.inc`");
    section(out, "Block", "Of P clusters; for E clusters write `amx_e.` in place of `amx.`.", COLUMNS);
    AMX_PARAMS(ROW)
}

static void cpu_page(FILE *out)
{
    const char *prefix = "cpu_p.";
    head(out, "a CPU core", "`cpu_params.inc`");
    section(out, "Core", "Of P cores; for E cores write `cpu_e.` in place of `cpu_p.`.", COLUMNS);
    CPU_PARAMS(ROW)
#define X(enumerator, name) CPU_PORT_PARAM(ROW, name)
    CPU_PORT_TABLE(X)
#undef X
    prefix = "cpu_p.<class>.";
    section(out, "Classes of instructions", "The classes are" A64_CLASS_TABLE(NAME) ".", COLUMNS);
    CPU_CLASS_PARAMS(CLASS_ROW, )
}

static void gpu_page(FILE *out)
{
    const char *prefix = "gpu.";
    head(out, "the GPU", "`gpu_params.inc`");
    section(out, "Cores", "The keys of the GPU's caches are in `units/mem/PARAMETERS.md`.", COLUMNS);
    GPU_PARAMS(ROW)
    prefix = "gpu.<class>.";
    section(out, "Classes of instructions", "The classes are" GPU_COST_TABLE(NAME) ".", COLUMNS);
    GPU_COST_PARAMS(CLASS_ROW, )
}

static void ane_page(FILE *out)
{
    const char *const prefix = "ane.";
    head(out, "the Neural Engine", "`ane_params.inc`");
    section(out, "Timing", "Members of `struct ane_params`.", COLUMNS);
    ANE_PARAMS(ROW)
    section(out, "What it accepts", "Members of `struct ane_limits`.", COLUMNS);
    ANE_LIMITS(ROW)
    section(out, "Arithmetic", "Members of `struct ane_numeric`.", COLUMNS);
    ANE_NUMERIC(ROW)
}

static void mem_page(FILE *out)
{
#define MEMBER_COLUMNS "key|sets|unit|values|meaning"
#define MEMBER(owner, how, member, name, unit, kind, lowest, highest, text)                                                      \
    write_row(out, prefix, #name, owner, #member, unit, #kind, lowest, highest, text);
#define CORE(...)     MEMBER("port of a core", __VA_ARGS__)
#define AMX(...)      MEMBER("port of its AMX", __VA_ARGS__)
#define PORT(...)     MEMBER("both ports", __VA_ARGS__)
#define GPU_PORT(...) MEMBER("port of a GPU core", __VA_ARGS__)
#define CLUSTER(...)  MEMBER("cluster", __VA_ARGS__)
#define SYSTEM(...)   MEMBER("system", __VA_ARGS__)
#define POOL(...)     MEMBER("pool", __VA_ARGS__)
#define OTHER(name, unit, kind, lowest, highest, text)                                                                           \
    write_row(out, prefix, #name, "no single member", NULL, unit, #kind, lowest, highest, text);
    const char *prefix = "mem.p_";
    head(out, "the memory system", "`mem_params.inc`");
    section(out, "CPU cores and clusters", "Of P clusters; for E clusters write `mem.e_` in place of `mem.p_`.", MEMBER_COLUMNS);
    MEM_CORE_PARAMS(CORE, AMX, PORT, CLUSTER)
    prefix = "mem.";
    section(out, "Shared by the chip", "The link between dies is only read for chips with two.", MEMBER_COLUMNS);
    MEM_SHARED_PARAMS(SYSTEM, SYSTEM, POOL, OTHER)
    prefix = "dram.";
    section(out, "DRAM", "Rates follow from `memory_peak_GBps` and the two efficiencies.", MEMBER_COLUMNS);
    MEM_DRAM_PARAMS(SYSTEM, OTHER)
    prefix = "gpu.";
    section(out, "GPU", "The ports of its cores, and its L2 as a cluster per die.", MEMBER_COLUMNS);
    MEM_GPU_PARAMS(GPU_PORT, CLUSTER, OTHER)
}

static void power_page(FILE *out)
{
    const char *prefix = "power.<domain>.";
    head(out, "power/", "the lists in its headers");
    section(out, "Domains (energy.h)", "The domains are" POWER_DOMAIN_TABLE(DOMAIN_NAME) ".", COLUMNS);
    POWER_DOMAIN_FIELDS(QUANTITY_ROW)
    prefix = "power.";
    section(out, "All domains (energy.h)", "They hold for all of them.", COLUMNS);
    POWER_FIELDS(QUANTITY_ROW)
    section(out, "Events (activity.h)", "Energies in pJ, each of one event or unit of what is counted.", "key|counted in|event");
#define X(name, unit, definition) fprintf(out, "| `power.pj.%s` | %s | %s |\n", #name, unit, definition);
    ACTIVITY_TABLE(X)
#undef X
    prefix = "gpu_control.";
    section(out, "The GPU's controller (gpu_control.h)", "Of its clock.", COLUMNS);
    GPU_CONTROL_FIELDS(QUANTITY_ROW)
}

/* Machines have no units beside their values, and check ranges in power/ where none is given here. */
static void machine_page(FILE *out)
{
#define FREE_COLUMNS                   "member|unit|meaning"
#define FREE_ROW(field, unit, meaning) fprintf(out, "| `%s%s` | %s | %s |\n", prefix, #field, unit, meaning);
    const char *prefix = "governor.";
    fputs("# Members of a machine\n\nWritten by `make parameters` from the lists in `power/`.\n", out);
    section(out, "Governor", "From `power/governor.h`.", COLUMNS);
    GOVERNOR_FIELDS(QUANTITY_ROW)
    prefix = "battery.";
    section(out, "Battery and adapter", "From `power/battery.h`.", COLUMNS);
    BATTERY_FIELDS(QUANTITY_ROW)
    prefix = "thermal.";
    section(out, "Cooling", "From `power/thermal_device.h`. A machine without a fan has no `fan_` members.", FREE_COLUMNS);
    THERMAL_DEVICE_FIELDS(FREE_ROW)
    THERMAL_FAN_FIELDS(FREE_ROW)
    prefix = "thermal.<layer>.";
    section(out, "Layers", "From `power/thermal_hotspot.h`. The layers are `chip`, `interface` and `spreader`.", FREE_COLUMNS);
    THERMAL_MATERIAL_FIELDS(FREE_ROW)
    prefix = "thermal.stages[].";
    section(out, "Stages", "One to four, each with a `name`.", FREE_COLUMNS);
    THERMAL_STAGE_FIELDS(FREE_ROW)
    prefix = "thermal.fan[].";
    section(out, "Fan", "Two to eight points; the first is at 0.", FREE_COLUMNS);
    THERMAL_FAN_POINT_FIELDS(FREE_ROW)
}

static const struct page {
    const char *path;
    void (*write)(FILE *out);
} pages[] = {
    {ORCHARD_SOURCE_DIR "/units/amx/PARAMETERS.md", amx_page},    {ORCHARD_SOURCE_DIR "/units/cpu/PARAMETERS.md", cpu_page},
    {ORCHARD_SOURCE_DIR "/units/gpu/PARAMETERS.md", gpu_page},    {ORCHARD_SOURCE_DIR "/units/ane/PARAMETERS.md", ane_page},
    {ORCHARD_SOURCE_DIR "/units/mem/PARAMETERS.md", mem_page},    {ORCHARD_SOURCE_DIR "/power/PARAMETERS.md", power_page},
    {ORCHARD_SOURCE_DIR "/sim/devices/MEMBERS.md", machine_page},
};

static char *page_text(const struct page *page)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    page->write(out);
    fclose(out);
    return text;
}

static void test_pages_are_up_to_date(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(pages); i++) {
        char *const wanted = page_text(&pages[i]);
        const size_t size = strlen(wanted);
        char *const found = calloc(1, size + 2);
        FILE *in = fopen(pages[i].path, "rb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(found);
        const size_t read = in ? fread(found, 1, size + 1, in) : 0;
        CHECK(read == size && memcmp(found, wanted, size) == 0, "%s does not say what the list says: make parameters",
              pages[i].path);
        if (in)
            fclose(in);
        free(found);
        free(wanted);
    }
}

static int write_pages(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(pages); i++) {
        FILE *out = fopen(pages[i].path, "wb");
        if (!out) {
            perror(pages[i].path);
            return 1;
        }
        pages[i].write(out);
        if (fclose(out) != 0) {
            perror(pages[i].path);
            return 1;
        }
    }
    return 0;
}

static const struct suite_test tests[] = {
    {"pages say what the lists say", test_pages_are_up_to_date},
};

int main(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "--write") == 0 ? write_pages() : suite_run("params_pages", tests, ARRAY_COUNT(tests));
}
