/* The reader of AMX golden vectors on arbitrary bytes: in all three formats, with and without a valid line around them. */
#define _GNU_SOURCE
#include "sim/prove/check/amx_vectors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void put(int fd, const void *bytes, size_t size)
{
    require(size == 0 || write(fd, bytes, size) == (ssize_t)size);
}

/* Reads prefix + data as a vector file of this name. Either the file holds cases, or the error says what is wrong. */
static void check(const char *name, const char *prefix, const uint8_t *data, size_t size)
{
    struct check_report report = {.passed = 0};
    struct orch_error error = {.text = ""};
    const int fd = memfd_create("vectors", MFD_CLOEXEC);
    require(fd >= 0);
    put(fd, prefix, strlen(prefix));
    put(fd, data, size);
    lseek(fd, 0, SEEK_SET);
    if (check_amx_vectors_fd(fd, name, AMX_PATH_REFERENCE, &report, &error))
        require(report.passed + report.failed > 0);
    else
        require(error.exit_code == ORCH_USAGE && strncmp(error.text, name, strlen(name)) == 0);
    check_report_free(&report);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const starts[] = {"", "vecint 18 M4 R ", "matfp 21 M2 S32 0000", "ldx 0 M3 R 00000000000000",
                                         "extrh 8 M1 R 0000000000000000 1 "};
    static const char *const programs[] = {"", "prog M3 I16 7a5a9d6b84 ", "prog M3 I16 1 1 14:"};
    static const char *const states[] = {"", "== genlut 22 M2 R ", "== fma64 10 M1 R 0000000000000000 1\npre\nX0 "};
    if (size == 0)
        return 0;
    const unsigned which = data[0];
    check("vecint.txt", starts[which % 5], data + 1, size - 1);
    check("programs.txt.gz", programs[which % 3], data + 1, size - 1);
    check("full_states.txt", states[which % 3], data + 1, size - 1);
    return 0;
}
