#include "stepwright/answers/memory_answer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/answers/given_file.h"
#include "stepwright/answers/made_by.h"
#include "stepwright/core/output_file.h"
#include "stepwright/memory/memory_json.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/notes.h"
#include "stepwright/snapshot/write_snapshot.h"
#include "stepwright/step/program.h"

namespace stepwright::answers {

PlanMemoryAnswer compute_plan_peak_memory(plan::PlannedJob planned,
                                          const PlanMemoryRequest& request) {
  request.reserve.replace_memory_margin_of_job(planned.job);
  plan::PlannedJob changed = with_resolved_schedule(
      plan::plan_with_fields(std::move(planned), request.changes), request.name);
  const step::StepProgram program = step::build_step_program(changed.job, changed.plan);
  PlanMemoryAnswer answer{.planned = {},
                          .report = memory::memory_report(changed.job, program),
                          .allocated = memory::pytorch_allocated_memory(changed.job, program),
                          .snapshot = {},
                          .notes = plan::plan_notes(changed)};
  if (!request.snapshots.empty()) {
    answer.snapshot = snapshot::compare_snapshots(request.snapshots, changed.job, program);
    answer.notes.insert(answer.notes.end(), answer.snapshot->notes.begin(),
                        answer.snapshot->notes.end());
  }
  answer.planned = std::move(changed);
  return answer;
}

void write_predicted_memory_snapshot(const plan::PlannedJob& planned, const std::string& path) {
  OutputFile file(path);
  snapshot::write_predicted_snapshot(planned.job,
                                     step::build_step_program(planned.job, planned.plan),
                                     [&](std::string_view bytes) { file.write(bytes); });
  file.finish();
}

nlohmann::ordered_json memory_answer_json(const PlanMemoryAnswer& answer) {
  nlohmann::ordered_json json = memory::memory_json(answer.report, answer.allocated);
  if (answer.snapshot) json["snapshot"] = snapshot::snapshot_comparison_json(*answer.snapshot);
  json["notes"] = answer.notes;
  json["made_by"] = producer_version_json();
  return json;
}

}  // namespace stepwright::answers
