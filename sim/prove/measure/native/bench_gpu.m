/* Times streams through memory and products of matrices on the GPU of the machine itself; `orchard measure` writes it with the
 * cases beside it.
 *
 *     bench_gpu MACHINE P_CORES E_CORES GPU_CORES OS PASSES >> result.csv
 *
 * A pass is one launch in a command buffer of its own. Its time is that of the GPU, from the beginning to the end of the command
 * buffer: what orchard calls device_seconds. Passes that warm up, for a fifth of a second, are not printed. Shaders are compiled
 * by macOS from streams.metal and gemm.metal, which must be in the present folder.
 */
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREAD_BYTES = 16,
    GROUP_THREADS = 256,
    FLOATS = 65536, /* of a stream, that are compared */
    TILE = 64,
    TILE_THREADS = 128,
    ELEMENTS = 256 /* of a product, that are computed again */
};
#define WARM_S 0.2

static const struct case_of {
    const char *kernel, *precision;
    uint64_t bytes;   /* of each operand of a stream; 0 = a product */
    uint32_t m, n, k; /* of a product */
    const char *workload;
} cases[] = {
#define X(kernel, precision, bytes, m, n, k, workload) {kernel, precision, bytes, m, n, k, workload},
#include <cases_gpu.inc> /* beside this file (-I.) */
#undef X
};

/* What a kernel of orchard's is called, and where; of streams also what they give. */
static const struct kernel_of {
    const char *kernel, *function;
    bool product;
    float of_a, of_b;
} kernels[] = {{"copy", "copy", false, 1, 0},
               {"stream-scale", "scale_f32", false, 3, 0},
               {"stream-add", "add_f32", false, 1, 1},
               {"stream-triad", "triad_f32", false, 1, 3},
               {"gemm", "gemm", true, 0, 0}};

struct gpu {
    id<MTLDevice> device;
    id<MTLCommandQueue> queue;
    id<MTLLibrary> streams, products;
};

static id<MTLLibrary> compile(const struct gpu *g, NSString *file)
{
    NSError *error = nil;
    NSString *const source = [NSString stringWithContentsOfFile:file encoding:NSUTF8StringEncoding error:&error];
    id<MTLLibrary> const library = source ? [g->device newLibraryWithSource:source options:nil error:&error] : nil;
    if (!library)
        fprintf(stderr, "bench_gpu: %s: %s\n", [file UTF8String], error ? [[error localizedDescription] UTF8String] : "?");
    return library;
}

static bool open_gpu(struct gpu *g)
{
    g->device = MTLCreateSystemDefaultDevice();
    g->queue = [g->device newCommandQueue];
    if (!g->queue) {
        fprintf(stderr, "bench_gpu: there is no GPU that Metal knows\n");
        return false;
    }
    g->streams = compile(g, @"streams.metal");
    g->products = compile(g, @"gemm.metal");
    return g->streams && g->products;
}

static uint64_t bytes_of(const struct case_of *q, unsigned operand)
{
    const uint64_t elements = operand == 0   ? (uint64_t)q->m * q->k
                              : operand == 1 ? (uint64_t)q->k * q->n
                                             : (uint64_t)q->m * q->n;
    return q->bytes ? q->bytes : elements * sizeof(float);
}

/* Whole numbers below 16 over 16: all sums and products are exact, of products as long as k is at most 65536. */
static void fill(id<MTLBuffer> buffer, uint64_t bytes, uint32_t state)
{
    float *const to = [buffer contents];
    for (uint64_t i = 0; i < bytes / sizeof *to; i++) {
        state = state * 1664525 + 1013904223;
        to[i] = (float)((int)(state >> 27) - 16) / 16;
    }
}

static bool stream_is_right(const struct case_of *q, const struct kernel_of *s, id<MTLBuffer> const *buffer)
{
    const float *const a = [buffer[0] contents], *const b = [buffer[1] contents], *const out = [buffer[2] contents];
    const uint64_t count = q->bytes / sizeof *out, step = count / FLOATS + 1;
    for (uint64_t i = 0; i < count; i += step)
        if (out[i] != s->of_a * a[i] + s->of_b * b[i])
            return false;
    return true;
}

static bool product_is_right(const struct case_of *q, id<MTLBuffer> const *buffer)
{
    const float *const a = [buffer[0] contents], *const b = [buffer[1] contents], *const out = [buffer[2] contents];
    const uint64_t count = (uint64_t)q->m * q->n, step = count / ELEMENTS + 1;
    for (uint64_t at = 0; at < count; at += step) {
        const uint64_t row = at / q->n, column = at % q->n;
        float sum = 0;
        for (uint64_t i = 0; i < q->k; i++)
            sum += a[row * q->k + i] * b[i * q->n + column];
        if (out[at] != sum)
            return false;
    }
    return true;
}

