#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/python/config.h"

namespace stepwright::framework_files {

/// A configuration of torchtitan in one form: sections of the TOML file are the arguments of the
/// newer function.
struct TitanFile {
  Document document;
  bool toml = true;                     ///< Up to 0.2.2; else a Python function.
  launch_scripts::PythonConfig python;  ///< The configuration, if a Python function makes it.
};

/// Where a call of the registry says of which family it makes a flavor.
inline constexpr std::string_view kTitanFamily = "family";

/// Reads a TOML file, the JSON of a configuration that torchtitan dumps or prints in its log
/// (torchtitan/config/manager.py), or a registry of Python functions, of which `Given::function` is
/// taken; behind it the registries whose functions it calls. Fails with `kUnsupported` on what is
/// no pretraining of a language model.
TitanFile read_titan_file(Sources files, const Given& given);

/// Takes the model of a fork that trains a configuration of transformers (`model.config`) from
/// among the files. Fails with `kInput` where it is not given, and neither is `--model`.
void take_hub_configuration(const TitanFile& file, Sources files, const Given& given,
                            ModelWords& model_words, ImportReport& report);

/// Reads such a configuration.
Draft read_titan_config(const TitanFile& file, const Given& given, Draft draft,
                        ImportReport& report);

}  // namespace stepwright::framework_files
