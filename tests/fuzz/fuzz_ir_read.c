/* Arbitrary text as LLVM IR: nothing crashes, and what is read prints as text that reads and prints the same. Since no random
 * bytes are a module, half of the inputs are changes to one: each four bytes say where and which piece of text goes there. */
#include "isa/agx/compiler/ir_read.h"
#include "isa/array_count.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char module_text[] =
    "target triple = \"spir64\"\n"
    "%t = type { i32, <{ i8, float }>, [2 x half] }\n"
    "@s = private addrspace(2) constant [4 x i8] c\"abc\\00\", section \"llvm.metadata\"\n"
    "@g = internal addrspace(3) global [8 x <4 x float>] undef, align 16\n"
    "@c = addrspace(2) constant %t { i32 1, <{ i8, float }> <{ i8 2, float 0x3FF0000000000000 }>, [2 x half] zeroinitializer }\n"
    "@a = global [1 x { ptr, ptr addrspace(2) }] [{ ptr, ptr addrspace(2) } { ptr @k, ptr addrspace(2) @s }], align 8\n"
    "define spir_kernel void @k(ptr addrspace(1) noundef align 4 %0, i32 %n, float %f) #0 !dbg !3 !kernel_arg_name !6 "
    "!reqd_work_group_size !7 {\n"
    "entry:\n"
    "  %p = alloca %t, align 4\n"
    "  %q = getelementptr inbounds %t, ptr %p, i64 0, i32 2, i64 1\n"
    "  store half 0xH3C00, ptr %q, align 2, !dbg !4\n"
    "  call void @llvm.var.annotation.p0.p2(ptr %p, ptr addrspace(2) @s, ptr addrspace(2) @s, i32 1, ptr null)\n"
    "  br label %loop, !dbg !4\n"
    "loop:\n"
    "  %i = phi i32 [ 0, %entry ], [ %j, %next ]\n"
    "  %v = load <4 x float>, ptr addrspace(3) getelementptr ([8 x <4 x float>], ptr addrspace(3) @g, i64 0, i64 3)\n"
    "  %e = extractelement <4 x float> %v, i32 1\n"
    "  %w = insertelement <4 x float> %v, float %e, i32 0\n"
    "  %s = shufflevector <4 x float> %w, <4 x float> poison, <2 x i32> <i32 1, i32 undef>\n"
    "  %x = call fast spir_func float @h(float %e, i32 noundef %i) #1, !dbg !4\n"
    "  %d = fcmp ogt float %x, 1.5\n"
    "  %y = select i1 %d, float %x, float %f\n"
    "  %u = fptoui float %y to i64\n"
    "  %m = atomicrmw add ptr addrspace(1) %0, i32 %i seq_cst\n"
    "  %o = cmpxchg ptr addrspace(1) %0, i32 %m, i32 -1 acq_rel monotonic\n"
    "  %r = extractvalue { i32, i1 } %o, 1\n"
    "  %l = builtin float simd_reduce(float %y) [1]\n"
    "  switch i32 %m, label %next [\n"
    "    i32 1, label %out\n"
    "    i32 -7, label %next\n"
    "  ]\n"
    "next:\n"
    "  %j = add nuw nsw i32 %i, 1\n"
    "  %b = icmp ult i32 %j, %n\n"
    "  br i1 %b, label %loop, label %out\n"
    "out:\n"
    "  ret void, !place(9, 0)\n"
    "}\n"
    "declare spir_func float @h(float, i32)\n"
    "!3 = distinct !DISubprogram(name: \"k\", file: !5, line: 1, scope: !5)\n"
    "!4 = !DILocation(line: 12, column: 3, scope: !3)\n"
    "!5 = !DIFile(filename: \"a.cl\", directory: \"/\")\n"
    "!6 = !{!\"a\", !\"n\", !\"f\"}\n"
    "!7 = !{i32 8, i32 4, i32 1}\n";

static const char *const pieces[] = {
    "",
    " ",
    "\n",
    ",",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "i1",
    "i8",
    "i32 ",
    "i64 ",
    "float ",
    "half ",
    "ptr ",
    "%t ",
    "void ",
    "%i",
    "%v",
    "%0",
    "%p",
    "@g",
    "@k",
    "@h",
    "@c",
    "!4",
    "!3",
    "!dbg ",
    "0",
    "-1",
    "1.0",
    "null",
    "undef ",
    "poison",
    "true",
    "add ",
    "fma ",
    "ret void\n",
    "br ",
    "label ",
    "phi ",
    "fast ",
    "nuw ",
    "zext ",
    "bitcast ",
    " to ",
    "align 8",
    "0x7FF",
    "zeroinitializer",
    "c\"x\"",
    "\"",
    "addrspace(4)",
    "volatile ",
    "atomic ",
    "=",
    "unreachable\n",
    "load ",
    "store ",
    "held i8",
    " offset -2",
    "4294967295",
    "99999999999999999999",
    "metadata ",
    "...",
    "x:\n",
    "<4 x i32> ",
    "splat (i32 1)",
    "select ",
    "inttoptr (i64 8 to ptr)",
};

static char *print(const struct ir_module *m, size_t *bytes)
{
    char *text = NULL;
    FILE *const out = open_memstream(&text, bytes);
    if (!out)
        abort();
    ir_print_module(out, m);
    fclose(out);
    return text;
}

static void check(const char *text, size_t bytes)
{
    struct isa_error error = {.text = ""};
    struct ir_module *const m = ir_read(text, bytes, &error);
    if (!m) {
        if (error.text[0] == '\0')
            abort();
        return;
    }
    size_t first_bytes, second_bytes;
    char *const first = print(m, &first_bytes);
    struct ir_module *const again = ir_read(first, first_bytes, &error);
    if (!again)
        abort();
    char *const second = print(again, &second_bytes);
    if (first_bytes != second_bytes || memcmp(first, second, first_bytes) != 0)
        abort();
    for (const struct ir_function *f = ir_module_functions(again); f; f = f->next)
        (void)ir_verify_lowered(f, &error);
    ir_module_free(m);
    ir_module_free(again);
    free(first);
    free(second);
}

/* Four bytes: where, how much goes, what comes. */
static void change(const uint8_t *data, size_t size)
{
    enum { ROOM = 16384 };
    char *const text = malloc(ROOM);
    size_t bytes = sizeof module_text - 1;
    if (!text)
        abort();
    memcpy(text, module_text, bytes);
    for (size_t i = 0; i + 4 <= size && i < 64; i += 4) {
        const char *const piece = pieces[data[i + 3] % ARRAY_COUNT(pieces)];
        const size_t at = (data[i] | (size_t)data[i + 1] << 8) % bytes, length = strlen(piece);
        const size_t gone = data[i + 2] % 8 < bytes - at ? data[i + 2] % 8 : bytes - at;
        memmove(text + at + length, text + at + gone, bytes - at - gone);
        memcpy(text + at, piece, length);
        bytes += length - gone;
    }
    check(text, bytes);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size && data[0] & 1)
        change(data + 1, size - 1);
    else
        check((const char *)data, size);
    return 0;
}
