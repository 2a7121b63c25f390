#include "stepwright/diagnose/training_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/format.h"
#include "stepwright/diagnose/advice.h"
#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

/// Fewest steps of a log for which findings are made.
constexpr std::size_t kLeastSteps = 20;
/// A run drifts if its end is slower than its beginning by this factor.
constexpr double kDrift = 1.1;

/// Returns the time or rate after a word; negative: there is none.
double positive_behind(std::string_view line, std::string_view word) {
  const double value = number_after_word(line, word).value_or(-1);
  return value > 0 && value < 1e12 ? value : -1;
}

using StepLine = std::optional<LoggedStep>;

StepLine program_step(std::string_view line, const LogLineWords& words) {
  if (!line_contains_text(line, words.time.empty() ? words.rate : words.time)) return std::nullopt;
  const std::int64_t number = step_number_in_log_line(line, words);
  if (number < 0) return std::nullopt;
  const double time = positive_behind(line, words.time);
  if (time > 0) return LoggedStep{.number = number, .step_time_s = time * words.time_unit_s};
  const double rate = positive_behind(line, words.rate);
  if (rate < 0 || !line_contains_text(line, words.loss.front())) return std::nullopt;
  return LoggedStep{.number = number, .tokens_per_s = rate};
}

StepLine bar_step(std::string_view line) {
  line = line.substr(std::min(line.size(), line.rfind('\r') + 1));
  const std::size_t bracket = line.rfind(" [");
  if (bracket == std::string_view::npos) return std::nullopt;
  const std::string_view rate = line.substr(bracket);
  std::string_view counts = line.substr(0, bracket);
  counts.remove_prefix(std::min(counts.find_last_of(" |") + 1, counts.size()));
  const std::int64_t number = whole_number_at_text_start(counts);
  const double value = positive_behind(rate, ", ");
  if (number <= 0 || value <= 0 || !line_contains_text(counts, "/")) return std::nullopt;
  const std::string_view figure = text_after(rate, ", ");
  const std::string_view unit =
      figure.substr(std::min(figure.find_first_not_of(" 0123456789."), figure.size()));
  if (unit.starts_with("s/it")) return LoggedStep{.number = number, .step_time_s = value};
  if (unit.starts_with("it/s")) return LoggedStep{.number = number, .step_time_s = 1 / value};
  return std::nullopt;
}

double median(std::vector<double> values) {
  if (values.empty()) return -1;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Returns for each step a figure proportional to its time: its seconds, or one divided by its
/// rate.
std::vector<std::pair<const LoggedStep*, double>> slowness(const TrainingLog& log) {
  std::vector<std::pair<const LoggedStep*, double>> steps;
  for (const LoggedStep& step : log.steps) {
    if (step.step_time_s > 0) {
      steps.emplace_back(&step, step.step_time_s);
    } else if (step.tokens_per_s > 0) {
      steps.emplace_back(&step, 1 / step.tokens_per_s);
    }
  }
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 10));
  return steps;
}

double median_of(const std::vector<std::pair<const LoggedStep*, double>>& steps, std::size_t from,
                 std::size_t to) {
  std::vector<double> values;
  for (std::size_t i = from; i < to; ++i) values.push_back(steps[i].second);
  return median(std::move(values));
}

/// Returns the number of steps between slow ones, if there are at least three at equal distances;
/// 0: they are irregular.
std::int64_t period_of(const std::vector<std::int64_t>& slow) {
  if (slow.size() < 3) return 0;
  const std::int64_t period = slow[1] - slow[0];
  for (std::size_t i = 2; i < slow.size(); ++i) {
    if (slow[i] - slow[i - 1] != period) return 0;
  }
  return period > 1 ? period : 0;
}

FaultFinding finding_of(DiagnosedFaultKind kind, const TrainingLog& log, const LoggedStep& step,
                        std::string what) {
  return {
      .kind = kind,
      .where = {.file = log.file, .line = step.line, .call = fmt::format("step {}", step.number)},
      .what = std::move(what)};
}

}  // namespace

