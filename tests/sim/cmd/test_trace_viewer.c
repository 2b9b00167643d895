/* Chrome traces in the trace viewer of Chrome (catapult, the viewer of chrome://tracing), where a browser and the viewer are
 * installed: the Debian packages chromium and golang-1.19-src, whose Go has the viewer among its sources. The viewer's importer
 * has to find what the file has, without a warning, and an end for every arrow. */
#include "isa/array_count.h"
#include "tests/reports/trace_check.h"
#include "tests/support/browser.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

static struct cli_home home = {.name = "viewer", .options = "-q"};

/* Imports every document of the list, and says what the model of the viewer then has. */
static const char script[] =
    "function sum(text) {\n"
    "  const m = new tr.Model(), o = new tr.importer.ImportOptions();\n"
    "  o.showImportWarnings = false;\n"
    "  new tr.importer.Import(m, o).importTraces([text]);\n"
    "  const s = {slices: 0, lanes: 0, points: 0, arrows: 0, loose: 0};\n"
    "  for (const p of Object.values(m.processes)) {\n"
    "    for (const t of Object.values(p.threads)) {\n"
    "      s.slices += t.sliceGroup.length; /* moments, too */\n"
    "      s.lanes += t.name ? 1 : 0;\n"
    "    }\n"
    "    for (const c of Object.values(p.counters))\n"
    "      s.points += c.series.reduce((sum, one) => sum + one.samples.length, 0);\n"
    "  }\n"
    "  for (const f of m.flowEvents) {\n"
    "    s.arrows++;\n"
    "    s.loose += f.startSlice && f.endSlice && f.start <= f.end ? 0 : 1;\n"
    "  }\n"
    "  s.warnings = m.importWarnings.map(w => w.type + ': ' + w.message);\n"
    "  return s;\n"
    "}\n"
    "window.addEventListener('load', () => {\n"
    "  let said;\n"
    "  try { said = documents.map(d => sum(JSON.stringify(d))); } catch (e) { said = String(e) + e.stack; }\n"
    "  document.body.textContent = 'BEGIN' + JSON.stringify(said) + 'END';\n"
    "});\n";

static const char *const lines[] = {
    "run gemm:64x64x64 --unit gpu --chip m1 --detail op --repeat 600 --perfetto $/0.json",
    "run model:squeezenet-1.0 --unit gpu --chip m1 --mode timing --dim size=64 --perfetto $/1.json",
    "run gemm:64x64x64 --unit gpu --chip m1 --device macbook-air --duration 10 --perfetto $/2.json",
    "run stream-triad:1M[unit=gpu] + stream-triad:1M[unit=cpu] --chip m1,m2 --perfetto $/3.json",
    "trace convert $/a.trace --perfetto $/4.json",
};

static FILE *in_home(const char *name, const char *mode)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    return fopen(path, mode);
}

static bool copy_file(FILE *to, const char *path)
{
    FILE *const from = fopen(path, "rb");
    for (int c; from && (c = getc(from)) != EOF;)
        putc(c, to);
    return from && fclose(from) == 0;
}

/* A document as a part of a script: no text of it can end the script. */
static bool put_document(FILE *page, const char *name)
{
    FILE *const from = in_home(name, "rb");
    for (int c; from && (c = getc(from)) != EOF;)
        fputs(c == '<' ? "\\u003c" : (char[]){(char)c, 0}, page);
    fputs(",\n", page);
    return from && fclose(from) == 0;
}

/* The viewer needs the elements of its time, which a file beside it gives newer browsers. */
static bool write_page(const char *viewer)
{
    FILE *const page = in_home("page.html", "wb");
    char elements[500], name[16];
    if (!page)
        return false;
    snprintf(elements, sizeof elements, "%.*swebcomponents.min.js", (int)(strrchr(viewer, '/') + 1 - viewer), viewer);
    fputs("<!DOCTYPE html><html><head><meta charset=utf-8><script>", page);
    bool ok = copy_file(page, elements);
    fputs("</script></head><body>", page);
    ok = copy_file(page, viewer) && ok;
    fputs("<script>const documents = [", page);
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        snprintf(name, sizeof name, "%zu.json", i);
        ok = put_document(page, name) && ok;
    }
    fprintf(page, "];\n%s</script></body></html>\n", script);
    return fclose(page) == 0 && ok;
}

