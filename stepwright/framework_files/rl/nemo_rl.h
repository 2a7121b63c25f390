#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Writes a configuration of NeMo-RL whose policy trains under Megatron-Core, for a few steps of
/// supervised training on a public data set. Fails with `kUnsupported` on what it has no keys for.
std::string write_nemo_rl(const plan::PlannedJob& planned, const std::vector<std::string>& header);

/// Reads the training part of the policy of a NeMo-RL configuration: Megatron-Core (megatron_cfg)
/// or DTensor (dtensor_cfg). A file goes over the one that its `defaults` names, where that is
/// given too. Generation, reference and critic are left out.
void read_nemo_rl(std::span<const launch_scripts::SourceFile> files, const Given& given,
                  Draft& draft);

}  // namespace stepwright::framework_files
