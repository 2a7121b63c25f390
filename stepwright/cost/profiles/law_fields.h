#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright::cost {

/// Constants of laws in files: microseconds for seconds, rates for seconds of one; a constant of 0
/// is left out.
double read_micros(Node node, std::string_view key);
double read_rate(Node node, std::string_view key);
void write_micros(nlohmann::ordered_json& json, const char* key, double seconds);
void write_rate(nlohmann::ordered_json& json, const char* key, double seconds_of_one);
double five_digits(double value);

}  // namespace stepwright::cost
