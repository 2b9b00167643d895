/* The validation engine: tables, the programs of rows, scores and reports. Programs are checked by listing
 * them and by running them on the interpreter; scores against figures worked out by hand.
 */
#include "isa/a64/a64_isa.h"
#include "isa/array_count.h"
#include "sim/workload/cpu/program.h"
#include "sim/prove/validate/csv.h"
#include "sim/prove/validate/row.h"
#include "sim/prove/validate/score.h"
#include "tests/support/suite.h"
#include "units/amx/amx_core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct csv_table *parse(const char *text, struct orch_error *error)
{
    *error = (struct orch_error){0};
    return csv_parse("t.csv", text, strlen(text), error);
}

static void test_csv_cells(void)
{
    struct orch_error error;
    struct csv_table *t = parse("\xef\xbb\xbf"
                                "a,b,c\r\n1,\"x,\"\"y\"\"\r\nz\",\r\n\"\",2,3",
                                &error);
    CHECK(t != NULL, "%s", error.text);
    if (!t)
        return;
    CHECK(csv_rows(t) == 2 && csv_columns(t) == 3, "%zu rows", csv_rows(t));
    CHECK(strcmp(csv_cell(t, 0, csv_find(t, "b")), "x,\"y\"\r\nz") == 0, "'%s'", csv_cell(t, 0, 1));
    CHECK(strcmp(csv_cell(t, 0, 2), "") == 0 && strcmp(csv_cell(t, 1, 0), "") == 0, "empty cells");
    CHECK(csv_line(t, 0) == 2 && csv_line(t, 1) == 4, "lines %u, %u", csv_line(t, 0), csv_line(t, 1));
    CHECK(csv_find(t, "d") == -1 && *csv_cell(t, 0, -1) == '\0', "no such column");
    csv_free(t);
}

static void test_csv_errors(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t.csv:1:1: an empty table"},
        {"a,b\n1\n", "t.csv:2:1: 1 cells, the first line has 2"},
        {"a,b\n1,2,3\n", "t.csv:2:1: 3 cells, the first line has 2"},
        {"a,b\n1,x\"y\n", "t.csv:2:4: a quote inside an unquoted cell"},
        {"a\n\"x\"y\n", "t.csv:2:4: text after a closing quote"},
        {"a\nb\n\"x\ny", "t.csv:3:1: a quoted cell that never ends"},
        {"a,b,a\n", "t.csv:1:1: two columns are called 'a'"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct orch_error error;
        struct csv_table *t = parse(cases[i].text, &error);
        CHECK(t == NULL && error.exit_code == ORCH_USAGE, "case %zu was accepted", i);
        CHECK(strcmp(error.text, cases[i].message) == 0, "'%s', expected '%s'", error.text, cases[i].message);
        csv_free(t);
    }
}

static void test_scores(void)
{
    /* Errors 0, 10, 20, 50 %: mean 20, median 15; signed 0, -10, +20, -50: mean -10. p90 by linear
     * interpolation between the third and fourth: 20 + 0.7 x 30 = 41. Ranks: 100 90 240 150 against 100 100'
     * 200 300. */
    static const struct score_pair pairs[] = {
        {100, 100, 90, 110}, {90, 100.0000001, 0, 0}, {240, 200, 150, 190}, {150, 300, 100, 400}};
    struct score s;
    CHECK(score_pairs(pairs, 4, &s), "memory");
    CHECK(fabs(s.mape - 0.20) < 1e-6 && fabs(s.median_ape - 0.15) < 1e-6, "%f %f", s.mape, s.median_ape);
    CHECK(fabs(s.p90_ape - 0.41) < 1e-6 && fabs(s.bias + 0.10) < 1e-6, "%f %f", s.p90_ape, s.bias);
    CHECK(s.within10 == 0.25 && s.within25 == 0.75, "%f %f", s.within10, s.within25); /* the second is 10.0000001 % */
    /* d = 1, 1, 1, 1: 1 - 6 x 4 / (4 x 15) = 0.6. */
    CHECK(fabs(s.spearman - 0.6) < 1e-9, "%f", s.spearman);
    CHECK(fabs(s.symmetric - (0 + 10.0 / 90 + 40.0 / 200 + 150.0 / 150) / 4) < 1e-6, "%f", s.symmetric);
    CHECK(fabs(s.interval_coverage - 2.0 / 3) < 1e-9, "%f", s.interval_coverage);
    CHECK(score_pairs(pairs, 0, &s) && s.count == 0 && isnan(s.mape), "no rows, no score");
}

