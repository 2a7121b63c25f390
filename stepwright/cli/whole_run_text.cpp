#include "stepwright/cli/whole_run_text.h"

#include <fmt/format.h>

#include <cmath>

#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/training_run_text.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/whole_run/duration.h"

namespace stepwright::cli {
namespace {

/// The most plans that are shown, besides the one with the fastest step.
constexpr std::size_t kMostPlansByRun = 8;

std::string days(double seconds) { return cost_amount_text(seconds / whole_run::kDayS); }

/// Formats days with their range: "162 days (145 to 190)".
std::string days_range(const whole_run::TrainingRunPrediction& run) {
  return fmt::format("{} days ({} to {})", days(run.time.wall_s), days(run.low_s),
                     days(run.high_s));
}

std::string cost_text(const whole_run::TrainingRunPrediction& run) {
  if (!run.price_per_gpu_hour) return "";
  return fmt::format(", which cost {} ({} to {})", cost_amount_text(*run.cost(run.time.wall_s)),
                     cost_amount_text(*run.cost(run.low_s)),
                     cost_amount_text(*run.cost(run.high_s)));
}

std::string failures_line(const whole_run::TrainingRunPrediction& run) {
  const whole_run::TrainingRunParameters& process = run.process;
  if (process.failures_per_s == 0) return "none";
  std::string text =
      fmt::format("one every {}, {} in the run; a restart takes {}",
                  whole_run::duration_text(1 / process.failures_per_s),
                  cost_amount_text(run.time.failures), whole_run::duration_text(process.restart_s));
  if (process.repair_s == 0) return text;
  text += fmt::format(", a repair {}; {}", whole_run::duration_text(process.repair_s),
                      count_with_noun(process.spare_nodes, "spare node"));
  if (run.best_spare_nodes == process.spare_nodes) return text + ", the cheapest number";
  return text + fmt::format(", {} would be cheapest", *run.best_spare_nodes);
}

std::string every_text(const whole_run::TrainingRunPrediction& run, std::int64_t every) {
  return fmt::format("{} ({})", whole_run::duration_text(run.training_between_checkpoints_s(every)),
                     count_with_noun(every, "step"));
}

std::string checkpoints_line(const whole_run::TrainingRunPrediction& run) {
  const whole_run::TrainingRunParameters& process = run.process;
  std::string text =
      fmt::format("{}, {}", format_bytes(run.checkpoint.bytes),
                  process.write_s > 0 ? fmt::format("copied to the host in {}, written in {}",
                                                    whole_run::duration_text(process.copy_s),
                                                    whole_run::duration_text(process.write_s))
                                      : "written in " + whole_run::duration_text(process.copy_s));
  if (process.checkpoint_every == process.steps) return text + ", at the end alone";
  text += fmt::format(", every {}", every_text(run, process.checkpoint_every));
  if (process.checkpoint_every == run.best_every) return text + ", which is best";
  return text + fmt::format("; best is every {}", every_text(run, run.best_every));
}

std::string loss_words(whole_run::RunTimeLossCause loss) {
  switch (loss) {
    case whole_run::RunTimeLossCause::kStragglers: return "waiting for the slowest device";
    case whole_run::RunTimeLossCause::kEvaluation: return "evaluation";
    case whole_run::RunTimeLossCause::kCheckpoints: return "checkpoints";
    case whole_run::RunTimeLossCause::kRestarts: return "restarts";
    case whole_run::RunTimeLossCause::kLostWork: return "work that is lost and done again";
    case whole_run::RunTimeLossCause::kWaiting: break;
  }
  return "waiting for a repair";
}

std::string misfit_line(const memory::MemoryReport& memory) {
  return memory.fits() ? "" : fmt::format("memory       {}\n", predicted_memory_line(memory));
}

std::string times_text(const whole_run::TrainingRunPrediction& run,
                       const std::optional<whole_run::SimulatedRuns>& played) {
  TextTable table{.columns = {{"where the time goes"},
                              {"days", ColumnAlignment::kRight},
                              {"share", ColumnAlignment::kRight},
                              {"GPU-hours", ColumnAlignment::kRight}},
                  .rows = {}};
  if (run.price_per_gpu_hour) table.columns.push_back({"cost", ColumnAlignment::kRight});
  if (played) table.columns.push_back({"days, played", ColumnAlignment::kRight});
  const auto add = [&](const std::string& what, double seconds, double played_s) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {what, days(seconds), format_percent(seconds / run.time.wall_s),
           cost_amount_text(run.gpu_hours(seconds))};
    if (const auto cost = run.cost(seconds)) row.push_back(cost_amount_text(*cost));
    if (played) row.push_back(days(played_s));
  };
  add("steps, as predicted", run.all_training_steps_s(), run.all_training_steps_s());
  for (std::size_t i = 0; i < whole_run::kRunLosses; ++i) {
    const double of_played = played ? played->mean.losses_s[i] : 0;
    if (run.time.losses_s[i] == 0 && of_played == 0) continue;
    add(loss_words(whole_run::kRunLossNames[i].value), run.time.losses_s[i], of_played);
  }
  add("all", run.time.wall_s, played ? played->mean.wall_s : 0);
  return format_text_table(table);
}

std::string played_text(const whole_run::SimulatedRuns& played) {
  return fmt::format(
      "\n{} simulated event by event took {} days in the mean (standard error {}); a tenth took "
      "less than {}, a tenth more than {}.\n",
      count_with_noun(played.runs, "run"), days(played.mean.wall_s),
      days(played.mean_wall_time_error_s()), days(played.low_s), days(played.high_s));
}

std::string assumed_text(const whole_run::TrainingRunPrediction& run) {
  if (run.assumed.empty()) return "";
  std::string text = "\nAssumptions (to replace them, set `run` in the job, or options)\n";
  for (const std::string& sentence : run.assumed) text += "- " + sentence + "\n";
  return text;
}

/// Returns text about the plans whose runs would never end, with the reason of the first.
std::string endless_text(const whole_run::PlanRunComparison& comparison) {
  if (comparison.endless.empty()) return "";
  const auto& [planned, step_s, why] = comparison.endless.front();
  return fmt::format("{} left out; with {} on {} and steps of {}: {}.\n",
                     comparison.endless.size() == 1
                         ? "One plan is"
                         : fmt::format("{} plans are", comparison.endless.size()),
                     plan::short_plan_code(planned.plan),
                     count_with_noun(planned.job.cluster.nodes, "node"), format_time(step_s), why);
}

}  // namespace

