#include "sim/run/run_internal.h"
#include "sim/run/run_version.h"

#include "sim/base/checksum.h"
#include "sim/base/suggest.h"
#include "sim/base/gzip.h"
#include "sim/workload/cpu/program_args.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

double run_host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define FILE_MAX (UINT64_C(1) << 30)

static bool read_workload(struct run *run, struct orch_error *error)
{
    const char *path = run->request->workload;
    struct stat st;
    FILE *f = fopen(path, "rb");
    if (!f)
        return orch_fail(error, ORCH_USAGE, "%s: %s", path, strerror(errno));
    bool ok = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%s: not a file", path);
    else if ((uint64_t)st.st_size > FILE_MAX)
        ok = orch_fail(error, ORCH_USAGE, "%s: larger than 1 GiB", path);
    if (ok) {
        run->file_bytes = (size_t)st.st_size;
        run->file = malloc(run->file_bytes ? run->file_bytes : 1);
        ok = run->file && fread(run->file, 1, run->file_bytes, f) == run->file_bytes;
        if (!ok)
            orch_fail(error, ORCH_USAGE, "%s: cannot be read", path);
    }
    fclose(f);
    return ok && (gzip_unpack(&run->file, &run->file_bytes, error) || orch_fail_in(error, "%.300s", path));
}

/* ELF is what runs today; other known formats are named. */
static bool check_format(const struct run *run, struct orch_error *error)
{
    const uint8_t *b = run->file;
    const size_t n = run->file_bytes;
    if (n >= 4 && memcmp(b, "\177ELF", 4) == 0)
        return true;
    if (n >= 4 && memcmp(b, "GGUF", 4) == 0)
        return orch_fail(error, ORCH_UNMODELLED, "%s: GGUF networks are not modelled", run->request->workload);
    if (n >= 4 && (memcmp(b, "\xcf\xfa\xed\xfe", 4) == 0 || memcmp(b, "\xca\xfe\xba\xbe", 4) == 0))
        return orch_fail(error, ORCH_UNMODELLED, "%s: Mach-O files are not modelled; compile for AArch64 Linux (ELF)",
                         run->request->workload);
    if (n == 0)
        return orch_fail(error, ORCH_USAGE, "%s: the file is empty", run->request->workload);
    const char *dot = strrchr(run->request->workload, '.');
    if (dot && (strcmp(dot, ".s") == 0 || strcmp(dot, ".agx") == 0))
        return orch_fail(error, ORCH_USAGE,
                         "%s: assembler text of the GPU runs through a launch description: {\"files\": {\"code\": "
                         "\"%.60s\"}, \"launch\": ..., \"args\": [...]}",
                         run->request->workload, run->request->workload);
    return orch_fail(
        error, ORCH_USAGE,
        "%s: neither an AArch64 ELF file, a GPU launch description nor a Neural Engine program (first bytes %02x %02x %02x %02x)",
        run->request->workload, n > 0 ? b[0] : 0, n > 1 ? b[1] : 0, n > 2 ? b[2] : 0, n > 3 ? b[3] : 0);
}

static bool check_word(const char *option, const char *given, const char *const *known, size_t count, struct orch_error *error)
{
    struct suggest s;
    char phrase[96];
    if (!given)
        return true;
    suggest_start(&s, given);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(given, known[i]) == 0)
            return true;
        suggest_offer(&s, known[i]);
    }
    return orch_fail(error, ORCH_USAGE, "%s %s: no such choice%s", option, given, suggest_phrase(&s, phrase, sizeof phrase));
}

/* What belongs to other kinds of workloads. */
static bool check_agx_choices(const struct run_request *q, struct orch_error *error)
{
    if (q->unit && strcmp(q->unit, "auto") != 0 && strcmp(q->unit, "gpu") != 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("unit") " %s: GPU machine code runs on the gpu", q->unit);
    if (q->entry || q->arg_count || q->home || q->cores > 1)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to CPU programs; %s describes a GPU launch",
                         q->entry       ? "entry"
                         : q->arg_count ? "args"
                         : q->home      ? "home"
                                        : "cores",
                         q->workload);
    if (q->precision)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("precision") " %s: machine code has its own element types", q->precision);
    return true;
}

