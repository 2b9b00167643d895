/* The programs that the validation builds for rows: listed, compared with published loops, and run on the interpreter. */
#include "isa/a64/a64_isa.h"
#include "isa/array_count.h"
#include "sim/workload/cpu/program.h"
#include "tests/sim/validate_rows_example.h"
#include "units/amx/amx_core.h"

#include <stdlib.h>

/* The loop that perf_kernels.py of corsix/amx writes for three accumulators: four turns of three. */
static void test_loop_listing(void)
{
    struct validate_program p = example_plan_row(example_table, 0);
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
    /* x1 to x3 hold accumulators 0, 2, 1: the "far" spacing. */
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
    /* The loop of 64 instructions is followed by subs, b.ne and the three words of exit. */
    return p->words - 5 - 64;
}

static void test_cpu_listing(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(cpu_listing); i++) {
        struct validate_program p = example_plan_row(cpu_table, i);
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

/* Runs the ELF file of a row on the interpreter to its exit. */
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

/* Writes and runs every `step`th row of a table. Returns how many ran. */
static unsigned run_rows(const char *name, const char *text, size_t bytes, unsigned step)
{
    struct orch_error error = {0};
    struct validation *v = validation_create();
    unsigned runs = 0, ran = 0;
    CHECK(validation_add_text(v, name, text, bytes, &error), "%s", error.text);
    validation_run(v, &(struct validate_runner){example_one_microsecond, &runs, NULL}, &error);
    struct json_object *o = validation_json(v, NULL, &error), *rows = json_member(o, "rows_detail");
    for (size_t i = 0; i < json_object_array_length(rows); i += step) {
        const char *id = json_text(json_object_array_get_idx(rows, i), "id");
        size_t size = 0;
        uint8_t *file = validation_dump(v, id, NULL, NULL, &size, &error);
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

static const char memory_table[] =
    EXAMPLE_ROW_KEYS M2_PRO("ldx only", "1 thread, 2 register(s) per ldx, consecutive addresses", "GB/s")
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
    CHECK(run_rows("t.csv", example_table, sizeof example_table - 1, 1) == 3, "rows of the first table");
    CHECK(run_rows("c.csv", cpu_table, sizeof cpu_table - 1, 1) == 21, "CPU rows");
    CHECK(run_rows("m.csv", memory_table, sizeof memory_table - 1, 1) == 6, "AMX memory rows");
    CHECK(run_rows("l.csv", chase_table, sizeof chase_table - 1, 1) == 8, "chases and streams");
}

static void test_published_tables_run(void)
{
    FILE *file = fopen(ORCHARD_SOURCE_DIR "/sim/prove/tables/amx-timing.csv", "rb");
    char *text = NULL;
    size_t size = 0;
    CU_ASSERT_FATAL(file != NULL);
    ssize_t got = getdelim(&text, &size, '\0', file);
    fclose(file);
    const unsigned ran = run_rows("amx-timing.csv", text, got > 0 ? (size_t)got : 0, 40);
    CHECK(ran >= 30, "%u programs ran", ran);
    free(text);
}

static void test_dump(void)
{
    struct orch_error error = {0};
    struct validation *v = example_validated(example_table);
    size_t bytes = 0;
    CHECK(validation_dump(v, "t:99", NULL, NULL, &bytes, &error) == NULL && error.exit_code == ORCH_USAGE, "%s", error.text);
    CHECK(validation_dump(v, "t:5", NULL, NULL, &bytes, &error) == NULL && error.exit_code == ORCH_UNMODELLED, "%s", error.text);
    CHECK(validation_dump(v, "t:7", NULL, NULL, &bytes, &error) == NULL && strstr(error.text, "gemm:64x64x64"), "%s", error.text);
    uint8_t *file = validation_dump(v, "t:2", NULL, NULL, &bytes, &error);
    struct elf_file elf;
    struct isa_error why = {0};
    CHECK(file && elf_open(&elf, file, bytes, &why), "%s", why.text);
    CHECK(file && elf.entry == VALIDATE_CODE_ADDR, "entry %llx", (unsigned long long)elf.entry);
    free(file);
    validation_free(v);
}

static const struct suite_test tests[] = {
    {"an AMX loop is the published one", test_loop_listing},
    {"CPU loops hold the instruction of the row", test_cpu_listing},
    {"every kind of program runs to its end", test_programs_run},
    {"programs of the published table run to their end", test_published_tables_run},
    {"--dump writes ELF files", test_dump},
};
SUITE_MAIN("validate programs", tests)
