#include "stepwright/tune/remedies.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <variant>

#include "stepwright/core/format.h"
#include "stepwright/plan/files.h"
#include "stepwright/tune/fixed_cluster.h"

namespace stepwright::tune {
namespace {

/// Doublings of the nodes, and cuts between the last two numbers.
constexpr int kDoublings = 6;
constexpr int kHalvings = 3;

/// The best plan of a changed job; nothing where none is legal or none fits.
std::optional<TunedPlan> best_that_fits(const plan::Job& job, const TuneOptions& options) {
  TuneOutcome outcome = tune_on_cluster(job, {.threads = options.threads, .top = 1});
  auto* result = std::get_if<TuneResult>(&outcome);
  if (result == nullptr || !result->plans.front().fits) return std::nullopt;
  return std::move(result->plans.front());
}

std::optional<FittingJob> on_the_hosts(const plan::Job& job, const TuneOptions& options) {
  if (!(job.space.offload == plan::OffloadLists{})) return std::nullopt;
  plan::Job offloaded = job;
  offloaded.space.offload.optimizer = {0.5, 1};
  if (auto tuned = best_that_fits(offloaded, options)) {
    return FittingJob{
        "with the optimizer on the hosts (`search: {offload: {optimizer: [0.5, 1]}}`)",
        *std::move(tuned)};
  }
  offloaded.space.offload.optimizer = {1};
  offloaded.space.offload.parameters = {true};
  if (auto tuned = best_that_fits(offloaded, options)) {
    return FittingJob{
        "with optimizer and parameters on the hosts (`search: {offload: {optimizer: 1, "
        "parameters: true}}`)",
        *std::move(tuned)};
  }
  return std::nullopt;
}

std::optional<FittingJob> on_more_nodes(const plan::Job& job, const TuneOptions& options) {
  std::int64_t low = job.cluster.nodes;
  std::int64_t high = low;
  const auto on = [&](std::int64_t nodes) {
    return best_that_fits(plan::with_field({job, {}}, fmt::format("cluster.nodes={}", nodes)).job,
                          options);
  };
  std::optional<TunedPlan> found;
  for (int i = 0; i < kDoublings && !found; ++i) {
    low = high;
    high *= 2;
    found = on(high);
  }
  if (!found) return std::nullopt;
  for (int i = 0; i < kHalvings && high - low > 1; ++i) {
    const std::int64_t middle = low + (high - low) / 2;
    if (auto tuned = on(middle)) {
      found = std::move(tuned);
      high = middle;
    } else {
      low = middle;
    }
  }
  return FittingJob{fmt::format("on {} nodes", format_count(high)), *std::move(found)};
}

}  // namespace

std::vector<FittingJob> remedies(const TuneResult& result, const TuneOptions& options) {
  std::vector<FittingJob> list;
  if (result.plans.front().fits) return list;
  for (const auto& remedy : {&on_the_hosts, &on_more_nodes}) {
    if (auto found = remedy(result.job, options)) list.push_back(*std::move(found));
  }
  return list;
}

std::string remedies_text(const std::vector<FittingJob>& remedies) {
  std::string text;
  for (const FittingJob& remedy : remedies) {
    text += fmt::format("{} {}, {} a step", text.empty() ? "A plan fits" : "; or", remedy.how,
                        format_time(remedy.tuned.step_time_s));
  }
  return text.empty() ? text : text + ".";
}

}  // namespace stepwright::tune
