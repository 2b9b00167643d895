#include "isa/array_count.h"
#include "sim/workload/gpu/abi_internal.h"

#include "sim/base/checksum.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const known_members[] = {"name",
                                            "isa",
                                            "targets",
                                            "files",
                                            "code_sha256",
                                            "code_g13x_sha256",
                                            "binary_size",
                                            "main",
                                            "preamble",
                                            "constants",
                                            "argument_block_bytes",
                                            "uniform_halfregs_used",
                                            "gpr_halfregs",
                                            "max_threads_per_core_for_gprs",
                                            "threadgroup_memory_bytes",
                                            "stack_words_per_thread",
                                            "uses_global_atomics",
                                            "special_registers",
                                            "mnemonics",
                                            "launch",
                                            "args",
                                            "notes",
                                            "cross_checked",
                                            "reference_run"};

/* ---- launch ---- */

/* One to three numbers; missing ones are 1. */
static bool read_extent(const struct abi_node *node, const char *member, uint32_t extent[3], bool *given)
{
    struct json_object *list;
    *given = false;
    extent[0] = extent[1] = extent[2] = 1;
    if (!abi_array(node, member, &list))
        return false;
    if (!list)
        return true;
    const size_t count = json_object_array_length(list);
    if (count < 1 || count > 3)
        return abi_wrong(node, member, "expected one to three numbers [x, y, z]");
    for (size_t i = 0; i < count; i++) {
        struct json_object *o = json_object_array_get_idx(list, i);
        const int64_t n = o && json_object_is_type(o, json_type_int) ? json_object_get_int64(o) : 0;
        if (n < 1 || n > UINT32_MAX)
            return abi_wrong(node, member, "impossible launch: every number must be from 1 to 4294967295");
        extent[i] = (uint32_t)n;
    }
    *given = true;
    return true;
}

static bool check_group(const struct abi_node *node, const struct abi_kernel *k)
{
    const uint64_t area = (uint64_t)k->group[0] * k->group[1];
    if (area > ABI_GROUP_THREADS_MAX || area * k->group[2] > ABI_GROUP_THREADS_MAX)
        return abi_wrong(node, "threads_per_threadgroup", "impossible launch: %u x %u x %u threads, a threadgroup has at most %d",
                         k->group[0], k->group[1], k->group[2], ABI_GROUP_THREADS_MAX);
    return true;
}

static bool read_grid(const struct abi_node *node, struct abi_kernel *k)
{
    uint32_t groups[3], grid[3];
    bool has_groups, has_grid;
    if (!read_extent(node, "threadgroups", groups, &has_groups) || !read_extent(node, "grid_threads", grid, &has_grid))
        return false;
    if (!has_groups && !has_grid)
        return abi_wrong(node, NULL, "the size of the grid is missing; give threadgroups or grid_threads");
    double threads = 1;
    for (int i = 0; i < 3; i++) {
        const uint64_t all = has_grid ? grid[i] : (uint64_t)groups[i] * k->group[i];
        if (has_grid && has_groups && ((uint64_t)grid[i] + k->group[i] - 1) / k->group[i] != groups[i])
            return abi_wrong(node, "grid_threads",
                             "%u threads in groups of %u are not the %u threadgroups given; keep one of the two", grid[i],
                             k->group[i], groups[i]);
        if (all > UINT32_MAX)
            return abi_wrong(node, "threadgroups", "impossible launch: more than 4294967295 threads in one direction");
        k->grid[i] = (uint32_t)all;
        threads *= (double)all;
    }
    if (threads > 0x1p40)
        return abi_wrong(node, NULL, "impossible launch: more than 2^40 threads");
    return true;
}

static bool read_launch(const struct abi_node *top, struct abi_kernel *k)
{
    struct abi_node node;
    const uint32_t assembled[3] = {k->group[0], k->group[1], k->group[2]}; /* 0 = not stated */
    bool given;
    if (!abi_required(top, "launch", "add \"launch\": {\"threads_per_threadgroup\": [x, y, z], \"threadgroups\": [x, y, z]}") ||
        !abi_object(top, "launch", &node) || !read_extent(&node, "threads_per_threadgroup", k->group, &given))
        return false;
    if (!given && assembled[0])
        memcpy(k->group, assembled, sizeof assembled);
    else if (!given)
        return abi_wrong(&node, "threads_per_threadgroup", "is missing; give [x, y, z] with a product of at most %d",
                         ABI_GROUP_THREADS_MAX);
    return check_group(&node, k) && read_grid(&node, k);
}

