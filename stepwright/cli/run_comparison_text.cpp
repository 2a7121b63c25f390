#include "stepwright/cli/run_comparison_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/cli/comparison_text.h"
#include "stepwright/core/format.h"

namespace stepwright::cli {
namespace {

constexpr std::size_t kShown = 20;  ///< The most differences that are shown.

std::string routed_text(const logs::RouterDependentCalls& row) {
  return fmt::format(
      "{} depends on the router: {:.0f} bytes in the mean of {} calls and {} at most; {} calls are "
      "above the predicted largest of {:.0f} bytes.",
      logs::group_call_description(row.call), answers::mean_routed_call_bytes(row), row.calls,
      row.largest_bytes, row.beyond, row.bound_bytes);
}

std::string ledger_text(const logs::LedgerComparison& found) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, found.differences.size()); ++i) {
    text += found.differences[i] + '\n';
  }
  for (const logs::RouterDependentCalls& row : found.routed) text += routed_text(row) + '\n';
  return text + fmt::format("The plan has {} on {}; the run differs in {}.\n",
                            count_with_noun(found.calls, "call"),
                            count_with_noun(found.communicators, "communicator"),
                            found.differences.size());
}

std::string step_text(double logged_s, const simulate::PlanPrediction& prediction) {
  const double step_s = prediction.step_time_s();
  return fmt::format(
      "A step took {} in the logs (median time between step marks); the prediction is {} ({} to {} "
      "with a probability of 80%).\n",
      format_time(logged_s), format_time(step_s), format_time(prediction.interval.low * step_s),
      format_time(prediction.interval.high * step_s));
}

}  // namespace

std::string run_plan_comparison_text(const answers::PredictionRunComparison& run,
                                     const simulate::PlanPrediction& prediction) {
  std::string text =
      run.is_ledger() ? ledger_text(run.ledger) : log_comparison_text(run.found, run.log);
  if (run.logged_s) text += step_text(*run.logged_s, prediction);
  return text;
}

}  // namespace stepwright::cli
