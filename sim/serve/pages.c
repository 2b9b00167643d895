/* Live pages: what is served, the runs and sweeps of the database as they come, chips, validation. Nothing is written. */
#include "sim/serve/protocol.h"

#include "isa/array_count.h"
#include "reports/page.h"
#include "sim/base/format.h"
#include "sim/report/report.h"
#include "sim/serve/grafana.h"
#include "sim/serve/page_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void send_page(struct page *page, struct http_reply *reply)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&bytes, &size);
    const bool ok = page && out && page_write(page, out);
    if (out)
        fclose(out);
    if (ok) {
        reply->status = 200;
        reply->type = "text/html; charset=utf-8";
        text_bytes(&reply->body, bytes, size);
    } else {
        reply_error(reply, 500, "out of memory");
    }
    free(bytes);
}

/* ---- what is served ---- */

static struct result_table *models_table(const struct protocol_context *c)
{
    static const struct result_column columns[] = {{"model", NULL, false},   {"unit", NULL, false},  {"precision", NULL, false},
                                                   {"requests", NULL, true}, {"failed", NULL, true}, {"samples", NULL, true},
                                                   {"simulated", "s", true}, {"energy", "J", true},  {"tokens", NULL, true}};
    struct result_table *const t = result_table_create(columns, 9);
    for (size_t i = 0; i < served_count(c->served); i++) {
        const struct served_model *const m = served_at(c->served, i);
        const struct served_counts n = served_counts(c->served, m);
        char text[FORMAT_SIZE];
        result_table_text(t, m->entry.name);
        result_table_text(t, m->unit);
        result_table_text(t, m->precision[0] ? m->precision : "of the file");
        result_table_number(t, (double)n.requests, NULL);
        result_table_number(t, (double)n.failures, NULL);
        result_table_number(t, (double)n.samples, NULL);
        result_table_number(t, n.seconds, format_si(text, n.seconds, "s"));
        result_table_number(t, n.joules, format_si(text, n.joules, "J"));
        result_table_number(t, m->language ? (double)n.tokens : NAN, NULL);
    }
    return t;
}

static void machine_part(struct page *page, const struct protocol_context *c)
{
    const struct served_machine now = served_machine_now(c->served);
    char watts[FORMAT_SIZE], joules[FORMAT_SIZE], celsius[24];
    if (!now.known)
        return;
    format_si(watts, now.watts, "W");
    format_si(joules, now.joules, "J");
    snprintf(celsius, sizeof celsius, "%.1f C", now.celsius);
    const struct page_card card[] = {{"die, mean", celsius, served_setup(c->served)->machine->name},
                                     {"power", watts, "chip and memory, since the last look"},
                                     {"energy", joules, "since the start, idle time included"}};
    page_cards(page, card, 3);
}

/* ---- the front page ---- */

static void now_part(struct page *page, const struct protocol_context *c)
{
    struct result_table *const now = rows_now(c);
    const struct page_list how = {.rows = "/now.json", .whole = true};
    page_section(page, "Going on now");
    page_list(page, "Runs and sweeps of all processes that write this database", now, &how);
    result_table_free(now);
}

static void runs_part(struct page *page, const struct protocol_context *c, const struct http_request *request)
{
    struct page_field fields[ROWS_FILTERS];
    const struct page_field pair = {"runs", "runs to compare, as 12,13", NULL};
    struct text address = {.data = NULL};
    struct result_table *const runs = rows_runs(c, request);
    for (size_t i = 0; i < ROWS_FILTERS; i++)
        fields[i] =
            (struct page_field){rows_filter_name(i), rows_filter_name(i), request->query(request->carrier, rows_filter_name(i))};
    rows_address(request, &address);
    const struct page_list how = {.link = "/runs/", .rows = address.failed ? NULL : address.data, .pick = "runs"};
    page_section(page, "Runs");
    page_form(page, "/", "Filter", fields, ROWS_FILTERS);
    page_form(page, "/compare", "Compare", &pair, 1);
    page_list(page, "Runs, the latest first", runs, &how);
    result_table_free(runs);
    text_free(&address);
}

static void sweeps_part(struct page *page, const struct protocol_context *c)
{
    struct result_table *const sweeps = rows_sweeps(c);
    const struct page_list how = {.link = "/sweeps/"};
    page_section(page, "Sweeps");
    page_list(page, "Sweeps, the latest first", sweeps, &how);
    result_table_free(sweeps);
}

static void answer_front(const struct protocol_context *c, const struct http_request *request, struct http_reply *reply)
{
    char sub[200];
    snprintf(sub, sizeof sub, "%s%s%s", chip_id(served_setup(c->served)->run.chip),
             served_setup(c->served)->machine ? " in " : "",
             served_setup(c->served)->machine ? served_setup(c->served)->machine->name : "");
    struct page *const page = page_create("orchard serves", sub);
    if (c->db) {
        now_part(page, c);
        runs_part(page, c, request);
        sweeps_part(page, c);
    }
    page_section(page, "Models");
    machine_part(page, c);
    struct result_table *const models = models_table(c);
    if (result_table_rows(models))
        page_table(page, "What is served, and what it has done", models);
    else
        page_paragraph(page,
                       "No model is served: orchard serve MODEL puts one behind the protocols of Triton and of completions.");
    result_table_free(models);
    page_section(page, "More");
    page_link(page, "/chips", "Chips, with the source of every value");
    page_link(page, "/validation", "Predictions beside measurements");
    page_link(page, "/metrics", "Metrics for Prometheus");
    page_link(page, "/grafana.json", "A dashboard of Grafana for these metrics");
    page_foot(page, "orchard %s", c->version);
    send_page(page, reply);
    page_free(page);
}

