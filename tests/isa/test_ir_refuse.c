/* What the reader of LLVM's text refuses, with the line of it. */
#include "isa/array_count.h"
#include "tests/isa/ir_text.h"

struct refusal {
    const char *text;
    unsigned long line;
    const char *message;
};

static void check_refusals(const struct refusal *refusals, size_t count, const char *before, const char *after)
{
    for (size_t i = 0; i < count; i++) {
        char text[1024];
        struct isa_error error = {.text = ""};
        snprintf(text, sizeof text, "%s%s%s", before, refusals[i].text, after);
        struct ir_module *const m = ir_read(text, strlen(text), &error);
        CHECK(m == NULL, "%s is accepted", refusals[i].text);
        CHECK(error.line == refusals[i].line, "%s: line %lu (%s)", refusals[i].text, error.line, error.text);
        CHECK(strstr(error.text, refusals[i].message) != NULL, "%s: %s instead of %s", refusals[i].text, error.text,
              refusals[i].message);
        ir_module_free(m);
    }
}

static void test_refused_lines(void)
{
    static const struct refusal lines[] = {
        {"%x = va_arg ptr %p, i32", 3, "instruction va_arg is not supported: %x = va_arg"},
        {"invoke void @f() to label %a unwind label %b", 3, "instruction invoke is not supported"},
        {"%x = add i32 %y, 1", 3, "%y is not defined"},
        {"%x = add i32 %i, 1\n  %x = add i32 %i, 1", 4, "%x is defined twice"},
        {"%x = add i64 %i, 1", 3, "%i is of another type"},
        {"%x = add i32 %i, 4294967296", 3, "does not fit 32 bits"},
        {"%x = fadd float 0.1, 1.0", 3, "not exact in 32 bits"},
        {"%x = fadd i32 %i, %i", 3, "computes with floats only"},
        {"%x = trunc i32 %i to i64", 3, "does not convert 32 to 64 bits"},
        {"%x = fadd bfloat 1.0, 1.0", 3, "type bfloat is not supported"},
        {"%x = fadd x86_fp80 0xK3FFF8000000000000000, 0xK3FFF8000000000000000", 3, "type x86_fp80 is not supported"},
        {"%x = load i32, i32* %p", 3, "typed pointers"},
        {"%x = load i32, ptr addrspace(5) %p", 3, "address space 5 is not known"},
        {"%x = load <vscale x 4 x i32>, ptr %p", 3, "unknown length"},
        {"%x = load %t, ptr %p", 3, "type %t is not defined"},
        {"%x = call i32 asm \"nop\", \"\"()", 3, "inline assembly is not supported"},
        {"call void %p()", 3, "calls through pointers are not supported"},
        {"call void @nobody()", 3, "function @nobody is not declared"},
        {"call void @f(i32 1)", 3, "gives f 1 arguments instead of 2"},
        {"call i32 (ptr, ...) @f(ptr %p)", 3, "gives f 1 arguments instead of 2"},
        {"call void @f(i32 1, ptr null) [ \"deopt\"(i32 1) ]", 3, "operand bundles are not supported"},
        {"%x = atomicrmw nand ptr %p, i32 1 monotonic", 3, "this kind of atomicrmw is not supported"},
        {"%x = cmpxchg ptr %p, ptr null, ptr null monotonic monotonic", 3, "cmpxchg is supported of integers only"},
        {"%x = icmp huge i32 1, 2", 3, "expected a condition"},
        {"%x = getelementptr i32, ptr %p, i32 1, i32 2", 3, "leads into what has no parts"},
        {"%x = extractvalue {i32} undef, 1", 3, "leads out of its type"},
        {"store i32 1, ptr %p, align 3", 3, "the alignment is 3"},
        {"store i32 1, ptr blockaddress(@f, %x)", 3, "the constant is not supported"},
        {"%x = add i32 1, 2 3", 3, "something stands behind"},
        {"%x = add i32 1, 2, !dbg !9", 3, "metadata !9 is not defined"},
        {"%x = add i8 trunc (i32 1 to i16), 1", 3, "gives another type"},
        {"store i32 1, ptr \"", 3, "quotes do not close"},
        {"%x = builtin i32 nothing()", 3, "this builtin is not known"},
        {"%x = builtin i32 global_id()", 3, "has 0 operands instead of 1"},
    };
    static const struct refusal ends[] = {
        {"br label %x", 4, "block %x is not defined"},
        {"br label %entry\nx:\n  unreachable", 3, "leads back to the entry"},
        {"br label %x\nx:\n  %y = phi i32 [ 1, %x ]\n  br label %x", 5, "its block has 2 predecessors"},
        {"br i1 true, label %x, label %x\nx:\n%y = phi i32 [ 1, %entry ], [ 2, %entry ]\nunreachable", 5,
         "two values for one block"},
        {"ret i32 1", 3, "does not give what the function returns"},
        {"ret void\n  ret void", 4, "behind the end of its block"},
    };
    static const char head[] = "; text\ndefine void @f(i32 %i, ptr %p) {\n  ",
                      labelled[] = "; text\ndefine void @f(i32 %i, ptr %p) {\nentry: ";
    check_refusals(lines, ARRAY_COUNT(lines), head, "\n  unreachable\n}\n");
    check_refusals(ends, ARRAY_COUNT(ends), labelled, "\n}\n");
}

