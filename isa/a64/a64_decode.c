/* From a word to an instruction: its form, fields, registers read and written, bytes and lanes. */
#include "isa/a64/a64_table.h"

#include "isa/amx/amx_isa.h"

#include <string.h>

static unsigned find_form(uint32_t word)
{
    for (unsigned g = 0; g < a64_group_count; g++) {
        if ((word & a64_groups[g].mask) != a64_groups[g].bits)
            continue;
        for (unsigned form = a64_groups[g].first; form < a64_groups[g + 1].first; form++)
            if ((word & a64_rows[form].mask) == a64_rows[form].bits)
                return form;
        break;
    }
    return A64_UNDEFINED;
}

static void add_dependence(uint8_t *list, unsigned max, uint8_t number)
{
    for (unsigned i = 0; i < max && number != A64_DEP_NONE; i++) {
        if (list[i] == number)
            return;
        if (list[i] == A64_DEP_NONE) {
            list[i] = number;
            return;
        }
    }
}

static void add_dst(struct a64_insn *insn, unsigned number)
{
    add_dependence(insn->dst, A64_DST_MAX, (uint8_t)number);
}

static void add_src(struct a64_insn *insn, unsigned number)
{
    add_dependence(insn->src, A64_SRC_MAX, (uint8_t)number);
}

static unsigned place_value(const struct a64_insn *insn, char place)
{
    return place == 'd' ? insn->rd : place == 'n' ? insn->rn : place == 'm' ? insn->rm : insn->ra;
}

static unsigned dependency_number(char kind, unsigned reg)
{
    if (kind == 'P' || kind == 'B')
        return reg;
    if (strchr("RWXYOGMZ", kind))
        return reg == 31 ? A64_DEP_NONE : reg;
    return A64_DEP_V0 + reg;
}

static bool is_dst(uint32_t props, char place, unsigned index)
{
    if (props & P_NO_DST)
        return false;
    if (props & P_STATUS)
        return place == 'm';
    if (props & P_SWAP)
        return place == 'm';
    if (props & P_LOAD)
        return place == 'd' || (place == 'a' && props & P_PAIR);
    return index == 0 && place == 'd';
}

/* Adds the registers of one place of the text; a list or pair stands for several. */
static void add_place(const struct a64_row *row, struct a64_insn *insn, char kind, char place, unsigned index)
{
    const unsigned count = kind == 'K' || kind == 'k' ? insn->shift : 1;
    const bool dst = is_dst(row->props, place, index) && kind != 'Z';
    const bool keeps_upper = row->props & P_UPPER && insn->q;
    for (unsigned i = 0; i < count; i++) {
        const unsigned reg = (place_value(insn, place) + i + (kind == 'M')) & 31;
        const unsigned number = dependency_number(kind, reg);
        if (dst)
            add_dst(insn, number);
        if (!dst || row->props & (P_RMW | P_SWAP) || keeps_upper)
            add_src(insn, number);
    }
    if (kind == 'B' && row->props & P_WRITEBACK)
        add_dst(insn, insn->rn);
}

static void add_implicit(const struct a64_row *row, struct a64_insn *insn)
{
    if (row->props & P_READS)
        add_src(insn, A64_DEP_FLAGS);
    if (row->props & P_SETS)
        add_dst(insn, A64_DEP_FLAGS);
    if (row->props & P_LINK)
        add_dst(insn, 30);
    if (row->props & P_READS_LR)
        add_src(insn, 30);
}

static void find_dependences(const struct a64_row *row, struct a64_insn *insn)
{
    unsigned index = 0;
    for (const char *t = row->text; *t; t++) {
        if (*t != '%')
            continue;
        t++;
        if (a64_is_place(t)) {
            add_place(row, insn, *t, t[1], index++);
            t++;
        }
    }
    add_implicit(row, insn);
}

static unsigned memory_bytes(const struct a64_row *row, const struct a64_insn *insn)
{
    if (!(row->props & (P_LOAD | P_STORE)))
        return 0;
    if (row->props & P_BYTES_64)
        return 64;
    const unsigned regs = P_REGS_OF(row->props);
    if (regs)
        return regs * (row->props & P_ONE ? 1u << insn->size : 8u << insn->q);
    return (row->props & P_PAIR ? 2u : 1u) << insn->size;
}

static bool names_vector(const uint8_t *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (list[i] >= A64_DEP_V0 && list[i] < A64_DEP_FLAGS)
            return true;
    return false;
}

