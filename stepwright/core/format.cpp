#include "stepwright/core/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace stepwright {
namespace {

constexpr std::string_view kNotAvailable = "n/a";

struct Unit {
  double size;
  std::string_view name;
};

/// Puts a comma before every third digit from the end.
std::string grouped(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

/// Formats a value with three significant digits, without an exponent; from 1,000 on with all
/// digits.
std::string three_digits(double value) {
  if (value == 0) return "0";
  const std::string sign = value < 0 ? "-" : "";
  const double size = std::abs(value);
  if (size >= 999.5) return sign + grouped(fmt::format("{:.0f}", size));
  int decimals = 0;
  double bound = 99.95;  // Below 99.95 one decimal is shown, below 9.995 two, and so on.
  while (size < bound && decimals < 12) {
    ++decimals;
    bound /= 10;
  }
  return sign + fmt::format("{:.{}f}", size, decimals);
}

/// Formats a value in the largest unit that is not larger than it; a smaller value in the last
/// unit.
std::string in_units(double value, std::span<const Unit> units) {
  if (!std::isfinite(value)) return std::string(kNotAvailable);
  const auto fits = [value](const Unit& unit) { return std::abs(value) >= 0.9995 * unit.size; };
  const auto found = std::ranges::find_if(units, fits);
  const Unit& unit = found == units.end() ? units.back() : *found;
  return fmt::format("{} {}", three_digits(value / unit.size), unit.name);
}

}  // namespace

std::string format_bytes(double size_bytes) {
  static constexpr double kStep = 1024;
  static constexpr Unit kUnits[] = {{kStep * kStep * kStep * kStep * kStep, "PiB"},
                                    {kStep * kStep * kStep * kStep, "TiB"},
                                    {kStep * kStep * kStep, "GiB"},
                                    {kStep * kStep, "MiB"},
                                    {kStep, "KiB"},
                                    {1.0, "B"}};
  return in_units(size_bytes, kUnits);
}

std::string format_time(double time_s) {
  static constexpr Unit kUnits[] = {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "µs"}};
  return in_units(time_s, kUnits);
}

std::string format_bytes_per_s(double rate_bytes_per_s) {
  static constexpr Unit kUnits[] = {{1e9, "GB/s"}};
  return in_units(rate_bytes_per_s, kUnits);
}

std::string format_flops(double flops_per_s) {
  static constexpr Unit kUnits[] = {{1e12, "TFLOP/s"}};
  return in_units(flops_per_s, kUnits);
}

std::string format_count(std::int64_t count) {
  const std::string digits = std::to_string(count);
  return count < 0 ? "-" + grouped(digits.substr(1)) : grouped(digits);
}

std::string format_number(double value) {
  if (!std::isfinite(value)) return std::string(kNotAvailable);
  if (std::abs(value) < 999.95) return fmt::format("{:.4g}", value);
  return format_count(std::llround(value));
}

std::string count_with_noun(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

std::string format_percent(double fraction) {
  if (!std::isfinite(fraction)) return std::string(kNotAvailable);
  return fmt::format("{:.1f}%", 100 * fraction);
}

std::string format_chart_bar(double amount, double most, double widest) {
  if (!(amount > 0 && most > 0)) return {};
  return std::string(static_cast<std::size_t>(std::ceil(widest * std::min(amount / most, 1.0))),
                     '#');
}

}  // namespace stepwright
