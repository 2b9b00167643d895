/* Kind "gpu": a kernel of the GPU library, or a framework's for the same operator. Its steps run one after another in one command
 * buffer, over the same buffers. */
#include "sim/base/checksum.h"
#include "sim/run/gpu/framework_check.h"
#include "sim/run/gpu/own_kernel.h"
#include "sim/run/gpu/run_chain.h"
#include "sim/run/gpu/run_gpu_kernel.h"
#include "sim/run/run_internal.h"
#include "sim/workload/gpu/frameworks/framework.h"
#include "sim/workload/gpu/gpu_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What run->work points to. */
struct gpu_operator {
    struct gpu_library library;
    struct own_kernel own;
    bool framework; /* launches are a framework's */
    bool guessed;   /* which has not published them */
    struct framework_check check;
};

const struct gpu_library *run_gpu_library(const struct run *run)
{
    return &((const struct gpu_operator *)run->work)->library;
}

static bool has(const struct run_request *q)
{
    return gpu_library_has(q->workload);
}

/* Puts a framework's kernels in the place of the library's, which check them where results count. */
static bool open_framework(const struct run *run, struct gpu_operator *work, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct framework_choice choice;
    if (!q->kernels)
        return true;
    if (!framework_choose(q->kernels, chip_name(q->chip), &choice, error))
        return false;
    work->framework = choice.set != FRAMEWORK_ORCHARD;
    work->guessed = choice.set == FRAMEWORK_MPS;
    return (!work->framework || q->mode == RUN_TIMING || framework_check_open(&work->check, q, &work->library, error)) &&
           framework_apply(&choice, &work->library, error);
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct gpu_operator *const work = run->work = calloc(1, sizeof *work);
    struct gpu_library *const library = work ? &work->library : NULL;
    enum gpu_generation generation;
    struct abi_target target;
    double cores = 1;
    if (!library)
        return orch_no_memory(error);
    chip_number(q->chip, "gpu_cores", &cores, NULL);
    if (!run_gpu_target(q->chip, &target, &generation, error) ||
        !gpu_library_open(library, q->workload, q->precision, generation, (uint32_t)cores, error) ||
        !open_framework(run, work, error))
        return false;
    snprintf(run->program_name, sizeof run->program_name, "%s", library->request.info->name);
    run->gpu_bytes = library->kernel.min_bytes;
    return own_kernel_open(&work->own, run, library, error);
}

static void close_workload(struct run *run)
{
    struct gpu_operator *const work = run->work;
    own_kernel_free(&work->own);
    framework_check_close(&work->check);
    gpu_library_close(&work->library);
}

static bool check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const struct gpu_operator *const work = run->work;
    struct run_request without = *q; /* an entry is that of the user's kernel */
    without.entry = work->own.file ? NULL : q->entry;
    if (!run_check_no_program_options(&without, "is a kernel of the GPU", error))
        return false;
    const char *const option = q->input_count ? "input" : q->output_folder ? "output" : NULL;
    return !option || orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to GPU launches (abi.json)", option);
}

static uint64_t hash(const struct run *run)
{
    const struct gpu_operator *const work = run->work;
    const uint64_t h = checksum_add(checksum_add(CHECKSUM_START, "gpu", 3), work->library.text, strlen(work->library.text));
    return work->own.file ? checksum_add(h, &work->own.kernel.hash, sizeof work->own.kernel.hash) : h;
}

static const char *precision(const struct run *run)
{
    const struct gpu_library *const library = &((const struct gpu_operator *)run->work)->library;
    return gpu_type_name(library->request.type);
}

static double bytes(const struct run *run)
{
    return gpu_library_bytes(&((const struct gpu_operator *)run->work)->library);
}

static unsigned buffers(const struct run *run, struct run_buffer buffer[RUN_BUFFERS])
{
    const struct gpu_kernel *const kernel = &((const struct gpu_operator *)run->work)->library.kernel;
    unsigned count = 0;
    for (unsigned i = 0; i < kernel->buffers; i++) {
        const struct gpu_kernel_buffer *const b = &kernel->buffer[i];
        struct abi_arg arg = {0};
        if (b->role == GPU_BUFFER_SCRATCH)
            continue;
        gpu_library_set_buffer(&arg, b, 0);
        buffer[count++] = (struct run_buffer){.type = arg.type,
                                              .count = arg.count,
                                              .read = b->role != GPU_BUFFER_OUTPUT,
                                              .written = b->role != GPU_BUFFER_INPUT,
                                              .places = b->places};
    }
    return count;
}

static struct run_operation operation(const struct run *run)
{
    const struct gpu_library *const library = &((const struct gpu_operator *)run->work)->library;
    return (struct run_operation){library->kernel.flops, library->kernel.macs};
}

