#include "stepwright/plan/host_memory.h"

#include <algorithm>
#include <vector>

#include "stepwright/model/layer_order.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright {
namespace {

/// Elements that are trained.
struct Trained {
  double dense = 0;
  double expert = 0;

  void add(const std::vector<Parameter>& parameters, double times) {
    for (const Parameter& parameter : parameters) {
      if (!parameter.trained || parameter.frozen) continue;
      (parameter.expert ? expert : dense) += times * static_cast<double>(parameter.elements());
    }
  }
};

Trained trained_of(const Architecture& model) {
  Trained sum;
  const LayerOrder order = layer_order(model);
  for (std::size_t i = 0; i < order.classes.size(); ++i) {
    const auto times = std::ranges::count(order.class_of, i);
    sum.add(layer_parameters(model, order.classes[i]), static_cast<double>(times));
  }
  sum.add(embedding_parameters(model), 1);
  sum.add(head_parameters(model), 1);
  sum.add(multi_token_parameters(model), static_cast<double>(model.predicted_ahead()));
  return sum;
}

double divisor(Spread spread, std::int64_t group, std::int64_t world) {
  if (spread == Spread::kNone) return 1;
  return static_cast<double>(spread == Spread::kInner ? group : world);
}

}  // namespace

double host_bytes_of_node(const Job& job, const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  const Sharding& sharding = plan.sharding;
  const Trained sum = trained_of(job.model);
  const auto pipeline = static_cast<double>(degrees.pipeline);
  const double dense = sum.dense / static_cast<double>(degrees.tensor) /
                       divisor(sharding.optimizer, sharding.group, degrees.data * degrees.context);
  const std::int64_t copies = std::max<std::int64_t>(1, degrees.expert_data());
  const double expert = sum.expert / static_cast<double>(degrees.expert * degrees.expert_tensor) /
                        divisor(sharding.optimizer, sharding.expert_group, copies);
  const auto ranks = static_cast<double>(std::min(job.cluster.devices_per_node, degrees.ranks()));
  return ranks * plan.offload.optimizer * (dense + expert) / pipeline *
         host_bytes_of_element(job.optimizer, storage_type(job.precision));
}

}  // namespace stepwright
