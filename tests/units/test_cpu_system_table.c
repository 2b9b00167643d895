/* The page of system calls says what the table says. `make system-calls` writes it anew. */
#include "tests/support/suite.h"
#include "units/cpu/cpu_system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE ORCHARD_SOURCE_DIR "/units/cpu/SYSTEM_CALLS.md"

/* What handlers that several calls share do. */
static const char *what(const char *handler)
{
    static const char *const notes[][2] = {
        {"cpu_linux_accept", "accepted, without effect"},
        {"cpu_linux_not_implemented", "ENOSYS: C libraries do without"},
        {"cpu_linux_not_permitted", "EPERM"},
        {"cpu_linux_no_network", "EAFNOSUPPORT: there is no network"},
        {"cpu_linux_no_socket", "EOPNOTSUPP, ENOTSOCK or EBADF: there is no network"},
        {"cpu_linux_socketpair", "streams within the process"},
        {"cpu_linux_no_attribute", "EOPNOTSUPP"},
        {"cpu_linux_no_process", "refused by name: there is one process"},
        {"cpu_linux_wait4", "ECHILD: there are no children"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(notes); i++)
        if (strcmp(handler, notes[i][0]) == 0)
            return notes[i][1];
    return "";
}

static void write_page(FILE *out)
{
    size_t count;
    const struct cpu_linux_call_row *row = cpu_linux_calls(&count);
    fprintf(out,
            "# System calls\n\nWritten by `make system-calls` from cpu_system_calls.inc: %zu calls of Linux on AArch64. "
            "Every other one is a fault that names its number. What has no note does what Linux does, as far as one "
            "process can see.\n\n| number | call | |\n| ---: | --- | --- |\n",
            count);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "| %u | %s | %s |\n", row[i].number, row[i].name, what(row[i].handler));
}

static void test_page(void)
{
    char *wanted = NULL, *found = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&wanted, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    write_page(out);
    fclose(out);
    FILE *page = fopen(PAGE, "r");
    found = calloc(1, size + 2);
    const size_t read = page && found ? fread(found, 1, size + 1, page) : 0;
    CHECK(read == size && memcmp(found, wanted, size) == 0,
          "SYSTEM_CALLS.md does not say what the table says: make system-calls");
    if (page)
        fclose(page);
    free(found);
    free(wanted);
}

static void test_order(void)
{
    size_t count;
    const struct cpu_linux_call_row *row = cpu_linux_calls(&count);
    for (size_t i = 1; i < count; i++)
        CHECK(row[i - 1].number < row[i].number, "%s stands before %s", row[i - 1].name, row[i].name);
}

static const struct suite_test tests[] = {{"the page says what the table says", test_page}, {"rows are in order", test_order}};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--write") == 0) {
        FILE *page = fopen(PAGE, "w");
        if (!page)
            return 1;
        write_page(page);
        return fclose(page) != 0;
    }
    return suite_run("cpu-system-table", tests, ARRAY_COUNT(tests));
}