static void dispatch(id<MTLComputeCommandEncoder> encoder, const struct case_of *q)
{
    if (q->bytes) {
        [encoder dispatchThreads:MTLSizeMake(q->bytes / THREAD_BYTES, 1, 1)
            threadsPerThreadgroup:MTLSizeMake(GROUP_THREADS, 1, 1)];
        return;
    }
    [encoder setBytes:&q->n length:sizeof q->n atIndex:3];
    [encoder setBytes:&q->k length:sizeof q->k atIndex:4];
    [encoder dispatchThreads:MTLSizeMake((NSUInteger)q->n / TILE * TILE_THREADS, q->m / TILE, 1)
        threadsPerThreadgroup:MTLSizeMake(TILE_THREADS, 1, 1)];
}

/* Seconds of the GPU for one launch; below 0 when it failed. */
static double pass(const struct gpu *g, id<MTLComputePipelineState> pipeline, id<MTLBuffer> const *buffer,
                   const struct case_of *q)
{
    double seconds = -1;
    @autoreleasepool {
        id<MTLCommandBuffer> const commands = [g->queue commandBuffer];
        id<MTLComputeCommandEncoder> const encoder = [commands computeCommandEncoder];
        [encoder setComputePipelineState:pipeline];
        for (NSUInteger i = 0; i < 3; i++)
            [encoder setBuffer:buffer[i] offset:0 atIndex:i];
        dispatch(encoder, q);
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        if ([commands status] == MTLCommandBufferStatusCompleted)
            seconds = [commands GPUEndTime] - [commands GPUStartTime];
    }
    return seconds;
}

static const struct kernel_of *kernel_of(const struct case_of *q)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].kernel, q->kernel) == 0)
            return &kernels[i];
    return NULL;
}

static bool open_buffers(const struct gpu *g, const struct case_of *q, id<MTLBuffer> __strong *buffer)
{
    for (unsigned i = 0; i < 3; i++) {
        buffer[i] = [g->device newBufferWithLength:(NSUInteger)bytes_of(q, i) options:MTLResourceStorageModeShared];
        if (!buffer[i]) {
            fprintf(stderr, "bench_gpu: no room for %llu bytes\n", (unsigned long long)bytes_of(q, i));
            return false;
        }
        fill(buffer[i], bytes_of(q, i), 12345 + i);
    }
    return true;
}

static bool measure(const struct gpu *g, const struct case_of *q, char **argv, int passes)
{
    const struct kernel_of *const s = kernel_of(q);
    NSError *error = nil;
    id<MTLLibrary> const library = s && s->product ? g->products : g->streams;
    id<MTLFunction> const function = s ? [library newFunctionWithName:[NSString stringWithUTF8String:s->function]] : nil;
    id<MTLComputePipelineState> const pipeline =
        function ? [g->device newComputePipelineStateWithFunction:function error:&error] : nil;
    id<MTLBuffer> buffer[3];
    if (!pipeline) {
        fprintf(stderr, "bench_gpu: no kernel %s: %s\n", q->kernel, error ? [[error localizedDescription] UTF8String] : "?");
        return false;
    }
    if (!open_buffers(g, q, buffer))
        return false;
    const double begin = [NSDate timeIntervalSinceReferenceDate];
    do
        if (pass(g, pipeline, buffer, q) < 0)
            return false;
    while ([NSDate timeIntervalSinceReferenceDate] - begin < WARM_S);
    const bool right = s->product ? product_is_right(q, buffer) : stream_is_right(q, s, buffer);
    for (int i = 1; i <= passes; i++)
        printf("%s,%s,%s,%s,\"%s\",gpu,\"%s\",%s,%d,%.9g,%s\n", argv[1], argv[2], argv[3], argv[4], argv[5], q->workload,
               q->precision, i, pass(g, pipeline, buffer, q), right ? "right" : "wrong");
    return right;
}

int main(int argc, char **argv)
{
    bool right = true;
    if (argc != 7 || atoi(argv[6]) < 1) {
        fprintf(stderr, "usage: bench_gpu MACHINE P_CORES E_CORES GPU_CORES OS PASSES\n");
        return 2;
    }
    @autoreleasepool {
        struct gpu g = {nil, nil, nil, nil};
        if (!open_gpu(&g))
            return 1;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            right = measure(&g, &cases[i], argv, atoi(argv[6])) && right;
    }
    return right ? 0 : 1;
}
