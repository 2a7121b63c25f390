#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/python/config.h"

namespace stepwright::framework_files {

/// A configuration of torchtitan from a TOML file or a Python function; `document` has the same
/// sections for both.
struct TitanFile {
  Document document;
  /// True for a TOML file (up to 0.2.2), false for a Python function.
  bool toml = true;
  /// The configuration that a Python function makes; unused for TOML.
  launch_scripts::PythonConfig python;
};

/// Key in a registry's call that holds the model family of a flavor.
inline constexpr std::string_view kTitanFamily = "family";

/// Reads a TOML file, the JSON of a configuration that torchtitan dumps or logs
/// (torchtitan/config/manager.py), or a registry of Python functions, of which
/// `UserFacts::function` is read; after the registry come other registries whose functions it
/// calls. Fails with `kUnsupported` if the file is no pretraining of a language model.
TitanFile read_titan_file(Sources files, const UserFacts& given);

/// Takes the model for a fork of torchtitan that trains a transformers model (`model.config`) from
/// the given files. Fails with `kInput` if neither that config.json nor `--model` was given.
void take_hub_configuration(const TitanFile& file, Sources files, const UserFacts& given,
                            ModelWords& model_words, ImportReport& report);

/// Reads a plan from a configuration of torchtitan in either form.
Draft read_titan_config(const TitanFile& file, const UserFacts& given, Draft draft,
                        ImportReport& report);

}  // namespace stepwright::framework_files
