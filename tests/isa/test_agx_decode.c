/* AGX words to fields and operands and back. The expected fields are from dougallj/applegpu, the operands were worked out by hand
 * from its layouts. */
#include "isa/agx/agx_isa.h"
#include "isa/array_count.h"
#include "tests/isa/agx_words.h"

static void format_fields(const struct agx_inst *inst, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < agx_form_field_count(inst->form); i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%u", i ? ";" : "", agx_form_field_name(inst->form, i),
                                 inst->field[i]);
}

/* A copy on the heap of exactly this size, so that the sanitizers see a read behind it. */
static size_t decode_exact(const uint8_t *bytes, size_t size, struct agx_inst *inst)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    const size_t length = agx_decode(copy, size, inst);
    free(copy);
    return length;
}

/* applegpu numbers its forms as our table orders them, unless rows were added: each of its numbers must belong to one form. */
static void check_form(const struct agx_words_line *line, unsigned form)
{
    enum { FORMS = 256 };
    static unsigned form_of[FORMS], number_of[FORMS]; /* counted from 1; 0 = not seen */
    const unsigned number = (unsigned)strtoul(line->column[1], NULL, 10);
    if (number >= FORMS || form >= FORMS) {
        CHECK(false, "%s: form %u, number %u", line->column[0], form, number);
        return;
    }
    if (!form_of[number] && !number_of[form]) {
        form_of[number] = form + 1;
        number_of[form] = number + 1;
    }
    CHECK(form_of[number] == form + 1 && number_of[form] == number + 1, "%s: form %u", line->column[0], form);
}

static void check_word(const struct agx_words_line *line, const char *fields, bool canonical)
{
    struct agx_inst inst, back;
    char text[2048], mnemonic[AGX_TEXT_BYTES];
    uint8_t bytes[AGX_MAX_BYTES];
    const size_t length = decode_exact(line->bytes, line->size, &inst);
    format_fields(&inst, text, sizeof text);
    CHECK(length == strtoul(line->column[3], NULL, 10) && inst.bytes == length, "%s: %zu bytes", line->column[0], length);
    check_form(line, inst.form);
    agx_from_applegpu(line->column[2], mnemonic, sizeof mnemonic);
    CHECK(strcmp(agx_form_mnemonic(inst.form), mnemonic) == 0, "%s: %s", line->column[0], agx_form_mnemonic(inst.form));
    CHECK(strcmp(text, fields) == 0, "%s: %s", line->column[0], text);
    const size_t again = agx_encode(&inst, bytes);
    if (canonical)
        CHECK(again == line->size && memcmp(bytes, line->bytes, again) == 0, "%s: encodes otherwise", line->column[0]);
    CHECK(agx_decode(bytes, again, &back) == again && back.form == inst.form &&
              memcmp(back.field, inst.field, sizeof inst.field) == 0,
          "%s: decodes otherwise after encoding", line->column[0]);
}

static void check_encode_line(const struct agx_words_line *line)
{
    struct agx_inst inst;
    if (strcmp(line->column[1], "-1") != 0)
        check_word(line, line->column[6], line->column[4][0] == '1');
    else
        CHECK(decode_exact(line->bytes, line->size, &inst) == 0 && inst.op == AGX_OP_NONE, "%s matches", line->column[0]);
}

static void check_compiler_line(const struct agx_words_line *line)
{
    struct agx_inst inst;
    check_word(line, line->column[4], true);
    agx_decode(line->bytes, line->size, &inst);
    CHECK(inst.invalid == NULL, "%s: %s", line->column[0], inst.invalid);
}

static void test_every_form(void)
{
    CU_ASSERT(agx_words_each("agx/encode.txt.gz", check_encode_line) > 1900);
}

static void test_compiled_words(void)
{
    CU_ASSERT_EQUAL(agx_words_each("agx/compiler_words.txt.gz", check_compiler_line), 472);
}

/* Missing bytes read as zero: a word cut short decodes as the same word followed by zeros. */
static void test_short_reads(void)
{
    uint64_t seed = 7;
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t bytes[AGX_MAX_BYTES] = {0}, zeros[AGX_MAX_BYTES] = {0};
        struct agx_inst cut, full;
        const uint64_t low = suite_random(&seed), high = suite_random(&seed);
        memcpy(bytes, &low, 8);
        memcpy(bytes + 8, &high, 4);
        const size_t size = (high >> 32) % (AGX_MAX_BYTES + 1);
        memcpy(zeros, bytes, size);
        const size_t a = decode_exact(bytes, size, &cut), b = agx_decode(zeros, sizeof zeros, &full);
        if (a != b || cut.form != full.form || memcmp(cut.field, full.field, sizeof cut.field) != 0)
            CHECK(false, "word %u of %zu bytes", i, size);
    }
}

