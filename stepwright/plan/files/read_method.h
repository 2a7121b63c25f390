#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The method whose name stands as `objective` or `objective.kind` of a job; nullopt if that is a
/// goal of the tuner, or no word at all.
std::optional<MethodKind> method_kind(Node objective);

/// The keys of `objective` that say what a method does.
std::vector<std::string_view> method_keys();

/// Reads the method of a job whose model, cluster and batch are set. Fails with `kInput`: a key
/// that the method does not have, no rollout where it generates, and figures out of range.
TrainingMethod read_method(Node objective, MethodKind kind, const Job& job);

/// Writes the method into the mapping `objective`.
void write_method(nlohmann::ordered_json& objective, const TrainingMethod& method);

}  // namespace stepwright::plan
