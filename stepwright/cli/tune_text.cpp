#include "stepwright/cli/tune_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stepwright/cli/against_text.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/remedies_text.h"
#include "stepwright/cli/sweep_text.h"
#include "stepwright/cli/training_run_text.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/tune/alternatives.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/tune_json.h"

namespace stepwright::cli {
namespace {

constexpr std::size_t kMostFront = 8;
constexpr std::size_t kMostReasons = 8;
constexpr std::string_view kDetails =
    "what less memory costs and more would gain, which plan is nearest for every framework, and "
    "why combinations are not legal";

bool ties_simply(const tune::TunedPlan& tuned, const tune::TunedPlan& best) {
  return tuned.tied && tune::has_fewer_parallelism_kinds(tuned.plan, best.plan);
}

std::string mark(const tune::TunedPlan& tuned, const tune::TunedPlan& best) {
  if (!tuned.fits) return std::string(memory_fit_status_text(tuned.verdict));
  return ties_simply(tuned, best) ? "tied, simpler" : tuned.tied ? "tied" : "";
}

/// Returns the legend of the marks beside plans.
std::string marks_legend(const std::vector<tune::TunedPlan>& plans) {
  if (std::ranges::count(plans, true, &tune::TunedPlan::tied) < 2) return "";
  const auto simply = [&](const tune::TunedPlan& tuned) {
    return ties_simply(tuned, plans.front());
  };
  std::string text = fmt::format(
      "tied: predicted at most {:.0f}% slower than the best; measurements often order such plans "
      "differently\n",
      100 * tune::kUncertainStepTimeDifference);
  if (std::ranges::any_of(plans, simply)) {
    text += "simpler: fewer kinds of parallelism than the best, not counting data parallelism\n";
  }
  return text;
}

std::string plans_text(const std::vector<tune::TunedPlan>& plans) {
  TextTable table{.columns = {{"#", ColumnAlignment::kRight},
                              {"plan"},
                              {"step", ColumnAlignment::kRight},
                              {"memory", ColumnAlignment::kRight},
                              {"P(fits)", ColumnAlignment::kRight},
                              {"note"}},
                  .rows = {}};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    table.rows.push_back(
        {fmt::format("{}", i + 1), plan::short_plan_code(plans[i].plan),
         format_time(plans[i].step_time_s), format_bytes(plans[i].peak_memory_bytes),
         fmt::format("{:.2f}", plans[i].p_fits), i == 0 ? "" : mark(plans[i], plans[0])});
  }
  return format_text_table(table) + marks_legend(plans);
}

std::string lost_text(const std::vector<tune::TunedPlan>& plans) {
  std::string text;
  for (std::size_t i = 1; i < plans.size(); ++i) {
    text += fmt::format("{:>2}  {}\n", i + 1, plans[i].lost);
  }
  return text.empty() ? text : "\nWhy these plans are slower than the best\n" + text;
}

std::string verdict(const tune::AlternativePlan& alternative) {
  std::string text;
  const auto add = [&](std::string_view word, const std::vector<std::string>& list) {
    if (list.empty()) return;
    text += fmt::format("{}{}: {}.", text.empty() ? "" : " ", word, fmt::join(list, ", "));
  };
  add("Better", alternative.wins);
  add("Worse", alternative.loses);
  return text.empty() ? "As good." : text;
}

std::string alternatives_text(const tune::TuneResult& result) {
  const std::vector<tune::AlternativePlan> list = tune::fastest_plan_of_each_family(result);
  if (list.empty()) return plans_text({result.plans.front()});
  std::vector<tune::TunedPlan> plans = {result.plans.front()};
  std::string verdicts;
  for (const tune::AlternativePlan& alternative : list) {
    plans.push_back(alternative.tuned);
    verdicts += fmt::format("{:>2}  {}\n", plans.size(), verdict(alternative));
  }
  return "The best plan, and the best of each other family\n\n" + plans_text(plans) +
         "\nHow they compare with the best\n" + verdicts;
}

/// Returns the front of time against memory, reduced to a few points: both ends, and points evenly
/// between.
std::string front_text(const std::vector<tune::ParetoPoint>& front) {
  TextTable table{
      .columns = {{"plan"}, {"time", ColumnAlignment::kRight}, {"memory", ColumnAlignment::kRight}},
      .rows = {}};
  const std::size_t shown = std::min(front.size(), kMostFront);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t at = shown == 1 ? 0 : i * (front.size() - 1) / (shown - 1);
    table.rows.push_back({plan::short_plan_code(front[at].plan), format_time(front[at].step_time_s),
                          format_bytes(front[at].peak_memory_bytes)});
  }
  return fmt::format("\nLess memory for more time ({} of {})\n\n{}", shown,
                     count_with_noun(static_cast<std::int64_t>(front.size()), "plan"),
                     format_text_table(table));
}

