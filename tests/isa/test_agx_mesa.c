/* AGX words against Mesa's own disassembler (src/asahi/isa/test/cases.txt): lengths and operations of all 555 words, and operands
 * where the spelling can be mapped. This is independent of applegpu, from which the table comes. */
#include "isa/array_count.h"
#include "isa/float_bits.h"
#include "tests/isa/agx_words.h"

/* How Mesa writes the operands of its operations. The letters are: D destination, A B C X Y sources, k condition, K condition
 * where inverted forms exist, n nesting, l shift, m bit-field width, r rounding, S special register, b branch, R stored data, u
 * base, i index, o base and index of threadgroup memory, F format, M mask, w slot, a atomic operation. */
struct mapping {
    const char *mesa;
    enum agx_op op;
    const char *operands; /* NULL: operation only */
};

static const struct mapping mappings[] = {
    {"ffma", AGX_OP_FMADD32, "DABC"},
    {"hfma", AGX_OP_FMADD16, "DABC"},
    {"fadd", AGX_OP_FADD32, "DAB"},
    {"hadd", AGX_OP_FADD16, "DAB"},
    {"fmul", AGX_OP_FMUL32, "DAB"},
    {"hmul", AGX_OP_FMUL16, "DAB"},
    {"iadd", AGX_OP_IADD, "DABl"},
    {"imadd", AGX_OP_IMADD, "DABC"},
    {"imul", AGX_OP_IMADD, "DAB"},
    {"and", AGX_OP_BITOP, "DAB"},
    {"or", AGX_OP_BITOP, "DAB"},
    {"andn2", AGX_OP_BITOP, "DAB"},
    {"not", AGX_OP_BITOP, "DA"},
    {"mov", AGX_OP_BITOP, "DA"},
    {"mov", AGX_OP_GET_SR, "D"},
    {"mov", AGX_OP_UNIFORM_STORE, NULL},
    {"csel", AGX_OP_FCMPSEL, "DABXYk"},
    {"csel", AGX_OP_ICMPSEL, "DABXYk"},
    {"if", AGX_OP_IF_FCMP, "ABnK"},
    {"if", AGX_OP_IF_ICMP, "ABnK"},
    {"else", AGX_OP_ELSE_FCMP, "ABnK"},
    {"update_exec", AGX_OP_IF_FCMP, ""},
    {"pop_exec", AGX_OP_POP_EXEC, "n"},
    {"shl", AGX_OP_BFI, "DBC"},
    {"shr", AGX_OP_BFEIL, "DBC"},
    {"bfeil", AGX_OP_BFEIL, "DABCm"},
    {"extr", AGX_OP_EXTR, "DABCm"},
    {"intl", AGX_OP_INTL, "DAB"},
    {"ffs", AGX_OP_FFS, "DA"},
    {"rcp", AGX_OP_RCP, "DA"},
    {"rsqrt", AGX_OP_RSQRT, "DA"},
    {"log2", AGX_OP_LOG2, "DA"},
    {"exp2", AGX_OP_EXP2, "DA"},
    {"u32_to_f", AGX_OP_CONVERT, "DAr"},
    {"s32_to_f", AGX_OP_CONVERT, "DAr"},
    {"f_to_u32", AGX_OP_CONVERT, "DAr"},
    {"f_to_s32", AGX_OP_CONVERT, "DAr"},
    {"ldimm", AGX_OP_MOV_IMM, "DA"},
    {"load", AGX_OP_DEVICE_LOAD, "DuilFMw"},
    {"load", AGX_OP_SAMPLER_STATE_STORE, NULL},
    {"load", AGX_OP_TEX_STATE_STORE, NULL},
    {"store", AGX_OP_DEVICE_STORE, "RuilFMw"},
    {"lload", AGX_OP_THREADGROUP_LOAD, "DoFM"},
    {"lstore", AGX_OP_THREADGROUP_STORE, "RoFM"},
    {"atomic", AGX_OP_ATOMIC, "_Rui"},
    {"latomic", AGX_OP_THREADGROUP_ATOMIC, "DRoa"},
    {"stack_load", AGX_OP_STACK_LOAD, "DiFMw"},
    {"stack_store", AGX_OP_STACK_STORE, "RiFMw"},
    {"stack_adjust", AGX_OP_STACK_ADJUST, "A"},
    {"jmp_any", AGX_OP_JMP_EXEC_ANY, "b"},
    {"jmp_none", AGX_OP_JMP_EXEC_NONE, "b"},
    {"call", AGX_OP_CALL, "b"},
    {"jmp_if_skipping_doorbell", AGX_OP_JMP_IF_SKIPPING_DOORBELL, "b"},
    {"ret", AGX_OP_RET, "A"},
    {"ballot", AGX_OP_ICMP_BALLOT, "D"},
    {"shuffle", AGX_OP_QUAD_SHUFFLE, "DAB"},
    {"shuffle", AGX_OP_QUAD_SHUFFLE_XOR, "DAB"},
    {"shuffle", AGX_OP_SIMD_SHUFFLE, "DAB"},
    {"shuffle", AGX_OP_SIMD_SHUFFLE_XOR, "DAB"},
    {"shuffle", AGX_OP_SIMD_SHUFFLE_DOWN, "DAB"},
    {"simd", AGX_OP_NONE, "DA"},
    {"wait", AGX_OP_WAIT, "w"},
    {"stop", AGX_OP_STOP, ""},
    {"barrier", AGX_OP_THREADGROUP_BARRIER, ""},
    {"memory_barrier", AGX_OP_MEMORY_BARRIER, ""},
    {"memory_barrier_2", AGX_OP_MEMORY_BARRIER, ""},
    {"memory_barrier_3", AGX_OP_MEMORY_BARRIER, ""},
    {"image_barrier_1", AGX_OP_MEMORY_BARRIER, ""},
    {"image_barrier_2", AGX_OP_MEMORY_BARRIER, ""},
    {"image_barrier_3", AGX_OP_MEMORY_BARRIER, ""},
    {"image_barrier_4", AGX_OP_MEMORY_BARRIER, ""},
    {"unknown_barrier_1", AGX_OP_MEMORY_BARRIER, ""},
    {"unknown_barrier_2", AGX_OP_MEMORY_BARRIER, ""},
    {"flush_memory_to_texture", AGX_OP_MEMORY_BARRIER, ""},
    {"doorbell", AGX_OP_DOORBELL, NULL},
    {"smpf", AGX_OP_TEXTURE_SAMPLE, "D"},
    {"smpi", AGX_OP_TEXTURE_LOAD, "D"},
    {"st_var", AGX_OP_ST_VAR, NULL},
    {"st_var", AGX_OP_ST_VAR_FINAL, NULL},
    {"st_var", AGX_OP_NO_VAR, NULL},
    {"iter", AGX_OP_ITER, "D"},
    {"iter", AGX_OP_ITERPROJ, "D"},
    {"ldcf", AGX_OP_LDCF, "D"},
    {"st_tile", AGX_OP_TILE, NULL},
    {"ld_tile", AGX_OP_TILE, NULL},
    {"sample_mask", AGX_OP_SAMPLE_MASK, NULL},
    {"zs_emit", AGX_OP_ZS_EMIT, NULL},
    {"pixwait", AGX_OP_WAIT_PIX, NULL},
    {"map", AGX_OP_MAP, NULL},
    {"unmap", AGX_OP_MAP, NULL},
    {"imgw", AGX_OP_IMAGE_WRITE, NULL},
    {"imgwblk", AGX_OP_IMAGE_WRITE_BLOCK, NULL},
};