/* What the script says, a list; NULL when there was no answer. */
static json_object *ask_browser(void)
{
    char *const text = browser_dom(home.folder, 1280);
    char *const begin = strstr(text, "BEGIN"), *const end = begin ? strstr(begin, "END") : NULL;
    if (end)
        *end = 0;
    json_object *const said = end ? json_tokener_parse(begin + 5) : NULL;
    CHECK(json_object_is_type(said, json_type_array), "%.300s", begin ? begin : text);
    free(text);
    return json_object_is_type(said, json_type_array) ? said : NULL;
}

/* How many tracks the file names: the viewer has to show as many. */
static double lanes_of(json_object *document)
{
    json_object *const events = document_at(document, "/traceEvents");
    double lanes = 0;
    for (size_t i = 0; i < json_object_array_length(events); i++)
        lanes += strcmp(trace_text(json_object_array_get_idx(events, i), "name"), "thread_name") == 0;
    return lanes;
}

static void compare(size_t i, json_object *viewed)
{
    char path[128];
    struct trace_sums sums = {0};
    snprintf(path, sizeof path, "%s/%zu.json", home.folder, i);
    json_object *const d = json_object_from_file(path);
    trace_check(d, &sums);
    CHECK(sums.slices > 0 && sums.arrows + sums.counters > 0, "%s: an empty file", lines[i]);
    CHECK(document_number(viewed, "slices") == (double)(sums.slices + sums.moments), "%s: %zu slices and %zu moments, viewed %s",
          lines[i], sums.slices, sums.moments, json_object_to_json_string(viewed));
    CHECK(document_number(viewed, "points") == (double)sums.counters, "%s: %zu points, viewed %s", lines[i], sums.counters,
          json_object_to_json_string(viewed));
    CHECK(document_number(viewed, "arrows") == (double)sums.arrows && document_number(viewed, "loose") == 0,
          "%s: %zu arrows, viewed %s", lines[i], sums.arrows, json_object_to_json_string(viewed));
    CHECK(document_number(viewed, "lanes") == lanes_of(d), "%s: %g lanes, viewed %s", lines[i], lanes_of(d),
          json_object_to_json_string(viewed));
    CHECK(json_object_array_length(document_at(viewed, "warnings")) == 0, "%s: %s", lines[i], json_object_to_json_string(viewed));
    json_object_put(d);
}

static void test_the_viewer_shows_what_the_file_has(void)
{
    glob_t found = {0};
    if (glob("/usr/share/go-*/src/*/trace*/*/trace_viewer_full.html", 0, NULL, &found) != 0 || !browser_path()) {
        globfree(&found);
        suite_skip("no browser or no viewer (Debian packages chromium and golang-1.19-src)");
        return;
    }
    bool ok = cli_ask(&home, "trace record gemm:32x32x32 --unit amx --level instruction -o $/a.trace");
    for (size_t i = 0; ok && i < ARRAY_COUNT(lines); i++) {
        ok = cli_ask(&home, "%s", lines[i]);
        CHECK(home.outcome.code == 0, "%s: %.300s", lines[i], home.outcome.err);
    }
    ok = ok && write_page(found.gl_pathv[0]);
    json_object *const said = ok ? ask_browser() : NULL;
    CHECK(!ok || json_object_array_length(said) == ARRAY_COUNT(lines), "an answer is missing");
    for (size_t i = 0; said && i < ARRAY_COUNT(lines); i++)
        compare(i, json_object_array_get_idx(said, i));
    json_object_put(said);
    globfree(&found);
    CHECK(cli_home_remove(&home), "something stays in %s", home.folder);
}

static const struct suite_test tests[] = {
    {"the viewer of Chrome shows what the file has", test_the_viewer_shows_what_the_file_has},
};
SUITE_MAIN("trace viewer", tests)
