#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// The files with which a program built on Hugging Face transformers is started, sorted by their
/// content.
struct TransformersProgramFiles {
  /// File with the transformers program's own settings; null: none.
  const SourceFile* program = nullptr;
  const SourceFile* accelerate = nullptr;  ///< Configuration file of Accelerate; null: none.
  const SourceFile* deepspeed = nullptr;   ///< Configuration file of DeepSpeed; null: none.
  /// JSON file with FSDP's options, which `fsdp_config` names; null: none.
  const SourceFile* fsdp = nullptr;
  /// The config.json of the program's model; nullopt: none.
  std::optional<YamlJsonDocument> model;
  /// Options of `accelerate launch` as NAME=VALUE texts, which override Accelerate's configuration
  /// file.
  std::vector<std::string> launch;
  std::string name;  ///< Name of the first given file, for error messages.
  /// All files that may hold the program's own settings.
  std::vector<const SourceFile*> programs{};
};

/// Sorts files for a transformers program by kind: program settings, Accelerate, DeepSpeed, FSDP,
/// model. Fails with `kInput` if two are of the same kind.
TransformersProgramFiles sort_transformers_files(Sources files);

/// Sorts the files that were given with a shell script by kind. Several may hold program settings,
/// because the script names the right one; any other kind may occur once, else this fails with
/// `kInput`.
TransformersProgramFiles sort_transformers_files(std::span<const SourceFile* const> files);

/// Returns a value without its line numbers, which would be wrong in another file's document.
DocumentTree without_line_numbers(DocumentTree tree);

/// Returns the program's settings `said` with the path under `fsdp_config` replaced by the contents
/// of the file with FSDP's options that it names. Fails with `kInput` if the user did not give this
/// file.
YamlJsonDocument with_fsdp_file_contents(YamlJsonDocument said,
                                         const TransformersProgramFiles& files);

/// Sets the model to the built-in one that a Hugging Face id or a path names, unless `--model` or a
/// config.json has set one. Fails with `kInput`, suggesting `--model`, if no built-in model has
/// that id.
void set_model_by_hub_id(DocumentNode id, const UserFacts& given, StatedModel& model_words,
                         ImportReport& report);

/// Returns the program's settings from `files.program` (must not be null), overridden by the user's
/// settings, and with the FSDP file that they name.
YamlJsonDocument program_settings_document(const TransformersProgramFiles& files,
                                           const UserFacts& given);

}  // namespace stepwright::framework_files
