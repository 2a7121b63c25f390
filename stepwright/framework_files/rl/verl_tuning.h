#pragma once

#include <string>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Reads a configuration of verl's supervised fine-tuning: `verl.trainer.fsdp_sft_trainer` (0.2 to
/// 0.6, trainer/config/sft_trainer.yaml), or `verl.trainer.sft_trainer` with an engine (since 0.6,
/// sft_trainer_engine.yaml). Fails with `kUnsupported` for engines other than FSDP and Megatron.
PlanDraft read_verl_fine_tuning(const FrameworkSettingsReader& root, const std::string& file,
                                const std::string& engine, const UserFacts& given, PlanDraft draft,
                                ImportReport& report);

}  // namespace stepwright::framework_files
