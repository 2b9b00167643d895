/* Schemas of documents: real documents are held against them by python3-jsonschema, and documents with a wrong key, too. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static struct cli_home home = {.name = "schema", .options = "-q"};

/* Exits with 0 when every document holds, 1 when one does not, 77 when there is no jsonschema. A list holds when its members do.
 */
static const char validator[] =
    "import json,sys\n"
    "try:\n"
    "    import jsonschema\n"
    "except ImportError:\n"
    "    sys.exit(77)\n"
    "schema, document = (json.load(open(p)) for p in sys.argv[1:3])\n"
    "V = jsonschema.validators.validator_for(schema, jsonschema.Draft7Validator)\n"
    "V.check_schema(schema)\n"
    "bad = [(list(e.absolute_path), e.message[:200]) for d in (document if isinstance(document, list) "
    "else [document]) for e in V(schema).iter_errors(d)]\n"
    "[print(*b) for b in bad[:5]]\n"
    "sys.exit(1 if bad else 0)\n";

static bool write_text(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    FILE *const f = fopen(path, "w");
    return f && fputs(text, f) >= 0 && fclose(f) == 0;
}

/* The exit code of the validator for the files schema and document; what it prints goes into `said`. */
static int validate(char *said, size_t size)
{
    char line[600];
    snprintf(line, sizeof line, "python3 %s/v.py %s/schema %s/document 2>&1", home.folder, home.folder, home.folder);
    FILE *const f = popen(line, "r");
    const size_t used = f ? fread(said, 1, size - 1, f) : 0;
    said[used] = 0;
    const int status = f ? pclose(f) : -1;
    return status < 0 ? status : status >> 8;
}

static bool schema_file(const char *document)
{
    cli_home_open(&home);
    return write_text("v.py", validator) && cli_ask(&home, "schema %s", document) && write_text("schema", home.outcome.out);
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
        {"run", "run model:squeezenet-1.0 --mode timing --unit gpu --json"},
        {"run", "run model:llama-7b --unit gpu --precision q8_0 --prompt 16 --generate 2 --json"},
        {"sweep", "sweep gemm:64x64x64 -L amx.clock_ghz=2:3:3 -L chip=m1,m2 -j 1 --json"},
        {"sweep", "sweep gemm:64x64x64 -L precision=f16,fp32 -j 1 --json"},
        {"compare", "compare 1 2 --json"},
        {"compare", "compare 1 last --json"},
        {"compare_several", "compare 1 2 last --json"},
        {"validate", "validate --every 600 --group-by chip --json"},
        {"check", "isa check amx tests/golden/amx/genlut.txt.gz --json"},
    };
    char said[2000];
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!schema_file(rows[i].document) || !cli_ask(&home, "%s", rows[i].line))
            return;
        if (!home.outcome.out[0] || !write_text("document", home.outcome.out)) {
            CHECK(false, "%s: no document: %s", rows[i].line, home.outcome.err);
            continue;
        }
        const int code = validate(said, sizeof said);
        if (code == 77) {
            suite_skip("no python3-jsonschema");
            break;
        }
        CHECK(code == 0, "orchard %s: %d %s", rows[i].line, code, said);
    }
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
    char said[2000], changed[1 << 15];
    if (!schema_file("run") || !cli_ask(&home, "run gemm:64x64x64 --json"))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *const at = strstr(home.outcome.out, rows[i].from);
        CHECK(at != NULL, "%s", rows[i].from);
        if (!at)
            continue;
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - home.outcome.out), home.outcome.out, rows[i].to,
                 at + strlen(rows[i].from));
        if (!write_text("document", changed))
            break;
        const int code = validate(said, sizeof said);
        if (code == 77) {
            suite_skip("no python3-jsonschema");
            break;
        }
        CHECK(code == 1, "%s holds: %d %s", rows[i].to, code, said);
    }
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
