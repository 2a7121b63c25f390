#include "stepwright/simulate/prediction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/cost/clock_note.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/memory/memory_json.h"
#include "stepwright/model/flops.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/notes.h"
#include "stepwright/simulate/document_figures.h"
#include "stepwright/simulate/efficiency.h"
#include "stepwright/simulate/found_order.h"
#include "stepwright/simulate/losses.h"
#include "stepwright/simulate/step_time_interval.h"
#include "stepwright/simulate/timeline/prices.h"
#include "stepwright/step/work.h"

namespace stepwright::simulate {
namespace {

using Json = nlohmann::ordered_json;

/// Most operators of a step that a timeline may record: some 200 MB.
constexpr std::size_t kMostRecorded = 4'000'000;

void check_recorded(const step::StepProgram& program) {
  std::size_t operators = 0;
  for (const step::PipelineStageProgram& stage : program.stages) {
    std::vector<std::size_t> of_sequence;
    for (const step::TemplateSequence& sequence : stage.sequences) {
      std::size_t sum = 0;
      for (const step::TemplateSequenceItem& item : sequence.items) {
        sum += program.templates[static_cast<std::size_t>(item.which)].operators.size();
      }
      of_sequence.push_back(sum);
    }
    for (const step::PipelineScheduleSlot& slot : stage.schedule) {
      operators += of_sequence[static_cast<std::size_t>(slot.sequence)];
    }
  }
  if (operators <= kMostRecorded) return;
  fail_input(
      fmt::format("the timeline of this step has {} operators, and at most {} are recorded; "
                  "fewer micro-batches or layers have fewer",
                  format_count(static_cast<std::int64_t>(operators)),
                  format_count(static_cast<std::int64_t>(kMostRecorded))));
}

/// Returns the FLOPs of a step that repeat a forward, over all ranks.
double recomputed_flops(const step::StepProgram& program) {
  std::vector<double> of_template;
  for (const step::OperatorTemplate& piece : program.templates) {
    double sum = 0;
    for (const step::Operator& op : piece.operators) {
      if (op.phase == step::Phase::kRecompute) sum += step::operator_flops(op);
    }
    of_template.push_back(sum);
  }
  double total = 0;
  for (const step::PipelineStageProgram& stage : program.stages) {
    std::vector<double> of_sequence;
    for (const step::TemplateSequence& sequence : stage.sequences) {
      double sum = 0;
      for (const step::TemplateSequenceItem& item : sequence.items) {
        sum += of_template[static_cast<std::size_t>(item.which)];
      }
      of_sequence.push_back(sum);
    }
    for (const step::PipelineScheduleSlot& slot : stage.schedule) {
      total += of_sequence[static_cast<std::size_t>(slot.sequence)];
    }
  }
  const std::int64_t ranks_of_stage = program.ranks / std::ssize(program.stages);
  return total * static_cast<double>(ranks_of_stage);
}

/// Returns the operators, each name once, that are larger or smaller than all sizes that their
/// price was fitted on; those that differ in the same way form one entry.
std::vector<UnmeasuredOperatorSizes> unmeasured_sizes(const step::StepProgram& program,
                                                      const cost::ComputationCostModel& cost) {
  std::vector<std::string_view> seen;
  std::vector<UnmeasuredOperatorSizes> ways;
  for (const step::OperatorTemplate& piece : program.templates) {
    for (const step::Operator& op : piece.operators) {
      if (step::is_communication(op.kind) || std::ranges::find(seen, op.name) != seen.end())
        continue;
      if (op.kind == step::OperatorKind::kOptimizer && op.shape.rows == 1)
        continue;  // the whole update runs on the host
      const std::string how = cost.outside_fitted_range_text(op);
      if (how.empty()) continue;
      seen.push_back(op.name);
      auto way = std::ranges::find(ways, how, &UnmeasuredOperatorSizes::how);
      if (way == ways.end()) way = ways.insert(ways.end(), {.operators = {}, .how = how});
      way->operators.emplace_back(op.name);
    }
  }
  return ways;
}

/// Returns one sentence on all unmeasured sizes, which names the first operators.
std::string unmeasured_note(const std::vector<UnmeasuredOperatorSizes>& sizes) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string_view> names;
  for (const UnmeasuredOperatorSizes& way : sizes) {
    names.insert(names.end(), way.operators.begin(), way.operators.end());
  }
  const std::size_t named = names.size() > kNamed + 1 ? kNamed : names.size();
  const std::string more =
      names.size() > named ? fmt::format(" and {} more", names.size() - named) : "";
  names.resize(named);
  return fmt::format("Times of {}{} are less certain: no measurement covers their sizes.",
                     fmt::join(names, ", "), more);
}

/// Adds the interval of the step time, and notes on the causes that widen it.
void add_interval(PlanPrediction& p, const cost::CostModel& cost) {
  const double step_s = p.simulation.step_time_s;
  const auto critical = static_cast<std::size_t>(p.simulation.critical_stage);
  const double waits = step_share_spent_waiting(p.simulation.stages[critical].breakdown, step_s);
  const StepTimeInterval span =
      predicted_step_time_interval(p.planned, cost, {step_s, p.price.seconds, waits});
  p.interval = span.interval;
  if (span.loads) p.notes.push_back(expert_imbalance_note(*span.loads, step_s));
  p.frameworks = span.frameworks;
  std::string unnamed = step_time_without_framework_note(p.planned.job, p.frameworks, step_s);
  if (!unnamed.empty()) p.notes.push_back(std::move(unnamed));
}

void add_notes(PlanPrediction& p, const cost::CostModel& cost) {
  if (!p.planned.job.framework.name.empty()) {
    for (const plan::UnsupportedChoice& what : plan::choices_unsupported_by_framework(
             p.planned.job.framework, p.planned.job, p.planned.plan)) {
      p.notes.push_back(fmt::format("The plan does not run as it is: {}.", what.message));
    }
  }
  for (std::string& note : plan::plan_notes(p.planned)) p.notes.push_back(std::move(note));
  add_interval(p, cost);
  if (std::string clocks = cost::power_limit_sentence(p.planned.job.cluster.device);
      !clocks.empty()) {
    p.basis.push_back(std::move(clocks));
  }
  p.basis.push_back(cost.measurements_behind_prediction_text());
  p.unmeasured = unmeasured_sizes(p.program, cost.compute());
  if (!p.unmeasured.empty()) p.basis.push_back(unmeasured_note(p.unmeasured));
}

void add_rates(PlanPrediction& p, const plan::Job& job) {
  const double step = p.simulation.step_time_s;
  const auto devices = static_cast<double>(p.program.ranks);
  const ModelFlopsEfficiency used = model_flops_efficiency(job, p.planned.plan, step);
  p.parameters = model::count_parameters(job.model);
  p.active_parameters = model::count_active_parameters(job.model);
  p.flops_per_token = model_flops_per_token(job, p.planned.plan);
  p.tokens_per_s_per_device = step::step_tokens(job, p.planned.plan).slots / (step * devices);
  p.flops_per_s_per_device = used.flops_per_s;
  p.peak_flops = used.peak_flops;
  p.mfu = used.mfu;
  p.unmasked_mfu = used.mfu * (1 - masked_attention_flops_share(p.planned.job, p.planned.plan));
  p.hfu = p.mfu + recomputed_flops(p.program) / (step * devices * p.peak_flops);
}

Json stage_json(const PlanPrediction& p, std::size_t i) {
  const StageTimes& times = p.simulation.stages[i];
  std::int64_t layers = 0;
  for (const auto& chunk : p.program.stages[i].chunks) {
    layers += static_cast<std::int64_t>(chunk.size());
  }
  return {{"stage", i},
          {"layers", layers},
          {"peak_memory_bytes", static_cast<std::int64_t>(p.memory.stages[i].peak_bytes)},
          {"end_s", times.end_s},
          {"compute_busy_s", times.compute_busy_s},
          {"breakdown", time_breakdown_json(times.breakdown)}};
}

Json model_json(const PlanPrediction& p) {
  const plan::Job& job = p.planned.job;
  Json model{{"name", job.model_name},
             {"parameters", p.parameters},
             {"active_parameters", p.active_parameters}};
  if (job.model.has_frozen_weights())
    model["trained_parameters"] = model::count_trained_parameters(job.model);
  model["flops_per_token"] = p.flops_per_token;
  return model;
}

Json losses_json(const PlanPrediction& p) {
  Json list = Json::array();
  for (const StepTimeLoss& loss : step_time_losses(p)) {
    list.push_back({{"what", loss.key},
                    {"time_s", loss.seconds},
                    {"share", loss.seconds / p.simulation.step_time_s}});
  }
  return list;
}

}  // namespace

