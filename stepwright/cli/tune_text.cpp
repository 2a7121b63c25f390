#include "stepwright/cli/tune_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stepwright/cli/prediction_text.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/laws/repair.h"
#include "stepwright/plan/words.h"
#include "stepwright/tune/alternatives.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/tune_json.h"

namespace stepwright {
namespace {

constexpr std::size_t kMostFront = 8;
constexpr std::size_t kMostReasons = 8;

std::string mark(const TunedPlan& tuned) {
  if (!tuned.fits) return "does not fit";
  return tuned.tied ? "tied" : "";
}

std::string plans_text(const std::vector<TunedPlan>& plans) {
  Table table{.columns = {{"#", Align::kRight},
                          {"plan"},
                          {"step", Align::kRight},
                          {"memory", Align::kRight},
                          {"P(fits)", Align::kRight},
                          {"note"}},
              .rows = {}};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    table.rows.push_back({fmt::format("{}", i + 1), plan_code(plans[i].plan),
                          format_time(plans[i].step_time_s),
                          format_bytes(plans[i].peak_memory_bytes),
                          fmt::format("{:.2f}", plans[i].p_fits), i == 0 ? "" : mark(plans[i])});
  }
  return to_text(table);
}

std::string lost_text(const std::vector<TunedPlan>& plans) {
  std::string text;
  for (std::size_t i = 1; i < plans.size(); ++i) {
    text += fmt::format("{:>2}  {}\n", i + 1, plans[i].lost);
  }
  return text.empty() ? text : "\nWhy they lost\n" + text;
}

std::string verdict(const Alternative& alternative) {
  std::string text;
  const auto add = [&](std::string_view word, const std::vector<std::string>& list) {
    if (list.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", word, fmt::join(list, ", "));
  };
  add("wins", alternative.wins);
  add("loses", alternative.loses);
  return text.empty() ? "as good" : text;
}

std::string alternatives_text(const TuneResult& result) {
  const std::vector<Alternative> list = alternatives(result);
  if (list.empty()) return plans_text({result.plans.front()});
  std::vector<TunedPlan> plans = {result.plans.front()};
  std::string verdicts;
  for (const Alternative& alternative : list) {
    plans.push_back(alternative.tuned);
    verdicts += fmt::format("{:>2}  {}\n", plans.size(), verdict(alternative));
  }
  return "The best plan, and the best of each other family\n\n" + plans_text(plans) +
         "\nWhat they win and lose against it\n" + verdicts;
}

/// The front thinned to a few points: both ends and what lies evenly between.
std::string front_text(const std::vector<FrontPoint>& front) {
  Table table{.columns = {{"plan"}, {"time", Align::kRight}, {"memory", Align::kRight}},
              .rows = {}};
  const std::size_t shown = std::min(front.size(), kMostFront);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t at = shown == 1 ? 0 : i * (front.size() - 1) / (shown - 1);
    table.rows.push_back({plan_code(front[at].plan), format_time(front[at].step_time_s),
                          format_bytes(front[at].peak_memory_bytes)});
  }
  return fmt::format("\nLess memory for more time ({} of {})\n\n{}", shown,
                     counted(static_cast<std::int64_t>(front.size()), "plan"), to_text(table));
}

std::string more_memory_text(const TuneResult& result, const std::vector<MemoryStep>& steps) {
  if (!result.plans.front().fits) return "";
  if (steps.empty())
    return "\nNo plan near the best is faster with more risk, or with up to twice the memory.\n";
  Table table{.columns = {{"memory of a device", Align::kRight},
                          {"plan"},
                          {"time", Align::kRight},
                          {"gain", Align::kRight},
                          {"needs", Align::kRight},
                          {"P(fits)", Align::kRight}},
              .rows = {}};
  const double best_s = result.plans.front().step_time_s;
  for (const MemoryStep& step : steps) {
    table.rows.push_back({format_bytes(step.capacity_bytes), plan_code(step.tuned.plan),
                          format_time(step.tuned.step_time_s), format_percent(step.gain_s / best_s),
                          format_bytes(step.tuned.peak_memory_bytes),
                          fmt::format("{:.2f}", step.tuned.p_fits)});
  }
  return "\nWhat more risk and more memory would gain, by plans near the best\n\n" + to_text(table);
}

std::string strands_text(const TuneResult& result, const std::optional<StrandsGain>& gain) {
  if (!gain) return "";
  return fmt::format(
      "\nTwo strands (docs/strands.md) would take {} in place of {}, {} less, with {}, by a plan "
      "near the best: {}\nOnly Stepwright's own executor runs them; "
      "`search: {{schedule: [...], strands: [1, 2]}}` searches among them.\n",
      format_time(gain->tuned.step_time_s), format_time(result.plans.front().step_time_s),
      format_percent(gain->gain_s / result.plans.front().step_time_s),
      format_bytes(gain->tuned.peak_memory_bytes), plan_code(gain->tuned.plan));
}

std::string counts_text(const TuneResult& result) {
  const SpaceCounts& space = result.space;
  return fmt::format(
      "\nThe search took {}: {} points, {} legal; {} priced ({} of them fit), {} bounded away, {} "
      "simulated.\n"
      "No other plan can be more than {} faster, by the bounds.\n",
      format_time(result.seconds), format_count(space.total), format_count(space.legal),
      format_count(space.priced), format_count(space.fitting), format_count(space.bounded),
      format_count(space.simulated), format_percent(result.optimality_gap));
}

std::string refusals_text(const std::vector<Refusal>& refusals) {
  if (refusals.empty()) return "";
  Table table{.columns = {{"points", Align::kRight}, {"refused by the rule that"}}, .rows = {}};
  for (std::size_t i = 0; i < std::min(refusals.size(), kMostReasons); ++i) {
    const Refusal& refusal = refusals[i];
    const std::string mark = refusal.rule == kFrameworkRule ? "(framework) " : "";
    table.rows.push_back({format_count(refusal.count), mark + refusal.reason});
  }
  std::string text = "\n" + to_text(table);
  if (refusals.size() > kMostReasons) {
    text += fmt::format("and {} more reasons (see --json)\n", refusals.size() - kMostReasons);
  }
  return text;
}

std::string baseline_text(const TuneResult& result) {
  if (!result.baseline) return "\nThe usual rule of thumb finds no plan that fits.\n";
  return fmt::format("\nThe usual rule of thumb ({}) takes {}: {:.2f} x as long.\n",
                     plan_code(result.baseline->plan), format_time(result.baseline->step_time_s),
                     result.speedup_over_baseline);
}

std::string runs_on_text(const TuneResult& result) {
  const Plan& best = result.plans.front().plan;
  const std::vector<std::string_view> as_it_is = runs_on(result.job, best);
  std::string text =
      fmt::format("\nRuns as it is on: {}.\n",
                  as_it_is.empty() ? "none" : fmt::format("{}", fmt::join(as_it_is, ", ")));
  for (const NearestRun& nearest : nearest_runs(result.job, best)) {
    text += fmt::format("Nearest for {}: {}.\n", fmt::join(nearest.frameworks, ", "),
                        nearest.plan ? changes(best, *nearest.plan) : "no plan");
  }
  return text;
}

std::string warning(const TuneResult& result) {
  if (!result.plans.front().fits) return "NO PLAN FITS IN MEMORY; this one needs the least.\n\n";
  if (!result.target_met) return "THE TARGET IS NOT MET; this is the fastest plan.\n\n";
  return "";
}

}  // namespace

