#include "stepwright/logs/predicted_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "stepwright/logs/planned_step.h"

namespace stepwright::logs {
namespace {

/// Rows name their group by its size only, because several kinds of groups may have the same
/// members.
using CallSize = std::tuple<step::ParallelismScheme, LoggedOperation, std::int64_t, std::int64_t>;

struct MeanTime {
  double seconds = 0;
  std::int64_t calls = 0;
};

std::map<CallSize, MeanTime> times_by_size(const step::StepProgram& program,
                                           const plan::RankGrid& grid,
                                           std::span<const std::vector<double>> times) {
  std::map<CallSize, MeanTime> found;
  for (std::size_t i = 0; i < program.templates.size(); ++i) {
    const std::vector<step::Operator>& operators = program.templates[i].operators;
    for (std::size_t j = 0; j < operators.size(); ++j) {
      const step::Operator& op = operators[j];
      for (const LoggedOperation operation : log_operations_of_operator_kind(op.kind)) {
        const std::int64_t size = is_point_to_point(operation) ? 0 : grid.size(op.group);
        MeanTime& time = found[{op.scheme, operation, size, op.payload_bytes()}];
        time.seconds += times[i][j];
        time.calls += op.repeats;
      }
    }
  }
  return found;
}

}  // namespace

void add_predicted_call_times(LogPlanComparison& comparison, const step::StepProgram& program,
                              const plan::RankGrid& grid,
                              std::span<const std::vector<double>> times) {
  const std::map<CallSize, MeanTime> found = times_by_size(program, grid, times);
  for (PlannedAndLoggedCalls& row : comparison.rows) {
    const auto time = found.find({row.scheme, row.operation, row.group_size, row.payload_bytes});
    if (row.predicted == 0 || time == found.end()) continue;
    const auto& [seconds, calls] = time->second;
    row.predicted_s = seconds / static_cast<double>(calls) * static_cast<double>(row.predicted);
  }
}

std::optional<double> median_logged_step_s(const CommunicationLog& log) {
  std::vector<double> steps;
  for (const LogFileReadResult& source : log.sources) {
    for (std::size_t i = 1; i < source.step_starts_s.size(); ++i) {
      steps.push_back(source.step_starts_s[i] - source.step_starts_s[i - 1]);
    }
  }
  if (steps.empty()) return std::nullopt;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle);
  return *middle;
}

}  // namespace stepwright::logs