#define NAMES "chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n"

static const char table[] = NAMES "M1 Max,fma32 in matrix mode Z=f32[16][16],\"1 thread(s), 3 Z accumulators per "
                                  "thread\",1000,GFLOPS,measured,one,m1_max_8p2e_32g\n"
                                  "M1 Max,set + clr,Single P-core,8.31,ns per instruction,measured,github eugenehp/amx-rs "
                                  "x,m1_max_8p2e_32g\n"
                                  "M1 Max,\"vecfp XY=f64[8] Z=f64[8]\",\"2 thread(s), 9 Z accumulators per "
                                  "thread\",170,GFLOPS,measured,two,m1_max_8p2e_32g\n"
                                  "M1 Max,AMX power,all,12,W,measured,two,m1_max_8p2e_32g\n"
                                  "M1 Max,fma64 matrix (8×8),Single P-core,1,GHz,guess,two,m1_max_8p2e_32g\n"
                                  "M1 Pro,sgemm Accelerate,\"N=64 square\",741,GFLOPS,measured,three,m1_pro_8p2e_16g\n"
                                  "M4 Pro (virtual machine),sgemm Accelerate,N=32,277,GFLOPS,measured,three,\n";

/* Every program takes 1 microsecond on each thread. */
static bool one_microsecond(void *context, const struct validate_program *program, struct validate_timing *result,
                            struct orch_error *error)
{
    (void)error;
    ++*(unsigned *)context;
    *result = (struct validate_timing){.seconds = 1e-6, .threads = program->threads ? program->threads : 4};
    for (unsigned i = 0; i < result->threads; i++)
        result->thread_seconds[i] = 1e-6, result->thread_cycles[i] = 3000;
    return true;
}

static struct validation *validated(const char *text)
{
    struct orch_error error = {0};
    unsigned runs = 0;
    struct validation *v = validation_create();
    CHECK(validation_add_text(v, "some/where/t.csv", text, strlen(text), &error), "%s", error.text);
    CHECK(validation_run(v, &(struct validate_runner){one_microsecond, &runs}, &error), "%s", error.text);
    return v;
}

static double number(struct json_object *o, const char *key)
{
    struct json_object *value = NULL;
    return json_object_object_get_ex(o, key, &value) && value ? json_object_get_double(value) : NAN;
}

static const char *text_of(struct json_object *o, const char *key)
{
    struct json_object *value = NULL;
    return json_object_object_get_ex(o, key, &value) && value ? json_object_get_string(value) : "(null)";
}

static struct json_object *part(struct json_object *o, const char *key)
{
    struct json_object *value = NULL;
    CHECK(json_object_object_get_ex(o, key, &value), "no key %s", key);
    return value;
}

