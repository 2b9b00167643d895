/* The AArch64 table against itself: every word that decodes encodes back, rows do not hide one another, texts fit. */
#include "isa/a64/a64_isa.h"
#include "isa/a64/a64_table.h"
#include "isa/amx/amx_isa.h"
#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t word_of(const struct a64_row *row, uint64_t *random)
{
    return (row->bits & row->mask) | ((uint32_t)suite_random(random) & ~row->mask);
}

static void test_round_trip(void)
{
    uint64_t random = 1;
    for (unsigned form = A64_AMX + 1; form < A64_FORM_COUNT; form++) {
        unsigned seen = 0;
        for (unsigned i = 0; i < 2000; i++) {
            struct a64_insn insn;
            const uint32_t word = word_of(&a64_rows[form], &random);
            uint32_t back = 0;
            a64_decode(word, &insn);
            if (insn.form != form)
                continue;
            seen++;
            const bool encoded = a64_encode(&insn, &back);
            if (encoded && back == word)
                continue;
            /* bits that the architecture ignores may come back as the row has them */
            struct a64_insn again;
            a64_decode(back, &again);
            again.word = word;
            CHECK(encoded && memcmp(&again, &insn, sizeof insn) == 0, "%s: %08x became %08x", a64_form_name(form), word, back);
            break;
        }
        CHECK(seen > 20, "%s is decoded %u times in 2000: hidden by another row?", a64_form_name(form), seen);
    }
}

static void test_rows_are_disjoint(void)
{
    for (unsigned g = 0; g < a64_group_count; g++)
        for (unsigned a = a64_groups[g].first; a < a64_groups[g + 1].first; a++) {
            CHECK((a64_rows[a].bits & ~a64_rows[a].mask) == 0, "%s has bits outside its mask", a64_form_name(a));
            CHECK((a64_rows[a].bits & a64_groups[g].mask) == a64_groups[g].bits, "%s is not in group %s", a64_form_name(a),
                  a64_groups[g].title);
            for (unsigned b = a + 1; b < a64_groups[g + 1].first; b++) {
                const uint32_t both = a64_rows[a].mask & a64_rows[b].mask;
                const bool overlap = (a64_rows[a].bits & both) == (a64_rows[b].bits & both);
                const bool narrower_first = (a64_rows[a].mask & a64_rows[b].mask) == a64_rows[b].mask;
                CHECK(!overlap || narrower_first, "%s and %s overlap", a64_form_name(a), a64_form_name(b));
            }
        }
}

static void test_amx_words(void)
{
    for (unsigned op = 0; op < 32; op++)
        for (unsigned reg = 0; reg < 32; reg++) {
            struct a64_insn insn;
            uint32_t word = 0;
            a64_decode(AMX_WORD_BASE | op << 5 | reg, &insn);
            CHECK(insn.form == A64_AMX && insn.imm == op && insn.rd == reg && insn.cls == A64_C_AMX, "AMX op %u register %u", op,
                  reg);
            CHECK(insn.src[0] == (op == AMX_SETCLR || reg == 31 ? A64_DEP_NONE : reg), "the operand register is a source");
            CHECK(a64_encode(&insn, &word) && word == insn.word, "AMX word %08x", insn.word);
        }
}

struct expectation {
    uint32_t word;
    const char *dst, *src; /* comma-separated: x0 v1 f (flags) sp */
    unsigned bytes, lanes;
};

/* Words are from aarch64-linux-gnu-as, registers from the description of the architecture. */
static const struct expectation expectations[] = {
    {0x8b020020, "x0", "x1,x2", 0, 0},        /* add x0, x1, x2 */
    {0xeb02003f, "f", "x1,x2", 0, 0},         /* cmp x1, x2 */
    {0x910043ff, "sp", "sp", 0, 0},           /* add sp, sp, #16 */
    {0x9a821020, "x0", "x1,x2,f", 0, 0},      /* csel x0, x1, x2, ne */
    {0x9b020c20, "x0", "x1,x2,x3", 0, 0},     /* madd x0, x1, x2, x3 */
    {0xf2a00020, "x0", "x0", 0, 0},           /* movk x0, #1, lsl #16 */
    {0xa9bf7bfd, "sp", "x29,x30,sp", 16, 0},  /* stp x29, x30, [sp, #-16]! */
    {0xa8c17bfd, "x29,x30,sp", "sp", 16, 0},  /* ldp x29, x30, [sp], #16 */
    {0xf8627820, "x0", "x1,x2", 8, 0},        /* ldr x0, [x1, x2, lsl #3] */
    {0x3c810420, "x1", "v0,x1", 16, 0},       /* str q0, [x1], #16 */
    {0x4e22cc20, "v0", "v0,v1,v2", 0, 4},     /* fmla v0.4s, v1.4s, v2.4s */
    {0x1e622820, "v0", "v1,v2", 0, 1},        /* fadd d0, d1, d2 */
    {0x0e61c020, "v0", "v1", 0, 4},           /* smull v0.4s, v1.4h, v1.4h */
    {0x4c402020, "v0,v1,v2,v3", "x1", 64, 0}, /* ld1 {v0.16b-v3.16b}, [x1] */
    {0x94000001, "x30", "", 0, 0},            /* bl */
    {0xd65f03c0, "", "x30", 0, 0},            /* ret */
    {0x54000021, "", "f", 0, 0},              /* b.ne */
    {0xc8027c20, "x2", "x0,x1", 8, 0},        /* stxr w2, x0, [x1] */
    {0xf8220020, "x0", "x2,x1", 8, 0},        /* ldadd x2, x0, [x1] */
    {0xc8a27c20, "x2", "x2,x0,x1", 8, 0},     /* cas x2, x0, [x1] */
    {0xd51b4201, "f", "x1", 0, 0},            /* msr nzcv, x1 */
    {0xd51bd041, "", "x1", 0, 0},             /* msr tpidr_el0, x1 */
    {0xd53bd041, "x1", "", 0, 0},             /* mrs x1, tpidr_el0 */
    {0x1e270020, "v0", "x1", 0, 1},           /* fmov s0, w1 */
};

