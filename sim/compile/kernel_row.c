#include "sim/compile/kernel_row.h"

#include "sim/base/checksum.h"
#include "sim/base/suggest.h"
#include "sim/compile/compile_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A name that arguments may use. */
struct named {
    const char *name; /* not terminated */
    size_t length;
    const char *form;
    unsigned buffer; /* NONE until an argument has it */
};

enum { NONE = UINT32_MAX };

struct builder {
    const struct kernel_row_request *request;
    struct kernel_row *row;
    struct named *named;
    size_t names, name_room;
    size_t room; /* of row->buffer */
    struct orch_error *error;
};

/* ---- names ---- */

/* The letters of a name at the beginning of a text; 0 = it begins with none. */
static size_t name_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return isdigit((unsigned char)text[0]) ? 0 : n;
}

static struct named *find_name(const struct builder *b, const char *name, size_t length)
{
    for (size_t i = 0; i < b->names; i++)
        if (b->named[i].length == length && strncmp(b->named[i].name, name, length) == 0)
            return &b->named[i];
    return NULL;
}

static struct named *add_name(struct builder *b, const char *name, size_t length, const char *form)
{
    if (length >= sizeof b->row->buffer->name || !length) {
        orch_fail(b->error, ORCH_USAGE, "'%.60s' is no name for a buffer: a letter, then at most 46 letters, digits and _", name);
        return NULL;
    }
    if (find_name(b, name, length)) {
        orch_fail(b->error, ORCH_USAGE, "buffer %.*s is there already: to use it again write %.*s alone", (int)length, name,
                  (int)length, name);
        return NULL;
    }
    struct named *const n = &b->named[b->names++]; /* there is room for one an argument */
    *n = (struct named){name, length, form, NONE};
    return n;
}

static bool unknown_name(const struct builder *b, const char *text)
{
    char word[64], phrase[96];
    struct suggest s;
    char(*const candidate)[48] = calloc(b->names + 1, sizeof *candidate);
    snprintf(word, sizeof word, "%.63s", text);
    suggest_start(&s, word);
    for (size_t i = 0; candidate && i < b->names; i++) {
        snprintf(candidate[i], sizeof *candidate, "%.*s", (int)b->named[i].length, b->named[i].name);
        suggest_offer(&s, candidate[i]);
    }
    orch_fail(b->error, ORCH_USAGE, "no buffer is named '%s' so far%s (name one where it is described: %s=f32:1024)", word,
              suggest_phrase(&s, phrase, sizeof phrase), word);
    free(candidate);
    return false;
}

/* The form of an argument, without its name; *named is NULL for an argument without. */
static const char *form_of(struct builder *b, const char *text, struct named **named)
{
    const size_t length = name_length(text);
    *named = NULL;
    if (length && text[length] == '=') {
        *named = add_name(b, text, length, text + length + 1);
        return *named ? text + length + 1 : NULL;
    }
    if (!length || text[length])
        return text;
    *named = find_name(b, text, length);
    return *named ? (*named)->form : (unknown_name(b, text), NULL);
}

/* ---- buffers ---- */

/* A buffer that begins as the argument does, whose contents it takes over. */
static bool add_buffer(struct builder *b, unsigned step, struct abi_arg *a, const struct named *named, unsigned *number)
{
    struct kernel_row *const row = b->row;
    if (row->buffers == b->room) {
        const size_t room = b->room ? 2 * b->room : 16;
        struct kernel_row_buffer *const grown = realloc(row->buffer, room * sizeof *grown);
        if (!grown)
            return orch_no_memory(b->error);
        row->buffer = grown;
        b->room = room;
    }
    struct kernel_row_buffer *const k = &row->buffer[row->buffers];
    *k = (struct kernel_row_buffer){.bytes = a->bytes,
                                    .count = a->count,
                                    .type = a->type,
                                    .read_only = a->unchanged,
                                    .number = a->unchanged && a->constant,
                                    .initial = a->initial,
                                    .save = a->save};
    if (named)
        snprintf(k->name, sizeof k->name, "%.*s", (int)named->length, named->name);
    else
        snprintf(k->name, sizeof k->name, "%u.%.36s", step + 1, a->name);
    a->initial = NULL;
    a->save = NULL;
    *number = row->buffers++;
    return true;
}

