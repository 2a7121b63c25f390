#include "stepwright/plan/host_memory.h"

#include <algorithm>
#include <vector>

#include "stepwright/model/layer_order.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright {
namespace {

/// Elements by how they are spread.
struct Elements {
  bool with_frozen = false;
  double dense = 0;
  double expert = 0;

  Elements& operator-=(const Elements& other) {
    dense -= other.dense;
    expert -= other.expert;
    return *this;
  }
  void add(const std::vector<Parameter>& parameters, double times) {
    for (const Parameter& parameter : parameters) {
      if (!parameter.trained || (parameter.frozen && !with_frozen)) continue;
      (parameter.expert ? expert : dense) += times * static_cast<double>(parameter.elements());
    }
  }
};

Elements elements_of(const Architecture& model, bool with_frozen) {
  Elements sum{.with_frozen = with_frozen};
  const LayerOrder order = layer_order(model);
  for (std::size_t i = 0; i < order.classes.size(); ++i) {
    const auto times = std::ranges::count(order.class_of, i);
    sum.add(layer_parameters(model, order.classes[i]), static_cast<double>(times));
  }
  sum.add(embedding_parameters(model), 1);
  sum.add(encoder_parameters(model), 1);
  sum.add(head_parameters(model), 1);
  sum.add(multi_token_parameters(model), static_cast<double>(model.predicted_ahead()));
  return sum;
}

double divisor(Spread spread, std::int64_t group, std::int64_t world) {
  if (spread == Spread::kNone) return 1;
  return static_cast<double>(spread == Spread::kInner ? group : world);
}

/// Of them a rank's mean part when a state of the spread is divided.
double of_rank(const Plan& plan, const Elements& sum, Spread spread) {
  const Parallel& degrees = plan.parallel;
  const Sharding& sharding = plan.sharding;
  const std::int64_t copies = std::max<std::int64_t>(1, degrees.expert_data());
  const double dense = sum.dense / static_cast<double>(degrees.tensor) /
                       divisor(spread, sharding.group, degrees.data * degrees.context);
  const double expert = sum.expert / static_cast<double>(degrees.expert * degrees.expert_tensor) /
                        divisor(spread, sharding.expert_group, copies);
  return (dense + expert) / static_cast<double>(degrees.pipeline);
}

}  // namespace

double host_bytes_of_node(const Job& job, const Plan& plan) {
  const StateTypes types = state_types(job, plan);
  const Elements trained = elements_of(job.model, false);
  double bytes = plan.offload.optimizer * host_bytes_of_element(job.optimizer, types) *
                 of_rank(plan, trained, plan.sharding.optimizer);
  if (plan.offload.parameters) {
    Elements stored = elements_of(job.model, true);
    if (!types.copies()) stored -= trained;
    bytes += static_cast<double>(size_bytes(storage_type(job.precision), 1)) *
             of_rank(plan, stored, plan.sharding.parameters);
  }
  return bytes * static_cast<double>(std::min(job.cluster.devices_per_node, plan.parallel.ranks()));
}

}  // namespace stepwright
