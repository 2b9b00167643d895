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

/* Reads one to three numbers; missing ones are 1. */
static bool read_extent(const struct json_node *node, const char *member, uint32_t extent[3], bool *given)
{
    const struct json_node list = json_find_array(node, member, 0, SIZE_MAX);
    struct json_node item;
    *given = list.value != NULL;
    extent[0] = extent[1] = extent[2] = 1;
    if (*given && (json_count(&list) < 1 || json_count(&list) > 3))
        return json_wrong(node, member, "expected one to three numbers [x, y, z]");
    for (struct json_walk walk = {.of = &list}; json_next(&walk, &item);) {
        const int64_t n = json_object_is_type(item.value, json_type_int) ? json_object_get_int64(item.value) : 0;
        if (n < 1 || n > UINT32_MAX)
            return json_wrong(node, member, "impossible launch: every number must be from 1 to 4294967295");
        extent[item.index] = (uint32_t)n;
    }
    return json_ok(node);
}

static bool check_group(const struct json_node *node, const struct abi_kernel *k)
{
    const uint64_t area = (uint64_t)k->group[0] * k->group[1];
    if (area > ABI_GROUP_THREADS_MAX || area * k->group[2] > ABI_GROUP_THREADS_MAX)
        return json_wrong(node, "threads_per_threadgroup",
                          "impossible launch: %u x %u x %u threads, a threadgroup has at most %d", k->group[0], k->group[1],
                          k->group[2], ABI_GROUP_THREADS_MAX);
    return true;
}

static bool read_grid(const struct json_node *node, struct abi_kernel *k)
{
    uint32_t groups[3], grid[3];
    bool has_groups, has_grid;
    if (!read_extent(node, "threadgroups", groups, &has_groups) || !read_extent(node, "grid_threads", grid, &has_grid))
        return false;
    if (!has_groups && !has_grid)
        return json_wrong(node, NULL, "the size of the grid is missing; give threadgroups or grid_threads");
    double threads = 1;
    for (int i = 0; i < 3; i++) {
        const uint64_t all = has_grid ? grid[i] : (uint64_t)groups[i] * k->group[i];
        if (has_grid && has_groups && ((uint64_t)grid[i] + k->group[i] - 1) / k->group[i] != groups[i])
            return json_wrong(node, "grid_threads",
                              "%u threads in groups of %u are not the %u threadgroups given; keep one of the two", grid[i],
                              k->group[i], groups[i]);
        if (all > UINT32_MAX)
            return json_wrong(node, "threadgroups", "impossible launch: more than 4294967295 threads in one direction");
        k->grid[i] = (uint32_t)all;
        threads *= (double)all;
    }
    if (threads > 0x1p40)
        return json_wrong(node, NULL, "impossible launch: more than 2^40 threads");
    return true;
}

static bool read_launch(const struct json_node *top, struct abi_kernel *k)
{
    const uint32_t assembled[3] = {k->group[0], k->group[1], k->group[2]}; /* 0 = not stated */
    bool given;
    json_require(top, "launch", "add \"launch\": {\"threads_per_threadgroup\": [x, y, z], \"threadgroups\": [x, y, z]}");
    const struct json_node node = json_get_object(top, "launch");
    if (!read_extent(&node, "threads_per_threadgroup", k->group, &given))
        return false;
    if (!given && assembled[0])
        memcpy(k->group, assembled, sizeof assembled);
    else if (!given)
        return json_wrong(&node, "threads_per_threadgroup", "is missing; give [x, y, z] with a product of at most %d",
                          ABI_GROUP_THREADS_MAX);
    return check_group(&node, k) && read_grid(&node, k);
}

/* ---- limits and counts ---- */

static bool read_resources(const struct json_node *top, struct abi_kernel *k)
{
    k->register_halves = (uint32_t)json_find_integer(top, "gpr_halfregs", 0, 256, k->register_halves);
    k->threadgroup_memory_bytes =
        (uint32_t)json_find_integer(top, "threadgroup_memory_bytes", 0, UINT32_MAX, k->threadgroup_memory_bytes);
    k->stack_words = (uint32_t)json_find_integer(top, "stack_words_per_thread", 0, 1u << 16, k->stack_words);
    if (k->threadgroup_memory_bytes > ABI_GROUP_MEMORY_MAX)
        json_wrong(top, "threadgroup_memory_bytes", "impossible launch: %u bytes, a threadgroup has at most %u",
                   k->threadgroup_memory_bytes, ABI_GROUP_MEMORY_MAX);
    return json_ok(top);
}

