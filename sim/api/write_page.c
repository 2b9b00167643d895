#include "sim/api/write_page.h"

#include "sim/base/output_file.h"
#include "sim/base/suggest.h"

#include <string.h>

/* Finds the figure of that title; the error of an unknown one suggests the nearest. */
static bool find_figure(const struct page *page, const char *title, size_t *index, struct orch_error *error)
{
    struct suggest nearest;
    char phrase[160];
    suggest_start(&nearest, title);
    for (*index = 0; page_picture_title(page, *index); ++*index) {
        if (strcmp(page_picture_title(page, *index), title) == 0)
            return true;
        suggest_offer(&nearest, page_picture_title(page, *index));
    }
    return orch_fail(error, ORCH_USAGE, "no figure '%.100s' on this page%s", title,
                     suggest_phrase(&nearest, phrase, sizeof phrase));
}

bool verb_write_page(struct api_context *context, struct page *page, const char *name, struct orch_error *error)
{
    char usual[64];
    const char *const figure = api_value(&context->args, "figure"), *const given = api_value(&context->args, "output");
    snprintf(usual, sizeof usual, "%.40s.%s", name, figure ? "svg" : "html");
    const char *const path = given ? given : usual;
    const bool standard = strcmp(path, "-") == 0;
    size_t index = 0;
    if (figure && !find_figure(page, figure, &index, error))
        return false;
    struct output_file *const file = standard ? NULL : output_file_open(path, OUTPUT_PLAIN, error);
    FILE *const out = standard ? context->out : file ? output_file_stream(file) : NULL;
    const bool rendered = out && (figure ? page_write_picture(page, index, out) : page_write(page, out));
    if (standard)
        return rendered || orch_fail(error, ORCH_USAGE, "%.400s: cannot be written, or memory is short", path);
    const bool ok = file && output_file_flush(file, error) && (rendered || orch_no_memory(error));
    if (!ok)
        output_file_discard(file);
    if (!ok || !output_file_commit(file, error))
        return false;
    api_note(context, "%s", path);
    return true;
}
