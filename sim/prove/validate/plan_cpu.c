/* Rows about CPU instructions: latency from a chain, throughput from a rotation, NEON peak rates. Encodings as in the Arm ARM. */
#include "isa/array_count.h"
#include "sim/prove/validate/program.h"

#include <stdlib.h>
#include <string.h>

enum form {
    FORM_RRR,      /* d, n, m */
    FORM_RR,       /* d, n */
    FORM_SUM,      /* d accumulates n, m */
    FORM_FMADD,    /* d, n, m, a */
    FORM_TO_GPR,   /* general d, vector n */
    FORM_FROM_GPR, /* vector d, general n */
    FORM_LOAD,     /* d, [n] */
    FORM_LOAD_PAIR,
    FORM_ALONE /* the word as it is */
};

struct instruction {
    const char *what;
    uint32_t word;
    enum form form;
};

enum { ROTATED = 16, COUNTER = 28, BASE = 27, LOOPS = 600 };

static const struct instruction instructions[] = {
    {"FMLA/FMUL vector any type", 0x4e20cc00, FORM_SUM},
    {"FADD vector", 0x4e20d400, FORM_RRR},
    {"integer ADD vector", 0x4ea08400, FORM_RRR},
    {"MLA / SDOT / UDOT / SMLAL vector", 0x4ea09400, FORM_SUM},
    {"SDOT/UDOT vector", 0x4e809400, FORM_SUM},
    {"FMAX/FMIN, compare, EXT, DUP element, ZIP", 0x4e20f400, FORM_RRR},
    {"FMAX, compare, EXT, DUP element", 0x4e20f400, FORM_RRR},
    {"FCVT/FCVTL/FCVTN/SCVTF/FCVTZS (in SIMD)", 0x4e21d800, FORM_RR},
    {"FCVT family in SIMD", 0x4e21d800, FORM_RR},
    {"FADDP/ADDV/FMAXV", 0x6e20d400, FORM_RRR},
    {"FDIV 4S", 0x6e20fc00, FORM_RRR},
    {"FDIV 2D", 0x6e60fc00, FORM_RRR},
    {"FDIV 8H", 0x6e403c00, FORM_RRR},
    {"FSQRT 4S", 0x6ea1f800, FORM_RR},
    {"FSQRT 2D", 0x6ee1f800, FORM_RR},
    {"FSQRT scalar S", 0x1e21c000, FORM_RR},
    {"FRECPE/FRSQRTE", 0x4ea1d800, FORM_RR},
    {"FMADD scalar", 0x1f400000, FORM_FMADD},
    {"SIMD to GPR (UMOV)", 0x4e083c00, FORM_TO_GPR},
    {"UMOV", 0x4e083c00, FORM_TO_GPR},
    {"FCVTZS to GPR", 0x9e780000, FORM_TO_GPR},
    {"GPR to SIMD (DUP general)", 0x4e080c00, FORM_FROM_GPR},
    {"LDR Q", 0x3dc00000, FORM_LOAD},
    {"LDR 64-bit", 0xf9400000, FORM_LOAD},
    {"LDP Q", 0xad400000, FORM_LOAD_PAIR},
    {"MUL 64-bit", 0x9b007c00, FORM_RRR},
    {"UDIV 64-bit", 0x9ac00800, FORM_RRR},
};

static const struct instruction *find_instruction(const char *what, const char **rest)
{
    for (size_t i = 0; i < ARRAY_COUNT(instructions); i++) {
        const size_t length = strlen(instructions[i].what);
        if (strncmp(what, instructions[i].what, length) == 0 && what[length] == ' ') {
            *rest = what + length + 1;
            return &instructions[i];
        }
    }
    return NULL;
}

/* An instruction of a rotation that writes register d; n and m are registers that nobody writes. */
static uint32_t rotated(const struct instruction *insn, unsigned d)
{
    switch (insn->form) {
    case FORM_ALONE: return insn->word;
    case FORM_LOAD: return emit_rd_rn_rm(insn->word, d, BASE, 0);
    case FORM_LOAD_PAIR: return emit_rd_rn_rm(insn->word, d, BASE, 0) | (d + ROTATED) % 32 << 10;
    case FORM_FMADD: return emit_rd_rn_rm(insn->word, d, 20, 21) | d << 10;
    case FORM_RR:
    case FORM_TO_GPR:
    case FORM_FROM_GPR: return emit_rd_rn_rm(insn->word, d, 20, 0);
    case FORM_RRR:
    case FORM_SUM: break;
    }
    return emit_rd_rn_rm(insn->word, d, 20, 21);
}

