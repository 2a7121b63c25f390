#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::framework_files {

/// A ConfigContainer of Megatron-Bridge, converted to fields of Megatron.
struct BridgeFields {
  /// Fields by name. Settings that are no fields of Megatron are under `section.name`.
  Tree fields = Tree::mapping();
  /// Paths in the container, such as "train.micro_batch_size", by field.
  std::map<std::string, std::string> names;
  /// A field that was set without a line in the file; empty: none.
  std::string assumed;
  /// True if the file states all fields, as the YAML that training writes does.
  bool whole = false;
};

/// Sets the activation field from a model's `activation_func` and `gated_linear_unit`. Fails with
/// `kUnsupported` for an activation that no model has.
void set_bridge_activation(const Fields& model, Tree& fields);

/// Reads the sections of a ConfigContainer, whose classes and functions are named by `_target_`
/// (NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/utils/config_utils.py). Fails with
/// `kUnsupported` for an activation that no model has.
BridgeFields bridge_fields(Node root);

/// Renames the settings of a report to their names in the container. If the container states all
/// fields, a setting at Megatron's default counts as read, or is dropped if it has no effect.
void report_bridge(const BridgeFields& bridge, ImportReport& report);

}  // namespace stepwright::framework_files
