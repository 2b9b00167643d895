/* What happens when a signal ends the process. Everything called in the handler is async-signal-safe (signal-safety(7)). */
#include "sim/base/temporary.h"

#include "isa/array_count.h"
#include "sim/base/error.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000 };

_Static_assert(ATOMIC_LONG_LOCK_FREE == 2 && ATOMIC_BOOL_LOCK_FREE == 2, "atomics of a signal handler have no locks");

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

/* Of temporary_interrupted: when it was called last, in milliseconds, 0 = never, and what it answers. */
static atomic_long asked_ms;
static atomic_bool interrupted;

static void say(const char *line)
{
    const char *const from = on_terminal ? line : line + 1;
    if (write(STDERR_FILENO, from, strlen(from)) < 0)
        return; /* nobody is left to be told */
}

static long monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool temporary_interrupted(void)
{
    atomic_store(&asked_ms, monotonic_ms());
    return atomic_load(&interrupted);
}

/* Whether somebody will ask soon, and then end the work. */
static bool is_left_to_work(int number)
{
    const long asked = atomic_load(&asked_ms);
    return number == SIGINT && asked && monotonic_ms() - asked < PATIENCE_MS && !atomic_exchange(&interrupted, true);
}

static void on_signal(int number)
{
    if (is_left_to_work(number))
        return;
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