std::string more_memory_text(const tune::TuneResult& result,
                             const std::vector<tune::MoreMemoryGain>& steps) {
  if (!result.plans.front().fits) return "";
  if (steps.empty())
    return "\nNo plan similar to the best is faster with more risk of running out of memory, or "
           "with up to twice the memory.\n";
  TextTable table{.columns = {{"memory of a device", ColumnAlignment::kRight},
                              {"plan"},
                              {"time", ColumnAlignment::kRight},
                              {"gain", ColumnAlignment::kRight},
                              {"needs", ColumnAlignment::kRight},
                              {"P(fits)", ColumnAlignment::kRight}},
                  .rows = {}};
  const double best_s = result.plans.front().step_time_s;
  for (const tune::MoreMemoryGain& step : steps) {
    table.rows.push_back({format_bytes(step.capacity_bytes), plan::short_plan_code(step.tuned.plan),
                          format_time(step.tuned.step_time_s), format_percent(step.gain_s / best_s),
                          format_bytes(step.tuned.peak_memory_bytes),
                          fmt::format("{:.2f}", step.tuned.p_fits)});
  }
  return "\nWhat more risk of running out of memory and more memory would gain, for plans similar "
         "to the best\n\n" +
         format_text_table(table);
}

std::string strands_text(const tune::TuneResult& result,
                         const std::optional<tune::TwoStrandsGain>& gain) {
  if (!gain) return "";
  return fmt::format(
      "\nTwo strands (docs/strands.md) would take {} in place of {}, {} less, with {}, by a plan "
      "near the best: {}\nOnly Stepwright's own executor runs them; "
      "`search: {{schedule: [...], strands: [1, 2]}}` searches among them.\n",
      format_time(gain->tuned.step_time_s), format_time(result.plans.front().step_time_s),
      format_percent(gain->gain_s / result.plans.front().step_time_s),
      format_bytes(gain->tuned.peak_memory_bytes), plan::short_plan_code(gain->tuned.plan));
}

std::string gap_text(const tune::TuneResult& result) {
  if (!result.plans.front().fits) return "";
  return fmt::format("By lower bounds no other plan is more than {} faster than the best.\n",
                     format_percent(result.optimality_gap));
}

std::string counts_text(const tune::TuneResult& result) {
  const tune::SearchSpaceCounts& space = result.space;
  return fmt::format(
      "\nThe answer took {}: of {} combinations of choices {} are legal; {} were estimated ({} of "
      "them fit in memory), lower bounds ruled out {}, and {} were simulated.\n{}",
      format_time(result.seconds), format_count(space.total), format_count(space.legal),
      format_count(space.priced), format_count(space.fitting), format_count(space.bounded),
      format_count(space.simulated), gap_text(result));
}

std::string refusals_text(const std::vector<tune::PlanRefusalCount>& refusals) {
  if (refusals.empty()) return "";
  TextTable table{.columns = {{"combinations", ColumnAlignment::kRight}, {"not legal, as"}},
                  .rows = {}};
  for (std::size_t i = 0; i < std::min(refusals.size(), kMostReasons); ++i) {
    const tune::PlanRefusalCount& refusal = refusals[i];
    const std::string mark =
        refusal.rule == tune::kUnsupportedByFrameworkRule ? "(framework) " : "";
    table.rows.push_back({format_count(refusal.count), mark + refusal.reason});
  }
  std::string text = "\n" + format_text_table(table);
  if (refusals.size() > kMostReasons) {
    text += fmt::format("{} more reasons are in --json.\n", refusals.size() - kMostReasons);
  }
  return text;
}

std::string baseline_text(const tune::TuneResult& result) {
  if (!result.baseline) return "";  // A note reports its absence.
  return fmt::format("\nThe plan by the usual rule of thumb ({}) takes {}, {:.2f} times as long.\n",
                     plan::short_plan_code(result.baseline->plan),
                     format_time(result.baseline->step_time_s), result.speedup_over_baseline);
}

