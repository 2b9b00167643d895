/* Schemas of documents: real documents are held against them by python3-jsonschema, and documents with a wrong key, too. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static struct cli_home home = {.name = "schema", .options = "-q"};

/* Holds every document.N of a folder against its schema.N: prints what does not hold, a line each, and ends with 77 when there is
 * no jsonschema. A list holds when its members do. */
static const char validator[] =
    "import itertools,json,os,sys\n"
    "try:\n"
    "    import jsonschema\n"
    "except ImportError:\n"
    "    sys.exit(77)\n"
    "for n in itertools.count():\n"
    "    paths = ['%s/%s.%d' % (sys.argv[1], p, n) for p in ('schema', 'document')]\n"
    "    if not os.path.exists(paths[1]):\n"
    "        break\n"
    "    schema, document = (json.load(open(p)) for p in paths)\n"
    "    V = jsonschema.validators.validator_for(schema, jsonschema.Draft7Validator)\n"
    "    V.check_schema(schema)\n"
    "    bad = [(list(e.absolute_path), e.message[:200]) for d in (document if isinstance(document, list) "
    "else [document]) for e in V(schema).iter_errors(d)]\n"
    "    print(n, 'bad' if bad else 'holds', *bad[:3])\n";

static bool write_text(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    FILE *const f = fopen(path, "w");
    return f && fputs(text, f) >= 0 && fclose(f) == 0;
}

static bool write_numbered(const char *name, size_t number, const char *text)
{
    char numbered[40];
    snprintf(numbered, sizeof numbered, "%s.%zu", name, number);
    return write_text(numbered, text);
}

/* What the validator prints of all documents of the folder; false: there is no jsonschema. */
static bool validate(char *said, size_t size)
{
    char line[600];
    if (!write_text("v.py", validator))
        return false;
    snprintf(line, sizeof line, "python3 %s/v.py %s 2>&1", home.folder, home.folder);
    FILE *const f = popen(line, "r");
    const size_t used = f ? fread(said, 1, size - 1, f) : 0;
    said[used] = 0;
    const int code = f ? pclose(f) >> 8 : -1;
    CHECK(code == 0 || code == 77, "%d: %s", code, said);
    if (code == 77)
        suite_skip("no python3-jsonschema");
    return code == 0;
}

/* What the validator says of a document: "holds", "bad ..." or nothing. */
static const char *verdict_of(const char *said, size_t number, char line[400])
{
    char begin[24];
    snprintf(begin, sizeof begin, "%zu ", number);
    *line = 0;
    for (const char *at = said; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n'))
        if (strncmp(at, begin, strlen(begin)) == 0)
            snprintf(line, 400, "%.*s", (int)(strcspn(at, "\n") - strlen(begin)), at + strlen(begin));
    return line;
}

static void test_documents_hold(void)
{
    static const struct {
        const char *document, *line;
    } rows[] = {
        {"run", "run gemm:64x64x64 --json"},
        {"run", "run gemm:64x64x64 --unit gpu --chip m1,m2 --json"},
        {"run", "run gemm:64x64x64 --unit all --json"},
        {"run", "run softmax:64x64 --unit ane --json"},
        {"run", "run gemm:64x64x64 --mode functional --json"},
        {"run", "run gemm:64x64x64 --device macbook-air --duration 10 --json"},
        {"run", "run stream-triad:1M[unit=gpu] + gemm:64x64x64 --json"},
        {"run", "run model:shufflenet-v2 --mode timing --unit gpu --json"},
        {"run",
         "run " ORCHARD_SOURCE_DIR "/tests/examples/models/stories.gguf --unit gpu --prompt-text Once --generate 2 --json"},
        {"run", "run model:qwen2.5-0.5b --unit gpu --precision q8_0 --prompt 4 --generate 1 --detail op --json"},
        {"sweep", "sweep gemm:64x64x64 -L amx.clock_ghz=2:3:3 -L chip=m1,m2 -j 1 --json"},
        {"sweep", "sweep gemm:64x64x64 -L precision=f16,fp32 -j 1 --json"},
        {"compare", "compare 1 2 --json"},
        {"compare", "compare 1 last --json"},
        {"compare_several", "compare 1 2 last --json"},
        {"validate", "validate --every 1500 --group-by chip --json"},
        {"check", "isa check amx tests/golden/amx/genlut.txt.gz --json"},
    };
    static char said[20000];
    char line[400];
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!cli_ask(&home, "schema %s", rows[i].document) || !write_numbered("schema", i, home.outcome.out))
            return;
        cli_ask(&home, "%s", rows[i].line);
        CHECK(home.outcome.out[0], "%s: no document: %s", rows[i].line, home.outcome.err);
        write_numbered("document", i, home.outcome.out[0] ? home.outcome.out : "null");
    }
    if (validate(said, sizeof said))
        for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
            CHECK(strcmp(verdict_of(said, i, line), "holds") == 0, "orchard %s: %s", rows[i].line, line);
    cli_home_remove(&home);
}

/* A schema that holds for everything would be none. */
static void test_wrong_documents_do_not_hold(void)
{
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"\"seconds\":", "\"second\":"},
        {"\"chip\":\"", "\"chip\":1,\"chip_\":\""},
        {"\"joules_by\":{", "\"joules_by\":{\"x\":\"much\","},
        {"\"placement\":[", "\"placement\":[{\"op\":1},"},
    };
    char said[4000], changed[1 << 15], line[400];
    if (!cli_ask(&home, "schema run"))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        write_numbered("schema", i, home.outcome.out);
    cli_ask(&home, "run gemm:64x64x64 --json");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *const at = strstr(home.outcome.out, rows[i].from);
        CHECK(at != NULL, "%s", rows[i].from);
        if (!at)
            return;
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - home.outcome.out), home.outcome.out, rows[i].to,
                 at + strlen(rows[i].from));
        if (!write_numbered("document", i, changed))
            return;
    }
    if (validate(said, sizeof said))
        for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
            CHECK(strncmp(verdict_of(said, i, line), "bad", 3) == 0, "%s holds: %s", rows[i].to, line);
    cli_home_remove(&home);
}

static void test_unknown_documents(void)
{
    static const struct cli_wrong rows[] = {
        {"schema rnu", 2, "did you mean run?"}, {"schema a b", 2, "one document"}, {"schema zzzz", 2, "run|sweep"}};
    cli_all_wrong(&home, rows, ARRAY_COUNT(rows));
}

static const struct suite_test tests[] = {
    {"documents hold", test_documents_hold},
    {"wrong documents do not", test_wrong_documents_do_not_hold},
    {"unknown documents are refused", test_unknown_documents},
};
SUITE_MAIN("schema", tests)
