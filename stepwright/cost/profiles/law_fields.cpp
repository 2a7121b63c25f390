#include "stepwright/cost/profiles/law_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace stepwright::cost {
namespace {

constexpr double kLongestUs = 1e12;
constexpr double kLeastRate = 1e-3;
constexpr double kMostRate = 1e21;

}  // namespace

double read_micros(Node node, std::string_view key) {
  const auto found = node.find(key);
  return found ? 1e-6 * found->number(0, kLongestUs) : 0;
}

double read_rate(Node node, std::string_view key) {
  const auto found = node.find(key);
  return found ? 1 / found->number(kLeastRate, kMostRate) : 0;
}

double five_digits(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

void write_micros(nlohmann::ordered_json& json, const char* key, double seconds) {
  if (seconds > 0) json[key] = five_digits(1e6 * seconds);
}

void write_rate(nlohmann::ordered_json& json, const char* key, double seconds_of_one) {
  if (seconds_of_one > 0) json[key] = five_digits(1 / seconds_of_one);
}

}  // namespace stepwright::cost
