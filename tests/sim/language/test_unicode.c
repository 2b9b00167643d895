/* Tables of characters against UnicodeData.txt of the Debian package
 * unicode-data. `make unicode` writes them anew: the program does that when it is called with --write.
 */
#include "sim/language/unicode.h"
#include "sim/language/utf8.h"
#include "tests/sim/language/language_example.h"

enum { CODES = 0x110000, PARTS_MAX = 18 };
#define TABLES ORCHARD_SOURCE_DIR "/sim/language/unicode_tables.inc"

/* ---- the data file ---- */

static struct {
    uint8_t category, class, excluded;
    uint32_t lower, first, second;
    uint8_t parts; /* of a compatibility decomposition, a step */
    uint32_t part[PARTS_MAX];
} character[CODES];

static const char *data_file(void)
{
    const char *const given = getenv("UNICODE_DATA");
    return given ? given : "/usr/share/unicode/UnicodeData.txt";
}

/* Field `number` of a line, which has semicolons between fields. */
static const char *field(const char *line, unsigned number)
{
    while (number--)
        line = strchr(line, ';') + 1;
    return line;
}

static uint8_t category_of(const char *name)
{
    for (unsigned i = 0; i < UNICODE_CATEGORY_COUNT; i++)
        if (memcmp(&UNICODE_CATEGORIES[2 * i], name, 2) == 0)
            return (uint8_t)i;
    return UINT8_MAX;
}

/* Of the data that stand beside it. */
static FILE *open_beside(const char *name)
{
    char path[512];
    const char *const data = data_file(), *const slash = strrchr(data, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - data) : 0, data, name);
    return fopen(path, "r");
}

static bool read_exclusions(void)
{
    char line[512];
    FILE *const in = open_beside("CompositionExclusions.txt");
    while (in && fgets(line, sizeof line, in))
        if (*line != '#' && *line != '\n')
            character[strtoul(line, NULL, 16)].excluded = 1;
    return in && fclose(in) == 0;
}

static bool read_data(void)
{
    char line[1024];
    FILE *const in = fopen(data_file(), "r");
    uint32_t first = 0;
    memset(character, 0, sizeof character);
    if (!in)
        return false;
    while (fgets(line, sizeof line, in)) {
        const uint32_t code = (uint32_t)strtoul(line, NULL, 16);
        char *after;
        if (!strstr(field(line, 1), ", Last>;"))
            first = code; /* a range is given by its first and last character */
        for (uint32_t c = first; c <= code; c++)
            character[c].category = category_of(field(line, 2));
        character[code].lower = (uint32_t)strtoul(field(line, 13), NULL, 16);
        character[code].class = (uint8_t)strtoul(field(line, 3), NULL, 10);
        if (*field(line, 5) != '<') {
            character[code].first = (uint32_t)strtoul(field(line, 5), &after, 16);
            character[code].second = (uint32_t)strtoul(after, NULL, 16);
        } else {
            const char *part = strchr(field(line, 5), '>') + 1;
            for (; *part == ' ' && character[code].parts < PARTS_MAX; part = after)
                character[code].part[character[code].parts++] = (uint32_t)strtoul(part, &after, 16);
        }
    }
    fclose(in);
    return read_exclusions();
}

/* ---- writing the tables ---- */