static void test_json(void)
{
    struct orch_error error = {0};
    struct validation *v = validated(table);
    struct json_object *o = validation_json(v, "source", &error);
    static const char *const keys[] = {"rows",   "modelled",    "coverage",  "mape",     "median_ape",        "p90_ape",
                                       "bias",   "within10",    "within25",  "spearman", "interval_coverage", "groups",
                                       "fitted", "rows_detail", "unmodelled"};
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        part(o, keys[i]);
    CHECK(number(o, "rows") == 7 && number(o, "modelled") == 4, "%g rows, %g modelled", number(o, "rows"), number(o, "modelled"));
    CHECK(number(o, "interval_coverage") >= 0 && number(o, "interval_coverage") <= 1, "%g inside",
          number(o, "interval_coverage"));
    CHECK(part(o, "interval_coverage_across_sources") == NULL, "nothing was compared across sources");
    struct json_object *rows = part(o, "rows_detail"), *first = json_object_array_get_idx(rows, 0);
    /* 48000 / 12 turns of 12 instructions of 512 operations in 1 us. */
    CHECK(fabs(number(first, "predicted") - 48000 * 512 / 1e3) < 1e-6, "%f", number(first, "predicted"));
    CHECK(strcmp(text_of(first, "id"), "t:2") == 0, "%s", text_of(first, "id"));
    CHECK(fabs(number(first, "ape") - (24576.0 - 1000) / 1000) < 1e-9, "%f", number(first, "ape"));
    struct json_object *second = json_object_array_get_idx(rows, 1);
    CHECK(fabs(number(second, "predicted") - 1000.0 / 2000) < 1e-9, "set + clr: %f ns", number(second, "predicted"));
    CHECK(strcmp(text_of(second, "fitted"), "(null)") != 0 && number(part(o, "fitted"), "rows") == 1, "fitted row");
    struct json_object *gemm = json_object_array_get_idx(rows, 3);
    CHECK(fabs(number(gemm, "predicted") - 2.0 * 64 * 64 * 64 / 1e3) < 1e-6, "all threads share the product");
    CHECK(strstr(text_of(gemm, "note"), "our kernel") != NULL, "'%s'", text_of(gemm, "note"));
    CHECK(json_object_array_length(part(o, "groups")) == 4, "groups by source");
    json_object_put(o);
    validation_free(v);
}

static void test_unmodelled(void)
{
    struct orch_error error = {0};
    struct validation *v = validated(table);
    struct json_object *o = validation_json(v, NULL, &error), *list = part(o, "unmodelled");
    static const char *const expected[][2] = {
        {"t:5", "unit 'W': not the speed of a program"},
        {"t:6", "not measured (kind: guess)"},
        {"t:8", "which chip 'M4 Pro (virtual machine)' is remains open"},
    };
    CHECK(json_object_array_length(list) == 3, "%zu unmodelled", json_object_array_length(list));
    for (size_t i = 0; i < 3 && i < json_object_array_length(list); i++) {
        struct json_object *row = json_object_array_get_idx(list, i);
        CHECK(strcmp(text_of(row, "id"), expected[i][0]) == 0, "%s", text_of(row, "id"));
        CHECK(strcmp(text_of(row, "why"), expected[i][1]) == 0, "%s", text_of(row, "why"));
    }
    json_object_put(o);
    CHECK(validation_json(v, "chip,nothing", &error) == NULL && strstr(error.text, "nothing"), "%s", error.text);
    validation_free(v);
}

static struct validate_program plan_row(const char *text, size_t number)
{
    struct orch_error error;
    struct validate_program program = {0};
    struct csv_table *t = parse(text, &error);
    struct validate_row row;
    validate_row_read(&row, t, "t", number);
    CHECK(validate_plan(&row, &program), "row %zu: %s", number, row.why);
    csv_free(t);
    return program;
}

