#include "stepwright/tune/context_message_lower_bounds.h"

#include <algorithm>

#include "stepwright/model/layer_class_index.h"
#include "stepwright/simulate/price/block_time_lower_bound.h"
#include "stepwright/step/layer.h"

namespace stepwright::tune {
namespace {

/// True if two messages of one template cost the same.
bool cost_alike(const step::Operator& a, const step::Operator& b) {
  const auto key = [](const step::Operator& op) {
    return std::tie(op.kind, op.group, op.dtype, op.routed, op.busiest, op.in_pieces,
                    op.payload_elements, op.repeats);
  };
  return key(a) == key(b);
}

bool sends_context(const step::Operator& op) {
  return op.scheme == step::ParallelismScheme::kContext && step::is_communication(op.kind);
}

}  // namespace

const std::vector<ContextParallelMessageSeconds>&
ContextParallelMessageBounds::context_message_seconds_of(const plan::Plan& plan) {
  const plan::ParallelismDegrees& size = plan.parallel;
  const auto [entry, fresh] =
      known_.try_emplace({size.tensor, size.context, plan.micro_batch, plan.context_kind,
                          plan.collectives.context, plan.overlap.context});
  if (fresh) entry->second = build(plan);
  return entry->second;
}

std::vector<ContextParallelMessageSeconds> ContextParallelMessageBounds::build(plan::Plan plan) {
  // The answer must not depend on which plan of these degrees asks first.
  plan.parallel.expert = plan.parallel.expert_tensor = 1;
  plan.sharding = plan::Sharding{};
  plan.sequence_parallel = false;
  plan.tensor_input = plan::GatheredInputPolicy::kKeep;
  plan.overlap = plan::OverlapFlags{.context = plan.overlap.context};
  const step::StepBuildSettings setting =
      step::make_setting(job_, plan, step::RepresentativeMicroBatch::kLeast);
  const simulate::Layouts layouts =
      cost::rank_group_network_layouts(job_.cluster, plan::RankGrid(plan));
  std::vector<ContextParallelMessageSeconds> classes;
  for (const model::LayerClass which : model::layer_order(job_.model).classes) {
    ContextParallelMessageSeconds& sum = classes.emplace_back();
    const step::ModelBlockTemplatePair pair =
        step::build_layer_templates(setting, which, plan::kNoRecompute);
    add(sum, pair.forward, layouts, plan.collectives);
    add(sum, pair.backward, layouts, plan.collectives);
  }
  return classes;
}

// Operators on the compute stream add their seconds in its order, whatever they wait for.
void ContextParallelMessageBounds::add(ContextParallelMessageSeconds& sum,
                                       const step::OperatorTemplate& piece,
                                       const simulate::Layouts& layouts,
                                       const plan::CollectiveAlgorithmChoices& collectives) {
  times_.assign(piece.operators.size(), {.seconds = 0, .link = cost::LinkClass::kNone});
  waits_.assign(piece.operators.size(), false);
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    if (!sends_context(op)) times_[i].seconds = least_s_(op, layouts);
  }
  const double without_s = simulate::compute_stream_seconds(piece, times_, ends_);
  // The previous message, since all steps of a ring cost the same.
  const step::Operator* before = nullptr;
  double seconds = 0;
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    waits_[i] = !step::is_communication(op.kind) ||
                std::ranges::any_of(piece.after(op), [&](std::int32_t other) {
                  return waits_[static_cast<std::size_t>(other)];
                });
    if (!sends_context(op)) continue;
    if (before == nullptr || !cost_alike(*before, op)) {
      seconds = cost_.price_template_operators(op, layouts, collectives).seconds;
    }
    before = &op;
    sum.messages_s += seconds;
    if (waits_[i]) times_[i].seconds = seconds;
  }
  sum.waits_s += simulate::compute_stream_seconds(piece, times_, ends_) - without_s;
}

}  // namespace stepwright::tune