static bool check_gpu_kernel_choices(const struct run_request *q, struct orch_error *error)
{
    if (q->entry || q->arg_count || q->home || q->cores > 1)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to CPU programs; %s is a kernel of the GPU",
                         q->entry       ? "entry"
                         : q->arg_count ? "args"
                         : q->home      ? "home"
                                        : "cores",
                         q->workload);
    if (q->input_count || q->output_folder)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to GPU launches (abi.json)",
                         q->input_count ? "input" : "output");
    return true;
}

static bool check_ane_choices(const struct run *run, struct orch_error *error)
{
    const struct run_request *q = run->request;
    if (q->unit && strcmp(q->unit, "auto") != 0 && strcmp(q->unit, "ane") != 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("unit") " %s: %s runs on the ane", q->unit, q->workload);
    if (q->entry || q->arg_count || q->home || q->cores > 1)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to CPU programs; %s runs on the Neural Engine",
                         q->entry       ? "entry"
                         : q->arg_count ? "args"
                         : q->home      ? "home"
                                        : "cores",
                         q->workload);
    if (q->sanitize)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("sanitize") " belongs to GPU launches (abi.json)");
    if (q->precision && !run->ane->request.info)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("precision") " %s: a program has its own element types", q->precision);
    if (q->detail && strcmp(q->detail, "sampled") == 0)
        return orch_fail(error, ORCH_UNMODELLED,
                         ORCH_OPTION("detail") " sampled: the Neural Engine works descriptor by descriptor (instr)");
    return true;
}

/* Operators have a time, no values. */
static bool check_operator(const struct run_request *q, struct orch_error *error)
{
    if (!kernel_is_workload(q->workload))
        return orch_fail(error, ORCH_UNMODELLED,
                         ORCH_OPTION("detail") " op: %s is a program, not an operator; kernels are (orchard kernels)",
                         q->workload);
    if (q->watch)
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("detail") " op: an operator has no instructions to record");
    if (q->mode == RUN_FUNCTIONAL || q->input_count || q->output_folder || q->sanitize)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") ": an operator (" ORCH_OPTION("detail") " op) has no values",
                         q->mode == RUN_FUNCTIONAL ? "mode functional"
                         : q->input_count          ? "input"
                         : q->output_folder        ? "output"
                                                   : "sanitize");
    return true;
}

