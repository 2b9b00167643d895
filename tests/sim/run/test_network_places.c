/* Generated whole numbers are places of what networks look up by them. */
#include "sim/network/network.h"
#include "sim/run/network/run_network_places.h"
#include "tests/sim/network/network_text.h"

static int64_t places(const char *text)
{
    struct orch_error error = {0};
    struct net_model *const model = network_of(text);
    CHECK(net_prepare(model, &(struct net_open_options){.level = 0}, NULL, &error), "%s", error.text);
    const int64_t most = run_network_places(model, model->graph->input[0], 16);
    net_model_free(model);
    return most;
}

static void test_places(void)
{
    static const struct {
        const char *text;
        int64_t most;
    } rows[] = {{"in i i64[4]\nconst t f32[100,8] random\ny = Gather(t, i)\nout y\n", 16},
                {"in i i64[4]\nconst t f32[3,8] random\ny = Gather(t, i)\nout y\n", 3},
                {"in i i64[4]\nconst t f32[3,8] random\ny = Gather(t, i) axis=-1\nout y\n", 8},
                {"in i i64[2,2]\nconst t f32[5,7] random\ny = GatherND(t, i)\nout y\n", 5},
                {"in i i64[2,2]\nconst t f32[5,1] random\ny = GatherElements(t, i) axis=1\nout y\n", 1},
                /* through operators that hand elements on, and by the least of two uses */
                {"in i i32[4]\nconst a i64[1] 0\nconst t f32[9,2] random\nconst u f32[6,2] random\nj = Cast(i) to=7\n"
                 "k = Unsqueeze(j, a)\ny = Gather(t, k)\nz = Gather(u, j)\nout y\nout z\n",
                 6},
                /* what is looked up is no place */
                {"in i i64[4]\nconst k i64[2] 0 1\nconst t f32[3,2] random\nj = Gather(i, k)\ny = Gather(t, j)\nout y\n", 3},
                {"in i i64[4]\nconst k i64[4] 1 2 3 4\ny = Add(i, k)\nout y\n", 16},
                {"in a i64[]\nconst t f32[3,2] random\ny = CumSum(t, a)\nout y\n", 1}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        CHECK(places(rows[k].text) == rows[k].most, "%s: %lld", rows[k].text, (long long)places(rows[k].text));
}

static const struct suite_test tests[] = {{"places", test_places}};
SUITE_MAIN("network_places", tests)
