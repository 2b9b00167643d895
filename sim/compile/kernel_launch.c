#include "sim/compile/kernel_launch.h"

#include "isa/agx/compiler/agx_compile.h"
#include "isa/float_bits.h"
#include "isa/rounding.h"
#include "sim/base/checksum.h"
#include "sim/workload/cpu/program_args.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threadgroup memory that a launch gives, as an argument: "threadgroup:4096". It begins at multiples of 16 bytes, as Metal's
 * setThreadgroupMemoryLength wants lengths; an outline gives as many bytes for each thread. */
#define THREADGROUP_FORM  "threadgroup:"
#define THREADGROUP_ALIGN 16
#define THREADGROUP_USUAL 16

bool kernel_launch_extent(const char *option, const char *text, uint32_t extent[3], struct orch_error *error)
{
    const char *at = text;
    extent[0] = extent[1] = extent[2] = 1;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        const unsigned long long n = isdigit((unsigned char)*at) ? strtoull(at, &end, 10) : 0;
        if (n == 0 || n > UINT32_MAX || (*end && *end != 'x'))
            break;
        extent[i] = (uint32_t)n;
        if (*end == 0)
            return true;
        at = end + 1;
    }
    return orch_fail(error, ORCH_USAGE,
                     ORCH_OPTION("%s") " %.60s: expected one to three sizes like 1024 or 64x64x1, at most 4294967295 each",
                     option, text);
}

/* ---- sizes ---- */

static bool set_group(struct abi_kernel *k, const uint32_t group[3], struct orch_error *error)
{
    if (group[0] && k->group[0] && memcmp(group, k->group, sizeof k->group) != 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("group") ": %s is compiled for threadgroups of %ux%ux%u", k->name,
                         k->group[0], k->group[1], k->group[2]);
    if (group[0])
        memcpy(k->group, group, sizeof k->group);
    if (k->group[0] == 0)
        return orch_fail(error, ORCH_USAGE, "%s says no size of its threadgroups: add " ORCH_OPTION("group") " XxYxZ", k->name);
    const uint64_t area = (uint64_t)k->group[0] * k->group[1];
    return (area <= ABI_GROUP_THREADS_MAX && area * k->group[2] <= ABI_GROUP_THREADS_MAX) ||
           orch_fail(error, ORCH_USAGE, "impossible launch: a threadgroup of %ux%ux%u threads, at most %d are possible",
                     k->group[0], k->group[1], k->group[2], ABI_GROUP_THREADS_MAX);
}

static bool set_grid(struct abi_kernel *k, const uint32_t grid[3], struct orch_error *error)
{
    if (grid[0] == 0)
        return orch_fail(error, ORCH_USAGE, "the size of the grid is missing: add " ORCH_OPTION("grid") " XxYxZ, in threads");
    memcpy(k->grid, grid, sizeof k->grid);
    return (double)grid[0] * grid[1] * grid[2] <= 0x1p40 ||
           orch_fail(error, ORCH_USAGE, "impossible launch: more than 2^40 threads");
}

/* ---- arguments ---- */

static bool set_integer(const struct program_arg *p, struct abi_arg *a, struct orch_error *error)
{
    const unsigned bits = 8 * element_type_bytes(a->type);
    const bool is_unsigned = a->type == ELEMENT_U8 || a->type == ELEMENT_U16 || a->type == ELEMENT_U32 || a->type == ELEMENT_U64;
    const int64_t number = (int64_t)p->bits;
    /* 0xffffffff is a pattern of 32 bits, and so an i32 as well; -1 is no u32. */
    const bool fits = bits == 64 || p->bits >> bits == 0 || (number < 0 && number >= -(INT64_C(1) << (bits - 1)));
    if (!fits || (is_unsigned && number < 0 && bits < 64))
        return orch_fail(error, ORCH_USAGE, "does not fit %s", element_type_name(a->type));
    memcpy(a->scalar, &p->bits, sizeof a->scalar);
    memset(a->scalar + bits / 8, 0, sizeof a->scalar - bits / 8);
    return true;
}

