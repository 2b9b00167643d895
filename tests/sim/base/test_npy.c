/* .npy files: the bytes that NumPy writes, damaged headers, and files made by another program. */
#include "isa/array_count.h"
#include "sim/base/npy.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* numpy.save of arange(6, dtype='<f4').reshape(2, 3): magic, version 1.0, 0x76 bytes of header, padded to 128. */
static const char numpy_header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
static const float numpy_data[6] = {0, 1, 2, 3, 4, 5};

/* Writes a file of `version` around a header text, padded as NumPy pads. Returns its size. */
static size_t make(uint8_t *file, unsigned version, const char *header, const void *data, size_t bytes)
{
    const size_t start = version == 1 ? 10 : 12;
    const size_t total = (start + strlen(header) + 1 + 63) / 64 * 64, length = total - start;
    memset(file, ' ', total);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    file[7] = 0;
    for (size_t i = 0; i < (version == 1 ? 2u : 4u); i++)
        file[8 + i] = (uint8_t)(length >> 8 * i);
    memcpy(file + start, header, strlen(header));
    file[total - 1] = '\n';
    if (bytes)
        memcpy(file + total, data, bytes);
    return total + bytes;
}

static void test_reads_versions(void)
{
    uint8_t file[512];
    for (unsigned version = 1; version <= 3; version++) {
        struct npy_array a;
        struct orch_error error = {0};
        const size_t size = make(file, version, numpy_header, numpy_data, sizeof numpy_data);
        if (version == 1) /* as the specification of the format shows it */
            CU_ASSERT_EQUAL(memcmp(file, "\x93NUMPY\x01\x00v\x00{'descr'", 18), 0);
        CHECK(npy_parse(file, size, &a, &error), "version %u: %s", version, error.text);
        CU_ASSERT_EQUAL(a.type, NPY_F32);
        CU_ASSERT_EQUAL(a.dims, 2);
        CU_ASSERT_EQUAL(a.shape[0], 2);
        CU_ASSERT_EQUAL(a.shape[1], 3);
        CU_ASSERT_EQUAL(a.count, 6);
        CU_ASSERT_FALSE(a.fortran_order);
        CU_ASSERT_EQUAL(memcmp(a.data, numpy_data, sizeof numpy_data), 0);
    }
}

static void test_reads_types(void)
{
    static const struct {
        const char *descr;
        enum npy_type type;
        size_t bytes;
    } types[] = {
        {"<f2", NPY_F16, 2}, {"<f4", NPY_F32, 4},  {"<f8", NPY_F64, 8}, {"|i1", NPY_I8, 1},  {"<i2", NPY_I16, 2},
        {"<i4", NPY_I32, 4}, {"<i8", NPY_I64, 8},  {"|u1", NPY_U8, 1},  {"<u2", NPY_U16, 2}, {"<u4", NPY_U32, 4},
        {"<u8", NPY_U64, 8}, {"|b1", NPY_BOOL, 1}, {"|?", NPY_BOOL, 1}, {">i1", NPY_I8, 1},
    };
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        uint8_t file[512];
        char header[128];
        const uint64_t data[3] = {1, 2, 3};
        struct npy_array a;
        struct orch_error error = {0};
        snprintf(header, sizeof header, "{\"shape\": (3,), \"fortran_order\": True, \"descr\": \"%s\"}", types[i].descr);
        const size_t size = make(file, 1, header, data, 3 * types[i].bytes);
        CHECK(npy_parse(file, size, &a, &error), "%s: %s", types[i].descr, error.text);
        CHECK(a.type == types[i].type && a.bytes == 3 * types[i].bytes && a.fortran_order, "%s", types[i].descr);
    }
}

