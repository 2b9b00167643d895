/* What happens when a signal ends the process. Everything called in the handler is async-signal-safe (signal-safety(7)). */
#include "sim/base/temporary.h"

#include "isa/array_count.h"
#include "sim/base/error.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

struct ending {
    int signal;
    const char *line; /* NULL: the process ends by the signal itself */
    bool insisted;    /* also when the process was started to ignore it */
};

_Static_assert(128 + SIGINT == ORCH_INTERRUPTED, "a shell's code for a process that a signal ended");

/* A shell starts background jobs with SIGINT ignored. A program should end all the same when somebody sends it one. */
static const struct ending endings[] = {
    {SIGINT, "\norchard: interrupted\n", true},
    {SIGTERM, "\norchard: terminated\n", false},
    {SIGHUP, "\norchard: the terminal hung up\n", false},
    {SIGPIPE, NULL, false},
    {SIGQUIT, NULL, false},
    {SIGXCPU, NULL, false},
};

/* Set before the first handler is installed. */
static void (*end_process)(int exit_code);
static bool on_terminal; /* the line begins below a progress bar and the terminal's own "^C" */

static void say(const char *line)
{
    const char *const from = on_terminal ? line : line + 1;
    if (write(STDERR_FILENO, from, strlen(from)) < 0)
        return; /* nobody is left to be told */
}

static void on_signal(int number)
{
    temporary_remove_all();
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        if (endings[i].signal != number || !endings[i].line)
            continue;
        say(endings[i].line);
        end_process(128 + number);
    }
    signal(number, SIG_DFL);
    raise(number); /* delivered when the handler returns */
}

void temporary_end_on_signals(void (*end)(int exit_code))
{
    struct sigaction action = {.sa_handler = on_signal};
    end_process = end;
    on_terminal = isatty(STDERR_FILENO);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++)
        sigaddset(&action.sa_mask, endings[i].signal);
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        struct sigaction before;
        if (endings[i].insisted || sigaction(endings[i].signal, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaction(endings[i].signal, &action, NULL);
    }
}
