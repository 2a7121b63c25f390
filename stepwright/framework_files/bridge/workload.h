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

/// Returns the value that the files give a name; nullopt if there is none.
using PythonValue = std::function<std::optional<Tree>(const std::string& name)>;

/// Returns the workload that `get_workload_base_config` finds for its arguments, with the defaults
/// of its class; nullopt for other functions. Fails with `kInput`, naming the workload, if no file
/// has it.
std::optional<Tree> bridge_workload(const std::string& function, const Tree& arguments,
                                    const PythonValue& value);

/// Returns the number of devices that a workload is for; nullopt: not stated.
std::optional<std::int64_t> bridge_devices(const Tree& workload);

/// Returns the precision that `bf16_with_mxfp8_mixed()` and similar functions,
/// `get_mixed_precision_config` or `get_precision_config` return; nullopt for other functions.
std::optional<Tree> bridge_precision(const std::string& function, const Tree& arguments);

/// Returns the effect of `apply_flex_dispatcher_backend` on a model, as Python text; empty if the
/// device is none of the NVIDIA devices that the function distinguishes. Source:
/// src/megatron/bridge/training/flex_dispatcher_backend.py.
std::string bridge_flex_dispatcher(const cluster::Device& device);

}  // namespace stepwright::framework_files