static struct agx_inst decode_hex(const char *hex)
{
    struct agx_words_line line;
    struct agx_inst inst;
    snprintf(line.text, sizeof line.text, "%s\t\t\t\t", hex);
    agx_words_parse(&line);
    agx_decode(line.bytes, line.size, &inst);
    return inst;
}

static void check_operand(const struct agx_operand *operand, enum agx_place place, unsigned index, enum agx_hint hint)
{
    CHECK(operand->place == place && operand->index == index && operand->hint == hint, "place %d index %u hint %d",
          operand->place, operand->index, operand->hint);
}

static void test_alu_operands(void)
{
    struct agx_inst inst = decode_hex("aaa99fa4c110"); /* fadd32 r42.cache, r15h.cache.abs, 0.40625.abs.neg */
    check_operand(&inst.dst, AGX_PLACE_WORD, 84, AGX_HINT_CACHE);
    check_operand(&inst.source[0], AGX_PLACE_HALF, 31, AGX_HINT_CACHE);
    CU_ASSERT(inst.source[0].absolute && !inst.source[0].negate);
    check_operand(&inst.source[1], AGX_PLACE_IMMEDIATE, 0, AGX_HINT_NONE);
    CU_ASSERT_EQUAL(inst.source[1].immediate, 0x3ed00000); /* 0.40625 */
    CU_ASSERT(inst.source[1].absolute && inst.source[1].negate);
    CU_ASSERT_EQUAL(inst.source_count, 2);

    inst = decode_hex("ce0f7271ce083000"); /* iadd.sat r3_r4.cache, u217l, r19h.discard.sx, lsl 7 */
    check_operand(&inst.dst, AGX_PLACE_PAIR, 6, AGX_HINT_CACHE);
    check_operand(&inst.source[0], AGX_PLACE_UNIFORM_HALF, 434, AGX_HINT_NONE);
    check_operand(&inst.source[1], AGX_PLACE_HALF, 39, AGX_HINT_DISCARD);
    CU_ASSERT(inst.source[1].sign_extend && inst.saturate && !inst.subtract);
    CU_ASSERT_EQUAL(inst.shift, 7);

    inst = decode_hex("92e546a01c8ca1ad2026"); /* icmpsel slt, r89.cache, r35l, u197, u6, r77.discard */
    check_operand(&inst.source[2], AGX_PLACE_UNIFORM_WORD, 12, AGX_HINT_NONE);
    check_operand(&inst.source[3], AGX_PLACE_WORD, 154, AGX_HINT_DISCARD);
    CU_ASSERT_EQUAL(inst.condition, AGX_SLT);

    inst = decode_hex("7e0080014912"); /* bitop 0010, r32l, u0, r72l.cache */
    CU_ASSERT_EQUAL(inst.truth, 4);
    inst = decode_hex("2e2147c0423d8c96"); /* bfi ... mask 0x1FFFFFFF */
    CU_ASSERT_EQUAL(inst.field_bits, 29);
    inst = decode_hex("d21600000000"); /* pop_exec r0l.cache, 2 */
    check_operand(&inst.dst, AGX_PLACE_HALF, 0, AGX_HINT_CACHE);
    CU_ASSERT_EQUAL(inst.nesting, 2);
}

