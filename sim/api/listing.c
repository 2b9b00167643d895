#include "sim/api/listing.h"

#include "isa/list_grow.h"
#include "isa/a64/a64_isa.h"
#include "isa/elf/elf_read.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 4 };

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* The constants that movz and movk have put into general registers along straight-line code. AMX operands are mostly built that
 * way, so a listing can say what an AMX instruction does. */
struct constants {
    uint64_t value[31];
    uint32_t known; /* bit n = register n */
};

static void track(struct constants *c, const struct a64_insn *insn)
{
    static const uint32_t mask = UINT32_C(0xff800000), movz = UINT32_C(0xd2800000), movk = UINT32_C(0xf2800000);
    const uint32_t word = insn->word, rd = word & 31, shift = (word >> 21 & 3) * 16;
    const uint64_t part = (uint64_t)(word >> 5 & 0xffff) << shift;
    const bool is_movz = (word & mask) == movz, is_movk = (word & mask) == movk;
    if (insn->flags & A64_INSN_ENDS_BLOCK) {
        c->known = 0;
    } else if (is_movz && rd < 31) {
        c->value[rd] = part;
        c->known |= UINT32_C(1) << rd;
    } else if (is_movk && rd < 31) {
        c->value[rd] = (c->value[rd] & ~(UINT64_C(0xffff) << shift)) | part;
    } else {
        for (unsigned i = 0; i < A64_DST_MAX; i++)
            if (insn->dst[i] < 31)
                c->known &= ~(UINT32_C(1) << insn->dst[i]);
    }
}

static void describe_amx(uint32_t word, const struct constants *c, char *text, size_t size)
{
    int length = amx_disasm_word(word, text, size);
    const unsigned op = amx_word_op(word), reg = amx_word_register(word);
    if (op != AMX_SETCLR && reg < 31 && c->known >> reg & 1 && length >= 0 && (size_t)length + 8 < size) {
        length += snprintf(text + length, size - (size_t)length, "\t// ");
        amx_disasm_operand(op, c->value[reg], AMX_GEN_M3, text + length, size - (size_t)length);
    }
}

static void describe(enum listing_family family, struct constants *c, uint32_t word, uint64_t address, char *text, size_t size)
{
    struct a64_insn insn;
    if (family == LISTING_AMX) {
        amx_disasm_word(word, text, size);
    } else if (amx_word_is_defined(word)) {
        describe_amx(word, c, text, size);
    } else {
        a64_decode(word, &insn);
        a64_disasm(&insn, address, text, size);
        track(c, &insn);
    }
}

/* Code may jump to a label, so nothing is known about the registers where a stretch of words begins. */
static void walk_words(enum listing_family family, const uint8_t *bytes, size_t size, uint64_t address,
                       const struct listing_sink *sink)
{
    struct constants constants = {.known = 0};
    for (size_t at = 0; at + WORD_BYTES <= size; at += WORD_BYTES) {
        char text[2 * AMX_TEXT_BYTES];
        const struct listing_line line = {NULL, address + at, word_at(bytes + at), text};
        describe(family, &constants, line.word, line.address, text, sizeof text);
        sink->line(sink->context, &line);
    }
}

/* The symbols of one section, sorted by address. */
struct label {
    uint64_t address;
    const char *name;
};

static int compare_labels(const void *a, const void *b)
{
    const struct label *p = a, *q = b;
    return p->address < q->address ? -1 : p->address > q->address ? 1 : strcmp(p->name, q->name);
}

/* Leaves out mapping symbols ($x, $d), which mark code and data for tools. */
static size_t collect_labels(const struct elf_file *elf, uint32_t section, uint64_t base, struct label *labels)
{
    size_t count = 0;
    for (uint32_t i = 0; i < elf->symbol_count; i++) {
        struct elf_symbol symbol;
        elf_symbol(elf, i, &symbol);
        if (symbol.section != section || !symbol.name[0] || symbol.name[0] == '$' || symbol.type == STT_SECTION ||
            symbol.type == STT_FILE)
            continue;
        labels[count++] = (struct label){symbol.value + (elf->kind == ELF_OBJECT ? base : 0), symbol.name};
    }
    qsort(labels, count, sizeof *labels, compare_labels);
    return count;
}

static void walk_labelled(enum listing_family family, const uint8_t *bytes, uint64_t size, uint64_t address,
                          const struct label *labels, size_t count, const struct listing_sink *sink)
{
    uint64_t at = 0;
    for (size_t i = 0; i <= count; i++) {
        const uint64_t next = i < count && labels[i].address >= address ? labels[i].address - address : size;
        const uint64_t until = next < size ? next & ~UINT64_C(3) : size;
        if (until > at) {
            walk_words(family, bytes + at, (size_t)(until - at), address + at, sink);
            at = until;
        }
        if (i < count) {
            const struct listing_line line = {labels[i].name, labels[i].address, 0, NULL};
            sink->line(sink->context, &line);
        }
    }
}

