/* Compiled kernels of a session: what orchard_compile makes, and launches of it. */
#include "sim/run/kinds/session_internal.h"

#include "isa/array_count.h"
#include "sim/base/suggest.h"
#include "sim/compile/compile.h"
#include "sim/compile/kernel_launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct orchard_kernel {
    struct compile_result result;
};

/* ---- compiling ---- */

static bool unknown(const char *text, struct orch_error *e)
{
    static const char *const names[] = {"entry", "define", "include", "constant", "optimise", "fast-math", "fresh"};
    char name[64], phrase[96];
    struct suggest s;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
    suggest_start(&s, name);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        suggest_offer(&s, names[i]);
    return orch_fail(e, ORCH_USAGE, "unknown option '%s' of a kernel%s", name, suggest_phrase(&s, phrase, sizeof phrase));
}

/* Lists have room for all options. */
static bool read_option(const char *text, struct compile_request *q, const char **define, const char **include,
                        const char **constant, struct orch_error *e)
{
    const size_t length = strcspn(text, "=");
    const char *const value = text[length] ? text + length + 1 : NULL;
    const bool is_switch = strcmp(text, "fast-math") == 0 || strcmp(text, "fresh") == 0;
    if (!value && !is_switch)
        return orch_fail(e, ORCH_USAGE, "option '%.60s' of a kernel: expected NAME=VALUE", text);
    q->fast_math |= strcmp(text, "fast-math") == 0;
    q->fresh |= strcmp(text, "fresh") == 0;
    if (is_switch)
        return true;
    if (strncmp(text, "entry=", 6) == 0)
        q->entry = value;
    else if (strncmp(text, "define=", 7) == 0)
        define[q->defines++] = value;
    else if (strncmp(text, "include=", 8) == 0)
        include[q->includes++] = value;
    else if (strncmp(text, "constant=", 9) == 0)
        constant[q->constants++] = value;
    else if (strncmp(text, "optimise=", 9) == 0 && strchr("0123", value[0]) && value[0] && !value[1])
        q->optimise = (unsigned)(value[0] - '0');
    else if (strncmp(text, "optimise=", 9) == 0)
        return orch_fail(e, ORCH_USAGE, "option optimise=%.40s: expected 0 to 3", value);
    else
        return unknown(text, e);
    return true;
}

static bool compile(const char *name, const char *source, const char *const *options, struct compile_result *r,
                    struct orch_error *e)
{
    size_t count = 0;
    while (options && options[count])
        count++;
    const char **const list = calloc(3 * count + 1, sizeof *list);
    struct compile_request q = {.path = name,
                                .text = source,
                                .text_bytes = source ? strlen(source) : 0,
                                .optimise = 2,
                                .define = list,
                                .include = list + count,
                                .constant = list + 2 * count};
    bool ok = list != NULL || orch_no_memory(e);
    for (size_t i = 0; ok && i < count; i++)
        ok = read_option(options[i], &q, list, list + count, list + 2 * count, e);
    ok = ok && compile_source(&q, r, e);
    free(list);
    return ok;
}

struct orchard_kernel *orchard_compile(const char *name, const char *source, const char *const *options,
                                       struct orchard_error *error)
{
    struct orch_error e = {0};
    struct orchard_kernel *const k = calloc(1, sizeof *k);
    if (!k)
        orch_no_memory(&e);
    if (k && compile(name, source, options, &k->result, &e))
        return k;
    session_hand_over(error, &e);
    orchard_kernel_free(k);
    return NULL;
}

void orchard_kernel_free(struct orchard_kernel *k)
{
    if (k)
        compile_result_free(&k->result);
    free(k);
}

/* ---- looking at it ---- */

/* Those that the caller gives; sizes of the launch lie behind. */
static size_t arguments(const struct abi_kernel *k)
{
    size_t count = 0;
    while (count < k->args && !kernel_launch_knows(&k->arg[count]))
        count++;
    return count;
}

void orchard_kernel_info(const struct orchard_kernel *kernel, struct orchard_kernel_info *info)
{
    const struct compile_result *const r = &kernel->result;
    const struct abi_kernel *const k = &r->kernel;
    *info = (struct orchard_kernel_info){.name = k->name,
                                         .code = k->code,
                                         .code_bytes = k->code_bytes,
                                         .registers = k->register_halves,
                                         .spills = r->spills,
                                         .stack_bytes = 4 * k->stack_words,
                                         .threadgroup_bytes = k->threadgroup_memory_bytes,
                                         .arguments = arguments(k),
                                         .warnings = r->warnings,
                                         .cached = r->cached};
    memcpy(info->group, k->group, sizeof info->group);
}

static enum orchard_argument_kind kind_of(const struct abi_arg *a)
{
    return a->threadgroup ? ORCHARD_ARGUMENT_THREADGROUP
           : !a->buffer   ? ORCHARD_ARGUMENT_NUMBER
           : a->constant  ? ORCHARD_ARGUMENT_CONSTANT
                          : ORCHARD_ARGUMENT_BUFFER;
}

