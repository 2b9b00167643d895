/* What a timed pass executes, in kernels of the library: only the instructions that decide on the way and on addresses. Timing
 * must see the same instructions, lanes and lines as when everything is executed. */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"
#include "tests/units/gpu_steer_example.h"

static const char *const library[][2] = {
    {"gemm:128x96x64", NULL},
    {"gemm:100x90x80,ta=1,tb=1,beta=0.5", NULL},
    {"gemm:64x64x256,split=4", "f16"},
    {"gemv:64x1000", NULL},
    {"gemv:32x256", "q4_0"},
    {"gemv:32x512", "q4_k"},
    {"gemv:32x512", "q6_k"},
    {"attention:b=1,h=2,s=96,d=64", NULL},
    {"attention:b=1,h=2,s=70,d=64,causal=1", "f16"},
    {"attention:b=1,h=1,s=64,d=32,variant=naive", NULL},
    {"rope:b=1,h=2,s=33,d=64", NULL},
    {"elementwise:5000,op=gelu", "bf16"},
    {"elementwise:3000,op=add+relu", NULL},
    {"reduce:40x777", NULL},
    {"reduce:77x100,axis=0,op=max", NULL},
    {"softmax:20x1000", NULL},
    {"layernorm:9x3000", NULL},
    {"groupnorm:n=1,c=32,h=7,w=7", NULL},
    {"conv2d:c=16,h=14,w=14,k=32", NULL},
    {"conv2d:c=16,h=14,w=14,k=16,groups=16", NULL},
    {"conv2d:c=16,h=14,w=14,k=16,algo=winograd2", NULL},
    {"pool:c=8,h=15,w=15,r=3,s=3,stride=2,pad=1", NULL},
    {"resize:c=3,h=9,w=9,oh=20,ow=20,mode=bilinear", NULL},
    {"transpose:100x70", NULL},
    {"concat:20x30x40", NULL},
    {"gather:50x64x40", NULL},
    {"pad:20x30,top=1,left=2,right=3", NULL},
    {"slice:40x50,h=10,w=20,row=3,column=4", NULL},
    {"sort:3x700", NULL},
    {"scan:5x3000", NULL},
    {"lattice:33x5x4,steps=2", "f16"},
    {"stream-triad:100000", NULL},
};

static void compare_step(struct gpu_example *x, const struct gpu_kernel_step *step, const char *name)
{
    uint16_t uniforms[AGX_UNIFORM_HALVES];
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    struct gpu_program *program = gpu_program_create(step->code.code, step->code.code_bytes, (uint32_t)step->code.main_offset,
                                                     x->request.generation, &fault);
    uint32_t groups[3];
    CU_ASSERT_PTR_NOT_NULL_FATAL(program);
    const struct gpu_launch launch = example_launch(x, step, program, uniforms);
    gpu_launch_groups(&launch, groups);
    for (unsigned i = 0; i < 3; i++) { /* the first threadgroup, one amid the grid, the last one */
        const uint32_t position[3] = {(groups[0] - 1) * i / 2, (groups[1] - 1) * i / 2, (groups[2] - 1) * i / 2};
        CHECK(same_records(&launch, position, NULL, NULL), "%s: threadgroup %u of 3", name, i);
    }
    gpu_program_free(program);
}

static void test_library(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(library); i++) {
        struct gpu_example x;
        const bool open = example_open(&x, library[i][0], library[i][1], 8);
        CHECK(open, "%s: %s", library[i][0], x.text);
        if (open)
            example_fill(&x, i);
        for (unsigned k = 0; open && k < x.kernel.steps; k++) {
            compare_step(&x, &x.kernel.step[k], library[i][0]);
            CHECK(example_run_step(&x, &x.kernel.step[k], false), "%s: %s", library[i][0], x.text);
        }
        example_close(&x);
    }
}

static const struct suite_test tests[] = {
    {"kernels of the library leave the same record with and without values", test_library},
};

int main(void)
{
    return suite_run("gpu_steer_kernels", tests, ARRAY_COUNT(tests));
}
