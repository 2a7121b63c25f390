#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/python/config.h"

namespace stepwright::framework_files {

/// A configuration of torchtitan. `document` has the same sections whether it was a TOML file or a
/// Python function.
struct TorchtitanConfiguration {
  YamlJsonDocument document;
  /// True for a TOML file (up to 0.2.2), false for a Python function.
  bool toml = true;
  /// The configuration as the Python function states it, with values that are not literals; empty
  /// for TOML.
  launch_scripts::PythonConfig python;
};

/// Key added to a torchtitan configuration for the model family ("llama3") in which its flavor
/// ("8B") is looked up.
inline constexpr std::string_view kTorchtitanModelFamilyKey = "family";

/// Reads torchtitan's configuration: TOML, JSON that torchtitan dumps or logs
/// (torchtitan/config/manager.py), or a Python function, which the user names; further files have
/// functions that it calls. Fails with `kUnsupported` if it does not pretrain a language model.
TorchtitanConfiguration read_titan_configuration(Sources files, const UserFacts& given);

/// Sets the model of a torchtitan fork that trains a transformers model: the config.json among
/// `files` that the setting `model.config` names. Fails with `kInput` if neither it nor `--model`
/// was given.
void set_titan_transformers_model(const TorchtitanConfiguration& file, Sources files,
                                  const UserFacts& given, StatedModel& model_words,
                                  ImportReport& report);

/// Reads a plan from a configuration of torchtitan, TOML or Python.
PlanDraft read_titan_plan(const TorchtitanConfiguration& file, const UserFacts& given,
                          PlanDraft draft, ImportReport& report);

}  // namespace stepwright::framework_files