static bool place_argument(struct builder *b, unsigned step, unsigned arg, struct named *named)
{
    struct abi_arg *const a = &b->row->step[step].arg[arg];
    unsigned *const place = &b->row->place[step][arg];
    if (!a->buffer)
        return true;
    if (named && named->buffer != NONE)
        *place = named->buffer;
    else if (!add_buffer(b, step, a, named, place))
        return false;
    if (named)
        named->buffer = *place;
    free(a->initial);
    a->initial = NULL;
    if (a->save)
        free(a->save->path);
    free(a->save);
    a->save = NULL;
    a->start = ABI_START_ZEROS;
    a->unchanged = false; /* what one step reads another may write */
    return true;
}

static bool bounded(const struct builder *b)
{
    return kernel_row_bytes(b->row) <= (double)ABI_BUFFERS_MAX ||
           orch_fail(b->error, ORCH_USAGE, "the buffers have more than the 8 GiB that can be simulated");
}

/* ---- steps ---- */

static bool add_warnings(struct kernel_row *row, const char *text)
{
    const size_t before = strlen(row->warnings);
    char *const grown = text && *text ? realloc(row->warnings, before + strlen(text) + 1) : row->warnings;
    if (grown != row->warnings)
        strcpy(grown + before, text);
    row->warnings = grown ? grown : row->warnings;
    return grown != NULL;
}

static bool compile(struct builder *b, unsigned number)
{
    struct compile_result r;
    const struct compile_request *const how = &b->request->step[number].how;
    bool ok = compile_source(how, &r, b->error) && compile_lines(&r, how, &r.kernel.source, b->error);
    if (ok) {
        b->row->step[number] = r.kernel;
        r.kernel = (struct abi_kernel){.path = NULL};
        ok = add_warnings(b->row, r.warnings) || orch_no_memory(b->error);
    }
    compile_result_free(&r);
    return ok;
}

static bool complete(struct builder *b, unsigned number, const char **form, struct named **named)
{
    const struct kernel_step *const s = &b->request->step[number];
    struct abi_kernel *const k = &b->row->step[number];
    struct kernel_launch launch = s->launch;
    for (size_t i = 0; i < launch.arg_count; i++)
        if (!(form[i] = form_of(b, s->launch.args[i], &named[i])))
            return false;
    launch.args = form;
    if (!kernel_launch_complete(k, &launch, b->error))
        return false;
    for (unsigned i = 0; i < launch.arg_count; i++) /* what lies behind them is the launch's own */
        if (!place_argument(b, number, i, named[i]))
            return false;
    return bounded(b);
}

static bool add_step(struct builder *b, unsigned number)
{
    const size_t args = b->request->step[number].launch.arg_count;
    const char **const form = calloc(args + 1, sizeof *form);
    struct named **const named = calloc(args + 1, sizeof *named);
    bool ok = (form && named) || orch_no_memory(b->error);
    ok = ok && compile(b, number) && complete(b, number, form, named);
    free(form);
    free(named);
    return ok ||
           (b->request->steps > 1 ? orch_fail_in(b->error, "step %u (%.200s)", number + 1, b->request->step[number].how.path)
                                  : false);
}

/* The buffer of that name gets what the file has. */
static bool add_expected(struct builder *b, const char *name, const char *file)
{
    const struct named *const named = find_name(b, name, strlen(name));
    struct npy_array array;
    if (!named || named->buffer == NONE)
        return named ? orch_fail(b->error, ORCH_USAGE, "expect.%.60s: no step uses that buffer", name) : unknown_name(b, name);
    struct kernel_row_buffer *const k = &b->row->buffer[named->buffer];
    if (!npy_load(file, &array, b->error))
        return false;
    const bool fits = array.bytes == k->bytes && array.type == element_type_npy(k->type);
    k->expected = fits ? malloc(k->bytes) : NULL;
    if (k->expected)
        memcpy(k->expected, array.data, k->bytes);
    if (!fits)
        orch_fail(b->error, ORCH_USAGE,
                  "%.200s: %zu bytes of another type or length than buffer %.60s (%s, %" PRIu64 " elements)", file, array.bytes,
                  name, element_type_name(k->type), k->count);
    else if (!k->expected)
        orch_no_memory(b->error);
    npy_release(&array);
    return k->expected != NULL;
}

