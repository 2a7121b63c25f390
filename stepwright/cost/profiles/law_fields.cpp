#include "stepwright/cost/profiles/law_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace stepwright::cost {
namespace {

constexpr double kLongestUs = 1e12;
constexpr double kLeastRate = 1e-3;
constexpr double kMostRate = 1e21;
/// Rates above this one are not written: a terabyte takes 10 ns. It is below kMostRate, so that a
/// rounded rate stays readable.
constexpr double kMostShownRate = 1e20;
/// Smaller values cannot be rounded to digits.
constexpr double kLeastShown = 1e-300;

}  // namespace

double read_microseconds(DocumentNode node, std::string_view key) {
  const auto found = node.find(key);
  return found ? 1e-6 * found->number(0, kLongestUs) : 0;
}

double read_rate_as_seconds_per_unit(DocumentNode node, std::string_view key) {
  const auto found = node.find(key);
  return found ? 1 / found->number(kLeastRate, kMostRate) : 0;
}

double round_to_five_digits(double value) {
  if (!std::isfinite(value)) return value;
  if (std::fabs(value) < kLeastShown) return 0;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

void write_seconds_as_microseconds(nlohmann::ordered_json& json, const char* key, double seconds) {
  const double micros = round_to_five_digits(1e6 * seconds);
  // NaN becomes null, which the reader refuses.
  if (micros > 0 || std::isnan(micros)) json[key] = micros;
}

void write_seconds_per_unit_as_rate(nlohmann::ordered_json& json, const char* key,
                                    double seconds_of_one) {
  if (seconds_of_one * kMostShownRate < 1) return;
  json[key] =
      round_to_five_digits(1 / seconds_of_one);  // NaN becomes null, which the reader refuses.
}

}  // namespace stepwright::cost