/* The wide table: device and value units apart, shapes, a scaled product. */
static void test_framework_products(void)
{
    static const char wide[] = "id,chip,unit,workload,shape,value,value_unit,condition,source,kind,chip_id\n"
                               "HW1,M1,amx,matmul_mlx_cpu,1000000x64 * 64x1024,428,ms,,s,measured,m1_4p4e_8g\n"
                               "HW2,M1,amx,linear_mlx_cpu,100x1024x32 * 32x1024 * 1024,60,ms,,s,measured,m1_4p4e_8g\n"
                               "HW3,M1,amx,matmul_cpu,1000x64x1024 * 1000x1024x32,18,ms,,s,measured,m1_4p4e_8g\n"
                               "HW4,M1,gpu,matmul_mlx_gpu,64x64 * 64x64,1,ms,,s,measured,m1_4p4e_8g\n"
                               "HW5,M1 Pro,mem,memcpy_threads,threads=3,48,GB/s,,s,measured,\n";
    static const char *const expected[] = {"gemm:1954x1024x64,batch=1", "gemm:3200x1024x32,batch=1", "gemm:64x32x1024,batch=63"};
    static const double parts[] = {1954.0 / 1000000, 3200.0 / 102400, 63.0 / 1000};
    for (size_t i = 0; i < 3; i++) {
        struct validate_program p = plan_row(wide, i);
        CHECK(strcmp(p.workload, expected[i]) == 0, "'%s', expected '%s'", p.workload, expected[i]);
        const struct validate_timing second = {.seconds = 0.001};
        CHECK(fabs(validate_value(&p, &second) - 1 / parts[i]) < 1e-6 / parts[i], "%f ms", validate_value(&p, &second));
        validate_program_free(&p);
    }
    struct validate_program copy = plan_row(wide, 4);
    CHECK(copy.threads == 3 && strcmp(copy.chip, "m1-pro") == 0, "%u threads on %s", copy.threads, copy.chip);
    validate_program_free(&copy);
    struct validation *v = validated(wide);
    struct json_object *o = validation_json(v, NULL, NULL), *list = part(o, "unmodelled");
    CHECK(json_object_array_length(list) == 1, "one GPU row");
    CHECK(strcmp(text_of(json_object_array_get_idx(list, 0), "id"), "HW4") == 0, "its id is its own");
    json_object_put(o);
    validation_free(v);
}

static void test_text(void)
{
    struct orch_error error = {0};
    struct validation *v = validated(table);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(validation_write_text(v, "chip", out, &error), "%s", error.text);
    fclose(out);
    CHECK(strstr(text, "M1 Max ") && strstr(text, "MAPE") && strstr(text, "unit 'W': not the speed of a program: t:5"), "%s",
          text);
    free(text);
    validation_free(v);
}

/* The loop that perf_kernels.py of corsix/amx writes for three accumulators: four turns of three. */
static void test_loop_listing(void)
{
    struct validate_program p = plan_row(table, 0);
    static const char *const expected[] = {"fma32 x1", "fma32 x2", "fma32 x3",           "fma32 x1", "fma32 x2",
                                           "fma32 x3", "fma32 x1", "fma32 x2",           "fma32 x3", "fma32 x1",
                                           "fma32 x2", "fma32 x3", "subs\tx0, x0, #0x1", "b.ne\t100"};
    size_t first = 0;
    char text[120];
    while (first < p.words && !(amx_is_word(p.code[first]) && amx_word_op(p.code[first]) == AMX_FMA32))
        first++;
    for (size_t i = 0; i < ARRAY_COUNT(expected) && first + i < p.words; i++) {
        const uint32_t word = p.code[first + i];
        if (amx_is_word(word)) {
            amx_disasm_word(word, text, sizeof text);
        } else {
            struct a64_insn insn;
            a64_decode(word, &insn);
            a64_disasm(&insn, 0x100 + 4 * i, text, sizeof text);
        }
        CHECK(strncmp(text, expected[i], strlen(expected[i])) == 0, "word %zu: '%s', expected '%s'", i, text, expected[i]);
    }
    /* x1..x3 hold accumulators 0, 2, 1: "far" spacing. */
    struct amx_effect effect;
    amx_effect_of(AMX_FMA32, UINT64_C(2) << 20, AMX_GEN_M1, &effect);
    CHECK(effect.z_write == UINT64_C(0x4444444444444444), "%llx", (unsigned long long)effect.z_write);
    CHECK(p.code[2] == (UINT32_C(0xd2800000) | 2) && p.code[3] == (UINT32_C(0xf2a00000) | 0x20 << 5 | 2),
          "second operand %08x %08x", p.code[2], p.code[3]);
    validate_program_free(&p);
}

