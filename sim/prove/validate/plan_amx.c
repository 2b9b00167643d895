/* Rows about AMX instructions without loads and stores: tables of corsix/amx (perf.c and perf_kernels.py there show what ran),
 * zhen8838 and eugenehp/amx-rs. Operand bits as in corsix/amx fma.md, mac16.md, matfp.md, vecfp.md. */
#include "isa/amx/amx_isa.h"
#include "isa/array_count.h"
#include "sim/prove/validate/program.h"

#include <string.h>

#define VECTOR           (UINT64_C(1) << 63)
#define MATFP_MODE(mode) ((uint64_t)(mode) << 42)

/* `rows` is the mask of the Z row field that distinguishes accumulators. */
struct amx_form {
    const char *what;
    unsigned op;
    uint64_t operand;
    unsigned rows;
    double operations;
};

static const struct amx_form forms[] = {
    {"fma16 in matrix mode Z=f16[32][32]", AMX_FMA16, 0, 0x01, 2048},
    {"fma16 in matrix mode Z=f32[32][32]", AMX_FMA16, UINT64_C(1) << 62, 0x00, 2048},
    {"fma32 in matrix mode Z=f32[16][16]", AMX_FMA32, 0, 0x03, 512},
    {"fma64 in matrix mode Z=f64[8][8]", AMX_FMA64, 0, 0x07, 128},
    {"fma16 in vector mode Z=f16[32]", AMX_FMA16, VECTOR, 0x3f, 64},
    {"fma32 in vector mode Z=f32[16]", AMX_FMA32, VECTOR, 0x3f, 32},
    {"fma64 in vector mode Z=f64[8]", AMX_FMA64, VECTOR, 0x3f, 16},
    {"mac16 in matrix mode, with both of XY=i8, and each Z accumulator being i16[32][32]", AMX_MAC16, UINT64_C(3) << 60, 0x01,
     2048},
    {"mac16 in matrix mode, with X or Y or both being i16, and each Z accumulator being i16[32][32]", AMX_MAC16, 0, 0x01, 2048},
    {"mac16 in matrix mode, with both of XY=i8, and each Z accumulator being i32[32][32]", AMX_MAC16, UINT64_C(7) << 60, 0x00,
     2048},
    {"mac16 in matrix mode, with X or Y or both being i16, and each Z accumulator being i32[32][32]", AMX_MAC16,
     UINT64_C(4) << 60, 0x00, 2048},
    {"mac16 in vector mode, with both of XY=i8, and each Z accumulator being i16[32]", AMX_MAC16, VECTOR | UINT64_C(3) << 60,
     0x3f, 64},
    {"mac16 in vector mode, with X or Y or both being i16, and each Z accumulator being i16[32]", AMX_MAC16, VECTOR, 0x3f, 64},
    {"matfp XY=bf16[32] Z=bf16[32][32]", AMX_MATFP, MATFP_MODE(0), 0x01, 2048},
    {"matfp XY=bf16[32] Z=f32[32][32]", AMX_MATFP, MATFP_MODE(1), 0x00, 2048},
    {"matfp XY=f16[32] Z=f16[32][32]", AMX_MATFP, MATFP_MODE(2), 0x01, 2048},
    {"matfp XY=f16[32] Z=f32[32][32]", AMX_MATFP, MATFP_MODE(3), 0x00, 2048},
    {"matfp XY=f32[16] Z=f32[16][16]", AMX_MATFP, MATFP_MODE(4), 0x03, 512},
    {"matfp XY=f64[8] Z=f64[8][8]", AMX_MATFP, MATFP_MODE(7), 0x07, 128},
    {"vecfp XY=bf16[32] Z=bf16[32]", AMX_VECFP, MATFP_MODE(0), 0x3f, 64},
    {"vecfp XY=bf16[32] Z=f32[2][16]", AMX_VECFP, MATFP_MODE(1), 0x3e, 64},
    {"vecfp XY=f16[32] Z=f16[32]", AMX_VECFP, MATFP_MODE(2), 0x3f, 64},
    {"vecfp XY=f16[32] Z=f32[2][16]", AMX_VECFP, MATFP_MODE(3), 0x3e, 64},
    {"vecfp XY=f32[16] Z=f32[16]", AMX_VECFP, MATFP_MODE(4), 0x3f, 32},
    {"vecfp XY=f64[8] Z=f64[8]", AMX_VECFP, MATFP_MODE(7), 0x3f, 16},
    /* eugenehp/amx-rs, with one accumulator */
    {"fma16 vector (32 f16)", AMX_FMA16, VECTOR, 0, 64},
    {"fma16 matrix (32×32)", AMX_FMA16, 0, 0, 2048},
    {"fma32 vector (16 f32)", AMX_FMA32, VECTOR, 0, 32},
    {"fma32 matrix (16×16)", AMX_FMA32, 0, 0, 512},
    {"fma64 vector (8 f64)", AMX_FMA64, VECTOR, 0, 16},
    {"fma64 matrix (8×8)", AMX_FMA64, 0, 0, 128},
    {"mac16 vector (32 i16)", AMX_MAC16, VECTOR, 0, 64},
    {"mac16 matrix (32×32)", AMX_MAC16, 0, 0, 2048},
};

