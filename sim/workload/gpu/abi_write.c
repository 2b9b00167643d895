#include "sim/workload/gpu/abi_write.h"

#include "isa/agx/agx_coherent.h"
#include "sim/base/json_out.h"
#include "sim/base/output_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static json_object *three(const uint32_t n[3])
{
    json_object *const list = json_object_new_array();
    for (int i = 0; i < 3; i++)
        json_object_array_add(list, json_object_new_int64(n[i]));
    return list;
}

static json_object *place(uint32_t offset)
{
    json_object *const o = json_object_new_object();
    json_add_count(o, "offset", offset);
    return o;
}

static json_object *constants(const struct abi_kernel *k)
{
    json_object *const o = json_object_new_object();
    json_add_count(o, "file_offset", k->constants_offset);
    json_add_count(o, "first_uniform_halfreg", k->constants_first);
    json_add_count(o, "count_halfregs", k->constants_count);
    return o;
}

/* Numbers are written as such; those that JSON cannot say (an infinity, 64 bits) by their bytes. */
static void add_scalar(json_object *o, const struct abi_arg *a)
{
    const double number = element_read(a->type, a->scalar);
    char hex[2 * sizeof a->scalar + 1] = "";
    if (element_type_bytes(a->type) < 8 && number - number == 0) {
        json_object_object_add(o, "value",
                               element_type_float(a->type) ? json_exact_number(number) : json_object_new_int64((int64_t)number));
        return;
    }
    for (unsigned i = 0; i < a->size; i++)
        snprintf(hex + 2 * i, 3, "%02x", a->scalar[i]);
    json_add_text(o, "bytes_hex", hex);
}

static json_object *argument(const struct abi_arg *a)
{
    json_object *const o = json_object_new_object();
    char file[80];
    json_add_text(o, "name", a->name);
    json_add_count(o, "offset_bytes", a->offset);
    json_add_text(o, "kind", a->buffer ? "buffer" : "scalar");
    json_add_text(o, "dtype", element_type_name(a->type));
    if (!a->buffer) {
        add_scalar(o, a);
        return o;
    }
    snprintf(file, sizeof file, "in_%s.bin", a->name);
    json_add_count(o, "count", a->count);
    json_add_text(o, "initial", a->start == ABI_START_BYTES ? file : "zeros");
    if (a->unchanged)
        json_add_text(o, "expected", "unchanged");
    return o;
}

#define PLAIN    "code.bin"
#define COHERENT "code.g13x.bin"

/* Which chips take which image, when there are two. */
static json_object *targets(void)
{
    static const char *const plain[] = {"g13g", "g14g", "g14x", "g15"};
    json_object *const o = json_object_new_object(), *const one = json_object_new_array(), *const other = json_object_new_array();
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        json_object_array_add(one, json_object_new_string(plain[i]));
    json_object_array_add(other, json_object_new_string("g13x"));
    json_object_object_add(o, PLAIN, one);
    json_object_object_add(o, COHERENT, other);
    return o;
}

static json_object *document(const struct abi_kernel *k, bool coherent, json_object *more)
{
    json_object *const top = json_object_new_object(), *const files = json_object_new_object(),
                       *const launch = json_object_new_object(), *const args = json_object_new_array();
    if (!top || !files || !launch || !args)
        return NULL;
    json_add_text(top, "name", k->name);
    json_add_text(files, "code", PLAIN);
    if (coherent) {
        json_add_text(files, "code_g13x", COHERENT);
        json_object_object_add(top, "targets", targets());
    }
    json_object_object_add(top, "files", files);
    json_object_object_add(top, "main", place(k->main_offset));
    json_object_object_add(top, "preamble", k->has_preamble ? place(k->preamble_offset) : NULL);
    json_object_object_add(top, "constants", k->constants_count ? constants(k) : NULL);
    json_add_count(top, "argument_block_bytes", k->argument_bytes);
    json_add_count(top, "gpr_halfregs", k->register_halves);
    json_add_count(top, "threadgroup_memory_bytes", k->threadgroup_memory_bytes);
    json_add_count(top, "stack_words_per_thread", k->stack_words);
    json_object_object_add(launch, "threads_per_threadgroup", three(k->group));
    json_object_object_add(launch, "grid_threads", three(k->grid));
    json_object_object_add(top, "launch", launch);
    for (unsigned i = 0; i < k->args; i++)
        json_object_array_add(args, argument(&k->arg[i]));
    json_object_object_add(top, "args", args);
    if (more) {
        json_object_object_foreach(more, name, value)
        {
            json_object_object_add(top, name, json_object_get(value));
        }
    }
    return top;
}

static bool write_contents(const struct abi_kernel *k, const char *folder, struct orch_error *error)
{
    char path[PATH_MAX + 128];
    for (unsigned i = 0; i < k->args; i++) {
        if (!k->arg[i].buffer || k->arg[i].start != ABI_START_BYTES)
            continue;
        snprintf(path, sizeof path, "%s/in_%s.bin", folder, k->arg[i].name);
        if (!output_file_write(path, k->arg[i].initial, k->arg[i].bytes, error))
            return false;
    }
    return true;
}

/* The image for chips whose device atomics need the coherency bit; *has says whether there is one. */
static bool write_coherent(const struct abi_kernel *k, const char *folder, bool *has, struct orch_error *error)
{
    char path[PATH_MAX + 128];
    uint8_t *const code = malloc(k->code_bytes + 1);
    if (!code)
        return orch_no_memory(error);
    memcpy(code, k->code, k->code_bytes);
    *has = agx_make_coherent(code, k->main_offset, k->code_bytes);
    snprintf(path, sizeof path, "%s/" COHERENT, folder);
    const bool ok = !*has || output_file_write(path, code, k->code_bytes, error);
    free(code);
    return ok;
}

bool abi_write(const struct abi_kernel *k, struct json_object *more, const char *folder, struct orch_error *error)
{
    char path[PATH_MAX + 128];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return orch_fail(error, ORCH_USAGE, "%.300s: %s", folder, strerror(errno));
    bool coherent = false;
    snprintf(path, sizeof path, "%s/" PLAIN, folder);
    if (!output_file_write(path, k->code, k->code_bytes, error) || !write_coherent(k, folder, &coherent, error) ||
        !write_contents(k, folder, error))
        return false;
    json_object *const top = document(k, coherent, more);
    const char *const text = top ? json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED) : NULL;
    snprintf(path, sizeof path, "%s/abi.json", folder);
    const bool ok = text ? output_file_write(path, text, strlen(text), error) : orch_no_memory(error);
    json_object_put(top);
    return ok;
}
