#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/model/architecture.h"

namespace stepwright::cli {

/// Returns the models that `stepwright list models` lists, as a JSON array; `profiles_json` and the
/// other functions return the entries of the other lists.
nlohmann::ordered_json models_json();
/// Returns a JSON array with one entry, for one model. `length`: sequence length in tokens for its
/// FLOPs per token; 0: a usual length.
nlohmann::ordered_json model_list_json(const model::ModelArchitecture& model, std::int64_t length);
nlohmann::ordered_json profiles_json();
nlohmann::ordered_json shardings_json();
nlohmann::ordered_json schedules_json();
nlohmann::ordered_json collectives_json();
nlohmann::ordered_json frameworks_json();

/// Returns a table for people from the JSON array of `list models`; `profiles_text` and
/// `shardings_text`: from that of `list profiles` or `list shardings`.
std::string models_text(const nlohmann::ordered_json& models);
std::string profiles_text(const nlohmann::ordered_json& profiles);
std::string shardings_text(const nlohmann::ordered_json& shardings);
/// Returns a table of pipeline schedules: name, whether it is supported, description.
std::string schedule_list_text(const nlohmann::ordered_json& entries);
/// Returns a table of collective algorithms: name, whether a plan may name it, whether this project
/// generates schedules for it, description.
std::string collective_algorithms_table(const nlohmann::ordered_json& entries);
/// Returns a table of frameworks with a line for each choice in which they differ, and the kernels
/// of each framework.
std::string framework_table_text(const nlohmann::ordered_json& frameworks);

}  // namespace stepwright::cli