/* ---- limits and counts ---- */

static bool read_resources(const struct abi_node *top, struct abi_kernel *k)
{
    if (!abi_whole32(top, "gpr_halfregs", 0, 256, &k->register_halves) ||
        !abi_whole32(top, "threadgroup_memory_bytes", 0, UINT32_MAX, &k->threadgroup_memory_bytes) ||
        !abi_whole32(top, "stack_words_per_thread", 0, 1u << 16, &k->stack_words))
        return false;
    if (k->threadgroup_memory_bytes > ABI_GROUP_MEMORY_MAX)
        return abi_wrong(top, "threadgroup_memory_bytes", "impossible launch: %u bytes, a threadgroup has at most %u",
                         k->threadgroup_memory_bytes, ABI_GROUP_MEMORY_MAX);
    return true;
}

static bool read_mnemonics(const struct abi_node *run, struct abi_kernel *k)
{
    struct abi_node by;
    if (!abi_object(run, "by_mnemonic", &by))
        return false;
    if (!by.object)
        return true;
    k->mnemonic = calloc((size_t)json_object_object_length(by.object) + 1, sizeof *k->mnemonic);
    if (!k->mnemonic)
        return orch_no_memory(run->error);
    json_object_object_foreach(by.object, name, value)
    {
        struct abi_mnemonic *m = &k->mnemonic[k->mnemonics++];
        (void)value;
        if (strlen(name) >= sizeof m->name)
            return abi_wrong(&by, NULL, "\"%.40s\" is no mnemonic", name);
        snprintf(m->name, sizeof m->name, "%s", name);
        if (!abi_whole(&by, name, 0, INT64_MAX, &m->count))
            return false;
    }
    return true;
}

static bool read_reference(const struct abi_node *top, struct abi_kernel *k)
{
    struct abi_node run;
    if (!abi_object(top, "reference_run", &run))
        return false;
    k->has_reference = run.object != NULL;
    return !k->has_reference ||
           (abi_required(&run, "simdgroup_instructions", "give the count or leave reference_run out") &&
            abi_required(&run, "active_lane_instructions", "give the count or leave reference_run out") &&
            abi_whole(&run, "simdgroup_instructions", 0, INT64_MAX, &k->simdgroup_instructions) &&
            abi_whole(&run, "active_lane_instructions", 0, INT64_MAX, &k->active_lane_instructions) && read_mnemonics(&run, k));
}

/* ---- the whole ---- */

/* "sgemm_tiled": stated, else the folder's or the file's own name. */
static bool read_name(const struct abi_node *top, struct abi_kernel *k)
{
    const char *name = NULL;
    char copy[sizeof k->name];
    if (!abi_text(top, "name", &name))
        return false;
    if (!name) {
        const char *slash = strrchr(k->path, '/');
        name = slash ? slash + 1 : k->path;
    }
    snprintf(copy, sizeof copy, "%s", name);
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = '?';
    memcpy(k->name, copy, sizeof copy);
    return true;
}

bool abi_kernel_parse(struct abi_kernel *kernel, const char *path, const char *text, size_t size, const struct abi_files *files,
                      const struct abi_target *target, struct orch_error *error)
{
    struct json_object *document;
    struct orch_error own = {0};
    struct abi_reader reader = {.kernel = kernel, .files = files, .target = target, .error = &own};
    *kernel = (struct abi_kernel){.path = strdup(path), .hash = checksum_fnv1a64(text, size)};
    bool ok = kernel->path != NULL || orch_no_memory(&own);
    ok = ok && abi_json_parse(path, text, size, &document, &own);
    if (ok) {
        const struct abi_node top = {.object = document, .file = path, .error = &own};
        ok = abi_no_misspelling(&top, known_members, ARRAY_COUNT(known_members)) && read_name(&top, kernel) &&
             abi_read_code(&reader, &top) && read_launch(&top, kernel) && read_resources(&top, kernel) &&
             abi_read_args(&reader, &top) && read_reference(&top, kernel);
        json_object_put(document);
    }
    if (reader.assembled)
        agx_assembly_free(&reader.assembly);
    if (!ok && error)
        *error = own;
    return ok;
}

