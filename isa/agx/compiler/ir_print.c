/* The text of modules: LLVM's as far as it goes (llvm.org/docs/LangRef.html), with values named by their numbers. What LLVM has
 * not is written in its manner, and ir_read takes it as well:
 *
 *     !file "kernel.cl"                                         files, numbered from 0
 *     define spir_kernel void @k(ptr addrspace(1) %0 name("a")) group(64, 1, 1) host("k_f32") {
 *     %4 = builtin i32 global_id(i32 0)                         a list follows in brackets: simd_reduce(float %3) [1]
 *     %5 = fma float %1, %2, %3
 *     %6 = getelementptr i32, ptr addrspace(1) %0, i32 %4 offset -3
 *     %7 = load i32 held i8, ptr addrspace(1) %6, align 1
 *     ..., !place(12, 0)                                        line and number of the file
 *     ..., !annotation("buffer(0)")
 */
#include "isa/agx/compiler/ir_parts.h"

#include <inttypes.h>
#include <string.h>

static const char *const conditions[] = {"eq",  "ne",    "ugt", "uge", "ult", "ule", "sgt", "sge", "slt",
                                         "sle", "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                         "uno", "ueq",   "ugt", "uge", "ult", "ule", "une", "true"};

void ir_print_type(FILE *out, const struct ir_type *type)
{
    switch (type->kind) {
    case IR_VOID: fputs("void", out); return;
    case IR_LABEL: fputs("label", out); return;
    case IR_METADATA: fputs("metadata", out); return;
    case IR_INT: fprintf(out, "i%u", type->bits); return;
    case IR_FLOAT: fputs(type->bits == 16 ? "half" : type->bits == 32 ? "float" : "double", out); return;
    case IR_POINTER:
        fputs("ptr", out);
        if (type->space != IR_PRIVATE)
            fprintf(out, " addrspace(%d)", (int)type->space);
        return;
    case IR_VECTOR:
    case IR_ARRAY:
        fprintf(out, "%c%" PRIu64 " x ", type->kind == IR_VECTOR ? '<' : '[', type->count);
        ir_print_type(out, type->element);
        fputc(type->kind == IR_VECTOR ? '>' : ']', out);
        return;
    case IR_STRUCT: break;
    }
    fputs(type->packed ? "<{" : "{", out);
    for (uint64_t i = 0; i < type->count; i++) {
        fputs(i ? ", " : " ", out);
        ir_print_type(out, type->member[i]);
    }
    fputs(type->packed ? " }>" : type->count ? " }" : "}", out);
}

static void print_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ' || (unsigned char)*text > '~')
            fprintf(out, "\\%02X", (unsigned char)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

static void print_name(FILE *out, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._$-";
    fputc('@', out);
    if (*name && name[strspn(name, plain)] == '\0')
        fputs(name, out);
    else
        print_quoted(out, name);
}

/* ---- operands ---- */

static void print_operand(FILE *out, const struct ir_value *v);

static void print_typed(FILE *out, const struct ir_value *v)
{
    ir_print_type(out, v->type);
    fputc(' ', out);
    print_operand(out, v);
}

/* Floats are written by their bits, which says all and needs no rounding. */
static void print_constant(FILE *out, const struct ir_value *v)
{
    const struct ir_type *const type = v->type;
    if (type->kind == IR_INT && type->bits == 1)
        fputs(v->bits ? "true" : "false", out);
    else if (type->kind == IR_INT && type->bits < 64 && v->bits >> (type->bits - 1) & 1)
        fprintf(out, "%" PRId64, (int64_t)(v->bits | ~UINT64_C(0) << type->bits));
    else if (type->kind == IR_INT && type->bits == 64)
        fprintf(out, "%" PRId64, (int64_t)v->bits);
    else if (type->kind == IR_INT)
        fprintf(out, "%" PRIu64, v->bits);
    else if (type->kind == IR_FLOAT)
        fprintf(out, "bits(0x%0*" PRIx64 ")", (int)(type->bits / 4), v->bits);
    else if (type->kind == IR_POINTER && v->bits)
        fprintf(out, "address(0x%" PRIx64 ")", v->bits);
    else
        fputs(type->kind == IR_POINTER ? "null" : "zeroinitializer", out);
}

static void print_aggregate(FILE *out, const struct ir_value *v)
{
    const struct ir_type *const type = v->type;
    fputs(type->kind == IR_VECTOR ? "<" : type->kind == IR_ARRAY ? "[" : type->packed ? "<{ " : "{ ", out);
    for (unsigned i = 0; i < v->operands; i++) {
        if (i)
            fputs(", ", out);
        print_typed(out, v->operand[i]);
    }
    fputs(type->kind == IR_VECTOR ? ">" : type->kind == IR_ARRAY ? "]" : type->packed ? " }>" : " }", out);
}

static void print_operand(FILE *out, const struct ir_value *v)
{
    switch (v->op) {
    case IR_CONSTANT: print_constant(out, v); return;
    case IR_UNDEFINED: fputs("undef", out); return;
    case IR_AGGREGATE: print_aggregate(out, v); return;
    case IR_GLOBAL:
    case IR_FUNCTION: print_name(out, v->name); return;
    default: fprintf(out, "%%%u", v->id); return;
    }
}

static void print_operands(FILE *out, const struct ir_value *v, unsigned from)
{
    for (unsigned i = from; i < v->operands; i++) {
        if (i > from)
            fputs(", ", out);
        print_typed(out, v->operand[i]);
    }
}

static void print_block_name(FILE *out, const struct ir_block *b)
{
    fprintf(out, "label %%b%u", b->id);
}

static void print_list(FILE *out, const struct ir_value *v)
{
    fputs(" [", out);
    for (unsigned i = 0; i < v->lists; i++)
        fprintf(out, i ? ", %u" : "%u", v->list[i]);
    fputc(']', out);
}

/* ---- instructions ---- */

static void print_phi(FILE *out, const struct ir_value *v)
{
    ir_print_type(out, v->type);
    for (unsigned i = 0; i < v->operands; i++) {
        fputs(i ? ", [ " : " [ ", out);
        print_operand(out, v->operand[i]);
        fprintf(out, ", %%b%u ]", i < v->blocks ? v->block[i]->id : 0);
    }
}

static void print_shuffle(FILE *out, const struct ir_value *v)
{
    print_operands(out, v, 0);
    fprintf(out, ", <%u x i32> <", v->lists);
    for (unsigned i = 0; i < v->lists; i++) {
        fputs(i ? ", i32 " : "i32 ", out);
        if (v->list[i] == IR_NO_LANE)
            fputs("undef", out);
        else
            fprintf(out, "%u", v->list[i]);
    }
    fputc('>', out);
}

static void print_call(FILE *out, const struct ir_value *v)
{
    ir_print_type(out, v->type);
    fputc(' ', out);
    if (v->op == IR_BUILTIN)
        fputs(ir_builtin_name(v->builtin), out);
    else
        print_operand(out, v->operand[0]);
    fputc('(', out);
    print_operands(out, v, v->op == IR_CALL);
    fputc(')', out);
    if (v->op == IR_BUILTIN && v->lists)
        print_list(out, v);
}

static void print_memory(FILE *out, const struct ir_value *v)
{
    if (v->is_volatile)
        fputs("volatile ", out);
    if (v->op == IR_LOAD || v->op == IR_STORE) {
        if (v->op == IR_LOAD)
            ir_print_type(out, v->type);
        else
            print_typed(out, v->operand[0]);
        if (v->held) {
            fputs(" held ", out);
            ir_print_type(out, v->held);
        }
        fputs(", ", out);
        print_operands(out, v, v->op == IR_STORE);
    } else {
        ir_print_type(out, v->held);
        if (v->operands)
            fputs(", ", out);
        print_operands(out, v, 0);
    }
    if (v->op == IR_GEP && v->offset)
        fprintf(out, " offset %d", v->offset);
    if (v->op != IR_GEP && v->align)
        fprintf(out, ", align %u", v->align);
    if (v->op == IR_ALLOCA && v->type->space != IR_PRIVATE)
        fprintf(out, ", addrspace(%d)", (int)v->type->space);
}

static void print_end(FILE *out, const struct ir_value *v)
{
    if (v->op == IR_RETURN && !v->operands)
        fputs("void", out);
    if (v->op != IR_SWITCH) {
        print_operands(out, v, 0);
        for (unsigned i = 0; i < v->blocks; i++) {
            if (i || v->operands)
                fputs(", ", out);
            print_block_name(out, v->block[i]);
        }
        return;
    }
    print_typed(out, v->operand[0]);
    fputs(", ", out);
    print_block_name(out, v->block[0]);
    fputs(" [", out);
    for (unsigned i = 1; i < v->operands && i < v->blocks; i++) {
        fputs(i > 1 ? "  " : " ", out);
        print_typed(out, v->operand[i]);
        fputs(", ", out);
        print_block_name(out, v->block[i]);
    }
    fputs(" ]", out);
}

static void print_rest(FILE *out, const struct ir_value *v)
{
    if (v->op == IR_ICMP || v->op == IR_FCMP)
        fprintf(out, "%s ", v->condition <= IR_TRUE ? conditions[v->condition] : "?");
    switch (ir_op_kind(v->op)) {
    case IR_KIND_BINARY:
    case IR_KIND_COMPARE:
        print_typed(out, v->operand[0]);
        fputs(", ", out);
        print_operand(out, v->operand[1]);
        return;
    case IR_KIND_CONVERT:
        print_operands(out, v, 0);
        fputs(" to ", out);
        ir_print_type(out, v->type);
        return;
    case IR_KIND_MEMORY: print_memory(out, v); return;
    case IR_KIND_BUILTIN: print_call(out, v); return;
    case IR_KIND_END: print_end(out, v); return;
    default: break;
    }
    switch (v->op) {
    case IR_PHI: print_phi(out, v); return;
    case IR_SHUFFLE: print_shuffle(out, v); return;
    case IR_CALL: print_call(out, v); return;
    default: print_operands(out, v, 0); break;
    }
    for (unsigned i = 0; i < v->lists; i++)
        fprintf(out, ", %u", v->list[i]);
}

static const char *written_op(const struct ir_value *v)
{
    switch (v->op) {
    case IR_JUMP:
    case IR_BRANCH: return "br";
    case IR_RETURN: return "ret";
    default: return ir_op_name(v->op);
    }
}

static void print_value(FILE *out, const struct ir_value *v)
{
    fputs("  ", out);
    if (v->type->kind != IR_VOID)
        fprintf(out, "%%%u = ", v->id);
    fputs(written_op(v), out);
    if (v->fast)
        fputs(" fast", out);
    if (v->exact)
        fputs(" nuw", out);
    if (v->op != IR_UNREACHABLE)
        fputc(' ', out);
    print_rest(out, v);
    if (v->annotation) {
        fputs(", !annotation(", out);
        print_quoted(out, v->annotation);
        fputc(')', out);
    }
    if (v->line)
        fprintf(out, ", !place(%u, %u)", v->line, v->file);
    fputc('\n', out);
}

/* ---- functions and globals ---- */

static void print_argument(FILE *out, const struct ir_function *f, unsigned i)
{
    const struct ir_value *const v = f->argument[i];
    ir_print_type(out, v->type);
    if (f->by_value[i]) {
        fputs(" byval(", out);
        ir_print_type(out, f->by_value[i]);
        fputc(')', out);
    }
    if (v->reach)
        fprintf(out, " dereferenceable(%" PRIu64 ")", v->reach);
    fprintf(out, " %%%u", v->id);
    if (v->name) {
        fputs(" name(", out);
        print_quoted(out, v->name);
        fputc(')', out);
    }
    if (v->annotation) {
        fputs(" annotation(", out);
        print_quoted(out, v->annotation);
        fputc(')', out);
    }
}

void ir_print_function(FILE *out, const struct ir_function *f)
{
    fprintf(out, "%s%s ", f->declared_only ? "declare" : "define", f->kernel ? " spir_kernel" : "");
    ir_print_type(out, f->result);
    fputc(' ', out);
    print_name(out, f->name);
    fputc('(', out);
    for (unsigned i = 0; i < f->arguments; i++) {
        if (i)
            fputs(", ", out);
        print_argument(out, f, i);
    }
    fputs(!f->variadic ? ")" : f->arguments ? ", ...)" : "...)", out);
    if (f->group_size[0])
        fprintf(out, " group(%u, %u, %u)", f->group_size[0], f->group_size[1], f->group_size[2]);
    if (f->host_name) {
        fputs(" host(", out);
        print_quoted(out, f->host_name);
        fputc(')', out);
    }
    const char *const annotation = ir_function_inside(f)->value ? ir_function_inside(f)->value->annotation : NULL;
    if (annotation) {
        fputs(" annotation(", out);
        print_quoted(out, annotation);
        fputc(')', out);
    }
    if (f->declared_only) {
        fputc('\n', out);
        return;
    }
    fputs(" {\n", out);
    for (const struct ir_block *b = f->first; b; b = b->next) {
        fprintf(out, "b%u:\n", b->id);
        for (const struct ir_value *v = b->first; v; v = v->next)
            print_value(out, v);
    }
    fputs("}\n", out);
}

static void print_global(FILE *out, const struct ir_value *v)
{
    print_name(out, v->name);
    fputs(" = ", out);
    if (v->type->space != IR_PRIVATE)
        fprintf(out, "addrspace(%d) ", (int)v->type->space);
    fputs(v->exact ? "constant " : "global ", out);
    ir_print_type(out, v->held);
    fputc(' ', out);
    if (v->initial)
        print_operand(out, v->initial);
    else
        fputs("undef", out);
    if (v->align)
        fprintf(out, ", align %u", v->align);
    if (v->annotation) {
        fputs(", !annotation(", out);
        print_quoted(out, v->annotation);
        fputc(')', out);
    }
    fputc('\n', out);
}

void ir_print_module(FILE *out, const struct ir_module *m)
{
    for (size_t i = 0; i < m->files; i++) {
        fputs("!file ", out);
        print_quoted(out, m->file[i]);
        fputc('\n', out);
    }
    for (const struct ir_value *v = m->first_global; v; v = v->next)
        print_global(out, v);
    for (const struct ir_function *f = m->first_function; f; f = f->next) {
        fputc('\n', out);
        ir_print_function(out, f);
    }
}
