/* Kinds "cpu-library", "amx-library" and "amx-product": a kernel of the NEON library, or of the AMX library's rows, as an AArch64
 * program. One program has all the cores that are asked for; its threads share the work by a static rule. Products on amx are of
 * this kind where several cores share them. */
#include "sim/base/checksum.h"
#include "sim/base/format.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"
#include "sim/run/gpu/run_launch.h"
#include "sim/run/cpu/run_programs.h"
#include "sim/workload/cpu/cpu_library.h"
#include "units/amx/kernels/amx_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct run_request *q)
{
    return cpu_library_has(q->workload);
}

static bool amx_has(const struct run_request *q)
{
    return routine_find(&amx_kernels, q->workload) != NULL;
}

static bool product_has(const struct run_request *q)
{
    return q->cores > 1 && !q->home && routine_find(&amx_products, q->workload);
}

/* ---- shares ---- */

static unsigned p_cores(const struct run_request *q)
{
    struct chip_clusters clusters;
    unsigned count = 0;
    if (q->core_choice == SOC_E_CORE || !chip_clusters(q->chip, &clusters, NULL))
        return 0;
    for (unsigned i = 0; i < clusters.count; i++)
        count += clusters.cluster[i].kind == CHIP_P_CORE ? clusters.cluster[i].cores : 0;
    return count;
}

/* What a core of a kind does when so many of its cluster are busy. */
typedef double unit_rate(const struct chip *chip, enum chip_core kind, unsigned busy);

/* Its share of the cluster's block. */
static double amx_rate(const struct chip *chip, enum chip_core kind, unsigned busy)
{
    struct amx_params p;
    double ghz;
    if (!chip_amx_params(chip, kind, busy, &p, NULL) || !chip_amx_clock_ghz(chip, kind, busy, &ghz, NULL))
        return 1;
    return ghz / p.array_f32_cycles / busy;
}

/* Its vector pipes times its clock. */
static double core_rate(const struct chip *chip, enum chip_core kind, unsigned busy)
{
    struct cpu_params p;
    double ghz;
    if (!chip_cpu_params(chip, kind, busy, &p, NULL) || !chip_cpu_clock_ghz(chip, kind, busy, &ghz, NULL))
        return 1;
    return p.port_count[CPU_PORTS_SIMD] * ghz;
}

/* Busy cores of a cluster of a kind, when `count` of them are spread over all. */
static unsigned busy_of(const struct chip *chip, enum chip_core kind, unsigned count)
{
    struct chip_clusters clusters;
    unsigned of_kind = 0;
    for (unsigned i = 0; chip_clusters(chip, &clusters, NULL) && i < clusters.count; i++)
        of_kind += clusters.cluster[i].kind == kind;
    return of_kind && count ? (count + of_kind - 1) / of_kind : 1;
}

/* Threads are placed on P cores first. Where both kinds work, shares follow their rates. */
static void set_weights(const struct run *run, unit_rate *rate, struct cpu_library *l)
{
    const unsigned first = p_cores(run->request);
    if (first == 0 || l->request.threads <= first)
        return;
    const struct chip *const chip = run->request->chip;
    const double e = rate(chip, CHIP_E_CORE, busy_of(chip, CHIP_E_CORE, l->request.threads - first)) /
                     rate(chip, CHIP_P_CORE, busy_of(chip, CHIP_P_CORE, first));
    for (unsigned t = first; t < l->request.threads; t++)
        l->weight[t] = e;
}

static bool open_of(struct run *run, const struct routine_library *rows, unsigned generation, unit_rate *rate,
                    struct orch_error *error)
{
    struct cpu_library *const l = run->work = calloc(1, sizeof *l);
    if (!l)
        return orch_no_memory(error);
    if (!cpu_library_open_of(l, rows, run->request->workload, run->request->precision, run_copies(run), generation, error))
        return false;
    snprintf(run->program_name, sizeof run->program_name, "%s", l->request.row->operation->name);
    set_weights(run, rate, l);
    return true;
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    return open_of(run, &cpu_kernels, 0, core_rate, error);
}