static bool set_scalar(const struct program_arg *p, struct abi_arg *a, struct orch_error *error)
{
    if (p->kind == PROGRAM_ARG_POINTER)
        return orch_fail(error, ORCH_USAGE, "is a number (%s), not a buffer", element_type_name(a->type));
    if (p->kind == PROGRAM_ARG_INTEGER && !element_type_float(a->type))
        return set_integer(p, a, error);
    if (!element_type_float(a->type))
        return orch_fail(error, ORCH_USAGE, "is an integer (%s)", element_type_name(a->type));
    const double number = p->kind == PROGRAM_ARG_INTEGER ? (double)(int64_t)p->bits
                          : p->kind == PROGRAM_ARG_FLOAT ? (double)f32_of_bits((uint32_t)p->bits)
                                                         : f64_of_bits(p->bits);
    return element_write(a->type, number, a->scalar) ||
           orch_fail(error, ORCH_USAGE, "does not fit %s", element_type_name(a->type));
}

/* Says so before the work rather than after it. */
static bool can_be_created(const char *path, struct orch_error *error)
{
    const char *const slash = strrchr(path, '/');
    char *const folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!folder)
        return orch_no_memory(error);
    const bool ok = access(folder, W_OK | X_OK) == 0;
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%.200s cannot be created: %s", path, strerror(errno));
    free(folder);
    return ok;
}

static bool set_save(const struct program_arg *p, struct abi_arg *a, struct orch_error *error)
{
    if (!p->save_path)
        return true;
    if (!can_be_created(p->save_path, error))
        return false;
    a->save = calloc(1, sizeof *a->save);
    if (!a->save || !(a->save->path = strdup(p->save_path)))
        return orch_no_memory(error);
    a->save->array = p->array;
    a->save->array.data = NULL;
    a->save->array.owned = NULL;
    return true;
}

/* A number for constant memory: a buffer of that number, as Metal's setBytes makes one. How the source reads it does not say
 * whether an integer has a sign. */
static bool set_constant(const struct program_arg *p, struct abi_arg *a, struct orch_error *error)
{
    static const enum element_type is_signed[ELEMENT_TYPE_COUNT] = {
        [ELEMENT_U8] = ELEMENT_I8, [ELEMENT_U16] = ELEMENT_I16, [ELEMENT_U32] = ELEMENT_I32, [ELEMENT_U64] = ELEMENT_I64};
    struct abi_arg number = {.type = a->type};
    if (a->type == ELEMENT_U64 && p->kind != PROGRAM_ARG_INTEGER) /* nothing reads it: kernel_arguments.c */
        number.type = p->kind == PROGRAM_ARG_FLOAT ? ELEMENT_F32 : ELEMENT_F64;
    if (p->kind == PROGRAM_ARG_INTEGER && (int64_t)p->bits < 0 && is_signed[a->type])
        number.type = is_signed[a->type];
    if (!set_scalar(p, &number, error))
        return false;
    a->count = 1;
    a->bytes = element_type_bytes(a->type);
    a->unchanged = true;
    a->start = ABI_START_BYTES;
    a->initial = calloc(1, a->bytes);
    if (!a->initial)
        return orch_no_memory(error);
    memcpy(a->initial, number.scalar, a->bytes);
    return true;
}

