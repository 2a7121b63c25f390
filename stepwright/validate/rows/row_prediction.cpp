#include "stepwright/validate/rows/row_prediction.h"

#include <fmt/format.h>

#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/grid.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/step_time_interval.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/program.h"
#include "stepwright/validate/rows/metric.h"
#include "stepwright/validate/rows/row_plan.h"

namespace stepwright::validate {
namespace {

std::vector<std::pair<std::string_view, double>> terms_of(
    const simulate::StageTimeBreakdown& breakdown) {
  return {{"compute", breakdown.compute_s},           {"bubble", breakdown.bubble_s},
          {"optimizer", breakdown.optimizer_s},       {"exposed tensor", breakdown.tensor_s},
          {"exposed context", breakdown.context_s},   {"exposed expert", breakdown.expert_s},
          {"exposed pipeline", breakdown.pipeline_s}, {"exposed data", breakdown.data_s},
          {"exposed host", breakdown.host_s}};
}

/// Returns the kinds of parallelism above one rank, and how states are sharded, as text.
std::string scheme_of(const plan::Plan& plan) {
  std::string scheme;
  const auto add = [&](std::string_view name, std::int64_t degree) {
    if (degree > 1) scheme += fmt::format("{}{}", scheme.empty() ? "" : "+", name);
  };
  add("tp", plan.parallel.tensor);
  add("pp", plan.parallel.pipeline);
  add("cp", plan.parallel.context);
  add("ep", plan.parallel.expert);
  add("dp", plan.parallel.data);
  return fmt::format("{} {}", scheme.empty() ? "one GPU" : scheme,
                     plan::sharding_letters(plan.sharding));
}

/// Returns the key of comparable runs: source, setup, model, framework with release, devices,
/// batch, length and precision, which a plan does not choose.
std::string alike(const PublishedRunRow& row, const plan::PlannedJob& planned) {
  const plan::Job& job = planned.job;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", row.source, row.setup, row.model,
                     plan::plan_json(planned)["job"]["model"].dump(), job.framework.name,
                     job.framework.version, job.framework.variant, job.cluster.device.name,
                     job.cluster.devices(), job.sequences, job.length,
                     name_of(kDTypeNames, job.precision));
}

}  // namespace

std::vector<std::string> error_group_keys_of_row(const PublishedRunRow& row,
                                                 const plan::PlannedJob& planned) {
  return {row.source, planned.job.cluster.device.name, planned.job.framework.name,
          scheme_of(planned.plan)};
}

std::variant<TableRowPrediction, SkippedRowReason> predict_row_step_time(
    const PublishedRunRow& row, const cost::TrainingConditions& conditions) {
  auto made = job_and_plan_of_row(row);
  if (auto* skipped = std::get_if<SkippedRowReason>(&made)) return *skipped;
  auto& [planned, notes] = std::get<TableRowPlan>(made);
  const auto measured = measured_step_s(row, planned.job);
  if (const auto* skipped = std::get_if<SkippedRowReason>(&measured)) return *skipped;
  try {
    const cost::CostModel cost(planned.job, conditions);
    const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
    const auto layouts =
        cost::rank_group_network_layouts(planned.job.cluster, plan::RankGrid(planned.plan));
    const simulate::Simulation simulation =
        simulate::simulate_step_program(program, cost, layouts, planned.plan);
    const auto critical = static_cast<std::size_t>(simulation.critical_stage);
    TableRowPrediction result{.id = row.id,
                              .predicted = simulation.step_time_s,
                              .measured = std::get<double>(measured),
                              .terms = terms_of(simulation.stages[critical].breakdown),
                              .notes = std::move(notes),
                              .groups = error_group_keys_of_row(row, planned),
                              .alike = alike(row, planned),
                              .plan = plan::plan_json(planned).dump()};
    result.error = result.predicted / result.measured - 1;
    const double priced_s = simulate::PlanPricer(planned.job, cost).price(planned.plan).seconds;
    result.waiting_share =
        simulate::step_share_spent_waiting(simulation.stages[critical].breakdown, result.predicted);
    result.unknown_parts = cost::count_job_traits_without_fitted_run(conditions, planned.job);
    const cost::StepTimeRatioInterval interval =
        simulate::predicted_step_time_interval(planned, cost,
                                               {result.predicted, priced_s, result.waiting_share})
            .interval;
    result.low_s = interval.low * result.predicted;
    result.high_s = interval.high * result.predicted;
    return result;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    return SkippedRowReason{fmt::format("no program: {}", error.what())};
  }
}

}  // namespace stepwright::validate
