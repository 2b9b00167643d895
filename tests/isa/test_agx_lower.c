/* Kernels in LLVM's text, lowered and compiled: what came out of public sources, in small. The simulated GPU computes what the
 * interpreter says. */
#include "tests/isa/agx_compile_example.h"

#include "isa/agx/compiler/ir_lower.h"
#include "isa/agx/compiler/ir_read.h"

#define HEAD                                                                                                                     \
    "declare i64 @_Z13get_global_idj(i32)\n"                                                                                     \
    "define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {\n"                                        \
    "  %i = call i64 @_Z13get_global_idj(i32 0)\n"
#define TAIL "  ret void\n}\n"

static void check(const char *text)
{
    struct isa_error error = {0};
    struct ir_module *const m = ir_read(text, strlen(text), &error);
    struct ir_function *f = m ? ir_module_functions(m) : NULL;
    while (f && !f->kernel)
        f = f->next;
    const struct ir_lower_options options = {.fast_math = false};
    unsigned spills;
    const bool good = f && ir_lower(m, f, &options, &error) && ir_verify_lowered(f, &error);
    CHECK(good, "%s", error.text);
    if (good)
        agrees(f, 0, &spills);
    ir_module_free(m);
}

/* The hardware rounds addresses down to a multiple of what it loads: members of packed structures lie between. */
static void test_unaligned_loads(void)
{
    check(HEAD "  %p = getelementptr <{ i16, i32 }>, ptr addrspace(1) %in, i64 %i, i32 1\n"
               "  %a = load i32, ptr addrspace(1) %p, align 2\n"
               "  %q = getelementptr [5 x i8], ptr addrspace(1) %in, i64 %i, i64 1\n"
               "  %b = load i32, ptr addrspace(1) %q, align 1\n"
               "  %h = load i16, ptr addrspace(1) %q, align 1\n"
               "  %w = zext i16 %h to i32\n"
               "  %s = xor i32 %a, %b\n"
               "  %t = add i32 %s, %w\n"
               "  %o = getelementptr i32, ptr addrspace(1) %out, i64 %i\n"
               "  store i32 %t, ptr addrspace(1) %o, align 4\n" TAIL);
}

static void test_unaligned_numbers(void)
{
    check(HEAD "  %p = getelementptr <{ i16, float }>, ptr addrspace(1) %in, i64 %i, i32 1\n"
               "  %a = load float, ptr addrspace(1) %p, align 2\n"
               "  %q = getelementptr <{ i16, <2 x i32> }>, ptr addrspace(1) %in, i64 %i, i32 0\n"
               "  %v = load <2 x i32>, ptr addrspace(1) %q, align 2\n"
               "  %x = extractelement <2 x i32> %v, i64 0\n"
               "  %y = extractelement <2 x i32> %v, i64 1\n"
               "  %f = bitcast float %a to i32\n"
               "  %s = add i32 %x, %y\n"
               "  %t = xor i32 %s, %f\n"
               "  %o = getelementptr i32, ptr addrspace(1) %out, i64 %i\n"
               "  store i32 %t, ptr addrspace(1) %o, align 4\n" TAIL);
}

static void test_unaligned_stores(void)
{
    check(HEAD "  %p = getelementptr i32, ptr addrspace(1) %in, i64 %i\n"
               "  %a = load i32, ptr addrspace(1) %p, align 4\n"
               "  %o = getelementptr <{ i16, i32 }>, ptr addrspace(1) %out, i64 %i, i32 1\n"
               "  store i32 %a, ptr addrspace(1) %o, align 2\n" TAIL);
}

