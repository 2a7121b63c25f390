#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// A section of torchtitan's configuration: its keys and values, in order.
struct TitanConfigurationSection {
  std::string name;
  DocumentTree values = DocumentTree::make_empty_mapping();
};

/// Returns a value in the syntax of Python (`python`) or TOML.
std::string torchtitan_config_value_text(const DocumentTree& value, bool python);

/// Returns a Python module for torchtitan 0.3 whose function `stepwright_plan` returns a
/// Trainer.Config with these sections and a few steps on a small data set. The model is a built-in
/// flavor, or a Llama with the plan's sizes (torchtitan/models/llama3/__init__.py).
std::string titan_python_module_text(const plan::PlannedJob& planned,
                                     const TitanConfigurationSection& training,
                                     const TitanConfigurationSection& parallelism);

}  // namespace stepwright::framework_files
