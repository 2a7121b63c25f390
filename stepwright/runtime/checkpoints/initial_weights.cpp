#include "stepwright/runtime/checkpoints/initial_weights.h"

#include "stepwright/runtime/checkpoints/checkpoint_pieces.h"

namespace stepwright::runtime {
namespace {

void load(StoredParameter& parameter, const huggingface::HuggingFaceWeights& weights) {
  const plan::Sharding& sharding = parameter.layout->sharding;
  const at::Tensor exact = at::zeros({parameter.value.numel()}, at::kDouble);
  auto* out = exact.data_ptr<double>();
  for (const ContiguousElementRun& run : contiguous_element_runs(
           parameter.slice, parameter.first_held_element(sharding.parameters), exact.numel())) {
    weights.read_parameter_elements(parameter.slice.name, run.whole,
                                    {out + run.local, static_cast<std::size_t>(run.length)});
  }
  parameter.value.copy_(exact);
  if (parameter.frozen) return;
  parameter.master.copy_(
      parameter.part_under_finer_sharding(exact, sharding.parameters, sharding.optimizer));
}

}  // namespace

void load_weights(ParameterStore& store, const huggingface::HuggingFaceWeights& weights) {
  for (StoredParameter* parameter : store.parameters_on_this_rank()) {
    if (!parameter->slice.adapter) load(*parameter, weights);
  }
  for (StoredParameter* buffer : store.buffers()) load(*buffer, weights);
}

void load_adapters(ParameterStore& store, const huggingface::HuggingFaceWeights& adapters) {
  for (StoredParameter* parameter : store.parameters_on_this_rank()) {
    if (parameter->slice.adapter) load(*parameter, adapters);
  }
}

}  // namespace stepwright::runtime
