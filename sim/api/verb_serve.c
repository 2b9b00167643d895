/* The verb serve: models behind the protocols of servers, on a simulated chip in a simulated machine. */
#include "sim/api/api.h"
#include "sim/ask/study/known.h"
#include "sim/machine/device/device.h"
#include "sim/run/run_timing.h"
#include "sim/serve/server.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PORT_USUALLY = 8002, CONNECTIONS_USUALLY = 256, QUEUE_USUALLY = 256, BODY_MIB_USUALLY = 64, IDLE_USUALLY_S = 120 };

static const struct orchard_option option_table[] = {
    {"port", 0, "N", false, "TCP port (default 8002; 0: any that is free, which is printed)"},
    {"address", 0, "IP", false, "IPv4 address to listen on (default 127.0.0.1: this host alone)"},
    {"unit", 0, "UNIT", false,
     "cpu, amx, gpu, ane or auto (default: networks gpu, language models amx; config.pbtxt goes first)"},
    {"precision", 0, "TYPE", false, "networks: f32, f16 (default f32, ane f16)"},
    {"device", 0, "NAME", false, "machine around the chip (default: the first that has it), or none: no heat, no temperature"},
    {"ambient", 0, "C", false, "temperature of the room (default: 23)"},
    {"power-mode", 0, "MODE", false, "balanced (default) or low"},
    {"connections", 0, "N", false, "connections at a time; more wait (default 256)"},
    {"queue", 0, "N", false, "requests that wait to be computed; more get 503 (default 256)"},
    {"max-body", 0, "MIB", false, "largest body of a request (default 64)"},
    {"idle-timeout", 0, "SECONDS", false, "silent connections are closed (default 120)"},
    {"metric-aliases", 0, NULL, false,
     "/metrics also under other names: those of Triton and llama.cpp, and metal_gpu_utilization_percent, "
     "metal_memory_bandwidth_gbps, "
     "metal_power_usage_watts"},
    {0},
};

struct serving {
    struct api_context *context;
    struct served_setup setup;
    struct server_setup server;
    struct device_list devices;
    struct orch_db *db, *pages;
    struct chip_db *page_chips; /* pages are made by a thread of their own */
    struct observed *observed;
    struct known *known;
    struct run_known ask;
};

static bool read_numbers(struct serving *s, struct orch_error *error)
{
    const struct api_args *const a = &s->context->args;
    uint64_t port = PORT_USUALLY, connections = CONNECTIONS_USUALLY, queue = QUEUE_USUALLY, body = BODY_MIB_USUALLY,
             idle = IDLE_USUALLY_S;
    unsigned mode = 0;
    s->setup.ambient_c = NAN;
    if (!api_unsigned(a, "port", 0, 65535, &port, error) || !api_unsigned(a, "connections", 1, 1000, &connections, error) ||
        !api_unsigned(a, "queue", 1, 100000, &queue, error) || !api_unsigned(a, "max-body", 1, 2048, &body, error) ||
        !api_unsigned(a, "idle-timeout", 1, 86400, &idle, error) ||
        !api_quantity(a, "ambient", "C", -40, 60, &s->setup.ambient_c, error) ||
        !api_chosen(a, "power-mode", "balanced|low", &mode, error) || !api_unit_is_known(a, error))
        return false;
    s->setup.low_power = mode == 1;
    s->server.port = (unsigned)port;
    s->server.connections = (unsigned)connections;
    s->server.queue = (unsigned)queue;
    s->server.body_bytes = (size_t)body << 20;
    s->server.idle_s = (unsigned)idle;
    s->server.address = api_value(a, "address") ? api_value(a, "address") : "127.0.0.1";
    s->server.protocol.aliases = api_has(a, "metric-aliases");
    return true;
}

/* The machine that was asked for, or the first that has the chip; chips without one have no heat. */
static bool find_machine(struct serving *s, struct orch_error *error)
{
    const char *const name = api_value(&s->context->args, "device"), *const id = chip_id(s->setup.run.chip);
    if (name && strcmp(name, "none") == 0)
        return true;
    if (!device_list_load(NULL, &s->devices, error))
        return false;
    for (size_t i = 0; !name && !s->setup.machine && i < s->devices.count; i++)
        for (unsigned c = 0; c < s->devices.device[i].chips; c++)
            if (strcmp(s->devices.device[i].chip[c], id) == 0)
                s->setup.machine = &s->devices.device[i];
    if (name)
        s->setup.machine = device_find(&s->devices, name, id, error);
    return !name || s->setup.machine;
}

