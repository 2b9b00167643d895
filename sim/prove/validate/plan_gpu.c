/* Rows about GPU instructions: throughput, mixes, parallelism against occupancy (philipturner/metal-benchmarks), and rates of
 * clpeak.
 *
 * One core runs loops with a long body. Two numbers of turns are run and their difference counts, so that start, end and the
 * registers of the loop cancel out. Rows count cycles of one scheduler per operation of a simdgroup.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/gpu_atoms.h"
#include "sim/prove/validate/program.h"

#include <stdlib.h>
#include <string.h>

enum { BODY_INSTRUCTIONS = 400, FULL_SIMDGROUPS = 48, SCHEDULERS = 4, MIX_PARTS = 8 };

struct part {
    const char *text;
    unsigned count;
};

/* Splits "3 IMUL32" or "Fast EXP2_32" into parts. */
static bool read_part(struct validate_row *row, const char *category, const char *at, size_t length, struct part *part)
{
    char *end;
    const unsigned long count = strtoul(at, &end, 10);
    part->count = 1;
    if (end > at && *end == ' ') {
        part->count = (unsigned)count;
        length -= (size_t)(end + 1 - at);
        at = end + 1;
    }
    if (length > 5 && memcmp(at, "Fast ", 5) == 0)
        at += 5, length -= 5;
    part->text = gpu_atom_find(category, at, length);
    return part->text || validate_refuse(row, "which instructions '%.*s' is, is not published", (int)length, at);
}

static unsigned read_parts(struct validate_row *row, const char *category, struct part *parts)
{
    unsigned count = 0;
    for (const char *at = row->what; *at;) {
        const char *const plus = strstr(at, " + ");
        const size_t length = plus ? (size_t)(plus - at) : strlen(at);
        if (count == MIX_PARTS || !read_part(row, category, at, length, &parts[count]))
            return 0;
        count++;
        at += length + (plus ? 3 : 0);
    }
    return count;
}

struct text {
    FILE *file;
    char *bytes;
    size_t size;
};

static bool open_text(struct validate_row *row, struct text *t)
{
    t->bytes = NULL;
    t->file = open_memstream(&t->bytes, &t->size);
    return t->file || validate_refuse(row, "out of memory");
}

static bool close_text(struct validate_row *row, struct validate_program *program, struct text *t)
{
    const bool failed = ferror(t->file) != 0;
    if (fclose(t->file) != 0 || failed) {
        free(t->bytes);
        return validate_refuse(row, "out of memory");
    }
    program->gpu.text = t->bytes;
    return true;
}

static void begin_loop(FILE *out)
{
    fputs(".arg data u64\n.arg turns u32\nmov_imm r0l, 0\nmov r1, 0\nmov r2, 3\nmov r3, 5\n", out);
}

static void end_loop(FILE *out)
{
    fputs("iadd r1, r1, 1\nwhile_icmp r0l, ult, r1, turns, 1\njmp_exec_any top\npop_exec 1\nstop\n", out);
}

/* Writes a pattern of parts again and again on `chains` chains. Returns the patterns per turn; 0 when refused. */
static unsigned write_loop(struct validate_row *row, struct validate_program *program, const struct part *parts, unsigned count,
                           unsigned chains)
{
    unsigned each = 0, number = 0;
    struct text t;
    for (unsigned i = 0; i < count; i++)
        each += parts[i].count * gpu_atom_instructions(parts[i].text);
    unsigned patterns = BODY_INSTRUCTIONS / each;
    patterns -= patterns % chains;
    if (!open_text(row, &t))
        return 0;
    begin_loop(t.file);
    fputs("push_exec 1\ntop:\n", t.file);
    for (unsigned p = 0; p < patterns; p++)
        for (unsigned i = 0; i < count; i++)
            for (unsigned k = 0; k < parts[i].count; k++)
                gpu_atom_write(t.file, parts[i].text, number++, chains);
    end_loop(t.file);
    return close_text(row, program, &t) ? patterns : 0;
}

/* Places `simdgroups` on one core, each as a threadgroup of its own. */
static void place_on_one_core(struct validate_program *program, unsigned simdgroups)
{
    program->gpu.cores = 1;
    program->gpu.threads_per_group = 32;
    program->gpu.groups = simdgroups;
    /* Also the short run lasts longer than its simdgroups take to start, so that both place them on the schedulers alike. */
    program->gpu.turns[0] = 6;
    program->gpu.turns[1] = 18;
    program->gpu.data_bytes = 128;
}