static uint32_t chained(const struct instruction *insn)
{
    switch (insn->form) {
    case FORM_RRR: return emit_rd_rn_rm(insn->word, 0, 0, 21);
    case FORM_RR:
    case FORM_LOAD: return emit_rd_rn_rm(insn->word, 0, 0, 0);
    case FORM_FMADD: return emit_rd_rn_rm(insn->word, 0, 20, 21);
    default: return emit_rd_rn_rm(insn->word, 0, 20, 21);
    }
}

/* Sets operands that keep their values: 1 (or a large dividend) in general registers, 0 in vectors. */
static void set_operands(struct emit *e, bool large)
{
    for (unsigned x = 0; x < 22; x++)
        emit_constant(e, x, large && x < 16 ? UINT64_C(1) << 63 : 1);
    emit_constant(e, BASE, VALIDATE_DATA_ADDR);
}

static bool build(struct validate_row *row, struct validate_program *program, const struct instruction *insn, bool chain,
                  double each)
{
    const bool pointer = chain && insn->form == FORM_LOAD;
    struct emit e = {0};
    set_operands(&e, strstr(row->what, "maximum") != NULL);
    if (pointer)
        emit_constant(&e, 0, VALIDATE_DATA_ADDR);
    const size_t top = emit_loop(&e, COUNTER, LOOPS);
    for (unsigned i = 0; i < 4 * ROTATED; i++)
        emit_word(&e, chain ? chained(insn) : rotated(insn, i % ROTATED));
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    program->data_bytes = 4096;
    program->warm = true;
    program->work = (double)LOOPS * 4 * ROTATED * each;
    if (pointer) {
        program->patch = calloc(1, sizeof *program->patch);
        if (!program->patch) {
            emit_free(&e);
            return validate_refuse(row, "out of memory");
        }
        program->patch[program->patches++] = (struct validate_patch){0, VALIDATE_DATA_ADDR};
    }
    return validate_take_code(row, program, &e);
}

/* Loads whose results are indices of the next: as far as arithmetic, and one cycle further than a pointer. */
static bool plan_index_chain(struct validate_row *row, struct validate_program *program)
{
    struct emit e = {0};
    emit_constant(&e, 0, 0);
    emit_constant(&e, BASE, VALIDATE_DATA_ADDR);
    const size_t top = emit_loop(&e, COUNTER, LOOPS);
    emit_repeat(&e, emit_rd_rn_rm(0xf8606800, 0, BASE, 0), 4 * ROTATED); /* ldr x0, [base, x0] */
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    program->data_bytes = 4096;
    program->warm = true;
    program->work = (double)LOOPS * 4 * ROTATED;
    return validate_take_code(row, program, &e);
}

/* ---- round trips ---- */

/* A chain of several instructions through x0, d0, x6 (which holds an address where the same address stands) and x8 (0). So many
 * cycles of it are those of integer instructions, and are taken off. */
static bool build_trip(struct validate_row *row, struct validate_program *program, const uint32_t *word, unsigned count,
                       unsigned integers)
{
    static const struct instruction add = {"ADD", 0x8b000000, FORM_RRR};
    struct validate_program *const less = integers ? validate_less(program, 1) : NULL;
    struct emit e = {0};
    program->patch = calloc(1, sizeof *program->patch);
    if (!program->patch || (integers && !less))
        return validate_refuse(row, "out of memory");
    program->patch[program->patches++] = (struct validate_patch){0, VALIDATE_DATA_ADDR};
    set_operands(&e, false);
    emit_constant(&e, 6, VALIDATE_DATA_ADDR);
    emit_constant(&e, 8, 0);
    const size_t top = emit_loop(&e, COUNTER, LOOPS);
    for (unsigned i = 0; i < ROTATED * count; i++)
        emit_word(&e, word[i % count]);
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    program->threads = 1;
    program->measure = VALIDATE_CYCLES_PER_WORK;
    program->data_bytes = 4096;
    program->warm = true;
    program->work = (double)LOOPS * ROTATED;
    if (!validate_take_code(row, program, &e) || !less)
        return program->code;
    less->threads = 1;
    less->core = program->core;
    less->measure = VALIDATE_CYCLES_PER_WORK;
    return build(row, less, &add, true, 1.0 / integers);
}

enum { FMOV_D0_X0 = 0x9e670000, FMOV_X0_D0 = 0x9e660000, LDR_X6_X6 = 0xf94000c6 };
enum { EOR_X8_X0 = 0xca000108, ADD_X6_X8 = 0x8b0800c6, OF_X6 = 6 << 5, AND_Q1 = 1 << 10 };