static bool check_choices(const struct run *run, struct orch_error *error)
{
    static const char *const units[] = {"auto", "cpu", "amx", "gpu", "ane", "hybrid"};
    static const char *const details[] = {"auto", "instr", "sampled", "op"};
    static const char *const homes[] = {"process", "elf"};
    const struct run_request *q = run->request;
    if (!check_word(ORCH_OPTION("unit"), q->unit, units, 6, error) ||
        !check_word(ORCH_OPTION("detail"), q->detail, details, 4, error) ||
        !check_word(ORCH_OPTION("home"), q->home, homes, 2, error) || (run_is_operator(q) && !check_operator(q, error)))
        return false;
    if (run->kind == RUN_AGX)
        return check_agx_choices(q, error);
    if (run->kind == RUN_GPU_KERNEL)
        return check_gpu_kernel_choices(q, error);
    if (run->kind == RUN_ANE)
        return check_ane_choices(run, error);
    if (q->input_count || q->output_folder || q->sanitize)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to GPU launches (abi.json) and the Neural Engine",
                         q->input_count     ? "input"
                         : q->output_folder ? "output"
                                            : "sanitize");
    if (q->unit && (strcmp(q->unit, "gpu") == 0 || strcmp(q->unit, "ane") == 0 || strcmp(q->unit, "hybrid") == 0))
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("unit") " %s: %s has no version for this unit; cpu and amx have",
                         q->unit, q->workload);
    if (run->kind == RUN_CPU_KERNEL && (q->entry || q->arg_count || q->home))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to %s; %s is a kernel of the CPU",
                         q->entry       ? "entry"
                         : q->arg_count ? "args"
                                        : "home",
                         q->home ? "kernels of the amx" : "program files", q->workload);
    if (run->kind == RUN_CPU_KERNEL && q->mode == RUN_TIMING && !run_is_operator(q))
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("mode") " timing: a CPU kernel is timed while it executes (full)");
    if (run->kind == RUN_KERNEL && q->unit && strcmp(q->unit, "cpu") == 0)
        return orch_fail(error, ORCH_UNMODELLED, "%s has no NEON version; use " ORCH_OPTION("unit") " amx", run->call.info->name);
    if (run->kind == RUN_KERNEL && (q->entry || q->arg_count))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to program files; %s is a kernel",
                         q->entry ? "entry" : "args", q->workload);
    if (run->kind == RUN_KERNEL && q->cores > 1 && (!q->home || strcmp(q->home, "process") == 0))
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("cores") " %u: a kernel runs on one core; " ORCH_OPTION("home") " elf runs a copy on each",
                         q->cores);
    if (q->detail && strcmp(q->detail, "sampled") == 0)
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("detail") " sampled: cpu and amx work at instr");
    return true;
}

static const char *mode_name(enum run_mode mode)
{
    return mode == RUN_FUNCTIONAL ? "functional" : mode == RUN_TIMING ? "timing" : "full";
}

/* The text of an argument and, where it names an input file, what is in the file. A file that cannot be read is told when
 * the program is opened. */
static uint64_t hash_argument(uint64_t h, const char *text)
{
    struct program_arg arg;
    struct orch_error unused;
    h = checksum_add(h, text, strlen(text) + 1);
    if ((strncmp(text, "in:", 3) == 0 || strncmp(text, "inout:", 6) == 0) && program_arg_parse(text, &arg, &unused)) {
        h = checksum_add(h, arg.array.data, arg.array.bytes);
        program_arg_release(&arg);
    }
    return h;
}

/* Everything else that decides the answer, keys sorted. */
static void write_options(struct run *run)
{
    const struct run_request *q = run->request;
    char uncertainty[32] = "";
    uint64_t args = CHECKSUM_START;
    if (q->uncertainty)
        snprintf(uncertainty, sizeof uncertainty, ",\"uncertainty\":%u", q->uncertainty->runs);
    for (size_t i = 0; i < q->arg_count; i++)
        args = hash_argument(args, q->args[i]);
    snprintf(run->options, sizeof run->options,
             "{\"args\":\"%016" PRIx64 "\",\"cold\":%s,\"core\":%d,\"cores\":%u,\"entry\":\"%.120s\",\"home\":\"%s\",\"memory\":%"
             "u,\"repeat\":%u,\"sanitize\":%s,\"skip\":%u,\"others\":%u%s%.160s%s%s}",
             args, q->cold ? "true" : "false", (int)q->core_choice, q->cores ? q->cores : 1, q->entry ? q->entry : "",
             q->home ? q->home : "process", q->memory_gib, q->repeat ? q->repeat : 1, q->sanitize ? "true" : "false",
             q->skip_cores, q->other_cores, q->fitted ? ",\"fitted\":\"" : "", q->fitted ? q->fitted : "", q->fitted ? "\"" : "",
             uncertainty);
}

/* By enum run_kind. */
static const char *const kind_names[] = {"elf", "kernel", "agx", "kernel", "ane", "kernel"}, *const kind_units[] = {"cpu", "amx",
                                                                                                                    "gpu", "gpu",
                                                                                                                    "ane", "cpu"};
static const enum orch_part kind_parts[] = {PART_CPU, PART_AMX, PART_GPU, PART_GPU, PART_ANE, PART_CPU};