#define CPU_NAMES   "chip_or_core,item,value,unit,kind,source,note,chip_id\n"
#define P_ROW(item) "P (Firestorm),\"" item "\",1,cycles,measured,s,,m1_4p4e_8g\n"

static const char cpu_table[] = CPU_NAMES P_ROW("FMLA/FMUL vector any type latency") P_ROW("FADD vector reciprocal throughput")
    P_ROW("integer ADD vector latency") P_ROW("MLA / SDOT / UDOT / SMLAL vector latency")
        P_ROW("FMAX/FMIN, compare, EXT, DUP element, ZIP latency") P_ROW("FCVT/FCVTL/FCVTN/SCVTF/FCVTZS (in SIMD) latency")
            P_ROW("FADDP/ADDV/FMAXV latency") P_ROW("FDIV 4S latency") P_ROW("FDIV 2D latency") P_ROW("FDIV 8H latency")
                P_ROW("FSQRT 4S latency") P_ROW("FSQRT 2D latency") P_ROW("FRECPE/FRSQRTE latency") P_ROW("FMADD scalar latency")
                    P_ROW("SIMD to GPR (UMOV) reciprocal throughput") P_ROW("GPR to SIMD (DUP general) reciprocal throughput")
                        P_ROW("FCVTZS to GPR reciprocal throughput") P_ROW("LDR Q reciprocal throughput")
                            P_ROW("LDP Q reciprocal throughput") P_ROW("MUL 64-bit latency")
                                P_ROW("UDIV 64-bit reciprocal throughput");

/* The instruction that fills each loop, as objdump writes it. */
static const char *const cpu_listing[] = {"fmla\tv0.4s, v20.4s, v21.4s",
                                          "fadd\tv0.4s, v20.4s, v21.4s",
                                          "add\tv0.4s, v0.4s, v21.4s",
                                          "mla\tv0.4s, v20.4s, v21.4s",
                                          "fmax\tv0.4s, v0.4s, v21.4s",
                                          "scvtf\tv0.4s, v0.4s",
                                          "faddp\tv0.4s, v0.4s, v21.4s",
                                          "fdiv\tv0.4s, v0.4s, v21.4s",
                                          "fdiv\tv0.2d, v0.2d, v21.2d",
                                          "fdiv\tv0.8h, v0.8h, v21.8h",
                                          "fsqrt\tv0.4s, v0.4s",
                                          "fsqrt\tv0.2d, v0.2d",
                                          "frecpe\tv0.4s, v0.4s",
                                          "fmadd\td0, d20, d21, d0",
                                          "mov\tx0, v20.d[0]",
                                          "dup\tv0.2d, x20",
                                          "fcvtzs\tx0, d20",
                                          "ldr\tq0, [x27]",
                                          "ldp\tq0, q16, [x27]",
                                          "mul\tx0, x0, x21",
                                          "udiv\tx0, x20, x21"};

static size_t first_of_longest_run(const struct validate_program *p)
{
    /* The loop closes the program but for subs, b.ne and the three words of exit; it has 64 instructions. */
    return p->words - 5 - 64;
}

static void test_cpu_listing(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(cpu_listing); i++) {
        struct validate_program p = plan_row(cpu_table, i);
        struct a64_insn insn;
        char text[120] = "";
        if (p.code) {
            a64_decode(p.code[first_of_longest_run(&p)], &insn);
            a64_disasm(&insn, 0, text, sizeof text);
        }
        CHECK(strcmp(text, cpu_listing[i]) == 0, "row %zu: '%s', expected '%s'", i, text, cpu_listing[i]);
        validate_program_free(&p);
    }
}