/* ---- one run, several, sweeps, chips, validation ---- */

static void give(bool made, struct page *page, const struct orch_error *error, struct http_reply *reply)
{
    if (made)
        send_page(page, reply);
    else
        reply_error(reply, error->exit_code == ORCH_USAGE ? 404 : 500, "%s", error->plain);
    page_free(page);
}

/* Numbers alone name runs: nothing of a path reaches a file or a query. */
static void answer_runs(const struct protocol_context *c, const char *numbers, bool compare, struct http_reply *reply)
{
    enum { MOST = 8 };
    int64_t id[MOST];
    size_t count = 0;
    struct orch_error error = {0};
    struct page *page = NULL;
    const char *at = numbers;
    while (count < MOST && *at >= '0' && *at <= '9') {
        char *end;
        id[count++] = strtoll(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
    }
    if (!c->db || count == 0 || *at) {
        reply_error(reply, 404, "runs are /runs/NUMBER or up to %d numbers with commas between", MOST);
        return;
    }
    const bool made = compare ? report_comparison(c->db, c->chips, id, count, &page, &error)
                              : report_runs(c->db, c->chips, id, count, &page, &error);
    give(made, page, &error, reply);
}

static void answer_compare(const struct protocol_context *c, const struct http_request *request, struct http_reply *reply)
{
    const char *const runs = request->query(request->carrier, "runs");
    answer_runs(c, runs ? runs : "", true, reply);
}

static void answer_sweep(const struct protocol_context *c, const char *number, struct http_reply *reply)
{
    struct orch_error error = {0};
    struct page *page = NULL;
    if (!c->db || strspn(number, "0123456789") != strlen(number) || !*number) {
        reply_error(reply, 404, "sweeps are /sweeps/NUMBER");
        return;
    }
    const bool made = report_sweep(c->db, number, &page, &error);
    give(made, page, &error, reply);
}

/* The name of a chip is looked up among those that are loaded; it opens no file. */
static void answer_chips(const struct protocol_context *c, const char *name, struct http_reply *reply)
{
    struct orch_error error = {0};
    struct page *page = NULL;
    const bool made = *name ? report_chip(c->chips, name, &page, &error) : report_chips(c->chips, "/chips/", &page, &error);
    give(made, page, &error, reply);
}

static void answer_validation(const struct protocol_context *c, struct http_reply *reply)
{
    struct orch_error error = {0};
    struct page *page = NULL;
    const bool made = c->db && report_validation(c->db, NULL, &page, &error);
    give(made, page, &error, reply);
}

/* The rest of the path when it begins so; NULL when it does not. */
static const char *after(const char *path, const char *beginning)
{
    const size_t n = strlen(beginning);
    return strncmp(path, beginning, n) == 0 ? path + n : NULL;
}

bool pages_has(const char *path)
{
    static const char *const whole[] = {"/", "/now.json", "/runs.json", "/compare", "/chips", "/validation", "/grafana.json"};
    for (size_t i = 0; i < ARRAY_COUNT(whole); i++)
        if (strcmp(path, whole[i]) == 0)
            return true;
    return after(path, "/runs/") || after(path, "/sweeps/") || after(path, "/chips/");
}

void pages_answer(const struct protocol_context *c, const struct http_request *r, struct http_reply *reply)
{
    const char *const run = after(r->path, "/runs/"), *const sweep = after(r->path, "/sweeps/"),
                      *const chip = after(r->path, "/chips/");
    if (!pages_has(r->path))
        reply_error(reply, 404,
                    "no such path; served are /, /runs/N, /sweeps/N, /chips, /validation, /metrics, /v2, /v1/completions");
    else if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
        reply_not_allowed(reply, "GET");
    else if (run)
        answer_runs(c, run, false, reply);
    else if (sweep)
        answer_sweep(c, sweep, reply);
    else if (chip || strcmp(r->path, "/chips") == 0)
        answer_chips(c, chip ? chip : "", reply);
    else if (strcmp(r->path, "/compare") == 0)
        answer_compare(c, r, reply);
    else if (strcmp(r->path, "/validation") == 0)
        answer_validation(c, reply);
    else if (strcmp(r->path, "/grafana.json") == 0) {
        reply_json(reply);
        text_put(&reply->body, serve_grafana);
    } else if (strcmp(r->path, "/now.json") == 0 && c->db)
        rows_now_answer(c, reply);
    else if (strcmp(r->path, "/runs.json") == 0 && c->db)
        rows_answer(c, r, reply);
    else
        answer_front(c, r, reply);
}
