/* Kind "gpu-row": GPU kernels of a user one after another, as sources with their launches or as a file that lists them. All steps
 * are in one command buffer, unless each is to have its own. */
#include "isa/rounding.h"
#include "sim/compile/kernel_row.h"
#include "sim/base/checksum.h"
#include "sim/run/gpu/run_chain.h"
#include "sim/run/run_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(const struct run_file *file)
{
    return !file->is_folder && kernel_row_is(file->bytes, file->size);
}

static bool add_warnings(struct run *run, const char *text, struct orch_error *error)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char remark[RUN_REMARK_BYTES];
        snprintf(remark, sizeof remark, "%.*s", (int)strcspn(line, "\n"), line);
        if (!run_add_remark(run, remark, error))
            return false;
    }
    return true;
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct kernel_row *const row = run->work = calloc(1, sizeof *row);
    struct kernel_row_request wanted = {.step = q->step, .steps = q->steps};
    if (!row)
        return orch_no_memory(error);
    if (q->kernel) {
        snprintf(run->program_name, sizeof run->program_name, "%s", q->kernel->name);
        return kernel_row_of(q->kernel, row, error);
    }
    struct kernel_row_file *const file =
        q->steps ? NULL : kernel_row_read(q->workload, (const char *)run->file.bytes, run->file.size, &wanted, error);
    const bool ok = (q->steps || file) && kernel_row_open(&wanted, row, error) && add_warnings(run, row->warnings, error);
    kernel_row_file_free(file);
    for (unsigned i = 0; ok && i < row->steps; i++) {
        const size_t used = strlen(run->program_name);
        snprintf(run->program_name + used, sizeof run->program_name - used, "%s%s", i ? " + " : "", row->step[i].name);
    }
    return ok;
}

static void close_workload(struct run *run)
{
    kernel_row_free(run->work);
}

/* What a step says itself, or what single launches and other units have. */
static bool check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const char *const option = q->entry && !q->steps       ? "entry"
                               : q->arg_count && !q->steps ? "args"
                               : q->input_count            ? "input"
                               : q->precision              ? "precision"
                               : q->home                   ? "home"
                               : q->cores > 1              ? "cores"
                                                           : NULL;
    if (option)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("%s") " makes no sense for GPU kernels in a row; a step has entry, grid, "
                                           "group and args of its own",
                         option);
    return !q->unit || strcmp(q->unit, "auto") == 0 || strcmp(q->unit, "gpu") == 0 ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("unit") " %s: GPU kernels run on the gpu", q->unit);
}

static uint64_t hash(const struct run *run)
{
    const struct kernel_row *const row = run->work;
    return row->hash;
}

static double bytes(const struct run *run)
{
    return kernel_row_bytes(run->work);
}

/* ---- buffers ---- */

struct operands {
    const struct kernel_row *row;
    uint64_t *address; /* of buffers */
};

/* Buffers of one compiled kernel that a caller has filled are where he says; a file brings its own. */
static bool take_given(struct operands *o, const struct run_given *given, bool compiled, struct orch_error *error)
{
    for (unsigned i = 0; given && i < given->count; i++) {
        if (given->address[i] && !compiled)
            return orch_fail(error, ORCH_USAGE, "kernels in a row bring their own buffers");
        if (compiled && i < o->row->step[0].args && o->row->step[0].arg[i].buffer)
            o->address[o->row->place[0][i]] = given->address[i];
    }
    return true;
}

/* Gives back what place() has taken of a caller's memory. */
static void release(const struct run_chain *c, const struct run_given *given)
{
    const struct operands *const o = c->context;
    for (unsigned i = 0; i < o->row->buffers; i++) {
        bool own = o->address[i] != 0;
        for (unsigned k = 0; k < given->count; k++)
            own &= o->address[i] != given->address[k];
        if (own)
            mem_space_unmap(c->space, o->address[i], round_up(o->row->buffer[i].bytes, MEM_PAGE_BYTES));
    }
}

static bool place(struct run_chain *c)
{
    const struct operands *const o = c->context;
    for (unsigned i = 0; i < o->row->buffers; i++) {
        const struct kernel_row_buffer *const b = &o->row->buffer[i];
        if (o->address[i])
            continue;
        o->address[i] = mem_space_alloc(c->space, b->bytes, MEM_PAGE_BYTES);
        uint8_t *const at = o->address[i] ? mem_at(c->space, o->address[i], b->bytes, MEM_READ | MEM_WRITE) : NULL;
        if (!at)
            return orch_fail(c->error, ORCH_USAGE, "buffer %s: %.0f bytes do not fit the simulated memory", b->name,
                             (double)b->bytes);
        if (b->initial)
            memcpy(at, b->initial, b->bytes);
    }
    for (unsigned s = 0; s < c->steps; s++)
        for (unsigned i = 0; i < c->step[s].args; i++)
            if (c->step[s].arg[i].buffer)
                c->address[s][i] = o->address[o->row->place[s][i]];
    return true;
}

