/* Operands that one launch does not reach. Indices of elements are 32-bit numbers, so a request with more is cut along its
 * outermost parameter (rows, images, batches): each slice is a request of its own, built like any other, and its launches join
 * the kernel with the buffers moved on. */
#include "units/gpu/kernels/gpu_kernel_slices.h"

#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdlib.h>
#include <string.h>

/* Slices begin at multiples of so many, because threadgroups take up to 16 rows and memory has lines. */
enum { SLICE_UNIT = 16 };

struct slices {
    const struct gpu_kernel_request *request;
    struct gpu_kernel *kernel;
    struct isa_error *error;
    unsigned parameter;
    uint64_t all, most;                    /* of the parameter; the most of one slice */
    uint64_t elements[GPU_KERNEL_BUFFERS]; /* of a buffer that belong to one of them; 0 = all slices share the buffer */
};

static bool build_part(const struct slices *s, uint64_t count, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct gpu_kernel_request request = *s->request;
    request.value[s->parameter] = (int64_t)count;
    memset(kernel, 0, sizeof *kernel);
    if (request.info->build(&request, kernel, error))
        return true;
    gpu_kernel_free(kernel);
    return false;
}

/* Finds what grows with the parameter, and how large a slice may be. False when slices are no help: two rows already are too
 * many, or the request is refused for another reason. */
static bool find_most(struct slices *s, struct gpu_kernel *one, struct gpu_kernel *two)
{
    struct isa_error why = {0};
    if (s->all < 2 || !build_part(s, 1, one, &why))
        return false;
    if (!build_part(s, 2, two, &why))
        return false;
    s->most = GPU_KERNEL_ROWS_MAX;
    for (unsigned b = 0; b < one->buffers; b++) {
        const uint64_t first = one->buffer[b].count, each = two->buffer[b].count - first;
        s->elements[b] = each;
        if (each && ((uint64_t)GPU_KERNEL_ELEMENTS_MAX - first) / each + 1 < s->most)
            s->most = ((uint64_t)GPU_KERNEL_ELEMENTS_MAX - first) / each + 1;
    }
    s->most = s->most >= SLICE_UNIT ? s->most / SLICE_UNIT * SLICE_UNIT : s->most;
    return s->most < s->all;
}

/* Buffers of the whole: those that the slices fill one after another grow, working space is used by one slice after the other. */
static void join_buffers(struct slices *s, const struct gpu_kernel *part)
{
    struct gpu_kernel *k = s->kernel;
    for (unsigned b = 0; b < part->buffers; b++) {
        const struct gpu_kernel_buffer *from = &part->buffer[b];
        if (b == k->buffers)
            k->buffer[k->buffers++] = *from;
        else if (from->role != GPU_BUFFER_SCRATCH)
            k->buffer[b].count += s->elements[b] ? from->count : 0;
        else if (from->count > k->buffer[b].count)
            k->buffer[b].count = from->count;
    }
}

/* Moves the launches of a slice to the whole; what is left of `part` owns nothing. */
static bool join_steps(struct slices *s, struct gpu_kernel *part, uint64_t first)
{
    struct gpu_kernel *k = s->kernel;
    if (k->steps + part->steps > GPU_KERNEL_STEPS)
        return kernel_refuse(s->error, "%s: takes more than %d launches", s->request->info->name, GPU_KERNEL_STEPS);
    for (unsigned i = 0; i < part->steps; i++) {
        struct gpu_kernel_step *step = &k->step[k->steps++];
        *step = part->step[i];
        for (unsigned a = 0; a < step->arguments; a++) {
            const unsigned b = step->argument[a].buffer;
            if (step->argument[a].kind == GPU_ARGUMENT_BUFFER && part->buffer[b].role != GPU_BUFFER_SCRATCH)
                step->argument[a].value += gpu_type_bytes(part->buffer[b].type, first * s->elements[b]);
        }
    }
    part->steps = 0;
    return true;
}

static bool join(struct slices *s, struct gpu_kernel *part, uint64_t first)
{
    join_buffers(s, part);
    s->kernel->flops += part->flops;
    s->kernel->macs += part->macs;
    s->kernel->min_bytes += part->min_bytes;
    return join_steps(s, part, first);
}

static bool build_all(struct slices *s, struct gpu_kernel *part)
{
    memset(s->kernel, 0, sizeof *s->kernel);
    for (uint64_t first = 0, count; first < s->all; first += count) {
        count = s->all - first < s->most ? s->all - first : s->most;
        if (!build_part(s, count, part, s->error))
            return false;
        const bool ok = join(s, part, first);
        gpu_kernel_free(part);
        if (!ok)
            return false;
    }
    return true;
}

/* The parameters along which operands can be cut: all buffers that grow with the parameter have it outermost. The second one is
 * that only where the first is 1. */
static const struct outermost {
    const char *kernel, *parameter[2];
    const char *condition; /* a parameter that has to have this value; NULL = none */
    int64_t value;
} outermost[] = {
    {"attention", {"b", "h"}, "kvh", 0},    {"attention", {"b", NULL}, NULL, 0},  {"batchnorm", {"n", NULL}, NULL, 0},
    {"concat", {"rows", NULL}, NULL, 0},    {"conv2d", {"n", NULL}, NULL, 0},     {"gather", {"count", NULL}, NULL, 0},
    {"gemv", {"m", NULL}, NULL, 0},         {"globalpool", {"n", "c"}, NULL, 0},  {"groupnorm", {"n", NULL}, NULL, 0},
    {"layernorm", {"rows", NULL}, NULL, 0}, {"pool", {"n", "c"}, NULL, 0},        {"reduce", {"batch", "rows"}, "axis", 1},
    {"resize", {"n", "c"}, NULL, 0},        {"rmsnorm", {"rows", NULL}, NULL, 0}, {"rope", {"b", "h"}, "order", 0},
    {"rope", {"b", NULL}, NULL, 0},         {"scan", {"rows", NULL}, NULL, 0},    {"softmax", {"rows", NULL}, NULL, 0},
    {"sort", {"rows", NULL}, NULL, 0},
};

/* -1 = the kernel has no such parameter. */
static int parameter_of(const struct gpu_kernel_info *info, const char *name)
{
    for (int i = 0; name && info->parameter[i].name; i++)
        if (strcmp(info->parameter[i].name, name) == 0)
            return i;
    return -1;
}

/* The parameter to cut along; -1 = there is none. */
static int find_parameter(const struct gpu_kernel_request *r)
{
    for (unsigned i = 0; i < ARRAY_COUNT(outermost); i++) {
        const struct outermost *o = &outermost[i];
        const int condition = parameter_of(r->info, o->condition), first = parameter_of(r->info, o->parameter[0]);
        if (strcmp(o->kernel, r->info->name) != 0 || (condition >= 0 && r->value[condition] != o->value))
            continue;
        return r->value[first] == 1 ? parameter_of(r->info, o->parameter[1]) : first;
    }
    return -1;
}

bool gpu_kernel_build_slices(const struct gpu_kernel_request *request, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct slices s = {.request = request, .kernel = kernel, .error = error};
    const int parameter = find_parameter(request);
    struct gpu_kernel *const part = parameter < 0 ? NULL : calloc(2, sizeof *part);
    bool ok = false;
    if (part) {
        s.parameter = (unsigned)parameter;
        s.all = (uint64_t)request->value[parameter];
        ok = find_most(&s, &part[0], &part[1]);
        gpu_kernel_free(&part[0]);
        gpu_kernel_free(&part[1]);
        ok = ok && build_all(&s, part);
    }
    free(part);
    return ok;
}
