/* Decides whether two variants of a kernel compute the same. Both are executed on the same generated inputs. Checksums of AMX and
 * CPU kernels must agree; for GPU and Neural Engine the output buffers are compared. */
#include "isa/array_count.h"
#include "sim/workload/ane/ane_workload.h"
#include "sim/base/checksum.h"
#include "sim/orchard.h"
#include "sim/run/run.h"
#include "sim/ask/tune/tune.h"
#include "units/cpu/cpu_random.h"
#include "units/gpu/kernels/gpu_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double tune_tolerance(const char *unit, const char *precision)
{
    static const struct {
        const char *precision;
        double tolerance;
    } granted[] = {{"f64", 1e-12}, {"f32", 2e-4}, {"f16", 2e-2}, {"bf16", 5e-2}, {"i8", 5e-2}};
    const char *const type = precision ? precision : strcmp(unit, "ane") == 0 ? "f16" : "f32";
    for (size_t i = 0; i < ARRAY_COUNT(granted); i++)
        if (strcmp(granted[i].precision, type) == 0)
            return granted[i].tolerance;
    return 0; /* integers: the same bits */
}

/* Two NANs are equal; a number against NAN or infinity is infinitely wrong. */
static void add_difference(double x, double y, double *largest, double *off)
{
    if (isnan(x) && isnan(y))
        return;
    *largest = fmax(*largest, fabs(x));
    *off = x == y ? *off : isfinite(x - y) ? fmax(*off, fabs(x - y)) : INFINITY;
}

/* ---- buffers of the GPU and the Neural Engine ---- */

struct outputs {
    struct output {
        enum gpu_type type; /* f16 for the Neural Engine */
        uint64_t count;
        void *bytes;
    } of[ORCHARD_BUFFERS];
    unsigned count;
    struct orchard *machine; /* owns the bytes */
};

static double element(enum gpu_type type, const uint8_t *bytes, uint64_t i)
{
    float f;
    _Float16 h;
    int32_t w;
    uint16_t b;
    switch (type) {
    case GPU_F32: memcpy(&f, bytes + 4 * i, sizeof f); return f;
    case GPU_F16: memcpy(&h, bytes + 2 * i, sizeof h); return (double)h;
    case GPU_BF16:
        memcpy(&b, bytes + 2 * i, sizeof b);
        memcpy(&f, &(uint32_t){(uint32_t)b << 16}, sizeof f);
        return f;
    case GPU_I32:
    case GPU_U32: memcpy(&w, bytes + 4 * i, sizeof w); return w;
    case GPU_U8: return bytes[i];
    default: return NAN;
    }
}

static bool allocate(struct outputs *o, uint64_t bytes, uint64_t *address, void **host, struct orch_error *error)
{
    struct orchard_error no = {0};
    *address = orchard_alloc(o->machine, bytes, host, &no);
    return *address || orch_fail(error, no.code, "%.400s", no.text);
}

static bool add_output(struct outputs *o, enum gpu_type type, uint64_t count, uint64_t *address, struct orch_error *error)
{
    struct output *const out = &o->of[o->count++];
    *out = (struct output){.type = type, .count = count};
    return allocate(o, gpu_type_bytes(type, count), address, &out->bytes, error);
}

/* Allocates what the kernel writes; the library fills the inputs from the seed. */
static bool place_gpu(const struct tune_request *q, const struct tune_variant *v, struct outputs *o,
                      struct orchard_launch *launch, struct orch_error *error)
{
    struct gpu_kernel_request request = {.generation = GPU_G13, .cores = 8};
    struct gpu_kernel kernel;
    struct isa_error why = {0};
    if (!gpu_kernel_parse(v->workload, q->precision, &request, &why) || !gpu_kernel_build(&request, &kernel, &why))
        return orch_fail(error, ORCH_USAGE, "%.400s", why.text);
    unsigned place = 0;
    bool ok = true;
    for (unsigned i = 0; ok && i < kernel.buffers; i++) {
        const struct gpu_kernel_buffer *const b = &kernel.buffer[i];
        if (b->role == GPU_BUFFER_OUTPUT || b->role == GPU_BUFFER_IN_OUT)
            ok = add_output(o, b->type, b->count, &launch->buffer[place], error);
        place += b->role != GPU_BUFFER_SCRATCH;
    }
    gpu_kernel_free(&kernel);
    return ok;
}

/* Generates numbers that depend on the name of the array, not on its role in a variant. */
static void fill(const char *name, uint64_t seed, uint64_t count, uint8_t *to)
{
    uint64_t state = checksum_add(CHECKSUM_START ^ seed, name, strlen(name));
    for (uint64_t i = 0; i < count; i++) {
        const _Float16 h = (_Float16)((double)(cpu_random(&state) >> 40) * 0x1p-23 - 1);
        memcpy(to + 2 * i, &h, sizeof h);
    }
}