static bool on_gpu(const struct run *run)
{
    return run->kind == RUN_AGX || run->kind == RUN_GPU_KERNEL;
}

/* The program says everything of a kernel too, constants included; input files come on top. Files that cannot be read are told
 * when the buffers are filled. */
static uint64_t hash_ane(const struct run *run)
{
    const struct run_request *q = run->request;
    const struct ane_program *p = &run->ane->kernel.program;
    uint64_t h = checksum_add(checksum_add(CHECKSUM_START, "ane", 3), p->bytes, p->size);
    h = checksum_add(h, run->ane->text, strlen(run->ane->text));
    for (size_t i = 0; i < q->input_count; i++) {
        size_t length;
        const char *path;
        struct npy_array array;
        h = checksum_add(h, q->inputs[i], strlen(q->inputs[i]) + 1);
        if (ane_workload_input(q->inputs[i], &length, &path, NULL) && npy_load(path, &array, NULL)) {
            h = checksum_add(h, array.data, array.bytes);
            npy_release(&array);
        }
    }
    return h;
}

static void fill_begin(struct run *run)
{
    const struct run_request *q = run->request;
    char text[256];
    uint64_t h = CHECKSUM_START;
    if (run->kind == RUN_KERNEL) {
        kernel_describe(&run->call, text, sizeof text);
        h = checksum_add(h, text, strlen(text));
        snprintf(run->program_name, sizeof run->program_name, "%s", run->call.info->name);
    } else if (run->kind == RUN_GPU_KERNEL) {
        h = checksum_add(checksum_add(h, "gpu", 3), run->library->text, strlen(run->library->text));
        snprintf(run->program_name, sizeof run->program_name, "%s", run->library->request.info->name);
    } else if (run->kind == RUN_CPU_KERNEL) {
        h = checksum_add(checksum_add(h, "cpu", 3), run->cpu_kernel.text, strlen(run->cpu_kernel.text));
        snprintf(run->program_name, sizeof run->program_name, "%s", run->cpu_kernel.info->name);
    } else if (run->kind == RUN_ANE) {
        h = hash_ane(run);
        snprintf(run->program_name, sizeof run->program_name, "%s", run->ane->name);
    } else if (run->kind == RUN_AGX) {
        h = run->gpu_kernel.hash;
        snprintf(run->program_name, sizeof run->program_name, "%s", run->gpu_kernel.name);
    } else {
        const char *slash = strrchr(q->workload, '/');
        h = checksum_add(h, run->file, run->file_bytes);
        snprintf(run->program_name, sizeof run->program_name, "%.200s", slash ? slash + 1 : q->workload);
    }
    snprintf(run->program_hash, sizeof run->program_hash, "%016" PRIx64, h);
    snprintf(run->chip_hash, sizeof run->chip_hash, "%016" PRIx64, chip_hash(q->chip));
    write_options(run);
    run->begin = (struct event_run_begin){
        .workload = q->workload,
        .chip_id = chip_id(q->chip),
        .chip_hash = run->chip_hash,
        .chip_modified = chip_modified(q->chip),
        .program_name = run->program_name,
        .program_kind = run->kind == RUN_ANE && run->ane->request.info ? "kernel" : kind_names[run->kind],
        .program_hash = run->program_hash,
        .unit = kind_units[run->kind],
        .precision = run->kind == RUN_KERNEL       ? run->call.precision
                     : run->kind == RUN_GPU_KERNEL ? gpu_type_name(run->library->request.type)
                     : run->kind == RUN_ANE        ? run->ane->precision
                     : run->kind == RUN_CPU_KERNEL ? cpu_kernel_precision(&run->cpu_kernel)
                                                   : NULL,
        .detail = run_is_operator(q)         ? "op"
                  : on_gpu(run) && q->detail ? q->detail
                  : on_gpu(run)              ? "auto"
                                             : "instr",
        .mode = mode_name(run_is_operator(q) ? RUN_TIMING : q->mode),
        .options = run->options,
        .version = run_model_version(),
        .seed = q->seed,
        .host = "local",
    };
}

