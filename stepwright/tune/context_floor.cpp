#include "stepwright/tune/context_floor.h"

#include "stepwright/model/layer_order.h"
#include "stepwright/step/layer.h"

namespace stepwright {
namespace {

/// Whether two messages of one template cost the same.
bool cost_alike(const Operator& a, const Operator& b) {
  const auto key = [](const Operator& op) {
    return std::tie(op.kind, op.group, op.dtype, op.routed, op.busiest, op.in_pieces,
                    op.payload_elements, op.repeats);
  };
  return key(a) == key(b);
}

}  // namespace

const std::vector<double>& ContextFloor::of(const Plan& plan) {
  const Parallel& size = plan.parallel;
  const auto [entry, fresh] = known_.try_emplace(
      {size.tensor, size.context, plan.micro_batch, plan.context_kind, plan.collectives.context});
  if (fresh) entry->second = build(plan);
  return entry->second;
}

std::vector<double> ContextFloor::build(Plan plan) const {
  plan.sharding = Sharding{};
  const Setting setting = make_setting(job_, plan, MicroBatchSize::kLeast);
  const Layouts layouts = group_layouts(job_.cluster, Grid(plan));
  std::vector<double> classes;
  for (const LayerClass which : layer_order(job_.model).classes) {
    double& sum = classes.emplace_back();
    const BlockPair pair = build_layer(setting, which, kNoRecompute);
    // The steps of a ring cost the same.
    const Operator* before = nullptr;
    double seconds = 0;
    for (const Template* piece : {&pair.forward, &pair.backward}) {
      for (const Operator& op : piece->operators) {
        if (op.scheme != Scheme::kContext || !is_communication(op.kind)) continue;
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

}  // namespace stepwright
