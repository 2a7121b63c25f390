#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::framework_files {

/// A ConfigContainer of Megatron-Bridge as fields of Megatron.
struct BridgeFields {
  /// Settings that are no fields of Megatron stand under `section.name`.
  Tree fields = Tree::mapping();
  std::map<std::string, std::string> names;  ///< Places such as "train.micro_batch_size", by field.
  std::string assumed;                       ///< A field that no line says.
  bool whole = false;  ///< It states all there is, as the YAML that training writes does.
};

/// Sets the activation that `activation_func` and `gated_linear_unit` of a model are. Fails with
/// `kUnsupported` on one that no model has.
void set_bridge_activation(const Fields& model, Tree& fields);

/// Reads the sections of a ConfigContainer, whose classes and functions stand as `_target_`
/// (NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/utils/config_utils.py). Fails with
/// `kUnsupported` on an activation that no model has.
BridgeFields bridge_fields(Node root);

/// Calls the settings of a report as the container does. Of a whole one, what is as Megatron has it
/// anyway is read, or left off the report where it changes no figure.
void report_bridge(const BridgeFields& bridge, ImportReport& report);

}  // namespace stepwright::framework_files
