/* Assembles code that is given as assembler text; its directives supply what the description leaves out. */
#include "sim/workload/gpu/abi_internal.h"

#include <stdlib.h>
#include <string.h>

bool abi_kernel_take_code(struct abi_kernel *k, const struct agx_assembly *a, struct orch_error *error)
{
    uint8_t *code = malloc(a->code_bytes + 1);
    if (!code)
        return orch_no_memory(error);
    memcpy(code, a->code, a->code_bytes);
    free(k->code);
    k->code = code;
    k->code_bytes = a->code_bytes;
    k->main_offset = (uint32_t)a->main_offset;
    k->has_preamble = a->has_preamble;
    k->preamble_offset = (uint32_t)a->preamble_offset;
    k->constants_offset = (uint32_t)a->constants_offset;
    k->constants_first = a->constant_first_half;
    k->constants_count = a->constant_halves;
    k->register_halves = a->register_halves;
    k->threadgroup_memory_bytes = a->threadgroup_memory_bytes;
    k->stack_words = a->stack_words;
    return true;
}

bool abi_assemble(struct abi_reader *r, const struct json_node *node)
{
    struct abi_kernel *k = r->kernel;
    struct isa_error why = {0};
    struct agx_assembly *a = &r->assembly;
    if (!agx_assemble((const char *)k->code, k->code_bytes, a, &why))
        return json_wrong(node, "code", "%.100s:%lu: %s", k->code_name, why.line, why.text);
    if (!abi_kernel_take_code(k, a, r->error))
        return false;
    memcpy(k->group, a->local_size, sizeof k->group);
    r->assembled = true;
    return true;
}

const struct agx_argument *abi_assembled_arg(const struct abi_reader *r, const char *name)
{
    for (unsigned i = 0; r->assembled && i < r->assembly.argument_count; i++)
        if (strcmp(r->assembly.arguments[i].name, name) == 0)
            return &r->assembly.arguments[i];
    return NULL;
}

bool abi_check_assembled_args(const struct abi_reader *r, const struct json_node *top)
{
    for (unsigned i = 0; r->assembled && i < r->assembly.argument_count; i++) {
        const struct agx_argument *a = &r->assembly.arguments[i];
        if (!abi_kernel_arg(r->kernel, a->name))
            return json_wrong(top, "args", "the assembler text has the argument %s (%s), which is not listed", a->name, a->type);
    }
    return true;
}
