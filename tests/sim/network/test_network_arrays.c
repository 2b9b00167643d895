/* Arrays in files: .npy in both orders, .npz stored and packed, serialised TensorProtos, and damaged ones. */
#include "sim/network/arrays.h"
#include "tests/sim/network/onnx_example.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/orchard_arrays_XXXXXX";

static const char *write_file(const char *name, const void *bytes, size_t size)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size, "%s", path);
    if (file)
        fclose(file);
    return path;
}

/* A file of NumPy around 2 by 3 numbers. */
static size_t make_npy(uint8_t *to, const char *order, const float *number)
{
    char header[119];
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': %s, 'shape': (2, 3), }", order);
    memset(to, ' ', 128);
    memcpy(to, "\x93NUMPY\x01\0\x76\0", 10);
    memcpy(to + 10, header, strlen(header));
    to[127] = '\n';
    memcpy(to + 128, number, 24);
    return 128 + 24;
}

static void expect(const char *path, const char *name, const double *expected, const char *wrong)
{
    struct orch_error error = {0};
    struct net_array *const a = net_array_load(path, name, &error);
    CHECK(wrong ? !a && error.exit_code == ORCH_USAGE && strstr(error.text, wrong) && strstr(error.text, path) == error.text
                : a != NULL,
          "%s", a ? "accepted" : error.text);
    CHECK(wrong || !a || (a->type == NET_F32 && a->dims == 2 && a->shape[0] == 2 && a->shape[1] == 3), "another array");
    for (int64_t k = 0; a && !wrong && k < 6; k++)
        CHECK(net_array_double(a, k) == expected[k], "%lld is %g", (long long)k, net_array_double(a, k));
    net_array_release(a);
}

static const float rising[6] = {0, 1, 2, 3, 4, 5};
static const double by_rows[6] = {0, 1, 2, 3, 4, 5}, by_columns[6] = {0, 2, 4, 1, 3, 5};

static void test_npy(void)
{
    uint8_t bytes[256];
    struct orch_error error = {0};
    CHECK(mkdtemp(folder) != NULL, "no folder");
    size_t size = make_npy(bytes, "False", rising);
    expect(write_file("a.npy", bytes, size), NULL, by_rows, NULL);
    size = make_npy(bytes, "True", rising);
    expect(write_file("b.npy", bytes, size), NULL, by_columns, NULL);
    expect(write_file("c.npy", bytes, size - 1), NULL, NULL, "npy");
    const int64_t shape[2] = {2, 3};
    struct net_array *const a = net_array_new(NET_F32, shape, 2, &error);
    memcpy(a->data, rising, sizeof rising);
    const char *const path = write_file("d.npy", "", 0);
    CHECK(net_array_save(path, a, &error), "%s", error.text);
    expect(path, NULL, by_rows, NULL);
    net_array_release(a);
    struct message t = tensor_proto("x", 1, shape, 2, rising, sizeof rising);
    expect(write_file("e.pb", t.byte, t.size), NULL, by_rows, NULL);
    expect(write_file("f.pb", t.byte, t.size - 1), NULL, NULL, "byte");
    free(t.byte);
}

/* ---- archives ---- */

static void put16(struct message *m, unsigned number)
{
    put_byte(m, (uint8_t)number);
    put_byte(m, (uint8_t)(number >> 8));
}

static void put32(struct message *m, uint32_t number)
{
    put16(m, number & 0xffff);
    put16(m, number >> 16);
}

static void put_all(struct message *m, const void *bytes, size_t size)
{
    for (size_t k = 0; k < size; k++)
        put_byte(m, ((const uint8_t *)bytes)[k]);
}