/* The launch description that the workload is: a folder with one, or the file itself, whose bytes are in run->file. */
static bool open_agx(struct run *run, struct orch_error *error)
{
    const struct run_request *q = run->request;
    struct abi_target target;
    enum gpu_generation generation;
    run->kind = RUN_AGX;
    if (!run_agx_target(q->chip, &target, &generation, error) || !abi_kernel_open(&run->gpu_kernel, q->workload, &target, error))
        return false;
    for (size_t i = 0; i < q->input_count; i++) {
        char name[64];
        const char *equals = strchr(q->inputs[i], '=');
        if (!equals || equals == q->inputs[i] || (size_t)(equals - q->inputs[i]) >= sizeof name)
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("input") " %s: expected NAME=FILE", q->inputs[i]);
        snprintf(name, sizeof name, "%.*s", (int)(equals - q->inputs[i]), q->inputs[i]);
        if (!abi_kernel_set_input(&run->gpu_kernel, name, equals + 1, error))
            return false;
    }
    return true;
}

static bool open_gpu_kernel(struct run *run, struct orch_error *error)
{
    const struct run_request *q = run->request;
    enum gpu_generation generation;
    struct abi_target target;
    double cores = 1;
    run->kind = RUN_GPU_KERNEL;
    run->library = malloc(sizeof *run->library);
    if (!run->library)
        return orch_no_memory(error);
    memset(run->library, 0, sizeof *run->library);
    chip_number(q->chip, "gpu_cores", &cores, NULL);
    return run_agx_target(q->chip, &target, &generation, error) &&
           gpu_library_open(run->library, q->workload, q->precision, generation, (uint32_t)cores, error);
}

static bool new_ane_workload(struct run *run, struct orch_error *error)
{
    run->kind = RUN_ANE;
    run->ane = calloc(1, sizeof *run->ane);
    return run->ane || orch_no_memory(error);
}

static bool open_ane_kernel(struct run *run, struct orch_error *error)
{
    const struct run_request *q = run->request;
    return new_ane_workload(run, error) &&
           ane_workload_open_kernel(run->ane, q->workload, q->precision, q->chip, q->seed, q->inputs, q->input_count, error);
}

static bool open_ane_file(struct run *run, struct orch_error *error)
{
    return new_ane_workload(run, error) &&
           ane_workload_open_file(run->ane, run->request->workload, run->file, run->file_bytes, error);
}

/* Unless a unit is asked for, AMX has what it can, the GPU the rest, and the Neural Engine what neither has. */
static enum run_kind kernel_kind(const struct run_request *q)
{
    const bool asked = q->unit && strcmp(q->unit, "auto") != 0, amx = kernel_has(q->workload), gpu = gpu_library_has(q->workload);
    if (ane_workload_has(q->workload) && (asked ? strcmp(q->unit, "ane") == 0 : !gpu && !amx))
        return RUN_ANE;
    if (asked && strcmp(q->unit, "cpu") == 0 && cpu_kernel_has(q->workload))
        return RUN_CPU_KERNEL;
    return gpu && (asked ? strcmp(q->unit, "gpu") == 0 : !amx) ? RUN_GPU_KERNEL : RUN_KERNEL;
}

enum orch_part run_kernel_part(const struct run_request *request)
{
    return kind_parts[kernel_kind(request)];
}

static bool open_kernel(struct run *run, struct orch_error *error)
{
    const struct run_request *q = run->request;
    run->kind = kernel_kind(q);
    if (run->kind == RUN_ANE)
        return open_ane_kernel(run, error);
    if (run->kind == RUN_CPU_KERNEL)
        return cpu_kernel_open(&run->cpu_kernel, q->workload, q->precision, error);
    if (run->kind == RUN_GPU_KERNEL)
        return open_gpu_kernel(run, error);
    if (!kernel_has(q->workload) && (gpu_library_has(q->workload) || ane_workload_has(q->workload)))
        return orch_fail(error, ORCH_UNMODELLED, ORCH_OPTION("unit") " %s: %s has no version for this unit; the %s has", q->unit,
                         q->workload, gpu_library_has(q->workload) ? "gpu" : "ane");
    return kernel_parse(q->workload, q->precision, &run->call, error);
}