/* Latencies that dougallj/applecpu gives as upper bounds, since only a way and its way back can be measured
 * (measurements/firestorm/UMOV_D_to_X.html, LDR_Q.html and others). */
static bool plan_bound(struct validate_row *row, struct validate_program *program, const struct instruction *insn)
{
    const uint32_t there[] = {insn->word, FMOV_D0_X0}, back[] = {insn->word, FMOV_X0_D0};
    const uint32_t load[] = {insn->word | OF_X6 | (insn->form == FORM_LOAD_PAIR ? AND_Q1 : 0), FMOV_X0_D0, EOR_X8_X0, EOR_X8_X0,
                             ADD_X6_X8};
    if (insn->form == FORM_LOAD || insn->form == FORM_LOAD_PAIR)
        return build_trip(row, program, load, ARRAY_COUNT(load), 3);
    return build_trip(row, program, insn->form == FORM_TO_GPR ? there : back, ARRAY_COUNT(there), 0);
}

static bool plan_load_to_alu(struct validate_row *row, struct validate_program *program)
{
    static const uint32_t trip[] = {LDR_X6_X6, ADD_X6_X8};
    return build_trip(row, program, trip, ARRAY_COUNT(trip), 1);
}

static bool plan_instruction(struct validate_row *row, struct validate_program *program)
{
    const char *rest;
    const struct instruction *const insn = find_instruction(row->what, &rest);
    if (!insn)
        return false;
    if (strncmp(row->condition, "upper bound", 11) == 0)
        return plan_bound(row, program, insn);
    const bool latency = strncmp(rest, "latency", 7) == 0;
    if (!latency && strncmp(rest, "reciprocal throughput", 21) != 0)
        return validate_refuse(row, "'%.60s': neither latency nor throughput", rest);
    if (latency && (insn->form == FORM_TO_GPR || insn->form == FORM_FROM_GPR || insn->form == FORM_LOAD_PAIR))
        return validate_refuse(row, "no chain of this instruction alone");
    if (latency && insn->form == FORM_LOAD && insn->word != 0xf9400000)
        return validate_refuse(row, "a vector load gives no address for the next one");
    program->measure = VALIDATE_CYCLES_PER_WORK;
    program->threads = 1;
    if (latency && insn->form == FORM_LOAD)
        return plan_index_chain(row, program);
    return build(row, program, insn, latency, 1);
}

/* clpeak's chains that are not of one instruction alone (src/cpu/kernels/base_compute.h): so many of them side by side, whose
 * steps need what the step before made. `add`: the instruction beside the one that counts. */
struct chain {
    unsigned count;
    uint32_t add;
    void (*emit)(struct emit *e, uint32_t word, uint32_t add, unsigned chain);
};

enum { FIRST_CONSTANT = 16, SECOND_CONSTANT, FIRST_TEMPORARY = 20, SECOND_TEMPORARY };

/* x = (x + a) / (x + b) */
static void emit_quotient(struct emit *e, uint32_t word, uint32_t add, unsigned chain)
{
    emit_word(e, emit_rd_rn_rm(add, FIRST_TEMPORARY, chain, FIRST_CONSTANT));
    emit_word(e, emit_rd_rn_rm(add, SECOND_TEMPORARY, chain, SECOND_CONSTANT));
    emit_word(e, emit_rd_rn_rm(word, chain, FIRST_TEMPORARY, SECOND_TEMPORARY));
}

/* x = sqrt(x + a) */
static void emit_root(struct emit *e, uint32_t word, uint32_t add, unsigned chain)
{
    emit_word(e, emit_rd_rn_rm(add, chain, chain, FIRST_CONSTANT));
    emit_word(e, emit_rd_rn_rm(word, chain, chain, 0));
}

/* x = x * a + b: the sum is made where b is moved first. Chains use two registers in turn. */
static void emit_product(struct emit *e, uint32_t word, uint32_t move, unsigned chain)
{
    emit_word(e, emit_rd_rn_rm(move, FIRST_TEMPORARY + chain, SECOND_CONSTANT, SECOND_CONSTANT));
    emit_word(e, emit_rd_rn_rm(word, FIRST_TEMPORARY + chain, chain, FIRST_CONSTANT));
    emit_word(e, emit_rd_rn_rm(move, chain, SECOND_CONSTANT, SECOND_CONSTANT));
    emit_word(e, emit_rd_rn_rm(word, chain, FIRST_TEMPORARY + chain, FIRST_CONSTANT));
}

