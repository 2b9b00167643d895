/* Runs test programs in parallel, shows what failed, and closes with one line "N passed, M failed, K skipped".
 * Usage: runner [-j N] PROGRAM... */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job {
    const char *program;
    pid_t pid;
    FILE *output;
    double started;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int start(struct job *job)
{
    job->output = tmpfile();
    job->started = now_s();
    if (!job->output)
        return -1;
    fflush(stdout);
    job->pid = fork();
    if (job->pid == 0) {
        dup2(fileno(job->output), 1);
        dup2(fileno(job->output), 2);
        execl(job->program, job->program, (char *)NULL);
        _exit(127);
    }
    return job->pid < 0 ? -1 : 0;
}

struct totals {
    unsigned passed, failed, skipped;
};

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* What failed is printed where it happens, and again at the end, so that the last lines of a long log name it. */
static void say_failure(const char *base, const char *line, FILE *again)
{
    fputs(line, stdout);
    fprintf(again, "%s: %s", base, line);
}

static void finish(struct job *job, int status, const struct rusage *used, struct totals *totals, FILE *again)
{
    char line[8192];
    unsigned p = 0, f = 0, s = 0, summaries = 0;
    rewind(job->output);
    const int clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const char *base = strrchr(job->program, '/') ? strrchr(job->program, '/') + 1 : job->program;
    while (fgets(line, sizeof line, job->output)) {
        if (strncmp(line, "suite ", 6) == 0 && strrchr(line, ':') &&
            sscanf(strrchr(line, ':') + 1, " %u passed, %u failed, %u skipped", &p, &f, &s) == 3)
            summaries++;
        else if (!clean || strstr(line, "  failed:"))
            say_failure(base, line, again);
        else if (strstr(line, "  skipped:"))
            fputs(line, stdout);
    }
    fclose(job->output);
    if (!summaries || (!clean && f == 0)) { /* crashed, or ran nothing */
        f++;
        const int killed = WIFSIGNALED(status);
        snprintf(line, sizeof line, "%s %d\n", killed ? "killed by signal" : "ended with status",
                 killed ? WTERMSIG(status) : WEXITSTATUS(status));
        say_failure(base, line, again);
    }
    printf("%-36s %4u passed %3u failed %3u skipped  %6.1f s  %6.1f s of CPU\n", base, p, f, s, now_s() - job->started,
           seconds(used->ru_utime) + seconds(used->ru_stime));
    fflush(stdout);
    totals->passed += p;
    totals->failed += f;
    totals->skipped += s;
}

static void repeat_failures(FILE *again)
{
    char line[8192];
    rewind(again);
    while (fgets(line, sizeof line, again))
        fputs(line, stdout);
    fclose(again);
}

int main(int argc, char **argv)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long parallel = processors + (processors + 1) / 2; /* servers, browsers and killed programs let suites wait for them */
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-j") == 0) {
        parallel = strtol(argv[2], NULL, 10);
        first = 3;
    }
    const int count = argc - first;
    struct job *jobs = calloc((size_t)(count > 0 ? count : 1), sizeof *jobs);
    struct totals totals = {0, 0, 0};
    FILE *again = tmpfile();
    int next = 0, running = 0;
    if (parallel < 1)
        parallel = 1;
    if (!jobs || !again)
        return 70;
    while (next < count || running) {
        while (next < count && running < parallel) {
            jobs[next].program = argv[first + next];
            if (start(&jobs[next]) != 0) {
                perror(argv[first + next]);
                return 70;
            }
            next++;
            running++;
        }
        int status;
        struct rusage used; /* by the program and by its children that it has waited for */
        const pid_t pid = wait4(-1, &status, 0, &used);
        for (int i = 0; i < next; i++)
            if (jobs[i].pid == pid) {
                finish(&jobs[i], status, &used, &totals, again);
                jobs[i].pid = -1; /* The system may give the number to a later program. */
                running--;
            }
    }
    free(jobs);
    if (totals.failed)
        repeat_failures(again);
    printf("%u passed, %u failed, %u skipped\n", totals.passed, totals.failed, totals.skipped);
    return totals.failed || totals.passed == 0;
}
