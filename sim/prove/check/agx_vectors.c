#include "isa/array_count.h"
#include "sim/prove/check/agx_vectors_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct format {
    const char *stem;
    agx_check_line *check;
    bool executes;
} formats[] = {
    {"encode", agx_check_encode, false},
    {"compiler-words", agx_check_compiler_word, false},
    {"mesa-words", agx_check_mesa_word, false},
    {"exec-single", agx_check_exec_single, true},
    {"exec-program", agx_check_exec_program, true},
    {"exec-load", agx_check_exec_load, true},
};

static const struct format *format_of(const char *path)
{
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
        if (vector_stem_is(path, formats[i].stem))
            return &formats[i];
    return NULL;
}

bool check_agx_knows(const char *path)
{
    return format_of(path) != NULL;
}

static bool is_heading(const char *line)
{
    return line[0] == '#' || strncmp(line, "hex\t", 4) == 0 /* the heading of a table */;
}

static bool check_lines(struct agx_checker *c, const struct format *format)
{
    unsigned long cases = 0;
    bool ok;
    for (const char *line; (line = vector_line(&c->in, &ok)) != NULL;) {
        if (is_heading(line) || !line[0])
            continue;
        if (!format->check(c))
            return false;
        cases++;
    }
    if (ok && !cases)
        return orch_fail(c->in.error, ORCH_USAGE, "%s: no vectors in this file", c->in.name);
    return ok;
}

bool check_agx_vectors_fd(int fd, const char *name, enum check_agx_path exec_path, struct check_report *report,
                          struct orch_error *error)
{
    const struct format *const format = format_of(name);
    if (!format)
        return orch_fail(error, ORCH_USAGE,
                         "%s: no AGX vector file by its name; expected encode, compiler-words, mesa-words, "
                         "exec-single, exec-program or exec-load",
                         name);
    struct agx_checker *const c = calloc(1, sizeof *c);
    bool ok = c && vector_file_open(&c->in, fd, name, error);
    if (ok) {
        c->path = exec_path;
        c->report = report;
        c->bench = format->executes ? agx_exec_bench_create() : NULL;
        ok = !format->executes || c->bench;
    }
    if (!ok)
        orch_fail(error, ORCH_INTERNAL, "%s: no memory to check it", name);
    ok = ok && check_lines(c, format);
    if (c) {
        agx_exec_bench_free(c->bench);
        vector_file_close(&c->in);
    }
    free(c);
    return ok;
}

bool check_agx_vectors(const char *path, enum check_agx_path exec_path, struct check_report *report, struct orch_error *error)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return orch_fail(error, ORCH_USAGE, "%s: cannot be opened", path);
    const bool ok = check_agx_vectors_fd(fd, path, exec_path, report, error);
    close(fd);
    return ok;
}