static bool read_mnemonics(const struct json_node *run, struct abi_kernel *k)
{
    const struct json_node by = json_find_object(run, "by_mnemonic");
    struct json_node item;
    k->mnemonic = calloc(json_count(&by) + 1, sizeof *k->mnemonic);
    if (!k->mnemonic)
        return orch_no_memory(run->reader->error);
    for (struct json_walk walk = {.of = &by}; json_next(&walk, &item);) {
        struct abi_mnemonic *m = &k->mnemonic[k->mnemonics++];
        if (strlen(item.name) >= sizeof m->name)
            return json_wrong(&by, NULL, "\"%.40s\" is not a mnemonic", item.name);
        snprintf(m->name, sizeof m->name, "%s", item.name);
        m->count = json_find_integer(&by, item.name, 0, INT64_MAX, 0);
    }
    return json_ok(run);
}

static bool read_reference(const struct json_node *top, struct abi_kernel *k)
{
    const struct json_node run = json_find_object(top, "reference_run");
    k->has_reference = run.value != NULL;
    if (!k->has_reference)
        return json_ok(top);
    json_require(&run, "simdgroup_instructions", "give the count or leave reference_run out");
    json_require(&run, "active_lane_instructions", "give the count or leave reference_run out");
    k->simdgroup_instructions = json_get_integer(&run, "simdgroup_instructions", 0, INT64_MAX);
    k->active_lane_instructions = json_get_integer(&run, "active_lane_instructions", 0, INT64_MAX);
    return read_mnemonics(&run, k);
}

/* ---- the whole ---- */

/* Takes the name that the description states, such as "sgemm_tiled", otherwise that of its folder or file. */
static bool read_name(const struct json_node *top, struct abi_kernel *k)
{
    const char *name = json_find_string(top, "name", NULL);
    char copy[sizeof k->name];
    if (!name) {
        const char *slash = strrchr(k->path, '/');
        name = slash ? slash + 1 : k->path;
    }
    snprintf(copy, sizeof copy, "%s", name);
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = '?';
    memcpy(k->name, copy, sizeof copy);
    return json_ok(top);
}

static bool parse(struct abi_kernel *kernel, const char *path, const char *text, size_t size, const struct abi_files *files,
                  const struct abi_target *target, bool code, struct orch_error *error)
{
    struct json_reader document;
    struct orch_error own = {0};
    struct abi_reader reader = {.kernel = kernel, .files = files, .target = target, .error = &own};
    *kernel = (struct abi_kernel){.path = strdup(path), .hash = checksum_fnv1a64(text, size)};
    bool ok = kernel->path != NULL || orch_no_memory(&own);
    ok = ok && json_reader_open(&document, path, text, size, &own);
    if (ok) {
        document.null_is_absent = true;
        const struct json_node top = json_top(&document);
        ok = json_no_misspelling(&top, known_members, ARRAY_COUNT(known_members)) && read_name(&top, kernel) &&
             (!code || abi_read_code(&reader, &top)) && read_launch(&top, kernel) && read_resources(&top, kernel) &&
             abi_read_args(&reader, &top) && read_reference(&top, kernel) && abi_source_read(&top, &kernel->source, &own);
        ok = json_reader_close(&document) && ok;
    }
    if (reader.assembled)
        agx_assembly_free(&reader.assembly);
    if (!ok && error)
        *error = own;
    return ok;
}

bool abi_kernel_parse(struct abi_kernel *kernel, const char *path, const char *text, size_t size, const struct abi_files *files,
                      const struct abi_target *target, struct orch_error *error)
{
    return parse(kernel, path, text, size, files, target, true, error);
}

void abi_kernel_free(struct abi_kernel *kernel)
{
    for (unsigned i = 0; i < kernel->args; i++) {
        free(kernel->arg[i].initial);
        free(kernel->arg[i].expected);
        if (kernel->arg[i].save)
            free(kernel->arg[i].save->path);
        free(kernel->arg[i].save);
    }
    free(kernel->mnemonic);
    free(kernel->code);
    free(kernel->path);
    abi_source_free(kernel->source);
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

/* Reads a file that lies beside the description. */
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

static bool open_description(struct abi_kernel *kernel, const char *path, const struct abi_target *target, bool code,
                             struct orch_error *error)
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
    const bool ok = parse(kernel, file, (const char *)text, size, &files, target, code, error);
    free(text);
    return ok;
}

bool abi_kernel_open(struct abi_kernel *kernel, const char *path, const struct abi_target *target, struct orch_error *error)
{
    return open_description(kernel, path, target, true, error);
}

bool abi_kernel_open_launch(struct abi_kernel *kernel, const char *path, struct orch_error *error)
{
    const struct abi_target target = {.name = ""};
    return open_description(kernel, path, &target, false, error);
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
    struct json_reader place = {.file = kernel->path, .error = error, .ok = true};
    const struct json_node node = {.reader = &place, .name = ORCH_OPTION("input")};
    uint8_t *bytes, *data;
    size_t size;
    if (!arg || !arg->buffer)
        return json_wrong(&node, NULL, "%.40s is not a buffer of this kernel", name);
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
