#include "sim/network/zoo/zoo.h"

#include <ctype.h>
#include <string.h>

extern const char net_zoo_macros[];

/* Blocks of many networks. cbr:CHANNELS,ROWS,STRIDE,PAD is convolution, normalisation, ReLU. */
const char net_zoo_macros[] =
    "def cbr { conv:$1,$2,s=$3,p=$4 bn relu }\n"
    /* A stage of a residual network begins with a block that changes channels or size. */
    "def basic { >x conv:$1,3,p=1 bn relu conv:$1,3,p=1 bn +x relu }\n"
    "def basic_first { >x conv:$1,3,s=2,p=1 bn relu conv:$1,3,p=1 bn >y <x conv:$1,1,s=2 bn +y relu }\n"
    "def neck { >x cbr:$1,1,1,0 cbr:$1,3,1,1 conv:$1*4,1 bn +x relu }\n"
    "def neck_first { >x cbr:$1,1,1,0 cbr:$1,3,$2,1 conv:$1*4,1 bn >y <x conv:$1*4,1,s=$2 bn +y relu }\n"
    /* Squeeze and excitation: se:CHANNELS between, of MobileNetV3. */
    "def se { >s gap conv:$1,1,b=1 relu conv:$2,1,b=1 hsigmoid *s }\n"
    /* Attention of a width $1 with $2 heads over the current value; m = the mask that $3 names. */
    "def self { >x linear:$1 heads:$2 >q <x linear:$1 heads:$2 >k <x linear:$1 heads:$2 >v attend:q,k,v merge linear:$1 }\n"
    "def self_causal { >x linear:$1 heads:$2 >q <x linear:$1 heads:$2 >k <x linear:$1 heads:$2 >v attend:q,k,v,m=causal merge "
    "linear:$1 }\n"
    /* Encoders that normalise behind the sum (BERT), and before the branch (ViT). */
    "def encoder { >x self:$1,$2 +x norm >y linear:$3 gelu linear:$1 +y norm }\n"
    "def encoder_pre { >x norm self:$1,$2 +x >y norm linear:$3 gelu linear:$1 +y }\n"
    "def clip_layer { >x norm self:$1,$2 +x >y norm linear:$1*4 quickgelu linear:$1 +y }\n"
    "def clip_causal { >x norm self_causal:$1,$2 +x >y norm linear:$1*4 quickgelu linear:$1 +y }\n";

static const struct net_zoo_model models[] = {
#define NETWORK(name, text, parameters, source, notation) {name, text, parameters, source, notation},
#include "sim/network/zoo/networks.inc"
#undef NETWORK
};

const struct net_zoo_model *net_zoo_at(size_t index)
{
    return index < sizeof models / sizeof models[0] ? &models[index] : NULL;
}

/* The next character that counts, in lower case; 0 at the end. */
static char next(const char **at)
{
    while (**at && strchr("-_. ", **at))
        ++*at;
    return **at ? (char)tolower((unsigned char)*(*at)++) : '\0';
}

static bool is_called(const char *name, const char *asked)
{
    char a, b;
    do {
        a = next(&name);
        b = next(&asked);
    } while (a && a == b);
    return a == b;
}

const struct net_zoo_model *net_zoo_find(const char *name)
{
    const size_t prefix = sizeof NET_ZOO - 1;
    const char *const own = strncmp(name, NET_ZOO, prefix) == 0 ? name + prefix : name;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (is_called(models[i].name, own))
            return &models[i];
    return NULL;
}
