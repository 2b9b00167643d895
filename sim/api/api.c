#include "sim/api/api.h"

#include "sim/base/check.h"
#include "sim/base/json_out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cmd_fail(struct cmd_context *context, const struct orch_error *error)
{
    fprintf(context->err, "orchard: %s\n", error->text);
    if (error->exit_code == ORCH_INTERNAL)
        fprintf(context->err, "orchard: this is a mistake of orchard " ORCHARD_VERSION ", or the system is out of resources\n");
    return error->exit_code ? error->exit_code : ORCH_INTERNAL;
}

int cmd_usage(struct cmd_context *context, const char *format, ...)
{
    const char *name = context->verb ? context->verb->help.name : NULL;
    va_list args;
    va_start(args, format);
    fprintf(context->err, "orchard%s%s: ", name ? " " : "", name ? name : "");
    vfprintf(context->err, format, args);
    fprintf(context->err, " (see: orchard%s%s --help)\n", name ? " " : "", name ? name : "");
    va_end(args);
    return ORCH_USAGE;
}

void cmd_note(struct cmd_context *context, const char *format, ...)
{
    if (context->common.quiet)
        return;
    va_list args;
    va_start(args, format);
    vfprintf(context->err, format, args);
    fputc('\n', context->err);
    va_end(args);
}

struct chip_db *cmd_chip_db(struct cmd_context *context, struct orch_error *error)
{
    if (!context->chip_db)
        context->chip_db = chip_db_open(NULL, error);
    return context->chip_db;
}

static bool add_chip(struct cmd_context *context, const char *name, struct cmd_chips *chips, struct orch_error *error)
{
    const struct chip_overrides overrides = {context->common.sets, context->common.set_count};
    struct chip **grown = realloc(chips->chip, (chips->count + 1) * sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    chips->chip = grown;
    struct chip *chip = chip_open(context->chip_db, name, &overrides, error);
    if (chip)
        grown[chips->count++] = chip;
    return chip != NULL;
}

bool cmd_chips_open(struct cmd_context *context, const char *list, struct cmd_chips *chips, struct orch_error *error)
{
    *chips = (struct cmd_chips){0};
    if (!cmd_chip_db(context, error))
        return false;
    char *names = strdup(list ? list : context->common.chips), *rest = NULL;
    if (!names)
        return orch_no_memory(error);
    bool ok = true;
    for (char *name = strtok_r(names, ",", &rest); ok && name; name = strtok_r(NULL, ",", &rest))
        ok = add_chip(context, name, chips, error);
    free(names);
    if (ok && chips->count == 0)
        ok = orch_fail(error, ORCH_USAGE, "--chip: no chip named");
    if (!ok)
        cmd_chips_close(chips);
    return ok;
}

void cmd_chips_close(struct cmd_chips *chips)
{
    for (size_t i = 0; i < chips->count; i++)
        chip_close(chips->chip[i]);
    free(chips->chip);
    *chips = (struct cmd_chips){0};
}

bool cmd_read_file(const char *path, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    *bytes = NULL;
    *size = 0;
    if (!in)
        return orch_fail(error, ORCH_USAGE, "%.400s: %s", path, strerror(errno));
    size_t room = 0;
    bool ok = true;
    for (;;) {
        if (room - *size < 65536) {
            room = room ? room * 2 : 131072;
            uint8_t *grown = realloc(*bytes, room);
            ok = grown != NULL || orch_fail(error, ORCH_INTERNAL, "%.400s: does not fit into memory", path);
            if (!ok)
                break;
            *bytes = grown;
        }
        const size_t n = fread(*bytes + *size, 1, room - *size - 1, in);
        *size += n;
        if (n == 0)
            break;
    }
    if (ok && ferror(in))
        ok = orch_fail(error, ORCH_USAGE, "%.400s: %s", path, strerror(errno));
    if (!standard)
        fclose(in);
    if (ok)
        (*bytes)[*size] = 0;
    else
        free(*bytes);
    return ok;
}

bool cmd_write_file(const char *path, const void *bytes, size_t size, struct orch_error *error)
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return orch_fail(error, ORCH_USAGE, "%.400s: %s", path, strerror(errno));
    const bool written = fwrite(bytes, 1, size, out) == size;
    if (fclose(out) == 0 && written)
        return true;
    const int why = errno;
    unlink(path);
    return orch_fail(error, ORCH_USAGE, "%.400s: %s", path, strerror(why));
}

int cmd_print_report(struct cmd_context *context, const struct check_report *report)
{
    if (context->common.json) {
        json_object *document = check_report_json(report);
        if (document)
            json_print(document, context->out);
    } else {
        check_print_details(report, context->out);
        check_print_closing(report, context->out);
    }
    return check_holds(report) ? ORCH_OK : ORCH_FAILED;
}