static void test_refused_texts(void)
{
    static const struct refusal texts[] = {
        {"target triple = \"amdgcn\"", 1, "another target than spir64"},
        {"\n%a = type { %b }\n%b = type { %a }\n@g = global %a undef", 3, "a type contains itself"},
        {"%a = type opaque\n@g = global %a undef", 1, "type opaque is not supported"},
        {"@g = thread_local global i32 0", 1, "thread_local is not supported"},
        {"@g = global i32 0\n@g = global i32 0", 2, "@g is defined twice"},
        {"@a = alias i32, ptr @g", 1, "alias is not supported"},
        {"@g = global i32 0\n@a = global ptr getelementptr (i32, ptr @g, i64 1)", 2, "in an initial value is not supported"},
        {"@g = global [2 x i32] [i32 1]", 1, "fewer members"},
        {"@g = global [1 x i32] [i32 1, i32 2]", 1, "more members"},
        {"@g = global [3 x i8] c\"ab\"", 1, "the text does not fit"},
        {"@llvm.global_ctors = appending global [0 x i8] zeroinitializer", 1, "initialised by code"},
        {"module asm \"x\"", 1, "assembly of a module"},
        {"define void @f() {\n  ret void", 1, "does not end"},
        {"define void @f() {\n}\n", 2, "a function has no block"},
        {"define void @f() {\n  %x = add i32 1, 1\n}\n", 3, "the last block has no end"},
        {"declare void @f()\ndeclare void @f()", 2, "@f is defined twice"},
        {"define void @f() !reqd_work_group_size !1 {\n  ret void\n}\n!1 = !{i32 1}", 4, "expected ,"},
        {"define void @f() {\n  ret void, !dbg !1\n}\n!1 = !DILocation(line: 1, scope: !2)\n!2 = !DILexicalBlock(scope: !2)", 5,
         "in a circle"},
        {"hello", 1, "expected a definition: hello"},
    };
    check_refusals(texts, ARRAY_COUNT(texts), "", "");
}

/* Deep nesting neither crashes nor takes long. */
static void test_runaway(void)
{
    enum { DEEP = 200000 };
    static const char *const openings[] = {"@g = global [1 x ", "@g = global { ", "@g = global i32 add (i32 "};
    for (unsigned i = 0; i < ARRAY_COUNT(openings); i++) {
        struct isa_error error = {.text = ""};
        const char *const repeated = strstr(openings[i], i == 2 ? "add" : i == 1 ? "{" : "[");
        const size_t length = strlen(repeated), head = strlen(openings[i]) - length;
        char *const text = malloc(head + DEEP * length);
        memcpy(text, openings[i], head);
        for (size_t k = 0; k < DEEP; k++)
            memcpy(text + head + k * length, repeated, length);
        struct ir_module *const m = ir_read(text, head + DEEP * length, &error);
        CHECK(m == NULL && strstr(error.text, "too deeply"), "%s", error.text);
        ir_module_free(m);
        free(text);
    }
}

static const struct suite_test tests[] = {
    {"lines are refused with their place", test_refused_lines},
    {"texts are refused with their place", test_refused_texts},
    {"runaway texts are refused", test_runaway},
};
SUITE_MAIN("ir refuse", tests)