static void test_reads_shapes(void)
{
    static const struct {
        const char *shape;
        unsigned dims;
        uint64_t count;
    } shapes[] = {
        {"()", 0, 1},
        {"(5,)", 1, 5},
        {"(2, 3, )", 2, 6},
        {"(0,)", 1, 0},
        {"(7L,)", 1, 7},
        {"( 2 ,2,2 )", 3, 8},
        {"(4, 0, 9223372036854775807, 9)", 4, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
        uint8_t file[512];
        char header[128];
        const uint8_t data[16] = {0};
        struct npy_array a;
        struct orch_error error = {0};
        snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", shapes[i].shape);
        const bool overflows = i == 6; /* an empty array of an absurd shape is still refused */
        const size_t size = make(file, 1, header, data, shapes[i].count);
        const bool ok = npy_parse(file, size, &a, &error);
        CHECK(ok != overflows, "%s: %s", shapes[i].shape, error.text);
        CHECK(overflows || (a.dims == shapes[i].dims && a.count == shapes[i].count), "%s", shapes[i].shape);
    }
}

static void test_refuses(void)
{
    static const struct {
        const char *header, *expected;
    } bad[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", "big-endian"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", "'<c8'"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", "'|O'"},
        {"{'descr': '<U4', 'fortran_order': False, 'shape': (3,), }", "'<U4'"},
        {"{'descr': '|V2', 'fortran_order': False, 'shape': (12,), }", "bfloat16 has no .npy type"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6,), }", "records"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }", "cut off: the shape needs 32 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", "behind its array"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6), }", "(3,)"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (6,), }", "True or False"},
        {"{'descr': '<f4', 'shape': (6,), }", "descr, fortran_order and shape"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", "once each"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-6,), }", "a dimension"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "below 2^64"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967295), }", "larger than 2^64"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x", "end of the header"},
        {"['descr']", "'{'"},
        {"{'descr", "end of a short quoted string"},
        {"{'descr' '<f4'}", "KEY: VALUE"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        uint8_t file[512];
        struct npy_array a;
        struct orch_error error = {0};
        const size_t size = make(file, 1, bad[i].header, numpy_data, sizeof numpy_data);
        const bool refused = !npy_parse(file, size, &a, &error);
        CHECK(refused && error.exit_code == ORCH_USAGE && strstr(error.text, bad[i].expected), "%s: '%s'", bad[i].header,
              error.text);
    }
}

static void test_truncation(void)
{
    uint8_t file[512];
    const size_t size = make(file, 1, numpy_header, numpy_data, sizeof numpy_data);
    for (size_t n = 0; n < size; n++) {
        uint8_t *part = malloc(n ? n : 1);
        struct npy_array a;
        struct orch_error error = {0};
        memcpy(part, file, n);
        CHECK(!npy_parse(part, n, &a, &error) && error.text[0], "%zu of %zu bytes were accepted", n, size);
        free(part);
    }
    struct npy_array a;
    struct orch_error error = {0};
    file[6] = 9;
    CU_ASSERT_FALSE(npy_parse(file, size, &a, &error));
    CHECK(strstr(error.text, "version 9.0") != NULL, "%s", error.text);
}

static void test_header_as_numpy(void)
{
    uint8_t want[512];
    char got[4096];
    struct npy_array a = {.type = NPY_F32, .dims = 2, .shape = {2, 3}};
    const size_t size = make(want, 1, numpy_header, NULL, 0);
    CU_ASSERT_EQUAL(npy_header(&a, got, sizeof got), size);
    CHECK(memcmp(got, want, size) == 0, "%.*s", (int)size - 10, got + 10);
    CU_ASSERT_EQUAL(npy_header(&a, got, 100), 0);
    a = (struct npy_array){.type = NPY_I8, .dims = 1, .shape = {7}, .fortran_order = true};
    const size_t one = npy_header(&a, got, sizeof got);
    CHECK(one == 128 && strstr(got + 10, "{'descr': '|i1', 'fortran_order': True, 'shape': (7,), }"), "%.*s", 118, got + 10);
    a = (struct npy_array){.type = NPY_U64, .dims = NPY_MAX_DIMS};
    for (unsigned i = 0; i < NPY_MAX_DIMS; i++)
        a.shape[i] = UINT64_MAX;
    CU_ASSERT_EQUAL(npy_header(&a, got, sizeof got) % 64, 0);
    CU_ASSERT_TRUE(npy_header(&a, got, sizeof got) > 0);
}

