#include "stepwright/whole_run/duration.h"

#include <fmt/format.h>

#include <cmath>

#include "stepwright/core/format.h"

namespace stepwright::whole_run {
namespace {

/// Formats three significant digits; all digits of a larger number.
std::string three_digits(double value) {
  if (value >= 1000) return format_count(std::llround(value));
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

}  // namespace

std::string duration_text(double time_s) {
  if (!(time_s >= kMinuteS)) return format_time(time_s);
  if (time_s < kHourS) return three_digits(time_s / kMinuteS) + " min";
  if (time_s < 2 * kDayS) return three_digits(time_s / kHourS) + " h";
  return three_digits(time_s / kDayS) + " days";
}

}  // namespace stepwright::whole_run