static unsigned lanes_of(const struct a64_row *row, const struct a64_insn *insn)
{
    const bool vector = names_vector(insn->dst, A64_DST_MAX) || names_vector(insn->src, A64_SRC_MAX);
    if (!vector || row->props & (P_LOAD | P_STORE))
        return 0;
    if (!a64_layout_has_q(row->layout))
        return 1;
    return (strstr(row->text, "%L") ? 8u : 8u << insn->q) >> insn->size; /* long and narrow forms work on half a vector */
}

static unsigned flags_of(uint32_t props)
{
    return (props & P_LOAD ? A64_INSN_LOAD : 0u) | (props & P_STORE ? A64_INSN_STORE : 0u) |
           (props & P_BRANCH ? A64_INSN_BRANCH | A64_INSN_ENDS_BLOCK : 0u) | (props & P_SETS ? A64_INSN_SETS_FLAGS : 0u) |
           (props & P_WRITEBACK ? A64_INSN_WRITEBACK : 0u) | (props & P_END ? A64_INSN_ENDS_BLOCK : 0u) |
           (props & P_V86 ? A64_INSN_V86 : 0u);
}

static void clear(uint32_t word, struct a64_insn *insn)
{
    memset(insn, 0, sizeof *insn);
    memset(insn->dst, A64_DEP_NONE, sizeof insn->dst);
    memset(insn->src, A64_DEP_NONE, sizeof insn->src);
    insn->word = word;
    insn->form = A64_UNDEFINED;
    insn->cls = A64_C_SYSTEM;
    insn->flags = A64_INSN_ENDS_BLOCK;
}

void a64_make_undefined(struct a64_insn *insn)
{
    const unsigned why = insn->flags & A64_INSN_V86;
    clear(insn->word, insn);
    insn->flags |= (uint8_t)why;
}

static void decode_amx(uint32_t word, struct a64_insn *insn)
{
    insn->form = A64_AMX;
    insn->cls = A64_C_AMX;
    insn->flags = 0;
    insn->imm = amx_word_op(word);
    insn->rd = (uint8_t)amx_word_register(word);
    insn->size = 3;
    if (amx_word_op(word) != AMX_SETCLR && insn->rd != 31)
        add_src(insn, insn->rd);
}

/* msr and mrs touch the flags only when they name them. */
#define NZCV_REGISTER 0xda10
static void drop_flags(struct a64_insn *insn)
{
    insn->flags &= (uint8_t)~A64_INSN_SETS_FLAGS;
    for (unsigned i = 0; i < A64_DST_MAX; i++)
        if (insn->dst[i] == A64_DEP_FLAGS)
            insn->dst[i] = A64_DEP_NONE;
    for (unsigned i = 0; i < A64_SRC_MAX; i++)
        if (insn->src[i] == A64_DEP_FLAGS)
            insn->src[i] = A64_DEP_NONE;
}

/* The row's class, unless the operands make the instruction cheaper or dearer. */
static unsigned class_of(const struct a64_row *row, const struct a64_insn *insn)
{
    if ((row->props & P_SHIFT_COST) && insn->amount)
        return A64_C_INT_SHIFT;
    if (row->cls == A64_C_FP_DIV && insn->size < 3)
        return insn->size == 2 ? A64_C_FP_DIV_S : A64_C_FP_DIV_H;
    return row->cls == A64_C_FP_SQRT && insn->size == 3 ? A64_C_FP_SQRT_D : row->cls;
}

void a64_decode(uint32_t word, struct a64_insn *insn)
{
    clear(word, insn);
    if (amx_is_word(word)) {
        decode_amx(word, insn);
        return;
    }
    const unsigned form = find_form(word);
    if (form == A64_UNDEFINED)
        return;
    const struct a64_row *row = &a64_rows[form];
    if (!a64_fields_decode(row, word, insn)) {
        clear(word, insn);
        return;
    }
    insn->form = (uint16_t)form;
    insn->flags = (uint8_t)flags_of(row->props);
    insn->cls = (uint8_t)class_of(row, insn);
    insn->mem_bytes = (uint8_t)memory_bytes(row, insn);
    find_dependences(row, insn);
    if (row->layout == A64_L_SYSTEM_REG && insn->imm != NZCV_REGISTER)
        drop_flags(insn);
    insn->lanes = (uint8_t)lanes_of(row, insn);
}

bool a64_encode(const struct a64_insn *insn, uint32_t *word)
{
    if (insn->form == A64_AMX) {
        *word = amx_encode((unsigned)insn->imm, insn->rd);
        return insn->rd < 32 && insn->imm >= 0 && insn->imm < 32;
    }
    if (insn->form == A64_UNDEFINED || insn->form >= A64_FORM_COUNT)
        return false;
    *word = a64_rows[insn->form].bits;
    return a64_fields_encode(&a64_rows[insn->form], insn, word);
}