static bool recognise(struct run *run, struct orch_error *error)
{
    const struct run_request *q = run->request;
    struct stat st;
    if (kernel_is_workload(q->workload))
        return open_kernel(run, error);
    if (stat(q->workload, &st) == 0 && S_ISDIR(st.st_mode)) {
        char path[4096];
        snprintf(path, sizeof path, "%s/abi.json", q->workload);
        return stat(path, &st) == 0 ? open_agx(run, error)
                                    : orch_fail(error, ORCH_USAGE, "%s: not a file, and a folder without abi.json", q->workload);
    }
    if (!read_workload(run, error))
        return false;
    if (ane_program_recognise(run->file, run->file_bytes))
        return open_ane_file(run, error);
    return abi_is_description(run->file, run->file_bytes) ? open_agx(run, error) : check_format(run, error);
}

struct run *run_prepare(const struct run_request *request, struct orch_error *error)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        orch_no_memory(error);
        return NULL;
    }
    run->request = request;
    const bool ok = recognise(run, error) && check_choices(run, error) &&
                    run_memory_fits(request->chip, request->memory_gib, request->workload, run_memory_need(run), error);
    if (!ok) {
        run_free(run);
        return NULL;
    }
    fill_begin(run);
    return run;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    abi_kernel_free(&run->gpu_kernel);
    if (run->library)
        gpu_library_close(run->library);
    free(run->library);
    if (run->ane)
        ane_workload_close(run->ane);
    free(run->ane);
    free(run->remark);
    free(run->detail);
    free(run->file);
    free(run);
}

const struct run_paces *run_paces(const struct run *run)
{
    return &run->paces;
}

size_t run_remark_count(const struct run *run)
{
    return run->remarks;
}

const char *run_remark(const struct run *run, size_t index)
{
    return run->remark[index];
}

const struct event_run_begin *run_begin_event(const struct run *run)
{
    return &run->begin;
}

static void emit(struct event_bus *bus, struct event *event, uint64_t number)
{
    event->run = number;
    if (bus)
        event_bus_emit(bus, event);
}

static bool fill_texts(const struct run *run, struct run_result *r, struct orch_error *error)
{
    const struct event_run_begin *b = &run->begin;
    const bool ok = run_result_set_text(&r->chip, b->chip_id) && run_result_set_text(&r->workload, b->workload) &&
                    run_result_set_text(&r->unit, b->unit) && run_result_set_text(&r->precision, b->precision) &&
                    run_result_set_text(&r->detail, b->detail) && run_result_set_text(&r->mode, b->mode);
    return ok || orch_no_memory(error);
}

enum orch_part run_part(const struct run *run)
{
    return kind_parts[run->kind];
}

static struct event_place place_of(const struct run *run)
{
    return (struct event_place){run_part(run), 0};
}

static void emit_op_begin(const struct run *run, struct event_bus *bus, uint64_t number)
{
    const struct event_op op = {.op = 1,
                                .name = run->program_name,
                                .kernel = run->program_name,
                                .shape = run->request->workload,
                                .precision = run->begin.precision,
                                .place = place_of(run)};
    emit(bus, &(struct event){.kind = EVENT_LAUNCH, .launch = op}, number);
    emit(bus, &(struct event){.kind = EVENT_OP_BEGIN, .op_begin = op}, number);
}

enum { STALLS_MAX = CPU_STALL_COUNT + AMX_STALL_COUNT + GPU_STALL_COUNT + ANE_STALL_COUNT + 1 };

