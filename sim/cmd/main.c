/* The command line: reads the words, asks the library, and shows what it says. */
#include "sim/cmd/help.h"
#include "sim/cmd/options.h"
#include "sim/cmd/pages.h"
#include "sim/cmd/progress.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ORCHARD_COMMIT
#error "the Makefile passes ORCHARD_COMMIT"
#endif

enum { DONE = 0, USAGE = 2, INTERNAL = 70, INTERRUPTED = 130 }; /* exit codes */

/* ---- what is asked ---- */

struct request {
    const struct orchard_verb *verb; /* NULL = none */
    struct cli_args args;            /* without those of cli_own_options */
    bool help, version, color;
    const char *page, *of; /* a page for an installation: "man", of a verb (NULL = of all); bash, zsh, fish; NULL = none */
};

/* "help man [VERB]", "help bash" ...: what is installed beside the program. */
static bool is_page(const char *word)
{
    static const char *const pages[] = {"man", "bash", "zsh", "fish", "verbs"};
    for (size_t i = 0; word && i < sizeof pages / sizeof *pages; i++)
        if (strcmp(word, pages[i]) == 0)
            return true;
    return false;
}

/* Common options, the verb, then both kinds of options and words in any order. "help VERB" is "--help VERB". */
static bool parse_words(struct request *r, int argc, char **argv, struct orchard_error *error)
{
    static char help[] = "--help";
    const struct orchard_option *tables[4] = {orchard_common_options(), cli_own_options};
    int used = 0;
    if (!cli_parse(&r->args, tables, argc, argv, true, &used, error))
        return false;
    if (used == argc)
        return true;
    if (strcmp(argv[used], "help") == 0 && used + 1 < argc && is_page(argv[used + 1])) {
        r->page = argv[used + 1];
        r->of = used + 2 < argc ? argv[used + 2] : NULL;
        return !r->of || orchard_verb_find(r->of, error);
    }
    if (strcmp(argv[used], "help") == 0) {
        char *rest[] = {help, used + 1 < argc ? argv[used + 1] : NULL};
        cli_args_free(&r->args);
        return parse_words(r, rest[1] ? 2 : 1, rest, error);
    }
    r->verb = orchard_verb_find(argv[used], error);
    if (!r->verb)
        return false;
    tables[2] = r->verb->options;
    if (cli_parse(&r->args, tables, argc - used - 1, argv + used + 1, false, NULL, error))
        return true;
    const struct orchard_error inner = *error;
    cli_fail(error, "%s: %s", r->verb->name, inner.text);
    error->code = inner.code;
    return false;
}

static bool parse(struct request *r, int argc, char **argv, struct orchard_error *error)
{
    const struct orchard_session session = {.dashes = true};
    if (!parse_words(r, argc, argv, error))
        return false;
    r->help = cli_has(&r->args, "help");
    r->version = cli_has(&r->args, "version");
    r->color = cli_wants_color(&r->args, isatty(STDOUT_FILENO) == 1);
    cli_drop_own(&r->args);
    return orchard_check_options(&session, r->verb ? r->verb->name : NULL, (const char *const *)r->args.option, error);
}

/* ---- what is said ---- */

static void on_remark(void *progress, enum orchard_remark kind, const char *text)
{
    progress_end(progress);
    fprintf(stderr, "%s%s\n", kind == ORCHARD_WARNING ? "orchard: " : "", text);
}

static void on_progress(void *progress, const struct orchard_progress *now)
{
    progress_tell(progress, now);
    if (now->stop && orchard_interrupted())
        *now->stop = true;
}

/* One line, and where to read on when the words were wrong. */
static void print_error(const struct orchard_verb *verb, const struct orchard_error *error)
{
    if (error->words && verb)
        fprintf(stderr, "orchard %s: %s (see: orchard %s --help)\n", verb->name, error->text, verb->name);
    else
        fprintf(stderr, "orchard: %s\n", error->text);
    if (error->code == INTERNAL)
        fprintf(stderr, "orchard: this is a mistake of orchard " ORCHARD_VERSION ", or the system is out of resources\n");
}

static int ask(const struct request *r)
{
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    struct progress progress = progress_on(stderr, cli_has(&r->args, "quiet"));
    struct orchard_error error = {0};
    program[length > 0 ? length : 0] = 0;
    const struct orchard_session session = {.text = stdout,
                                            .program_output = cli_has(&r->args, "json") ? stderr : stdout,
                                            .color = r->color,
                                            .dashes = true,
                                            .program = length > 0 ? program : NULL,
                                            .revision = ORCHARD_COMMIT,
                                            .context = &progress,
                                            .remark = on_remark,
                                            .progress = on_progress};
    const int code = orchard_ask(&session, r->verb->name, r->args.word, (const char *const *)r->args.option, NULL, &error);
    progress_end(&progress);
    if (error.code)
        print_error(r->verb, &error);
    return code;
}

static void print_page(const struct request *r)
{
    if (strcmp(r->page, "man") == 0)
        pages_manual(stdout, r->of ? orchard_verb_find(r->of, NULL) : NULL);
    else if (strcmp(r->page, "verbs") == 0)
        for (size_t i = 0; i < orchard_verb_count(); i++)
            puts(orchard_verb_at(i)->name);
    else
        pages_completion(stdout, r->page);
}

static int answer(const struct request *r)
{
    if (r->page)
        print_page(r);
    else if (r->version)
        printf("orchard " ORCHARD_VERSION "\n");
    else if (!r->verb)
        help_overview(stdout);
    else if (r->help)
        help_verb(stdout, r->verb);
    else
        return ask(r);
    return DONE;
}

int main(int argc, char **argv)
{
    struct request request = {0};
    struct orchard_error error = {0};
    orchard_end_on_signals(_exit);
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of the write, told in words */
    int code;
    if (parse(&request, argc - 1, argv + 1, &error)) {
        code = answer(&request);
    } else {
        print_error(NULL, &error);
        code = error.code;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "orchard: standard output: %s\n", strerror(errno));
        code = code ? code : USAGE;
    }
    cli_args_free(&request.args);
    return code;
}
