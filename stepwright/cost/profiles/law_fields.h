#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright::cost {

/// Reads a time in microseconds from a file and returns it in seconds; 0 if the key is absent.
double read_microseconds(DocumentNode node, std::string_view key);
/// Reads a rate in units per second from a file and returns the seconds per unit; 0 if the key is
/// absent.
double read_rate_as_seconds_per_unit(DocumentNode node, std::string_view key);
/// Writes a time in seconds to JSON as microseconds; writes no key for 0.
void write_seconds_as_microseconds(nlohmann::ordered_json& json, const char* key, double seconds);
/// Writes the seconds of one unit to JSON as a rate in units per second; writes no key for rates
/// above 1e20, which no message or computation would show.
void write_seconds_per_unit_as_rate(nlohmann::ordered_json& json, const char* key,
                                    double seconds_of_one);
/// Returns the value rounded to five significant digits; 0 if it is below 1e-300.
double round_to_five_digits(double value);

}  // namespace stepwright::cost
