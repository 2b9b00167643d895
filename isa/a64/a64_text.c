/* Renders a row's text, whose letters a64_table.h explains. The syntax of operands is that of binutils. */
#include "isa/float_bits.h"
#include "isa/a64/a64_table.h"

#include "isa/amx/amx_isa.h"
#include "isa/array_count.h"

#include <stdarg.h>
#include <stdio.h>

struct writer {
    char *text;
    size_t size, length;
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writer *w, const char *format, ...)
{
    const size_t room = w->length < w->size ? w->size - w->length : 0;
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(room ? w->text + w->length : NULL, room, format, args);
    va_end(args);
    w->length += n > 0 ? (size_t)n : 0;
}

static const char *const conditions[16] = {"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc",
                                           "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"};
static const char letters[] = "bhsdq";

static void put_gpr(struct writer *w, unsigned reg, bool is_x, bool is_sp)
{
    if (reg == 31)
        put(w, "%s", is_sp ? (is_x ? "sp" : "wsp") : (is_x ? "xzr" : "wzr"));
    else
        put(w, "%c%u", is_x ? 'x' : 'w', reg);
}

static void put_vector(struct writer *w, unsigned reg, unsigned size, unsigned bytes)
{
    put(w, "v%u.%u%c", reg, bytes >> size, letters[size]);
}

static void put_list(struct writer *w, const struct a64_insn *insn, unsigned reg, bool lane)
{
    const bool is_table = insn->form == A64_TBL || insn->form == A64_TBX;
    const unsigned bytes = is_table ? 16 : 8u << insn->q;
    char arrangement[8];
    if (lane)
        snprintf(arrangement, sizeof arrangement, "%c", letters[insn->size]);
    else
        snprintf(arrangement, sizeof arrangement, "%u%c", bytes >> insn->size, letters[insn->size]);
    const unsigned n = insn->shift;
    put(w, "{");
    if (n > 2 && reg + n <= 32)
        put(w, "v%u.%s-v%u.%s", reg, arrangement, reg + n - 1, arrangement);
    else
        for (unsigned i = 0; i < n; i++)
            put(w, "%sv%u.%s", i ? ", " : "", (reg + i) & 31, arrangement);
    put(w, "}");
    if (lane)
        put(w, "[%u]", insn->amount);
}

static const char *const extends[8] = {"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"};

/* The index of an address, as in [xn, xm, lsl #3]. */
static void put_index(struct writer *w, const struct a64_insn *insn)
{
    put_gpr(w, insn->rm, insn->shift & 1, false);
    if (insn->shift != 3)
        put(w, insn->amount ? ", %s #%u" : ", %s", extends[insn->shift], insn->size);
    else if (insn->amount)
        put(w, ", lsl #%u", insn->size);
}

/* The extension of add and sub. It is written as LSL when it does nothing but shift and a stack pointer is named. */
static void put_extend(struct writer *w, const struct a64_insn *insn)
{
    const bool flags_only = insn->form == A64_ADDS_EXT || insn->form == A64_SUBS_EXT;
    const bool names_sp = insn->rn == 31 || (insn->rd == 31 && !flags_only);
    if (names_sp && insn->shift == (insn->size == 3 ? 3 : 2)) {
        if (insn->amount)
            put(w, ", lsl #%u", insn->amount);
        return;
    }
    put(w, ", %s", extends[insn->shift]);
    if (insn->amount)
        put(w, " #%u", insn->amount);
}