static bool walk_section(enum listing_family family, const struct elf_file *elf, uint32_t index, const struct listing_sink *sink,
                         struct orch_error *error)
{
    struct elf_section section;
    elf_section(elf, index, &section);
    if (section.type != SHT_PROGBITS || !(section.flags & SHF_EXECINSTR) || section.bytes == 0)
        return true;
    struct label *labels = calloc((size_t)elf->symbol_count + 1, sizeof *labels);
    if (!labels)
        return orch_no_memory(error);
    const struct listing_line line = {section.name, section.addr, 0, NULL};
    const size_t count = collect_labels(elf, index, section.addr, labels);
    sink->line(sink->context, &line);
    walk_labelled(family, elf->bytes + section.offset, section.bytes, section.addr, labels, count, sink);
    free(labels);
    return true;
}

/* Walks the segments of an executable that has no section headers. */
static void walk_segments(enum listing_family family, const struct elf_file *elf, const struct listing_sink *sink)
{
    for (uint32_t i = 0; i < elf->load_count; i++) {
        struct elf_segment segment;
        elf_segment(elf, i, &segment);
        if (segment.exec)
            walk_words(family, elf->bytes + segment.offset, (size_t)segment.file_bytes, segment.addr, sink);
    }
}

static bool walk_elf(enum listing_family family, const uint8_t *bytes, size_t size, const struct listing_sink *sink,
                     struct orch_error *error)
{
    struct elf_file elf;
    struct isa_error why = {0};
    if (!elf_open(&elf, bytes, size, &why))
        return orch_fail(error, ORCH_USAGE, "byte %lu: %s", why.offset, why.text);
    for (uint32_t i = 0; i < elf.section_count; i++)
        if (!walk_section(family, &elf, i, sink, error))
            return false;
    if (elf.section_count == 0)
        walk_segments(family, &elf, sink);
    return true;
}

bool listing_walk(enum listing_family family, const uint8_t *bytes, size_t size, const struct listing_sink *sink,
                  struct orch_error *error)
{
    if (elf_is(bytes, size))
        return walk_elf(family, bytes, size, sink, error);
    if (size == 0)
        return orch_fail(error, ORCH_USAGE, "empty file");
    if (size % WORD_BYTES)
        return orch_fail(error, ORCH_USAGE, "neither an ELF file nor whole 32-bit words: %zu bytes", size);
    walk_words(family, bytes, size, 0, sink);
    return true;
}

struct words {
    uint32_t *word;
    size_t count, room;
};

static bool emit(struct words *words, uint32_t word, struct orch_error *error)
{
    uint32_t *const grown = list_grow(words->word, words->count, &words->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    words->word = grown;
    words->word[words->count++] = word;
    return true;
}

/* Loads x0: movz of one part, then movk of the other parts that are not zero. */
static bool emit_operand(struct words *words, uint64_t operand, struct orch_error *error)
{
    static const uint32_t movz = UINT32_C(0xd2800000), movk = UINT32_C(0xf2800000);
    bool first = true;
    for (uint32_t part = 0; part < 4; part++) {
        const uint32_t imm = (uint32_t)(operand >> 16 * part & 0xffff);
        if (!imm && (part || operand))
            continue;
        if (!emit(words, (first ? movz : movk) | part << 21 | imm << 5, error))
            return false;
        first = false;
    }
    return true;
}

/* Whether a line has no instruction: only blanks, or a comment as amx_asm_line knows them. */
static bool is_blank(const char *line)
{
    line += strspn(line, " \t\r");
    return !*line || *line == ';' || *line == '#' || strncmp(line, "//", 2) == 0;
}

static bool assemble_line(const char *line, unsigned long number, struct words *words, struct orch_error *error)
{
    uint32_t word;
    uint64_t operand;
    bool has_operand;
    struct isa_error why = {0};
    if (is_blank(line))
        return true;
    if (!amx_asm_line(line, &word, &operand, &has_operand, &why))
        return orch_fail(error, ORCH_USAGE, "%lu:%lu: %s", number, why.offset + 1, why.text);
    return (!has_operand || emit_operand(words, operand, error)) && emit(words, word, error);
}

bool listing_assemble(const char *text, uint32_t **out, size_t *count, struct orch_error *error)
{
    struct words words = {0};
    unsigned long number = 1;
    bool ok = true;
    for (const char *at = text; ok && *at; number++) {
        const size_t length = strcspn(at, "\n");
        char *line = strndup(at, length);
        ok = line ? assemble_line(line, number, &words, error) : orch_no_memory(error);
        free(line);
        at += length + (at[length] == '\n');
    }
    if (!ok) {
        free(words.word);
        return false;
    }
    *out = words.word;
    *count = words.count;
    return true;
}
