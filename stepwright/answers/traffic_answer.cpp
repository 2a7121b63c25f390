#include "stepwright/answers/traffic_answer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/answers/given_file.h"
#include "stepwright/answers/made_by.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/notes.h"
#include "stepwright/step/program.h"
#include "stepwright/traffic/traffic_json.h"

namespace stepwright::answers {

PlanTrafficAnswer list_plan_messages(plan::PlannedJob planned, const PlanTrafficRequest& request) {
  const plan::PlannedJob changed = with_resolved_schedule(
      plan::plan_with_fields(std::move(planned), request.changes), request.name);
  const cluster::Cluster& cluster = changed.job.cluster;
  const step::StepProgram program = step::build_step_program(changed.job, changed.plan);
  const plan::RankGrid grid(changed.plan);
  PlanTrafficAnswer answer{
      .ranks = program.ranks,
      .rank = request.rank,
      .ledger = traffic::count_traffic_of_step(program, request.rank, grid,
                                               {&cluster, changed.plan.collectives}),
      .matrix = traffic::TrafficMatrix(program, grid, cluster, changed.plan.collectives),
      .links = {},
      .sweep = {},
      .notes = plan::plan_notes(changed)};
  if (request.links) answer.links = traffic::bytes_over_each_link(answer.matrix, cluster);
  if (!request.sweep.empty()) answer.sweep = evaluate_traffic_sweep(changed, request.sweep);
  return answer;
}

nlohmann::ordered_json traffic_answer_json(const PlanTrafficAnswer& answer) {
  nlohmann::ordered_json json = traffic::traffic_json(answer.ledger, answer.ranks);
  if (answer.rank) json["rank"] = *answer.rank;
  if (answer.links) json["links"] = traffic::link_traffic_json(*answer.links);
  if (answer.sweep) json["sweep"] = traffic_sweep_json(*answer.sweep);
  json["notes"] = answer.notes;
  json["made_by"] = producer_version_json();
  return json;
}

}  // namespace stepwright::answers
