#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// Activations of a layer that can be kept in host memory until the backward, named as in
/// Megatron-Core (`--offload-modules`): the input of a norm, a matrix product or an activation
/// function, or everything that attention's core keeps. `mlp_fc1` and `mlp_act` are of dense MLPs.
/// A fully recomputed layer keeps only its input, `layer_input`.
enum class OffloadModule : std::uint8_t {
  kAttentionNorm,
  kQkv,
  kCoreAttention,
  kAttentionProjection,
  kMlpNorm,
  kMlpFc1,
  kMlpActivation,
  kExpertFc1,
  kMoeActivation,
  kLayerInput
};
inline constexpr Named<OffloadModule> kOffloadModuleNames[] = {
    {OffloadModule::kAttentionNorm, "attn_norm"},
    {OffloadModule::kQkv, "qkv_linear"},
    {OffloadModule::kCoreAttention, "core_attn"},
    {OffloadModule::kAttentionProjection, "attn_proj"},
    {OffloadModule::kMlpNorm, "mlp_norm"},
    {OffloadModule::kMlpFc1, "mlp_fc1"},
    {OffloadModule::kMlpActivation, "mlp_act"},
    {OffloadModule::kExpertFc1, "expert_fc1"},
    {OffloadModule::kMoeActivation, "moe_act"},
    {OffloadModule::kLayerInput, "layer_input"}};

/// A set of kinds of activations (`OffloadModule`) that are kept in host memory.
class OffloadModuleSet {
 public:
  constexpr OffloadModuleSet() = default;
  constexpr OffloadModuleSet(std::initializer_list<OffloadModule> modules) {
    for (const OffloadModule module : modules) add(module);
  }
  constexpr void add(OffloadModule module) { bits_ |= bit(module); }
  constexpr void remove(OffloadModule module) { bits_ &= static_cast<std::uint16_t>(~bit(module)); }
  [[nodiscard]] constexpr bool has(OffloadModule module) const {
    return (bits_ & bit(module)) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  /// Returns those kinds of activations of this set that a layer keeps at all; `recomputed`: the
  /// layer is fully recomputed.
  [[nodiscard]] constexpr OffloadModuleSet activations_kept_by_layer(bool recomputed) const {
    const OffloadModuleSet input{OffloadModule::kLayerInput};
    return recomputed ? activation_kinds_not_in(activation_kinds_not_in(input))
                      : activation_kinds_not_in(input);
  }
  /// Returns the kinds of activations of this set that `other` does not contain.
  [[nodiscard]] constexpr OffloadModuleSet activation_kinds_not_in(OffloadModuleSet other) const {
    OffloadModuleSet rest;
    rest.bits_ = static_cast<std::uint16_t>(bits_ & ~other.bits_);
    return rest;
  }
  auto operator<=>(const OffloadModuleSet&) const = default;

 private:
  static constexpr std::uint16_t bit(OffloadModule module) {
    return static_cast<std::uint16_t>(1U << static_cast<unsigned>(module));
  }
  std::uint16_t bits_ = 0;
};

/// Returns the names of the kinds of activations in a set, in the order of `kOffloadModuleNames`.
std::vector<std::string_view> offloaded_activation_kind_names(OffloadModuleSet modules);

/// Returns those kinds of activations of a set that at least one layer of the model has.
OffloadModuleSet modules_existing_in_model(const model::ModelArchitecture& model,
                                           OffloadModuleSet modules);

/// Model states and activations that a plan keeps in host memory instead of device memory.
struct HostOffload {
  /// Share, from 0 to 1, of each rank's parameters whose optimizer states are in host memory and
  /// which the host updates.
  double optimizer = 0;
  bool masters = true;  ///< True if the master copies of these parameters are in host memory too.
  /// Kinds of activations kept in host memory between forward and backward.
  OffloadModuleSet activations;
  /// True if parameters and gradients are in host memory: every use copies a rank's shard of
  /// parameters to the device, and every reduction copies its shard of gradients back.
  bool parameters = false;
  auto operator<=>(const HostOffload&) const = default;

  /// True if the inputs of fully recomputed layers are kept in host memory.
  [[nodiscard]] bool offloads_layer_inputs() const {
    return activations.has(OffloadModule::kLayerInput);
  }
  void move_inputs() { activations.add(OffloadModule::kLayerInput); }
};

}  // namespace stepwright::plan
