#include "isa/array_count.h"
#include "tests/support/suite.h"
#include "tests/traces/trace_example.h"

#include "traces/trace_layout.h"
#include "traces/trace_text.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zlib.h>

static char folder[64], path[96], other[96];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/orchard_trace_XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.trace", folder);
    snprintf(other, sizeof other, "%s/b.trace", folder);
}

static struct trace_reader *open_bytes(const uint8_t *bytes, size_t size, bool force, struct trace_error *error)
{
    FILE *f = size ? fmemopen((void *)(uintptr_t)bytes, size, "rb") : fopen("/dev/null", "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    return trace_reader_attach(f, "T", force, error);
}

/* Reads the whole trace. Returns the number of records; *end is how it ended. */
static uint64_t read_all(struct trace_reader *r, enum trace_step *end, struct trace_error *error)
{
    struct trace_record record;
    uint64_t count = 0;
    while ((*end = trace_next(r, &record, error)) == TRACE_GOT)
        count++;
    return count;
}

static void check_example(const char *file, uint64_t records)
{
    struct trace_error error = {0};
    struct trace_record got, wanted;
    enum trace_step step = TRACE_BAD;
    struct trace_reader *r = trace_reader_open(file, false, &error);
    CHECK(r != NULL, "%s", error.text);
    uint64_t i = 0;
    for (; r && (step = trace_next(r, &got, &error)) == TRACE_GOT; i++) {
        trace_example_record(i, &wanted);
        char *a = trace_example_line(&got), *b = trace_example_line(&wanted);
        CHECK(a && b && strcmp(a, b) == 0, "record %llu: %s for %s", (unsigned long long)i, a, b);
        free(a);
        free(b);
    }
    CHECK(step == TRACE_OVER && i == records, "%llu of %llu records: %s", (unsigned long long)i, (unsigned long long)records,
          error.text);
    const struct trace_header *h = r ? trace_reader_header(r) : NULL;
    CU_ASSERT(h && strcmp(h->chip, "m1") == 0 && strcmp(h->level, "operator") == 0 && strcmp(h->source, "orchard") == 0);
    trace_reader_close(r);
}

static void test_round_trip(void)
{
    make_folder();
    for (uint64_t records = 0; records < 60000; records = records * 5 + 7)
        for (int text = 0; text < 2; text++) {
            CU_ASSERT(trace_example_write(path, records, text));
            check_example(path, records);
        }
    CU_ASSERT(suite_remove(folder));
}

/* Binary -> text -> binary gives the same bytes, and so does text -> binary -> text. */
static bool convert(const char *from, const char *to, bool text)
{
    struct trace_error error;
    struct trace_record record;
    struct trace_reader *r = trace_reader_open(from, false, &error);
    FILE *const out = fopen(to, "wb");
    struct trace_writer *w = r && out ? trace_writer_create(out, to, trace_reader_header(r), text, &error) : NULL;
    enum trace_step step = TRACE_BAD;
    bool ok = w != NULL;
    while (ok && (step = trace_next(r, &record, &error)) == TRACE_GOT)
        ok = trace_write(w, &record, &error);
    ok = ok && step == TRACE_OVER && trace_writer_finish(w, &error);
    trace_writer_free(w);
    trace_reader_close(r);
    return out && fclose(out) == 0 && ok;
}

static void test_forms_are_equal(void)
{
    size_t a_size = 0, b_size = 0;
    char back[112];
    make_folder();
    snprintf(back, sizeof back, "%s.back", path);
    for (int text = 0; text < 2; text++) {
        CU_ASSERT(trace_example_write(path, 5000, text));
        CU_ASSERT(convert(path, other, !text));
        CU_ASSERT(convert(other, back, text));
        uint8_t *a = trace_example_bytes(path, &a_size), *b = trace_example_bytes(back, &b_size);
        CU_ASSERT(a && b && a_size == b_size && memcmp(a, b, a_size) == 0);
        free(a);
        free(b);
    }
    CU_ASSERT(suite_remove(folder));
}

static bool is_located(const struct trace_error *error)
{
    return strncmp(error->text, "T: byte ", 8) == 0;
}

/* A file cut off at any byte gives an error that says where; with force every whole block is read. */
static void test_truncation(void)
{
    size_t size = 0;
    make_folder();
    for (int text = 0; text < 2; text++) {
        CU_ASSERT(trace_example_write(path, 40, text));
        uint8_t *bytes = trace_example_bytes(path, &size);
        CU_ASSERT_PTR_NOT_NULL(bytes);
        if (!bytes)
            return;
        for (size_t cut = 0; cut < size; cut++) {
            struct trace_error error = {0};
            enum trace_step end = TRACE_BAD;
            struct trace_reader *r = open_bytes(bytes, cut, false, &error);
            if (r)
                read_all(r, &end, &error);
            trace_reader_close(r);
            const bool line_border = text && cut && bytes[cut - 1] == '\n';
            CHECK(line_border ? end == TRACE_OVER : end == TRACE_BAD && is_located(&error), "cut at %zu: %s", cut, error.text);
            error.text[0] = 0;
            r = open_bytes(bytes, cut, true, &error);
            CHECK(r || cut == 0 || text, "cut at %zu with force: %s", cut, error.text);
            if (r)
                CU_ASSERT(read_all(r, &end, &error) <= 40 && end == TRACE_OVER);
            trace_reader_close(r);
        }
        free(bytes);
    }
    CU_ASSERT(suite_remove(folder));
}

static void test_bit_flips(void)
{
    size_t size = 0;
    make_folder();
    CU_ASSERT(trace_example_write(path, 40, false));
    uint8_t *bytes = trace_example_bytes(path, &size);
    CU_ASSERT_PTR_NOT_NULL(bytes);
    if (!bytes)
        return;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        struct trace_error error = {0};
        enum trace_step end = TRACE_BAD;
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        struct trace_reader *r = open_bytes(bytes, size, false, &error);
        if (r)
            read_all(r, &end, &error);
        trace_reader_close(r);
        CHECK(end == TRACE_BAD && is_located(&error), "bit %zu: %s", bit, error.text);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes);
    CU_ASSERT(suite_remove(folder));
}

