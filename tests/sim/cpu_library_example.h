/* Runs kernels of the NEON library, or of the AMX library's rows, without timing, operands flush with unmapped pages, and
 * compares them with their references.
 */
#ifndef ORCHARD_TESTS_SIM_CPU_LIBRARY_EXAMPLE_H
#define ORCHARD_TESTS_SIM_CPU_LIBRARY_EXAMPLE_H

#include "sim/base/checksum.h"
#include "sim/workload/cpu/cpu_library.h"
#include "sim/workload/cpu/program_set.h"
#include "sim/workload/routine_data.h"
#include "tests/support/suite.h"
#include "units/amx/kernels/amx_kernels.h"

#include <stdlib.h>
#include <string.h>

struct neon_example {
    struct cpu_library library;
    struct cpu_library_data data;
    struct program_set set;
    double *before[ROUTINE_OPERANDS];
    uint64_t seed;
    /* Other start contents of an operand, or NULL: called for each element. */
    double (*value)(const struct neon_example *x, unsigned operand, uint64_t index);
    const void *own; /* of value */
    bool amx;        /* of the AMX library */
    enum amx_gen gen;
    struct orch_error error;
};

static inline uint8_t *neon_bytes(const struct neon_example *x, unsigned operand)
{
    const struct routine_operand *const o = &x->library.work.operand[operand];
    return mem_at(program_space(x->set.program[0]), x->data.address[operand], routine_type_bytes(o->type, o->count), MEM_READ);
}

static inline void neon_put(enum routine_type type, uint8_t *to, double number)
{
    const float narrow = (float)number;
    const _Float16 half = (_Float16)narrow;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    const uint16_t brain = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    const uint32_t whole = type == ROUTINE_U32 ? (uint32_t)number : bits;
    if (type == ROUTINE_F32 || type == ROUTINE_U32)
        memcpy(to, &whole, sizeof whole);
    else
        memcpy(to, type == ROUTINE_F16 ? (const void *)&half : (const void *)&brain, 2);
}

static inline bool neon_prepare(void *context, unsigned number, struct program *program, struct orch_error *error)
{
    struct neon_example *const x = context;
    (void)number;
    if (!cpu_library_place(&x->library, program, x->seed, &x->data, error))
        return false;
    x->set.program[0] = program;
    for (unsigned i = 0; i < x->library.work.operands; i++) {
        const struct routine_operand *const o = &x->library.work.operand[i];
        if (o->role != ROUTINE_INPUT && o->role != ROUTINE_IN_OUT)
            continue;
        uint8_t *const at = neon_bytes(x, i);
        for (uint64_t e = 0; x->value && e < o->count; e++)
            neon_put(o->type, at + routine_type_bytes(o->type, e), x->value(x, i, e));
        x->before[i] = routine_values(o, at);
    }
    return true;
}

static inline const struct routine_library *rows_of(const struct neon_example *x, const char *workload)
{
    return !x->amx ? &cpu_kernels : routine_find(&amx_kernels, workload) ? &amx_kernels : &amx_products;
}

/* Opens, places and runs; the result is in the program's memory until the example is closed. */
static inline bool neon_run(struct neon_example *x, const char *workload, const char *precision, unsigned threads)
{
    size_t bytes;
    const void *const code = x->amx ? amx_kernels_code(&bytes) : cpu_kernels_code(&bytes);
    const struct program_options options = {.entry = x->amx ? AMX_KERNELS_ENTRY : CPU_KERNELS_ENTRY, .cores = threads};
    const struct crew_cores cores = {.most = threads};
    memset(&x->set, 0, sizeof x->set);
    memset(x->before, 0, sizeof x->before);
    if (!cpu_library_open_of(&x->library, rows_of(x, workload), workload, precision, threads, (unsigned)x->gen, &x->error))
        return false;
    x->library.flush = true;
    return program_set_open_with(&x->set, 1, code, bytes, &options, x->gen ? x->gen : AMX_GEN_M1, NULL, &cores, 0, neon_prepare,
                                 x, &x->error) &&
           program_set_run(&x->set, &x->error);
}