/* x = (a + x) / (x & 255 | 257) */
static void emit_whole_quotient(struct emit *e, uint32_t word, uint32_t add, unsigned chain)
{
    emit_word(e, emit_rd_rn_rm(add, FIRST_TEMPORARY, FIRST_CONSTANT, chain));
    emit_word(e, emit_rd_rn_rm(0x92401c00, SECOND_TEMPORARY, chain, 0));                          /* and x, x, #255 */
    emit_word(e, emit_rd_rn_rm(0xaa000000, SECOND_TEMPORARY, SECOND_TEMPORARY, SECOND_CONSTANT)); /* orr */
    emit_word(e, emit_rd_rn_rm(word, chain, FIRST_TEMPORARY, SECOND_TEMPORARY));
}

struct peak {
    const char *what, *clpeak; /* clpeak: its name in the tables of that programme, "clpeak_cpu_..." */
    uint32_t word;             /* 0 when there are several instructions (build_mixed) */
    enum form form;
    double operations;
    struct chain chain; /* count 0: a rotation of the instruction over registers */
};

static const struct peak peaks[] = {
    {"NEON f32 FMA ", "single_precision_compute_neon", 0x4e20cc00, FORM_SUM, 8, {0}},
    {"NEON f16 FMA ", "half_precision_compute_neon_fp16", 0x4e400c00, FORM_SUM, 16, {0}},
    {"NEON f64 FMA ", "double_precision_compute_neon", 0x4e60cc00, FORM_SUM, 4, {0}},
    {"NEON FMLAL f16xf16+f32 ", "mixed_precision_compute_neon_fp16fml", 0, FORM_SUM, 16, {0}},
    {"NEON SDOT int8 ", "int8_dot_product_compute_neon_dotprod", 0x4e809400, FORM_SUM, 32, {0}},
    {"NEON MLA int32 ", "integer_compute_neon", 0x4ea09400, FORM_SUM, 16, {8, 0x4ea01c00, emit_product}},
    {"NEON FDIV f32 ", "single_precision_divide_neon", 0x6e20fc00, FORM_RRR, 4, {8, 0x4e20d400, emit_quotient}},
    {"NEON FDIV f64 ", "double_precision_divide_neon", 0x6e60fc00, FORM_RRR, 2, {8, 0x4e60d400, emit_quotient}},
    {"NEON FSQRT f32 ", "single_precision_sqrt_neon", 0x6ea1f800, FORM_RR, 4, {8, 0x4e20d400, emit_root}},
    {"NEON FSQRT f64 ", "double_precision_sqrt_neon", 0x6ee1f800, FORM_RR, 2, {8, 0x4e60d400, emit_root}},
    {"UDIV 64-bit ", "integer_divide_compute", 0x9ac00800, FORM_RRR, 1, {4, 0x8b000000, emit_whole_quotient}},
};

/* "one thread" of "NEON f32 FMA one thread", or what clpeak's table says for it ("float ST"); NULL when the row is of another
 * peak. */
static const char *threads_of(const struct validate_row *row, const struct peak *peak)
{
    const size_t length = strlen(peak->what);
    if (strncmp(row->what, peak->what, length) == 0)
        return strcmp(row->what + length, "one thread") == 0 || strcmp(row->what + length, "all threads") == 0
                   ? row->what + length
                   : NULL;
    if (strncmp(row->what, "clpeak_cpu_", 11) != 0 || strcmp(row->what + 11, peak->clpeak) != 0)
        return NULL;
    return strstr(row->shape, "ST") ? "one thread" : "all threads";
}

/* clpeak's mixed-precision chains (src/cpu/kernels/lowp_compute.h): each step narrows the f32 sum to f16, doubles it into a whole
 * register and adds two widening products. Only the products count. */
static bool build_mixed(struct validate_row *row, struct validate_program *program, double each)
{
    struct emit e = {0};
    set_operands(&e, false);
    const size_t top = emit_loop(&e, COUNTER, LOOPS);
    for (unsigned i = 0; i < 4 * ROTATED; i++) {
        const unsigned sum = i % ROTATED, narrow = 24 + i % 8;
        emit_word(&e, emit_rd_rn_rm(0x0e216800, narrow, sum, 0));    /* fcvtn .4h, .4s */
        emit_word(&e, emit_rd_rn_rm(0x4e080400, narrow, narrow, 0)); /* dup .2d, .d[0] */
        emit_word(&e, emit_rd_rn_rm(0x4e20ec00, sum, narrow, 17));   /* fmlal .4s, .4h, .4h */
        emit_word(&e, emit_rd_rn_rm(0x6e20cc00, sum, 18, 19));       /* fmlal2 .4s, .4h, .4h */
    }
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    program->data_bytes = 4096;
    program->warm = true;
    program->work = (double)LOOPS * 4 * ROTATED * each;
    return validate_take_code(row, program, &e);
}

