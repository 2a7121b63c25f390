#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// The files that start a program on transformers, by what their content says they are.
struct HubFiles {
  const SourceFile* program = nullptr;     ///< File of the program's own settings.
  const SourceFile* accelerate = nullptr;  ///< A configuration of Accelerate.
  const SourceFile* deepspeed = nullptr;   ///< A configuration of DeepSpeed.
  const SourceFile* fsdp = nullptr;        ///< File that `fsdp_config` names.
  std::optional<Document> model;           ///< The config.json of its model.
  std::vector<std::string> launch;         ///< NAME=VALUE of its command line, over `accelerate`.
  std::string name;                        ///< Name of the first file, for messages.
  std::vector<const SourceFile*> programs{};  ///< All that `program` may be.
};

/// Sorts files, in any order. Fails with `kInput` where two are of a kind.
HubFiles sorted_hub_files(Sources files);

/// Sorts files beside a script, which names the program's settings: several files may be those.
HubFiles sorted_hub_files(std::span<const SourceFile* const> files);

/// Returns the settings of the program, with the content of the file that `fsdp_config` names in
/// the place of its path. Fails with `kInput` where that file is not among those given.
Document with_fsdp_file(Document said, const HubFiles& files);

/// Takes the model that an id of Hugging Face or a path names, unless `--model` or a config.json
/// has said one. Fails with `kInput` naming `--model` where no built-in model has that id.
void take_hub_model(Node id, const Given& given, ModelWords& model_words, ImportReport& report);

/// The configuration of `files.program`, which is there, with a person's settings and the file of
/// FSDP that it names.
Document program_document(const HubFiles& files, const Given& given);

}  // namespace stepwright::framework_files
