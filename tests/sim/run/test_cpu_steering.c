/* Kernels of cores and AMX blocks that are only timed: values that do not steer are left out, and time, stalls and everything
 * that is counted are those of a run with values. */
#include "isa/array_count.h"
#include "tests/sim/run_example.h"
#include "units/amx/kernels/amx_kernels.h"
#include "units/cpu/kernels/cpu_kernels.h"

#include <stdlib.h>

static struct chip_db *db;

struct steered_case {
    const char *workload, *precision;
};

/* Every kernel of the NEON library at least once (checked below), with forms and types that go other ways. */
static const struct steered_case neon_cases[] = {
    {"gemm:37x50x65,batch=2", "f32"},
    {"gemm:40x24x33,alpha=0.5,beta=2", "f32"},
    {"gemm:32x48x64,ta=1,tb=1", "f16"},
    {"gemm:33x31x64,acc=f16", "f16"},
    {"gemm:24x24x64", "i8"},
    {"gemm:24x24x64", "f64"},
    {"gemm:8x24x64,tb=1", "q8_0"},
    {"gemm:8x24x64,tb=1,algo=dots", "f32"},
    {"gemm:64x64x64,packed=1", "bf16"},
    {"gemv:130x96", "f32"},
    {"gemv:130x128", "q4_0"},
    {"gemv:130x256", "q4_k"},
    {"gemv:130x256", "q6_k"},
    {"gemv:130x96", "i8"},
    {"gemv:130x96", "bf16"},
    {"attention:b=1,h=3,s=33,d=32", "f32"},
    {"attention:b=1,h=4,s=40,d=64,causal=1,kvh=2", "f16"},
    {"cache-attention:h=4,s=40,d=32,kvh=2", "f32"},
    {"cache-attention:h=4,s=40,d=32,cached=q8_0,page=16", "f32"},
    {"rope:b=1,h=2,s=17,d=32", "f32"},
    {"conv2d:c=5,h=13,w=15,k=9,pad=1", "f32"},
    {"conv2d:c=8,h=12,w=12,k=8,groups=8,pad=1", "f32"},
    {"conv2d:c=8,h=12,w=12,k=16,pad=1,algo=winograd4,packed=1", "f32"},
    {"conv2d:c=8,h=12,w=12,k=16,stride=2,act=relu,bias=1", "f16"},
    {"conv2d:c=8,h=12,w=12,k=16,pad=1", "i8"},
    {"elementwise:5000,op=gelu", "f32"},
    {"elementwise:5000,op=max", "f16"},
    {"elementwise:5000,op=exp+mul", "bf16"},
    {"reduce:37x200,op=max", "f32"},
    {"reduce:37x200,axis=0", "f16"},
    {"scan:9x300", "f32"},
    {"scan:9x300", "i32"},
    {"sort:5x200", "f32"},
    {"sort:5x200", "u32"},
    {"softmax:19x300", "f32"},
    {"softmax:19x300,log=1", "f16"},
    {"layernorm:19x300", "f32"},
    {"rmsnorm:19x300", "bf16"},
    {"groupnorm:n=2,c=8,h=9,w=7,groups=2", "f32"},
    {"batchnorm:n=2,c=8,h=9,w=7", "f16"},
    {"pool:c=5,h=13,w=15,op=max,r=3,s=3,pad=1", "f32"},
    {"pool:c=5,h=12,w=14,op=avg", "f16"},
    {"globalpool:c=13,h=7,w=7", "f32"},
    {"resize:c=3,h=9,w=11,oh=20,ow=15,mode=bilinear", "f32"},
    {"resize:c=3,h=9,w=11,oh=20,ow=15,mode=nearest", "f16"},
    {"transpose:50x37", "f32"},
    {"concat:20x30x11", "f16"},
    {"gather:300x65x40", "f32"},
    {"embedding:300x64x11", "f16"},
    {"quantise:4096", "q8_0"},
    {"convert:4000,to=u8,channels=4", "f32"},
    {"pad:20x30,top=2,left=3", "f32"},
    {"slice:40x50,h=20,w=21,row=3,column=5", "f32"},
    {"broadcast:40x65", "f32"},
    {"topk:17x90,k=5", "f32"},
    {"nms:2x3x60,k=20", "f32"},
    {"integer:4000,of=i64,op=mul", "f32"},
    {"integer:4000,of=i32,op=mod,period=8", "f32"},
    {"integer:4000,of=u8,op=shr", "f32"},
    {"cast:4000,to=f32", "f16"},
    {"cast:4000,from=f32", "bf16"},
    {"compare:4000,op=lt", "f32"},
    {"select:4000,of=i32", "f32"},
    {"cast:4000,from=i32,to=number", "f32"},
};
/* The same of the AMX library. */
static const struct steered_case amx_cases[] = {
    {"elementwise:5000,op=gelu", "f32"},
    {"elementwise:5000,op=add", "f16"},
    {"softmax:19x300", "f32"},
    {"layernorm:19x300", "f16"},
    {"rmsnorm:19x300", "f32"},
    {"groupnorm:n=2,c=8,h=9,w=7,groups=2", "f32"},
    {"batchnorm:n=2,c=8,h=9,w=7", "bf16"},
    {"conv2d:c=16,h=13,w=15,k=32,pad=1", "f32"},
    {"conv2d:c=8,h=12,w=12,k=16,pad=1,algo=winograd2,packed=1", "f32"},
    {"conv2d:c=3,h=12,w=12,k=16,stride=2,act=relu,bias=1", "f16"},
    {"qgemm:33x40x64,act=relu", "i8"},
    {"feedforward:32x64x128,act=gelu", "f32"},
    {"attention:b=1,h=3,s=65,d=32", "f32"},
    {"mha:64x64,h=4,causal=1", "f32"},
};

