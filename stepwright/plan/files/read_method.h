#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns the training method that `objective` or `objective.kind` of a job names; nullopt if it
/// names a goal of the tuner or is not a word.
std::optional<MethodKind> method_kind(Node objective);

/// Returns the keys of `objective` that belong to training methods.
std::vector<std::string_view> method_keys();

/// Reads the training method of a job whose model, cluster and batch are set. Fails with `kInput`
/// on a key that the method lacks, on a missing rollout if the method generates, and on values out
/// of range.
TrainingMethod read_method(Node objective, MethodKind kind, const Job& job);

/// Writes the method into the mapping `objective`.
void write_method(nlohmann::ordered_json& objective, const TrainingMethod& method);

}  // namespace stepwright::plan