static void seal_head(uint8_t *bytes)
{
    const uint32_t text = (uint32_t)trace_get(bytes + 12, 4);
    trace_put(bytes + 16, crc32(crc32(0, bytes, 16), bytes + 20, text), 4);
}

static void test_later_versions(void)
{
    size_t size = 0;
    make_folder();
    CU_ASSERT(trace_example_write(path, 40, false));
    uint8_t *bytes = trace_example_bytes(path, &size);
    CU_ASSERT_PTR_NOT_NULL(bytes);
    if (!bytes)
        return;
    struct trace_error error = {0};
    enum trace_step end = TRACE_BAD;
    bytes[10] = 7; /* a later minor version can be read */
    seal_head(bytes);
    struct trace_reader *r = open_bytes(bytes, size, false, &error);
    CU_ASSERT(r && read_all(r, &end, &error) == 40 && end == TRACE_OVER);
    trace_reader_close(r);
    bytes[8] = 2;
    seal_head(bytes);
    CU_ASSERT_PTR_NULL(open_bytes(bytes, size, false, &error));
    CHECK(strcmp(error.text, "T: byte 8: written in version 2.7 of the format, this program reads 1") == 0, "%s", error.text);
    free(bytes);
    static const char later[] = "{\"trace\":2}\n";
    CU_ASSERT_PTR_NULL(open_bytes((const uint8_t *)later, sizeof later - 1, false, &error));
    CHECK(strstr(error.text, "line 1") && strstr(error.text, "later version"), "%s", error.text);
    CU_ASSERT(suite_remove(folder));
}