static void name_list(const uint8_t *list, unsigned count, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (unsigned i = 0; i < count && list[i] != A64_DEP_NONE; i++) {
        const unsigned n = list[i];
        const char *comma = i ? "," : "";
        if (n == A64_DEP_SP)
            at += (size_t)snprintf(text + at, size - at, "%ssp", comma);
        else if (n == A64_DEP_FLAGS)
            at += (size_t)snprintf(text + at, size - at, "%sf", comma);
        else
            at += (size_t)snprintf(text + at, size - at, "%s%c%u", comma, n < A64_DEP_V0 ? 'x' : 'v', n & 31);
    }
}

/* Compares sets of registers, whatever their order. */
static bool same_set(const char *a, const char *b)
{
    unsigned count_a = 0, count_b = 0;
    char copy[64];
    snprintf(copy, sizeof copy, "%s", a);
    for (char *save = NULL, *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save), count_a++) {
        char padded_b[80], padded_t[16];
        snprintf(padded_b, sizeof padded_b, ",%s,", b);
        snprintf(padded_t, sizeof padded_t, ",%.8s,", t);
        if (!strstr(padded_b, padded_t))
            return false;
    }
    for (const char *t = b; *t; t++)
        count_b += *t == ',';
    return count_a == (*b ? count_b + 1 : 0);
}

static void test_dependences(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(expectations); i++) {
        const struct expectation *e = &expectations[i];
        struct a64_insn insn;
        char dst[64], src[64];
        a64_decode(e->word, &insn);
        name_list(insn.dst, A64_DST_MAX, dst, sizeof dst);
        name_list(insn.src, A64_SRC_MAX, src, sizeof src);
        CHECK(same_set(dst, e->dst), "%08x %s writes %s, not %s", e->word, a64_form_name(insn.form), dst, e->dst);
        CHECK(same_set(src, e->src), "%08x %s reads %s, not %s", e->word, a64_form_name(insn.form), src, e->src);
        CHECK(insn.mem_bytes == e->bytes, "%08x touches %u bytes, not %u", e->word, insn.mem_bytes, e->bytes);
        CHECK(insn.lanes == e->lanes, "%08x has %u lanes, not %u", e->word, insn.lanes, e->lanes);
    }
}

static void test_disassembler_is_bounded(void)
{
    uint64_t random = 3;
    for (unsigned i = 0; i < 200000; i++) {
        struct a64_insn insn;
        char text[24];
        memset(text, 'x', sizeof text);
        a64_decode((uint32_t)suite_random(&random), &insn);
        const int length = a64_disasm(&insn, 0x1000, text, 16);
        if (length < 3 || !memchr(text, 0, 16) || text[16] != 'x') {
            CHECK(false, "%08x: length %d", insn.word, length);
            break;
        }
    }
}

static void test_document(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    a64_table_markdown(out);
    fclose(out);
    unsigned rows = 0;
    for (const char *t = text; (t = strstr(t, "\n| ")) != NULL; t++)
        rows++;
    CHECK(rows == A64_FORM_COUNT - 2 + 2 * a64_group_count, "%u table lines for %u forms", rows, (unsigned)A64_FORM_COUNT - 2);
    CHECK(strstr(text, "| ADD_IMM | .0010001") != NULL, "the row of ADD_IMM");
    free(text);
}

/* Firestorm divides f16, f32 and f64 in 7, 8 and 10 cycles, and f64 roots take 13 instead of 10 (dougallj/applecpu). The words
 * were assembled by binutils. */
static void test_division_class_by_element(void)
{
    static const struct {
        uint32_t word;
        enum a64_class cls;
    } cases[] = {
        {UINT32_C(0x6e62fc20), A64_C_FP_DIV},    {UINT32_C(0x1e621820), A64_C_FP_DIV},    /* 2D, D */
        {UINT32_C(0x6e22fc20), A64_C_FP_DIV_S},  {UINT32_C(0x1e221820), A64_C_FP_DIV_S},  /* 4S, S */
        {UINT32_C(0x6e423c20), A64_C_FP_DIV_H},  {UINT32_C(0x1ee21820), A64_C_FP_DIV_H},  /* 8H, H */
        {UINT32_C(0x6ee1f820), A64_C_FP_SQRT_D}, {UINT32_C(0x1e61c020), A64_C_FP_SQRT_D}, /* 2D, D */
        {UINT32_C(0x6ea1f820), A64_C_FP_SQRT},   {UINT32_C(0x1e21c020), A64_C_FP_SQRT},   /* 4S, S */
        {UINT32_C(0x6ef9f820), A64_C_FP_SQRT},   {UINT32_C(0x1ee1c020), A64_C_FP_SQRT},   /* 8H, H */
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct a64_insn insn;
        a64_decode(cases[i].word, &insn);
        CHECK(insn.cls == cases[i].cls, "%08" PRIx32 ": %s", cases[i].word, a64_class_name(insn.cls));
    }
}

static const struct suite_test tests[] = {
    {"words survive decoding and encoding", test_round_trip},
    {"rows of a group do not hide one another", test_rows_are_disjoint},
    {"AMX words", test_amx_words},
    {"registers read and written, bytes, lanes", test_dependences},
    {"the disassembler keeps to its buffer", test_disassembler_is_bounded},
    {"the Markdown table has every form", test_document},
    {"divisions and roots by element", test_division_class_by_element},
};
SUITE_MAIN("a64_table", tests)
