/* The verb doctor: checks that everything is there that orchard needs, and says which paths it takes on this host. */
#include "isa/array_count.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"
#include "sim/api/api.h"
#include "sim/compile/compile.h"
#include "sim/compile/compile_cache.h"

#include <errno.h>
#include <gsl/gsl_version.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

struct report {
    struct table *table;
    json_object *json;
    unsigned problems;
};

static void add(struct report *report, const char *what, bool ok, const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add(struct report *report, const char *what, bool ok, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    report->problems += !ok;
    table_row(report->table);
    table_cell(report->table, "%s", what);
    table_cell(report->table, "%s", ok ? "ok" : "PROBLEM");
    table_cell(report->table, "%s", text);
    json_object *row = json_object_new_object();
    json_add_text(row, "what", what);
    json_add_bool(row, "ok", ok);
    json_add_text(row, "text", text);
    json_object_array_add(report->json, row);
}

/* Names the host's instruction sets for which orchard has kernels of its own, the best one last. */
static void host_path(struct report *report)
{
    struct utsname host;
    const char *best = "portable C";
    char sets[160] = "";
    uname(&host);
#ifdef __x86_64__
    const struct {
        const char *name;
        bool present;
    } x86[] = {{"avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")},
               {"avx512", __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")},
               {"avx512fp16", __builtin_cpu_supports("avx512fp16")}};
    for (size_t i = 0; i < ARRAY_COUNT(x86); i++) {
        snprintf(sets + strlen(sets), sizeof sets - strlen(sets), "%s%s: %s", i ? ", " : " (", x86[i].name,
                 x86[i].present ? "yes" : "no");
        if (x86[i].present)
            best = x86[i].name;
    }
    snprintf(sets + strlen(sets), sizeof sets - strlen(sets), ")");
#endif
    add(report, "host", true, "%s %s, %ld processors, %s%s", host.sysname, host.machine, sysconf(_SC_NPROCESSORS_ONLN), best,
        sets);
}

static void versions(struct report *report)
{
#if defined(__clang__)
    add(report, "compiler", true, "clang " __clang_version__);
#elif defined(__GNUC__)
    add(report, "compiler", true, "gcc " __VERSION__);
#endif
    add(report, "sqlite", sqlite3_libversion_number() >= 3037000, "%s, strict tables need 3.37; threadsafe %d",
        sqlite3_libversion(), sqlite3_threadsafe());
    add(report, "json-c", true, "%s", json_c_version());
    add(report, "gsl", true, "%s", gsl_version);
    add(report, "zlib", true, "%s", zlibVersion());
}

/* Optional: only sources of GPU kernels need it. */
static void clang_of_gpu(struct report *report)
{
    char text[400];
    struct orch_error error = {0};
    add(report, "clang for GPU sources", true, "%s", compile_tool(COMPILE_OPENCL, text, sizeof text, &error) ? text : error.text);
}

/* Opens every chip, so that a broken file shows here before it shows in a run. */
static void data_folder(struct report *report, struct api_context *context)
{
    struct orch_error error = {0};
    struct chip_db *db = api_chip_db(context, &error);
    if (!db) {
        add(report, "chip database", false, "%s", error.text);
        return;
    }
    for (size_t i = 0; i < chip_db_count(db); i++) {
        struct chip *chip = chip_open(db, chip_db_id(db, i), NULL, &error);
        if (!chip) {
            add(report, "chip database", false, "%s", error.text);
            return;
        }
        chip_close(chip);
    }
    add(report, "chip database", true, "%s: %zu chips", chip_db_folder(db), chip_db_count(db));
}

/* What was compiled and is kept; anybody may delete it. */
static void kept_kernels(struct report *report)
{
    char folder[4096];
    struct compile_cache_size size;
    if (!compile_cache_survey(folder, &size))
        add(report, "compiled kernels", true, "are not kept: neither XDG_CACHE_HOME nor HOME names a folder");
    else
        add(report, "compiled kernels", true, "%.3000s: %llu, %.1f of at most %d MiB", folder, (unsigned long long)size.entries,
            (double)size.bytes / 0x1p20, COMPILE_CACHE_MIB);
}

/* The database is writable when the file is, or the nearest folder above it that exists. Nothing is created. */
static void database(struct report *report, const char *path)
{
    char folder[4096];
    if (access(path, F_OK) == 0) {
        add(report, "database", access(path, R_OK | W_OK) == 0, "%s (%s)", path,
            access(path, R_OK | W_OK) == 0 ? "there" : strerror(errno));
        return;
    }
    snprintf(folder, sizeof folder, "%s", path);
    for (;;) {
        char *slash = strrchr(folder, '/');
        if (!slash) {
            strcpy(folder, ".");
        } else if (slash == folder) {
            folder[1] = 0;
        } else {
            *slash = 0;
        }
        if (access(folder, F_OK) == 0 || !slash || slash == folder)
            break;
    }
    const bool ok = access(folder, W_OK | X_OK) == 0;
    add(report, "database", ok, "%s (not there yet; %s %s)", path, folder, ok ? "is writable" : "is not writable");
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    static const struct table_column columns[] = {{"what", NULL, false, 0}, {"", NULL, false, 0}, {"found", NULL, false, 0}};
    (void)word;
    if (words > 0)
        return api_usage(context, "takes no words");
    struct report report = {.table = table_create(columns, 3), .json = json_object_new_array()};
    add(&report, "orchard", true, ORCHARD_VERSION);
    host_path(&report);
    versions(&report);
    clang_of_gpu(&report);
    kept_kernels(&report);
    data_folder(&report, context);
    database(&report, context->common.db);
    if (api_wants_document(context)) {
        json_object *document = json_object_new_object();
        json_add_count(document, "problems", report.problems);
        json_object_object_add(document, "checks", json_object_get(report.json));
        api_document(context, document);
    }
    if (api_wants_text(context))
        api_table(context, report.table);
    else
        table_free(report.table);
    json_object_put(report.json);
    return report.problems ? ORCH_FAILED : ORCH_OK;
}

const struct api_verb verb_doctor = {
    .help =
        {
            .name = "doctor",
            .synopsis = "",
            .summary = "checks the installation",
            .text = "Compiler, host instruction sets, library versions, data folder, database.",
            .examples = "orchard doctor",
        },
    .ask = ask,
};
