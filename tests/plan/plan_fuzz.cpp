#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/legality.h"

namespace {

using namespace stepwright;  // NOLINT(google-build-using-namespace)

/// A plan that was read can be checked, written and read again; a legal one has a grid.
void exercise(const plan::PlannedJob& planned) {
  const std::string text = plan::plan_yaml(planned);
  const plan::PlannedJob again = plan::read_plan(YamlJsonDocument::parse(text, "again"), {});
  if (again.plan != planned.plan || plan::plan_yaml(again) != text) std::abort();
  for (const plan::Plan& near : plan::find_plan_rejection(planned.job, planned.plan)
                                    .value_or(plan::PlanRejection{})
                                    .nearest) {
    if (plan::first_broken_rule(planned.job, near)) std::abort();
  }
  if (plan::first_broken_rule(planned.job, planned.plan)) return;
  const plan::RankGrid grid(planned.plan);
  for (const auto& [kind, name] : plan::kGroupNames) {
    static_cast<void>(
        plan::rank_group_network_layout(planned.job.cluster, grid.communicator_shape(kind)));
  }
  if (plan::first_broken_rule(planned.job, plan::canonical_plan(planned.plan, planned.job)))
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const YamlJsonDocument document = YamlJsonDocument::parse(text, "fuzz");
    if (text.find("job/1") != std::string_view::npos) plan::read_job(document, "/nonexistent");
    exercise(plan::read_plan(document, "/nonexistent"));
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
