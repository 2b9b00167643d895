#include "sim/run/gpu/own_kernel.h"

#include "sim/base/checksum.h"
#include "sim/base/suggest.h"
#include "sim/compile/compile_lines.h"
#include "sim/compile/kernel_launch.h"
#include "sim/run/run_internal.h"
#include "sim/workload/gpu/gpu_functional.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_GROUP = 256, FORM_BYTES = 64 };

/* ---- which file ---- */

static bool find_file(struct own_kernel *own, const struct run_request *q, const struct gpu_library *library,
                      struct orch_error *error)
{
    const char *const name = library->request.info->name;
    const size_t length = strlen(name);
    for (size_t i = 0; i < q->own_count; i++) {
        const char *const text = q->own[i], *const equals = strchr(text, '=');
        if (!equals || equals == text || !equals[1])
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("kernel") " %.100s: expected OPERATOR=FILE, as in %s=my.metal", text,
                             name);
        if (!gpu_kernel_find(text, (size_t)(equals - text))) {
            char word[64], phrase[96];
            struct suggest s;
            snprintf(word, sizeof word, "%.*s", (int)(equals - text), text);
            suggest_start(&s, word);
            for (size_t k = 0; k < gpu_kernel_count(); k++)
                suggest_offer(&s, gpu_kernel_at(k)->name);
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("kernel") " %.100s: the GPU library has no operator %s%s", text, word,
                             suggest_phrase(&s, phrase, sizeof phrase));
        }
        if ((size_t)(equals - text) == length && strncmp(text, name, length) == 0)
            own->file = equals + 1;
    }
    return !q->own_count || own->file ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("kernel") " %.100s: there is no such operator in %.100s", q->own[0],
                     library->text);
}

/* ---- arguments ---- */

static bool is_operand(const struct gpu_library *library, unsigned buffer)
{
    return library->kernel.buffer[buffer].role != GPU_BUFFER_SCRATCH;
}

/* "softmax takes x, out, then rows, cols ..." */
static bool wrong_arguments(const struct own_kernel *own, const struct gpu_library *l, unsigned has, struct orch_error *error)
{
    const struct gpu_kernel_info *const info = l->request.info;
    orch_fail(error, ORCH_USAGE, "%.200s: %s has %u argument%s; a kernel for %s takes the buffers", own->file, own->kernel.name,
              has, has == 1 ? "" : "s", info->name);
    for (unsigned i = 0; i < l->kernel.buffers; i++)
        if (is_operand(l, i))
            orch_fail_more(error, " %s", l->kernel.buffer[i].name);
    orch_fail_more(error, ", then as many as it wants of the numbers");
    for (const struct kernel_parameter *p = info->parameter; p->name; p++)
        orch_fail_more(error, " %s", p->name);
    return false;
}

static bool wrong_kind(const struct own_kernel *own, const struct abi_arg *a, const char *wanted, const char *name,
                       struct orch_error *error)
{
    return orch_fail(error, ORCH_USAGE, "%.200s: argument %s of %s stands for the %s %s, but is %s", own->file, a->name,
                     own->kernel.name, wanted, name,
                     a->threadgroup ? "threadgroup memory"
                     : a->buffer    ? "a buffer"
                                    : "a number");
}

/* A buffer as its form: "f32:4096". */
static bool operand_form(const struct own_kernel *own, const struct gpu_library *l, unsigned buffer, const struct abi_arg *a,
                         char form[FORM_BYTES], struct orch_error *error)
{
    const struct gpu_kernel_buffer *const b = &l->kernel.buffer[buffer];
    if (!a->buffer)
        return wrong_kind(own, a, "buffer", b->name, error);
    snprintf(form, FORM_BYTES, "buf:%" PRIu64, gpu_type_bytes(b->type, b->count));
    return true;
}

static bool number_form(const struct own_kernel *own, const struct gpu_library *l, unsigned number, const struct abi_arg *a,
                        char form[FORM_BYTES], struct orch_error *error)
{
    const struct kernel_parameter *const p = &l->request.info->parameter[number];
    if (a->threadgroup || (a->buffer && !a->constant))
        return wrong_kind(own, a, "number", p->name, error);
    if (p->decimal)
        snprintf(form, FORM_BYTES, "%+.17gd", l->request.decimal[number]);
    else
        snprintf(form, FORM_BYTES, "%" PRId64, l->request.value[number]);
    return true;
}

static unsigned given_arguments(const struct abi_kernel *k)
{
    unsigned count = 0;
    while (count < k->args && !kernel_launch_knows(&k->arg[count]))
        count++;
    return count;
}

/* Writes the forms of all arguments; *count of them. */
static bool write_forms(struct own_kernel *own, const struct gpu_library *l, char (*form)[FORM_BYTES], unsigned *count,
                        struct orch_error *error)
{
    const struct abi_kernel *const k = &own->kernel;
    const unsigned has = given_arguments(k);
    unsigned next = 0;
    for (unsigned i = 0; i < l->kernel.buffers; i++) {
        if (!is_operand(l, i))
            continue;
        if (next == has)
            return wrong_arguments(own, l, has, error);
        own->place[next] = i;
        if (!operand_form(own, l, i, &k->arg[next], form[next], error))
            return false;
        next++;
    }
    for (unsigned p = 0; next < has; p++, next++) {
        if (!l->request.info->parameter[p].name)
            return wrong_arguments(own, l, has, error);
        if (!number_form(own, l, p, &k->arg[next], form[next], error))
            return false;
    }
    *count = next;
    return true;
}

