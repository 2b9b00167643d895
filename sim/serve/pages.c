/* Live pages: what is served and the latest runs of the database, each run as its report. Nothing is written. */
#include "sim/serve/protocol.h"

#include "isa/array_count.h"
#include "reports/page.h"
#include "sim/base/format.h"
#include "sim/base/json_read.h"
#include "sim/report/report.h"

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

/* ---- runs ---- */

static struct result_table *runs_table(const struct protocol_context *c)
{
    static const struct result_column columns[] = {{"run", NULL, true},        {"workload", NULL, false}, {"unit", NULL, false},
                                                   {"precision", NULL, false}, {"status", NULL, false},   {"begun", NULL, false}};
    static const char *const names[] = {"workload", "unit", "precision", "status", "started"};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    struct orch_error error = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out)
        db_print_query(c->db, "SELECT id, workload, unit, precision, status, started FROM run ORDER BY id DESC LIMIT 100",
                       DB_FORMAT_JSONL, out, &error);
    if (out)
        fclose(out);
    char *rest = text, *line;
    while (text && (line = strsep(&rest, "\n")) != NULL) {
        json_object *const row = *line ? json_tokener_parse(line) : NULL;
        if (!row)
            continue;
        result_table_number(t, json_peek_number(row, "id", NAN), NULL);
        for (size_t i = 0; i < ARRAY_COUNT(names); i++)
            result_table_text(t, json_peek_string(row, names[i]));
        json_object_put(row);
    }
    free(text);
    return t;
}

static void answer_front(const struct protocol_context *c, struct http_reply *reply)
{
    char sub[200];
    snprintf(sub, sizeof sub, "%s%s%s", chip_id(served_setup(c->served)->run.chip),
             served_setup(c->served)->machine ? " in " : "",
             served_setup(c->served)->machine ? served_setup(c->served)->machine->name : "");
    struct page *const page = page_create("orchard serves", sub);
    page_section(page, "Models");
    machine_part(page, c);
    struct result_table *const models = models_table(c);
    page_table(page, "What is served, and what it has done", models);
    result_table_free(models);
    page_section(page, "Runs");
    if (c->db) {
        struct result_table *const runs = runs_table(c);
        page_paragraph(page, "A run is at /runs/NUMBER, two beside each other at /runs/NUMBER,NUMBER.");
        page_table(page, "The latest in the database", runs);
        result_table_free(runs);
    }
    page_foot(page, "orchard %s; counters for machines: /metrics", c->version);
    send_page(page, reply);
    page_free(page);
}

/* Numbers alone name runs: nothing of a path reaches a file or a query. */
static void answer_runs(const struct protocol_context *c, const char *numbers, struct http_reply *reply)
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
    if (report_runs(c->db, c->chips, id, count, &page, &error))
        send_page(page, reply);
    else
        reply_error(reply, error.exit_code == ORCH_USAGE ? 404 : 500, "%s", error.plain);
    page_free(page);
}

void pages_answer(const struct protocol_context *c, const struct http_request *r, struct http_reply *reply)
{
    const bool runs = strncmp(r->path, "/runs/", 6) == 0, front = strcmp(r->path, "/") == 0;
    if (!runs && !front)
        reply_error(reply, 404, "no such path; served are /, /runs/N, /metrics, /v2, /v1/completions");
    else if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
        reply_not_allowed(reply, "GET");
    else if (front)
        answer_front(c, reply);
    else
        answer_runs(c, r->path + 6, reply);
}