std::optional<std::pair<LoggedTrainingProgram, LoggedStep>> read_step_line(std::string_view line) {
  for (const LogLineWords& words : training_log_line_words()) {
    if (auto step = program_step(line, words)) return std::pair(words.program, *step);
  }
  if (!line_contains_text(line, "it/s") && !line_contains_text(line, "s/it")) return std::nullopt;
  if (auto step = bar_step(line)) return std::pair(LoggedTrainingProgram::kProgressBar, *step);
  return std::nullopt;
}

std::string SteadySteps::slow_steps_text() const {
  if (slow_steps == 0) return {};
  return fmt::format("{} that take more than {} medians ({} of the time)",
                     count_with_noun(slow_steps, "step"), kSlowStepFactor,
                     format_percent(slow_share));
}

SteadySteps steady_steps(const TrainingLog& log) {
  SteadySteps steady{.steps = std::ssize(log.steps)};
  for (std::size_t i = 1; i < log.steps.size(); ++i) {
    if (log.steps[i].number < log.steps[i - 1].number) ++steady.restarts;
  }
  std::vector<double> times;
  std::vector<double> rates;
  for (std::size_t i = log.steps.size() / 10; i < log.steps.size(); ++i) {
    if (log.steps[i].step_time_s > 0) times.push_back(log.steps[i].step_time_s);
    if (log.steps[i].tokens_per_s > 0) rates.push_back(log.steps[i].tokens_per_s);
  }
  steady.step_time_s = median(times);
  steady.tokens_per_s = median(rates);
  double all = 0;
  double beyond = 0;
  for (const double time : times) {
    all += time;
    if (time <= kSlowStepFactor * steady.step_time_s) continue;
    ++steady.slow_steps;
    beyond += time - steady.step_time_s;
  }
  if (all > 0) steady.slow_share = beyond / all;
  return steady;
}

std::vector<FaultFinding> step_slowdown_findings(const TrainingLog& log) {
  std::vector<FaultFinding> findings;
  const auto steps = slowness(log);
  if (steps.size() < kLeastSteps || log.program == LoggedTrainingProgram::kProgressBar)
    return findings;
  const double usual = median_of(steps, 0, steps.size());
  std::vector<std::int64_t> slow;
  double beyond = 0;
  const LoggedStep* first_slow = nullptr;
  for (const auto& [step, value] : steps) {
    if (value <= kSlowStepFactor * usual) continue;
    if (first_slow == nullptr) first_slow = step;
    slow.push_back(step->number);
    beyond += value - usual;
  }
  if (const std::int64_t period = period_of(slow)) {
    FaultFinding finding =
        finding_of(DiagnosedFaultKind::kCheckpoint, log, *first_slow,
                   fmt::format("Every {} steps one is {:.1f} times as slow as the others.", period,
                               1 + beyond / static_cast<double>(slow.size()) / usual));
    if (first_slow->step_time_s > 0) finding.lost_s = beyond / static_cast<double>(steps.size());
    finding.evidence.push_back(fmt::format("Slow steps: {}", rank_ranges_text(slow)));
    add_causes_and_remedies(finding, "slow.periodic");
    findings.push_back(std::move(finding));
  }
  const double begin = median_of(steps, 0, steps.size() / 4);
  const double end = median_of(steps, steps.size() * 3 / 4, steps.size());
  if (end > kDrift * begin) {
    FaultFinding finding = finding_of(
        DiagnosedFaultKind::kDrift, log, *steps[steps.size() * 3 / 4].first,
        fmt::format("Steps of the last quarter take {:.2f} times as long as those of the first.",
                    end / begin));
    if (steps.front().first->step_time_s > 0) {
      finding.lost_s = end - begin;
      finding.evidence.push_back(
          fmt::format("Medians: {} and {}", format_time(begin), format_time(end)));
    } else {
      finding.evidence.push_back(
          fmt::format("Medians: {:.0f} and {:.0f} tokens/s of a device", 1 / begin, 1 / end));
    }
    add_causes_and_remedies(finding, "slow.drift");
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace stepwright::diagnose