static bool write_file(const struct kernel_row_buffer *b, const uint8_t *bytes, const char *folder, struct orch_error *error)
{
    char path[PATH_MAX + 128];
    struct npy_array array = {
        .type = element_type_npy(b->type), .dims = 1, .shape = {b->count}, .data = (void *)(uintptr_t)bytes};
    snprintf(path, sizeof path, "%s/%s.npy", folder, b->name);
    return run_output_folder(folder, error) && npy_measure(&array) && npy_save(path, &array, error);
}

/* Of a buffer that is no input. */
static bool hand_over_one(struct run_chain *c, const struct kernel_row_buffer *b, const uint8_t *at, unsigned *files)
{
    const char *const folder = c->run->request->output_folder;
    if (!run_checksum_add(&c->result->checksum, b->name, checksum_fnv1a64(at, b->bytes)))
        return orch_no_memory(c->error);
    if (folder && !write_file(b, at, folder, c->error))
        return false;
    if (b->save) {
        struct npy_array array = b->save->array;
        array.data = (void *)(uintptr_t)at;
        if (!npy_save(b->save->path, &array, c->error))
            return false;
    }
    *files += (folder != NULL) + (b->save != NULL);
    return true;
}

/* Inputs have to be what they were, and others what is expected. False when memory is out. */
static bool compare_one(struct run_chain *c, const struct kernel_row_buffer *b, const uint8_t *at, unsigned *expected,
                        unsigned *right)
{
    const struct kernel_row *const row = c->run->work;
    const struct abi_compare same = {.mode = ABI_COMPARE_BITS};
    const uint8_t *const wanted = b->read_only ? b->initial : b->expected;
    char why[256], text[RUN_REMARK_BYTES];
    if (!wanted)
        return true;
    const bool is = abi_compare(b->read_only ? &same : &row->compare, b->type, b->count, at, wanted, why, sizeof why);
    ++*expected;
    *right += is;
    if (is)
        return true;
    snprintf(text, sizeof text, "buffer %s%s: %s", b->name,
             b->read_only ? " is an input (in:), and a step has written to it" : "", why);
    return run_add_remark(c->run, text, c->error);
}

static bool hand_over(struct run_chain *c)
{
    const struct operands *const o = c->context;
    unsigned files = 0, expected = 0, right = 0;
    if (c->given)
        return true;
    for (unsigned i = 0; i < o->row->buffers; i++) {
        const struct kernel_row_buffer *const b = &o->row->buffer[i];
        const uint8_t *const at = mem_at(c->space, o->address[i], b->bytes, MEM_READ);
        if (b->number)
            continue;
        if ((!b->read_only && !hand_over_one(c, b, at, &files)) || !compare_one(c, b, at, &expected, &right))
            return false;
    }
    return ((!files || run_values_add(&c->result->counters, RUN_COUNTER_FILES, files)) &&
            (!expected || (run_values_add(&c->result->counters, RUN_COUNTER_EXPECTED, expected) &&
                           run_values_add(&c->result->counters, RUN_COUNTER_AS_EXPECTED, right)))) ||
           orch_no_memory(c->error);
}

static bool time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                    struct orch_error *error)
{
    const struct kernel_row *const row = run->work;
    struct operands operands = {.row = row, .address = calloc(row->buffers + 1, sizeof *operands.address)};
    struct run_chain c = {.run = run,
                          .step = row->step,
                          .steps = row->steps,
                          .address = calloc(row->steps, sizeof *c.address),
                          .space = given ? given->space : run_space_create(run, error),
                          .sum = m,
                          .result = result,
                          .error = error,
                          .why = "GPU machine code runs on the GPU",
                          .contents = true,
                          .given = given != NULL,
                          .separate = run->request->step_buffers,
                          .tell_steps = true,
                          .hand_over = hand_over,
                          .context = &operands};
    bool ok = (operands.address && c.address) || orch_no_memory(error);
    ok = ok && take_given(&operands, given, run->request->kernel, error);
    ok = ok && c.space && run_gpu_generation(run, &c.generation, result, error) && place(&c) && run_chain(&c);
    run->gpu_bytes = ok ? kernel_row_bytes(row) : 0;
    if (given && operands.address)
        release(&c, given);
    else if (!given)
        run_space_free(c.space, run, m);
    free(operands.address);
    free(c.address);
    return ok;
}

const struct run_kind run_kind_gpu_row = {
    .name = "gpu-row",
    .program_kind = "agx",
    .part = PART_GPU,
    .may_sample = true,
    .takes_buffers = true,
    .recognise = recognise,
    .open = open_workload,
    .close = close_workload,
    .check = check,
    .hash = hash,
    .bytes = bytes,
    .work = run_work_by_stalls,
    .time_in = time_in,
    .account = run_gpu_account,
    .energy = run_energy_of_gpu,
    .explain = run_gpu_explain,
};