/* A thread for each element of the first output, unless the launch is stated. */
static void choose_sizes(const struct run_request *q, const struct abi_kernel *k, const struct gpu_library *l,
                         struct kernel_launch *launch)
{
    static const uint32_t usual[3] = {USUAL_GROUP, 1, 1};
    if (q->launch) {
        memcpy(launch->grid, q->launch->grid, sizeof launch->grid);
        memcpy(launch->group, q->launch->group, sizeof launch->group);
    }
    if (!launch->group[0] && !k->group[0])
        memcpy(launch->group, usual, sizeof usual);
    for (unsigned i = 0; !launch->grid[0] && i < l->kernel.buffers; i++) {
        const struct gpu_kernel_buffer *const b = &l->kernel.buffer[i];
        if (b->role != GPU_BUFFER_OUTPUT && b->role != GPU_BUFFER_IN_OUT)
            continue;
        launch->grid[0] = b->count < UINT32_MAX ? (uint32_t)b->count : UINT32_MAX;
        launch->grid[1] = launch->grid[2] = 1;
    }
}

/* ---- opening ---- */

static bool compile(struct own_kernel *own, struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct compile_request how = {.optimise = 2};
    struct compile_result r;
    if (q->source)
        how = *q->source;
    how.path = own->file;
    how.entry = q->entry;
    const bool ok = compile_source(&how, &r, error) && compile_lines(&r, &how, &r.kernel.source, error);
    if (ok) {
        own->kernel = r.kernel;
        r.kernel = (struct abi_kernel){.path = NULL};
    }
    compile_result_free(&r);
    return ok;
}

static bool bind(struct own_kernel *own, struct run *run, const struct gpu_library *l, struct orch_error *error)
{
    struct abi_kernel *const k = &own->kernel;
    char(*const form)[FORM_BYTES] = calloc(ABI_ARGS_MAX, sizeof *form);
    const char *args[ABI_ARGS_MAX];
    struct kernel_launch launch = {.args = args};
    unsigned count = 0;
    bool ok = form ? write_forms(own, l, form, &count, error) : orch_no_memory(error);
    for (unsigned i = 0; ok && i < count; i++)
        args[i] = form[i];
    launch.arg_count = count;
    choose_sizes(run->request, k, l, &launch);
    ok = ok && kernel_launch_complete(k, &launch, error);
    free(form);
    return ok;
}

/* A description has code, sizes and numbers; its buffers become the operator's. */
static bool bind_description(struct own_kernel *own, const struct gpu_library *l, struct orch_error *error)
{
    struct abi_kernel *const k = &own->kernel;
    unsigned next = 0;
    for (unsigned i = 0; i < l->kernel.buffers; i++) {
        const struct gpu_kernel_buffer *const b = &l->kernel.buffer[i];
        if (!is_operand(l, i))
            continue;
        if (next == k->args)
            return wrong_arguments(own, l, k->args, error);
        struct abi_arg *const a = &k->arg[next];
        if (!a->buffer)
            return wrong_kind(own, a, "buffer", b->name, error);
        own->place[next++] = i;
        a->bytes = gpu_type_bytes(b->type, b->count);
        a->count = a->bytes / element_type_bytes(a->type);
        a->start = ABI_START_ZEROS;
        a->has_digest = false;
        free(a->expected);
        a->expected = NULL;
    }
    for (; next < k->args; next++)
        if (k->arg[next].buffer)
            return wrong_kind(own, &k->arg[next], "number", "behind the buffers", error);
    return true;
}

bool own_kernel_open(struct own_kernel *own, struct run *run, const struct gpu_library *library, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    enum compile_language language;
    enum gpu_generation generation;
    struct abi_target target;
    if (!find_file(own, q, library, error))
        return false;
    if (!own->file)
        return true;
    const bool source = compile_language_of(own->file, &language);
    const bool ok = source
                        ? compile(own, run, error) && bind(own, run, library, error)
                        : run_gpu_target(q->chip, &target, &generation, error) &&
                              abi_kernel_open(&own->kernel, own->file, &target, error) && bind_description(own, library, error);
    for (unsigned i = 0; ok && i < own->kernel.args; i++) /* operands are the operator's, and roles say which change */
        if (own->kernel.arg[i].buffer && !own->kernel.arg[i].initial)
            own->kernel.arg[i].unchanged = false;
    return ok;
}

void own_kernel_free(struct own_kernel *own)
{
    abi_kernel_free(&own->kernel);
    for (unsigned i = 0; i < GPU_KERNEL_BUFFERS; i++)
        free(own->expected[i]);
}

/* ---- results ---- */

