#include "stepwright/check/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <variant>
#include <vector>

#include "stepwright/core/format.h"
#include "stepwright/framework_files/changed_lines.h"
#include "stepwright/memory/fullest_stage.h"
#include "stepwright/plan/grid.h"
#include "stepwright/tune/nearest_fit.h"

namespace stepwright::check {

PeakMemoryStage fullest_memory_stage(const simulate::PlanPrediction& prediction) {
  const std::int64_t stage =
      memory::stage_with_highest_peak_memory(prediction.memory) - prediction.memory.stages.data();
  const plan::RankGrid grid(prediction.planned.plan);
  std::int64_t rank = 0;
  while (rank + 1 < grid.ranks() && grid.coordinates(rank).pipeline != stage) ++rank;
  return {.stage = stage, .first_rank = rank};
}

namespace {

/// Searches the changes that lead to the best plan, and the remedies for a plan that does not fit.
/// `better` stays empty if the framework's table allows no legal plan of the job (files can start
/// more than the table lists). Its list of changes is empty if the plan is already as good as the
/// best, or no plan fits.
void look_for_better(JobCheckResult& check, const tune::TuneOptions& options) {
  const plan::PlannedJob& planned = check.prediction->planned;
  const std::optional<tune::TuneResult> result =
      tune::search_best_plans_for_job_of(planned, options);
  if (!check.fits()) {
    check.remedies = find_memory_remedies_with_flags(planned, check.imported.target,
                                                     result ? &*result : nullptr, options.threads);
  }
  if (!result) return;
  std::optional<cluster::AttentionKernel> own;
  if (!planned.job.attention_stated) own = planned.job.kernels.attention;
  check.better = tune::compare_user_plan(*result, planned.plan, options, own);
}

/// Returns a sentence about settings that matter but are in no plan; their absence from the
/// prediction may be why it does not fit.
std::string unread_that_matters(const framework_files::ImportReport& report) {
  std::vector<std::string> names;
  for (const framework_files::SettingNotInPlan& one : report.not_read) {
    if (one.matters == framework_files::SettingImpact::kYes) names.push_back(one.name);
  }
  if (names.empty()) return "";
  return fmt::format("; not counted are settings that were not read ({})", fmt::join(names, ", "));
}

/// Returns the settings that are in no table of the program.
std::vector<const framework_files::SettingNotInPlan*> is_unknown_setting(
    const framework_files::ImportReport& report) {
  std::vector<const framework_files::SettingNotInPlan*> found;
  for (const framework_files::SettingNotInPlan& one : report.not_read) {
    if (one.is_unknown_setting) found.push_back(&one);
  }
  return found;
}

/// Finds the lines to set in the imported files for each change.
std::vector<std::vector<std::string>> changes_in_files(const JobCheckResult& check) {
  std::vector<std::vector<std::string>> all;
  if (!check.better) return all;
  plan::PlannedJob before = check.prediction->planned;
  for (const tune::PlanChange& change : check.better->changes) {
    plan::PlannedJob after{before.job, change.reached.plan};
    all.push_back(framework_files::changed_launch_file_lines(check.imported.target, before, after));
    before = std::move(after);
  }
  return all;
}

}  // namespace

JobStartVerdict JobCheckResult::starts() const {
  if (imported.refused) return JobStartVerdict::kNo;
  if (is_unknown_setting(imported.report).empty()) return JobStartVerdict::kYes;
  return imported.report.strict_parser ? JobStartVerdict::kNo : JobStartVerdict::kUnknown;
}

std::string JobCheckResult::reason_job_may_not_start() const {
  if (imported.refused) return imported.refused->message;
  const auto settings = is_unknown_setting(imported.report);
  if (settings.empty()) return "";
  const framework_files::SettingNotInPlan& first = *settings.front();
  const std::string more =
      settings.size() > 1
          ? fmt::format(" (and {} more)",
                        count_with_noun(static_cast<std::int64_t>(settings.size()) - 1, "setting"))
          : "";
  const std::string line = first.line == 0 ? "" : fmt::format(":{}", first.line);
  return fmt::format("{}{}: {} is not a known setting of {}{}{}{}", first.file, line, first.name,
                     imported.target, first.why.empty() ? "" : ": ", first.why, more);
}

double JobCheckResult::step_time_saving_share() const {
  if (!better) return 0;
  double saved = 0;
  for (const tune::PlanChange& change : better->changes) saved += change.gain_s;
  return std::max(0.0, saved / better->own.step_time_s);
}

JobCheckResult check_job(framework_files::ImportedPlan imported, const tune::TuneOptions& options) {
  JobCheckResult check{.imported = std::move(imported),
                       .prediction = {},
                       .fullest = {},
                       .better = {},
                       .remedies = {},
                       .in_files = {}};
  if (!check.is_plan_legal()) return check;
  check.prediction = simulate::predict_plan(check.imported.planned);
  check.fullest = fullest_memory_stage(*check.prediction);
  look_for_better(check, options);
  check.in_files = changes_in_files(check);
  return check;
}

std::string reason_not_to_submit_job(const JobCheckResult& check, std::optional<double> most_gain) {
  if (check.starts() == JobStartVerdict::kNo) {
    return fmt::format("does not start: {}", check.reason_job_may_not_start());
  }
  const memory::MemoryReport& memory = check.prediction->memory;
  const bool misfit = memory.memory_fit_verdict_of_job() == memory::MemoryFitVerdict::kDoesNotFit;
  if (misfit && memory.fits_devices()) {
    return fmt::format("does not fit: the host memory of a node would need {} of {}",
                       format_bytes(memory.host_bytes), format_bytes(memory.host_capacity_bytes));
  }
  if (misfit) {
    return fmt::format(
        "does not fit: stage {} (rank {}) needs {}, but the device has {} ({} of it kept free): {} "
        "too much; probability that it fits: {}{}",
        check.fullest.stage, check.fullest.first_rank, format_bytes(memory.peak_bytes),
        format_bytes(memory.capacity_bytes), format_bytes(memory.reserve_bytes),
        format_bytes(memory.memory_shortage_bytes()), format_percent(memory.p_fits),
        unread_that_matters(check.imported.report));
  }
  if (check.starts() == JobStartVerdict::kUnknown) {
    return fmt::format("may not start: {}", check.reason_job_may_not_start());
  }
  if (most_gain && check.step_time_saving_share() >= *most_gain) {
    return fmt::format("wastes {} of a step, which other plans save; the limit is {}",
                       format_percent(check.step_time_saving_share()), format_percent(*most_gain));
  }
  return "";
}

}  // namespace stepwright::check
