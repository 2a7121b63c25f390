#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright::cost {

/// Read and write constants of laws in files: microseconds for seconds, and rates (units per
/// second) for seconds of one unit. A constant of 0 has no key, and neither has a rate above 1e20,
/// which no message or computation would show.
double read_micros(Node node, std::string_view key);
double read_rate(Node node, std::string_view key);
void write_micros(nlohmann::ordered_json& json, const char* key, double seconds);
void write_rate(nlohmann::ordered_json& json, const char* key, double seconds_of_one);
/// Returns the value rounded to five digits; 0 below 1e-300.
double round_to_five_digits(double value);

}  // namespace stepwright::cost
