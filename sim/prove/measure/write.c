#define _GNU_SOURCE /* asprintf */
#include "sim/prove/measure/measure.h"

#include "isa/array_count.h"
#include "sim/base/file_read.h"
#include "sim/base/output_file.h"
#include "sim/base/quantity.h"
#include "sim/prove/measure/sources.inc"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_MOST = 1 << 20 };

/* ---- cases ---- */

static bool has(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

enum { GROUP_BYTES = 4096 }; /* of an operand, that a threadgroup of native/streams.metal takes */

/* A stream moves the same bytes whatever they stand for; adding halves is another matter, so there is only f32. */
static bool stream_read(const char *workload, const char *precision, struct measure_case *to, struct orch_error *error)
{
    static const char *const kernels[] = {"copy", "stream-scale", "stream-add", "stream-triad"};
    const size_t length = strcspn(workload, ":");
    double bytes = 0;
    snprintf(to->kernel, sizeof to->kernel, "%.*s", length < sizeof to->kernel ? (int)length : 0, workload);
    if (!has(kernels, ARRAY_COUNT(kernels), to->kernel))
        return orch_fail(error, ORCH_UNMODELLED,
                         "no steps to measure '%.80s' on gpu: they have gemm:MxNxK, copy, stream-scale, stream-add and "
                         "stream-triad, as copy:64MiB",
                         workload);
    if (!workload[length] || !quantity_read(workload + length + 1, "bytes", &bytes) || bytes < GROUP_BYTES ||
        bytes > (double)MEASURE_BYTES || fmod(bytes, GROUP_BYTES) != 0)
        return orch_fail(error, ORCH_USAGE, "%.80s: sizes are multiples of 4 KiB up to 4 GiB, as 64MiB", workload);
    if (strcmp(precision, "f32") != 0)
        return orch_fail(error, ORCH_UNMODELLED, "no steps to measure %.20s on gpu: f32", precision);
    to->bytes = (uint64_t)bytes;
    return true;
}

/* The product of gemm.metal is that of the library with this tile, undivided. */
#define GPU_PRODUCT ",split=1,tile=64x64"

static bool gpu_product_read(const char *workload, const char *precision, struct measure_case *to, struct orch_error *error)
{
    int end = 0;
    if (sscanf(workload, "gemm:%ux%ux%u%n", &to->m, &to->n, &to->k, &end) != 3 ||
        (workload[end] && strcmp(workload + end, GPU_PRODUCT) != 0))
        return orch_fail(error, ORCH_USAGE, "%.80s: on gpu they have gemm:MxNxK, as gemm:512x512x512", workload);
    if (!to->m || !to->n || !to->k || to->m % 64 || to->n % 64 || to->k % 32 || to->m > MEASURE_SIZE || to->n > MEASURE_SIZE ||
        to->k > MEASURE_SIZE)
        return orch_fail(error, ORCH_USAGE, "%.80s: on gpu M and N are multiples of 64 and K of 32, up to %d", workload,
                         MEASURE_SIZE);
    if (strcmp(precision, "f32") != 0)
        return orch_fail(error, ORCH_UNMODELLED, "no steps to measure %.20s on gpu: f32", precision);
    snprintf(to->kernel, sizeof to->kernel, "gemm");
    return true;
}

bool measure_case_read(const char *workload, const char *unit, const char *precision, struct measure_case *to,
                       struct orch_error *error)
{
    static const char *const of_cpu[] = {"f32", "f16", "bf16", "i8"}, *const of_amx[] = {"f32", "f64", "i8"};
    const bool cpu = strcmp(unit, "cpu") == 0;
    int end = 0;
    const bool gpu = strcmp(unit, "gpu") == 0;
    *to = (struct measure_case){.m = 0};
    if (!cpu && !gpu && strcmp(unit, "amx") != 0)
        return orch_fail(error, ORCH_UNMODELLED, "no steps to measure unit '%.20s': they have kernels for cpu, amx and gpu",
                         unit);
    snprintf(to->unit, sizeof to->unit, "%.3s", unit);
    snprintf(to->precision, sizeof to->precision, "%s", precision);
    if (gpu)
        return strncmp(workload, "gemm:", 5) == 0 ? gpu_product_read(workload, precision, to, error)
                                                  : stream_read(workload, precision, to, error);
    snprintf(to->kernel, sizeof to->kernel, "gemm");
    if (sscanf(workload, "gemm:%ux%ux%u%n", &to->m, &to->n, &to->k, &end) != 3 || workload[end])
        return orch_fail(error, strncmp(workload, "gemm:", 5) == 0 ? ORCH_USAGE : ORCH_UNMODELLED,
                         "no steps to measure '%.80s' on %s: they have gemm:MxNxK, as gemm:512x512x512", workload, unit);
    if (to->m < 16 || to->n < 16 || to->k < 16 || to->m > MEASURE_SIZE || to->n > MEASURE_SIZE || to->k > MEASURE_SIZE)
        return orch_fail(error, ORCH_USAGE, "%.80s: sizes are 16 to %d", workload, MEASURE_SIZE);
    if (!(cpu ? has(of_cpu, ARRAY_COUNT(of_cpu), precision) : has(of_amx, ARRAY_COUNT(of_amx), precision)))
        return orch_fail(error, ORCH_UNMODELLED, "no steps to measure %.20s on %s: %s", precision, unit,
                         cpu ? "f32, f16, bf16, i8" : "f32, f64, i8");
    return true;
}

/* ---- the folder ---- */

static const struct {
    const char *from, *to;
} sources[] = {
#define X(from, to) {from, to},
    MEASURE_SOURCES(X)
#undef X
};

static const char readme[] =
    "Measuring on a real Mac\n"
    "=======================\n"
    "\n"
    "These steps were written without a Mac at hand. The C code is compiled for AArch64 and executed by the tests of orchard "
    "(NEON\n"
    "code by qemu, AMX words by orchard itself), and streams.metal and gemm.metal by orchard's compiler and GPU; bench_gpu.m is "
    "checked\n"
    "against declarations of Metal's interface alone; run.sh and what it asks macOS have not run on a Mac yet.\n"
    "\n"
    "Needs: a Mac with Apple Silicon (AMX cases: M1 to M3; M4 has SME instead, and an AMX word ends the program there), and "
    "Apple's\n"
    "command-line tools (xcode-select --install).\n"
    "\n"
    "1. Copy this folder to the Mac. Plug it in, close other programs, let it cool.\n"
    "2. sh run.sh            PASSES=101 sh run.sh for more passes than 31\n"
    "3. Bring result.csv back: orchard measure read result.csv -o rows.csv\n"
    "4. orchard validate rows.csv; orchard calibrate rows.csv --vary KEY\n"
    "\n"
    "What runs: orchard's own products, which validate also simulates, by one thread that macOS is asked to keep on P cores. A "
    "pass\n"
    "repeats one for a millisecond; result.csv has a line for each pass with its mean time in seconds and whether the result is\n"
    "right. Which core it was, and at which clock, macOS does not say. On the GPU a pass is one launch, and its time is what "
    "Metal\n"
    "gives for its command buffer, from GPUStartTime to GPUEndTime: the wait before it is left out, as validate leaves it out.\n";

static bool make_folders(const char *path, struct orch_error *error)
{
    char *const folder = strdup(path);
    bool ok = folder || orch_no_memory(error);
    for (char *slash = ok ? strchr(folder + 1, '/') : NULL; ok && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        ok = mkdir(folder, 0777) == 0 || errno == EEXIST || orch_fail(error, ORCH_USAGE, "%s: %s", folder, strerror(errno));
        *slash = '/';
    }
    free(folder);
    return ok;
}

static bool write_file(const char *folder, const char *name, const void *bytes, size_t size, struct orch_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return orch_no_memory(error);
    const bool ok = make_folders(path, error) && output_file_write(path, bytes, size, error);
    free(path);
    return ok;
}

static bool read_source(const char *name, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    static const char *const places[] = {ORCHARD_SOURCE_DIR, ORCHARD_DATA_DIR "/measure"};
    bool ok = false;
    for (size_t i = 0; !ok && i < ARRAY_COUNT(places); i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", places[i], name);
        FILE *const f = fopen(path, "rb");
        ok = f && file_read_all(f, SOURCE_MOST, bytes, size);
        if (f)
            fclose(f);
    }
    return ok || orch_fail(error, ORCH_USAGE, "%s is neither in %s nor in %s", name, places[0], places[1]);
}

static void write_case(const struct measure_case *c, FILE *out)
{
    if (c->bytes)
        fprintf(out, "X(\"%s\", \"%s\", %lluull, 0, 0, 0, \"%s:%llu\")\n", c->kernel, c->precision, (unsigned long long)c->bytes,
                c->kernel, (unsigned long long)c->bytes);
    else if (strcmp(c->unit, "gpu") == 0)
        fprintf(out, "X(\"%s\", \"%s\", 0, %u, %u, %u, \"gemm:%ux%ux%u" GPU_PRODUCT "\")\n", c->kernel, c->precision, c->m, c->n,
                c->k, c->m, c->n, c->k);
    else
        fprintf(out, "X(\"%s\", \"%s\", %u, %u, %u)\n", c->unit, c->precision, c->m, c->n, c->k);
}

/* The cases of the GPU, or those of cores and AMX, as the programs of the Mac take them; an empty file when there is none. */
static bool write_cases(const struct measure_case *cases, size_t count, bool gpu, const char *folder, struct orch_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++)
        if ((strcmp(cases[i].unit, "gpu") == 0) == gpu)
            write_case(&cases[i], out);
    const bool ok =
        fclose(out) == 0 ? write_file(folder, gpu ? "cases_gpu.inc" : "cases.inc", text, size, error) : orch_no_memory(error);
    free(text);
    return ok;
}

/* Whether somebody else's things are there. */
static bool is_ours(const char *folder, struct orch_error *error)
{
    char path[1024];
    struct stat st;
    if (strlen(folder) > sizeof path / 2)
        return orch_fail(error, ORCH_USAGE, "%.60s...: the path is too long", folder);
    snprintf(path, sizeof path, "%s/cases.inc", folder);
    if (stat(folder, &st) != 0 || stat(path, &st) == 0 || rmdir(folder) == 0)
        return true;
    return orch_fail(error, ORCH_USAGE, "%s is there and holds other things: name a new folder", folder);
}

bool measure_write(const struct measure_case *cases, size_t count, const char *folder, struct orch_error *error)
{
    bool ok = is_ours(folder, error) && write_cases(cases, count, false, folder, error) &&
              write_cases(cases, count, true, folder, error) && write_file(folder, "README.txt", readme, strlen(readme), error);
    for (size_t i = 0; ok && i < ARRAY_COUNT(sources); i++) {
        uint8_t *bytes = NULL;
        size_t size = 0;
        ok = read_source(sources[i].from, &bytes, &size, error) && write_file(folder, sources[i].to, bytes, size, error);
        free(bytes);
    }
    return ok;
}
