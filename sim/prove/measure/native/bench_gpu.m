/* Times streams through memory on the GPU of the machine itself; `orchard measure` writes it with the cases beside it.
 *
 *     bench_gpu MACHINE P_CORES E_CORES GPU_CORES OS PASSES >> result.csv
 *
 * A pass is one launch in a command buffer of its own. Its time is that of the GPU, from the beginning to the end of the command
 * buffer: what orchard calls device_seconds. Passes that warm up, for a fifth of a second, are not printed. Shaders are compiled
 * by macOS from streams.metal, which must be in the present folder.
 */
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_BYTES = 16, GROUP_THREADS = 256, FLOATS = 65536 /* that are compared */ };
#define WARM_S 0.2

static const struct case_of {
    const char *kernel, *precision;
    uint64_t bytes; /* of each operand */
} cases[] = {
#define X(kernel, precision, bytes) {kernel, precision, bytes},
#include <cases_gpu.inc> /* beside this file (-I.) */
#undef X
};

/* What a kernel of orchard's is called in streams.metal, and what it gives. */
static const struct stream {
    const char *kernel, *function;
    float of_a, of_b;
} streams[] = {{"copy", "copy", 1, 0},
               {"stream-scale", "scale_f32", 3, 0},
               {"stream-add", "add_f32", 1, 1},
               {"stream-triad", "triad_f32", 1, 3}};

struct gpu {
    id<MTLDevice> device;
    id<MTLCommandQueue> queue;
    id<MTLLibrary> library;
};

static bool open_gpu(struct gpu *g)
{
    NSError *error = nil;
    NSString *const source = [NSString stringWithContentsOfFile:@"streams.metal" encoding:NSUTF8StringEncoding error:&error];
    g->device = MTLCreateSystemDefaultDevice();
    g->queue = [g->device newCommandQueue];
    g->library = source && g->device ? [g->device newLibraryWithSource:source options:nil error:&error] : nil;
    if (g->library && g->queue)
        return true;
    fprintf(stderr, "bench_gpu: %s\n", error ? [[error localizedDescription] UTF8String] : "there is no GPU that Metal knows");
    return false;
}

/* Whole numbers below 16 over 16: all sums and products are exact. */
static void fill(id<MTLBuffer> buffer, uint64_t bytes, uint32_t state)
{
    float *const to = [buffer contents];
    for (uint64_t i = 0; i < bytes / sizeof *to; i++) {
        state = state * 1664525 + 1013904223;
        to[i] = (float)((int)(state >> 27) - 16) / 16;
    }
}

static bool is_right(const struct stream *s, id<MTLBuffer> const *buffer, uint64_t bytes)
{
    const float *const a = [buffer[0] contents], *const b = [buffer[1] contents], *const out = [buffer[2] contents];
    const uint64_t count = bytes / sizeof *out, step = count / FLOATS + 1;
    for (uint64_t i = 0; i < count; i += step)
        if (out[i] != s->of_a * a[i] + s->of_b * b[i])
            return false;
    return true;
}

/* Seconds of the GPU for one launch; below 0 when it failed. */
static double pass(const struct gpu *g, id<MTLComputePipelineState> pipeline, id<MTLBuffer> const *buffer, uint64_t bytes)
{
    double seconds = -1;
    @autoreleasepool {
        id<MTLCommandBuffer> const commands = [g->queue commandBuffer];
        id<MTLComputeCommandEncoder> const encoder = [commands computeCommandEncoder];
        [encoder setComputePipelineState:pipeline];
        for (NSUInteger i = 0; i < 3; i++)
            [encoder setBuffer:buffer[i] offset:0 atIndex:i];
        [encoder dispatchThreads:MTLSizeMake(bytes / THREAD_BYTES, 1, 1)
            threadsPerThreadgroup:MTLSizeMake(GROUP_THREADS, 1, 1)];
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        if ([commands status] == MTLCommandBufferStatusCompleted)
            seconds = [commands GPUEndTime] - [commands GPUStartTime];
    }
    return seconds;
}

static const struct stream *stream_of(const struct case_of *q)
{
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
        if (strcmp(streams[i].kernel, q->kernel) == 0)
            return &streams[i];
    return NULL;
}

static bool measure(const struct gpu *g, const struct case_of *q, char **argv, int passes)
{
    const struct stream *const s = stream_of(q);
    NSError *error = nil;
    id<MTLFunction> const function = s ? [g->library newFunctionWithName:[NSString stringWithUTF8String:s->function]] : nil;
    id<MTLComputePipelineState> const pipeline =
        function ? [g->device newComputePipelineStateWithFunction:function error:&error] : nil;
    id<MTLBuffer> buffer[3];
    if (!pipeline) {
        fprintf(stderr, "bench_gpu: no kernel %s: %s\n", q->kernel, error ? [[error localizedDescription] UTF8String] : "?");
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        buffer[i] = [g->device newBufferWithLength:(NSUInteger)q->bytes options:MTLResourceStorageModeShared];
        if (!buffer[i]) {
            fprintf(stderr, "bench_gpu: no room for %llu bytes\n", (unsigned long long)q->bytes);
            return false;
        }
        fill(buffer[i], q->bytes, 12345 + i);
    }
    const double begin = [NSDate timeIntervalSinceReferenceDate];
    do
        if (pass(g, pipeline, buffer, q->bytes) < 0)
            return false;
    while ([NSDate timeIntervalSinceReferenceDate] - begin < WARM_S);
    const bool right = is_right(s, buffer, q->bytes);
    for (int i = 1; i <= passes; i++)
        printf("%s,%s,%s,%s,\"%s\",gpu,%s:%llu,%s,%d,%.9g,%s\n", argv[1], argv[2], argv[3], argv[4], argv[5], q->kernel,
               (unsigned long long)q->bytes, q->precision, i, pass(g, pipeline, buffer, q->bytes), right ? "right" : "wrong");
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
        struct gpu g = {nil, nil, nil};
        if (!open_gpu(&g))
            return 1;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            right = measure(&g, &cases[i], argv, atoi(argv[6])) && right;
    }
    return right ? 0 : 1;
}