static bool execute(void *context, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    return amx_core_execute(context, op, operand, fault);
}

/* Runs the dumped ELF file on the interpreter to its exit. */
static void run_to_exit(const char *id, const uint8_t *file, size_t bytes)
{
    struct orch_error error = {0};
    struct program *program = program_open(file, bytes, &(struct program_options){.path = id}, &error);
    CHECK(program != NULL, "%s: %s", id, error.text);
    if (!program)
        return;
    struct amx_core *amx = amx_core_create(AMX_GEN_M2, program_space(program), AMX_PATH_FAST);
    cpu_core_set_coprocessor(program_core(program), &(struct cpu_coprocessor){.execute = execute, .context = amx});
    struct unit_fault fault = {0};
    const enum cpu_stop stop = cpu_core_run(program_core(program), 50000000, NULL, &fault);
    CHECK(stop == CPU_STOP_EXIT && cpu_core_exit_code(program_core(program)) == 0, "%s: stop %d: %s at %#llx", id, stop,
          fault.text, (unsigned long long)fault.pc);
    amx_core_free(amx);
    program_close(program);
}

/* Dumps and runs row `step` after `step` of a table; returns how many ran. */
static unsigned run_rows(const char *name, const char *text, size_t bytes, unsigned step)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    unsigned runs = 0, ran = 0;
    CHECK(validation_add_text(v, name, text, bytes, &error), "%s", error.text);
    validation_run(v, &(struct validate_runner){one_microsecond, &runs}, &error);
    struct json_object *o = validation_json(v, NULL, &error), *rows = part(o, "rows_detail");
    for (size_t i = 0; i < json_object_array_length(rows); i += step) {
        const char *id = text_of(json_object_array_get_idx(rows, i), "id");
        size_t size = 0;
        uint8_t *file = validation_dump(v, id, &size, &error);
        if (file)
            run_to_exit(id, file, size), ran++;
        else
            CHECK(strstr(error.text, "no program of its own") || strstr(error.text, "MiB"), "%s", error.text);
        free(file);
    }
    json_object_put(o);
    validation_free(v);
    return ran;
}

#define M2_PRO(what, condition, unit) "M2 Pro," what ",\"" condition "\",1," unit ",measured,s,m2_pro_8p4e_19g\n"
#define M1_PRO(item, unit)            "M1 Pro (8P+2E),\"" item "\",1," unit ",measured,s,,m1_pro_8p2e_16g\n"

static const char memory_table[] = NAMES M2_PRO("ldx only", "1 thread, 2 register(s) per ldx, consecutive addresses", "GB/s")
    M2_PRO("ldx + ldy alternating", "1 thread, 4 register(s) per ldx, 1 per ldy, alternating between two regions", "GB/s")
        M2_PRO("ldx pair func1", "func1: ldx pair, same 128 bytes every time", "GB/s")
            M2_PRO("\"stz, 16 rows per f32 accumulator\"", "1 thread, 2 accumulators, 2 row(s) per stz, large target", "GB/s")
                M2_PRO("\"sgemm 32x8192x32 on packed data (quad ldx, quad ldy, 8 fma32 per k pair)\"", "1 thread", "GFLOPS")
                    M2_PRO("ldx + stx", "Single P-core", "ns per instruction");

static const char chase_table[] =
    CPU_NAMES M1_PRO("L1 latency", "ns") M1_PRO("L2 latency", "ns") M1_PRO("L1 read one thread", "GB/s")
        M1_PRO("L1 write all threads", "GB/s") M1_PRO("NEON FMLAL f16xf16+f32 one thread", "GFLOPS")
            M1_PRO("atomic add uncontended", "ns") "P (Firestorm),decode/rename width,8,uops/cycle,measured,s,,m1_4p4e_8g\n"
                                                   "P (Firestorm),load-to-load pointer latency,3,cycles,measured,s,,m1_4p4e_8g\n";