/// Formats a framework's run: "megatron-core (cudnn, 58.1 s)".
std::string framework_text(const tune::NearestFrameworkPlan& run) {
  return fmt::format(
      "{} ({}, {}{}{})", run.framework, name_of(cluster::kAttentionKernelNames, run.attention),
      format_time(run.step_time_s), run.fits ? "" : ", ", memory_fit_status_text(run.verdict));
}

std::string nearest_text(const std::vector<tune::NearestFrameworkPlan>& runs,
                         const plan::Plan& best) {
  std::string text;
  for (const tune::NearestFrameworkPlan& run : runs) {
    if (run.plan == best) continue;
    text += run.plan
                ? fmt::format("The nearest plan that files of {} start has {}.\n",
                              framework_text(run), plan::differing_choices_text(best, *run.plan))
                : fmt::format("{} runs no similar plan.\n", run.framework);
  }
  return text;
}

/// Returns the frameworks whose files start the best plan unchanged, and the fastest nearby plan of
/// another framework.
std::string runs_on_text(const std::vector<tune::NearestFrameworkPlan>& runs,
                         const plan::Plan& best) {
  std::vector<std::string> as_it_is;
  const tune::NearestFrameworkPlan* fastest = nullptr;
  for (const tune::NearestFrameworkPlan& run : runs) {
    if (run.plan == best) as_it_is.push_back(framework_text(run));
    const bool counts = run.plan && run.plan != best && run.fits;
    if (counts && (fastest == nullptr || run.step_time_s < fastest->step_time_s)) fastest = &run;
  }
  std::string text = as_it_is.empty() ? "\nNo framework's files start this plan unchanged.\n"
                                      : fmt::format(
                                            "\nThese frameworks run this plan unchanged, with "
                                            "their kernels of attention: {}.\n",
                                            fmt::join(as_it_is, ", "));
  if (fastest == nullptr) return text;
  return text +
         fmt::format("The fastest framework that runs a similar plan is {}; its plan has {}.\n",
                     framework_text(*fastest), plan::differing_choices_text(best, *fastest->plan));
}

/// Returns the framework that starts the best plan, with the command; empty: not known.
std::string framework_line(const answers::TuneAnswer& answer) {
  const plan::Job& job = answer.result.job;
  if (answer.launch) {
    return fmt::format(
        "framework   {}, with attention {}; `{}` writes the files that start it{}\n",
        answer.launch->framework, name_of(cluster::kAttentionKernelNames, job.kernels.attention),
        answer.export_command(), answer.plan_file.empty() ? " (`-o plan.yaml` the plan)" : "");
  }
  if (answer.refusals.empty()) return "";
  return job.framework.name.empty()
             ? "framework   none: no files of a framework start a plan of this job\n"
             : fmt::format("framework   {}, whose files start no plan of this job\n",
                           job.framework.name);
}

/// Returns text about a faster plan that no framework's files start.
std::string unbound_text(const answers::TuneAnswer& answer) {
  if (!answer.unbound) return "";
  const auto& [job, tuned, why] = *answer.unbound;
  const double first_s = answer.result.plans.front().step_time_s;
  return fmt::format(
      "Faster by {} ({}), but no framework runs it: {} takes {}, with attention {}. {}.\n\n",
      format_time(first_s - tuned.step_time_s), format_percent(1 - tuned.step_time_s / first_s),
      plan::short_plan_code(tuned.plan), format_time(tuned.step_time_s),
      name_of(cluster::kAttentionKernelNames, job.kernels.attention), why);
}

/// Returns text about the best plan with expert parallelism, if the first plan has none.
std::string with_experts_text(const answers::TuneAnswer& answer) {
  if (!answer.with_experts) return "";
  const tune::TunedPlan& tuned = *answer.with_experts;
  return fmt::format("\nWith expert parallelism {} is best: {}, {} of memory; {}.\n",
                     plan::short_plan_code(tuned.plan), format_time(tuned.step_time_s),
                     format_bytes(tuned.peak_memory_bytes), tuned.lost);
}

/// Returns the reasons why no framework starts a plan.
std::string refusals_text(const answers::TuneAnswer& answer) {
  if (answer.launch || answer.refusals.empty()) return "";
  std::string text = "\nWhy no framework starts it\n";
  for (const std::string& line : answer.refusals) text += fmt::format("- {}\n", line);
  return text;
}

