#pragma once

#include <span>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// Reads the training part of the policy of a NeMo-RL configuration: Megatron-Core (megatron_cfg)
/// or DTensor (dtensor_cfg). A file goes over the one that its `defaults` names, where that is
/// given too. Generation, reference and critic are left out.
void read_nemo_rl(std::span<const SourceFile> files, const Given& given, Draft& draft);

/// Whether a file is such a configuration.
bool is_nemo_rl(const SourceFile& file);

}  // namespace stepwright
