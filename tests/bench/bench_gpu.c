/* Speed of GPU simulation on compiled kernels, in millions of simdgroup instructions per second: functional on one and on two
 * host threads, timed (which includes executing) on one. Outputs are checked. Also how much slower the functional matrix product
 * is than a native OpenCL implementation, on two threads each.
 */
#include "isa/array_count.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "sim/workload/gpu/gpu_job.h"
#include "sim/chip/chip.h"
#include "sim/soc/soc.h"
#include "tests/bench/gpu_bench_cases.h"

#include <dlfcn.h>
#include <inttypes.h>

#define ROUNDS            3
#define TIMED_TARGET      15.0 /* millions of instructions per second */
#define PEER_RATIO_TARGET 10.0

/* ---- OpenCL on the host: types and numbers from the Khronos OpenCL 1.2 specification ---- */

enum { CL_DEVICE_CPU = 2, CL_COPY_HOST = 1 << 5, CL_READ_WRITE = 1, CL_BLOCKING = 1 };

struct opencl {
    int (*platforms)(uint32_t, void **, uint32_t *);
    int (*devices)(void *, uint64_t, uint32_t, void **, uint32_t *);
    void *(*context)(const intptr_t *, uint32_t, void *const *, void *, void *, int *);
    void *(*queue)(void *, void *, uint64_t, int *);
    void *(*program)(void *, uint32_t, const char **, const size_t *, int *);
    int (*build)(void *, uint32_t, void *const *, const char *, void *, void *);
    void *(*kernel)(void *, const char *, int *);
    void *(*buffer)(void *, uint64_t, size_t, void *, int *);
    int (*argument)(void *, uint32_t, size_t, const void *);
    int (*launch)(void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, void *, void *);
    int (*read)(void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void *, void *);
    int (*finish)(void *);
};

static bool opencl_load(struct opencl *cl)
{
    static const char *const names[] = {
        "clGetPlatformIDs",    "clGetDeviceIDs", "clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource",
        "clBuildProgram",      "clCreateKernel", "clCreateBuffer",  "clSetKernelArg",       "clEnqueueNDRangeKernel",
        "clEnqueueReadBuffer", "clFinish"};
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void **function = (void **)cl;
    for (size_t i = 0; library && i < ARRAY_COUNT(names); i++) {
        function[i] = dlsym(library, names[i]);
        if (!function[i])
            return false;
    }
    return library != NULL;
}

struct peer {
    struct opencl cl;
    void *queue, *kernel, *out;
};

/* Prepares the matrix product in OpenCL C for the same data. False fills `why`. */
static bool peer_open(struct peer *p, const struct bench_case *c, const struct kernel_machine *m, const char **why)
{
    static char source[8192];
    const char *text = source;
    void *platform, *device, *buffer[3];
    uint32_t count = 0;
    *why = "no libOpenCL.so.1";
    if (!opencl_load(&p->cl))
        return false;
    *why = "no OpenCL device of the host's processors (PoCL)";
    if (p->cl.platforms(1, &platform, &count) != 0 || !count || p->cl.devices(platform, CL_DEVICE_CPU, 1, &device, &count) != 0)
        return false;
    *why = "the OpenCL implementation refuses the kernel";
    source[kernel_read_file(c->kernel.name, "kernel.cl", source, sizeof source - 1)] = 0;
    void *context = p->cl.context(NULL, 1, &device, NULL, NULL, NULL);
    void *program = context ? p->cl.program(context, 1, &text, NULL, NULL) : NULL;
    p->queue = context ? p->cl.queue(context, device, 0, NULL) : NULL;
    if (!program || !p->queue || p->cl.build(program, 1, &device, "", NULL, NULL) != 0)
        return false;
    p->kernel = p->cl.kernel(program, c->kernel.name, NULL);
    bool good = p->kernel != NULL;
    for (uint32_t i = 0; good && i < 5; i++) {
        const struct kernel_argument *a = &c->kernel.argument[i];
        if (a->kind == 's') {
            good = p->cl.argument(p->kernel, i, 4, &a->number) == 0;
            continue;
        }
        void *bytes = mem_at(m->space, m->address[i], 4ULL * a->count, MEM_WRITE);
        buffer[i] = p->cl.buffer(context, CL_READ_WRITE | CL_COPY_HOST, 4ULL * a->count, bytes, NULL);
        good = buffer[i] && p->cl.argument(p->kernel, i, sizeof buffer[i], &buffer[i]) == 0;
    }
    p->out = buffer[c->kernel.out];
    return good;
}

/* Seconds of the best round, negative when it fails. The hash is that of its result. */
static double peer_run(const struct peer *p, const struct bench_case *c, uint64_t *hash)
{
    static float out[512 * 512];
    size_t global[2], local[2];
    double best = 1e9;
    for (unsigned axis = 0; axis < 2; axis++) {
        local[axis] = c->kernel.group[axis];
        global[axis] = (size_t)c->kernel.group[axis] * c->kernel.groups[axis];
    }
    for (unsigned round = 0; round <= ROUNDS; round++) { /* the first round compiles */
        const double begun = seconds();
        if (p->cl.launch(p->queue, p->kernel, 2, NULL, global, local, 0, NULL, NULL) != 0 || p->cl.finish(p->queue) != 0)
            return -1;
        const double took = seconds() - begun;
        best = round && took < best ? took : best;
    }
    if (p->cl.read(p->queue, p->out, CL_BLOCKING, 0, sizeof out, out, 0, NULL, NULL) != 0)
        return -1;
    *hash = fnv((const uint8_t *)out, sizeof out);
    return best;
}

