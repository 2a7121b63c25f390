#include "stepwright/cli/fit_snapshot.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/answers/memory_answer.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/conditions_output.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/snapshot_text.h"
#include "stepwright/core/format.h"
#include "stepwright/cost/conditions_file.h"

namespace stepwright::cli {
namespace {

/// Returns the entries of `memory`, in which a framework's new entry replaces an older one.
std::vector<plan::FrameworkExtraMemory> with_entry(std::vector<plan::FrameworkExtraMemory> entries,
                                                   plan::FrameworkExtraMemory learned) {
  std::erase_if(entries, [&](const plan::FrameworkExtraMemory& entry) {
    return entry.framework == learned.framework;
  });
  entries.push_back(std::move(learned));
  return entries;
}

}  // namespace

void fit_memory_snapshots(const MemorySnapshotFitRequest& request, const Console& console) {
  const answers::PlanMemoryAnswer answer = answers::compute_plan_peak_memory(
      load_plan_file(request.plan, console),
      {.name = request.plan, .changes = {}, .reserve = {}, .snapshots = request.snapshots});
  const snapshot::LearnedMemoryMargins learned =
      snapshot::learned_margins(*answer.snapshot, answer.report);
  const std::string& framework = answer.planned.job.framework.name;
  if (request.json) {
    print_json(console.out, {{"framework", framework},
                             {"other_bytes", learned.other_bytes},
                             {"fragmentation", learned.fragmentation},
                             {"snapshot", snapshot::snapshot_comparison_json(*answer.snapshot)},
                             {"notes", answer.notes}});
  } else {
    console.out << snapshot_comparison_text(*answer.snapshot)
                << fmt::format(
                       "\nIn addition to states and tensors the allocator held {}; reserved but "
                       "not in use: {} of the temporary tensors.\n",
                       format_bytes(learned.other_bytes), format_percent(learned.fragmentation))
                << notes_text(answer.notes);
  }
  if (request.output.empty()) return;
  const FitStartConditions start = load_initial_fit_conditions(request.conditions);
  write_fitted_conditions(
      cost::training_conditions_yaml(
          start.training, with_entry(start.memory, {.framework = framework,
                                                    .other_bytes = learned.other_bytes,
                                                    .fragmentation = learned.fragmentation})),
      request.output, console);
}

}  // namespace stepwright::cli
