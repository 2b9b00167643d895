/* Arbitrary bytes as config.pbtxt: refused with the line, or a configuration that a batcher can use. The bytes are also a file of
 * arrivals, whose requests come in the order of time. */
#include "sim/load/arrivals.h"
#include "sim/load/model_config.h"
#include "sim/load/text_proto.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned one(const void *context, size_t index)
{
    (void)context;
    return 1 + (unsigned)(index % 3);
}

static void use(const struct model_config *c)
{
    struct orch_error error = {0};
    if (!batch_rule_is_sound(&c->rule, &error) || c->groups > MODEL_CONFIG_GROUPS || c->ignored_count > MODEL_CONFIG_IGNORED)
        abort();
    for (size_t waiting = 1; waiting < 20; waiting++) {
        const struct batch_decision d = batch_decide(&c->rule, &(struct batch_queue){waiting, 0.001, one, NULL});
        if (d.requests > waiting || (d.requests > 1 && d.samples > c->rule.most) || (d.requests == 0 && !(d.wait_s > 0)))
            abort();
    }
}

static void as_arrivals(const char *text, size_t size)
{
    static const char *const models[] = {"a", "b"};
    struct orch_error error = {0};
    struct arrivals a;
    const bool ok = arrivals_parse("fuzz", text, size, models, 2, &a, &error);
    if (!ok && (error.exit_code == 0 || !*error.text))
        abort();
    for (size_t i = 1; ok && i < a.count; i++)
        if (a.item[i].time_s < a.item[i - 1].time_s || a.item[i].model >= 2 || a.item[i].samples < 1)
            abort();
    arrivals_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orch_error error = {0};
    struct model_config c;
    if (model_config_parse("fuzz", (const char *)data, size, &c, &error))
        use(&c);
    else if (error.exit_code == 0 || strncmp(error.text, "fuzz:", 5) != 0)
        abort();
    struct text_proto *const m = text_proto_parse("fuzz", (const char *)data, size, &error);
    text_proto_free(m);
    as_arrivals((const char *)data, size);
    return 0;
}
