/* Builds kernels of the Neural Engine library, saves and reads the program, runs it on the executing side, hands results out as
 * doubles. What a program must not read (padding, scratch, results) starts as NaN, which the engine turns into infinity. */
#ifndef ORCHARD_TESTS_UNITS_ANE_LIBRARY_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_ANE_LIBRARY_EXAMPLE_H

#include "isa/ane/ane_half.h"
#include "tests/support/suite.h"
#include "units/ane/ane_exec.h"
#include "units/ane/kernels/ane_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ane_example {
    struct ane_kernel_request request;
    struct ane_kernel kernel;
    struct ane_program program; /* as read back from the saved file */
    struct mem_space *space;
    struct ane_core *core;
    uint64_t address[ANE_BARS];
    float *constant[4];
    uint64_t seed;
    bool integers; /* constants and inputs are 1 or 2 with a sign */
    struct isa_error error;
    struct ane_exec_counts counts;
};

/* H13: sbryngelson/ane-guide, appendix A; int8 from H14, sin and cos from H15. */
static inline struct ane_limits example_limits(enum ane_generation generation)
{
    return (struct ane_limits){
        .generation = generation,
        .l2_bytes = 2u << 20,
        .kernel_max = generation == ANE_H13 ? 29 : 32,
        .dimension_max = 16384,
        .channels_max = 65536,
        .pool_max = 31,
        .int8_weights = generation > ANE_H13,
        .int4_palette = true,
        .sparse_weights = true,
        .sin_cos = generation >= ANE_H15,
        .resize_any = generation > ANE_H13,
    };
}

/* Measured on the M1: sbryngelson/ane-guide, chapter 3. */
static inline struct ane_numeric example_numeric(void)
{
    return (struct ane_numeric){.mac_group = 4,
                                .mac_group_bits = 12,
                                .mac_flush_denormals = 1,
                                .mac_overflow = 32768,
                                .nan_to_infinity = 1,
                                .negative_zero = 0,
                                .width_crop_gain = 16};
}

static inline double example_uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(suite_random(state) >> 11) * 0x1p-53;
}

/* An element of a tensor: anything the kernel names, or a small integer. Sums of products of small integers are exact whatever
 * their order and rounding, so that a single product too few or too many shows. */
static inline double example_random(struct ane_example *x, double low, double high)
{
    if (!x->integers)
        return example_uniform(&x->seed, low, high);
    const uint64_t bits = suite_random(&x->seed) >> 62;
    return (bits & 1 ? 2 : 1) * (bits & 2 ? -1.0 : 1.0);
}

static inline uint64_t example_count(const struct ane_kernel_tensor *t)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < t->rank; i++)
        count *= t->shape[i];
    return count;
}

static inline const struct ane_kernel_tensor *example_tensor(const struct ane_example *x, const char *name)
{
    for (unsigned i = 0; i < x->kernel.tensors; i++)
        if (strcmp(x->kernel.tensor[i].name, name) == 0)
            return &x->kernel.tensor[i];
    CHECK(0, "no tensor %s", name);
    return &x->kernel.tensor[0];
}

/* Place of element `index` (row-major) in its buffer. */
static inline uint64_t example_place(const struct ane_kernel_tensor *t, uint64_t index)
{
    uint64_t place = t->offset;
    for (unsigned i = t->rank; i-- > 0; index /= t->shape[i])
        place += index % t->shape[i] * t->stride[i];
    return place;
}

static inline uint8_t *example_element(const struct ane_example *x, const struct ane_kernel_tensor *t, uint64_t index,
                                       unsigned prot)
{
    return mem_at(x->space, x->address[t->bar] + example_place(t, index), 2, prot);
}

/* All elements; free them. */
static inline double *example_values(const struct ane_example *x, const char *name)
{
    const struct ane_kernel_tensor *t = example_tensor(x, name);
    const uint64_t count = example_count(t);
    double *value = malloc((count + 1) * sizeof *value);
    unsigned constant = 0;
    for (const struct ane_kernel_tensor *c = x->kernel.tensor; c != t; c++)
        constant += c->role == ANE_TENSOR_CONSTANT;
    for (uint64_t i = 0; value && i < count; i++) {
        uint16_t bits = 0;
        if (t->role != ANE_TENSOR_CONSTANT) {
            const uint8_t *at = example_element(x, t, i, MEM_READ);
            if (at)
                memcpy(&bits, at, sizeof bits);
            value[i] = at ? ane_half_value(bits) : (double)NAN;
        } else {
            value[i] = (double)x->constant[constant][i];
        }
    }
    return value;
}