struct spelling {
    char text[512];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct spelling *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    s->used += (size_t)vsnprintf(s->text + s->used, sizeof s->text - s->used, format, args);
    va_end(args);
}

static void put_word(struct spelling *s)
{
    put(s, "%s", s->used ? "|" : "");
}

static void put_registers(struct spelling *s, const struct agx_operand *o)
{
    const bool uniform = o->place >= AGX_PLACE_UNIFORM_HALF;
    const char file = uniform ? 'u' : 'r';
    if (o->place == AGX_PLACE_PAIR || o->place == AGX_PLACE_UNIFORM_PAIR) {
        put(s, "d%c%u", file, o->index / 2u);
        return;
    }
    for (unsigned i = 0; i < o->count; i++) {
        const bool half = o->place == AGX_PLACE_HALF || o->place == AGX_PLACE_UNIFORM_HALF;
        const unsigned at = o->index + i * (half ? 1 : 2);
        put(s, "%s%c%u%s", i ? "_" : "", file, at / 2, !half ? "" : at & 1 ? "h" : "l");
    }
}

static void put_float(struct spelling *s, int32_t bits)
{
    char number[32];
    snprintf(number, sizeof number, "%.9g", (double)f32_of_bits((uint32_t)bits));
    put(s, "%s%s", number, strchr(number, '.') ? "" : ".0");
}