std::vector<std::string> PlanPrediction::ordered_prediction_notes() const {
  std::vector<std::string> all = notes;
  all.insert(all.end(), basis.begin(), basis.end());
  return all;
}

PlanPrediction predict_plan(const plan::PlannedJob& given, bool record) {
  if (const auto refused = plan::find_plan_rejection(given.job, given.plan))
    plan::fail_rejected_plan(*refused);
  PlanPrediction p;
  p.planned = resolve_schedule_order(given);
  const auto& [job, plan] = p.planned;
  const cost::CostModel cost(job);
  const auto layouts = cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan));
  p.program = step::build_step_program(job, plan);
  p.memory = memory::memory_report(job, p.program);
  if (job.documents)
    p.program = step::build_step_program(job, plan, step::RepresentativeMicroBatch::kMean);
  if (record) check_recorded(p.program);
  p.simulation = simulate_step_program(p.program, cost, layouts, plan, record);
  PlanPricer pricer(job, cost);
  p.price = pricer.price(plan);
  add_uneven_micro_batch_waits(p.simulation, p.price.uneven.waits_s);
  add_rates(p, job);
  add_notes(p, cost);
  return p;
}

std::vector<std::vector<double>> isolated_operator_seconds(const PlanPrediction& prediction) {
  const auto& [job, plan] = prediction.planned;
  const auto layouts = cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan));
  const Prices prices =
      price_operators(prediction.program, cost::CostModel(job), layouts, plan.collectives);
  std::vector<std::vector<double>> times;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    std::vector<double>& of_template = times.emplace_back();
    for (const cost::OperatorTime& time : prices[i]) of_template.push_back(time.seconds);
  }
  return times;
}

