#include "stepwright/diagnose/data_load_time.h"

#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/diagnose/advice.h"
#include "stepwright/diagnose/line_origin.h"
#include "stepwright/diagnose/log_line_words.h"

namespace stepwright::diagnose {
namespace {

constexpr std::size_t kLeastLines = 3;
/// Data counts as late from this share of the step time on.
constexpr double kLateShare = 0.2;
/// The most lines that a finding quotes.
constexpr std::size_t kMostShownLines = 3;

/// Words before the two figures in a line: time of the step, and of its data.
struct TimeWords {
  std::string_view step;
  std::string_view data;
};
constexpr TimeWords kTimeWords[] = {
    {"Time ", "Data "}, {" time: ", "data_time: "}, {" time: ", " data: "}};

}  // namespace

std::optional<StepDataLoadTime> parse_data_load_time(std::string_view line) {
  for (const TimeWords& words : kTimeWords) {
    if (!line_contains_text(line, words.data)) continue;
    const auto step = number_after_word(line, words.step);
    const auto data = number_after_word(line, words.data);
    if (step && data && *step > 0 && *data >= 0 && *step < 1e6 && *data <= *step)
      return StepDataLoadTime{.step_s = *step, .data_s = *data};
  }
  return std::nullopt;
}

std::vector<FaultFinding> slow_input_data_findings(const std::vector<StepDataLoadTime>& times,
                                                   const std::string& file) {
  if (times.size() < kLeastLines) return {};
  double steps = 0;
  double data = 0;
  for (const StepDataLoadTime& one : times) {
    steps += one.step_s;
    data += one.data_s;
  }
  if (data < kLateShare * steps) return {};
  const auto count = static_cast<double>(times.size());
  FaultFinding finding{.kind = DiagnosedFaultKind::kLateData,
                       .lost_s = data / count,
                       .where = {.file = file, .line = times.front().line},
                       .what = fmt::format("Steps wait for their data: {} of {} in the mean ({}).",
                                           format_time(data / count), format_time(steps / count),
                                           format_percent(data / steps))};
  for (std::size_t i = 0; i < times.size() && i < kMostShownLines; ++i) {
    finding.evidence.push_back(fmt::format("{}:{}: {} of {}", file, times[i].line,
                                           format_time(times[i].data_s),
                                           format_time(times[i].step_s)));
  }
  add_causes_and_remedies(finding, "slow.data");
  return {std::move(finding)};
}

}  // namespace stepwright::diagnose