/* Two addresses at once, as clang's vectoriser makes them. */
static void test_vectors_of_addresses(void)
{
    check(HEAD "  %two = insertelement <2 x i64> undef, i64 %i, i64 0\n"
               "  %both = insertelement <2 x i64> %two, i64 7, i64 1\n"
               "  %p = getelementptr i32, ptr addrspace(1) %in, <2 x i64> %both\n"
               "  %p0 = extractelement <2 x ptr addrspace(1)> %p, i64 0\n"
               "  %p1 = extractelement <2 x ptr addrspace(1)> %p, i64 1\n"
               "  %a = load i32, ptr addrspace(1) %p0, align 4\n"
               "  %b = load i32, ptr addrspace(1) %p1, align 4\n"
               "  %t = xor i32 %a, %b\n"
               "  %o = getelementptr i32, ptr addrspace(1) %out, i64 %i\n"
               "  store i32 %t, ptr addrspace(1) %o, align 4\n" TAIL);
}

/* The buffer is read only by the threads that choose it: elsewhere there is nothing at the address. */
static void test_choice_of_memories(void)
{
    check(HEAD "  %slot = alloca i32, align 4\n"
               "  %low = trunc i64 %i to i32\n"
               "  %own = mul i32 %low, 77\n"
               "  store i32 %own, ptr %slot, align 4\n"
               "  %inside = icmp ult i32 %low, %n\n"
               "  %at = select i1 %inside, i64 %i, i64 16777216\n"
               "  %p = getelementptr i32, ptr addrspace(1) %in, i64 %at\n"
               "  %a = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)\n"
               "  %b = addrspacecast ptr %slot to ptr addrspace(4)\n"
               "  %odd = and i32 %low, 1\n"
               "  %even = icmp eq i32 %odd, 0\n"
               "  %inner = select i1 %even, ptr addrspace(4) %a, ptr addrspace(4) %b\n"
               "  %outer = select i1 %inside, ptr addrspace(4) %inner, ptr addrspace(4) %b\n"
               "  %x = load i32, ptr addrspace(4) %outer, align 4\n"
               "  %c = select i1 %inside, ptr addrspace(4) %a, ptr addrspace(4) %b\n"
               "  %y = load i32, ptr addrspace(4) %c, align 4\n"
               "  %z = sub i32 %x, %y\n"
               "  %w = add i32 %z, 12345\n"
               "  %o = getelementptr i32, ptr addrspace(1) %out, i64 %i\n"
               "  store i32 %w, ptr addrspace(1) %o, align 4\n" TAIL);
}

/* More words that are the same in all threads than uniform registers: the rest stays with the threads. */
static void test_many_words_of_all_threads(void)
{
    char text[32768];
    int used = snprintf(text, sizeof text,
                        "declare i64 @_Z13get_global_idj(i32)\n"
                        "define spir_kernel void @k(ptr addrspace(2) %%in, ptr addrspace(1) %%out, i32 %%n) {\n"
                        "  %%i = call i64 @_Z13get_global_idj(i32 0)\n"
                        "  %%s0 = trunc i64 %%i to i32\n");
    for (unsigned word = 0; word < 120; word++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  %%p%u = getelementptr i32, ptr addrspace(2) %%in, i64 %u\n"
                         "  %%w%u = load i32, ptr addrspace(2) %%p%u, align 4\n"
                         "  %%m%u = mul i32 %%s%u, 5\n"
                         "  %%s%u = xor i32 %%m%u, %%w%u\n",
                         word, word, word, word, word, word, word + 1, word, word);
    snprintf(text + used, sizeof text - (size_t)used,
             "  %%o = getelementptr i32, ptr addrspace(1) %%out, i64 %%i\n"
             "  store i32 %%s120, ptr addrspace(1) %%o, align 4\n" TAIL);
    check(text);
}

static const struct suite_test tests[] = {
    {"loads from packed structures", test_unaligned_loads},
    {"numbers and vectors in packed structures", test_unaligned_numbers},
    {"stores to packed structures", test_unaligned_stores},
    {"vectors of addresses", test_vectors_of_addresses},
    {"a load from one of two memories", test_choice_of_memories},
    {"more words of all threads than uniform registers", test_many_words_of_all_threads},
};
SUITE_MAIN("agx lower", tests)
