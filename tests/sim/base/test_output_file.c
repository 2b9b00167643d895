/* The writer of output files, for ordinary files: whole or not at all, with the mode and the owner that the old one had. */
#define _GNU_SOURCE
#include "sim/base/temporary.h"
#include "tests/sim/base/output_folder.h"

static void test_new_file(void)
{
    struct orch_error error = {0};
    make_folder();
    const mode_t mask = umask(027);
    struct output_file *f = output_file_open(path, OUTPUT_DURABLE, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs("half", output_file_stream(f));
    CHECK(output_file_flush(f, &error), "%s", error.text);
    CU_ASSERT_EQUAL(mode_of(path), 0); /* no such file yet */
    CU_ASSERT_EQUAL(entries(), 1);
    fputs(" and half", output_file_stream(f));
    CHECK(output_file_commit(f, &error), "%s", error.text);
    umask(mask);
    CU_ASSERT(holds(path, "half and half"));
    CU_ASSERT_EQUAL(mode_of(path), S_IFREG | 0640);
    f = output_file_open(in_folder("other"), OUTPUT_PLAIN, &error);
    fputs("never", output_file_stream(f));
    output_file_discard(f);
    CU_ASSERT_EQUAL(entries(), 1);
    save(path, "");
    CU_ASSERT(holds(path, ""));
    remove_folder();
}

static void test_replaced_file(void)
{
    static const mode_t modes[] = {0600, 0644, 0755, 0666};
    struct orch_error error = {0};
    make_folder();
    for (size_t i = 0; i < ARRAY_COUNT(modes); i++) {
        save(path, "old");
        chmod(path, modes[i]);
        struct output_file *const f = output_file_open(path, OUTPUT_PLAIN, &error);
        fputs("new", output_file_stream(f));
        CU_ASSERT(output_file_flush(f, &error) && holds(path, "old"));
        CU_ASSERT(output_file_commit(f, &error) && holds(path, "new"));
        CU_ASSERT_EQUAL(mode_of(path), S_IFREG | modes[i]);
        CU_ASSERT_EQUAL(entries(), 1);
    }
    struct output_file *const f = output_file_open(path, OUTPUT_PLAIN, &error);
    fputs("newest", output_file_stream(f));
    output_file_discard(f);
    CU_ASSERT(holds(path, "new"));
    if (geteuid() == 0) { /* another's file stays his */
        struct stat st;
        CU_ASSERT(chown(path, 65534, 65534) == 0 && save(path, "newest"));
        CU_ASSERT(stat(path, &st) == 0 && st.st_uid == 65534 && st.st_gid == 65534);
    }
    remove_folder();
}

static int replace_protected(void)
{
    struct orch_error error = {0};
    if (geteuid() == 0 && setuid(65534) != 0)
        return 77;
    const bool refused = !output_file_write(path, "new", 3, &error);
    return refused && error.exit_code == ORCH_USAGE && strstr(error.text, path) && strstr(error.text, "Permission denied") ? 0
                                                                                                                           : 1;
}

static void test_protected_file(void)
{
    make_folder();
    save(path, "old");
    chmod(path, 0444);
    chmod(folder, 0777);
    const int code = in_child(replace_protected);
    if (code == 77)
        suite_skip("cannot become another user");
    else
        CU_ASSERT(code == 0 && holds(path, "old") && entries() == 1);
    remove_folder();
}

static void test_refusals(void)
{
    static const struct {
        const char *name, *reason;
    } rows[] = {{"absent/file", "No such file"}, {"file/", "Is a directory"}, {"", "Is a directory"}, {"new/", "No such file"}};
    struct orch_error error = {0};
    make_folder();
    CU_ASSERT(mkdir(path, 0777) == 0);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *const file = in_folder(rows[i].name);
        CHECK(!output_file_write(file, "x", 1, &error) && error.exit_code == ORCH_USAGE && strstr(error.text, file) &&
                  strstr(error.text, rows[i].reason) && !strchr(error.text, '\n'),
              "%s: %s", file, error.text);
    }
    CU_ASSERT(!output_file_write("", "x", 1, &error));
    CU_ASSERT_EQUAL(entries(), 1);
    remove_folder();
}

/* The name of the temporary fits, however long the file's own is. */
static void test_long_names(void)
{
    char name[256];
    make_folder();
    for (unsigned length = 230; length <= 255; length++) {
        memset(name, 'n', length);
        name[length] = 0;
        CU_ASSERT(save(in_folder(name), "x") && holds(in_folder(name), "x"));
    }
    CU_ASSERT_EQUAL(entries(), 26);
    remove_folder();
}

static void test_many_at_a_time(void)
{
    static struct output_file *f[TEMPORARY_MAX];
    struct orch_error error = {0};
    make_folder();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < TEMPORARY_MAX; i++) {
            char name[16];
            snprintf(name, sizeof name, "f%d", i);
            f[i] = output_file_open(in_folder(name), OUTPUT_PLAIN, &error);
            CHECK(f[i] != NULL, "%d: %s", i, error.text);
        }
        CU_ASSERT(!output_file_open(path, OUTPUT_PLAIN, &error) && strstr(error.text, "Too many open files"));
        for (int i = 0; i < TEMPORARY_MAX; i++)
            output_file_discard(f[i]);
    }
    CU_ASSERT_EQUAL(entries(), 0);
    remove_folder();
}

static const struct suite_test tests[] = {
    {"a new file appears when it is complete", test_new_file},
    {"a replaced file keeps its mode and its owner", test_replaced_file},
    {"a file that may not be written is not replaced", test_protected_file},
    {"what cannot be created is named with the reason", test_refusals},
    {"names of any length", test_long_names},
    {"as many files at a time as the table has entries", test_many_at_a_time},
};
SUITE_MAIN("output file", tests)
