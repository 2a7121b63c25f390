#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns the training method (sft, dpo, ...) named by a job's `objective` or `objective.kind`;
/// nullopt if it names a goal of the tuner or is not a word.
std::optional<TrainingMethodKind> training_method_named_by_objective(DocumentNode objective);

/// Returns the keys of a job's `objective` that describe a training method (rollout, reference,
/// ...).
std::vector<std::string_view> training_method_keys();

/// Reads the training method of a job from its `objective`; model, cluster and batch must be set
/// before. Fails with `kInput` on a key that the method lacks, on a missing rollout if it generates
/// sequences, and on values out of range.
TrainingMethod read_training_method(DocumentNode objective, TrainingMethodKind kind,
                                    const Job& job);

/// Adds the keys of a training method to a job's `objective` in JSON.
void write_training_method(nlohmann::ordered_json& objective, const TrainingMethod& method);

}  // namespace stepwright::plan