static inline void example_put(const struct ane_example *x, const char *name, uint64_t index, double value)
{
    uint8_t *at = example_element(x, example_tensor(x, name), index, MEM_WRITE);
    const uint16_t bits = ane_half_bits(value);
    if (at)
        memcpy(at, &bits, sizeof bits);
    else
        CHECK(0, "%s[%llu] lies outside its buffer", name, (unsigned long long)index);
}

static inline void example_close(struct ane_example *x)
{
    for (unsigned i = 0; i < 4; i++)
        free(x->constant[i]);
    ane_core_free(x->core);
    mem_space_free(x->space);
    ane_program_free(&x->program);
    ane_kernel_free(&x->kernel);
}

/* Constants as multiples of 2^-6 in the range the kernel names, so that every weight format can hold them. */
static inline void example_constants(struct ane_example *x)
{
    unsigned index = 0;
    for (unsigned i = 0; i < x->kernel.tensors && index < 4; i++) {
        const struct ane_kernel_tensor *t = &x->kernel.tensor[i];
        if (t->role != ANE_TENSOR_CONSTANT)
            continue;
        const uint64_t count = example_count(t);
        float *value = malloc((count + 1) * sizeof *value);
        for (uint64_t k = 0; value && k < count; k++)
            value[k] = (float)ane_half_round(example_random(x, t->low, t->high));
        x->request.constant[index] = x->constant[index] = value;
        index++;
    }
}

/* The program saves, parses and saves again to the same bytes; x->program is the one that was read. */
static inline bool example_round_trip(struct ane_example *x)
{
    uint8_t *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;
    bool ok = ane_program_save(&x->kernel.program, &first, &first_size, &x->error) &&
              ane_program_parse(first, first_size, &x->program, &x->error) &&
              ane_program_save(&x->program, &second, &second_size, &x->error);
    if (ok && (first_size != second_size || memcmp(first, second, first_size) != 0)) {
        snprintf(x->error.text, sizeof x->error.text, "saved twice, the bytes differ");
        ok = false;
    }
    free(first);
    free(second);
    return ok;
}

static inline bool example_place_buffers(struct ane_example *x)
{
    const struct ane_numeric numeric = example_numeric();
    x->space = mem_space_create(0);
    x->core = ane_core_create(&numeric, x->request.limits.l2_bytes);
    for (unsigned i = 0; x->space && i < ANE_BARS; i++) {
        const struct ane_port *port = &x->kernel.program.port[i];
        if (port->kind < ANE_PORT_SCRATCH || port->bytes == 0)
            continue;
        x->address[i] = mem_space_alloc(x->space, port->bytes, MEM_PAGE_BYTES);
        uint8_t *bytes = mem_at(x->space, x->address[i], port->bytes, MEM_WRITE);
        if (!bytes)
            return false;
        memset(bytes, 0x7e, port->bytes);
    }
    return x->space && x->core;
}

/* Parses and builds `x`, in which limits, seed and kind of values are set; false with x->error. Constants are random. */
static inline bool example_build_set(struct ane_example *x, const char *workload, const char *precision)
{
    if (!ane_kernel_parse(workload, precision, &x->request, &x->error) || !ane_kernel_build(&x->request, &x->kernel, &x->error))
        return false;
    example_constants(x);
    ane_kernel_free(&x->kernel);
    return ane_kernel_build(&x->request, &x->kernel, &x->error) && example_round_trip(x) && example_place_buffers(x);
}

static inline bool example_build_within(struct ane_example *x, const char *workload, const char *precision,
                                        const struct ane_limits *limits, uint64_t seed)
{
    *x = (struct ane_example){.request.limits = *limits, .seed = seed};
    return example_build_set(x, workload, precision);
}

static inline bool example_build(struct ane_example *x, const char *workload, const char *precision,
                                 enum ane_generation generation, uint64_t seed)
{
    const struct ane_limits limits = example_limits(generation);
    return example_build_within(x, workload, precision, &limits, seed);
}