static inline void neon_close(struct neon_example *x)
{
    program_set_close(&x->set);
    for (unsigned i = 0; i < ROUTINE_OPERANDS; i++)
        free(x->before[i]);
}

static inline uint64_t neon_checksum(const struct neon_example *x)
{
    return cpu_library_checksum(&x->library, &x->data, program_space(x->set.program[0]));
}

/* Runs and compares; false and a failed check when an element is out of bounds or the kernel faults. */
static inline bool neon_compare(struct neon_example *x, const char *workload, const char *precision, unsigned threads)
{
    struct routine_difference d = {.wrong = 1};
    bool ok = neon_run(x, workload, precision, threads);
    CHECK(ok, "%s %s: %s", workload, precision, x->error.text);
    ok = ok && routine_compare(&x->library.request, &x->library.work, (const double *const *)x->before,
                               neon_bytes(x, routine_result(&x->library.work)), &d);
    CHECK(!ok || d.wrong == 0, "%s %s, %u threads: %llu wrong, element %llu is %.9g instead of %.9g (+- %.3g)", workload,
          precision, threads, (unsigned long long)d.wrong, (unsigned long long)d.at, d.got, d.want, d.allowed);
    return ok && d.wrong == 0;
}

/* Each workload in each precision of the list against the reference, and on three threads with the same bytes. */
static inline void neon_all(const char *const *workload, size_t count, const char *const *precision, size_t precisions)
{
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < precisions; p++) {
            struct neon_example one = {.seed = 7 + i}, three = {.seed = 7 + i};
            const bool ok = neon_compare(&one, workload[i], precision[p], 1) && neon_run(&three, workload[i], precision[p], 3);
            CHECK(ok && neon_checksum(&one) == neon_checksum(&three), "%s %s: other bytes on three threads %s", workload[i],
                  precision[p], three.error.text);
            neon_close(&one);
            neon_close(&three);
        }
}

/* The same of the AMX library on the block of each generation: all give the same bytes. */
static inline void amx_all(const char *const *workload, size_t count, const char *const *precision, size_t precisions)
{
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < precisions; p++) {
            uint64_t first = 0;
            for (enum amx_gen gen = AMX_GEN_M1; gen <= AMX_GEN_M4; gen++) {
                struct neon_example x = {.seed = 7 + i, .amx = true, .gen = gen}, three = x;
                const bool ok = neon_compare(&x, workload[i], precision[p], 1) &&
                                (gen != AMX_GEN_M1 || neon_run(&three, workload[i], precision[p], 3));
                first = ok && gen == AMX_GEN_M1 ? neon_checksum(&x) : first;
                CHECK(ok && neon_checksum(&x) == first, "%s %s: other bytes on another generation", workload[i], precision[p]);
                CHECK(ok && (gen != AMX_GEN_M1 || neon_checksum(&three) == first), "%s %s: other bytes on three threads %s",
                      workload[i], precision[p], three.error.text);
                neon_close(&x);
                if (gen == AMX_GEN_M1)
                    neon_close(&three);
            }
        }
}

static inline void amx_refused(const char *workload, const char *precision, const char *part)
{
    struct cpu_library library;
    struct orch_error error = {0};
    const bool opened = cpu_library_open_of(&library, &amx_kernels, workload, precision, 1, 0, &error);
    CHECK(!opened && error.exit_code == ORCH_USAGE && strstr(error.text, part), "%s: %s", workload, error.text);
}

static inline void neon_refused(const char *workload, const char *precision, const char *part)
{
    struct cpu_library library;
    struct orch_error error = {0};
    const bool opened = cpu_library_open(&library, workload, precision, 1, &error);
    CHECK(!opened && error.exit_code == ORCH_USAGE && strstr(error.text, part), "%s: %s", workload, error.text);
}

#endif