static bool is_float_op(unsigned op, char letter)
{
    if (letter == 'X' || letter == 'Y')
        return false;
    return (op >= AGX_OP_FMADD32 && op <= AGX_OP_FUNOP) || op == AGX_OP_FCMPSEL || op == AGX_OP_IF_FCMP ||
           op == AGX_OP_ELSE_FCMP || op == AGX_OP_WHILE_FCMP;
}

static void put_operand(struct spelling *s, const struct agx_inst *inst, const struct agx_operand *o, char letter)
{
    static const char *const hints[] = {"", "$", "^"};
    put_word(s);
    put(s, "%s", hints[o->hint]);
    if (o->place == AGX_PLACE_NONE)
        put(s, "_");
    else if (o->place == AGX_PLACE_IMMEDIATE && is_float_op(inst->op, letter))
        put_float(s, o->immediate);
    else if (o->place == AGX_PLACE_IMMEDIATE)
        put(s, "%lld", inst->op == AGX_OP_MOV_IMM ? (long long)(uint32_t)o->immediate : (long long)o->immediate);
    else
        put_registers(s, o);
    put(s, "%s%s%s", o->sign_extend ? ".sx" : "", o->absolute ? ".abs" : "", o->negate ? ".neg" : "");
}

static void put_condition(struct spelling *s, const struct agx_inst *inst)
{
    static const char *const ints[] = {"ieq", "ult", "ugt", "?", "seq", "slt", "sgt", "?"};
    static const char *const ints_not[] = {"ine", "ugte", "ulte", "?", "sne", "sgte", "slte", "?"};
    static const char *const floats[] = {"feq", "flt", "fgt", "fltn", "?", "fgte", "flte", "fgtn"};
    static const char *const floats_not[] = {"fneq", "fnlt", "fngt", "fnltn", "?", "fngte", "fnlte", "fngtn"};
    if (inst->dst.hint == AGX_HINT_CACHE && inst->op >= AGX_OP_IF_ICMP && inst->op <= AGX_OP_ELSE_FCMP)
        put(s, "|cache");
    put_word(s);
    if (is_float_op(inst->op, 'A'))
        put(s, "%s", (inst->invert ? floats_not : floats)[inst->condition]);
    else
        put(s, "%s", (inst->invert ? ints_not : ints)[inst->condition]);
}

static void put_group_address(struct spelling *s, const struct agx_inst *inst)
{
    if (inst->source[1].place != AGX_PLACE_IMMEDIATE)
        put_operand(s, inst, &inst->source[1], 'u');
    put_operand(s, inst, &inst->source[2], 'i');
}

static void put_index(struct spelling *s, const struct agx_inst *inst)
{
    put_operand(s, inst, &inst->source[2], 'i');
    if (inst->source[2].place == AGX_PLACE_WORD && !inst->zero_extend_offset && inst->op != AGX_OP_STACK_LOAD &&
        inst->op != AGX_OP_STACK_STORE)
        put(s, ".sx");
}

static void put_number(struct spelling *s, long value)
{
    put_word(s);
    put(s, "%ld", value);
}

static void put_letter(struct spelling *s, const struct agx_inst *inst, char letter)
{
    static const char *const formats[] = {"i8", "i16", "i32", "f16", "u8norm", "s8norm", "u16norm", "s16norm", "rgb10a2"};
    static const char *const atomics[] = {"add", "sub", "xchg", "cmpxchg", "umin", "imin", "umax", "imax", "and", "or", "xor"};
    static const char components[] = "xyzw";
    switch (letter) {
    case 'D':
    case '_': put_operand(s, inst, &inst->dst, 'D'); break;
    case 'A':
    case 'R': put_operand(s, inst, &inst->source[0], letter); break;
    case 'B':
    case 'u': put_operand(s, inst, &inst->source[1], letter); break;
    case 'C':
    case 'X': put_operand(s, inst, &inst->source[2], letter); break;
    case 'Y': put_operand(s, inst, &inst->source[3], letter); break;
    case 'i': put_index(s, inst); break;
    case 'o': put_group_address(s, inst); break;
    case 'k':
    case 'K': put_condition(s, inst); break;
    case 'n': put_number(s, inst->nesting); break;
    case 'l':
        if (inst->shift) {
            put_word(s);
            put(s, "lsl %u", inst->shift);
        }
        break;
    case 'm': put_number(s, inst->field_bits & 31); break;
    case 'r':
        put_word(s);
        put(s, "%s", inst->round ? "rte" : "rtz");
        break;
    case 'b': put_number(s, inst->branch_bytes); break;
    case 'F':
        put_word(s);
        put(s, "%s", inst->format < 9 ? formats[inst->format] : "?");
        break;
    case 'M':
        put_word(s);
        for (unsigned i = 0; i < 4; i++)
            if (inst->component_mask >> i & 1)
                put(s, "%c", components[i]);
        break;
    case 'w':
        put_word(s);
        put(s, "%c", 'a' + inst->slot);
        break;
    case 'a':
        put_word(s);
        put(s, "%s", inst->atomic < 11 ? atomics[inst->atomic] : "?");
        break;
    default: put(s, "??");
    }
}