static void put_place(struct writer *w, const struct a64_insn *insn, char kind, char place)
{
    const unsigned reg = place == 'd' ? insn->rd : place == 'n' ? insn->rn : place == 'm' ? insn->rm : insn->ra;
    const unsigned bytes = 8u << insn->q;
    switch (kind) {
    case 'R': put_gpr(w, reg, insn->size == 3, false); break;
    case 'P': put_gpr(w, reg, insn->size == 3, true); break;
    case 'W': put_gpr(w, reg, false, false); break;
    case 'X': put_gpr(w, reg, true, false); break;
    case 'Y': put_gpr(w, reg, insn->q, false); break;
    case 'B': put_gpr(w, reg, true, true); break;
    case 'O': put_gpr(w, reg, (insn->shift & 3) == 3 && insn->size == 3, false); break;
    case 'G': put_index(w, insn); break;
    case 'M': put_gpr(w, reg | 1, insn->size == 3, false); break;
    case 'Z':
        if (reg == 31)
            put(w, "#%u", insn->mem_bytes);
        else
            put_gpr(w, reg, true, false);
        break;
    case 'V': put_vector(w, reg, insn->size, bytes); break;
    case 'L': put_vector(w, reg, insn->size + 1u, 16); break;
    case 'J': put_vector(w, reg, insn->size + 1u, bytes); break;
    case 'S': put(w, "%c%u", letters[insn->size], reg); break;
    case 'U': put(w, "%c%u", letters[insn->size + 1], reg); break;
    case 'Q': put(w, "v%u.2%c", reg, letters[insn->size]); break;
    case 'E':
        put(w, "v%u.%c[%u]", reg, letters[insn->size],
            insn->form == A64_INS_V && place == 'n' ? (unsigned)insn->imm : insn->amount);
        break;
    case 'D': put(w, "v%u.d[1]", reg); break;
    case 'F': put_vector(w, reg, 0, bytes); break;
    case 'H': put(w, "v%u.4b[%u]", reg, insn->amount); break;
    case 'h': put_vector(w, reg, 1, bytes / 2); break;
    case 'N': put_vector(w, reg, 1, bytes); break;
    case 'z': put_vector(w, reg, insn->size, 16); break;
    case 'r': put(w, "v%u.2h[%u]", reg, insn->amount); break;
    case 'g': put(w, "v%u.h[%u]", reg, insn->amount); break;
    case 'K': put_list(w, insn, reg, false); break;
    case 'k': put_list(w, insn, reg, true); break;
    default: put(w, "%c%u", letters[kind - '0'], reg); break;
    }
}

static void put_barrier(struct writer *w, unsigned crm)
{
    static const char *const names[16] = {NULL, "oshld", "oshst", "osh", NULL, "nshld", "nshst", "nsh",
                                          NULL, "ishld", "ishst", "ish", NULL, "ld",    "st",    "sy"};
    if (names[crm])
        put(w, "%s", names[crm]);
    else
        put(w, "#0x%02x", crm);
}

static void put_hint(struct writer *w, unsigned imm)
{
    static const struct {
        uint8_t imm;
        const char *name;
    } names[] = {{0, "nop"},      {1, "yield"},       {2, "wfe"},         {3, "wfi"},        {4, "sev"},        {5, "sevl"},
                 {6, "dgh"},      {7, "xpaclri"},     {8, "pacia1716"},   {10, "pacib1716"}, {12, "autia1716"}, {14, "autib1716"},
                 {16, "esb"},     {17, "psb\tcsync"}, {18, "tsb\tcsync"}, {20, "csdb"},      {22, "clearbhb"},  {24, "paciaz"},
                 {25, "paciasp"}, {26, "pacibz"},     {27, "pacibsp"},    {28, "autiaz"},    {29, "autiasp"},   {30, "autibz"},
                 {31, "autibsp"}, {32, "bti"},        {34, "bti\tc"},     {36, "bti\tj"},    {38, "bti\tjc"}};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (names[i].imm == imm) {
            put(w, "%s", names[i].name);
            return;
        }
    put(w, "hint\t#0x%x", imm);
}

static void put_prefetch(struct writer *w, unsigned op)
{
    static const char *const kinds[3] = {"pld", "pli", "pst"};
    if (op >> 3 == 3 || (op >> 1 & 3) == 3)
        put(w, "#0x%02x", op);
    else
        put(w, "%sl%u%s", kinds[op >> 3], (op >> 1 & 3) + 1, op & 1 ? "strm" : "keep");
}

static void put_system_register(struct writer *w, unsigned reg)
{
    static const struct {
        uint16_t reg;
        const char *name;
    } names[] = {{0xda10, "nzcv"},        {0xda20, "fpcr"},       {0xda21, "fpsr"},      {0xde82, "tpidr_el0"},
                 {0xde83, "tpidrro_el0"}, {0xd801, "ctr_el0"},    {0xd807, "dczid_el0"}, {0xdf00, "cntfrq_el0"},
                 {0xdf01, "cntpct_el0"},  {0xdf02, "cntvct_el0"}, {0xc000, "midr_el1"}};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (names[i].reg == reg) {
            put(w, "%s", names[i].name);
            return;
        }
    put(w, "s%u_%u_c%u_c%u_%u", reg >> 14, reg >> 11 & 7, reg >> 7 & 15, reg >> 3 & 15, reg & 7);
}

/* FMOV immediates are n/16 * 2^r; binutils writes the value with %.18e. */
static void put_fp_imm(struct writer *w, const struct a64_insn *insn)
{
    put(w, "#%.18e", f64_of_bits(a64_fp_imm(insn->amount, 3)));
}