static bool amx_open(struct run *run, struct orch_error *error)
{
    const bool row = routine_find(&amx_kernels, run->request->workload) != NULL;
    enum amx_gen gen;
    return chip_amx_gen(run->request->chip, &gen, error) &&
           open_of(run, row ? &amx_kernels : &amx_products, (unsigned)gen, amx_rate, error);
}

static bool other_size(const struct cpu_library *l, const struct routine_operand *o, uint64_t bytes, struct orch_error *error)
{
    return orch_fail(error, ORCH_INTERNAL, "%.200s: %s has %llu bytes, not %llu", l->text, o->name,
                     (unsigned long long)routine_type_bytes(o->type, o->count), (unsigned long long)bytes);
}

static bool check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (!run_check_cpu_kernel_options(run, error))
        return false;
    if (q->cores > 1 && (q->skip_cores || q->other_cores))
        return orch_fail(error, ORCH_UNMODELLED, "%s: beside other work a kernel of the CPU has one core, not %u", q->workload,
                         q->cores);
    const struct cpu_library *const l = run->work;
    const struct routine_operand *const o = &l->work.operand[routine_result(&l->work)];
    if (q->operands && routine_type_bytes(o->type, o->count) != q->operands->result_bytes)
        return other_size(l, o, q->operands->result_bytes, error);
    return true;
}

static bool amx_check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (!run_check_kernel_options(run, error))
        return false;
    if (q->home && strcmp(q->home, "elf") != 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("home") " process: %s on amx is always an AArch64 program (elf)",
                         run->program_name);
    if (q->cores > 1 && (q->skip_cores || q->other_cores))
        return orch_fail(error, ORCH_UNMODELLED, "%s: beside other work a kernel on amx has one core, not %u", q->workload,
                         q->cores);
    return true;
}

static uint64_t hash_as(const struct run *run, const char *library)
{
    const struct cpu_library *const l = run->work;
    return checksum_add(checksum_add(CHECKSUM_START, library, 4), l->text, strlen(l->text));
}

static uint64_t hash(const struct run *run)
{
    return hash_as(run, "neon");
}

static uint64_t amx_hash(const struct run *run)
{
    return hash_as(run, "amxl");
}

static const char *precision(const struct run *run)
{
    const struct cpu_library *const l = run->work;
    return routine_type_name(l->request.type);
}

static double bytes(const struct run *run)
{
    return cpu_library_bytes(run->work);
}

static struct run_operation operation(const struct run *run)
{
    const struct cpu_library *const l = run->work;
    return (struct run_operation){l->work.flops, l->work.macs};
}

/* ---- its program ---- */

/* Values of a caller in place of generated ones. */
static bool give(const struct cpu_library *l, const struct run_operands *given, const struct cpu_library_data *data,
                 struct mem_space *space, struct orch_error *error)
{
    unsigned next = 0;
    for (unsigned i = 0; i < l->work.operands; i++) {
        const struct routine_operand *const o = &l->work.operand[i];
        const uint64_t bytes = routine_type_bytes(o->type, o->count);
        if (o->role != ROUTINE_INPUT && o->role != ROUTINE_IN_OUT)
            continue;
        /* What is added to a product that does not look at it may be left out. */
        if (o->role == ROUTINE_IN_OUT && next == given->inputs)
            continue;
        if (next == given->inputs || given->input[next].bytes != bytes)
            return other_size(l, o, next < given->inputs ? given->input[next].bytes : 0, error);
        memcpy(mem_at(space, data->address[i], bytes, MEM_WRITE), given->input[next++].data, bytes);
    }
    return next == given->inputs ||
           orch_fail(error, ORCH_INTERNAL, "%.200s: reads %u operands, not %u", l->text, next, given->inputs);
}