static void test_round_trip_on_disk(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/orchard_npy_%ld.npy", (long)getpid());
    for (unsigned type = 0; type < NPY_TYPE_COUNT; type++) {
        uint8_t data[24 * 8];
        uint64_t random = type;
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)suite_random(&random);
        struct npy_array a = {.type = (enum npy_type)type,
                              .dims = 3,
                              .shape = {2, 3, 4},
                              .fortran_order = type & 1,
                              .data = data},
                         b;
        struct orch_error error = {0};
        CU_ASSERT_TRUE(npy_measure(&a));
        CHECK(npy_save(path, &a, &error), "%s", error.text);
        CHECK(npy_load(path, &b, &error), "%s", error.text);
        CHECK(b.type == a.type && b.dims == 3 && b.shape[2] == 4 && b.fortran_order == a.fortran_order &&
                  b.bytes == 24 * npy_type_bytes(a.type) && memcmp(b.data, data, b.bytes) == 0,
              "type %u", type);
        npy_release(&b);
    }
    remove(path);
    struct npy_array a = {0};
    struct orch_error error = {0};
    CU_ASSERT_FALSE(npy_load(path, &a, &error));
    CHECK(strncmp(error.text, path, strlen(path)) == 0 && strstr(error.text, "No such file"), "%s", error.text);
    CU_ASSERT_FALSE(npy_save("/no/such/folder/x.npy", &a, &error));
    CHECK(strstr(error.text, "/no/such/folder/x.npy: cannot be created") != NULL, "%s", error.text);
    FILE *file = fopen(path, "w");
    fputs("hello", file);
    fclose(file);
    CU_ASSERT_FALSE(npy_load(path, &a, &error));
    CHECK(strncmp(error.text, path, strlen(path)) == 0 && strstr(error.text, "not a .npy file"), "%s", error.text);
    remove(path);
}

/* Golden tensors of real networks, written by another program: the numbers of softmax outputs and images are in range. */
static void test_foreign_files(void)
{
    const char *const folder = suite_shared("models/ultraface_rfb320_simplified/golden");
    if (!folder) {
        suite_skip("no public models beside the checkout");
        return;
    }
    char path[4200];
    struct npy_array a;
    struct orch_error error = {0};
    snprintf(path, sizeof path, "%s/out_scores.npy", folder);
    CHECK(npy_load(path, &a, &error), "%s", error.text);
    if (!a.data)
        return;
    CU_ASSERT_EQUAL(a.type, NPY_F32);
    CU_ASSERT_EQUAL(a.shape[a.dims - 1], 2);
    unsigned wrong = 0;
    for (uint64_t i = 0; i + 1 < a.count; i += 2) { /* the scores of two classes add up to one */
        float pair[2];
        memcpy(pair, a.data + 4 * i, sizeof pair);
        wrong += !(pair[0] + pair[1] > 0.9999f && pair[0] + pair[1] < 1.0001f);
    }
    CHECK(a.count > 8000 && wrong == 0, "%u of %lu", wrong, (unsigned long)a.count);
    npy_release(&a);
}

static const struct suite_test tests[] = {
    {"reads versions 1 to 3", test_reads_versions},
    {"reads every element type", test_reads_types},
    {"reads shapes", test_reads_shapes},
    {"refuses wrong headers with the reason", test_refuses},
    {"every truncation is an error", test_truncation},
    {"writes headers as NumPy does", test_header_as_numpy},
    {"an array survives being written and read", test_round_trip_on_disk},
    {"reads files of another program", test_foreign_files},
};
SUITE_MAIN("npy", tests)