Json time_breakdown_json(const StageTimeBreakdown& b) {
  Json computation = Json::object();
  for (std::size_t i = 0; i < kComputeKinds; ++i) {
    computation[fmt::format("{}_s", kComputeKindNames[i].name)] = b.computation[i];
  }
  return {{"compute_s", b.compute_s},
          {"computation", computation},
          {"bubble_s", b.bubble_s},
          {"optimizer_s", b.optimizer_s},
          {"exposed",
           {{"tensor_s", b.tensor_s},
            {"context_s", b.context_s},
            {"expert_s", b.expert_s},
            {"pipeline_s", b.pipeline_s},
            {"data_s", b.data_s},
            {"host_s", b.host_s}}}};
}

Json prediction_json(const PlanPrediction& p) {
  const auto critical = static_cast<std::size_t>(p.simulation.critical_stage);
  Json out{{"model", model_json(p)},
           {"step_time_s", p.simulation.step_time_s},
           {"low_s", p.interval.low * p.simulation.step_time_s},
           {"high_s", p.interval.high * p.simulation.step_time_s},
           {"price_s", p.price.seconds},
           {"lower_bound_s", p.price.lower_bound_s},
           {"upper_bound_s", p.price.upper_bound_s},
           {"tokens_per_s", p.tokens_per_s()},
           {"tokens_per_s_per_device", p.tokens_per_s_per_device},
           {"tflops_per_device", p.flops_per_s_per_device / 1e12},
           {"peak_flops", p.peak_flops},
           {"mfu", p.mfu},
           {"unmasked_mfu", p.unmasked_mfu},
           {"hfu", p.hfu},
           {"fits", p.memory.fits()},
           {"verdict", name_of(memory::kFitVerdictNames, p.memory.memory_fit_verdict_of_job())},
           {"p_fits", p.memory.p_fits},
           {"peak_memory_bytes", static_cast<std::int64_t>(p.memory.peak_bytes)},
           {"capacity_bytes", static_cast<std::int64_t>(p.memory.capacity_bytes)},
           {"reserve_bytes", static_cast<std::int64_t>(p.memory.reserve_bytes)},
           {"critical_stage", critical},
           {"breakdown", time_breakdown_json(p.simulation.stages[critical].breakdown)},
           {"losses", losses_json(p)}};
  if (p.memory.host_bytes > 0) {
    out["host_memory_bytes"] = static_cast<std::int64_t>(p.memory.host_bytes);
    out["host_capacity_bytes"] = static_cast<std::int64_t>(p.memory.host_capacity_bytes);
    out["host_kinds"] = memory::host_memory_kinds_json(p.memory);
  }
  if (!p.memory.fits()) {
    out["largest_kind"] = memory::largest_part_of_scarce_memory(p.memory);
    out["over_by_bytes"] = static_cast<std::int64_t>(p.memory.memory_shortage_bytes());
  }
  out["stages"] = Json::array();
  for (std::size_t i = 0; i < p.simulation.stages.size(); ++i) {
    out["stages"].push_back(stage_json(p, i));
  }
  if (const auto& span = p.frameworks) {
    out["frameworks"] = {{"count", span->frameworks}, {"fastest", span->fastest},
                         {"least_s", span->least_s},  {"middle_s", span->middle_s},
                         {"slowest", span->slowest},  {"most_s", span->most_s}};
  }
  if (p.planned.job.documents) out["documents"] = document_metrics_json(p);
  out["notes"] = p.ordered_prediction_notes();
  for (const UnmeasuredOperatorSizes& way : p.unmeasured) {
    out["unmeasured_sizes"].push_back({{"operators", way.operators}, {"how", way.how}});
  }
  return out;
}

}  // namespace stepwright::simulate