bool orchard_kernel_argument(const struct orchard_kernel *kernel, size_t index, struct orchard_kernel_argument *argument)
{
    const struct abi_kernel *const k = &kernel->result.kernel;
    if (index >= arguments(k))
        return false;
    *argument = (struct orchard_kernel_argument){
        .name = k->arg[index].name, .kind = kind_of(&k->arg[index]), .type = element_type_name(k->arg[index].type)};
    return true;
}

/* ---- launches ---- */

/* A copy of what was compiled; its arguments have no contents yet. */
static struct abi_kernel *copy_kernel(const struct abi_kernel *from, struct orch_error *e)
{
    struct abi_kernel *const k = malloc(sizeof *k);
    if (!k) {
        orch_no_memory(e);
        return NULL;
    }
    *k = *from;
    k->path = strdup(from->path);
    k->code = malloc(from->code_bytes + 1);
    if (k->path && k->code) {
        memcpy(k->code, from->code, from->code_bytes);
        return k;
    }
    abi_kernel_free(k);
    free(k);
    orch_no_memory(e);
    return NULL;
}

void session_free_kernel(struct session_job *j)
{
    if (j->kernel)
        abi_kernel_free(j->kernel);
    free(j->kernel);
}

/* Bytes from the address to the end of what orchard_alloc gave; 0 = it is in none. */
static uint64_t reach(const struct orchard *o, uint64_t address)
{
    for (size_t i = 0; i < o->blocks; i++)
        if (address >= o->block[i].address && address - o->block[i].address < o->block[i].bytes)
            return o->block[i].bytes - (address - o->block[i].address);
    return 0;
}

/* A value in the form that people write. */
static bool write_value(const struct orchard *o, const struct abi_arg *a, const struct orchard_kernel_value *v, char text[80],
                        struct orch_error *e)
{
    const uint64_t bytes = a->buffer ? reach(o, v->buffer) : 0, each = element_type_bytes(a->type);
    if (a->buffer && (v->buffer || !a->constant)) {
        if (!bytes)
            return orch_fail(e, ORCH_USAGE, "%s: 0x%" PRIx64 " lies in no buffer of orchard_alloc", a->name, v->buffer);
        if (v->buffer % each)
            return orch_fail(e, ORCH_USAGE, "%s: 0x%" PRIx64 " is no multiple of %" PRIu64 ", as %s need it", a->name, v->buffer,
                             each, element_type_name(a->type));
        if (bytes % each)
            snprintf(text, 80, "buf:%" PRIu64, bytes);
        else
            snprintf(text, 80, "%s:%" PRIu64, element_type_name(a->type), bytes / each);
    } else if (a->threadgroup) {
        snprintf(text, 80, "threadgroup:%" PRId64, v->integer);
    } else if (element_type_float(a->type)) {
        snprintf(text, 80, "%+.17gd", v->number); /* the sign makes a number of inf and nan */
    } else {
        snprintf(text, 80, "%" PRId64, v->integer);
    }
    return true;
}

static bool complete(const struct orchard *o, struct session_job *j, const struct orchard_kernel_launch *l, struct orch_error *e)
{
    struct abi_kernel *const k = j->kernel;
    char text[ABI_ARGS_MAX][80];
    const char *args[ABI_ARGS_MAX];
    struct kernel_launch launch = {.args = args, .arg_count = l->values};
    const size_t count = arguments(k);
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = i && l->grid[0] && !l->grid[i] ? 1 : l->grid[i];
        launch.group[i] = i && l->group[0] && !l->group[i] ? 1 : l->group[i];
    }
    for (size_t i = 0; i < l->values && i < count; i++) {
        if (!write_value(o, &k->arg[i], &l->value[i], text[i], e))
            return orch_fail_in(e, "%.60s", k->name);
        args[i] = text[i];
        j->buffer[i] = k->arg[i].buffer ? l->value[i].buffer : 0;
    }
    if (l->values != count) /* says what is missing */
        for (size_t i = 0; i < l->values && i < ABI_ARGS_MAX; i++)
            args[i] = "";
    if (!kernel_launch_complete(k, &launch, e))
        return false;
    for (size_t i = 0; i < count; i++)
        k->arg[i].unchanged = k->arg[i].buffer && !j->buffer[i]; /* buffers are the caller's, and change */
    return true;
}

int orchard_enqueue_kernel(struct orchard *o, const struct orchard_kernel *kernel, const struct orchard_kernel_launch *launch,
                           struct orchard_error *error)
{
    struct orch_error e = {0};
    struct session_job *const j = session_new_job(o, kernel->result.kernel.path, &e);
    bool ok = j && (j->kernel = copy_kernel(&kernel->result.kernel, &e)) && complete(o, j, launch, &e);
    ok = ok && (!(launch->values_only && launch->timing_only) ||
                orch_fail(&e, ORCH_USAGE, "values_only and timing_only exclude each other"));
    if (ok) {
        j->request.kernel = j->kernel;
        j->request.mode = launch->timing_only ? RUN_TIMING : launch->values_only ? RUN_FUNCTIONAL : RUN_FULL;
        j->request.sanitize = launch->sanitize;
    }
    return session_accept(o, j, &e, error);
}
