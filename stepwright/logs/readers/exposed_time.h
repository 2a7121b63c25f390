#pragma once

#include <span>
#include <vector>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// A piece of time by the clock of a file.
struct TimeSpan {
  double begin_s = 0;
  double end_s = 0;
};

/// The spans in order and without overlaps.
std::vector<TimeSpan> united(std::vector<TimeSpan> spans);

/// The part of `spans` that is not in `without`; both united.
std::vector<TimeSpan> difference(const std::vector<TimeSpan>& spans,
                                 const std::vector<TimeSpan>& without);

/// Gives each call that has a duration the part of it in which none of `computing` (united) ran.
void set_exposed(std::span<LogRecord> records, const std::vector<TimeSpan>& computing);

}  // namespace stepwright::logs
