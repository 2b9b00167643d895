/* Launch descriptions for tests: in files that live in memory, and in a scratch folder with a kernel on disk. */
#ifndef ORCHARD_TESTS_SIM_AGX_EXAMPLE_H
#define ORCHARD_TESTS_SIM_AGX_EXAMPLE_H

#include "sim/workload/gpu/abi_kernel.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct example_file {
    const char *name;
    const void *bytes;
    size_t size;
};

static inline bool example_read(void *context, const char *name, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    for (const struct example_file *f = context; f->name; f++) {
        if (strcmp(f->name, name) != 0)
            continue;
        *bytes = malloc(f->size + 1);
        memcpy(*bytes, f->bytes, f->size);
        (*bytes)[f->size] = 0;
        *size = f->size;
        return true;
    }
    return orch_fail(error, ORCH_USAGE, "%s: No such file", name);
}

/* y[i] = x[i] * factor, one element per thread. */
static const char example_scale[] = ".arg xs u64\n.arg ys u64\n.arg factor f32\n.local_size 32 1 1\n"
                                    "get_sr r0, sr80\n"
                                    "device_load 0, i32, x, r1, xs, r0, unsigned\n"
                                    "wait 0\n"
                                    "fmul32 r1, r1, factor\n"
                                    "device_store 0, i32, x, r1, ys, r0, unsigned, 0\n"
                                    "stop\n";

static inline void example_write(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

#endif
