/* Listings: lines to statements. README.md describes the language. */
#include "isa/ane/ane_asm_scan.h"
#include "isa/ane/ane_half.h"
#include "isa/isa_suggest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FILE_BYTES (UINT64_C(1) << 28)
#define MOST_TDS        65536u

static bool read_td(struct ane_asm_reader *r)
{
    struct ane_asm_listing *l = r->l;
    char word[ANE_ASM_WORD_BYTES];
    uint64_t offset = 0;
    if (!ane_asm_next_word(r, word))
        return false;
    if (word[0] && (!ane_asm_parse_integer(word, &offset) || offset > UINT32_MAX))
        return ane_asm_complain(r, "expected an offset behind .td, found", word);
    if (l->tds == MOST_TDS)
        return ane_asm_complain(r, "more than 65536 descriptors", NULL);
    if (!ane_asm_grow(r, &l->td, l->tds, &l->td_room, sizeof *l->td))
        return false;
    l->td[l->tds++] = (struct ane_asm_td){
        .line = r->line, .placed = word[0] != '\0', .offset = (uint32_t)offset, .first = l->values, .end = l->values};
    return ane_asm_at_end(r);
}

static bool read_container(struct ane_asm_reader *r)
{
    char word[ANE_ASM_WORD_BYTES];
    if (!ane_asm_next_word(r, word))
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(word, ane_container_names[i]) == 0) {
            r->l->container = (enum ane_container)i;
            return ane_asm_at_end(r);
        }
    return ane_asm_complain(r, "expected raw, hwx or anec behind .container", word[0] ? word : NULL);
}

static bool read_size(struct ane_asm_reader *r, size_t *size)
{
    uint64_t value;
    if (!ane_asm_next_integer(r, MOST_FILE_BYTES, &value))
        return false;
    *size = value;
    return ane_asm_at_end(r);
}

