#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

// Workloads of Megatron-Bridge's scripts/performance: recipes for each device use tables of
// workloads.

/// A callback that returns the value of a variable, by name, of the Python files that are imported;
/// nullopt if they do not define it.
using PythonVariableLookup = std::function<std::optional<DocumentTree>(const std::string& name)>;

/// Returns the result of Megatron-Bridge's `get_workload_base_config(arguments)`: degrees and batch
/// for one device type, completed with defaults. nullopt for other functions. Fails with `kInput`
/// if no file defines this workload.
std::optional<DocumentTree> megatron_bridge_workload(const std::string& function,
                                                     const DocumentTree& arguments,
                                                     const PythonVariableLookup& value);

/// Returns the number of devices (`num_gpus`) of a workload of Megatron-Bridge's performance
/// scripts; nullopt if it is not a positive number.
std::optional<std::int64_t> megatron_bridge_device_count(const DocumentTree& workload);

/// Returns the MixedPrecisionConfig that a Megatron-Bridge function returns:
/// `bf16_with_mxfp8_mixed()` and similar ones, `get_mixed_precision_config`,
/// `get_precision_config`. nullopt for other functions.
std::optional<DocumentTree> megatron_bridge_precision(const std::string& function,
                                                      const DocumentTree& arguments);

/// Returns Python source for what Megatron-Bridge's `apply_flex_dispatcher_backend` does on this
/// device; empty unless the device is of the generation of NVIDIA A100, H100 or B200, the only ones
/// that it distinguishes. Source: src/megatron/bridge/training/flex_dispatcher_backend.py.
std::string flex_dispatcher_python_source(const cluster::DeviceModel& device);

}  // namespace stepwright::framework_files