static inline void example_fill(struct ane_example *x)
{
    for (unsigned i = 0; i < x->kernel.tensors; i++) {
        const struct ane_kernel_tensor *t = &x->kernel.tensor[i];
        for (uint64_t k = 0; t->role == ANE_TENSOR_INPUT && k < example_count(t); k++)
            example_put(x, t->name, k, example_random(x, t->low, t->high));
    }
}

static inline bool example_run(struct ane_example *x)
{
    struct ane_request request = {.program = &x->program, .space = x->space};
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    memcpy(request.address, x->address, sizeof request.address);
    for (unsigned i = 0; i < ANE_BARS; i++)
        request.bytes[i] = x->address[i] ? x->kernel.program.port[i].bytes : 0;
    if (ane_core_run(x->core, &request, 1, &x->counts, &fault))
        return true;
    snprintf(x->error.text, sizeof x->error.text, "descriptor at %llx: %.180s", (unsigned long long)fault.pc, fault.text);
    return false;
}

/* Builds, fills and runs; failures are failures of the test. Close in any case. */
static inline bool example_start(struct ane_example *x, const char *workload, const char *precision, uint64_t seed)
{
    bool ok = example_build(x, workload, precision, ANE_H13, seed);
    if (ok) {
        example_fill(x);
        ok = example_run(x);
    }
    CHECK(ok, "%s %s: %s", workload, precision ? precision : "", x->error.text);
    return ok;
}

/* The same with small integers. */
static inline bool example_start_integers(struct ane_example *x, const char *workload, const char *precision,
                                          enum ane_generation generation, uint64_t seed)
{
    *x = (struct ane_example){.request.limits = example_limits(generation), .seed = seed, .integers = true};
    bool ok = example_build_set(x, workload, precision);
    if (ok) {
        example_fill(x);
        ok = example_run(x);
    }
    CHECK(ok, "%s %s: %s", workload, precision ? precision : "", x->error.text);
    return ok;
}

/* Steps of fp16 at a value. */
static inline double example_ulp(double value)
{
    int exponent;
    frexp(fabs(value) < 0x1p-14 ? 0x1p-14 : value, &exponent);
    return ldexp(1, exponent - 11);
}

/* Operands of the MAC: fp16 denormals count as 0. */
static inline double example_mac(double value)
{
    return fabs(value) < 0x1p-14 ? 0 : value;
}

/* What a sum of products may be off: groups of four are added in 12 bits that drop what lies below (three additions, each less
 * than 2^-11 of the group), the wide sum adds next to nothing, one rounding to fp16 at the end. */
static inline double example_sum_bound(double sum_of_sizes, double result)
{
    return 3 * 0x1p-11 * sum_of_sizes + 0.51 * example_ulp(result) + 0x1p-24;
}

/* Compares `name` with expectations and bounds per element; NULL bound = `ulps` steps. */
static inline void example_compare(const struct ane_example *x, const char *workload, const char *name, const double *expected,
                                   const double *bound, double ulps)
{
    const uint64_t count = example_count(example_tensor(x, name));
    double *got = example_values(x, name);
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < count; i++) {
        const double most = bound ? bound[i] : ulps * example_ulp(expected[i]);
        if (fabs(got[i] - expected[i]) <= most || (isinf(expected[i]) && got[i] == expected[i]))
            continue;
        first = wrong++ ? first : i;
    }
    CHECK(wrong == 0, "%s: %llu of %llu wrong, first %s[%llu] = %.9g, expected %.9g, bound %.3g", workload,
          (unsigned long long)wrong, (unsigned long long)count, name, (unsigned long long)first, got[first], expected[first],
          bound ? bound[first] : ulps * example_ulp(expected[first]));
    free(got);
}

/* The request is refused as beyond the hardware, with `text` in the message. */
static inline void example_refused(const char *workload, const char *precision, enum ane_generation generation, const char *text)
{
    struct ane_example x;
    const bool built = example_build(&x, workload, precision, generation, 1);
    CHECK(!built && x.error.offset == 1 && strstr(x.error.text, text), "%s: %s, offset %lu, \"%s\"", workload,
          built ? "was built" : "refused", x.error.offset, x.error.text);
    example_close(&x);
}

#endif