static bool read_stretch(struct ane_asm_reader *r)
{
    struct ane_asm_listing *l = r->l;
    uint64_t offset;
    if (!ane_asm_next_integer(r, MOST_FILE_BYTES, &offset) || !ane_asm_at_end(r) ||
        !ane_asm_grow(r, &l->bytes, l->stretches, &l->stretch_room, sizeof *l->bytes))
        return false;
    l->bytes[l->stretches++] = (struct ane_asm_bytes){r->line, offset, l->data_bytes, 0};
    r->reading = ANE_ASM_HEX;
    return true;
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool read_hex(struct ane_asm_reader *r)
{
    struct ane_asm_listing *l = r->l;
    for (const char *at = r->at; *at;) {
        if (*at == ' ' || *at == '\t') {
            at++;
            continue;
        }
        const int high = digit(at[0]), low = high < 0 ? -1 : digit(at[1]);
        if (low < 0)
            return ane_asm_complain(r, "expected bytes in hex", NULL);
        if (!ane_asm_grow(r, &l->data, l->data_bytes, &l->data_room, 1))
            return false;
        l->data[l->data_bytes++] = (uint8_t)(16 * high + low);
        l->bytes[l->stretches - 1].count++;
        at += 2;
    }
    return true;
}

static bool read_numbers(struct ane_asm_reader *r, struct ane_asm_halves *halves)
{
    for (;;) {
        char word[ANE_ASM_WORD_BYTES];
        double number;
        if (!ane_asm_next_word(r, word))
            return false;
        if (!word[0])
            return true;
        if (!ane_asm_parse_number(word, &number))
            return ane_asm_complain(r, "expected a number, found", word);
        if (!ane_asm_grow(r, &halves->half, halves->count, &halves->room, sizeof *halves->half))
            return false;
        halves->half[halves->count++] = ane_half_bits(number);
    }
}

static bool unknown_table(struct ane_asm_reader *r, const char *word)
{
    struct isa_suggest suggest;
    const char *name;
    char hint[80];
    isa_suggest_start(&suggest, word);
    for (size_t i = 0; (name = ane_table_at(i, NULL)); i++)
        isa_suggest_offer(&suggest, name);
    isa_suggest_text(&suggest, hint, sizeof hint);
    return ane_asm_fail(r->error, r->line, "no activation table is named \"%.80s\"%s", word, hint);
}

/* .table NAME [ALPHA] */
static bool read_table(struct ane_asm_reader *r)
{
    char name[ANE_ASM_WORD_BYTES], word[ANE_ASM_WORD_BYTES];
    double alpha = (double)NAN;
    struct ane_asm_td *td = ane_asm_td(r);
    if (!td)
        return ane_asm_complain(r, ".table before the first .td", NULL);
    if (!ane_asm_next_word(r, name) || !ane_asm_next_word(r, word))
        return false;
    if (word[0] && !ane_asm_parse_number(word, &alpha))
        return ane_asm_complain(r, "expected a number, found", word);
    if (!ane_table_make(name, alpha, &td->table))
        return unknown_table(r, name);
    td->table_line = r->line;
    return ane_asm_at_end(r);
}

static bool read_weights(struct ane_asm_reader *r, enum ane_asm_reading reading)
{
    struct ane_asm_td *td = ane_asm_td(r);
    if (!td)
        return ane_asm_complain(r, "weights before the first .td", NULL);
    r->reading = reading;
    if (!td->weights_line)
        td->weights_line = r->line;
    return read_numbers(r, reading == ANE_ASM_WEIGHTS ? &td->weights : &td->bias);
}

static bool read_directive(struct ane_asm_reader *r, const char *word)
{
    r->reading = ANE_ASM_NOTHING;
    if (strcmp(word, ".td") == 0)
        return read_td(r);
    if (strcmp(word, ".word") == 0)
        return ane_asm_read_word(r);
    if (strcmp(word, ".bytes") == 0)
        return read_stretch(r);
    if (strcmp(word, ".table") == 0)
        return read_table(r);
    if (strcmp(word, ".weights") == 0)
        return read_weights(r, ANE_ASM_WEIGHTS);
    if (strcmp(word, ".bias") == 0)
        return read_weights(r, ANE_ASM_BIAS);
    if (strcmp(word, ".container") == 0)
        return read_container(r);
    if (strcmp(word, ".text") == 0)
        return read_size(r, &r->l->text_offset);
    if (strcmp(word, ".coefficients") == 0)
        return read_size(r, &r->l->const_offset);
    if (strcmp(word, ".size") == 0) {
        r->l->sized = true;
        return read_size(r, &r->l->size);
    }
    return ane_asm_complain(r, "no such directive", word);
}

static bool read_line(struct ane_asm_reader *r)
{
    const char *start = r->at;
    char word[ANE_ASM_WORD_BYTES];
    if (r->reading == ANE_ASM_HEX && !strchr(start, '=') && start[strspn(start, " \t")] != '.')
        return read_hex(r);
    if (!ane_asm_next_word(r, word))
        return false;
    if (!word[0])
        return true;
    if (word[0] == '.' && !isdigit((unsigned char)word[1]))
        return read_directive(r, word);
    struct ane_asm_td *td = ane_asm_td(r);
    if (td && (r->reading == ANE_ASM_WEIGHTS || r->reading == ANE_ASM_BIAS) && !strchr(start, '=')) {
        r->at = start;
        return read_numbers(r, r->reading == ANE_ASM_WEIGHTS ? &td->weights : &td->bias);
    }
    r->reading = ANE_ASM_NOTHING;
    return ane_asm_read_assignment(r, word);
}

/* Copies a line without its comment and line end. Returns the start of the next line. */
static size_t take_line(const char *text, size_t size, size_t at, char *line, size_t room)
{
    size_t length = 0;
    bool comment = false;
    for (; at < size && text[at] != '\n'; at++) {
        comment = comment || text[at] == ';';
        if (!comment && text[at] != '\r' && length < room)
            line[length++] = text[at] ? text[at] : '?';
    }
    line[length < room ? length : room - 1] = '\0';
    return at + 1;
}

static bool ane_asm_read(const char *text, size_t size, struct ane_asm_listing *listing, struct isa_error *error)
{
    char line[4096];
    *listing = (struct ane_asm_listing){.container = ANE_CONTAINER_RAW};
    struct ane_asm_reader r = {.l = listing, .error = error};
    for (size_t at = 0; at < size;) {
        at = take_line(text, size, at, line, sizeof line);
        r.line++;
        r.at = line;
        if (strlen(line) == sizeof line - 1)
            return ane_asm_complain(&r, "a line of more than 4094 characters", NULL);
        if (!read_line(&r))
            return false;
    }
    if (listing->tds == 0)
        return ane_asm_complain(&r, "no .td: a program needs a descriptor", NULL);
    return true;
}

static void ane_asm_free(struct ane_asm_listing *listing)
{
    for (size_t i = 0; i < listing->tds; i++) {
        free(listing->td[i].weights.half);
        free(listing->td[i].bias.half);
    }
    free(listing->td);
    free(listing->value);
    free(listing->bytes);
    free(listing->data);
    *listing = (struct ane_asm_listing){.container = ANE_CONTAINER_RAW};
}

bool ane_assemble(const char *text, size_t size, struct ane_program *program, struct isa_error *error)
{
    struct ane_asm_listing listing;
    *program = (struct ane_program){.count = 0};
    const bool ok = ane_asm_read(text, size, &listing, error) && ane_asm_build(&listing, program, error);
    ane_asm_free(&listing);
    return ok;
}
