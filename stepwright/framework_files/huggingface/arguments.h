#pragma once

#include <span>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// Reads files of transformers: a model's config.json, TrainingArguments as JSON or YAML, and the
/// configurations of DeepSpeed and Accelerate beside them; each at most once, in any order.
void read_huggingface(std::span<const SourceFile> files, const Given& given, Draft& draft);

/// Whether a file is a config.json or TrainingArguments.
bool is_huggingface(const SourceFile& file);

}  // namespace stepwright
