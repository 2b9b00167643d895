#include "sim/workload/gpu/abi_skeleton.h"

#include "sim/base/json_out.h"

#include <string.h>

static json_object *three(uint32_t x, uint32_t y, uint32_t z)
{
    json_object *list = json_object_new_array();
    json_object_array_add(list, json_object_new_int64(x));
    json_object_array_add(list, json_object_new_int64(y));
    json_object_array_add(list, json_object_new_int64(z));
    return list;
}

static json_object *argument(const struct agx_argument *a, uint64_t threads)
{
    json_object *o = json_object_new_object();
    const bool buffer = strcmp(a->type, "u64") == 0;
    json_add_text(o, "name", a->name);
    json_add_count(o, "offset_bytes", a->offset_bytes);
    json_add_text(o, "kind", buffer ? "buffer" : "scalar");
    json_add_text(o, "dtype", buffer ? "f32" : a->type);
    if (buffer) {
        json_add_count(o, "count", threads);
        json_add_text(o, "initial", "zeros");
    } else {
        json_add_count(o, "value", 0);
    }
    return o;
}

static json_object *place(size_t offset, size_t end)
{
    json_object *o = json_object_new_object();
    json_add_count(o, "offset", offset);
    json_add_count(o, "end_of_code", end);
    return o;
}

static json_object *constants(const struct agx_assembly *a)
{
    json_object *o = json_object_new_object();
    json_add_count(o, "file_offset", a->constants_offset);
    json_add_count(o, "first_uniform_halfreg", a->constant_first_half);
    json_add_count(o, "count_halfregs", a->constant_halves);
    return o;
}

static json_object *launch(const struct agx_assembly *a, uint64_t *threads)
{
    const bool stated = a->local_size[0] != 0;
    const uint32_t size[3] = {stated ? a->local_size[0] : 32, stated ? a->local_size[1] : 1, stated ? a->local_size[2] : 1};
    json_object *o = json_object_new_object();
    json_object_object_add(o, "threads_per_threadgroup", three(size[0], size[1], size[2]));
    json_object_object_add(o, "threadgroups", three(1, 1, 1));
    *threads = (uint64_t)size[0] * size[1] * size[2];
    return o;
}

struct json_object *abi_skeleton(const struct agx_assembly *a, const char *name)
{
    json_object *top = json_object_new_object(), *files = json_object_new_object(), *args = json_object_new_array();
    uint64_t threads;
    if (!top || !files || !args)
        return NULL;
    json_add_text(top, "name", name);
    json_add_text(files, "code", "code.bin");
    json_object_object_add(top, "files", files);
    json_object_object_add(top, "main", place(a->main_offset, a->main_end));
    json_object_object_add(top, "preamble", a->has_preamble ? place(a->preamble_offset, a->preamble_end) : NULL);
    json_object_object_add(top, "constants", a->constant_halves ? constants(a) : NULL);
    json_add_count(top, "gpr_halfregs", a->register_halves);
    json_add_count(top, "threadgroup_memory_bytes", a->threadgroup_memory_bytes);
    json_add_count(top, "stack_words_per_thread", a->stack_words);
    json_object_object_add(top, "launch", launch(a, &threads));
    for (unsigned i = 0; i < a->argument_count; i++)
        json_object_array_add(args, argument(&a->arguments[i], threads));
    json_object_object_add(top, "args", args);
    return top;
}
