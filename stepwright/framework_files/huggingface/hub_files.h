#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// The files that start a program built on transformers, sorted by their content.
struct HubFiles {
  const SourceFile* program = nullptr;     ///< File with the program's own settings; null: none.
  const SourceFile* accelerate = nullptr;  ///< Configuration file of Accelerate; null: none.
  const SourceFile* deepspeed = nullptr;   ///< Configuration file of DeepSpeed; null: none.
  const SourceFile* fsdp = nullptr;        ///< The file that `fsdp_config` names; null: none.
  /// The config.json of the program's model; nullopt: none.
  std::optional<Document> model;
  /// NAME=VALUE texts of the command line, which override `accelerate`.
  std::vector<std::string> launch;
  std::string name;                           ///< Name of the first file, for messages.
  std::vector<const SourceFile*> programs{};  ///< All files that can be `program`.
};

/// Sorts files, given in any order, by kind. Fails with `kInput` if two are of the same kind.
HubFiles sorted_hub_files(Sources files);

/// Sorts files that were given with a script. Several can hold the program's settings, because the
/// script names the right one.
HubFiles sorted_hub_files(std::span<const SourceFile* const> files);

/// Returns the settings of the program, with the contents of the file that `fsdp_config` names in
/// place of its path. Fails with `kInput` if that file was not given.
Document with_fsdp_file(Document said, const HubFiles& files);

/// Takes the model that a Hugging Face id or a path names, unless `--model` or a config.json has
/// set one. Fails with `kInput`, suggesting `--model`, if no built-in model has that id.
void take_hub_model(Node id, const UserFacts& given, ModelWords& model_words, ImportReport& report);

/// Returns the configuration in `files.program`, which must be set, with the user's settings and
/// the FSDP file that it names.
Document program_document(const HubFiles& files, const UserFacts& given);

}  // namespace stepwright::framework_files
