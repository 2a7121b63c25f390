#include "stepwright/tune/context_floor.h"

#include "stepwright/model/layer_order.h"
#include "stepwright/step/layer.h"

namespace stepwright {

const std::vector<ContextMessages>& ContextFloor::of(const Plan& plan) {
  const Parallel& size = plan.parallel;
  const auto [entry, fresh] =
      known_.try_emplace({size.tensor, size.context, plan.micro_batch, plan.context_kind,
                          plan.overlap.context, plan.collectives.context});
  if (fresh) entry->second = build(plan);
  return entry->second;
}

std::vector<ContextMessages> ContextFloor::build(Plan plan) const {
  plan.sharding = Sharding{};
  const Setting setting = make_setting(job_, plan, MicroBatchSize::kLeast);
  const Layouts layouts = group_layouts(job_.cluster, Grid(plan));
  std::vector<ContextMessages> classes;
  for (const LayerClass which : layer_order(job_.model).classes) {
    ContextMessages& messages = classes.emplace_back();
    const BlockPair pair = build_layer(setting, which, kNoRecompute);
    for (const Template* piece : {&pair.forward, &pair.backward}) {
      for (const Operator& op : piece->operators) {
        if (op.scheme != Scheme::kContext || !is_communication(op.kind)) continue;
        const double seconds = cost_.price(op, layouts, plan.collectives).seconds;
        (op.stream == Stream::kCompute ? messages.blocking_s : messages.beside_s) += seconds;
      }
    }
  }
  return classes;
}

}  // namespace stepwright