static const char notice[] =
    "/* Written by `make unicode` from UnicodeData.txt of Unicode 15.0 (Debian package unicode-data).\n"
    " *\n"
    " * Copyright (c) 1991-2022 Unicode, Inc. All rights reserved. Distributed under the Terms of Use in\n"
    " * https://www.unicode.org/copyright.html.\n"
    " * Permission is hereby granted, free of charge, to any person obtaining a copy of the Unicode data files and any "
    "associated\n"
    " * documentation (the \"Data Files\") or Unicode software and any associated documentation (the \"Software\") to deal in "
    "the Data Files\n"
    " * or Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, "
    "distribute,\n"
    " * and/or sell copies of the Data Files or Software, and to permit persons to whom the Data Files or Software are furnished "
    "to do\n"
    " * so, provided that either (a) this copyright and permission notice appear with all copies of the Data Files or Software, "
    "or (b)\n"
    " * this copyright and permission notice appear in associated Documentation.\n"
    " * THE DATA FILES AND SOFTWARE ARE PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT "
    "LIMITED TO\n"
    " * THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF THIRD PARTY RIGHTS. IN NO "
    "EVENT SHALL\n"
    " * THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR "
    "CONSEQUENTIAL\n"
    " * DAMAGES, OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, "
    "NEGLIGENCE OR\n"
    " * OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA FILES OR SOFTWARE.\n"
    " * The data were selected and written in another form.\n"
    " */\n";

static void item(FILE *out, unsigned *on_line, unsigned most)
{
    fputs(*on_line % most == 0 ? "\n    " : " ", out);
    (*on_line)++;
}

static void write_categories(FILE *out)
{
    unsigned n = 0;
    uint8_t before = UINT8_MAX;
    fputs("\nstatic const struct category_from categories[] = {", out);
    for (uint32_t c = 0; c < CODES; c++) {
        if (character[c].category == before)
            continue;
        before = character[c].category;
        item(out, &n, 9);
        fprintf(out, "{0x%x, %u},", c, before);
    }
    fputs("\n};\n", out);
}

static int32_t delta(uint32_t c)
{
    return character[c].lower ? (int32_t)character[c].lower - (int32_t)c : 0;
}

static void write_lower(FILE *out)
{
    unsigned n = 0;
    fputs("\nstatic const struct lower_run lower_runs[] = {", out);
    for (uint32_t c = 0; c + 2 < CODES; c++) {
        if (!delta(c))
            continue;
        const uint32_t step = delta(c + 1) == delta(c) ? 1 : 2;
        uint32_t last = c;
        while (last + step < CODES && delta(last + step) == delta(c) && (step == 1 || !delta(last + 1)))
            last += step;
        item(out, &n, 5);
        fprintf(out, "{0x%x, 0x%x, %d, %u},", c, last, delta(c), step);
        c = last;
    }
    fputs("\n};\n", out);
}

static void write_decompositions(FILE *out)
{
    unsigned n = 0;
    fputs("\nstatic const struct decomposition decompositions[] = {", out);
    for (uint32_t c = 0; c < CODES; c++) {
        if (!character[c].first)
            continue;
        item(out, &n, 5);
        fprintf(out, "{0x%x, 0x%x, 0x%x},", c, character[c].first, character[c].second);
    }
    fputs("\n};\n", out);
}

/* Steps of both kinds until nothing is left to be taken apart. */
static unsigned parts_of(uint32_t code, uint32_t *to, bool compatible)
{
    unsigned count = 0;
    if (compatible && character[code].parts) {
        for (unsigned i = 0; i < character[code].parts; i++)
            count += parts_of(character[code].part[i], to + count, compatible);
        return count;
    }
    if (!character[code].first) {
        *to = code;
        return 1;
    }
    count = parts_of(character[code].first, to, compatible);
    return count + (character[code].second ? parts_of(character[code].second, to + count, compatible) : 0);
}

static void write_classes(FILE *out)
{
    unsigned n = 0;
    fputs("\nstatic const struct class_run class_runs[] = {", out);
    for (uint32_t c = 0; c < CODES; c++) {
        const uint32_t first = c;
        if (!character[c].class)
            continue;
        while (c + 1 < CODES && character[c + 1].class == character[first].class)
            c++;
        item(out, &n, 6);
        fprintf(out, "{0x%x, 0x%x, %u},", first, c, character[first].class);
    }
    fputs("\n};\n", out);
}

