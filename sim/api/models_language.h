/* Language models for the verb models: the zoo, and files of weights. */
#ifndef ORCHARD_SIM_API_MODELS_LANGUAGE_H
#define ORCHARD_SIM_API_MODELS_LANGUAGE_H

#include "sim/api/api.h"

struct shape_published;

/* The zoo as a table and a list, to which a document's rows are added. */
void models_language_list(struct api_context *context, json_object *rows);
int models_language_show(struct api_context *context, const struct shape_published *model);

/* Kinds of files: whether a file with this name and these first bytes is one, and what is in it. */
bool models_is_gguf(const char *path, const void *head, size_t size, uint64_t file_bytes);
int models_show_gguf(struct api_context *context, const char *path);
bool models_is_safetensors(const char *path, const void *head, size_t size, uint64_t file_bytes);
int models_show_safetensors(struct api_context *context, const char *path);
/* A folder that transformers saved (sim/language/transformers.h). */
int models_show_folder(struct api_context *context, const char *path);
bool models_is_config(const char *path, const void *head, size_t size, uint64_t file_bytes);
int models_show_config(struct api_context *context, const char *path);

/* ---- between the files of this part ---- */

struct language_shape;
struct weight_list;

/* What a model is and which memories hold it, as members of a document and as text. `file_bytes`: of its weights as they are; 0 =
 * the usual formats are shown. */
int models_shape_answer(struct api_context *context, json_object *document, const struct language_shape *shape,
                        uint64_t file_bytes);
/* Tensors of a file: members of a document, and text. */
void models_tensors_json(json_object *document, const struct weight_list *list);
void models_tensors_text(struct api_context *context, const struct weight_list *list);

#endif
