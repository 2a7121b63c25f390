#include "stepwright/cli/check_text.h"

#include <fmt/format.h>

#include "stepwright/cli/against_text.h"
#include "stepwright/cli/import_text.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/remedies_text.h"
#include "stepwright/core/format.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/choices/words.h"

namespace stepwright::cli {
namespace {

std::string line(std::string_view name, const std::string& text) {
  return fmt::format("{:<10}  {}\n", name, text);
}

/// Says whether the job fits: "tight: probability of fitting 83%; stage 0 (rank 0) needs 73.1 GiB
/// of ...".
std::string fits_text(const check::JobCheckResult& check) {
  const memory::MemoryReport& memory = check.prediction->memory;
  std::string_view word = "yes";
  if (memory.memory_fit_verdict_of_job() == memory::MemoryFitVerdict::kTight) word = "tight";
  if (memory.memory_fit_verdict_of_job() == memory::MemoryFitVerdict::kDoesNotFit) word = "NO";
  return fmt::format("{}: {}stage {} (rank {}) needs {}", word, memory_fit_probability_text(memory),
                     check.fullest.stage, check.fullest.first_rank, memory_use_text(memory));
}

std::string prediction_lines(const check::JobCheckResult& check) {
  const simulate::PlanPrediction& prediction = *check.prediction;
  const double step = prediction.step_time_s();
  return line("fits", fits_text(check)) +
         line("step time", fmt::format("{} ({} to {} with a probability of 80%)", format_time(step),
                                       format_time(prediction.interval.low * step),
                                       format_time(prediction.interval.high * step)));
}

std::string better_text(const check::JobCheckResult& check) {
  if (!check.better) {
    return line("better",
                "not searched: no other plan of this job is known to run with this framework");
  }
  if (check.better->changes.empty()) {
    if (check.fits()) return line("better", "nothing found");
    const std::string remedies = memory_remedies_sentence(check.remedies);
    return line("better",
                remedies.empty() ? "no plan of this job fits on these devices" : remedies);
  }
  const std::string gain =
      check.fits() ? fmt::format("{} of a step, by", format_percent(check.step_time_saving_share()))
                   : fmt::format("fits and takes {} a step with",
                                 format_time(check.better->changes.back().reached.step_time_s));
  return line("better", gain) + "\n" + plan_changes_table(check.better->changes, check.in_files);
}

}  // namespace

std::string job_check_text(const check::JobCheckResult& check) {
  const plan::PlannedJob& planned = check.imported.planned;
  std::string text = line("job", plan::job_summary_line(planned.job));
  const std::string doubt = check.reason_job_may_not_start();
  text +=
      line("starts", fmt::format("{}{}{}", name_of(check::kJobStartVerdictNames, check.starts()),
                                 doubt.empty() ? "" : ": ", doubt));
  if (check.is_plan_legal()) {
    text += line("plan",
                 plan::short_plan_code(planned.plan) + "; `stepwright explain` explains the code") +
            prediction_lines(check) + better_text(check) + memory_remedies_table(check.remedies);
  }
  return text + unread_settings_text(check.imported.report, false);
}

}  // namespace stepwright::cli
