#define _GNU_SOURCE /* asprintf */
#include "sim/api/sweep_slurm.h"

#include "sim/base/json_out.h"
#include "sim/base/output_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct plan {
    struct api_context *context;
    char *folder, *db, *binary; /* absolute, quoted for the shell where a script has them */
    char *array, *merge;        /* texts of the scripts */
    uint64_t shards;
};

static void plan_free(struct plan *p)
{
    free(p->folder);
    free(p->db);
    free(p->binary);
    free(p->array);
    free(p->merge);
}

/* Quotes a text for a shell: 'text'. NULL when memory is short. */
static char *quoted(const char *text)
{
    size_t length = 3;

    for (const char *c = text; *c; c++)
        length += *c == '\'' ? 4 : 1;
    char *const out = malloc(length), *o = out;
    if (!out)
        return NULL;
    *o++ = '\'';
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            memcpy(o, "'\\''", 4);
            o += 4;
        } else {
            *o++ = *c;
        }
    }
    *o++ = '\'';
    *o = 0;
    return out;
}

static char *absolute(const char *path)
{
    char folder[PATH_MAX], *text = NULL;

    if (*path == '/')
        return strdup(path);
    if (!getcwd(folder, sizeof folder) || asprintf(&text, "%s/%s", folder, path) < 0)
        return NULL;
    return text;
}

/* Each shard has a file of its own: job arrays often share a network file system whose locks cannot be relied on. */
static bool write_texts(struct plan *p)
{
    char *const folder = quoted(p->folder), *const db = quoted(p->db), *const binary = quoted(p->binary);
    bool ok = folder && db && binary;

    ok = ok && asprintf(&p->array,
                        "#!/bin/sh\n"
                        "#SBATCH --job-name=orchard-sweep\n"
                        "#SBATCH --array=0-%llu\n"
                        "#SBATCH --cpus-per-task=1\n"
                        "cd %s || exit 2\n"
                        "exec %s sweep spec.json --quiet --jobs 1 --rows 0 --shard \"$SLURM_ARRAY_TASK_ID/%llu\" "
                        "--db \"shard-$SLURM_ARRAY_TASK_ID.db\" > \"shard-$SLURM_ARRAY_TASK_ID.log\" 2>&1\n",
                        (unsigned long long)p->shards - 1, folder, binary, (unsigned long long)p->shards) > 0;
    ok = ok && asprintf(&p->merge,
                        "#!/bin/sh\n"
                        "#SBATCH --job-name=orchard-merge\n"
                        "cd %s || exit 2\n"
                        "%s db merge shard-*.db --db %s > merge.log 2>&1 || exit\n"
                        "exec %s sweep spec.json --quiet --db %s > sweep.txt 2>> merge.log\n",
                        folder, binary, db, binary, db) > 0;
    free(folder);
    free(db);
    free(binary);
    return ok;
}

static bool plan_make(struct plan *p, struct orch_error *error)
{
    const char *const folder = api_value(&p->context->args, "slurm-folder");

    if (!api_unsigned(&p->context->args, "slurm", 1, 100000, &p->shards, error))
        return false;
    if (!p->context->session->program)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("slurm") ": the session does not say where the program is that jobs start");
    p->folder = absolute(folder ? folder : "orchard-slurm");
    p->db = absolute(p->context->common.db);
    p->binary = strdup(p->context->session->program);
    return (p->folder && p->db && p->binary && write_texts(p)) || orch_no_memory(error);
}

static bool write_text(const struct plan *p, const char *name, const char *text, struct orch_error *error)
{
    char path[PATH_MAX + 128];

    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    return output_file_write(path, text, strlen(text), error);
}

static bool write_files(const struct plan *p, const struct sweep_spec *spec, struct orch_error *error)
{
    if (mkdir(p->folder, 0777) != 0 && errno != EEXIST)
        return orch_fail(error, ORCH_USAGE, "%.300s: %s", p->folder, strerror(errno));
    char *const json = sweep_spec_json(spec);
    const bool ok = json ? write_text(p, "spec.json", json, error) && write_text(p, "array.sh", p->array, error) &&
                               write_text(p, "merge.sh", p->merge, error)
                         : orch_no_memory(error);
    free(json);
    return ok;
}

/* Runs sbatch and reads the id that --parsable prints. */
static bool submit(const struct plan *p, const char *options, const char *script, char id[32], struct orch_error *error)
{
    char *const folder = quoted(p->folder), *command = NULL;
    char line[128] = "";

    if (!folder || asprintf(&command, "cd %s && sbatch --parsable --output=/dev/null %s %s 2>&1", folder, options, script) < 0) {
        free(folder);
        return orch_no_memory(error);
    }
    FILE *const pipe = popen(command, "r");
    if (pipe && !fgets(line, sizeof line, pipe))
        *line = 0;
    const int status = pipe ? pclose(pipe) : -1;
    free(folder);
    free(command);
    line[strcspn(line, "\n")] = 0;
    if (status != 0 || line[0] < '0' || line[0] > '9')
        return orch_fail(error, ORCH_USAGE, "sbatch: %s", *line ? line : "does not run; is Slurm installed?");
    snprintf(id, 32, "%.*s", (int)strcspn(line, ";"), line);
    return true;
}

static int print_scripts(const struct plan *p)
{
    fprintf(p->context->out, "# %s/array.sh\n%s\n# %s/merge.sh, when all shards have ended\n%s", p->folder, p->array, p->folder,
            p->merge);
    return ORCH_OK;
}

/* afterany: a shard that was killed leaves points open, which the merge job finishes. */
static bool submit_both(const struct plan *p, struct orch_error *error)
{
    char array[32], merge[32], options[80];

    if (!submit(p, "", "array.sh", array, error))
        return false;
    snprintf(options, sizeof options, "--dependency=afterany:%s", array);
    if (!submit(p, options, "merge.sh", merge, error))
        return false;
    if (api_wants_document(p->context)) {
        json_object *const o = json_object_new_object();
        json_add_text(o, "array", array);
        json_add_text(o, "merge", merge);
        json_add_text(o, "folder", p->folder);
        api_document(p->context, o);
    }
    if (api_wants_text(p->context))
        fprintf(p->context->out, "array %s, merge %s; answers go to %s, the summary to %s/sweep.txt\n", array, merge, p->db,
                p->folder);
    return true;
}

int sweep_slurm(struct api_context *context, const struct sweep_spec *spec)
{
    struct orch_error error = {0};
    struct plan plan = {.context = context};
    int code = ORCH_OK;

    if (!plan_make(&plan, &error))
        code = api_fail(context, &error);
    else if (api_has(&context->args, "dry-run"))
        code = print_scripts(&plan);
    else if (!write_files(&plan, spec, &error) || !submit_both(&plan, &error))
        code = api_fail(context, &error);
    plan_free(&plan);
    return code;
}