std::string whole_run_text(const simulate::PlanPrediction& prediction,
                           const whole_run::TrainingRunPrediction& run,
                           const std::optional<whole_run::SimulatedRuns>& played) {
  const auto& [job, plan] = prediction.planned;
  std::string text = fmt::format(
      "{}\n\n"
      "plan         {}\n"
      "{}"
      "run          {} take {} and {} GPU-hours{}, with a probability of 80%\n"
      "useful       {} of the time ({} to {}): {} of {}\n"
      "failures     {}\n"
      "checkpoints  {}\n\n",
      plan::job_summary_line(job), plan::plan_description(plan, job),
      misfit_line(prediction.memory), token_count_text(run.tokens), days_range(run),
      cost_amount_text(run.gpu_hours(run.time.wall_s)), cost_text(run),
      format_percent(run.useful_training_time_share()), format_percent(run.useful_low),
      format_percent(run.useful_high), count_with_noun(run.process.steps, "step"),
      format_time(run.process.step_s), failures_line(run), checkpoints_line(run));
  text += times_text(run, played);
  if (played) text += played_text(*played);
  return text + assumed_text(run);
}

std::string plans_by_run_time_table(const whole_run::PlanRunComparison& comparison) {
  TextTable table{.columns = {{"plan"},
                              {"nodes", ColumnAlignment::kRight},
                              {"spare", ColumnAlignment::kRight},
                              {"step", ColumnAlignment::kRight},
                              {"useful", ColumnAlignment::kRight},
                              {"days", ColumnAlignment::kRight}},
                  .rows = {}};
  std::vector<plan::Plan> plans;
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    if (i >= kMostPlansByRun && i != comparison.fastest_step) continue;
    const whole_run::PlanWithTrainingRun& one = comparison.candidates[i];
    const plan::PlannedJob& planned = one.prediction.planned;
    plans.push_back(planned.plan);
    table.rows.push_back(
        {plan::short_plan_code(planned.plan), format_count(planned.job.cluster.nodes),
         format_count(one.run.process.spare_nodes), format_time(one.run.process.step_s),
         format_percent(one.run.useful_training_time_share()), days(one.run.time.wall_s)});
  }
  const whole_run::PlanWithTrainingRun& best = comparison.candidates.front();
  const whole_run::PlanWithTrainingRun& fastest = comparison.candidates[comparison.fastest_step];
  const std::string verdict =
      comparison.fastest_step == 0
          ? "The fastest step is also the shortest run.\n"
          : fmt::format(
                "The fastest step is not the shortest run: with {} a step takes {} and the run {} "
                "days; the best run has steps of {} and takes {} days.\n",
                plan::short_plan_code(fastest.prediction.planned.plan),
                format_time(fastest.run.process.step_s), days(fastest.run.time.wall_s),
                format_time(best.run.process.step_s), days(best.run.time.wall_s));
  return fmt::format("\nPlans of the job by their whole runs\n\n{}{}{}\n{}",
                     format_text_table(table), verdict, endless_text(comparison),
                     plan::legend_of_plan_codes(plans));
}

std::string whole_run_summary_line(const simulate::PlanPrediction& prediction,
                                   const plan::TrainingRunSettings& settings,
                                   const whole_run::IdleDevices& idle, bool assumed) {
  try {
    const whole_run::TrainingRunPrediction run =
        whole_run::predict_training_run(prediction, settings, idle);
    return fmt::format("{}{} take {} and {} GPU-hours{}, {} of it steps; {}",
                       token_count_text(run.tokens), assumed ? " (assumed)" : "", days_range(run),
                       cost_amount_text(run.gpu_hours(run.time.wall_s)), cost_text(run),
                       format_percent(run.useful_training_time_share()),
                       run.assumed.empty() ? "`stepwright run` shows where the rest goes"
                                           : "`stepwright run` shows what is assumed of failures, "
                                             "restarts, checkpoints and evaluation");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    const tune::TrainingLengthAndPrice steps{.tokens = *settings.tokens,
                                             .price_per_gpu_hour = settings.price_per_gpu_hour};
    return fmt::format("{}: {}",
                       training_run_cost_sentence(prediction.planned.job, prediction.step_time_s(),
                                                  idle.devices, steps),
                       error.what());
  }
}

}  // namespace stepwright::cli
