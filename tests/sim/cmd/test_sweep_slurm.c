/* orchard sweep --slurm on a real Slurm of one node, started for this suite: eight shards as a job array, then the merge job.
 * Skipped where munge, slurmctld and slurmd (Debian packages of these names, and slurm-client) are not installed or do not start.
 * Needs root.
 */
#define _GNU_SOURCE
#include "isa/array_count.h"
#include "tests/sim/sweep_example.h"
#include "tests/support/cli_binary.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define SWEEP                                                                                                                    \
    "sweep gemm:96x96x96 --unit ane --chip m2 --lhs 64 --exact -L ane.clock_ghz=0.8:2 -L memory_peak_GBps=50:200 --quiet"

struct slurm {
    char folder[64];
    pid_t munged, slurmctld, slurmd;
};

static void nap_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static bool in_path(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

/* Why it cannot start; NULL when it can. */
static const char *missing(void)
{
    static const char *const programs[] = {"munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo"};
    if (geteuid() != 0)
        return "starting Slurm needs root";
    if (!cli_binary())
        return "the binary is not built";
    for (size_t i = 0; i < ARRAY_COUNT(programs); i++)
        if (!in_path(programs[i]))
            return "Slurm is not installed (slurmctld slurmd slurm-client munge)";
    return getpwnam("munge") ? NULL : "there is no user munge";
}

/* Starts a daemon in the foreground with its output dropped. `user` NULL = the user who runs the suite. */
static pid_t start(const char *user, char *const *words)
{
    const pid_t process = fork();
    if (process != 0)
        return process;
    const struct passwd *const who = user ? getpwnam(user) : NULL;
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    if (user && (!who || setgid(who->pw_gid) != 0 || setuid(who->pw_uid) != 0))
        _exit(126);
    execvp(words[0], words);
    _exit(127);
}

static void stop(pid_t process)
{
    if (process <= 0)
        return;
    kill(process, SIGTERM);
    for (int i = 0; i < 50; i++) {
        if (waitpid(process, NULL, WNOHANG) == process)
            return;
        nap_ms(100);
    }
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}

/* What the lines mean is explained in Slurm's manual slurm.conf(5). No cgroups, no accounting, ports of its own. */
static bool write_configuration(const struct slurm *s)
{
    char path[128], host[128];
    const int port = 20000 + (int)(getpid() % 10000) * 2;
    snprintf(path, sizeof path, "%s/slurm.conf", s->folder);
    gethostname(host, sizeof host);
    FILE *const f = fopen(path, "w");
    if (!f)
        return false;
    fprintf(f,
            "ClusterName=local\nSlurmctldHost=localhost\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\n"
            "AuthInfo=socket=%s/munge/socket\nCryptoType=crypto/munge\nSlurmctldPort=%d\nSlurmdPort=%d\n",
            s->folder, port, port + 1);
    fprintf(
        f,
        "StateSaveLocation=%s/state\nSlurmdSpoolDir=%s/spool\nSlurmctldPidFile=%s/slurmctld.pid\nSlurmdPidFile=%s/slurmd.pid\n"
        "SlurmctldLogFile=%s/slurmctld.log\nSlurmdLogFile=%s/slurmd.log\n",
        s->folder, s->folder, s->folder, s->folder, s->folder, s->folder);
    fprintf(f,
            "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n"
            "AccountingStorageType=accounting_storage/none\nSelectType=select/"
            "cons_tres\nSelectTypeParameters=CR_Core\nMpiDefault=none\n"
            "ReturnToService=2\nSchedulerType=sched/backfill\nSchedulerParameters=batch_sched_delay=0,sched_interval=2\n"
            "SlurmdParameters=config_overrides\n"
            "NodeName=localhost NodeHostname=%s NodeAddr=127.0.0.1 CPUs=8 RealMemory=1000 State=UNKNOWN\n"
            "PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP\n",
            host);
    return fclose(f) == 0;
}

static bool make_folders(struct slurm *s)
{
    static const char *const names[] = {"munge", "state", "spool"};
    const struct passwd *const munge = getpwnam("munge");
    char path[128];
    snprintf(s->folder, sizeof s->folder, "/tmp/orchard-slurm-XXXXXX");
    bool ok = mkdtemp(s->folder) && chmod(s->folder, 0755) == 0;
    for (size_t i = 0; ok && i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", s->folder, names[i]);
        ok = mkdir(path, 0755) == 0 && (i > 0 || chown(path, munge->pw_uid, munge->pw_gid) == 0);
    }
    return ok;
}

static bool says(const char *command, const char *word)
{
    char line[256] = "";
    FILE *const pipe = popen(command, "r");
    const bool there = pipe && fgets(line, sizeof line, pipe) && strstr(line, word);
    if (pipe)
        pclose(pipe);
    return there;
}

/* Munge starts first, because the other two authenticate through it. */
static bool start_slurm(struct slurm *s)
{
    char socket[128], pid[128], log[128], seed[128], conf[128];
    snprintf(socket, sizeof socket, "--socket=%s/munge/socket", s->folder);
    snprintf(pid, sizeof pid, "--pid-file=%s/munge/pid", s->folder);
    snprintf(log, sizeof log, "--log-file=%s/munge/log", s->folder);
    snprintf(seed, sizeof seed, "--seed-file=%s/munge/seed", s->folder);
    snprintf(conf, sizeof conf, "%s/slurm.conf", s->folder);
    char *const munged[] = {
        strdupa("munged"), strdupa("-F"), strdupa("--key-file=/etc/munge/munge.key"), socket, pid, log, seed, NULL};
    char *const ctld[] = {strdupa("slurmctld"), strdupa("-D"), strdupa("-f"), conf, NULL};
    char *const node[] = {strdupa("slurmd"), strdupa("-D"), strdupa("-N"), strdupa("localhost"), strdupa("-f"), conf, NULL};
    setenv("SLURM_CONF", conf, 1);
    s->munged = start("munge", munged);
    for (int i = 0; i < 50 && access(socket + strlen("--socket="), F_OK) != 0; i++)
        nap_ms(100);
    s->slurmctld = start(NULL, ctld);
    nap_ms(500);
    s->slurmd = start(NULL, node);
    for (int i = 0; i < 60; i++) {
        if (says("sinfo -h -o %T 2>/dev/null", "idle"))
            return true;
        nap_ms(500);
    }
    return false;
}

static void stop_slurm(struct slurm *s)
{
    stop(s->slurmd);
    stop(s->slurmctld);
    stop(s->munged);
    unsetenv("SLURM_CONF");
    CU_ASSERT_TRUE(suite_remove(s->folder));
}

static double points(const char *file)
{
    struct orch_error error = {0};
    struct orch_db *const db = access(file, F_OK) == 0 ? db_open(file, DB_READ, &error) : NULL;
    const double n = db ? example_number(db, "SELECT count(*) FROM sweep_point WHERE status = 'done'") : 0;
    db_close(db);
    return n;
}

static void sweep_by_slurm(const struct slurm *s)
{
    static struct cli_outcome outcome;
    char line[512], file[128];
    snprintf(line, sizeof line, SWEEP " --slurm 8 --slurm-folder %s/jobs --db %s/all.db", s->folder, s->folder);
    CU_ASSERT_TRUE_FATAL(cli_run(line, &outcome));
    CHECK(outcome.code == 0 && strncmp(outcome.out, "array ", 6) == 0, "%d: %s%s", outcome.code, outcome.out, outcome.err);
    for (int i = 0; i < 90 && outcome.code == 0 && !says("squeue -h 2>/dev/null | wc -l", "0\n"); i++)
        nap_ms(500);
    snprintf(file, sizeof file, "%s/all.db", s->folder);
    CHECK(points(file) == 64 + 5, "%g points", points(file));
    for (int shard = 0; shard < 8; shard++) {
        snprintf(file, sizeof file, "%s/jobs/shard-%d.db", s->folder, shard);
        CHECK(points(file) >= 8, "shard %d: %g points", shard, points(file));
    }
    snprintf(line, sizeof line, SWEEP " --db %s/here.db", s->folder);
    CU_ASSERT_TRUE(cli_run(line, &outcome) && outcome.code == 0);
    snprintf(file, sizeof file, "%s/all.db", s->folder);
    char *const there = example_sweep_rows(file);
    snprintf(file, sizeof file, "%s/here.db", s->folder);
    char *const here = example_sweep_rows(file);
    CU_ASSERT_STRING_EQUAL(there, here);
    free(there);
    free(here);
}

static void test_array(void)
{
    struct slurm s = {{0}, 0, 0, 0};
    const char *const why = missing();
    if (why) {
        suite_skip(why);
        return;
    }
    CU_ASSERT_TRUE_FATAL(make_folders(&s) && write_configuration(&s));
    if (start_slurm(&s))
        sweep_by_slurm(&s);
    else
        suite_skip("Slurm is installed but does not start here");
    stop_slurm(&s);
}

static const struct suite_test tests[] = {{"a job array sweeps eight shards, and a later job merges them", test_array}};
SUITE_MAIN("sweep slurm", tests)