static uint64_t hash(const struct kernel_row *row)
{
    uint64_t h = CHECKSUM_START;
    for (unsigned s = 0; s < row->steps; s++) {
        h = checksum_add(h, &row->step[s].hash, sizeof row->step[s].hash);
        for (unsigned i = 0; i < row->step[s].args; i++)
            if (row->step[s].arg[i].buffer)
                h = checksum_add(h, &row->place[s][i], sizeof row->place[s][i]);
    }
    for (unsigned i = 0; i < row->buffers; i++) {
        h = checksum_add(h, row->buffer[i].name, strlen(row->buffer[i].name) + 1);
        if (row->buffer[i].expected)
            h = checksum_add(h, row->buffer[i].expected, row->buffer[i].bytes);
    }
    const double limits[] = {row->compare.rtol, row->compare.atol};
    return row->compare.mode == ABI_COMPARE_TOL ? checksum_add(h, limits, sizeof limits) : h;
}

static bool begin(struct builder *b)
{
    const struct kernel_row_request *const q = b->request;
    struct kernel_row *const row = b->row;
    size_t names = q->names;
    for (unsigned i = 0; i < q->steps; i++)
        names += q->step[i].launch.arg_count;
    b->named = calloc(names + 1, sizeof *b->named);
    row->step = calloc(q->steps, sizeof *row->step);
    row->place = calloc(q->steps, sizeof *row->place);
    row->warnings = strdup("");
    if (!b->named || !row->step || !row->place || !row->warnings)
        return orch_no_memory(b->error);
    for (unsigned i = 0; i < q->names; i++)
        if (!add_name(b, q->name[i], name_length(q->name[i]) == strlen(q->name[i]) ? strlen(q->name[i]) : 0, q->form[i]))
            return false;
    return true;
}

bool kernel_row_open(const struct kernel_row_request *request, struct kernel_row *row, struct orch_error *error)
{
    struct builder b = {.request = request, .row = row, .error = error};
    *row = (struct kernel_row){.steps = 0};
    bool ok = (request->steps && request->steps <= KERNEL_ROW_STEPS) ||
              orch_fail(error, ORCH_USAGE, "a row has 1 to %d kernels, not %u", KERNEL_ROW_STEPS, request->steps);
    ok = ok && begin(&b);
    while (ok && row->steps < request->steps) /* one that fails is freed with the rest */
        ok = add_step(&b, row->steps++);
    for (unsigned i = 0; ok && i < request->names; i++)
        ok = b.named[i].buffer != NONE || orch_fail(error, ORCH_USAGE, "buffer %.60s: no step uses it", request->name[i]);
    row->compare = request->compare;
    for (unsigned i = 0; ok && i < request->expects; i++)
        ok = add_expected(&b, request->expect_name[i], request->expect_file[i]);
    if (ok)
        row->hash = hash(row);
    free(b.named);
    return ok;
}

bool kernel_row_of(const struct abi_kernel *kernel, struct kernel_row *row, struct orch_error *error)
{
    *row = (struct kernel_row){.borrowed = true,
                               .step = malloc(sizeof *row->step),
                               .steps = 1,
                               .place = calloc(1, sizeof *row->place),
                               .buffer = calloc(ABI_ARGS_MAX, sizeof *row->buffer),
                               .warnings = strdup(""),
                               .hash = kernel->hash};
    if (!row->step || !row->place || !row->buffer || !row->warnings)
        return orch_no_memory(error);
    row->step[0] = *kernel;
    for (unsigned i = 0; i < kernel->args; i++) {
        const struct abi_arg *const a = &kernel->arg[i];
        if (!a->buffer)
            continue;
        row->place[0][i] = row->buffers;
        row->buffer[row->buffers] = (struct kernel_row_buffer){
            .bytes = a->bytes, .count = a->count, .type = a->type, .read_only = a->unchanged, .initial = a->initial};
        memcpy(row->buffer[row->buffers++].name, a->name, sizeof a->name);
    }
    return true;
}

void kernel_row_free(struct kernel_row *row)
{
    for (unsigned i = 0; row->step && i < row->steps && !row->borrowed; i++)
        abi_kernel_free(&row->step[i]);
    for (unsigned i = 0; i < row->buffers && !row->borrowed; i++) {
        free(row->buffer[i].initial);
        free(row->buffer[i].expected);
        if (row->buffer[i].save)
            free(row->buffer[i].save->path);
        free(row->buffer[i].save);
    }
    free(row->step);
    free(row->place);
    free(row->buffer);
    free(row->warnings);
    *row = (struct kernel_row){.steps = 0};
}

double kernel_row_bytes(const struct kernel_row *row)
{
    double sum = 0;
    for (unsigned i = 0; i < row->buffers; i++)
        sum += (double)row->buffer[i].bytes;
    return sum;
}