static bool run_library_step(const struct run_chain *c, const struct gpu_library *l, unsigned number, const uint64_t *address)
{
    uint64_t given[ABI_ARGS_MAX] = {0};
    for (unsigned i = 0; i < l->step[number].args; i++)
        if (l->step[number].arg[i].buffer)
            given[i] = address[l->place[number][i].buffer] + l->place[number][i].offset_bytes;
    return run_chain_execute(c, &l->step[number], given);
}

bool own_kernel_expect(struct own_kernel *own, const struct run_chain *c, const struct gpu_library *l, const uint64_t *address)
{
    uint8_t *before[GPU_KERNEL_BUFFERS] = {NULL};
    bool ok = true;
    for (unsigned i = 0; ok && i < l->kernel.buffers; i++) {
        const uint64_t bytes = gpu_type_bytes(l->kernel.buffer[i].type, l->kernel.buffer[i].count);
        before[i] = malloc(bytes);
        ok = before[i] != NULL || orch_no_memory(c->error);
        if (ok)
            memcpy(before[i], mem_at(c->space, address[i], bytes, MEM_READ), bytes);
    }
    for (unsigned s = 0; ok && s < l->kernel.steps; s++)
        ok = run_library_step(c, l, s, address);
    for (unsigned i = 0; i < l->kernel.buffers; i++) {
        const uint64_t bytes = gpu_type_bytes(l->kernel.buffer[i].type, l->kernel.buffer[i].count);
        uint8_t *const at = mem_at(c->space, address[i], bytes, MEM_READ | MEM_WRITE);
        if (ok && (own->expected[i] = malloc(bytes)))
            memcpy(own->expected[i], at, bytes);
        ok = ok && (own->expected[i] || orch_no_memory(c->error));
        if (before[i] && at)
            memcpy(at, before[i], bytes);
        free(before[i]);
    }
    return ok;
}

/* Sums may be made in another order: what counts is the difference against the largest value (as the checks of networks count).
 */
static struct abi_compare rule(enum gpu_type type, uint64_t count, const uint8_t *expected)
{
    static const struct {
        enum element_type element;
        double share;
    } rows[GPU_TYPE_COUNT] = {
        [GPU_F32] = {ELEMENT_F32, 2e-4}, [GPU_F16] = {ELEMENT_F16, 2e-2}, [GPU_BF16] = {ELEMENT_BF16, 2e-2}};
    double most = 0;
    if (!(rows[type].share > 0))
        return (struct abi_compare){.mode = ABI_COMPARE_BITS};
    for (uint64_t i = 0; i < count; i++) {
        const double value = fabs(element_read(rows[type].element, expected + i * element_type_bytes(rows[type].element)));
        most = isfinite(value) && value > most ? value : most;
    }
    return (struct abi_compare){.mode = ABI_COMPARE_TOL, .atol = rows[type].share * most};
}

static enum element_type element_of(enum gpu_type type)
{
    return type == GPU_F32    ? ELEMENT_F32
           : type == GPU_F16  ? ELEMENT_F16
           : type == GPU_BF16 ? ELEMENT_BF16
           : type == GPU_I32  ? ELEMENT_I32
           : type == GPU_U32  ? ELEMENT_U32
                              : ELEMENT_U8;
}

/* What a kernel may not change has to be what it was. */
static bool as_expected(const struct own_kernel *own, const struct run_chain *c, const struct gpu_kernel_buffer *b,
                        unsigned number, uint64_t address, char *why, size_t size)
{
    const uint64_t bytes = gpu_type_bytes(b->type, b->count);
    const enum element_type element = element_of(b->type);
    const struct abi_compare exact = {.mode = ABI_COMPARE_BITS};
    const struct abi_compare r = b->role == GPU_BUFFER_INPUT ? exact : rule(b->type, b->count, own->expected[number]);
    return abi_compare(&r, element, bytes / element_type_bytes(element), mem_at(c->space, address, bytes, MEM_READ),
                       own->expected[number], why, size);
}

bool own_kernel_compare(const struct own_kernel *own, const struct run_chain *c, const struct gpu_library *l,
                        const uint64_t *address)
{
    unsigned outputs = 0, right = 0;
    for (unsigned i = 0; i < l->kernel.buffers; i++) {
        char why[256], text[RUN_REMARK_BYTES];
        const struct gpu_kernel_buffer *const b = &l->kernel.buffer[i];
        if (!is_operand(l, i))
            continue;
        const bool same = as_expected(own, c, b, i, address[i], why, sizeof why), output = b->role != GPU_BUFFER_INPUT;
        snprintf(text, sizeof text, "%.60s: %s: %.200s", own->kernel.name, b->name, same ? "" : why);
        if (!same && !run_add_remark(c->run, text, c->error))
            return false;
        outputs += output || !same;
        right += output && same;
    }
    return (run_values_add(&c->result->counters, RUN_COUNTER_EXPECTED, outputs) &&
            run_values_add(&c->result->counters, RUN_COUNTER_AS_EXPECTED, right)) ||
           orch_no_memory(c->error);
}
