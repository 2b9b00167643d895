/* AMX text and operands from arbitrary bytes: nothing crashes, and what assembles or disassembles survives the way back. */
#include "isa/amx/amx_isa.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_word(uint32_t word)
{
    char text[AMX_TEXT_BYTES];
    uint32_t back;
    uint64_t operand;
    bool has_operand;
    struct isa_error error;
    require(amx_disasm_word(word, text, sizeof text) < (int)sizeof text);
    require(amx_asm_line(text, &back, &operand, &has_operand, &error) && back == word && !has_operand);
}

static void check_operand(unsigned op, uint64_t operand, enum amx_gen gen)
{
    char fields[AMX_TEXT_BYTES], line[AMX_TEXT_BYTES + 32];
    uint32_t word;
    uint64_t back;
    bool has_operand;
    struct isa_error error;
    struct amx_effect effect;
    amx_effect_of(op, operand, gen, &effect);
    require(amx_disasm_operand(op, operand, gen, fields, sizeof fields) < (int)sizeof fields);
    if (op >= AMX_OP_COUNT || op == AMX_SETCLR)
        return;
    snprintf(line, sizeof line, "%s {%s}", amx_op_name(op, operand), fields);
    require(amx_asm_line(line, &word, &back, &has_operand, &error) && has_operand && back == operand && amx_word_op(word) == op);
}

/* A line that assembles means what its disassembly says. */
static void check_line(const char *line)
{
    uint32_t word;
    uint64_t operand;
    bool has_operand;
    struct isa_error error = {.text = ""};
    if (!amx_asm_line(line, &word, &operand, &has_operand, &error))
        require(error.text[0] != '\0' && !strchr(error.text, '\n'));
    else if (has_operand)
        check_operand(amx_word_op(word), operand, AMX_GEN_M4);
    else
        check_word(word);
}

/* Real mnemonics in front of arbitrary text get past the first check of the assembler. */
static void check_fields(unsigned op, const char *text)
{
    char line[512];
    snprintf(line, sizeof line, "%s {%s", amx_op_name(op % AMX_OP_COUNT, 0), text);
    check_line(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 14) {
        uint32_t word;
        uint64_t operand;
        memcpy(&word, data, sizeof word);
        memcpy(&operand, data + 4, sizeof operand);
        check_word(word);
        check_operand(data[12] & 31, operand, (enum amx_gen)(AMX_GEN_M1 + (data[13] & 3)));
    }
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    check_line(text);
    check_fields(size ? data[0] : 0, text);
    free(text);
    return 0;
}
