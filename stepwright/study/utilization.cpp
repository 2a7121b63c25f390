#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/work.h"
#include "stepwright/study/study.h"

namespace stepwright::study {
namespace {

/// FLOPs and seconds of a subset of a layer's operators.
struct Effort {
  double flops = 0;
  double seconds = 0;
  void add(const step::Operator& op, double seconds_each) {
    flops += stepwright::step::operator_flops(op) * op.repeats;
    seconds += seconds_each * op.repeats;
  }
  [[nodiscard]] double utilization(double peak) const {
    return seconds > 0 ? flops / (seconds * peak) : 0;
  }
};

struct LayerEffort {
  Effort products, attention, all;
};

bool is_product(step::OperatorKind kind) {
  return kind == step::OperatorKind::kLinear || kind == step::OperatorKind::kGroupedLinear;
}

bool is_attention(step::OperatorKind kind) {
  return kind == step::OperatorKind::kAttention || kind == step::OperatorKind::kScores ||
         kind == step::OperatorKind::kSoftmax || kind == step::OperatorKind::kAttendValues;
}

LayerEffort layer_effort(const plan::PlannedJob& planned) {
  const plan::Job& job = planned.job;
  const cost::CostModel cost(job);
  const step::StepBuildSettings setting = step::make_setting(job, planned.plan);
  const step::ModelBlockTemplatePair layer = step::build_layer_templates(
      setting, job.model.layer_class(job.model.layers - 1), plan::kNoRecompute);
  LayerEffort effort;
  for (const step::OperatorTemplate* piece : {&layer.forward, &layer.backward}) {
    for (const step::Operator& op : piece->operators) {
      if (step::is_communication(op.kind)) continue;
      const double seconds = cost.compute_s(op);
      effort.all.add(op, seconds);
      if (is_product(op.kind)) effort.products.add(op, seconds);
      if (is_attention(op.kind)) effort.attention.add(op, seconds);
    }
  }
  return effort;
}

KeyedStudyChart utilization_panel(const std::string& key, const ChartAxis& x,
                                  const std::vector<ChartedPlanVariant>& variations) {
  ChartSeries products{.name = "matrix products", .points = {}};
  ChartSeries attention{.name = "attention", .points = {}};
  ChartSeries all{.name = "whole layer", .points = {}};
  for (const ChartedPlanVariant& variation : variations) {
    const plan::Job& job = variation.planned.job;
    const double peak = job.cluster.device.peak_flops.at(job.precision);
    const LayerEffort effort = layer_effort(variation.planned);
    products.points.push_back({variation.x, effort.products.utilization(peak)});
    attention.points.push_back({variation.x, effort.attention.utilization(peak)});
    all.points.push_back({variation.x, effort.all.utilization(peak)});
  }
  KeyedStudyChart panel;
  panel.key = key;
  panel.chart.title = fmt::format("Utilisation by {}", x.title);
  panel.chart.x = x;
  panel.chart.y = {"share of peak FLOP/s", format_percent};
  panel.chart.series = {std::move(products), std::move(attention), std::move(all)};
  return panel;
}

/// Multiplies `value` by numerator / denominator if the result is whole and at least 1; otherwise
/// returns false.
bool scale(std::int64_t& value, std::int64_t numerator, std::int64_t denominator) {
  if (value * numerator % denominator != 0) return false;
  value = value * numerator / denominator;
  return true;
}

bool scale_widths(model::ModelArchitecture& model, std::int64_t numerator,
                  std::int64_t denominator) {
  bool fits = true;
  for (std::int64_t* width : {&model.hidden, &model.heads, &model.kv_heads, &model.ffn}) {
    fits = fits && scale(*width, numerator, denominator);
  }
  if (model.experts) {
    fits = fits && scale(model.experts->ffn, numerator, denominator) &&
           scale(model.experts->shared_ffn, numerator, denominator) &&
           (model.experts->latent == 0 || scale(model.experts->latent, numerator, denominator));
  }
  return fits;
}

std::vector<ChartedPlanVariant> hidden_sizes(const plan::PlannedJob& planned) {
  std::vector<ChartedPlanVariant> variations;
  for (const auto& [numerator, denominator] :
       {std::pair{1, 8}, {1, 4}, {1, 2}, {1, 1}, {2, 1}, {4, 1}}) {
    plan::PlannedJob changed = planned;
    if (!scale_widths(changed.job.model, numerator, denominator)) continue;
    const auto x = static_cast<double>(changed.job.model.hidden);
    if (!plan::first_broken_rule(changed.job, changed.plan))
      variations.push_back({x, std::move(changed)});
  }
  return variations;
}

/// Returns variants with micro-batch sizes in powers of two; the global batch grows in proportion,
/// so that the number of micro-batches stays.
std::vector<ChartedPlanVariant> micro_batches_around(const plan::PlannedJob& planned) {
  std::vector<ChartedPlanVariant> variations;
  for (std::int64_t size = 1; size <= 16; size *= 2) {
    plan::PlannedJob changed = planned;
    changed.job.sequences = planned.job.sequences / planned.plan.micro_batch * size;
    changed.plan.micro_batch = size;
    variations.push_back({static_cast<double>(size), std::move(changed)});
  }
  return variations;
}

/// Returns variants with tensor-parallel sizes in powers of two up to a node; the data-parallel
/// ranks fill the cluster.
std::vector<ChartedPlanVariant> tensor_sizes(const plan::PlannedJob& planned) {
  std::vector<ChartedPlanVariant> variations;
  const std::int64_t ranks = planned.plan.parallel.tensor * planned.plan.parallel.data;
  for (const std::int64_t size : plan::legal_tensor_degrees(planned.job)) {
    if ((size & (size - 1)) != 0 || ranks % size != 0) continue;
    if (size > std::max<std::int64_t>(8, planned.job.cluster.devices_per_node)) continue;
    plan::PlannedJob changed = planned;
    changed.plan.parallel.tensor = size;
    changed.plan.parallel.data = ranks / size;
    changed.plan.sequence_parallel = size > 1;
    changed.plan.sharding.group = 1;
    if (changed.plan.sharding.uses(plan::StateShardingScope::kInner)) {
      changed.plan.sharding = *plan::sharding_named_by_word("zero1");
    }
    if (!plan::first_broken_rule(changed.job, changed.plan)) {
      variations.push_back({static_cast<double>(size), std::move(changed)});
    }
  }
  return variations;
}

std::vector<ChartedPlanVariant> lengths(const plan::PlannedJob& planned) {
  std::vector<ChartedPlanVariant> variations;
  for (std::int64_t length = 1024; length <= 131072; length *= 2) {
    plan::PlannedJob changed = planned;
    changed.job.length = length;
    if (!plan::first_broken_rule(changed.job, changed.plan)) {
      variations.push_back({static_cast<double>(length), std::move(changed)});
    }
  }
  return variations;
}

}  // namespace

StudyCharts study_gpu_utilization(const plan::PlannedJob& planned) {
  const auto logarithmic = [](const char* title) {
    return ChartAxis{.title = title, .label = format_whole_number};
  };
  struct Axes {
    const char* key;
    ChartAxis x;
    std::vector<ChartedPlanVariant> variations;
  };
  const Axes axes[] = {{"hidden", logarithmic("hidden size"), hidden_sizes(planned)},
                       {"micro_batch", logarithmic("micro-batch"), micro_batches_around(planned)},
                       {"tensor", logarithmic("tensor-parallel degree"), tensor_sizes(planned)},
                       {"length", logarithmic("sequence length"), lengths(planned)}};
  StudyCharts study{.variable = "utilization", .planned = planned, .panels = {}};
  for (const Axes& axis : axes) {
    study.panels.push_back(utilization_panel(axis.key, axis.x, axis.variations));
  }
  for (const Axes& axis : axes) {
    study.panels.push_back(exposed_communication_chart(fmt::format("exposed_over_{}", axis.key),
                                                       axis.x, axis.variations));
  }
  return study;
}

}  // namespace stepwright::study