/* The caller provides all arrays, since variants differ in which of them are constants. */
static bool place_ane(const struct tune_request *q, const struct chip *chip, const struct tune_variant *v, struct outputs *o,
                      struct orchard_launch *launch, struct orch_error *error)
{
    struct ane_workload *const w = calloc(1, sizeof *w);
    bool ok = w ? ane_workload_open_kernel(w, v->workload, q->precision, chip, q->seed, NULL, 0, error) : orch_no_memory(error);
    for (unsigned i = 0; ok && i < w->arrays && i < ORCHARD_BUFFERS; i++) {
        const uint64_t count = ane_array_count(&w->array[i]);
        void *host = NULL;
        if (w->array[i].role == ANE_TENSOR_OUTPUT) {
            ok = add_output(o, GPU_F16, count, &launch->buffer[i], error);
        } else {
            ok = allocate(o, 2 * count, &launch->buffer[i], &host, error);
            if (ok)
                fill(w->array[i].name, q->seed, count, host);
        }
    }
    if (w)
        ane_workload_close(w);
    free(w);
    return ok;
}

static bool run_with_outputs(const struct tune_request *q, const struct chip *chip, const char *unit,
                             const struct tune_variant *v, struct outputs *o, struct orch_error *error)
{
    struct orchard_error no = {0};
    struct orchard_launch launch = {.precision = q->precision, .seed = q->seed};
    o->machine = orchard_open(q->chip, q->sets.text, q->sets.count, &no);
    if (!o->machine)
        return orch_fail(error, no.code, "%.400s", no.text);
    if (!(strcmp(unit, "gpu") == 0 ? place_gpu(q, v, o, &launch, error) : place_ane(q, chip, v, o, &launch, error)))
        return false;
    return (orchard_enqueue(o->machine, unit, v->workload, &launch, &no) >= 0 && orchard_wait(o->machine, &no)) ||
           orch_fail(error, no.code, "%.400s", no.text);
}

static double outputs_difference(const struct outputs *a, const struct outputs *b)
{
    double worst = a->count == b->count ? 0 : INFINITY;
    for (unsigned n = 0; n < a->count && isfinite(worst); n++) {
        const struct output *const x = &a->of[n], *const y = &b->of[n];
        double largest = 0, off = x->count == y->count ? 0 : INFINITY;
        for (uint64_t i = 0; i < x->count && isfinite(off); i++)
            add_difference(element(x->type, x->bytes, i), element(y->type, y->bytes, i), &largest, &off);
        worst = fmax(worst, off == 0 ? 0 : off / largest);
    }
    return worst;
}

static bool difference_of_outputs(const struct tune_request *q, const struct chip *chip, const char *unit,
                                  const struct tune_variant *a, const struct tune_variant *b, double *difference,
                                  struct orch_error *error)
{
    struct outputs x = {.count = 0}, y = {.count = 0};
    const bool ok = run_with_outputs(q, chip, unit, a, &x, error) && run_with_outputs(q, chip, unit, b, &y, error);
    *difference = ok ? outputs_difference(&x, &y) : INFINITY;
    orchard_close(x.machine);
    orchard_close(y.machine);
    return ok;
}

/* ---- checksums of the others ---- */

static bool execute(const struct tune_request *q, const struct chip *chip, const char *unit, const struct tune_variant *v,
                    struct run_result *result, struct orch_error *error)
{
    const struct run_request request = {.chip = chip,
                                        .workload = v->workload,
                                        .unit = unit,
                                        .precision = q->precision,
                                        .cores = v->cores,
                                        .mode = strcmp(unit, "cpu") == 0 ? RUN_FULL : RUN_FUNCTIONAL,
                                        .seed = q->seed};
    struct run *const run = run_prepare(&request, error);
    const bool ok = run && run_execute(run, NULL, 1, result, error);
    run_free(run);
    return ok;
}

static bool same_checksums(const struct run_result *a, const struct run_result *b)
{
    bool same = a->checksum.count > 0 && a->checksum.count == b->checksum.count;
    for (size_t i = 0; same && i < a->checksum.count; i++)
        same = strcmp(a->checksum.item[i].output, b->checksum.item[i].output) == 0 &&
               a->checksum.item[i].fnv1a64 == b->checksum.item[i].fnv1a64;
    return same;
}

static bool difference_of_checksums(const struct tune_request *q, const struct chip *chip, const char *unit,
                                    const struct tune_variant *a, const struct tune_variant *b, double *difference,
                                    struct orch_error *error)
{
    struct run_result x, y;
    run_result_init(&x);
    run_result_init(&y);
    const bool ok = execute(q, chip, unit, a, &x, error) && execute(q, chip, unit, b, &y, error);
    *difference = ok && same_checksums(&x, &y) ? 0 : INFINITY;
    run_result_free(&x);
    run_result_free(&y);
    return ok;
}

bool tune_difference(const struct tune_request *q, const char *unit, const struct tune_variant *a, const struct tune_variant *b,
                     double *difference, struct orch_error *error)
{
    const bool has_outputs = strcmp(unit, "gpu") == 0 || strcmp(unit, "ane") == 0;
    struct chip *const chip = chip_open(q->chips, q->chip, &q->sets, error);
    const bool ok =
        chip && (has_outputs ? difference_of_outputs : difference_of_checksums)(q, chip, unit, a, b, difference, error);
    if (chip)
        chip_close(chip);
    return ok;
}
