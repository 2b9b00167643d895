/* Kernels in a row as a JSON file. */
#include "sim/compile/kernel_row.h"

#include "isa/array_count.h"
#include "sim/base/json_read.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 1024, LIST_MAX = 256 };

struct kernel_row_file {
    struct json_reader reader;
    struct kernel_step step[KERNEL_ROW_STEPS];
    const char *name[NAMES_MAX], *form[NAMES_MAX], *expect_name[NAMES_MAX], *expect_file[NAMES_MAX];
    const char *list[KERNEL_ROW_STEPS][4][LIST_MAX + 1]; /* args, define, include, constant */
    char *made[KERNEL_ROW_STEPS * (LIST_MAX + 1)];       /* names with the folder in front */
    size_t mades;
    char folder[4096]; /* of the file, with its slash */
};

bool kernel_row_is(const uint8_t *text, size_t size)
{
    struct json_reader r;
    struct orch_error unused = {0};
    if (!abi_is_description(text, size) || !json_reader_open(&r, "", (const char *)text, size, &unused))
        return false;
    const struct json_node top = json_top(&r);
    const bool is = json_has(&top, "steps");
    json_reader_close(&r);
    return is;
}

/* The name as the file's folder sees it. */
static const char *beside(struct kernel_row_file *f, const struct json_node *node, const char *name)
{
    if (name[0] == '/' || !f->folder[0])
        return name;
    const size_t size = strlen(f->folder) + strlen(name) + 1;
    char *const made = f->mades < ARRAY_COUNT(f->made) ? malloc(size) : NULL;
    if (!made) {
        json_wrong(node, NULL, "too many names of files");
        return name;
    }
    snprintf(made, size, "%s%s", f->folder, name);
    return f->made[f->mades++] = made;
}

static size_t read_list(const struct json_node *step, const char *name, const char **list)
{
    const struct json_node array = json_find_array(step, name, 0, LIST_MAX);
    struct json_node item;
    size_t count = 0;
    for (struct json_walk walk = {.of = &array}; json_next(&walk, &item);)
        list[count++] = json_get_scalar(&item, NULL);
    return count;
}

static void read_extent(const struct json_node *step, const char *name, uint32_t extent[3])
{
    if (json_has(step, name) && json_ok(step) &&
        !kernel_launch_extent(name, json_get_scalar(step, name), extent, step->reader->error))
        json_wrong_in(step, name);
}

static void read_step(struct kernel_row_file *f, unsigned number, const struct json_node *node)
{
    static const char *const known[] = {"kernel", "entry",    "grid",     "group",     "args",
                                        "define", "constant", "optimise", "fast_math", "include"};
    struct kernel_step *const s = &f->step[number];
    const char **const args = f->list[number][0], **const define = f->list[number][1], **const include = f->list[number][2],
                       **const constant = f->list[number][3];
    if (!json_known(node, known, ARRAY_COUNT(known)) || !json_require(node, "kernel", "add \"kernel\": \"K.metal\""))
        return;
    s->how.path = beside(f, node, json_get_string(node, "kernel"));
    s->how.entry = json_find_string(node, "entry", NULL);
    s->how.optimise = (unsigned)json_find_integer(node, "optimise", 0, 3, 2);
    s->how.fast_math = json_find_boolean(node, "fast_math", false);
    read_extent(node, "grid", s->launch.grid);
    read_extent(node, "group", s->launch.group);
    s->launch.arg_count = read_list(node, "args", args);
    s->launch.args = args;
    s->how.defines = read_list(node, "define", define);
    s->how.define = define;
    s->how.constants = read_list(node, "constant", constant);
    s->how.constant = constant;
    s->how.includes = read_list(node, "include", include);
    s->how.include = include;
    for (size_t i = 0; i < s->how.includes; i++)
        include[i] = beside(f, node, include[i]);
}

/* Members that are texts, with their names; their number. */
static unsigned read_texts(const struct json_node *object, const char **name, const char **text)
{
    struct json_node item;
    unsigned count = 0;
    for (struct json_walk walk = {.of = object}; json_next(&walk, &item); count++) {
        if (count == NAMES_MAX) {
            json_wrong(&item, NULL, "more than %d buffers", NAMES_MAX);
            return count;
        }
        name[count] = item.name;
        text[count] = json_get_string(&item, NULL);
    }
    return count;
}

static void read_top(struct kernel_row_file *f, const struct json_node *top, struct kernel_row_request *q)
{
    static const char *const known[] = {"buffers", "steps", "expect", "rtol", "atol"};
    struct json_node item;
    if (!json_known(top, known, ARRAY_COUNT(known)))
        return;
    const struct json_node buffers = json_find_object(top, "buffers"), steps = json_get_array(top, "steps", 1, KERNEL_ROW_STEPS);
    const struct json_node expect = json_find_object(top, "expect");
    q->names = read_texts(&buffers, f->name, f->form);
    q->expects = read_texts(&expect, f->expect_name, f->expect_file);
    q->compare.rtol = json_find_number(top, "rtol", 0, 1e9, 0);
    q->compare.atol = json_find_number(top, "atol", 0, 1e30, 0);
    q->compare.mode = json_has(top, "rtol") || json_has(top, "atol") ? ABI_COMPARE_TOL : ABI_COMPARE_BITS;
    for (struct json_walk walk = {.of = &steps}; json_next(&walk, &item);)
        read_step(f, q->steps++, &item);
}

struct kernel_row_file *kernel_row_read(const char *path, const char *text, size_t size, struct kernel_row_request *request,
                                        struct orch_error *error)
{
    struct kernel_row_file *const f = calloc(1, sizeof *f);
    const char *const slash = strrchr(path, '/');
    if (!f) {
        orch_no_memory(error);
        return NULL;
    }
    *request = (struct kernel_row_request){
        .step = f->step, .name = f->name, .form = f->form, .expect_name = f->expect_name, .expect_file = f->expect_file};
    if (slash)
        snprintf(f->folder, sizeof f->folder, "%.*s", (int)(slash - path) + 1, path);
    if (!json_reader_open(&f->reader, path, text, size, error)) {
        free(f);
        return NULL;
    }
    const struct json_node top = json_top(&f->reader);
    if (json_names_differ(&f->reader, text, size))
        read_top(f, &top, request);
    if (f->reader.ok)
        return f;
    kernel_row_file_free(f);
    return NULL;
}

void kernel_row_file_free(struct kernel_row_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->mades; i++)
        free(f->made[i]);
    json_reader_close(&f->reader);
    free(f);
}
