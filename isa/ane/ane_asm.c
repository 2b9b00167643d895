/* Listings: lines to statements. README.md shows the language. */
#include "isa/ane/ane_asm_parts.h"
#include "isa/ane/ane_half.h"
#include "isa/isa_suggest.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FILE_BYTES (UINT64_C(1) << 28)
#define MOST_TDS        65536u
#define WORD_BYTES      120

bool ane_asm_fail(struct isa_error *error, unsigned long line, const char *format, ...)
{
    va_list arguments;
    *error = (struct isa_error){.line = line};
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

enum reading { NOTHING, HEX, WEIGHTS, BIAS }; /* what lines without a name continue */

struct reader {
    struct ane_asm_listing *l;
    struct isa_error *error;
    unsigned long line;
    const char *at; /* rest of the line */
    enum reading reading;
};

static bool fail(struct reader *r, const char *what, const char *word)
{
    return ane_asm_fail(r->error, r->line, "%s%s%s", what, word ? ": " : "", word ? word : "");
}

/* Makes room for one more in an array of the listing. */
static bool grow(struct reader *r, void *array, size_t count, size_t *room, size_t size)
{
    void *old, *bigger;
    if (count < *room)
        return true;
    memcpy(&old, array, sizeof old);
    const size_t wanted = *room ? 2 * *room : 64;
    bigger = realloc(old, wanted * size);
    if (!bigger)
        return fail(r, "out of memory", NULL);
    memcpy(array, &bigger, sizeof bigger);
    *room = wanted;
    return true;
}

/* ---- words and numbers ---- */

/* Next word of the line, up to a blank or '='; empty at the end. */
static bool next_word(struct reader *r, char word[WORD_BYTES])
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
    size_t length = strcspn(r->at, " \t=");
    if (length == 0 && *r->at == '=')
        length = 1;
    if (length >= WORD_BYTES) {
        word[0] = '\0';
        return fail(r, "a word that is too long", NULL);
    }
    memcpy(word, r->at, length);
    word[length] = '\0';
    r->at += length;
    return true;
}

static bool parse_integer(const char *word, uint64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)word[0]) || strlen(word) > 18)
        return false;
    *value = strtoull(word, &end, word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? 16 : 10);
    return *end == '\0';
}

static bool next_integer(struct reader *r, uint64_t most, uint64_t *value)
{
    char word[WORD_BYTES];
    if (!next_word(r, word))
        return false;
    if (!parse_integer(word, value))
        return fail(r, word[0] ? "expected a number, found" : "expected a number", word[0] ? word : NULL);
    return *value <= most || fail(r, "number beyond what fits", word);
}

static bool parse_number(const char *word, double *number)
{
    char *end;
    *number = strtod(word, &end);
    return word[0] && *end == '\0';
}

static bool at_end(struct reader *r)
{
    char word[WORD_BYTES];
    return next_word(r, word) && (!word[0] || fail(r, "unexpected", word));
}

/* ---- fields ---- */

static struct ane_asm_td *current_td(struct reader *r)
{
    return r->l->tds ? &r->l->td[r->l->tds - 1] : NULL;
}

static bool add_value(struct reader *r, enum ane_field field, unsigned element, uint32_t value)
{
    struct ane_asm_listing *l = r->l;
    struct ane_asm_td *td = current_td(r);
    if (!td || !grow(r, &l->value, l->values, &l->value_room, sizeof *l->value))
        return false;
    l->value[l->values++] = (struct ane_asm_value){r->line, field, element, value};
    td->end = l->values;
    return true;
}

static bool unknown_field(struct reader *r, const char *word)
{
    struct isa_suggest suggest;
    char hint[80];
    isa_suggest_start(&suggest, word);
    for (unsigned i = 0; i < ANE_FIELD_COUNT; i++)
        isa_suggest_offer(&suggest, ane_field_info((enum ane_field)i)->name);
    isa_suggest_text(&suggest, hint, sizeof hint);
    return ane_asm_fail(r->error, r->line, "no field is named \"%.80s\"%s", word, hint);
}

/* "Stem[3].Part", "Stem[0..2].Part", "Name": the field and its elements. */
static bool find_elements(struct reader *r, const char *word, enum ane_field *field, unsigned *first, unsigned *last)
{
    char single[WORD_BYTES], *dots;
    memcpy(single, word, strlen(word) + 1);
    dots = strstr(single, "..");
    if (!dots) {
        if (!ane_field_find(word, strlen(word), field, first))
            return unknown_field(r, word);
        *last = *first;
        return true;
    }
    char *end;
    const unsigned long top = isdigit((unsigned char)dots[2]) ? strtoul(dots + 2, &end, 10) : ANE_FIELD_COUNT;
    if (!isdigit((unsigned char)dots[2]) || *end != ']')
        return unknown_field(r, word);
    memmove(dots, end, strlen(end) + 1);
    if (!ane_field_find(single, strlen(single), field, first))
        return unknown_field(r, word);
    *last = (unsigned)top;
    return (top >= *first && top < ane_field_info(*field)->count) || fail(r, "elements that the field does not have", word);
}