static void test_memory_operands(void)
{
    struct agx_inst inst = decode_hex("0541f00f0fc8f20f"); /* device_load 0, i32, xyzw, r8.., u0_u1, 4095, unsigned, lsl 2 */
    check_operand(&inst.dst, AGX_PLACE_WORD, 16, AGX_HINT_NONE);
    CU_ASSERT_EQUAL(inst.dst.count, 4);
    check_operand(&inst.source[1], AGX_PLACE_UNIFORM_PAIR, 0, AGX_HINT_NONE);
    CU_ASSERT_EQUAL(inst.source[2].immediate, 4095);
    CU_ASSERT(inst.zero_extend_offset && inst.shift == 2 && inst.component_mask == 15 && inst.format == AGX_FORMAT_I32);
    CU_ASSERT_EQUAL(inst.coherency, 4);

    inst = decode_hex("d500688c10500c00"); /* Mesa: atomic _, r6_r7, du12, r3.sx, cmpxchg */
    CU_ASSERT_EQUAL(inst.atomic, AGX_ATOMIC_CMPXCHG);
    CU_ASSERT_EQUAL(inst.dst.place, AGX_PLACE_NONE);
    check_operand(&inst.source[0], AGX_PLACE_WORD, 12, AGX_HINT_NONE);
    CU_ASSERT_EQUAL(inst.source[0].count, 2);
    check_operand(&inst.source[1], AGX_PLACE_UNIFORM_PAIR, 24, AGX_HINT_NONE);
    check_operand(&inst.source[2], AGX_PLACE_WORD, 6, AGX_HINT_NONE);
    CU_ASSERT_FALSE(inst.zero_extend_offset);

    inst = decode_hex("b50081052f8000ff"); /* Mesa: stack_adjust -8 */
    CU_ASSERT_EQUAL(inst.op, AGX_OP_STACK_ADJUST);
    CU_ASSERT_EQUAL(inst.source[0].immediate, -8);
    inst = decode_hex("00c086fdffff"); /* Mesa: jmp_any -634 */
    CU_ASSERT_EQUAL(inst.branch_bytes, -634);
}

/* Bits 44..46 = 7 mark a coherent access (Mesa, agx_pack.c): the same operation, though the constants of the plain row differ. */
static void test_coherent_access(void)
{
    const struct agx_inst load = decode_hex("0541f00f0ff8f20f"), store = decode_hex("4501040d80f01200");
    CU_ASSERT_EQUAL(load.op, AGX_OP_DEVICE_LOAD);
    CU_ASSERT_EQUAL(load.coherency, 7);
    CU_ASSERT_PTR_NULL(load.invalid);
    CU_ASSERT_EQUAL(store.op, AGX_OP_DEVICE_STORE);
    CU_ASSERT_EQUAL(store.coherency, 7);
    CU_ASSERT_PTR_NULL(store.invalid);
}

static void test_reductions(void)
{
    const struct agx_inst min = decode_hex("6f8444608080"); /* Mesa: simd r1l, r2l, prefix, smin */
    CU_ASSERT(min.whole_simdgroup && min.prefix && min.reduction == AGX_REDUCE_SMIN);
    const struct agx_inst add = decode_hex("6f80d5010010");
    CU_ASSERT(!add.whole_simdgroup && !add.prefix && add.reduction == AGX_REDUCE_AND && !add.invalid);
    /* quad_prefix with min.s has no row of its own: bits as simd_prefix_min.s without bit 29 */
    const struct agx_inst other = decode_hex("6f8444408080");
    CU_ASSERT_EQUAL(other.op, AGX_OP_SIMD_OP);
    CU_ASSERT(!other.whole_simdgroup && other.prefix && other.reduction == AGX_REDUCE_SMIN && !other.invalid);
}

static void test_what_cannot_run(void)
{
    static const struct {
        const char *hex, *why;
    } words[] = {
        {"7e0180008000", NULL},                                           /* or from uniform word: fine */
        {"7e01000a8000", "a source register with hint 0"},                /* type 1000 of A */
        {"526c4ae21800", "an integer condition without a known meaning"}, /* cc 3 */
        {"a6fdbbc53902", "a 32-bit uniform in a 16-bit operand"},         /* fadd16 r31l.cache, u29.neg, u78.abs */
        {"6f800120c000", "a reduction without a known meaning"},          /* operation 6 */
        {"0501000d80c00200", "a memory operation without components"},    /* mask 0 */
        {"8500000d80c01300", "an unknown memory format"},                 /* format 9 */
    };
    for (unsigned i = 0; i < ARRAY_COUNT(words); i++) {
        const struct agx_inst inst = decode_hex(words[i].hex);
        const char *why = words[i].why;
        char text[AGX_TEXT_BYTES];
        agx_disasm(&inst, text, sizeof text);
        CHECK(why ? inst.invalid && strcmp(inst.invalid, why) == 0 : !inst.invalid, "%s (%s): %s", words[i].hex, text,
              inst.invalid ? inst.invalid : "nothing");
    }
}

static const struct suite_test tests[] = {
    {"every form: length, fields, encoding", test_every_form},
    {"words of Apple's compiler", test_compiled_words},
    {"missing bytes read as zero", test_short_reads},
    {"operands of arithmetic", test_alu_operands},
    {"operands of memory, stack and branches", test_memory_operands},
    {"coherent loads and stores", test_coherent_access},
    {"reductions", test_reductions},
    {"words that cannot run say why", test_what_cannot_run},
};
SUITE_MAIN("agx decode", tests)