/* What hand_over and place need of the library's own. */
struct operands {
    const struct gpu_library *library;
    struct own_kernel *own;
    struct framework_check *check;
    uint64_t address[GPU_KERNEL_BUFFERS];
};

static bool hand_over(struct run_chain *c)
{
    const struct operands *const o = c->context;
    if ((o->own->file && !own_kernel_compare(o->own, c, o->library, o->address)) ||
        !framework_check_compare(o->check, c, o->library, o->address))
        return false;
    for (unsigned i = 0; i < o->library->kernel.buffers; i++) {
        const struct gpu_kernel_buffer *b = &o->library->kernel.buffer[i];
        const uint64_t bytes = gpu_type_bytes(b->type, b->count);
        if (b->role != GPU_BUFFER_OUTPUT && b->role != GPU_BUFFER_IN_OUT)
            continue;
        const uint8_t *at = mem_at(c->space, o->address[i], bytes, MEM_READ);
        if (at && !run_checksum_add(&c->result->checksum, b->name, checksum_fnv1a64(at, bytes)))
            return orch_no_memory(c->error);
    }
    return true;
}

/* Where a buffer of the user's kernel is: an operand, or a number in constant memory. 0 = there is no room. */
static uint64_t own_address(const struct run_chain *c, unsigned arg)
{
    const struct operands *const o = c->context;
    const struct abi_arg *const a = &o->own->kernel.arg[arg];
    if (!a->initial)
        return o->address[o->own->place[arg]];
    const uint64_t address = mem_space_alloc(c->space, a->bytes, MEM_PAGE_BYTES);
    if (address)
        memcpy(mem_at(c->space, address, a->bytes, MEM_WRITE), a->initial, a->bytes);
    return address;
}

/* Where the buffers of each step are. */
static bool address_steps(struct run_chain *c)
{
    const struct operands *const o = c->context;
    c->address = calloc(c->steps, sizeof *c->address);
    if (!c->address)
        return orch_no_memory(c->error);
    for (unsigned s = 0; s < c->steps; s++) {
        for (unsigned i = 0; i < c->step[s].args; i++) {
            const struct gpu_library_place *const place = &o->library->place[s][i];
            if (!c->step[s].arg[i].buffer)
                continue;
            c->address[s][i] = o->own->file ? own_address(c, i) : o->address[place->buffer] + place->offset_bytes;
            if (!c->address[s][i])
                return orch_fail(c->error, ORCH_USAGE, "the simulated memory is full; make the shape smaller");
        }
    }
    return true;
}

/* Bytes that the host holds: buffers, and the start contents of those that a launch writes (gpu_setup_keep). */
static double host_bytes(const struct gpu_library *library)
{
    const double buffers = gpu_library_bytes(library);
    double most = 0;
    for (unsigned i = 0; i < library->kernel.steps; i++) {
        double kept = 0;
        for (unsigned a = 0; a < library->step[i].args; a++)
            kept +=
                library->step[i].arg[a].buffer && !library->step[i].arg[a].unchanged ? (double)library->step[i].arg[a].bytes : 0;
        most = kept > most ? kept : most;
    }
    return buffers + most;
}

/* From so many bytes on, what is only looked up in a table of embeddings has no contents. */
#define TABLE_BYTES 0x1p25

static bool has_places(const struct gpu_library *library)
{
    for (unsigned i = 0; i < library->kernel.buffers; i++)
        if (library->kernel.buffer[i].places)
            return true;
    return false;
}

/* What is only timed needs contents where values steer, and those of places alone where these are all that steers, or where the
 * host would not hold all. Where there are contents, the host has to hold them. */
static bool choose_contents(struct run_chain *c)
{
    const bool timing = c->run->request->mode == RUN_TIMING;
    struct gpu_library *const library = &((struct gpu_operator *)c->run->work)->library;
    const double bytes = gpu_library_bytes(library);
    char text[160];
    c->contents = !timing;
    if (c->step != library->step) {
        c->contents = true;
        return run_host_holds(library->text, 2 * host_bytes(library), "", c->error);
    }
    if (timing && !gpu_library_steered(library, c->generation, &c->contents, c->error))
        return false;
    const bool least = timing && c->contents && !c->given; /* what may do without contents does */
    c->empty = library->empty = least && (bytes > (double)ABI_BUFFERS_MAX || (bytes > TABLE_BYTES && has_places(library)));
    if (!c->contents || c->given || (library->empty && bytes <= (double)ABI_BUFFERS_MAX))
        return true;
    if (!library->empty)
        return run_host_holds(library->text, host_bytes(library), "; " ORCH_OPTION("mode") " timing needs none", c->error);
    snprintf(text, sizeof text, "buffers of %.1f GiB have no contents: the time of these kernels does not depend on values",
             bytes / 0x1p30);
    return run_assumption_add(&c->result->assumptions, "contents", "inferred", text) || orch_no_memory(c->error);
}