static const struct mapping *find_mapping(const char *name, unsigned op)
{
    for (unsigned i = 0; i < ARRAY_COUNT(mappings); i++)
        if (strcmp(mappings[i].mesa, name) == 0 && (mappings[i].op == op || mappings[i].op == AGX_OP_NONE))
            return &mappings[i];
    return NULL;
}

static unsigned operands_compared;

/* Mesa's list must start with ours, but may go on with words that the letters do not cover. */
static void check_operands(const struct agx_words_line *line, const struct agx_inst *inst, const char *letters)
{
    struct spelling s = {.used = 0};
    for (const char *at = letters; *at; at++)
        put_letter(&s, inst, *at);
    const char *want = line->column[3];
    const bool starts = strncmp(want, s.text, s.used) == 0 && (want[s.used] == '\0' || want[s.used] == '|' || s.used == 0);
    CHECK(starts, "%s %s: %s, Mesa says %s", line->column[0], line->column[2], s.text, want);
    operands_compared++;
}

static void check_mesa_line(const struct agx_words_line *line)
{
    struct agx_inst inst;
    char text[AGX_TEXT_BYTES];
    const size_t length = agx_decode(line->bytes, line->size, &inst);
    agx_disasm(&inst, text, sizeof text);
    CHECK(length == strtoul(line->column[1], NULL, 10), "%s %s: %zu bytes (%s)", line->column[0], line->column[2], length, text);
    const struct mapping *mapping = find_mapping(line->column[2], inst.op);
    const char *letters = mapping ? mapping->operands : NULL;
    CHECK(mapping != NULL, "%s: Mesa says %s %s, we say %s", line->column[0], line->column[2], line->column[3], text);
    if (letters)
        check_operands(line, &inst, letters);
}

static void test_lengths_operations_operands(void)
{
    operands_compared = 0;
    CU_ASSERT_EQUAL(agx_words_each("agx/mesa_words.txt.gz", check_mesa_line), 555);
    CHECK(operands_compared > 450, "%u words with operands compared", operands_compared);
}

/* The names of these operations say what they do, in either spelling. */
static void check_reduction_line(const struct agx_words_line *line)
{
    static const struct {
        const char *word;
        enum agx_reduction reduction;
    } words[] = {{"|and", AGX_REDUCE_AND},   {"|or", AGX_REDUCE_OR},     {"|xor", AGX_REDUCE_XOR},   {"|smin", AGX_REDUCE_SMIN},
                 {"|smax", AGX_REDUCE_SMAX}, {"|umin", AGX_REDUCE_UMIN}, {"|umax", AGX_REDUCE_UMAX}, {"|iadd", AGX_REDUCE_IADD},
                 {"|fadd", AGX_REDUCE_FADD}, {"|fmul", AGX_REDUCE_FMUL}, {"|fmin", AGX_REDUCE_FMIN}, {"|fmax", AGX_REDUCE_FMAX}};
    struct agx_inst inst;
    if (strcmp(line->column[2], "simd") != 0)
        return;
    agx_decode(line->bytes, line->size, &inst);
    const char *last = strrchr(line->column[3], '|');
    for (unsigned i = 0; i < ARRAY_COUNT(words); i++)
        if (last && strcmp(last, words[i].word) == 0)
            CHECK(inst.reduction == words[i].reduction, "%s: %s", line->column[0], line->column[3]);
    CHECK(inst.prefix == (strstr(line->column[3], "prefix") != NULL), "%s: %s", line->column[0], line->column[3]);
    CHECK(inst.whole_simdgroup == (strstr(line->column[3], "quad") == NULL), "%s: %s", line->column[0], line->column[3]);
}

static void test_reductions(void)
{
    agx_words_each("agx/mesa_words.txt.gz", check_reduction_line);
}

static const struct suite_test tests[] = {
    {"lengths, operations and operands as Mesa reads them", test_lengths_operations_operands},
    {"reductions as Mesa reads them", test_reductions},
};
SUITE_MAIN("agx mesa", tests)
