#include "stepwright/step/host_copies.h"

#include <map>
#include <vector>

namespace stepwright::step {
namespace {

/// Roles of the tensors that a module keeps for its backward (NVIDIA/Megatron-LM
/// megatron/core/pipeline_parallel/fine_grained_activation_offload.py: what is saved inside of its
/// scope).
std::vector<Keep> roles_of(plan::OffloadModule module) {
  switch (module) {
    case plan::OffloadModule::kAttentionNorm: return {Keep::kAttentionInput};
    case plan::OffloadModule::kQkv: return {Keep::kAttentionLinearInput};
    case plan::OffloadModule::kCoreAttention: return {Keep::kQkv, Keep::kQkNormed, Keep::kHeadsQkv};
    case plan::OffloadModule::kAttentionProjection:
      return {Keep::kAttentionOut, Keep::kAttentionGated, Keep::kProjectionInput};
    case plan::OffloadModule::kMlpNorm: return {Keep::kMlpInput};
    case plan::OffloadModule::kMlpFc1: return {Keep::kMlpLinearInput};
    case plan::OffloadModule::kMlpActivation: return {Keep::kFc1Out};
    case plan::OffloadModule::kExpertFc1: return {Keep::kExpertInput};
    case plan::OffloadModule::kMoeActivation: return {Keep::kExpertFc1Out};
    case plan::OffloadModule::kLayerInput: return {Keep::kAttentionInput, Keep::kMlpInput};
  }
  return {};
}

Operator copy(OperatorKind kind, const Tensor& tensor) {
  const bool down = kind == OperatorKind::kCopyToHost;
  return {.kind = kind,
          .phase = down ? Phase::kForward : Phase::kDataGradient,
          .stream = down ? Stream::kToHost : Stream::kFromHost,
          .dtype = tensor.dtype,
          .routed = tensor.routed,
          .shape = {.rows = tensor.elements()},
          .name = down ? "activations.to_host" : "activations.from_host"};
}

}  // namespace

Kept copy_kept_tensors_to_host(TemplateBuilder& forward, const Kept& kept,
                               plan::OffloadModuleSet modules) {
  Kept moved = kept;
  std::map<TensorId, TensorId> copies;
  for (const auto& [module, name] : plan::kOffloadModuleNames) {
    if (!modules.has(module)) continue;
    for (const Keep role : roles_of(module)) {
      const TensorId id = kept.get(role);
      if (id < 0 || copies.contains(id)) continue;
      Tensor there = forward.at(id);
      there.on_host = true;
      copies[id] = forward.tensor(there);
      forward.add(copy(OperatorKind::kCopyToHost, there), {id}, {copies[id]});
    }
  }
  // A tensor that is kept under several roles is copied once.
  for (std::size_t role = 0; role < static_cast<std::size_t>(Keep::kCount); ++role) {
    const auto found = copies.find(kept.get(static_cast<Keep>(role)));
    if (found != copies.end()) moved.set(static_cast<Keep>(role), found->second);
  }
  return moved;
}

Kept copy_kept_tensors_from_host(TemplateBuilder& backward, const Kept& restored) {
  Kept here = restored;
  std::map<TensorId, TensorId> copies;
  // Roles are in the order of a forward; a backward needs the last ones first.
  for (std::size_t i = static_cast<std::size_t>(Keep::kCount); i-- > 0;) {
    const auto role = static_cast<Keep>(i);
    const TensorId id = restored.get(role);
    if (id < 0 || !backward.at(id).on_host) continue;
    if (!copies.contains(id)) {
      Tensor there = backward.at(id);
      there.on_host = false;
      copies[id] = backward.tensor(there);
      backward.add(copy(OperatorKind::kCopyFromHost, there), {id}, {copies[id]});
    }
    here.set(role, copies[id]);
  }
  return here;
}

}  // namespace stepwright::step