/* `own` has the addresses of its operands. */
static bool prepare(void *context, unsigned number, struct program *program, struct orch_error *error)
{
    const struct run_programs *const p = context;
    const struct run_request *const q = p->run->request;
    struct cpu_library *const l = p->run->work;
    (void)number;
    l->blank = p->steers || q->operands; /* what is given lies over what would be generated */
    return cpu_library_place(l, program, q->seed, p->own, error) &&
           (!q->operands || give(l, q->operands, p->own, program_space(program), error)) &&
           (p->steers || cpu_library_load(l, program, p->own, error));
}

static void hand_over(const struct cpu_library *l, const struct run_operands *given, const struct cpu_library_data *data,
                      const struct mem_space *space)
{
    const unsigned i = routine_result(&l->work);
    memcpy(given->result, mem_at(space, data->address[i], given->result_bytes, MEM_READ), given->result_bytes);
}

static bool add_checksum(const struct run_programs *p, const struct program_set *set, struct run_result *r)
{
    const struct cpu_library *const l = p->run->work;
    if (p->run->request->operands)
        hand_over(l, p->run->request->operands, p->own, program_space(set->program[0]));
    return run_checksum_add(&r->checksum, l->work.operand[routine_result(&l->work)].name,
                            cpu_library_checksum(l, p->own, program_space(set->program[0])));
}

static bool operand(const struct run_programs *p, unsigned place, uint64_t *address, uint64_t *bytes)
{
    const struct cpu_library *const l = p->run->work;
    const struct cpu_library_data *const data = p->own;
    for (unsigned i = 0; i < l->work.operands; i++) {
        const struct routine_operand *const o = &l->work.operand[i];
        if ((o->role != ROUTINE_INPUT && o->role != ROUTINE_IN_OUT) || place-- > 0)
            continue;
        *address = data->address[i];
        *bytes = routine_type_bytes(o->type, o->count);
        return true;
    }
    return false;
}

static bool programs_of(const struct run *run, struct run_programs *p, const void *code, const char *entry,
                        struct orch_error *error)
{
    const struct cpu_library *const l = run->work;
    p->own = calloc(1, sizeof(struct cpu_library_data));
    if (!p->own)
        return orch_no_memory(error);
    p->file = code;
    p->options.entry = entry;
    p->variant = l->work.variant;
    p->threads = l->request.threads;
    p->prepare = prepare;
    p->operand = operand;
    p->sample = run->kind->part == PART_AMX ? RUN_SAMPLE_AMX_PROGRAM : RUN_SAMPLE_LIBRARY; /* AMX words may come late */
    p->may_steer = !l->request.row->operation->by_values;
    p->checksum = add_checksum;
    return true;
}

static bool programs(const struct run *run, struct run_programs *p, struct orch_error *error)
{
    return programs_of(run, p, cpu_kernels_code(&p->bytes), CPU_KERNELS_ENTRY, error);
}

static bool amx_programs(const struct run *run, struct run_programs *p, struct orch_error *error)
{
    return programs_of(run, p, amx_kernels_code(&p->bytes), AMX_KERNELS_ENTRY, error);
}

/* ---- shares and the roofline, in words ---- */

static void explain_shares(FILE *out, const struct cpu_library *l)
{
    uint64_t bound[ROUTINE_THREADS + 1];
    for (unsigned i = 0; i < l->work.calls; i++) {
        const struct routine_call *const c = &l->work.call[i];
        routine_split(c, l->request.threads, l->weight, bound);
        fprintf(out, "%-12s %s: %llu %s, of the threads", i ? "" : "shares", c->symbol, (unsigned long long)c->item_count,
                c->items);
        for (unsigned t = 0; t < l->request.threads; t++)
            fprintf(out, " %llu", (unsigned long long)(bound[t + 1] - bound[t]));
        fputc('\n', out);
    }
}

/* Operations of one instruction of a vector pipe: multiply-adds of four numbers or eight halves, dot products of sixteen bytes.
 */
