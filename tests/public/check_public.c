/* check_public [--mlx DIR] [--ggml DIR] [--verbose] CASES... [PATTERN]: runs the cases of the files (*.cases), each in a process
 * of its own, and counts. Exit code 1 when a result is wrong. With --list it only names the kernels of the sources that have a
 * case
 * ("+") or none ("-"). */
#include "tests/public/public.h"

#include "isa/array_count.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MAX = 240 };

static const char *const words[PUBLIC_RESULTS] = {"right", "WRONG", "not compiled", "not run", "no case", "not in the source"};

struct tally {
    unsigned count[PUBLIC_RESULTS];
    bool verbose;
};

static enum public_result apart(struct public_case *c, char *text, size_t size)
{
    int ends[2], status = 0;
    enum public_result result = PUBLIC_NOT_RUN;
    if (pipe(ends) != 0)
        return PUBLIC_NO_CASE;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MAX);
        result = public_run(c, text, size);
        const bool ok = write(ends[1], &result, sizeof result) > 0 && write(ends[1], text, size) > 0;
        _exit(ok ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &result, sizeof result) != (ssize_t)sizeof result || read(ends[0], text, size) <= 0)
        snprintf(text, size, "the process did not come to an end");
    text[size - 1] = 0;
    close(ends[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        snprintf(text, size, "the process ended by signal %d", WTERMSIG(status));
    return result;
}

static void visit(void *context, struct public_case *c, const char *wrong)
{
    struct tally *const t = context;
    char text[1000] = "";
    const enum public_result result = wrong ? PUBLIC_NO_CASE : apart(c, text, sizeof text);
    t->count[result]++;
    if (t->verbose || result != PUBLIC_RIGHT)
        printf("%-17s %s (line %u): %s\n", words[result], c->kernel, c->line, wrong ? wrong : text);
}

/* ---- what has a case ---- */

struct names {
    char (*name)[PUBLIC_NAME];
    size_t count;
    char source[512];
};

static void note(void *context, struct public_case *c, const char *wrong)
{
    struct names *const n = context;
    char(*const more)[PUBLIC_NAME] = realloc(n->name, (n->count + 1) * sizeof *more);
    (void)wrong;
    if (!more)
        return;
    n->name = more;
    memcpy(n->name[n->count++], c->kernel, PUBLIC_NAME);
}

static void tell(void *context, const char *name)
{
    const struct names *const n = context;
    bool there = false;
    for (size_t i = 0; i < n->count && !there; i++)
        there = strcmp(n->name[i], name) == 0;
    printf("%c %s\n", there ? '+' : '-', name);
}

static void list(void *context, struct public_case *c, const char *wrong)
{
    struct names *const n = context;
    (void)wrong;
    if (strcmp(n->source, c->source) == 0)
        return;
    memcpy(n->source, c->source, sizeof n->source);
    printf("%s\n", c->source);
    public_list(c, tell, n);
}

int main(int argc, char **argv)
{
    struct public_roots roots = {NULL, NULL};
    struct tally t = {.verbose = false};
    const char *file[8], *pattern = NULL;
    unsigned files = 0, all = 0;
    bool lists = false;
    struct names names = {.count = 0};
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--mlx") == 0 && i + 1 < argc)
            roots.mlx = *argv[++i] ? argv[i] : NULL;
        else if (strcmp(argv[i], "--ggml") == 0 && i + 1 < argc)
            roots.ggml = *argv[++i] ? argv[i] : NULL;
        else if (strcmp(argv[i], "--verbose") == 0)
            t.verbose = true;
        else if (strcmp(argv[i], "--list") == 0)
            lists = true;
        else if (strstr(argv[i], ".cases") && files < ARRAY_COUNT(file))
            file[files++] = argv[i];
        else
            pattern = argv[i];
    if (!roots.mlx)
        printf("MLX is skipped: no folder given (MLX=DIR, that which has mlx/backend/metal/kernels)\n");
    if (!roots.ggml)
        printf("ggml is skipped: no folder given (GGML=DIR, that which has ggml-common.h and ggml-metal)\n");
    for (unsigned i = 0; i < files && lists; i++)
        public_cases(file[i], &roots, NULL, note, &names);
    for (unsigned i = 0; i < files && lists; i++)
        public_cases(file[i], &roots, pattern, list, &names);
    free(names.name);
    for (unsigned i = 0; i < files && !lists; i++) {
        if (!public_cases(file[i], &roots, pattern, visit, &t))
            return fprintf(stderr, "%s: cannot be read\n", file[i]), 2;
    }
    for (unsigned i = 0; i < PUBLIC_RESULTS; i++)
        all += t.count[i];
    printf("%u kernels", all);
    for (unsigned i = 0; i < PUBLIC_RESULTS; i++)
        printf(", %u %s", t.count[i], words[i]);
    printf("\n");
    return t.count[PUBLIC_WRONG] || t.count[PUBLIC_NO_CASE] ? 1 : 0;
}