static bool build_chains(struct validate_row *row, struct validate_program *program, const struct peak *peak)
{
    const unsigned rounds = 4 * ROTATED / peak->chain.count;
    struct emit e = {0};
    set_operands(&e, false);
    const size_t top = emit_loop(&e, COUNTER, LOOPS);
    for (unsigned i = 0; i < rounds * peak->chain.count; i++)
        peak->chain.emit(&e, peak->word, peak->chain.add, i % peak->chain.count);
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    program->data_bytes = 4096;
    program->warm = true;
    program->work = (double)LOOPS * rounds * peak->chain.count * peak->operations;
    return validate_take_code(row, program, &e);
}

static bool plan_peak(struct validate_row *row, struct validate_program *program)
{
    for (size_t i = 0; i < ARRAY_COUNT(peaks); i++) {
        const char *const threads = threads_of(row, &peaks[i]);
        if (!threads)
            continue;
        const bool one = strcmp(threads, "one thread") == 0;
        program->core = one ? VALIDATE_P_CORE : VALIDATE_ANY_CORE;
        program->threads = one ? 1 : 0;
        program->measure = VALIDATE_RATE_SUM;
        if (!peaks[i].word)
            return build_mixed(row, program, peaks[i].operations);
        if (peaks[i].chain.count)
            return build_chains(row, program, &peaks[i]);
        const struct instruction insn = {peaks[i].what, peaks[i].word, peaks[i].form};
        return build(row, program, &insn, false, peaks[i].operations);
    }
    return false;
}

static bool plan_width(struct validate_row *row, struct validate_program *program)
{
    struct emit e = {0};
    const size_t top = emit_loop(&e, COUNTER, LOOPS);
    emit_repeat(&e, EMIT_NOP, 126);
    emit_loop_end(&e, COUNTER, top);
    emit_exit(&e);
    program->warm = true;
    program->threads = 1;
    program->measure = VALIDATE_WORK_PER_CYCLE;
    program->work = LOOPS * 128.0;
    return validate_take_code(row, program, &e);
}

/* Numbers of pipes, as instructions per cycle of a loop that needs nothing else. */
static bool plan_pipes(struct validate_row *row, struct validate_program *program)
{
    static const struct instruction pipes[] = {
        {"FP/SIMD pipes", 0x4e20d400, FORM_RRR}, /* fadd .4s */
        {"integer pipes", 0x8b000000, FORM_RRR}, /* add */
        {"load pipes", 0xf9400000, FORM_LOAD},   /* ldr */
        {"load/store pipes", 0xf9400000, FORM_LOAD},
        {"store pipes", 0xf9000000, FORM_LOAD}, /* str: the register is read */
        {"taken branches per cycle", 0x14000001, FORM_ALONE},
    };
    for (size_t i = 0; i < ARRAY_COUNT(pipes); i++)
        if (strcmp(row->what, pipes[i].what) == 0 && strcmp(row->unit, "count") == 0) {
            program->measure = VALIDATE_WORK_PER_CYCLE;
            program->threads = 1;
            return build(row, program, &pipes[i], false, 1);
        }
    return false;
}

static bool plan_pointer_chain(struct validate_row *row, struct validate_program *program)
{
    static const struct instruction load = {"LDR 64-bit", 0xf9400000, FORM_LOAD};
    program->threads = 1;
    program->measure = VALIDATE_CYCLES_PER_WORK;
    return build(row, program, &load, true, 1);
}

bool validate_plan_cpu(struct validate_row *row, struct validate_program *program)
{
    if (validate_plan_clpeak(row, program) || row->why[0])
        return !row->why[0];
    program->core = strncmp(row->chip, "E (", 3) == 0 ? VALIDATE_E_CORE : VALIDATE_P_CORE;
    if (plan_peak(row, program) || row->why[0])
        return !row->why[0];
    if (plan_pipes(row, program) || row->why[0])
        return !row->why[0];
    if (strcmp(row->what, "decode/rename width") == 0 || strcmp(row->what, "retire width") == 0)
        return plan_width(row, program);
    if (strcmp(row->what, "load-to-load pointer latency") == 0 || strcmp(row->what, "L1D load-load latency") == 0)
        return plan_pointer_chain(row, program);
    if (strcmp(row->what, "load-to-ALU latency") == 0)
        return plan_load_to_alu(row, program);
    return plan_instruction(row, program);
}
