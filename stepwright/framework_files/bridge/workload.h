#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

// Megatron-Bridge's scripts/performance: recipes by device, over tables of workloads.

/// Returns the value that a function of the files gives by a name in them.
using PythonValue = std::function<std::optional<Tree>(const std::string& name)>;

/// The workload that `get_workload_base_config` finds for its arguments, with the defaults of its
/// class; nothing for other functions. Fails with `kInput` where no file has it, with its name.
std::optional<Tree> bridge_workload(const std::string& function, const Tree& arguments,
                                    const PythonValue& value);

/// Devices that a workload is for.
std::optional<std::int64_t> bridge_devices(const Tree& workload);

/// Returns the precision that `bf16_with_mxfp8_mixed()` and its like give,
/// `get_mixed_precision_config` and `get_precision_config`; nothing for other functions.
std::optional<Tree> bridge_precision(const std::string& function, const Tree& arguments);

/// Returns the effect of `apply_flex_dispatcher_backend` on a model on a device, as text of Python;
/// empty where the device is none of NVIDIA's that are told apart.
/// src/megatron/bridge/training/flex_dispatcher_backend.py.
std::string bridge_flex_dispatcher(const cluster::Device& device);

}  // namespace stepwright::framework_files