static bool field_value(struct reader *r, enum ane_field field, const char *word, uint32_t *value)
{
    const struct ane_field_info *info = ane_field_info(field);
    const unsigned float_bits = ane_field_float_bits(field);
    uint64_t whole;
    double number;
    if (float_bits && (strpbrk(word, ".-") || (strchr(word, 'e') && strncmp(word, "0x", 2) != 0)) &&
        parse_number(word, &number)) {
        const float single = (float)number;
        memcpy(value, &single, sizeof single);
        if (float_bits == 16)
            *value = ane_half_bits(number);
        return true;
    }
    if (!parse_integer(word, &whole))
        return fail(r, "expected a number, found", word);
    if (whole & ((UINT64_C(1) << info->shift) - 1))
        return ane_asm_fail(r->error, r->line, "%s = %s is no multiple of %u bytes", info->name, word, 1u << info->shift);
    whole >>= info->shift;
    if (whole >> info->width)
        return ane_asm_fail(r->error, r->line, "%s = %s does not fit %u bits", info->name, word, info->width);
    *value = (uint32_t)whole;
    return true;
}

/* After "NAME =": one value for all elements, or one each. */
static bool read_values(struct reader *r, enum ane_field field, unsigned first, unsigned last)
{
    uint32_t value[ANE_BANKS];
    unsigned count = 0;
    for (;;) {
        char word[WORD_BYTES];
        if (!next_word(r, word))
            return false;
        if (!word[0])
            break;
        if (count > last - first)
            return fail(r, "more values than elements", NULL);
        if (!field_value(r, field, word, &value[count++]))
            return false;
    }
    if (count != 1 && count != last - first + 1)
        return fail(r, count ? "fewer values than elements" : "expected a value", NULL);
    for (unsigned i = first; i <= last; i++)
        if (!add_value(r, field, i, value[count == 1 ? 0 : i - first]))
            return false;
    return true;
}

static bool read_assignment(struct reader *r, const char *name)
{
    enum ane_field field;
    unsigned first = 0, last = 0;
    char equals[WORD_BYTES];
    if (!current_td(r))
        return fail(r, "a field before the first .td", NULL);
    if (!find_elements(r, name, &field, &first, &last) || !next_word(r, equals))
        return false;
    if (strcmp(equals, "=") != 0)
        return fail(r, "expected = behind the field", NULL);
    return read_values(r, field, first, last);
}

/* .word BYTE = VALUE */
static bool read_word(struct reader *r)
{
    uint64_t byte, value;
    char equals[WORD_BYTES];
    if (!current_td(r))
        return fail(r, ".word before the first .td", NULL);
    if (!next_integer(r, ANE_TD_BYTES - 4, &byte) || !next_word(r, equals))
        return false;
    if (strcmp(equals, "=") != 0 || byte % 4)
        return fail(r, "expected .word BYTE = VALUE, with a multiple of 4", NULL);
    return next_integer(r, UINT32_MAX, &value) && add_value(r, ANE_FIELD_COUNT, (unsigned)byte / 4, (uint32_t)value) && at_end(r);
}

/* ---- other directives ---- */

static bool read_td(struct reader *r)
{
    struct ane_asm_listing *l = r->l;
    char word[WORD_BYTES];
    uint64_t offset = 0;
    if (!next_word(r, word))
        return false;
    if (word[0] && (!parse_integer(word, &offset) || offset > UINT32_MAX))
        return fail(r, "expected an offset behind .td, found", word);
    if (l->tds == MOST_TDS)
        return fail(r, "more than 65536 descriptors", NULL);
    if (!grow(r, &l->td, l->tds, &l->td_room, sizeof *l->td))
        return false;
    l->td[l->tds++] = (struct ane_asm_td){
        .line = r->line, .placed = word[0] != '\0', .offset = (uint32_t)offset, .first = l->values, .end = l->values};
    return at_end(r);
}

static bool read_container(struct reader *r)
{
    char word[WORD_BYTES];
    if (!next_word(r, word))
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(word, ane_container_names[i]) == 0) {
            r->l->container = (enum ane_container)i;
            return at_end(r);
        }
    return fail(r, "expected raw, hwx or anec behind .container", word[0] ? word : NULL);
}

static bool read_size(struct reader *r, size_t *size)
{
    uint64_t value;
    if (!next_integer(r, MOST_FILE_BYTES, &value))
        return false;
    *size = value;
    return at_end(r);
}

