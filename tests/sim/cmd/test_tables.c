/* Tables for other tools: what --csv prints, read by Python's csv module and beside --json; the recipes of tests/examples/tables.
 */
#include "sim/api/csv_rows.h"
#include "isa/array_count.h"
#include "tests/sim/shell_example.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/orchard-tables-XXXXXX";
static char out[1 << 16];

static bool prepare(void)
{
    char line[300];
    if (!cli_in_path(folder))
        return false;
    snprintf(line, sizeof line, "%s/own.db", folder);
    setenv("ORCHARD_DB", line, 1);
    return true;
}

/* Every cell of the table is the member of the document with its column's name. */
static void test_tables_are_documents(void)
{
    static const char *const lines[] = {
        "run gemm:64x64x64 --unit all --chip m1,m2",
        "run gemm:64x64x64 --device macbook-air --duration 10",
        "compare 1 2 3",
        "compare 1 2",
        "sweep gemm:64x64x64 -L precision=f16,fp32 -L chip=m1,m2 -j 1",
        "validate --every 800",
    };
    static const char script[] = "import csv,json\n"
                                 "d=json.load(open('d.json')); t=list(csv.DictReader(open('d.csv',newline='')))\n"
                                 "r=d if isinstance(d,list) else d.get('rows_detail') or d.get('runs') or "
                                 "[dict(x,workload=w['workload']) for w in d.get('workloads',[]) for x in w['rows']] or "
                                 "[dict(v,number=k) for k,v in d.get('numbers',{}).items()] or [d]\n"
                                 "assert len(r)==len(t)>0,(len(r),len(t))\n"
                                 "def get(o,path):\n"
                                 "    while path:\n"
                                 "        if path in o: return o[path]\n"
                                 "        k=next((k for k in o if path.startswith(k+'.')),None)\n"
                                 "        if k is None: return None\n"
                                 "        o,path=o[k],path[len(k)+1:]\n"
                                 "for a,b in zip(r,t):\n"
                                 "    for k,v in b.items():\n"
                                 "        w=get(a,k)\n"
                                 "        if k in ('host_seconds','run_id'): continue\n"
                                 "        same=v=='' if w is None or w=='' else float(v)==float(w) if isinstance(w,(int,float)) "
                                 "and not isinstance(w,bool) else "
                                 "v.lower()==str(w).lower() if isinstance(w,bool) else v.lstrip(\"'\")==w.lstrip(\"'\")\n"
                                 "        assert same,(k,v,w)\n"
                                 "raw=open('d.csv','rb').read()\n"
                                 "assert raw.endswith(b'\\r\\n')\n";
    if (!prepare())
        return;
    suite_write_text(folder, "check.py", script);
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        char line[400];
        snprintf(line, sizeof line, "orchard -q %s --json > d.json; orchard -q %s --csv > d.csv && python3 check.py", lines[i],
                 lines[i]);
        const int code = shell_run(folder, line, out, sizeof out);
        CHECK(code == 0, "%s: %d %s", lines[i], code, out);
    }
    CHECK(shell_run(folder, "orchard run gemm:64x64x64 --csv --json", out, sizeof out) == 2 && strstr(out, "one of them"), "%s",
          out);
}

/* What others have named: formulas stay texts, quotes and lines stay in their cell, nothing speaks to a terminal. */
static void test_hostile_texts(void)
{
    static const struct {
        const char *text, *cell;
    } rows[] = {
        {"=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""},
        {"+1", "\"'+1\""},
        {"-2+3", "\"'-2+3\""},
        {"@SUM(A1)", "\"'@SUM(A1)\""},
        {"\tx", "\"'\tx\""},
        {"a,b", "\"a,b\""},
        {"say \"no\"", "\"say \"\"no\"\"\""},
        {"two\r\nlines", "\"two\r\nlines\""},
        {"\033[31mred\007", "?[31mred?"},
        {"<script>", "<script>"},
        {"../../etc", "../../etc"},
        {"µ", "µ"},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char *text = NULL, expected[200];
        size_t size = 0;
        json_object *const list = json_object_new_array(), *const row = json_object_new_object();
        json_object_object_add(row, "number", json_object_new_double(-2.5));
        json_object_object_add(row, "=name", json_object_new_string(rows[i].text));
        json_object_array_add(list, row);
        FILE *const f = open_memstream(&text, &size);
        CHECK(csv_rows_print(f, list), "memory");
        fclose(f);
        snprintf(expected, sizeof expected, "number,\"'=name\"\r\n-2.5,%s\r\n", rows[i].cell);
        CHECK(strcmp(text, expected) == 0, "%s: %s", rows[i].text, text);
        free(text);
        json_object_put(list);
    }
}

/* Debian's Python may have packages that another one in the path lacks. */
#define A_PYTHON_WITH_PANDAS "p=python3; $p -c 'import pandas' || p=/usr/bin/python3; "

struct block_kind {
    const char *mark, *needs, *run,
        *says; /* needs: a command that fails where something is missing; says: what the block prints */
    unsigned ran, skipped;
};

static void run_block(struct block_kind *kind, const char *block)
{
    if (kind->needs && shell_run(folder, kind->needs, out, sizeof out) != 0) {
        kind->skipped++;
        return;
    }
    suite_write_text(folder, "block", block);
    const int code = shell_run(folder, kind->run, out, sizeof out);
    CHECK(code == 0 && strstr(out, kind->says), "%s: %d %s", block, code, out);
    kind->ran++;
}

/* The blocks of the page, one after another: commands of the shell, Python, and pandas. */
static void test_recipes(void)
{
    enum { KINDS = 3 };
    struct block_kind kinds[KINDS] = {{.mark = "python with pandas",
                                       .needs = A_PYTHON_WITH_PANDAS "$p -c 'import pandas'",
                                       .run = A_PYTHON_WITH_PANDAS "$p block",
                                       .says = "m1_4p4e_8g"},
                                      {.mark = "python", .run = "python3 block", .says = "m1_4p4e_8g amx "},
                                      {.mark = "", .run = "sh -e block", .says = ""}};
    FILE *const f = fopen(ORCHARD_SOURCE_DIR "/tests/examples/tables/README.md", "r");
    char line[1000], block[8000] = "";
    struct block_kind *kind = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    if (!prepare())
        return;
    CHECK(shell_run(folder, "orchard examples copy examples", out, sizeof out) == 0, "%s", out);
    while (fgets(line, sizeof line, f)) {
        const bool fence = strncmp(line, "```", 3) == 0;
        if (kind && fence) {
            run_block(kind, block);
            kind = NULL;
        } else if (kind) {
            strncat(block, line, sizeof block - strlen(block) - 1);
        } else if (fence) {
            block[0] = 0;
            for (kind = kinds; strncmp(line + 3, kind->mark, strlen(kind->mark)) != 0; kind++)
                ;
        }
    }
    fclose(f);
    for (size_t i = 0; i < KINDS; i++)
        CHECK(kinds[i].ran + kinds[i].skipped == 1, "%u blocks of '%s'", kinds[i].ran, kinds[i].mark);
    if (kinds[0].skipped)
        suite_skip("Python has no pandas (Debian package python3-pandas); the other recipes ran");
    CHECK(suite_remove(folder), "%s", folder);
}

static const struct suite_test tests[] = {
    {"tables are documents", test_tables_are_documents},
    {"hostile texts stay texts", test_hostile_texts},
    {"recipes run", test_recipes},
};
SUITE_MAIN("tables", tests)