static bool set_buffer(const struct program_arg *p, struct abi_arg *a, struct orch_error *error)
{
    if (p->kind != PROGRAM_ARG_POINTER && a->constant)
        return set_constant(p, a, error);
    if (p->kind != PROGRAM_ARG_POINTER)
        return orch_fail(error, ORCH_USAGE, "is a buffer: %s:1024, in:FILE.npy, out:%s:1024:FILE.npy ...",
                         element_type_name(a->type), element_type_name(a->type));
    if (p->array.bytes > ABI_BUFFERS_MAX) /* before anybody tries to fill it */
        return orch_fail(error, ORCH_USAGE, "has more than the 8 GiB that can be simulated");
    const enum element_type given = p->bf16 ? ELEMENT_BF16 : element_type_of_npy(p->array.type);
    a->type = given == ELEMENT_TYPE_COUNT ? ELEMENT_U8 : given;
    a->count = p->array.count;
    a->bytes = p->array.bytes;
    a->unchanged = p->read_only;
    a->start = ABI_START_ZEROS;
    const bool zeros = !p->text && !p->array.data && p->fill == PROGRAM_FILL_ZERO;
    if (!zeros) {
        a->start = ABI_START_BYTES;
        a->initial = calloc(1, a->bytes);
        if (!a->initial)
            return orch_no_memory(error);
        program_arg_fill(p, a->initial);
    }
    return set_save(p, a, error);
}

/* Gives a part of threadgroup memory so many bytes, behind what there is. */
static bool place_threadgroup(struct abi_kernel *k, struct abi_arg *a, uint64_t bytes, struct orch_error *error)
{
    const uint64_t begin = round_up(k->threadgroup_memory_bytes, THREADGROUP_ALIGN);
    if (bytes > ABI_GROUP_MEMORY_MAX || begin + bytes > ABI_GROUP_MEMORY_MAX)
        return orch_fail(error, ORCH_USAGE, "%" PRIu64 " bytes of threadgroup memory in all, a threadgroup has at most %u",
                         begin + bytes, ABI_GROUP_MEMORY_MAX);
    memcpy(a->scalar, &begin, sizeof a->scalar);
    k->threadgroup_memory_bytes = (uint32_t)(begin + bytes);
    return true;
}

static bool set_threadgroup(struct abi_kernel *k, struct abi_arg *a, const char *text, struct orch_error *error)
{
    const size_t length = strlen(THREADGROUP_FORM);
    uint64_t bytes;
    char *end;
    if (strncmp(text, THREADGROUP_FORM, length) != 0 || !program_arg_count(text + length, &end, &bytes) || *end)
        return orch_fail(error, ORCH_USAGE, "is threadgroup memory: " THREADGROUP_FORM "BYTES");
    return place_threadgroup(k, a, bytes, error);
}

static bool set_arg(struct abi_kernel *k, unsigned i, const char *text, struct orch_error *error)
{
    struct abi_arg *const a = &k->arg[i];
    struct program_arg p;
    if (a->threadgroup) {
        k->hash = checksum_add(k->hash, text, strlen(text) + 1);
        return set_threadgroup(k, a, text, error) || orch_fail_in(error, "argument '%.80s': %s", text, a->name);
    }
    if (!program_arg_parse(text, &p, error))
        return false;
    const bool ok = (a->buffer ? set_buffer : set_scalar)(&p, a, error);
    program_arg_release(&p);
    k->hash = checksum_add(k->hash, text, strlen(text) + 1);
    if (ok && a->initial)
        k->hash = checksum_add(k->hash, a->initial, a->bytes);
    return ok || orch_fail_in(error, "argument '%.80s': %s", text, a->name);
}

/* The axis of an argument with this name in front of "_x"; -1 for another. */
static int axis(const struct abi_arg *a, const char *name)
{
    const size_t length = strlen(name);
    const char *const end = a->name + length;
    const bool is =
        !a->buffer && strncmp(a->name, name, length) == 0 && end[0] == '_' && end[1] >= 'x' && end[1] <= 'z' && !end[2];
    return is ? end[1] - 'x' : -1;
}

bool kernel_launch_is_table(const struct abi_arg *a)
{
    const size_t length = strlen(AGX_TABLE "_");
    const char *const number = a->name + length;
    return a->buffer && strncmp(a->name, AGX_TABLE "_", length) == 0 && *number && strspn(number, "0123456789") == strlen(number);
}

