#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::framework_files {

/// A ConfigContainer of Megatron-Bridge, converted to fields of Megatron-Core's configuration.
struct MegatronBridgeFields {
  /// Settings of the ConfigContainer by the names of Megatron-Core's fields; a setting that is no
  /// such field has its path, `section.name`, as key.
  DocumentTree fields = DocumentTree::make_empty_mapping();
  /// Path in the container ("train.micro_batch_size") of each Megatron-Core field, for reports.
  std::map<std::string, std::string> names;
  /// Name of a Megatron-Core field that was given a value although the file does not state it;
  /// empty: none.
  std::string assumed;
  /// True if the imported file states all fields, even those at their defaults, like the
  /// ConfigContainer.yaml that training writes.
  bool whole = false;
};

/// Sets the field `activation` ("swiglu", "gelu", ...) from a model's `activation_func` and
/// `gated_linear_unit`. Fails with `kUnsupported` for an activation that no model here has.
void set_megatron_bridge_activation(const FrameworkSettingsReader& model, DocumentTree& fields);

/// Converts a ConfigContainer (YAML with `_target_` for classes) to fields of Megatron-Core
/// (NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/utils/config_utils.py). Fails with
/// `kUnsupported` for an activation that no model here has.
MegatronBridgeFields megatron_bridge_fields(DocumentNode root);

/// Renames the settings of a report from Megatron-Core's fields to their paths in the
/// ConfigContainer. If the container states all fields, unread settings without effect are reported
/// as read if plans have their field, and dropped otherwise.
void report_megatron_bridge_settings(const MegatronBridgeFields& bridge, ImportReport& report);

}  // namespace stepwright::framework_files