/* Both tables: the parts, and where those of a character stand. */
static void write_compatibles(FILE *out)
{
    for (unsigned table = 0; table < 2; table++) {
        unsigned n = 0, at = 0;
        fputs(table ? "\nstatic const struct compatible compatibles[] = {" : "\nstatic const uint32_t compatible_parts[] = {",
              out);
        for (uint32_t c = 0; c < CODES; c++) {
            uint32_t one[PARTS_MAX], other[PARTS_MAX];
            const unsigned count = parts_of(c, one, true), plain = parts_of(c, other, false);
            if (count == plain && memcmp(one, other, count * sizeof *one) == 0)
                continue;
            for (unsigned i = 0; !table && i < count; i++) {
                item(out, &n, 14);
                fprintf(out, "0x%x,", one[i]);
            }
            if (table) {
                item(out, &n, 6);
                fprintf(out, "{0x%x, %u, %u},", c, at, count);
            }
            at += count;
        }
        fputs("\n};\n", out);
    }
}

static int by_parts(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (character[x].first != character[y].first)
        return character[x].first < character[y].first ? -1 : 1;
    return character[x].second < character[y].second ? -1 : character[x].second > character[y].second;
}

/* The Unicode Standard, D112 to D114: neither what is listed, nor what decomposes to one character or to combining ones. */
static void write_compositions(FILE *out)
{
    static uint32_t code[4096];
    unsigned count = 0, n = 0;
    for (uint32_t c = 0; c < CODES; c++)
        if (character[c].second && !character[c].excluded && !character[c].class && !character[character[c].first].class)
            code[count++] = c;
    qsort(code, count, sizeof *code, by_parts);
    fputs("\nstatic const struct decomposition compositions[] = {", out);
    for (unsigned i = 0; i < count; i++) {
        item(out, &n, 5);
        fprintf(out, "{0x%x, 0x%x, 0x%x},", code[i], character[code[i]].first, character[code[i]].second);
    }
    fputs("\n};\n", out);
}

static void write_tables(FILE *out)
{
    fputs(notice, out);
    write_categories(out);
    write_lower(out);
    write_decompositions(out);
    write_classes(out);
    write_compatibles(out);
    write_compositions(out);
}

/* ---- tests ---- */

static void test_tables(void)
{
    char *text = NULL;
    size_t size = 0;
    struct example_file there;
    if (!read_data()) {
        suite_skip("the package unicode-data is not installed");
        return;
    }
    FILE *const out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    write_tables(out);
    fclose(out);
    CU_ASSERT_TRUE_FATAL(example_read(TABLES, &there));
    CHECK(there.size == size && memcmp(there.bytes, text, size) == 0,
          "unicode_tables.inc differs from UnicodeData.txt: make unicode");
    free(there.bytes);
    free(text);
}

/* Every character, when the data are there. */
static void test_every_character(void)
{
    if (!read_data()) {
        suite_skip("the package unicode-data is not installed");
        return;
    }
    unsigned wrong = 0;
    for (uint32_t c = 0; c < CODES; c++) {
        wrong += unicode_category(c) != character[c].category;
        wrong += unicode_lower(c) != (character[c].lower ? character[c].lower : c);
    }
    CHECK(wrong == 0, "%u differences", wrong);
}

