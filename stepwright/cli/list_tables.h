#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/model/architecture.h"

namespace stepwright::cli {

/// Returns the entries that `stepwright list models` prints, as a JSON array; the functions below
/// return the other lists.
nlohmann::ordered_json models_json();
/// Returns one model as a JSON array with one entry. `length`: sequence length for its FLOPs per
/// token; 0: a usual length.
nlohmann::ordered_json model_list_json(const model::Architecture& model, std::int64_t length);
nlohmann::ordered_json profiles_json();
nlohmann::ordered_json shardings_json();
nlohmann::ordered_json schedules_json();
nlohmann::ordered_json collectives_json();
nlohmann::ordered_json frameworks_json();

/// Returns a table of models (profiles, shardings) from its JSON array, for people.
std::string models_text(const nlohmann::ordered_json& models);
std::string profiles_text(const nlohmann::ordered_json& profiles);
std::string shardings_text(const nlohmann::ordered_json& shardings);
/// Returns a table of schedules: name, whether it is supported, description.
std::string schedule_list_text(const nlohmann::ordered_json& entries);
/// Returns a table of collective algorithms: name, whether a plan may name it, whether
/// `collective/` generates schedules for it, description.
std::string collectives_text(const nlohmann::ordered_json& entries);
/// Returns a table of frameworks with a line for each ability, and the kernels of each framework.
std::string frameworks_text(const nlohmann::ordered_json& frameworks);

}  // namespace stepwright::cli
