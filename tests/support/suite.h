/* One CUnit suite per test program. A test file ends with
 *
 *     static const struct suite_test tests[] = {{"adds numbers", test_adds}, ...};
 *     SUITE_MAIN("arithmetic", tests)
 *
 * The program prints failing assertions and closes with "suite NAME: P passed, F failed, S skipped"; the runner
 * (tests/support/runner.c) runs all of them in parallel and adds up. With SUITE_TIMES=1 in the environment the program
 * also prints the CPU seconds of each test.
 */
#ifndef ORCHARD_TESTS_SUPPORT_SUITE_H
#define ORCHARD_TESTS_SUPPORT_SUITE_H

#include "isa/array_count.h"

#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct suite_test {
    const char *name;
    void (*run)(void);
};

int suite_run(const char *name, const struct suite_test *tests, size_t count);
/* Marks the running test as skipped for this reason. The test must return afterwards. */
void suite_skip(const char *reason);
/* Path of a golden file: tests/golden/NAME, found from any working directory. Static storage. */
const char *suite_golden(const char *name);
/* Folder of additional public test data next to the checkout, NULL when absent. */
const char *suite_shared(const char *name);
/* Deletes a folder that the suite made. False when something remains. */
bool suite_remove(const char *folder);
/* Writes a text as FOLDER/NAME; the test ends when that fails. */
void suite_write_text(const char *folder, const char *name, const char *text);
/* Deterministic random numbers (splitmix64). */
uint64_t suite_random(uint64_t *state);

/* CU_ASSERT with a printf-style message of its own. */
#define CHECK(condition, ...) suite_check((condition), __FILE__, __LINE__, #condition, __VA_ARGS__)
void suite_check(int ok, const char *file, int line, const char *what, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#define SUITE_MAIN(name, tests)                                                                                                  \
    int main(void)                                                                                                               \
    {                                                                                                                            \
        return suite_run(name, tests, ARRAY_COUNT(tests));                                                                       \
    }

#endif