static void put_vector_imm(struct writer *w, const struct a64_insn *insn)
{
    const unsigned cmode = insn->shift;
    if (insn->size == 3)
        put(w, "#0x%llx", (unsigned long long)insn->imm);
    else
        put(w, "#0x%x", insn->amount);
    const unsigned shift = cmode < 8 ? 8 * (cmode >> 1) : cmode < 12 ? 8 * (cmode >> 1 & 1) : 0;
    if (cmode >= 12 && cmode < 14)
        put(w, ", msl #%u", cmode & 1 ? 16 : 8);
    else if (shift)
        put(w, ", lsl #%u", shift);
}

static void put_shift(struct writer *w, const struct a64_insn *insn)
{
    static const char *const kinds[4] = {"lsl", "lsr", "asr", "ror"};
    if (insn->amount || insn->shift)
        put(w, ", %s #%u", kinds[insn->shift], insn->amount);
}

static void put_order(struct writer *w, unsigned order) /* 2 acquire, 1 release */
{
    put(w, "%s%s", order & 2 ? "a" : "", order & 1 ? "l" : "");
}

static void put_immediate(struct writer *w, const struct a64_insn *insn, char kind, uint64_t pc)
{
    const unsigned long long imm = (unsigned long long)insn->imm;
    switch (kind) {
    case 't': put(w, "%llx", (unsigned long long)pc + imm); break;
    case 'T': put(w, "%llx", ((unsigned long long)pc & ~4095ULL) + imm); break;
    case 'l': put(w, "#0x%llx%s", imm >> insn->amount, insn->amount ? ", lsl #12" : ""); break;
    case 'w':
        put(w, "#0x%llx", imm >> insn->amount);
        if (insn->amount)
            put(w, ", lsl #%u", insn->amount);
        break;
    case 'i': put(w, "#0x%llx", imm); break;
    case 'I': put(w, "#%lld", (long long)insn->imm); break;
    case 'A': put(w, "#%u", insn->amount); break;
    case 'o':
        if (insn->imm)
            put(w, ", #%lld", (long long)insn->imm);
        break;
    case 'v': put(w, "#%u", 8u << insn->size); break;
    case 'a': put(w, "#%u", insn->form == A64_FCADD_V ? 90 + 180u * insn->shift : 90u * insn->shift); break;
    case 'C': put(w, "#0x%x", insn->amount); break;
    case 'u':
        if (insn->amount != 15)
            put(w, "\t#0x%x", insn->amount);
        break;
    default: break;
    }
}

static void put_other(struct writer *w, const struct a64_insn *insn, char kind, uint64_t pc)
{
    switch (kind) {
    case 'c': put(w, "%s", conditions[insn->cond]); break;
    case '~': put_shift(w, insn); break;
    case 'e': put_extend(w, insn); break;
    case 'p': put_prefetch(w, insn->rd); break;
    case 'y': put_system_register(w, (unsigned)insn->imm); break;
    case 'b': put_barrier(w, insn->amount); break;
    case 'j': put_hint(w, (unsigned)insn->imm); break;
    case 's': put(w, "%s", insn->size == 0 ? "b" : insn->size == 1 ? "h" : ""); break;
    case 'x': put_order(w, insn->amount); break;
    case 'q': put(w, "%s", insn->q ? "2" : ""); break;
    case 'f': put_fp_imm(w, insn); break;
    case 'm': put_vector_imm(w, insn); break;
    default: put_immediate(w, insn, kind, pc); break;
    }
}

static void render(struct writer *w, const struct a64_insn *insn, const char *text, uint64_t pc)
{
    for (; *text; text++) {
        if (*text != '%') {
            put(w, "%c", *text);
        } else if (a64_is_place(text + 1)) {
            put_place(w, insn, text[1], text[2]);
            text += 2;
        } else {
            put_other(w, insn, *++text, pc);
        }
    }
}

int a64_disasm(const struct a64_insn *insn, uint64_t pc, char *text, size_t size)
{
    struct writer w = {text, size, 0};
    if (size)
        text[0] = 0;
    if (insn->form == A64_AMX)
        return amx_disasm_word(insn->word, text, size);
    if (insn->form == A64_UNDEFINED || insn->form >= A64_FORM_COUNT) {
        put(&w, insn->word >> 16 ? ".inst\t0x%08x" : "udf\t#%u", insn->word);
        return (int)w.length;
    }
    struct a64_insn shown = *insn;
    const char *alias = a64_alias(&shown);
    render(&w, &shown, alias ? alias : a64_rows[insn->form].text, pc);
    return (int)w.length;
}
