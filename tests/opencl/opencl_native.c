#include "tests/opencl/opencl_native.h"

#include "isa/array_count.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types and numbers from the Khronos OpenCL 1.2 specification. */
enum {
    CL_DEVICE_CPU = 2,
    CL_COPY_HOST = 1 << 5,
    CL_READ_WRITE = 1,
    CL_BLOCKING = 1,
    CL_BUILD_LOG = 0x1183,
    CL_DEVICE_NAME = 0x102b
};

struct opencl_native {
    int (*platforms)(uint32_t, void **, uint32_t *);
    int (*devices)(void *, uint64_t, uint32_t, void **, uint32_t *);
    void *(*context_of)(const intptr_t *, uint32_t, void *const *, void *, void *, int *);
    void *(*queue_of)(void *, void *, uint64_t, int *);
    void *(*program_of)(void *, uint32_t, const char **, const size_t *, int *);
    int (*build)(void *, uint32_t, void *const *, const char *, void *, void *);
    int (*build_info)(void *, void *, uint32_t, size_t, void *, size_t *);
    void *(*kernel_of)(void *, const char *, int *);
    void *(*buffer_of)(void *, uint64_t, size_t, void *, int *);
    int (*argument)(void *, uint32_t, size_t, const void *);
    int (*launch)(void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, void *, void *);
    int (*read)(void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void *, void *);
    int (*finish)(void *);
    int (*free_buffer)(void *);
    int (*free_kernel)(void *);
    int (*free_program)(void *);
    void *device, *context, *queue, *program;
};

static bool load(struct opencl_native *n)
{
    static const char *const names[] = {
        "clGetPlatformIDs",       "clGetDeviceIDs",        "clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource",
        "clBuildProgram",         "clGetProgramBuildInfo", "clCreateKernel",  "clCreateBuffer",       "clSetKernelArg",
        "clEnqueueNDRangeKernel", "clEnqueueReadBuffer",   "clFinish",        "clReleaseMemObject",   "clReleaseKernel",
        "clReleaseProgram"};
    void *const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void **const function = (void **)n;
    for (size_t i = 0; library && i < ARRAY_COUNT(names); i++) {
        function[i] = dlsym(library, names[i]);
        if (!function[i])
            return false;
    }
    return library != NULL;
}

struct opencl_native *opencl_native_open(const char **why)
{
    struct opencl_native *const n = calloc(1, sizeof *n);
    void *platform;
    uint32_t count = 0;
    setenv("POCL_MAX_PTHREAD_COUNT", "2", 0);
    *why = "no libOpenCL.so.1 (make deps-opencl)";
    if (n && load(n)) {
        *why = "no OpenCL device of the host's processors (make deps-opencl)";
        if (n->platforms(1, &platform, &count) == 0 && count && n->devices(platform, CL_DEVICE_CPU, 1, &n->device, &count) == 0) {
            n->context = n->context_of(NULL, 1, &n->device, NULL, NULL, NULL);
            n->queue = n->context ? n->queue_of(n->context, n->device, 0, NULL) : NULL;
        }
        if (n->queue)
            return n;
    }
    free(n);
    return NULL;
}

void opencl_native_close(struct opencl_native *n)
{
    if (n && n->program)
        n->free_program(n->program);
    free(n);
}

bool opencl_native_build(struct opencl_native *n, const char *source)
{
    if (n->program)
        n->free_program(n->program);
    n->program = n->program_of(n->context, 1, &source, NULL, NULL);
    if (n->program &&
        n->build(n->program, 1, &n->device, "-cl-std=CL3.0 -DNATIVE -cl-single-precision-constant -w", NULL, NULL) == 0)
        return true;
    char *const log = calloc(1, 1 << 16);
    if (n->program && log && n->build_info(n->program, n->device, CL_BUILD_LOG, (1 << 16) - 1, log, NULL) == 0)
        printf("  the native OpenCL: %.3000s\n", log);
    free(log);
    return false;
}

static bool set_argument(struct opencl_native *n, void *kernel, unsigned i, const struct opencl_arg *a, void **buffer)
{
    if (a->use == OPENCL_LOCAL)
        return n->argument(kernel, i, a->bytes, NULL) == 0;
    if (a->use == OPENCL_VALUE) /* a vector of three is as large as one of four */
        return n->argument(kernel, i, a->count == 3 ? a->bytes / 3 * 4 : a->bytes, a->value) == 0;
    *buffer = n->buffer_of(n->context, CL_READ_WRITE | CL_COPY_HOST, a->bytes, a->start, NULL);
    return *buffer && n->argument(kernel, i, sizeof *buffer, buffer) == 0;
}

bool opencl_native_run(struct opencl_native *n, const struct opencl_case *c, uint8_t *const out[OPENCL_ARGS])
{
    void *buffer[OPENCL_ARGS] = {NULL}, *const kernel = n->kernel_of(n->program, c->name, NULL);
    size_t grid[3], group[3];
    bool good = kernel != NULL;
    for (unsigned i = 0; good && i < c->args; i++)
        good = set_argument(n, kernel, i, &c->arg[i], &buffer[i]);
    for (unsigned i = 0; i < 3; i++) {
        grid[i] = c->grid[i];
        group[i] = c->group[i];
    }
    good = good && n->launch(n->queue, kernel, 3, NULL, grid, group, 0, NULL, NULL) == 0 && n->finish(n->queue) == 0;
    for (unsigned i = 0; i < c->args; i++) {
        if (good && buffer[i])
            good = n->read(n->queue, buffer[i], CL_BLOCKING, 0, c->arg[i].bytes, out[i], 0, NULL, NULL) == 0;
        if (buffer[i])
            n->free_buffer(buffer[i]);
    }
    if (kernel)
        n->free_kernel(kernel);
    return good;
}
