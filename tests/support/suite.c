#include "tests/support/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef ORCHARD_SOURCE_DIR
#error "the Makefile passes ORCHARD_SOURCE_DIR"
#endif

static unsigned skipped;
static const char *running;
static double started_s;

static double cpu_s(void)
{
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    const struct timeval *const part[] = {&own.ru_utime, &own.ru_stime, &children.ru_utime, &children.ru_stime};
    double sum = 0;
    for (size_t i = 0; i < ARRAY_COUNT(part); i++)
        sum += (double)part[i]->tv_sec + 1e-6 * (double)part[i]->tv_usec;
    return sum;
}

bool suite_remove(const char *folder)
{
    char command[512];
    const int length = snprintf(command, sizeof command, "rm -rf %s", folder);
    return length < (int)sizeof command && system(command) == 0;
}

void suite_write_text(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

void suite_skip(const char *reason)
{
    skipped++;
    printf("  skipped: %s: %s\n", running, reason);
}

void suite_check(int ok, const char *file, int line, const char *what, const char *format, ...)
{
    CU_assertImplementation(ok ? CU_TRUE : CU_FALSE, (unsigned)line, what, file, "", CU_FALSE);
    if (ok)
        return;
    va_list args;
    va_start(args, format);
    printf("  %s:%d: %s: ", file, line, what);
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

const char *suite_golden(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, ORCHARD_SOURCE_DIR "/tests/golden/%s", name);
    return path;
}

const char *suite_shared(const char *name)
{
    static char path[4096];
    struct stat st;
    const char *const folder = getenv("ORCHARD_SHARED");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ORCHARD_SOURCE_DIR "/../shared", name);
    return stat(path, &st) == 0 ? path : NULL;
}

uint64_t suite_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void on_start(const CU_pTest test, const CU_pSuite suite)
{
    (void)suite;
    running = test->pName;
    started_s = cpu_s();
}

static void on_end(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failures)
{
    for (CU_pFailureRecord f = failures; f; f = f->pNext)
        printf("  failed: %s / %s: %s:%u: %s\n", suite->pName, test->pName, f->strFileName, f->uiLineNumber, f->strCondition);
    if (getenv("SUITE_TIMES"))
        printf("  %7.2f s  %s\n", cpu_s() - started_s, test->pName);
    fflush(stdout);
}

int suite_run(const char *name, const struct suite_test *tests, size_t count)
{
    /* The database of whoever runs the tests is not theirs to write, and may be of another version. */
    setenv("XDG_DATA_HOME", ORCHARD_BUILD_DIR "/tests/data", 1);
    unsetenv("ORCHARD_DB");
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 70;
    CU_pSuite suite = CU_add_suite(name, NULL, NULL);
    for (size_t i = 0; suite && i < count; i++)
        if (!CU_add_test(suite, tests[i].name, tests[i].run))
            return 70;
    CU_set_test_start_handler(on_start);
    CU_set_test_complete_handler(on_end);
    CU_run_all_tests();
    const unsigned ran = CU_get_number_of_tests_run(), failed = CU_get_number_of_tests_failed();
    CU_cleanup_registry();
    printf("suite %s: %u passed, %u failed, %u skipped\n", name,
           ran - failed - (skipped <= ran - failed ? skipped : ran - failed), failed, skipped);
    return failed || ran == 0 ? 1 : 0;
}
