#pragma once

#include <string>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Returns a plan and its job as a mapping from Megatron-Core's configuration fields
/// (`settings.yaml`: model, parallelism, optimizer, training loop) to values, for a release of
/// Megatron-Core.
DocumentTree megatron_fields(const plan::PlannedJob& planned, std::string_view release);

/// Reads a plan and its job from Megatron-Core's configuration fields into `draft`, which may
/// already have numbers of ranks and nodes. `file` is the file's name in messages. Fails with
/// `kInput` for contradictory or unknown values.
PlanDraft read_megatron_fields(const FrameworkSettingsReader& fields, PlanDraft draft,
                               ImportReport& report, const UserFacts& given,
                               const std::string& file);

}  // namespace stepwright::framework_files