static bool read_stretch(struct reader *r)
{
    struct ane_asm_listing *l = r->l;
    uint64_t offset;
    if (!next_integer(r, MOST_FILE_BYTES, &offset) || !at_end(r) ||
        !grow(r, &l->bytes, l->stretches, &l->stretch_room, sizeof *l->bytes))
        return false;
    l->bytes[l->stretches++] = (struct ane_asm_bytes){r->line, offset, l->data_bytes, 0};
    r->reading = HEX;
    return true;
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool read_hex(struct reader *r)
{
    struct ane_asm_listing *l = r->l;
    for (const char *at = r->at; *at;) {
        if (*at == ' ' || *at == '\t') {
            at++;
            continue;
        }
        const int high = digit(at[0]), low = high < 0 ? -1 : digit(at[1]);
        if (low < 0)
            return fail(r, "expected bytes in hex", NULL);
        if (!grow(r, &l->data, l->data_bytes, &l->data_room, 1))
            return false;
        l->data[l->data_bytes++] = (uint8_t)(16 * high + low);
        l->bytes[l->stretches - 1].count++;
        at += 2;
    }
    return true;
}

static bool read_numbers(struct reader *r, struct ane_asm_halves *halves)
{
    for (;;) {
        char word[WORD_BYTES];
        double number;
        if (!next_word(r, word))
            return false;
        if (!word[0])
            return true;
        if (!parse_number(word, &number))
            return fail(r, "expected a number, found", word);
        if (!grow(r, &halves->half, halves->count, &halves->room, sizeof *halves->half))
            return false;
        halves->half[halves->count++] = ane_half_bits(number);
    }
}

static bool unknown_table(struct reader *r, const char *word)
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
static bool read_table(struct reader *r)
{
    char name[WORD_BYTES], word[WORD_BYTES];
    double alpha = (double)NAN;
    struct ane_asm_td *td = current_td(r);
    if (!td)
        return fail(r, ".table before the first .td", NULL);
    if (!next_word(r, name) || !next_word(r, word))
        return false;
    if (word[0] && !parse_number(word, &alpha))
        return fail(r, "expected a number, found", word);
    if (!ane_table_make(name, alpha, &td->table))
        return unknown_table(r, name);
    td->table_line = r->line;
    return at_end(r);
}

static bool read_weights(struct reader *r, enum reading reading)
{
    struct ane_asm_td *td = current_td(r);
    if (!td)
        return fail(r, "weights before the first .td", NULL);
    r->reading = reading;
    if (!td->weights_line)
        td->weights_line = r->line;
    return read_numbers(r, reading == WEIGHTS ? &td->weights : &td->bias);
}

static bool read_directive(struct reader *r, const char *word)
{
    r->reading = NOTHING;
    if (strcmp(word, ".td") == 0)
        return read_td(r);
    if (strcmp(word, ".word") == 0)
        return read_word(r);
    if (strcmp(word, ".bytes") == 0)
        return read_stretch(r);
    if (strcmp(word, ".table") == 0)
        return read_table(r);
    if (strcmp(word, ".weights") == 0)
        return read_weights(r, WEIGHTS);
    if (strcmp(word, ".bias") == 0)
        return read_weights(r, BIAS);
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
    return fail(r, "no such directive", word);
}

static bool read_line(struct reader *r)
{
    const char *start = r->at;
    char word[WORD_BYTES];
    if (r->reading == HEX && !strchr(start, '=') && start[strspn(start, " \t")] != '.')
        return read_hex(r);
    if (!next_word(r, word))
        return false;
    if (!word[0])
        return true;
    if (word[0] == '.' && !isdigit((unsigned char)word[1]))
        return read_directive(r, word);
    struct ane_asm_td *td = current_td(r);
    if (td && (r->reading == WEIGHTS || r->reading == BIAS) && !strchr(start, '=')) {
        r->at = start;
        return read_numbers(r, r->reading == WEIGHTS ? &td->weights : &td->bias);
    }
    r->reading = NOTHING;
    return read_assignment(r, word);
}

/* Copies one line without its comment and end. Returns the start of the next. */
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

bool ane_asm_read(const char *text, size_t size, struct ane_asm_listing *listing, struct isa_error *error)
{
    char line[4096];
    *listing = (struct ane_asm_listing){.container = ANE_CONTAINER_RAW};
    struct reader r = {.l = listing, .error = error};
    for (size_t at = 0; at < size;) {
        at = take_line(text, size, at, line, sizeof line);
        r.line++;
        r.at = line;
        if (strlen(line) == sizeof line - 1)
            return fail(&r, "a line of more than 4094 characters", NULL);
        if (!read_line(&r))
            return false;
    }
    if (listing->tds == 0)
        return fail(&r, "no .td: a program needs a descriptor", NULL);
    return true;
}

void ane_asm_free(struct ane_asm_listing *listing)
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
