#pragma once

#include <string>

namespace stepwright::whole_run {

inline constexpr double kMinuteS = 60;
inline constexpr double kHourS = 3600;
inline constexpr double kDayS = 86400;

/// Returns a duration as text with three significant digits and a unit up to days: "2.10 min",
/// "3.09 h", "54.0 days".
std::string duration_text(double time_s);

}  // namespace stepwright::whole_run
