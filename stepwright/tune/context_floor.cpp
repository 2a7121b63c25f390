#include "stepwright/tune/context_floor.h"

#include "stepwright/model/layer_order.h"
#include "stepwright/step/layer.h"

namespace stepwright::tune {
namespace {

/// Whether two messages of one template cost the same.
bool cost_alike(const step::Operator& a, const step::Operator& b) {
  const auto key = [](const step::Operator& op) {
    return std::tie(op.kind, op.group, op.dtype, op.routed, op.busiest, op.in_pieces,
                    op.payload_elements, op.repeats);
  };
  return key(a) == key(b);
}

}  // namespace

const std::vector<double>& ContextFloor::of(const plan::Plan& plan) {
  const plan::Parallel& size = plan.parallel;
  const auto [entry, fresh] = known_.try_emplace(
      {size.tensor, size.context, plan.micro_batch, plan.context_kind, plan.collectives.context});
  if (fresh) entry->second = build(plan);
  return entry->second;
}

std::vector<double> ContextFloor::build(plan::Plan plan) const {
  plan.sharding = plan::Sharding{};
  const step::Setting setting = step::make_setting(job_, plan, step::MicroBatchSize::kLeast);
  const simulate::Layouts layouts = cost::group_layouts(job_.cluster, plan::Grid(plan));
  std::vector<double> classes;
  for (const model::LayerClass which : model::layer_order(job_.model).classes) {
    double& sum = classes.emplace_back();
    const step::BlockPair pair = step::build_layer(setting, which, plan::kNoRecompute);
    // The steps of a ring cost the same.
    const step::Operator* before = nullptr;
    double seconds = 0;
    for (const step::Template* piece : {&pair.forward, &pair.backward}) {
      for (const step::Operator& op : piece->operators) {
        if (op.scheme != step::Scheme::kContext || !step::is_communication(op.kind)) continue;
        if (before == nullptr || !cost_alike(*before, op)) {
          seconds = cost_.price(op, layouts, plan.collectives).seconds;
        }
        before = &op;
        sum += seconds;
      }
    }
  }
  return classes;
}

}  // namespace stepwright::tune
