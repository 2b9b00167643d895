/* A GPU kernel of one's own: compiled from memory, looked at, launched on buffers, read back. */
#include <orchard.h>

#include <stdio.h>

enum { COUNT = 4096 };

static const char source[] = "#include <metal_stdlib>\n"
                             "using namespace metal;\n"
                             "kernel void saxpy(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],\n"
                             "                  constant float &a [[buffer(2)]], uint i [[thread_position_in_grid]])\n"
                             "{\n"
                             "    y[i] = a * x[i] + y[i];\n"
                             "}\n";

static int fail(const struct orchard_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    return error->code;
}

static void show(const struct orchard_kernel *kernel)
{
    struct orchard_kernel_info info;
    struct orchard_kernel_argument argument;
    orchard_kernel_info(kernel, &info);
    printf("%s: %zu bytes of code, %u registers\n", info.name, info.code_bytes, info.registers);
    for (size_t i = 0; orchard_kernel_argument(kernel, i, &argument); i++)
        printf("  %s: %s of %s\n", argument.name, argument.kind == ORCHARD_ARGUMENT_BUFFER ? "buffer" : "constant",
               argument.type);
}

static int use(struct orchard *o, const struct orchard_kernel *kernel, struct orchard_error *error)
{
    float *x = NULL, *y = NULL;
    const struct orchard_kernel_value value[] = {{.buffer = orchard_alloc(o, COUNT * sizeof *x, (void **)&x, error)},
                                                 {.buffer = orchard_alloc(o, COUNT * sizeof *y, (void **)&y, error)},
                                                 {.number = 2}};
    const struct orchard_kernel_launch launch = {.grid = {COUNT}, .group = {64}, .value = value, .values = 3};
    if (!x || !y)
        return fail(error);
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    const int job = orchard_enqueue_kernel(o, kernel, &launch, error);
    if (job < 0 || !orchard_wait(o, error))
        return fail(error);
    printf("y[100] = %g, %.3g us, %.3g uJ\n", (double)y[100], 1e6 * orchard_seconds(o, job), 1e6 * orchard_joules(o, job));
    return 0;
}

int main(void)
{
    struct orchard_error error;
    struct orchard_kernel *const kernel = orchard_compile("saxpy.metal", source, NULL, &error);
    if (!kernel)
        return fail(&error);
    show(kernel);
    struct orchard *const o = orchard_open("m2", NULL, 0, &error);
    const int code = o ? use(o, kernel, &error) : fail(&error);
    orchard_close(o);
    orchard_kernel_free(kernel);
    return code;
}