/* When a block in the middle is damaged, the others are read, and what is lost is counted. */
static void test_salvage(void)
{
    enum { RECORDS = 400000 };
    size_t size = 0;
    make_folder();
    CU_ASSERT(trace_example_write(path, RECORDS, false));
    uint8_t *bytes = trace_example_bytes(path, &size);
    CU_ASSERT_PTR_NOT_NULL(bytes);
    if (!bytes)
        return;
    struct trace_error error = {0};
    struct trace_account all, some;
    enum trace_step end = TRACE_BAD;
    struct trace_reader *r = open_bytes(bytes, size, false, &error);
    CU_ASSERT(r && read_all(r, &end, &error) == RECORDS && end == TRACE_OVER);
    trace_reader_account(r, &all);
    trace_reader_close(r);
    CHECK(all.blocks >= 4 && all.raw_bytes / all.blocks <= TRACE_BLOCK_MAX, "%llu blocks", (unsigned long long)all.blocks);
    CU_ASSERT(all.file_bytes == size);
    bytes[size / 2] ^= 1;
    r = open_bytes(bytes, size, false, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT(read_all(r, &end, &error) < RECORDS && end == TRACE_BAD);
    CHECK(strstr(error.text, "checksum of the block does not match") != NULL, "%s", error.text);
    trace_reader_close(r);
    r = open_bytes(bytes, size, true, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    const uint64_t kept = read_all(r, &end, &error);
    trace_reader_account(r, &some);
    trace_reader_close(r);
    CU_ASSERT(end == TRACE_OVER && some.blocks == all.blocks - 1 && some.lost_places == 1 && some.lost_known);
    CU_ASSERT(kept + some.lost_records == RECORDS && some.records == kept);
    CU_ASSERT(some.lost_bytes > 0 && some.lost_bytes < size / 2);
    free(bytes);
    CU_ASSERT(suite_remove(folder));
}

/* Files that version 1.0 wrote are read; their records are no records of this version, nor the other way round. */
static void test_the_first_version(void)
{
    static const char *const files[] = {"kernel", "operator", "instruction"};
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        char file[300];
        size_t size = 0;
        enum trace_step end = TRACE_BAD;
        struct trace_error error = {0};
        snprintf(file, sizeof file, ORCHARD_SOURCE_DIR "/traces/samples/%s.trace", files[i]);
        uint8_t *const bytes = trace_example_bytes(file, &size);
        CU_ASSERT_PTR_NOT_NULL(bytes);
        if (!bytes)
            return;
        CHECK(bytes[8] == 1 && bytes[10] == 0, "%s is of another version", file);
        struct trace_reader *r = open_bytes(bytes, size, false, &error);
        CHECK(r && read_all(r, &end, &error) >= 4 && end == TRACE_OVER, "%s: %s", file, error.text);
        trace_reader_close(r);
        bytes[10] = TRACE_MINOR;
        seal_head(bytes);
        r = open_bytes(bytes, size, false, &error);
        CHECK(r && read_all(r, &end, &error) == 0 && strstr(error.text, "cut short"), "%s: %s", file, error.text);
        trace_reader_close(r);
        free(bytes);
    }
    size_t size = 0;
    enum trace_step end = TRACE_BAD;
    struct trace_error error = {0};
    make_folder();
    CU_ASSERT(trace_example_write(path, 20, false));
    uint8_t *const bytes = trace_example_bytes(path, &size);
    CU_ASSERT_PTR_NOT_NULL(bytes);
    if (!bytes)
        return;
    bytes[10] = 0;
    seal_head(bytes);
    struct trace_reader *const r = open_bytes(bytes, size, false, &error);
    CHECK(r && read_all(r, &end, &error) == 0 && strstr(error.text, "more bytes than its fields"), "%s", error.text);
    trace_reader_close(r);
    free(bytes);
    CU_ASSERT(suite_remove(folder));
}

static void test_seek(void)
{
    enum { RECORDS = 200000 };
    make_folder();
    CU_ASSERT(trace_example_write(path, RECORDS, false));
    static const uint64_t places[] = {0, 1, 77777, RECORDS - 1, RECORDS, RECORDS + 5};
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        struct trace_error error = {0};
        struct trace_record got, wanted;
        struct trace_reader *r = trace_reader_open(path, false, &error);
        CU_ASSERT_FATAL(r && trace_seek(r, places[i], &error));
        const enum trace_step step = trace_next(r, &got, &error);
        CHECK(step == (places[i] < RECORDS ? TRACE_GOT : TRACE_OVER), "record %llu: %s", (unsigned long long)places[i],
              error.text);
        if (step == TRACE_GOT) {
            trace_example_record(places[i], &wanted);
            char *a = trace_example_line(&got), *b = trace_example_line(&wanted);
            CHECK(strcmp(a, b) == 0, "%s for %s", a, b);
            free(a);
            free(b);
        }
        trace_reader_close(r);
    }
    CU_ASSERT(suite_remove(folder));
}

