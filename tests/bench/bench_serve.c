/* What the protocols of orchard serve cost by themselves: the latency that 50 connections see, less the time in which the server
 * computed. Requests that compute nothing (health, metadata, metrics) have no other part; of inferences the server counts the
 * host's seconds of computing, and one after another they leave latency = computing + protocol. Latencies are those at 1,000
 * requests a second, 20 from each connection; as fast as they can, connections measure how many there are. Bounds: p99 of 5 ms
 * for the protocol, 10 ms for /metrics, and memory that does not grow over 100,000 requests. A host that does other things shows
 * them here: chrt -f 10 helps.
 */
#include "tests/sim/serve/http_client.h"
#include "tests/sim/served_example.h"
#include "tests/support/cli_binary.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { CLIENTS = 50, REQUESTS = 200, INFERENCES = 20, SCRAPES = 2000, PACED = 20 };

static unsigned port;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct client {
    pthread_t thread;
    const char *method, *path, *body;
    unsigned requests, failed;
    double first_s, every_s; /* when requests leave; every_s 0 = one after another */
    double *seconds;         /* of each request */
};

static void *run(void *context)
{
    struct client *const c = context;
    const int s = http_connect(port);
    for (unsigned i = 0; i < c->requests; i++) {
        struct http_answer a = {.status = 0};
        const double due = c->every_s > 0 ? c->first_s + i * c->every_s : 0, early = due - now_s();
        if (early > 0)
            nanosleep(&(struct timespec){.tv_sec = (time_t)early, .tv_nsec = (long)(1e9 * (early - floor(early)))}, NULL);
        const double began = now_s();
        if (s < 0 || !http_ask(s, c->method, c->path, "", c->body, strlen(c->body), &a) || a.status != 200)
            c->failed++;
        c->seconds[i] = now_s() - began;
        free(a.body);
    }
    if (s >= 0)
        close(s);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* p99 of all clients' latencies; prints a line. */
static double load(const char *what, const char *method, const char *path, const char *body, unsigned clients, unsigned requests,
                   bool paced)
{
    static double seconds[CLIENTS * SCRAPES];
    struct client c[CLIENTS];
    unsigned failed = 0;
    const double began = now_s();
    for (unsigned i = 0; i < clients; i++) {
        c[i] = (struct client){
            .method = method, .path = path, .body = body, .requests = requests, .seconds = &seconds[i * requests]};
        c[i].first_s = began + 0.05 + (double)i / (CLIENTS * PACED);
        c[i].every_s = paced ? 1.0 / PACED : 0;
        if (pthread_create(&c[i].thread, NULL, run, &c[i]) != 0)
            return NAN;
    }
    for (unsigned i = 0; i < clients; i++) {
        pthread_join(c[i].thread, NULL);
        failed += c[i].failed;
    }
    const double took = now_s() - began;
    const size_t all = (size_t)clients * requests;
    qsort(seconds, all, sizeof *seconds, compare);
    printf("%-34s %2u connections  %8.0f /s  p50 %7.3f ms  p99 %7.3f ms  %u failed\n", what, clients, (double)all / took,
           1e3 * seconds[all / 2], 1e3 * seconds[all * 99 / 100], failed);
    return failed ? NAN : seconds[all * 99 / 100];
}

static long resident_kib(pid_t pid)
{
    char path[64], line[200];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *const f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %ld", &kib);
    if (f)
        fclose(f);
    return kib;
}

/* Seconds of the host that the server computed so far. */
static double computed_s(void)
{
    struct http_answer a = {.status = 0};
    const int s = http_connect(port);
    const bool ok = s >= 0 && http_ask(s, "GET", "/metrics", "", NULL, 0, &a);
    const char *const line = ok ? strstr(a.body, "\norchard_host_seconds_total{") : NULL;
    const char *const value = line ? strchr(line, '}') : NULL;
    const double seconds = value ? strtod(value + 1, NULL) : NAN;
    free(a.body);
    if (s >= 0)
        close(s);
    return seconds;
}

/* Inferences of 50 clients are computed one after another, so the sum of computing is nearly the whole time: what is left for
 * each request is the protocol's. */
static double inference_overhead_s(void)
{
    static const char body[] = "{\"inputs\":[{\"name\":\"x\",\"shape\":[1,4],\"datatype\":\"FP32\",\"data\":[1,2,3,4]}]}";
    const double before = computed_s(), began = now_s();
    const double p99 = load("infer, JSON", "POST", "/v2/models/dense/infer", body, CLIENTS, INFERENCES, false);
    const double took = now_s() - began, computed = computed_s() - before;
    printf("%-34s %.3f s computed of %.3f s: %.3f ms of protocol for each\n", "", computed, took,
           1e3 * (took - computed) / (CLIENTS * (double)INFERENCES));
    return isnan(p99) ? NAN : (took - computed) / (CLIENTS * (double)INFERENCES);
}

int main(void)
{
    char line[300], folder[] = "/tmp/orchard-bench-serve-XXXXXX";
    if (!mkdtemp(folder) || !served_network(folder, "dense"))
        return 1;
    port = http_free_port();
    snprintf(line, sizeof line, "serve %s/dense --unit amx --port %u --db %s/runs.db --quiet", folder, port, folder);
    setvbuf(stdout, NULL, _IOLBF, 0);
    const pid_t server = cli_start(line, -1);
    for (unsigned i = 0; i < 200 && server > 0; i++) {
        const int s = http_connect(port);
        if (s >= 0) {
            close(s);
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    load("warm up", "GET", "/v2/health/ready", "", 1, 100, false);
    load("health, as fast as it goes", "GET", "/v2/health/ready", "", CLIENTS, REQUESTS, false);
    const double health = load("health", "GET", "/v2/health/ready", "", CLIENTS, REQUESTS, true);
    const double metadata = load("metadata", "GET", "/v2/models/dense", "", CLIENTS, REQUESTS, true);
    const double infer = inference_overhead_s();
    const long before = resident_kib(server);
    const double metrics = load("metrics", "GET", "/metrics", "", CLIENTS, REQUESTS, true);
    load("metrics, as fast as it goes", "GET", "/metrics", "", CLIENTS, SCRAPES, false);
    const long after = resident_kib(server);
    printf("memory over %u scrapes: %ld KiB, then %ld KiB\n", CLIENTS * SCRAPES, before, after);
    kill(server, SIGTERM);
    cli_wait(server, 20);
    snprintf(line, sizeof line, "rm -r %s", folder);
    if (system(line) != 0)
        printf("%s stays\n", folder);
    const bool holds = health <= 5e-3 && metadata <= 5e-3 && infer <= 5e-3 && metrics <= 10e-3 && after <= before + 2048;
    printf("bounds (5 ms, 5 ms, 5 ms, 10 ms, 2 MiB): %s\n", holds ? "hold" : "do not hold");
    return holds ? 0 : 1;
}
