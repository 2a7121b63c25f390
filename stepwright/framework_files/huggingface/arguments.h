#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// Reads files of transformers: a model's config.json, TrainingArguments as JSON or YAML or a
/// script that starts a program with them or with such a file, and the configurations of DeepSpeed
/// and Accelerate beside them; each at most once, in any order.
void read_huggingface(std::span<const launch_scripts::SourceFile> files, const Given& given,
                      Draft& draft);

/// Whether a command starts a program on transformers' Trainer: it has a batch of each device, or
/// a file of settings as TRL's scripts take it.
bool starts_trainer(std::span<const launch_scripts::ShellWord> words);

}  // namespace stepwright::framework_files