/* Header of a member: what stands in front of it and in the list is the same but for the beginning and the end. */
static void put_header(struct message *m, bool list, const char *name, unsigned method, const uint8_t *plain, size_t packed,
                       size_t size, size_t at)
{
    put32(m, list ? 0x02014b50 : 0x04034b50);
    if (list)
        put16(m, 20);
    put16(m, 20);
    put16(m, 0);
    put16(m, method);
    put32(m, 0);
    put32(m, (uint32_t)crc32(0, plain, (uInt)size));
    put32(m, (uint32_t)packed);
    put32(m, (uint32_t)size);
    put16(m, (unsigned)strlen(name));
    put16(m, 0);
    for (unsigned k = 0; list && k < 3; k++)
        put16(m, 0);
    if (list) {
        put32(m, 0);
        put32(m, (uint32_t)at);
    }
    put_all(m, name, strlen(name));
}

/* An archive of one array a, in rows, or of a and b, which is in columns. */
static struct message make_npz(bool deflated, unsigned count)
{
    struct message archive = {NULL, 0}, list = {NULL, 0};
    for (unsigned k = 0; k < count; k++) {
        uint8_t plain[256], packed[512];
        z_stream z = {.next_in = plain, .next_out = packed, .avail_out = sizeof packed};
        const size_t size = make_npy(plain, k ? "True" : "False", rising);
        z.avail_in = (uInt)size;
        deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
        deflate(&z, Z_FINISH);
        const size_t stored = deflated ? z.total_out : size;
        deflateEnd(&z);
        put_header(&list, true, k ? "b.npy" : "a.npy", deflated ? 8 : 0, plain, stored, size, archive.size);
        put_header(&archive, false, k ? "b.npy" : "a.npy", deflated ? 8 : 0, plain, stored, size, 0);
        put_all(&archive, deflated ? packed : plain, stored);
    }
    const size_t at = archive.size;
    put_all(&archive, list.byte, list.size);
    put32(&archive, 0x06054b50);
    put32(&archive, 0);
    put16(&archive, count);
    put16(&archive, count);
    put32(&archive, (uint32_t)list.size);
    put32(&archive, (uint32_t)at);
    put16(&archive, 0);
    free(list.byte);
    return archive;
}

static void test_npz(void)
{
    for (unsigned deflated = 0; deflated < 2; deflated++) {
        struct message two = make_npz(deflated, 2), one = make_npz(deflated, 1);
        expect(write_file("two.npz", two.byte, two.size), "a", by_rows, NULL);
        expect(write_file("two.npz", two.byte, two.size), "b", by_columns, NULL);
        expect(write_file("two.npz", two.byte, two.size), "b.npy", by_columns, NULL);
        expect(write_file("two.npz", two.byte, two.size), "c", NULL, "no array 'c'; it has '");
        expect(write_file("two.npz", two.byte, two.size), NULL, NULL, "several arrays");
        expect(write_file("one.npz", one.byte, one.size), NULL, by_rows, NULL);
        free(two.byte);
        free(one.byte);
    }
}

/* Every byte changed in turn, and every shorter file: refused or read, but not beyond its end. */
static void test_damaged_archives(void)
{
    struct message one = make_npz(true, 1);
    size_t refused = 0;
    for (size_t size = 4; size < one.size; size++) {
        struct orch_error error = {0};
        struct net_array *const a = net_array_load(write_file("short.npz", one.byte, size), NULL, &error);
        refused += a == NULL && error.exit_code == ORCH_USAGE;
        net_array_release(a);
    }
    CHECK(refused == one.size - 4, "%zu of %zu", refused, one.size - 4);
    for (size_t k = 4; k < one.size; k++)
        for (unsigned with = 0; with < 3; with++) {
            struct orch_error error = {0};
            const uint8_t was = one.byte[k];
            one.byte[k] = with == 0 ? 0xff : with == 1 ? (uint8_t)(was ^ 0x40) : (uint8_t)(was + 1);
            net_array_release(net_array_load(write_file("bad.npz", one.byte, one.size), NULL, &error));
            CHECK(!strchr(error.text, '\n'), "%s", error.text);
            one.byte[k] = was;
        }
    free(one.byte);
    CHECK(suite_remove(folder), "%s remains", folder);
}

static const struct suite_test tests[] = {
    {".npy and TensorProto", test_npy}, {".npz", test_npz}, {"damaged archives", test_damaged_archives}};
SUITE_MAIN("network_arrays", tests)
