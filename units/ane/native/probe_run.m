/* Runs the probes on the Neural Engine of this Mac and names the rules that agree with it. `make native` there builds it.
 *
 * Core ML may choose another unit. The same sums on the CPU are printed beside: where both agree in every probe, the Neural Engine
 * has probably not been asked.
 */
#import <CoreML/CoreML.h>
#import <Foundation/Foundation.h>

#include "units/ane/native/ane_probes.h"

static MLModel *open_model(NSURL *compiled, MLComputeUnits units)
{
    NSError *error = nil;
    MLModelConfiguration *configuration = [[MLModelConfiguration alloc] init];
    configuration.computeUnits = units;
    MLModel *model = [MLModel modelWithContentsOfURL:compiled configuration:configuration error:&error];
    if (!model)
        NSLog(@"%@", error);
    return model;
}

static double ask(MLModel *model, const struct probe *probe)
{
    NSError *error = nil;
    MLMultiArray *x = [[MLMultiArray alloc] initWithShape:@[ @(PROBE_CHANNELS), @1, @1 ] dataType:MLMultiArrayDataTypeFloat32 error:&error];
    for (NSInteger i = 0; i < PROBE_CHANNELS; i++)
        x[i] = @(probe->value[i]);
    MLDictionaryFeatureProvider *input = [[MLDictionaryFeatureProvider alloc] initWithDictionary:@{@"x" : x} error:&error];
    id<MLFeatureProvider> output = [model predictionFromFeatures:input error:&error];
    if (!output)
        NSLog(@"%@", error);
    return output ? [output featureValueForName:@"sum"].multiArrayValue[0].doubleValue : NAN;
}

int main(void)
{
    @autoreleasepool {
        unsigned char bytes[8192];
        const size_t size = probe_model(bytes, sizeof bytes);
        NSURL *file = [NSURL fileURLWithPath:[NSTemporaryDirectory() stringByAppendingPathComponent:@"orchard_probes.mlmodel"]];
        NSError *error = nil;
        if (![[NSData dataWithBytes:bytes length:size] writeToURL:file options:0 error:&error]) {
            NSLog(@"%@", error);
            return 1;
        }
        NSURL *compiled = [MLModel compileModelAtURL:file error:&error];
        MLModel *engine = compiled ? open_model(compiled, MLComputeUnitsCPUAndNeuralEngine) : nil;
        MLModel *cpu = compiled ? open_model(compiled, MLComputeUnitsCPUOnly) : nil;
        if (!engine || !cpu) {
            NSLog(@"the model of the probes is refused: %@", error);
            return 1;
        }
        bool agrees[PROBE_RULES];
        for (unsigned n = 0; n < PROBE_RULES; n++)
            agrees[n] = true;
        for (size_t i = 0; i < probe_count(); i++) {
            struct probe probe;
            probe_make(i, &probe);
            const double found = ask(engine, &probe);
            printf("%-36s %a (CPU %a)\n", probe.what, found, ask(cpu, &probe));
            for (unsigned n = 0; n < PROBE_RULES; n++) {
                const struct probe_rule rule = probe_rule(n);
                agrees[n] = agrees[n] && probe_sum(&probe, &rule) == found;
            }
        }
        char text[64];
        for (unsigned n = 0; n < PROBE_RULES; n++)
            if (agrees[n])
                printf("agrees: %s%s\n", probe_rule_name(n, text), n == 0 ? " (as orchard has it)" : "");
    }
    return 0;
}