void abi_kernel_free(struct abi_kernel *kernel)
{
    for (unsigned i = 0; i < kernel->args; i++) {
        free(kernel->arg[i].initial);
        free(kernel->arg[i].expected);
    }
    free(kernel->mnemonic);
    free(kernel->code);
    free(kernel->path);
    *kernel = (struct abi_kernel){.path = NULL};
}

#define FILE_BYTES_MAX (UINT64_C(4) << 30)

static bool read_whole(const char *path, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    if (!f)
        return orch_fail(error, ORCH_USAGE, "%.300s: %s", path, strerror(errno));
    bool ok = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%.300s: not a file", path);
    else if ((uint64_t)st.st_size > FILE_BYTES_MAX)
        ok = orch_fail(error, ORCH_USAGE, "%.300s: larger than 4 GiB", path);
    *size = ok ? (size_t)st.st_size : 0;
    *bytes = ok ? malloc(*size + 1) : NULL;
    if (ok && (!*bytes || fread(*bytes, 1, *size, f) != *size))
        ok = orch_fail(error, ORCH_USAGE, "%.300s: cannot be read", path);
    if (ok)
        (*bytes)[*size] = 0;
    else
        free(*bytes);
    fclose(f);
    return ok;
}

/* Files lie beside the description. */
static bool read_beside(void *context, const char *name, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    const char *description = context, *slash = strrchr(description, '/');
    char path[4096];
    if (name[0] == '/' || !slash)
        snprintf(path, sizeof path, "%s", name);
    else
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - description), description, name);
    return read_whole(path, bytes, size, error);
}

bool abi_kernel_open(struct abi_kernel *kernel, const char *path, const struct abi_target *target, struct orch_error *error)
{
    char file[4096];
    struct stat st;
    uint8_t *text;
    size_t size;
    const bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    const size_t length = strlen(path);
    *kernel = (struct abi_kernel){.path = NULL};
    snprintf(file, sizeof file, "%s%s", path, !folder ? "" : length && path[length - 1] == '/' ? "abi.json" : "/abi.json");
    if (!read_whole(file, &text, &size, error))
        return false;
    const struct abi_files files = {read_beside, file};
    const bool ok = abi_kernel_parse(kernel, file, (const char *)text, size, &files, target, error);
    free(text);
    return ok;
}

bool abi_is_description(const uint8_t *text, size_t size)
{
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    return at < size && text[at] == '{';
}

struct abi_arg *abi_kernel_arg(struct abi_kernel *kernel, const char *name)
{
    for (unsigned i = 0; i < kernel->args; i++)
        if (strcmp(kernel->arg[i].name, name) == 0)
            return &kernel->arg[i];
    return NULL;
}

static void drop_expectations(struct abi_kernel *k)
{
    for (unsigned i = 0; i < k->args; i++) {
        free(k->arg[i].expected);
        k->arg[i].expected = NULL;
        k->arg[i].has_digest = k->arg[i].unchanged = false;
    }
    k->has_reference = false;
}

bool abi_kernel_set_input(struct abi_kernel *kernel, const char *name, const char *path, struct orch_error *error)
{
    struct abi_arg *arg = abi_kernel_arg(kernel, name);
    const struct abi_node node = {.file = kernel->path, .place = ORCH_OPTION("input"), .error = error};
    uint8_t *bytes, *data;
    size_t size;
    if (!arg || !arg->buffer)
        return abi_wrong(&node, NULL, "%.40s is no buffer of this kernel", name);
    if (!read_whole(path, &bytes, &size, error))
        return false;
    kernel->hash = checksum_add(kernel->hash, bytes, size);
    if (!abi_take_elements(&node, NULL, path, bytes, size, arg, &data))
        return false;
    free(arg->initial);
    arg->initial = data;
    arg->start = ABI_START_BYTES;
    drop_expectations(kernel);
    return true;
}