static void test_programs_run(void)
{
    CHECK(run_rows("t.csv", table, sizeof table - 1, 1) == 3, "rows of the first table");
    CHECK(run_rows("c.csv", cpu_table, sizeof cpu_table - 1, 1) == 21, "CPU rows");
    CHECK(run_rows("m.csv", memory_table, sizeof memory_table - 1, 1) == 6, "AMX memory rows");
    CHECK(run_rows("l.csv", chase_table, sizeof chase_table - 1, 1) == 8, "chases and streams");
}

static void run_shared(const char *name, unsigned step, unsigned least)
{
    const char *path = suite_shared(name);
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) {
        suite_skip("the published tables are not here");
        return;
    }
    char *text = NULL;
    size_t size = 0;
    ssize_t got = getdelim(&text, &size, '\0', file);
    fclose(file);
    const unsigned ran = run_rows(name, text, got > 0 ? (size_t)got : 0, step);
    CHECK(ran >= least, "%u programs ran", ran);
    free(text);
}

static void test_published_tables_run(void)
{
    run_shared("facts/amx-timing.csv", 40, 30);
}

static void test_dump(void)
{
    struct orch_error error = {0};
    struct validation *v = validated(table);
    size_t bytes = 0;
    CHECK(validation_dump(v, "t:99", &bytes, &error) == NULL && error.exit_code == ORCH_USAGE, "%s", error.text);
    CHECK(validation_dump(v, "t:5", &bytes, &error) == NULL && error.exit_code == ORCH_UNMODELLED, "%s", error.text);
    CHECK(validation_dump(v, "t:7", &bytes, &error) == NULL && strstr(error.text, "gemm:64x64x64"), "%s", error.text);
    uint8_t *file = validation_dump(v, "t:2", &bytes, &error);
    struct elf_file elf;
    struct isa_error why = {0};
    CHECK(file && elf_open(&elf, file, bytes, &why), "%s", why.text);
    CHECK(file && elf.entry == VALIDATE_CODE_ADDR, "entry %llx", (unsigned long long)elf.entry);
    free(file);
    validation_free(v);
}

static bool refuse(void *context, const struct validate_program *program, struct validate_timing *result,
                   struct orch_error *error)
{
    (void)context, (void)program, (void)result;
    return orch_fail(error, *(int *)context, "the runner says no");
}

static void test_runner_refuses(void)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    int code = ORCH_UNMODELLED;
    validation_add_text(v, "t.csv", table, sizeof table - 1, &error);
    CHECK(validation_run(v, &(struct validate_runner){refuse, &code}, &error), "%s", error.text);
    struct json_object *o = validation_json(v, NULL, &error);
    CHECK(number(o, "modelled") == 0 && json_object_array_length(part(o, "unmodelled")) == 7, "all rows are listed");
    CHECK(part(o, "mape") == NULL, "nothing to score");
    json_object_put(o);
    code = ORCH_INTERRUPTED;
    CHECK(!validation_run(v, &(struct validate_runner){refuse, &code}, &error), "an interruption ends it");
    validation_free(v);
}

static const struct suite_test tests[] = {
    {"CSV: quotes, line ends, names", test_csv_cells},
    {"CSV: errors have a place", test_csv_errors},
    {"scores by hand", test_scores},
    {"the JSON document", test_json},
    {"unmodelled rows have a reason", test_unmodelled},
    {"products of frameworks are scaled", test_framework_products},
    {"the text table", test_text},
    {"an AMX loop is the published one", test_loop_listing},
    {"CPU loops hold the instruction of the row", test_cpu_listing},
    {"every kind of program runs to its end", test_programs_run},
    {"programs of the published table run", test_published_tables_run},
    {"dump writes ELF", test_dump},
    {"a runner may refuse", test_runner_refuses},
};
SUITE_MAIN("validate", tests)