/* What is written before the writer dies can be read. */
static void test_unfinished(void)
{
    struct trace_error error = {0};
    struct trace_record record;
    enum trace_step end = TRACE_BAD;
    make_folder();
    FILE *const out = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    struct trace_writer *w = trace_writer_create(out, path, &trace_example_header, false, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    for (uint64_t i = 0; i < 200000; i++) {
        trace_example_record(i, &record);
        CU_ASSERT(trace_write(w, &record, &error));
    }
    struct trace_reader *r = trace_reader_open(path, false, &error); /* as if the writer had died here */
    CU_ASSERT(r && read_all(r, &end, &error) > 10000 && end == TRACE_BAD && strstr(error.text, "ends without its index"));
    trace_reader_close(r);
    r = trace_reader_open(path, true, &error);
    CU_ASSERT(r && read_all(r, &end, &error) > 10000 && end == TRACE_OVER);
    trace_reader_close(r);
    trace_writer_free(w);
    fclose(out);
    CU_ASSERT(suite_remove(folder));
}

/* A stream that cannot be written: the place and the reason, with the name of the file. */
static void test_full_disk(void)
{
    for (int text = 0; text < 2; text++) {
        struct trace_error error = {0};
        struct trace_record record;
        FILE *const out = fopen("/dev/full", "wb");
        if (!out) {
            suite_skip("there is no /dev/full");
            return;
        }
        struct trace_writer *w = trace_writer_create(out, "some.trace", &trace_example_header, text, &error);
        bool ok = w != NULL;
        for (uint64_t i = 0; ok && i < 200000; i++) {
            trace_example_record(i, &record);
            ok = trace_write(w, &record, &error);
        }
        CHECK(!ok && strstr(error.text, "some.trace: ") && strstr(error.text, "No space left"), "%s", error.text);
        trace_writer_free(w);
        fclose(out);
    }
}

static void expect_refusal(const char *line, const char *words)
{
    char text[1024];
    struct trace_error error = {0};
    enum trace_step end = TRACE_BAD;
    snprintf(text, sizeof text, "{\"trace\":1}\n%s\n", line);
    struct trace_reader *r = open_bytes((const uint8_t *)text, strlen(text), false, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    read_all(r, &end, &error);
    CHECK(end == TRACE_BAD && strstr(error.text, words) && strstr(error.text, "byte 12, line 2"), "%s: %s", line, error.text);
    trace_reader_close(r);
}

static void test_refusals(void)
{
    struct trace_record record;
    struct trace_error error = {0};
    expect_refusal("{\"record\":\"launch\",\"op\":1,\"unit\":\"gpu\",\"work\":\"kernel\"}", "it has no shape");
    expect_refusal("{\"record\":\"launch\",\"unit\":\"gpu\",\"work\":\"none\"}", "numbered from 1");
    expect_refusal("{\"record\":\"launch\",\"op\":2,\"unit\":\"gpu\",\"work\":\"none\",\"after\":[2]}", "does not come before");
    expect_refusal("{\"record\":\"launch\",\"op\":2,\"unit\":\"gpu\",\"work\":\"much\"}", "its work is not");
    expect_refusal("{\"record\":\"lunch\"}", "no such record");
    expect_refusal("{\"record\":\"op_begin\",\"colour\":1}", "not one of this record's");
    expect_refusal("{\"record\":\"op_begin\",\"op\":-1}", "not a whole number");
    expect_refusal("{\"record\":\"op_begin\",\"op\":1} x", "not a JSON object");
    expect_refusal("{\"record\":\"op_begin\"", "the line ends in the middle");
    expect_refusal("[1]", "not a JSON object");
    make_folder();
    FILE *const out = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    struct trace_writer *w = trace_writer_create(out, path, &trace_example_header, false, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    trace_record_init(&record, TRACE_LAUNCH);
    CU_ASSERT(!trace_write(w, &record, &error) && strstr(error.text, "launch"));
    char *huge = malloc(TRACE_TEXT_MAX + 2);
    if (!huge)
        return;
    memset(huge, 'a', TRACE_TEXT_MAX + 1);
    huge[TRACE_TEXT_MAX + 1] = 0;
    trace_record_init(&record, TRACE_FAULT);
    record.fault.text = huge;
    CU_ASSERT(!trace_write(w, &record, &error) && strstr(error.text, "65535"));
    huge[TRACE_TEXT_MAX] = 0;
    CU_ASSERT(trace_write(w, &record, &error) && trace_writer_finish(w, &error));
    trace_writer_free(w);
    fclose(out);
    free(huge);
    CU_ASSERT(suite_remove(folder));
}

static const struct suite_test tests[] = {
    {"what is written is read, in both forms", test_round_trip},
    {"both forms turn into one another without loss", test_forms_are_equal},
    {"a file cut at any byte is refused with the place; force reads the rest", test_truncation},
    {"every flipped bit is found", test_bit_flips},
    {"later versions: minor ones are read, major ones named", test_later_versions},
    {"force passes over a damaged block and counts", test_salvage},
    {"the first version of the format is read", test_the_first_version},
    {"records are found by number", test_seek},
    {"an unfinished file is a readable beginning", test_unfinished},
    {"a full disk is told with the file's name", test_full_disk},
    {"records that cannot be are refused", test_refusals},
};
SUITE_MAIN("trace format", tests)
