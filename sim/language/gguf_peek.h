/* What a GGUF file says it holds, without reading all of it. */
#ifndef ORCHARD_SIM_LANGUAGE_GGUF_PEEK_H
#define ORCHARD_SIM_LANGUAGE_GGUF_PEEK_H

#include <stdbool.h>
#include <stddef.h>

/* Its general.architecture, cut to fit. False when the file cannot be read, is none of GGUF, is damaged, or does not say. */
bool gguf_peek_architecture(const char *path, char *text, size_t size);

#endif
