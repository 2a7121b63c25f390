#include "stepwright/logs/readers/exposed_time.h"

#include <algorithm>

namespace stepwright::logs {

std::vector<TimeSpan> merge_time_spans(std::vector<TimeSpan> spans) {
  std::ranges::sort(spans, {}, &TimeSpan::begin_s);
  std::size_t last = 0;
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].begin_s <= spans[last].end_s) {
      spans[last].end_s = std::max(spans[last].end_s, spans[i].end_s);
    } else {
      spans[++last] = spans[i];
    }
  }
  if (!spans.empty()) spans.resize(last + 1);
  return spans;
}

std::vector<TimeSpan> subtract_time_spans(const std::vector<TimeSpan>& spans,
                                          const std::vector<TimeSpan>& without) {
  std::vector<TimeSpan> left;
  for (const TimeSpan& span : spans) {
    double begin_s = span.begin_s;
    auto cut = std::ranges::upper_bound(without, begin_s, {}, &TimeSpan::end_s);
    for (; cut != without.end() && cut->begin_s < span.end_s; ++cut) {
      if (cut->begin_s > begin_s) left.push_back({begin_s, cut->begin_s});
      begin_s = cut->end_s;
    }
    if (begin_s < span.end_s) left.push_back({begin_s, span.end_s});
  }
  return left;
}

void set_exposed_call_seconds(std::span<LoggedCall> records,
                              const std::vector<TimeSpan>& computing) {
  for (LoggedCall& record : records) {
    if (!(record.duration_s >= 0)) continue;
    const double end_s = record.start_s + record.duration_s;
    auto span = std::ranges::upper_bound(computing, record.start_s, {}, &TimeSpan::end_s);
    record.exposed_s = record.duration_s;
    for (; span != computing.end() && span->begin_s < end_s; ++span) {
      record.exposed_s -= std::min(end_s, span->end_s) - std::max(record.start_s, span->begin_s);
    }
    record.exposed_s = std::max(0.0, record.exposed_s);
  }
}

}  // namespace stepwright::logs
