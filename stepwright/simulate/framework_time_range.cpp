#include "stepwright/simulate/framework_time_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stepwright/core/format.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

std::optional<FrameworkTimeRange> step_time_range_over_frameworks(const plan::PlannedJob& planned) {
  if (!planned.job.framework.name.empty() || !planned.job.measured.empty()) return std::nullopt;
  std::vector<std::pair<double, std::string_view>> steps;
  for (const std::string_view name : plan::frameworks_supporting_plan(planned.job, planned.plan)) {
    plan::Job job = planned.job;
    job.framework.name = name;
    job.kernels = plan::default_kernels(job.framework, job.cluster.device);
    if (plan::find_plan_rejection(job, planned.plan)) continue;
    const cost::CostModel cost(job);
    steps.emplace_back(PlanPricer(job, cost).price(planned.plan).seconds, name);
  }
  if (steps.size() < 2) return std::nullopt;
  std::ranges::sort(steps);
  const std::size_t half = steps.size() / 2;
  const double middle_s =
      steps.size() % 2 == 1 ? steps[half].first : (steps[half - 1].first + steps[half].first) / 2;
  return FrameworkTimeRange{.fastest = steps.front().second,
                            .slowest = steps.back().second,
                            .least_s = steps.front().first,
                            .middle_s = middle_s,
                            .most_s = steps.back().first,
                            .frameworks = static_cast<int>(steps.size())};
}

std::string step_time_without_framework_note(const plan::Job& job,
                                             const std::optional<FrameworkTimeRange>& span,
                                             double step_s) {
  if (!job.framework.name.empty() || !job.measured.empty()) return "";
  const std::string_view best =
      span ? "" : ", a best case as fewer than two frameworks run this plan";
  return fmt::format(
      "No framework is named: {} assumes that all kernels are fused and the host has medium "
      "speed{}. "
      "Name yours with the key framework of the job.",
      format_time(step_s), best);
}

std::string step_time_range_over_frameworks_text(const FrameworkTimeRange& span) {
  return fmt::format("{} ({}) to {} ({}) in the {} that run this plan, {} in the middle",
                     format_time(span.least_s), span.fastest, format_time(span.most_s),
                     span.slowest, span.frameworks, format_time(span.middle_s));
}

}  // namespace stepwright::simulate