static bool plan_cycles(struct validate_row *row, struct validate_program *program, const struct part *parts, unsigned count,
                        unsigned simdgroups, unsigned chains)
{
    place_on_one_core(program, simdgroups);
    const unsigned patterns = write_loop(row, program, parts, count, chains);
    if (!patterns)
        return false;
    program->measure = VALIDATE_CYCLES_PER_WORK;
    program->work =
        (double)(program->gpu.turns[1] - program->gpu.turns[0]) * patterns * ((simdgroups + SCHEDULERS - 1) / SCHEDULERS);
    return true;
}

static bool plan_operation(struct validate_row *row, struct validate_program *program, const char *category)
{
    struct part parts[MIX_PARTS];
    const bool mix = strcmp(category, "mix") == 0;
    if (strstr(row->condition, "upper bound in the source"))
        return validate_refuse(row, "an upper bound in the source, not a value");
    /* the second list of ballots comes after the quad operations and belongs to them */
    if (strcmp(category, "simd") == 0 && strstr(row->condition, "multi-instruction") && strstr(row->what, "BALLOT"))
        category = "quad";
    const char *const whole = mix ? NULL : gpu_atom_find(category, row->what, strlen(row->what));
    if (whole) {
        parts[0] = (struct part){whole, 1};
        return plan_cycles(row, program, parts, 1, FULL_SIMDGROUPS, GPU_ATOM_CHAINS);
    }
    const unsigned count = read_parts(row, category, parts);
    return count && plan_cycles(row, program, parts, count, FULL_SIMDGROUPS, GPU_ATOM_CHAINS);
}

/* "FMUL/FADD/IADD 32-bit ILP=1 occupancy=4 simds/core" */
static bool plan_dependency(struct validate_row *row, struct validate_program *program)
{
    unsigned bits, chains, simdgroups;
    const char *const at = strchr(row->what, ' ');
    if (!at || sscanf(at, " %u-bit ILP=%u occupancy=%u simds/core", &bits, &chains, &simdgroups) != 3 || chains == 0 ||
        chains > 4)
        return validate_refuse(row, "no program for '%.80s'", row->what);
    const bool fma = strncmp(row->what, "FFMA", 4) == 0;
    const char *const name = bits == 32 ? fma ? "FFMA32" : "FADD32" : fma ? "FFMA16" : "FADD16";
    const struct part part = {gpu_atom_find("fp", name, 6), 1};
    return plan_cycles(row, program, &part, 1, simdgroups, chains);
}

bool validate_plan_gpu_rate(struct validate_row *row, struct validate_program *program, const char *text, unsigned chains)
{
    const struct part part = {text, 1};
    place_on_one_core(program, FULL_SIMDGROUPS);
    const unsigned patterns = write_loop(row, program, &part, 1, chains);
    program->gpu.stands_for_all = true;
    program->measure = VALIDATE_RATE;
    program->work = 2.0 * 32 * FULL_SIMDGROUPS * patterns * (program->gpu.turns[1] - program->gpu.turns[0]);
    return patterns > 0;
}

/* clpeak: chains of y = x * y + x, x = y * x + y by a compiler that marks registers that are used again. */
static bool plan_rate(struct validate_row *row, struct validate_program *program)
{
    static const struct {
        const char *what, *text;
        unsigned chains;
    } rows[] = {
        {"f32 FMA scalar code (Metal)", "fmadd32 @, @.cache, r2.cache, @.cache\n", 1},
        {"f32 FMA float8 (Metal)", "fmadd32 @, @.cache, r2.cache, @.cache\n", 8},
        {"int32 multiply-add (OpenCL)", "imadd @, @.cache, r2.cache, @.cache\n", 8},
        {"mixed fp16 x fp16 + fp32 (Metal)", "fmadd32 @, r2l.cache, r2h.cache, @.cache\n", 8},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (strcmp(row->what, rows[i].what) != 0)
            continue;
        return validate_plan_gpu_rate(row, program, rows[i].text, rows[i].chains);
    }
    return validate_refuse(row, "no program for '%.80s'", row->what);
}

bool validate_plan_gpu(struct validate_row *row, struct validate_program *program)
{
    static const char *const operations[] = {"fp", "int", "mix", "simd", "quad"};
    const int column = csv_find(row->table, "category");
    const char *const category = column >= 0 ? csv_cell(row->table, row->number, column) : "";
    if (csv_find(row->table, "raw_latency_min_cycles") < 0)
        return false; /* this is no table of GPU figures */
    for (size_t i = 0; i < ARRAY_COUNT(operations); i++)
        if (strcmp(category, operations[i]) == 0)
            return plan_operation(row, program, category);
    if (strcmp(category, "dependency") == 0)
        return plan_dependency(row, program);
    if (strcmp(category, "rate") == 0)
        return plan_rate(row, program);
    if (strcmp(category, "memory") == 0)
        return validate_plan_gpu_memory(row, program);
    return validate_refuse(row, "category '%.30s': not the speed of one program", category);
}
