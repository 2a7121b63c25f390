#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/model/architecture.h"

namespace stepwright::cli {

/// The entries of `stepwright list`, each as a JSON array of named entries.
nlohmann::ordered_json models_json();
/// One model as such an array, with FLOPs per token at `length`; 0: at a usual one.
nlohmann::ordered_json model_list_json(const model::Architecture& model, std::int64_t length);
nlohmann::ordered_json profiles_json();
nlohmann::ordered_json shardings_json();
nlohmann::ordered_json schedules_json();
nlohmann::ordered_json collectives_json();
nlohmann::ordered_json frameworks_json();

/// Tables of models, profiles and shardings, for people.
std::string models_text(const nlohmann::ordered_json& models);
std::string profiles_text(const nlohmann::ordered_json& profiles);
std::string shardings_text(const nlohmann::ordered_json& shardings);
/// A table of schedules: name, whether it is supported, what it is.
std::string described_text(const nlohmann::ordered_json& entries);
/// Name, whether a plan may say it, whether `collective/` makes schedules of it, what it is.
std::string collectives_text(const nlohmann::ordered_json& entries);
/// A table of frameworks with a line for each ability, and the kernels of each.
std::string frameworks_text(const nlohmann::ordered_json& frameworks);

}  // namespace stepwright::cli
