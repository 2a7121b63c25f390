#pragma once

#include <string>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Returns a plan and its job as fields of Megatron-Core's configuration, of its data-parallel
/// wrapper and of the training loop, with the names in `settings.yaml`. `release` is a release of
/// Megatron-Core.
Tree megatron_fields(const plan::PlannedJob& planned, std::string_view release);

/// Reads the fields that `megatron_fields` writes into `draft`, which can already have ranks and
/// nodes. `file` is the file's name in messages. Fails with `kInput` for contradictory or unknown
/// words.
Draft read_megatron_fields(const Fields& fields, Draft draft, ImportReport& report,
                           const UserFacts& given, const std::string& file);

}  // namespace stepwright::framework_files