std::string progress_text(const TuneProgress& progress) {
  if (progress.simulating) {
    return fmt::format("simulating: {} of at most {} plans", progress.done, progress.most);
  }
  return fmt::format("searching: {} of at most {} parts of the space, {} plans priced",
                     progress.done, progress.most, format_count(progress.priced));
}

std::string misfit_text(const TuneResult& result) {
  const TunedPlan& smallest = result.plans.front();
  return fmt::format(
      "no plan of the space fits in memory: the smallest needs {}, {} more than there is, most of "
      "it {}",
      format_bytes(smallest.peak_memory_bytes), format_bytes(smallest.over_by_bytes),
      name_of(kMemoryKindNames, smallest.largest_kind));
}

std::string tune_text(const TuneResult& result, const Prediction& best, const TuneExtras& extras,
                      bool plain_list) {
  Prediction answer = best;
  answer.notes.clear();
  std::string text = warning(result) + prediction_text(answer) + "\n";
  text +=
      plain_list ? plans_text(result.plans) + lost_text(result.plans) : alternatives_text(result);
  text += front_text(result.pareto) + more_memory_text(result, extras.more_memory) +
          strands_text(result, extras.strands);
  text += runs_on_text(result) + baseline_text(result) + counts_text(result) +
          refusals_text(result.rejected);
  return text + notes_text(all_notes(result, best));
}

}  // namespace stepwright
