/* A folder of its own for each test of the writer of output files, and what the tests ask about the files in it. */
#ifndef ORCHARD_TESTS_SIM_BASE_OUTPUT_FOLDER_H
#define ORCHARD_TESTS_SIM_BASE_OUTPUT_FOLDER_H

#include "sim/base/output_file.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[32], path[64];

static inline void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/orchard-out-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    chmod(folder, 0755);
    snprintf(path, sizeof path, "%s/file", folder);
}

/* PATH of a name in the folder; four at a time. */
static inline const char *in_folder(const char *name)
{
    static char text[4][400];
    static unsigned next;
    char *const t = text[next++ % 4];
    snprintf(t, sizeof text[0], "%s/%s", folder, name);
    return t;
}

static inline void remove_folder(void)
{
    CU_ASSERT(suite_remove(folder));
}

static inline unsigned entries(void)
{
    unsigned count = 0;
    DIR *const d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));)
        count += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return count;
}

static inline bool holds(const char *file, const char *text)
{
    char found[256];
    FILE *const f = fopen(file, "rb");
    const size_t n = f ? fread(found, 1, sizeof found, f) : 0;
    if (f)
        fclose(f);
    return f && n == strlen(text) && memcmp(found, text, n) == 0;
}

static inline bool save(const char *file, const char *text)
{
    struct orch_error error = {0};
    const bool ok = output_file_write(file, text, strlen(text), &error);
    CHECK(ok, "%s", error.text);
    return ok;
}

static inline mode_t mode_of(const char *file)
{
    struct stat st;
    return lstat(file, &st) == 0 ? st.st_mode : 0;
}

/* Runs a function in a process of its own; its exit code, or 1000 + signal. */
static inline int in_child(int (*run)(void))
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(run());
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