static struct outcome time_case(const struct steered_case *c, const char *unit, enum run_mode mode, unsigned cores)
{
    const struct run_request q = {
        .unit = unit, .precision = c->precision, .mode = mode, .detail = "instr", .cold = true, .evict = true, .cores = cores};
    struct outcome o = run_on(db, "m2", c->workload, q);
    CHECK(o.ok, "%s %s on %s: %s", c->workload, c->precision, unit, o.error.text);
    return o;
}

/* What a result says of time and events, all of it. */
static void check_equal(const struct steered_case *c, const struct outcome *with, const struct outcome *without)
{
    CHECK(with->result.seconds == without->result.seconds && with->result.cycles == without->result.cycles,
          "%s %s: %.12g s with values, %.12g without", c->workload, c->precision, with->result.seconds, without->result.seconds);
    CHECK(with->result.counters.count > 10 && with->result.counters.count == without->result.counters.count + 1,
          "%s: %zu counters, %zu", c->workload, with->result.counters.count, without->result.counters.count);
    for (size_t i = 0; i < with->result.counters.count; i++) {
        const struct run_named_value *const v = &with->result.counters.item[i];
        if (strncmp(v->name, "memory.", 7) == 0) /* what was mapped, and how its data would be compressed */
            continue;
        CHECK(counter(without, v->name) == v->value, "%s %s: %s is %.12g with values, %.12g without", c->workload, c->precision,
              v->name, v->value, counter(without, v->name));
    }
    for (size_t i = 0; i < with->result.stalls.count; i++) {
        const struct run_named_value *const v = &with->result.stalls.item[i];
        CHECK(run_values_get(&without->result.stalls, v->name) == v->value, "%s %s: %s", c->workload, c->precision, v->name);
    }
    CHECK(with->result.checksum.count == 1 && without->result.checksum.count == 0, "%s: checksums", c->workload);
}

static void compare(const struct steered_case *cases, size_t count, const char *unit, unsigned cores)
{
    for (size_t i = 0; i < count; i++) {
        struct outcome with = time_case(&cases[i], unit, RUN_FULL, cores);
        struct outcome without = time_case(&cases[i], unit, RUN_TIMING, cores);
        if (with.ok && without.ok)
            check_equal(&cases[i], &with, &without);
        run_result_free(&with.result);
        run_result_free(&without.result);
    }
}

static void test_neon(void)
{
    compare(neon_cases, ARRAY_COUNT(neon_cases), "cpu", 1);
}

static void test_amx(void)
{
    compare(amx_cases, ARRAY_COUNT(amx_cases), "amx", 1);
}

/* Threads hand work over through memory, which steers. */
static void test_threads(void)
{
    static const struct steered_case cases[] = {{"gemm:64x96x64", "f32"}, {"softmax:64x300", "f16"}};
    static const struct steered_case products[] = {{"gemm:96x96x64", "f32"}, {"attention:b=1,h=4,s=65,d=32", "f32"}};
    compare(cases, ARRAY_COUNT(cases), "cpu", 4);
    compare(products, ARRAY_COUNT(products), "amx", 3);
}

static bool is_named(const struct steered_case *cases, size_t count, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < count; i++)
        if (strncmp(cases[i].workload, name, length) == 0 && cases[i].workload[length] == ':')
            return true;
    return false;
}

static void test_all_kernels_are_named(void)
{
    for (size_t i = 0; i < cpu_kernels.count; i++)
        CHECK(is_named(neon_cases, ARRAY_COUNT(neon_cases), cpu_kernels.row[i]->operation->name), "%s of NEON has no case",
              cpu_kernels.row[i]->operation->name);
    for (size_t i = 0; i < amx_kernels.count; i++)
        CHECK(is_named(amx_cases, ARRAY_COUNT(amx_cases), amx_kernels.row[i]->operation->name), "%s of AMX has no case",
              amx_kernels.row[i]->operation->name);
}

static const struct suite_test tests[] = {
    {"kernels of NEON take the same time without values", test_neon},
    {"kernels of AMX blocks do", test_amx},
    {"threads do", test_threads},
    {"every kernel has a case", test_all_kernels_are_named},
};

int main(void)
{
    return example_chips_run("cpu steering", tests, ARRAY_COUNT(tests), &db);
}