static double operations_each(const struct cpu_library *l)
{
    const bool half = l->work.epsilon == routine_type_epsilon(ROUTINE_F16);
    return l->request.type == ROUTINE_I8 ? 32 : half ? 16 : 8;
}

/* GFLOPS of the vector pipes of all cores of the request. */
static double peak_gflops(const struct run *run)
{
    const struct chip *const chip = run->request->chip;
    const struct cpu_library *const l = run->work;
    const unsigned first = p_cores(run->request), threads = l->request.threads, fast = threads < first ? threads : first;
    return operations_each(l) * (fast * core_rate(chip, CHIP_P_CORE, busy_of(chip, CHIP_P_CORE, fast)) +
                                 (threads - fast) * core_rate(chip, CHIP_E_CORE, busy_of(chip, CHIP_E_CORE, threads - fast)));
}

static double floor_seconds(const struct run *run)
{
    const struct cpu_library *const l = run->work;
    return 2e-9 * l->work.macs / peak_gflops(run);
}

static void explain(FILE *out, const struct run *run, const struct run_result *r)
{
    const struct chip *const chip = run->request->chip;
    const struct cpu_library *const l = run->work;
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];
    double bandwidth;
    explain_shares(out, l);
    if (l->work.flops == 0 || l->work.macs == 0 || !chip_number(chip, "memory_peak_GBps", &bandwidth, NULL))
        return;
    const double peak = peak_gflops(run);
    const double intensity = l->work.flops / l->work.min_bytes, roof = fmin(peak, intensity * bandwidth);
    fprintf(out, "roofline     %s at most: vector pipes %s, DRAM %s x %.4g flop/byte\n", format_si(a, roof * 1e9, "FLOPS"),
            format_si(b, peak * 1e9, "FLOPS"), format_si(c, bandwidth * 1e9, "B/s"), intensity);
    fprintf(out, "             this run reaches %.1f %% of it\n", 100 * r->gflops / roof);
}

/* Panels of constant weights: what the calls of loading write, which is the first memory of the kernel's own. */
static double packed_bytes(const struct cpu_library *l)
{
    for (unsigned i = 0; l->work.loading && i < l->work.operands; i++)
        if (l->work.operand[i].role == ROUTINE_SCRATCH)
            return (double)routine_type_bytes(l->work.operand[i].type, l->work.operand[i].count);
    return 0;
}

static bool account(struct run *run, const struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    const double packed = packed_bytes(run->work);
    return (packed == 0 || (run_values_add(&r->counters, RUN_COUNTER_CORE_PACKED, packed) && run_tell_packed(r)) ||
            orch_no_memory(error)) &&
           run_account(run, m, r, error);
}

const struct run_kind run_kind_cpu_library = {
    .name = "cpu-library",
    .program_kind = "kernel",
    .part = PART_CPU,
    .may_sample = true,
    .has = has,
    .open = open_workload,
    .check = check,
    .hash = hash,
    .precision = precision,
    .bytes = bytes,
    .operation = operation,
    .floor_seconds = floor_seconds,
    .work = run_work_named,
    .programs = programs,
    .time_in = run_programs,
    .account = account,
    .energy = run_energy_of_cores,
    .explain = explain,
};

static void amx_explain(FILE *out, const struct run *run, const struct run_result *r)
{
    (void)r;
    explain_shares(out, run->work);
}

#define AMX_KIND(kind, has_it)                                                                                                   \
    {                                                                                                                            \
        .name = kind, .program_kind = "kernel", .part = PART_AMX, .may_sample = true, .has = has_it, .open = amx_open,           \
        .check = amx_check, .hash = amx_hash, .precision = precision, .bytes = bytes, .operation = operation,                    \
        .work = run_work_named, .programs = amx_programs, .time_in = run_programs, .account = account,                           \
        .energy = run_energy_of_cores, .explain = amx_explain,                                                                   \
    }
const struct run_kind run_kind_amx_library = AMX_KIND("amx-library", amx_has);
const struct run_kind run_kind_amx_product = AMX_KIND("amx-product", product_has);