static void emit_op_end(const struct run *run, const struct run_measure *m, const struct run_result *r, struct event_bus *bus,
                        uint64_t number)
{
    struct event_value stalls[STALLS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < r->stalls.count && count < STALLS_MAX; i++)
        stalls[count++] = (struct event_value){r->stalls.item[i].name, "cycles",
                                               r->stalls.item[i].value * (isnan(r->cycles) ? m->end_ns : r->cycles)};
    const struct event_op_end end = {
        .op = {.op = 1,
               .name = run->program_name,
               .kernel = run->program_name,
               .shape = run->request->workload,
               .precision = run->begin.precision,
               .place = place_of(run)},
        .seconds = r->seconds,
        .cycles = r->cycles,
        .macs = r->macs,
        .flops = r->flops,
        .repeats = run->request->repeat ? run->request->repeat : 1,
        .activity = &m->activity,
        .stalls = {stalls, count},
    };
    emit(bus, &(struct event){.kind = EVENT_OP_END, .time_ns = m->end_ns, .op_end = end}, number);
}

static void emit_end(struct event_bus *bus, uint64_t number, const struct run_result *r, const struct orch_error *error,
                     double time_ns)
{
    const struct event_run_end end = {.status = r                                      ? EVENT_RUN_DONE
                                                : error->exit_code == ORCH_INTERRUPTED ? EVENT_RUN_INTERRUPTED
                                                                                       : EVENT_RUN_FAILED,
                                      .error = r ? NULL : error->text,
                                      .result = r};
    emit(bus, &(struct event){.kind = EVENT_RUN_END, .time_ns = time_ns, .run_end = end}, number);
}

bool run_time(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    const bool in_process = run->kind == RUN_KERNEL && (!run->request->home || strcmp(run->request->home, "process") == 0);
    return fill_texts(run, result, error) && run_compression(run, m, error) &&
           (run->kind == RUN_ANE ? run_ane(run, m, result, error) && run_ane_account(run, m, result, error)
            : on_gpu(run)        ? (run->kind == RUN_AGX ? run_agx : run_gpu_kernel)(run, m, result, error) &&
                                run_gpu_account(run, m, result, error)
            : in_process ? run_kernel(run, m, result, error) && run_account(run, m, result, error)
                         : run_program(run, m, result, error) && run_account(run, m, result, error)) &&
           run_add_memory_use(run, m, result, error);
}

static bool tell_fitted(const struct run *run, struct run_result *result, struct orch_error *error)
{
    const char *const fitted = run->request->fitted;
    return !fitted || run_assumption_add(&result->assumptions, "fitted", "inferred", fitted) || orch_no_memory(error);
}

bool run_simulate(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    const bool whole = run_is_operator(run->request) || run->request->known
                           ? run_operator(run, m, result, error)
                           : run_time(run, m, result, error) && run_joules(run, m, result, error);
    return whole && tell_fitted(run, result, error);
}

void run_measure_release(struct run_measure *m)
{
    gpu_totals_free(&m->gpu.totals);
    free(m->gpu.work);
    ane_timed_free(&m->ane.timed);
    soc_free(m->soc);
}

bool run_execute(struct run *run, struct event_bus *bus, uint64_t number, struct run_result *result, struct orch_error *error)
{
    struct run_measure m = {0};
    struct orch_error own = {0};
    emit(bus, &(struct event){.kind = EVENT_RUN_BEGIN, .run_begin = run->begin}, number);
    if (run->request->mode != RUN_FUNCTIONAL) /* without time there is nothing to say of operators */
        emit_op_begin(run, bus, number);
    const bool ok = run_simulate(run, &m, result, &own);
    if (ok && run->request->mode != RUN_FUNCTIONAL)
        emit_op_end(run, &m, result, bus, number);
    emit_end(bus, number, ok ? result : NULL, &own, m.end_ns);
    run_measure_release(&m);
    if (!ok && error)
        *error = own;
    return ok;
}