bool kernel_launch_knows(const struct abi_arg *a)
{
    return kernel_launch_is_table(a) || axis(a, AGX_GLOBAL_SIZE) >= 0 || axis(a, AGX_GROUP_COUNT) >= 0;
}

void kernel_launch_sizes(struct abi_kernel *k)
{
    for (unsigned i = 0; i < k->args; i++) {
        const int threads = axis(&k->arg[i], AGX_GLOBAL_SIZE), groups = axis(&k->arg[i], AGX_GROUP_COUNT);
        const uint32_t number = threads >= 0 ? k->grid[threads] : groups >= 0 ? (k->grid[groups] - 1) / k->group[groups] + 1 : 0;
        if (number)
            memcpy(k->arg[i].scalar, &number, sizeof number);
    }
}

static bool set_args(struct abi_kernel *k, const struct kernel_launch *l, struct orch_error *error)
{
    uint64_t bytes = 0;
    unsigned count = 0;
    while (count < k->args && !kernel_launch_knows(&k->arg[count])) /* those behind are the launch's */
        count++;
    if (l->arg_count != count) {
        orch_fail(error, ORCH_USAGE, "%s has %u argument%s, not %zu:", k->name, count, count == 1 ? "" : "s", l->arg_count);
        for (unsigned i = 0; i < count; i++)
            orch_fail_more(error, " %s (%s%s)", k->arg[i].name, k->arg[i].buffer ? "buffer of " : "",
                           k->arg[i].threadgroup ? "threadgroup memory" : element_type_name(k->arg[i].type));
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!set_arg(k, i, l->args[i], error))
            return false;
        bytes += k->arg[i].bytes;
        if (bytes > ABI_BUFFERS_MAX)
            return orch_fail(error, ORCH_USAGE,
                             "argument '%.80s': %s: the buffers have more than the 8 GiB that can be simulated", l->args[i],
                             k->arg[i].name);
    }
    return true;
}

/* ---- the whole ---- */

static void add_sizes(struct abi_kernel *k)
{
    kernel_launch_sizes(k);
    k->hash = checksum_add(k->hash, k->grid, sizeof k->grid);
    k->hash = checksum_add(k->hash, k->group, sizeof k->group);
}

bool kernel_launch_complete(struct abi_kernel *k, const struct kernel_launch *l, struct orch_error *error)
{
    if (!set_group(k, l->group, error) || !set_grid(k, l->grid, error) || !set_args(k, l, error))
        return false;
    add_sizes(k);
    return true;
}

bool kernel_launch_outline(struct abi_kernel *k, const struct kernel_launch *l, struct orch_error *error)
{
    static const uint32_t usual[3] = {32, 1, 1};
    const uint32_t *const group = l->group[0] || k->group[0] ? l->group : usual;
    if (!set_group(k, group, error) || !set_grid(k, l->grid[0] ? l->grid : k->group, error))
        return false;
    add_sizes(k);
    if (l->arg_count)
        return set_args(k, l, error);
    const uint64_t threads = (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
    for (unsigned i = 0; i < k->args; i++) {
        const uint64_t group_threads = (uint64_t)k->group[0] * k->group[1] * k->group[2];
        if (k->arg[i].threadgroup && !place_threadgroup(k, &k->arg[i], group_threads * THREADGROUP_USUAL, error))
            return false;
        if (!k->arg[i].buffer || kernel_launch_is_table(&k->arg[i]))
            continue;
        k->arg[i].count = threads;
        k->arg[i].bytes = threads * element_type_bytes(k->arg[i].type);
        if (k->arg[i].bytes > ABI_BUFFERS_MAX)
            return orch_fail(error, ORCH_USAGE, "an element of %s for each thread is more than the 8 GiB that can be simulated",
                             k->arg[i].name);
    }
    return true;
}