/* What launches before the run have left: weights in the kernel's layout. */
static bool tell_packed(const struct run_chain *c, const struct gpu_library *library)
{
    double bytes = 0;
    for (unsigned s = 0; s < c->loading; s++)
        for (unsigned i = 0; i < library->step[s].args; i++)
            if (library->step[s].arg[i].buffer && !library->step[s].arg[i].unchanged)
                bytes += (double)library->step[s].arg[i].bytes;
    return c->loading == 0 || (run_values_add(&c->result->counters, RUN_COUNTER_PACKED, bytes) && run_tell_packed(c->result)) ||
           orch_no_memory(c->error);
}

/* Operands that a kernel before has left in the caches. Always true. */
static bool find_present(struct run_chain *c, const struct operands *o)
{
    const uint32_t present = c->run->request->present;
    unsigned place = 0;
    for (unsigned i = 0; i < o->library->kernel.buffers && c->presents < RUN_CHAIN_PRESENT; i++) {
        const struct gpu_kernel_buffer *const b = &o->library->kernel.buffer[i];
        if (b->role != GPU_BUFFER_INPUT && b->role != GPU_BUFFER_IN_OUT)
            continue;
        if (place < 32 && present >> place & 1)
            c->present[c->presents++] = (struct run_range){o->address[i], gpu_type_bytes(b->type, b->count)};
        place++;
    }
    return true;
}

static bool time_at(struct run *run, struct mem_space *space, const uint64_t *given, struct run_measure *m,
                    struct run_result *result, struct orch_error *error)
{
    struct gpu_operator *const work = run->work;
    const struct gpu_library *const library = &work->library;
    const bool own = work->own.file != NULL;
    struct operands operands = {.library = library, .own = &work->own, .check = &work->check};
    struct run_chain c = {.run = run,
                          .step = own ? &work->own.kernel : library->step,
                          .steps = own ? 1 : library->kernel.steps,
                          .loading = own ? 0 : library->kernel.loading_steps,
                          .space = space,
                          .sum = m,
                          .result = result,
                          .error = error,
                          .why = own                      ? "a kernel of the user for the operator"
                                 : work->guessed          ? "a guess: the framework's kernels are closed"
                                 : work->framework        ? "a kernel as the framework has it"
                                 : run->request->unit_why ? run->request->unit_why
                                                          : "a program of the kernel library",
                          .given = given != NULL,
                          .tell_steps = !own && !run->request->inner && !(run->request->idle_s > 0) &&
                                        library->kernel.steps > library->kernel.loading_steps + 1,
                          .hand_over = hand_over,
                          .context = &operands};
    const bool ok = run_gpu_generation(run, &c.generation, result, error) && choose_contents(&c) &&
                    gpu_library_place(library, space, given, c.contents, run->request->seed, operands.address, error) &&
                    (!own || run->request->mode == RUN_TIMING || own_kernel_expect(&work->own, &c, library, operands.address)) &&
                    framework_check_expect(&work->check, &c, library, operands.address) && address_steps(&c) &&
                    find_present(&c, &operands) && run_chain(&c);
    for (unsigned i = 0; given && i < library->kernel.buffers; i++) /* what nobody else knows */
        if (library->kernel.buffer[i].role == GPU_BUFFER_SCRATCH && operands.address[i])
            mem_space_unmap(space, operands.address[i],
                            gpu_type_bytes(library->kernel.buffer[i].type, library->kernel.buffer[i].count));
    free(c.address);
    return ok && tell_packed(&c, library);
}

static bool time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                    struct orch_error *error)
{
    if (given)
        return time_at(run, given->space, given->address, m, result, error);
    struct mem_space *const space = run_space_create(run, error);
    const bool ok = space && time_at(run, space, NULL, m, result, error);
    run_space_free(space, run, m);
    return ok;
}

const struct run_kind run_kind_gpu_kernel = {
    .name = "gpu",
    .program_kind = "kernel",
    .part = PART_GPU,
    .may_sample = true,
    .takes_buffers = true,
    .has = has,
    .open = open_workload,
    .close = close_workload,
    .check = check,
    .hash = hash,
    .precision = precision,
    .bytes = bytes,
    .buffers = buffers,
    .operation = operation,
    .work = run_work_named,
    .time_in = time_in,
    .account = run_gpu_account,
    .energy = run_energy_of_gpu,
    .explain = run_gpu_explain,
};
