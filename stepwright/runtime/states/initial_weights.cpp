#include "stepwright/runtime/states/initial_weights.h"

#include "stepwright/runtime/states/checkpoint_pieces.h"

namespace stepwright {
namespace {

void load(StoredParameter& parameter, const HuggingFaceWeights& weights) {
  const Sharding& sharding = parameter.layout->sharding;
  const std::int64_t block = parameter.padded / parameter.layout->blocks();
  const at::Tensor exact = at::zeros({parameter.value.numel()}, at::kDouble);
  auto* out = exact.data_ptr<double>();
  for (const LocalRun& run :
       local_runs(parameter.slice, parameter.layout->held(sharding.parameters).first * block,
                  exact.numel())) {
    weights.read(parameter.slice.name, run.whole,
                 {out + run.local, static_cast<std::size_t>(run.length)});
  }
  parameter.value.copy_(exact);
  parameter.master.copy_(parameter.part(exact, sharding.parameters, sharding.optimizer));
}

}  // namespace

void load_weights(ParameterStore& store, const HuggingFaceWeights& weights) {
  for (const std::int32_t id : store.order()) {
    for (StoredParameter& parameter : store.unit(id).parameters) {
      if (parameter.owner == nullptr) load(parameter, weights);
    }
  }
}

}  // namespace stepwright
