#pragma once

#include <span>
#include <vector>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// A span of time on the clock of a log file, in seconds.
struct TimeSpan {
  double begin_s = 0;
  double end_s = 0;
};

/// Returns the spans sorted by time, with overlapping ones merged.
std::vector<TimeSpan> merge_time_spans(std::vector<TimeSpan> spans);

/// Returns the parts of `spans` outside of `without`; both must come from `merge_time_spans`.
std::vector<TimeSpan> subtract_time_spans(const std::vector<TimeSpan>& spans,
                                          const std::vector<TimeSpan>& without);

/// Sets the exposed seconds of each call that has a duration: the part of the call during which
/// none of the spans in `computing` (from `merge_time_spans`) ran.
void set_exposed_call_seconds(std::span<LoggedCall> records,
                              const std::vector<TimeSpan>& computing);

}  // namespace stepwright::logs