static bool compare_peer(double two_threads)
{
    const struct bench_case *c = &bench_cases[0];
    struct kernel_machine m;
    struct peer peer;
    const char *why;
    uint64_t hash = 0;
    setenv("POCL_MAX_PTHREAD_COUNT", "2", 0);
    if (!kernel_open(&m, &c->kernel))
        return false;
    bool good = true;
    if (!peer_open(&peer, c, &m, &why)) {
        printf("%s against OpenCL on this host: skipped, %s\n", c->kernel.name, why);
    } else {
        const double native = peer_run(&peer, c, &hash);
        const double ratio = two_threads / native;
        good = native > 0 && hash == c->hash;
        printf("%s 512, two threads each: %.1f ms against %.1f ms of OpenCL on this host, %.1f times (at most %.0f wanted)%s%s\n",
               c->kernel.name, two_threads * 1e3, native * 1e3, ratio, PEER_RATIO_TARGET, good ? "" : " WRONG",
               ratio <= PEER_RATIO_TARGET ? "" : " MISSED");
    }
    kernel_close(&m);
    return good;
}

/* ---- the simulator ---- */

static void setup_of(const struct bench_case *c, const struct kernel_machine *m, const struct abi_kernel *named,
                     struct gpu_setup *s)
{
    *s = (struct gpu_setup){.kernel = named,
                            .space = m->space,
                            .program = m->program,
                            .launch = m->launch,
                            .group_count = 1,
                            .code_address = UINT64_C(1) << 40};
    for (unsigned axis = 0; axis < 3; axis++) {
        s->groups[axis] = c->kernel.groups[axis];
        s->group_count *= c->kernel.groups[axis];
    }
}

static double functional(const struct gpu_setup *s, unsigned threads, struct orch_error *error)
{
    const struct gpu_functional options = {.threads = threads, .cores = 1, .checks.instruction_limit = GPU_WATCHDOG_INSTRUCTIONS};
    double best = 1e9;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct gpu_totals totals;
        if (!gpu_totals_init(&totals, s->program, error))
            return -1;
        const double begun = seconds();
        const bool good = gpu_functional_run(s, &options, &totals, error);
        const double took = seconds() - begun;
        gpu_totals_free(&totals);
        if (!good)
            return -1;
        best = took < best ? took : best;
    }
    return best;
}

static bool timed_pass(struct soc *soc, const struct gpu_setup *s, double *ns, struct orch_error *error)
{
    const struct gpu_selection all = {0};
    struct soc_gpu *gpu = soc_gpu(soc, error);
    struct gpu_job *job = gpu ? gpu_job_create(s, &gpu->params, gpu->timing, &all, error) : NULL;
    struct engine *engine = engine_create();
    double end_ns;
    bool good = job && engine;
    if (good) {
        const struct engine_task task = gpu_job_task(job);
        good = engine_add(engine, &task, NULL, 0) >= 0 && engine_run(engine, &end_ns, error);
        *ns = gpu_job_end_ns(job) - gpu_job_begin_ns(job);
    }
    gpu_job_free(job);
    engine_free(engine);
    return good;
}

/* Host seconds of this process for executing and timing on one thread. */
static double timed(const struct chip *chip, const struct gpu_setup *s, double *ns, struct orch_error *error)
{
    double best = 1e9;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct soc *soc = soc_create(chip, error);
        const double begun = cpu_seconds();
        const bool good = soc && timed_pass(soc, s, ns, error);
        const double took = cpu_seconds() - begun;
        soc_free(soc);
        if (!good)
            return -1;
        best = took < best ? took : best;
    }
    return best;
}

static void clear_output(const struct bench_case *c, const struct kernel_machine *m)
{
    const size_t bytes = 4U * c->kernel.argument[c->kernel.out].count;
    memset(mem_at(m->space, m->address[c->kernel.out], bytes, MEM_WRITE), 0, bytes);
}

static bool bench_kernel(const struct chip *chip, const struct bench_case *c, double *two)
{
    struct abi_kernel named = {0};
    struct kernel_machine m;
    struct gpu_setup s;
    struct orch_error error = {0};
    double ns = 0;
    bool right = true;
    if (!kernel_open(&m, &c->kernel))
        return false;
    snprintf(named.name, sizeof named.name, "%s", c->kernel.name);
    setup_of(c, &m, &named, &s);
    const double one = functional(&s, 1, &error);
    right = right && bench_output_hash(c, &m) == c->hash;
    clear_output(c, &m);
    *two = functional(&s, 2, &error);
    right = right && bench_output_hash(c, &m) == c->hash;
    /* Timed passes execute what decides ways and addresses (gpu_steer.c), not values. */
    const double time = timed(chip, &s, &ns, &error);
    right = right && one > 0 && *two > 0 && time > 0;
    const double million = (double)c->kernel.instructions / 1e6;
    printf("%-12s %6.1f M: functional %6.1f M/s, two threads %6.1f M/s; timed %5.1f M/s%s, %.1f us of %s%s%s\n", c->kernel.name,
           million, million / one, million / *two, million / time, million / time < TIMED_TARGET ? " (below 15)" : "", ns * 1e-3,
           chip_name(chip), right ? "" : " WRONG ", right ? "" : error.text);
    kernel_close(&m);
    return right;
}

int main(void)
{
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct chip *chip = db ? chip_open(db, "m1-max", NULL, &error) : NULL;
    bool good = chip != NULL;
    double two, product = 0;
    if (!good)
        printf("%s\n", error.text);
    for (size_t i = 0; chip && i < ARRAY_COUNT(bench_cases); i++) {
        good = bench_kernel(chip, &bench_cases[i], &two) && good;
        product = i == 0 ? two : product;
    }
    good = good && compare_peer(product);
    chip_close(chip);
    chip_db_close(db);
    return good ? 0 : 1;
}
