/* Lines of the shell in a folder that a suite made. */
#ifndef ORCHARD_TESTS_SIM_SHELL_EXAMPLE_H
#define ORCHARD_TESTS_SIM_SHELL_EXAMPLE_H

#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit code of a line in the folder; what it says, on both streams, is in `out`. -1 when it did not end by itself. */
static inline int shell_run(const char *folder, const char *line, char *out, size_t out_size)
{
    char command[4000];
    snprintf(command, sizeof command, "cd %s && exec 2>&1 && %s", folder, line);
    FILE *const pipe = popen(command, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(pipe);
    out[fread(out, 1, out_size - 1, pipe)] = 0;
    const int status = pclose(pipe);
    return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Lets `what` be seen in the folder under the name `where`. */
static inline void shell_place(const char *folder, const char *what, const char *where)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, where);
    CHECK(symlink(what, path) == 0, "%s", path);
}

#endif