/* From The Unicode Standard and its character database. */
static void test_known_characters(void)
{
    static const struct {
        uint32_t code;
        enum unicode_category category;
        uint32_t lower;
        unsigned count;
        uint32_t parts[4];
    } known[] = {
        {'A', UNICODE_LU, 'a', 1, {'A'}},
        {'5', UNICODE_ND, '5', 1, {'5'}},
        {'$', UNICODE_SC, '$', 1, {'$'}},
        {0xc5, UNICODE_LU, 0xe5, 2, {'A', 0x30a}},
        {0x212b, UNICODE_LU, 0xe5, 2, {'A', 0x30a}}, /* angstrom sign, two steps */
        {0x1ed4, UNICODE_LU, 0x1ed5, 3, {'O', 0x302, 0x309}},
        {0x1f82, UNICODE_LL, 0x1f82, 4, {0x3b1, 0x313, 0x300, 0x345}},
        {0xd55c, UNICODE_LO, 0xd55c, 3, {0x1112, 0x1161, 0x11ab}}, /* Hangul han */
        {0xac00, UNICODE_LO, 0xac00, 2, {0x1100, 0x1161}},
        {0x4e2d, UNICODE_LO, 0x4e2d, 1, {0x4e2d}}, /* within a range */
        {0xf900, UNICODE_LO, 0xf900, 1, {0x8c48}},
        {0x1f600, UNICODE_SO, 0x1f600, 1, {0x1f600}},
        {0x10400, UNICODE_LU, 0x10428, 1, {0x10400}}, /* Deseret */
        {0x3000, UNICODE_ZS, 0x3000, 1, {0x3000}},
        {0x10ffff, UNICODE_CN, 0x10ffff, 1, {0x10ffff}},
        {0x0378, UNICODE_CN, 0x0378, 1, {0x0378}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        uint32_t parts[UNICODE_DECOMPOSED_MAX] = {0};
        const unsigned count = unicode_decompose(known[i].code, parts);
        CHECK(unicode_category(known[i].code) == known[i].category, "U+%04X: category %u", known[i].code,
              unicode_category(known[i].code));
        CHECK(unicode_lower(known[i].code) == known[i].lower, "U+%04X: lower U+%04X", known[i].code,
              unicode_lower(known[i].code));
        CHECK(count == known[i].count && memcmp(parts, known[i].parts, sizeof parts) == 0, "U+%04X: %u parts, U+%04X",
              known[i].code, count, parts[0]);
    }
}

/* PropList.txt: 25 characters have White_Space. */
static void test_spaces(void)
{
    unsigned spaces = 0;
    for (uint32_t c = 0; c < CODES; c++)
        spaces += unicode_is_space(c);
    CU_ASSERT_EQUAL(spaces, 25);
    CU_ASSERT_TRUE(unicode_is_space(0x85) && unicode_is_space(0xa0) && unicode_is_space(0x2028) && !unicode_is_space(0x200b));
}

static void test_utf8(void)
{
    for (uint32_t c = 0; c < CODES; c++) {
        char bytes[UTF8_MAX];
        uint32_t back = 0;
        const unsigned length = utf8_write(c, bytes);
        const bool surrogate = c >= 0xd800 && c < 0xe000;
        if (utf8_read(bytes, length, &back) != (surrogate ? 0 : length) || (!surrogate && back != c))
            CHECK(false, "U+%04X", c);
        for (unsigned cut = 1; cut < length && !surrogate; cut++)
            if (utf8_read(bytes, cut, &back) != 0 || !utf8_is_beginning(bytes, cut))
                CHECK(false, "U+%04X cut to %u", c, cut);
    }
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xc3(",
                                      "\xe2\x28\xa1"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        size_t wrong = 99;
        CHECK(!utf8_is_valid(bad[i], strlen(bad[i]), &wrong) && wrong == 0, "bad %zu", i);
    }
    size_t wrong = 0;
    CU_ASSERT_TRUE(!utf8_is_valid("ab\xffz", 4, &wrong) && wrong == 2);
    CU_ASSERT_FALSE(utf8_is_beginning("\xed\xa0", 2));
}

static const struct suite_test tests[] = {
    {"tables are those of the data file", test_tables},
    {"every character is found", test_every_character},
    {"known characters are found", test_known_characters},
    {"has the 25 spaces", test_spaces},
    {"reads and writes UTF-8", test_utf8},
};

int main(int count, char **word)
{
    if (count == 2 && strcmp(word[1], "--write") == 0) {
        FILE *const out = read_data() ? fopen(TABLES, "w") : NULL;
        if (!out) {
            fprintf(stderr, "test_unicode: %s is not there (package unicode-data; UNICODE_DATA=FILE names another)\n",
                    data_file());
            return 2;
        }
        write_tables(out);
        return fclose(out) != 0;
    }
    return suite_run("unicode", tests, ARRAY_COUNT(tests));
}
