/* Expressions of the models' own tokenizers (the entry "pre_tokenizer" of their tokenizer.json); names and expressions as
 * llama.cpp lists them (src/llama-vocab.cpp at commit 00ad355).
 */
#include "sim/language/text_split.h"

#include "isa/array_count.h"

#include <string.h>

#define GPT2_EXPRESSION "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
#define CONTRACTIONS    "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES          "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
/* The expression of cl100k and its kin; they differ in how many digits stay together. */
#define WORDS(digits) CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES
/* Words in which a capital begins a new piece. */
#define CASED_LOWER        "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
#define CASED_UPPER        "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
#define CASED(end, digits) CASED_LOWER end "|" CASED_UPPER end "|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES
/* Letters of the scripts with upper and lower case, as DeepSeek lists them. */
/* clang-format off */
#define DEEPSEEK_LETTERS \
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-Ⴥ" \
    "Ꭰ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\u1f7dᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄ" \
    "ῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴ" \
    "ℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓" \
    "𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
/* clang-format on */

/* clang-format off */
static const struct split_family families[] = {
    {"default", false, false, {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2_EXPRESSION, "\\p{N}+", "[0-9][0-9][0-9]"}},
    {"gpt-2 gpt2 mpt olmo jais trillion phi-2 jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe gigachat "
     "exaone4 granite-docling", false, false, {GPT2_EXPRESSION}},
    {"falcon", false, false, {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2_EXPRESSION, "[0-9][0-9][0-9]"}},
    {"llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral", true, true, {WORDS("\\p{N}{1,3}")}},
    {"dbrx smaug-bpe chatglm-bpe glm4", false, false, {WORDS("\\p{N}{1,3}")}},
    {"qwen2 deepseek-r1-qwen stablelm2 hunyuan megrez grok-2", false, false, {WORDS("\\p{N}")}},
    {"starcoder refact command-r smollm codeshell exaone minerva-7b", false, false, {"\\p{N}", GPT2_EXPRESSION}},
    {"deepseek-llm", false, false,
     {"[\\r\\n]", "\\s?[" DEEPSEEK_LETTERS "]+", "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+", "\\s+$", "[一-龥ࠀ-一가-\ud7ff]+",
      "\\p{N}+"}},
    {"deepseek-coder", false, false, {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+", "\\p{N}"}},
    {"deepseek-v3 hunyuan-dense", false, false,
     {"\\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
      " ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES}},
    {"tekken", true, true, {CASED("", "\\p{N}")}},
    {"gpt-4o llama4", false, false, {CASED(CONTRACTIONS "?", "\\p{N}{1,3}")}},
};
/* clang-format on */

const struct split_family *split_family_at(size_t index)
{
    return index < ARRAY_COUNT(families) ? &families[index] : NULL;
}

static bool has_name(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; length && (at = strstr(at, name)); at++)
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

const struct split_family *split_family_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(families); i++)
        if (has_name(families[i].names, name))
            return &families[i];
    return NULL;
}