/// Returns the plans whose codes occur in an answer.
std::vector<plan::Plan> coded_plans(const answers::TuneAnswer& answer,
                                    const TuneOutputDetail& detail) {
  const tune::TuneResult& result = answer.result;
  std::vector<plan::Plan> plans = {result.plans.front().plan};
  const auto add = [&](const auto& list, auto plan_of) {
    for (const auto& one : list) plans.push_back(plan_of(one));
  };
  const auto own = [](const auto& one) { return one.plan; };
  const auto tuned = [](const auto& one) { return one.tuned.plan; };
  detail.plain_list ? add(result.plans, own)
                    : add(tune::fastest_plan_of_each_family(result), tuned);
  if (result.baseline) plans.push_back(result.baseline->plan);
  if (answer.strands) plans.push_back(answer.strands->tuned.plan);
  if (answer.unbound) plans.push_back(answer.unbound->tuned.plan);
  if (answer.with_experts) plans.push_back(answer.with_experts->plan);
  if (detail.verbose) {
    add(result.pareto, own);
    add(answer.more_memory, tuned);
  }
  return plans;
}

std::string warning(const answers::TuneAnswer& answer) {
  if (!answer.fault.empty()) {
    return fmt::format(
        "NO PLAN FITS IN MEMORY; this plan needs the least.{}\n\n",
        answer.remedies.empty() ? "" : "\n" + check::memory_remedies_sentence(answer.remedies));
  }
  const tune::TunedPlan& best = answer.result.plans.front();
  if (!best.fits) {
    return fmt::format(
        "NO PLAN FITS WITH {}; this plan is tight: it fits with a probability of {:.0f}%.{}\n\n",
        format_percent(memory::memory_fit_confidence(answer.result.job)), 100 * best.p_fits,
        answer.remedies.empty() ? "" : "\n" + check::memory_remedies_sentence(answer.remedies));
  }
  if (!answer.result.target_met) return "THE TARGET IS NOT MET; this is the fastest plan.\n\n";
  return "";
}

std::string best_text(const answers::TuneAnswer& answer) {
  return prediction_text(answer.best,
                         {answer.run, whole_run::idle_devices_of_search(answer.result)},
                         framework_line(answer));
}

/// Returns text about the additional questions: the user's own plan, the run and the sweep.
std::string asked_text(const answers::TuneAnswer& answer) {
  std::string text;
  if (answer.against) text += user_plan_comparison_text(answer.result, *answer.against);
  if (answer.run) text += training_run_cost_text(answer.result, *answer.run);
  if (answer.sweep) text += setting_sweep_text(*answer.sweep, answer.run);
  return text;
}

}  // namespace

std::string search_progress_text(const tune::TuneProgress& progress) {
  if (progress.simulating) {
    return fmt::format("simulating: {} of at most {} plans", progress.done, progress.most);
  }
  return fmt::format("searching: {} of at most {} parts of the space, {} plans estimated",
                     progress.done, progress.most, format_count(progress.priced));
}

std::string search_progress_text(const answers::TuneAnswerProgress& progress) {
  const std::string text = search_progress_text(progress.search);
  if (progress.value == 0) return text;
  return fmt::format("value {} of {}, {}", progress.value, progress.values, text);
}

std::string tune_text(const answers::TuneAnswer& answer, const TuneOutputDetail& detail) {
  const tune::TuneResult& result = answer.result;
  const plan::Plan& plan = result.plans.front().plan;
  std::string text = warning(answer) + best_text(answer) + memory_remedies_table(answer.remedies) +
                     "\n" + unbound_text(answer);
  text += detail.plain_list ? plans_text(result.plans) + lost_text(result.plans)
                            : alternatives_text(result);
  text += with_experts_text(answer);
  text += "\n" + plan::legend_of_plan_codes(coded_plans(answer, detail));
  if (detail.verbose) {
    text += front_text(result.pareto) + more_memory_text(result, answer.more_memory);
  }
  text += strands_text(result, answer.strands) + runs_on_text(answer.frameworks, plan);
  text += refusals_text(answer);
  if (detail.verbose) text += nearest_text(answer.frameworks, plan);
  text += baseline_text(result) + counts_text(result);
  if (detail.verbose) text += refusals_text(result.rejected);
  text += first_notes_text(tune::all_plan_notes(result, answer.best), detail.verbose);
  if (detail.verbose) text += unmeasured_operators_text(answer.best);
  if (!detail.verbose) text += "\n`--verbose` also says " + std::string(kDetails) + ".\n";
  return text + asked_text(answer);
}

}  // namespace stepwright::cli
