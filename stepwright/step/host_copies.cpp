#include "stepwright/step/host_copies.h"

#include <map>
#include <vector>

namespace stepwright::step {
namespace {

/// Roles of the tensors that a module keeps for its backward (NVIDIA/Megatron-LM
/// megatron/core/pipeline_parallel/fine_grained_activation_offload.py: what is saved inside of its
/// scope).
std::vector<KeptTensorRole> roles_of(plan::OffloadModule module) {
  switch (module) {
    case plan::OffloadModule::kAttentionNorm: return {KeptTensorRole::kAttentionInput};
    case plan::OffloadModule::kQkv: return {KeptTensorRole::kAttentionLinearInput};
    case plan::OffloadModule::kCoreAttention:
      return {KeptTensorRole::kQkv, KeptTensorRole::kQkNormed, KeptTensorRole::kHeadsQkv};
    case plan::OffloadModule::kAttentionProjection:
      return {KeptTensorRole::kAttentionOut, KeptTensorRole::kAttentionGated,
              KeptTensorRole::kProjectionInput};
    case plan::OffloadModule::kMlpNorm: return {KeptTensorRole::kMlpInput};
    case plan::OffloadModule::kMlpFc1: return {KeptTensorRole::kMlpLinearInput};
    case plan::OffloadModule::kMlpActivation: return {KeptTensorRole::kFc1Out};
    case plan::OffloadModule::kExpertFc1: return {KeptTensorRole::kExpertInput};
    case plan::OffloadModule::kMoeActivation: return {KeptTensorRole::kExpertFc1Out};
    case plan::OffloadModule::kLayerInput:
      return {KeptTensorRole::kAttentionInput, KeptTensorRole::kMlpInput};
  }
  return {};
}

Operator copy(OperatorKind kind, const TemplateTensor& tensor) {
  const bool down = kind == OperatorKind::kCopyToHost;
  return {.kind = kind,
          .phase = down ? Phase::kForward : Phase::kDataGradient,
          .stream = down ? DeviceStream::kToHost : DeviceStream::kFromHost,
          .dtype = tensor.dtype,
          .routed = tensor.routed,
          .shape = {.rows = tensor.elements()},
          .name = down ? "activations.to_host" : "activations.from_host"};
}

}  // namespace

KeptTensors copy_kept_tensors_to_host(OperatorTemplateBuilder& forward, const KeptTensors& kept,
                                      plan::OffloadModuleSet modules) {
  KeptTensors moved = kept;
  std::map<TensorId, TensorId> copies;
  for (const auto& [module, name] : plan::kOffloadModuleNames) {
    if (!modules.has(module)) continue;
    for (const KeptTensorRole role : roles_of(module)) {
      const TensorId id = kept.get(role);
      if (id < 0 || copies.contains(id)) continue;
      TemplateTensor there = forward.at(id);
      there.on_host = true;
      copies[id] = forward.tensor(there);
      forward.add(copy(OperatorKind::kCopyToHost, there), {id}, {copies[id]});
    }
  }
  // A tensor that is kept under several roles is copied once.
  for (std::size_t role = 0; role < static_cast<std::size_t>(KeptTensorRole::kCount); ++role) {
    const auto found = copies.find(kept.get(static_cast<KeptTensorRole>(role)));
    if (found != copies.end()) moved.set(static_cast<KeptTensorRole>(role), found->second);
  }
  return moved;
}

KeptTensors copy_kept_tensors_from_host(OperatorTemplateBuilder& backward,
                                        const KeptTensors& restored) {
  KeptTensors here = restored;
  std::map<TensorId, TensorId> copies;
  // Roles are in the order of a forward; a backward needs the last ones first.
  for (std::size_t i = static_cast<std::size_t>(KeptTensorRole::kCount); i-- > 0;) {
    const auto role = static_cast<KeptTensorRole>(i);
    const TensorId id = restored.get(role);
    if (id < 0 || !backward.at(id).on_host) continue;
    if (!copies.contains(id)) {
      TemplateTensor there = backward.at(id);
      there.on_host = false;
      copies[id] = backward.tensor(there);
      backward.add(copy(OperatorKind::kCopyFromHost, there), {id}, {copies[id]});
    }
    here.set(role, copies[id]);
  }
  return here;
}

}  // namespace stepwright::step
