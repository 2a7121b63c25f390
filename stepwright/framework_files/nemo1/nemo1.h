#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a configuration of NeMo 1 (sections `trainer` and `model`), or a shell script that starts
/// `megatron_gpt_pretraining.py` with one that is given beside it. Fails with `kUnsupported` on
/// PyTorch's FSDP, on adapters and on an activation that no model has.
void read_nemo1(std::span<const launch_scripts::SourceFile> files, const Given& given,
                Draft& draft);

}  // namespace stepwright::framework_files