static bool open_all(struct serving *s, const struct chip *chip, struct orch_error *error)
{
    const struct api_common *const c = &s->context->common;
    s->db = db_open(c->db, DB_WRITE, error);
    s->pages = s->db ? db_open(c->db, DB_READ, error) : NULL;
    s->observed = s->pages ? observed_open(c->db, error) : NULL;
    s->known = s->observed ? known_create(s->db, error) : NULL;
    if (!s->known)
        return false;
    s->ask = known_as_run(s->known);
    s->setup.run = (struct run_request){.chip = chip,
                                        .known = &s->ask,
                                        .precision = api_value(&s->context->args, "precision"),
                                        .seed = c->seed,
                                        .threads = c->threads};
    s->setup.unit = api_value(&s->context->args, "unit");
    s->setup.db = api_chip_db(s->context, error);
    s->setup.overrides = (struct chip_overrides){c->sets, c->set_count};
    s->page_chips = s->setup.db ? chip_db_open(NULL, error) : NULL;
    if (!s->page_chips || !find_machine(s, error))
        return false;
    s->server.protocol.served = served_open(&s->setup, error);
    s->server.protocol.db = s->pages;
    s->server.protocol.observed = s->observed;
    s->server.protocol.chips = s->page_chips;
    s->server.protocol.version = orchard_version();
    return s->server.protocol.served != NULL;
}

/* Until somebody ends it: the signals that do so wait here instead of ending the process where it stands. */
static void wait_for_end(const sigset_t *ends)
{
    siginfo_t info;
    while (sigwaitinfo(ends, &info) < 0)
        continue;
}

static bool serve(struct serving *s, struct orch_error *error)
{
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, &before); /* threads of the server inherit it */
    struct server *const server = server_start(&s->server, error);
    if (server) {
        fprintf(s->context->out, "serving %zu model%s on http://%s:%u\n", s->setup.models, s->setup.models == 1 ? "" : "s",
                s->server.address, server_port(server));
        fflush(s->context->session->text ? s->context->session->text : s->context->out);
        wait_for_end(&ends);
        server_stop(server);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return server != NULL;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct serving s = {.context = context, .setup = {.model = word, .models = (size_t)words}};
    struct orch_error error = {0};
    struct api_chips chips = {.chip = NULL};
    bool ok = read_numbers(&s, &error) && api_chips_open(context, NULL, &chips, &error);
    if (ok && chips.count != 1)
        ok = orch_fail(&error, ORCH_USAGE, ORCH_OPTION("chip") ": a server has one chip");
    ok = ok && open_all(&s, chips.chip[0], &error) && serve(&s, &error);
    served_close(s.server.protocol.served);
    known_free(s.known);
    observed_close(s.observed);
    db_close(s.pages);
    db_close(s.db);
    chip_db_close(s.page_chips);
    device_list_free(&s.devices);
    api_chips_close(&chips);
    return ok ? ORCH_OK : api_fail(context, &error);
}

const struct api_verb verb_serve = {
    .help =
        {
            .name = "serve",
            .synopsis = "[MODEL...] [options]",
            .summary = "a server: KServe/Triton, completions, /metrics, pages of runs",
            .text =
                "MODEL is a network (.onnx), a language model (.gguf, or what transformers saves), an encoder of texts "
                "(a .gguf or folder of BERT and its kin) or a folder of a Triton "
                "repository. Values are computed by "
                "kernels\n"
                "of the simulated unit; replies say the simulated seconds and joules, and the temperature of the machine's die. "
                "Served are\n"
                "/v2 (health, metadata, config, infer with JSON and binary tensors, statistics), /v1/completions and /completion "
                "(also as\n"
                "events), /v1/embeddings and /embedding of encoders, /tokenize, /v1/models, /health, /metrics (Prometheus), "
                "/grafana.json, and pages: / (runs as they "
                "come),\n"
                "/runs/N,M, /sweeps/N, /chips, /validation. Requests are computed one after\n"
                "another; replies go out as soon as they are computed, not after the simulated time. SIGTERM and SIGINT end it.",
            .examples = "orchard serve examples/models/digits.onnx --unit ane --chip m1 --port 8000\n"
                        "orchard serve examples/models/stories.gguf --unit gpu --device macbook-air --port 8001\n"
                        "orchard serve --port 8002",
            .options = option_table,
        },
    .ask = ask,
};