static const struct amx_form *find_form(const char *what)
{
    static const char second[] = " (second run)";
    size_t length = strlen(what);
    if (length > sizeof second - 1 && strcmp(what + length - (sizeof second - 1), second) == 0)
        length -= sizeof second - 1;
    for (size_t i = 0; i < ARRAY_COUNT(forms); i++)
        if (strlen(forms[i].what) == length && memcmp(forms[i].what, what, length) == 0)
            return &forms[i];
    return NULL;
}

/* Z row of accumulator i in the published tables: counts in the bits of the mask, highest bit first ("far" spacing). */
static uint64_t far_row(unsigned i, unsigned mask)
{
    unsigned row = 0;
    for (unsigned bit = 32; bit; bit >>= 1)
        if (mask & bit) {
            if (i & 1)
                row |= bit;
            i >>= 1;
        }
    return row;
}

static bool read_cores(struct validate_row *row, struct validate_program *program, unsigned *accumulators)
{
    unsigned threads = 0, second = 0;
    const char *const c = row->condition;
    *accumulators = 1;
    if (sscanf(c, "%u thread(s), %u Z accumulators", &threads, accumulators) == 2) {
        program->core = VALIDATE_ANY_CORE;
    } else if (strncmp(c, "Single P-core", 13) == 0) {
        threads = 1, program->core = VALIDATE_P_CORE;
    } else if (strncmp(c, "Single E-core", 13) == 0) {
        threads = 1, program->core = VALIDATE_E_CORE;
    } else if (sscanf(c, "All P-cores parallel (%u threads)", &threads) == 1) {
        program->core = VALIDATE_P_CORE;
    } else if (sscanf(c, "All E-cores parallel (%u threads)", &threads) == 1) {
        program->core = VALIDATE_E_CORE;
    } else if (sscanf(c, "Whole chip (%u cores: %uP", &threads, &second) == 2) {
        program->core = VALIDATE_ANY_CORE;
    } else {
        return validate_refuse(row, "the condition does not say which cores ran it");
    }
    if (threads == 0 || threads > VALIDATE_MAX_THREADS || *accumulators == 0 || *accumulators > 16)
        return validate_refuse(row, "%u threads, %u accumulators", threads, *accumulators);
    program->threads = threads;
    /* amx-rs asks for E cores by background priority; corsix/amx leaves the cores to the system. */
    program->background = strstr(row->source, "amx-rs") != NULL && program->core != VALIDATE_P_CORE;
    program->moves = strstr(row->source, "corsix/amx") != NULL;
    return true;
}

/* Reads how the row's unit counts, and how much one instruction counts. amx-rs adds the rates of its threads; other sources
 * divide all work by the time of the slowest. */
static bool read_unit(struct validate_row *row, struct validate_program *program, double operations, double *each)
{
    const bool own_rates = strstr(row->source, "amx-rs") != NULL && program->threads > 1;
    program->measure = own_rates ? VALIDATE_RATE_SUM : VALIDATE_RATE;
    if (strcmp(row->unit, "GFLOPS") == 0 || strcmp(row->unit, "GOPS") == 0)
        *each = operations;
    else if (strcmp(row->unit, "1e9 instr/s") == 0)
        *each = 1;
    else if (strncmp(row->unit, "ns per instruction", 18) == 0)
        *each = 1, program->measure = VALIDATE_NS_PER_WORK;
    else
        return validate_refuse(row, "unit '%.40s' of an instruction rate", row->unit);
    return true;
}

/* Rows that other rows of the same table contradict. */
static const char *doubt_of_loop(const struct validate_row *row, const struct amx_form *form, unsigned threads,
                                 unsigned accumulators)
{
    const bool i16 = form->op == AMX_MAC16 && form->operand == 0;
    if (i16 && threads == 2 && strcmp(row->unit, "GOPS") == 0)
        return "the same products with 32-bit results reach 2948 with two threads, these 2291 and 2362: the clock of a cluster "
               "with one more busy core would explain it";
    const bool vector = form->operand == VECTOR;
    if (strstr(row->condition, "E-core") && strcmp(row->chip, "M1 Max") == 0 &&
        (threads == 2 ? vector && form->op != AMX_FMA64 && form->op != AMX_MAC16 : form->op == AMX_FMA64 && !vector))
        return "two to seventeen times slower than the other loops on the same cores: they were not left alone";
    if (form->op == AMX_MATFP && form->operand == MATFP_MODE(7) && threads == 2 && accumulators == 2 &&
        strcmp(row->chip, "M2") == 0)
        return "two and three threads with two accumulators both mean chains at 1.97 GHz, with one accumulator at 2.57: a limit "
               "of power would explain it";
    return NULL;
}

bool validate_plan_amx_loop(struct validate_row *row, struct validate_program *program)
{
    const struct amx_form *const form = find_form(row->what);
    if (!form)
        return false;
    unsigned n = 0;
    double each = 0;
    uint64_t operands[16];
    if (!read_cores(row, program, &n) || !read_unit(row, program, form->operations, &each))
        return false;
    const unsigned distinct = 1u << __builtin_popcount(form->rows);
    if (n > distinct)
        return validate_refuse(row, "%u accumulators, the type has %u", n, distinct);
    for (unsigned i = 0; i < n; i++)
        operands[i] = form->operand | far_row(i, form->rows) << 20;
    program->note = doubt_of_loop(row, form, program->threads, n);
    return validate_build_amx_loop(row, program, form->op, operands, n, each);
}
