#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// Activations of a layer that may lie on the host until its backward, in the words of
/// Megatron-Core (`--offload-modules`): the input of a norm, of a product or of an activation; of
/// the core of attention all that it keeps. `mlp_fc1` and `mlp_act` are those of dense MLPs. A
/// layer that is recomputed as a whole keeps its input alone, `layer_input`.
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

/// A set of them.
class OffloadModules {
 public:
  constexpr OffloadModules() = default;
  constexpr OffloadModules(std::initializer_list<OffloadModule> modules) {
    for (const OffloadModule module : modules) add(module);
  }
  constexpr void add(OffloadModule module) { bits_ |= bit(module); }
  constexpr void remove(OffloadModule module) { bits_ &= static_cast<std::uint16_t>(~bit(module)); }
  [[nodiscard]] constexpr bool has(OffloadModule module) const {
    return (bits_ & bit(module)) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  /// Modules of this set that keep something in a layer, by whether it is recomputed as a whole.
  [[nodiscard]] constexpr OffloadModules of_layers(bool recomputed) const {
    const OffloadModules input{OffloadModule::kLayerInput};
    return recomputed ? without(without(input)) : without(input);
  }
  /// The modules that this set has and the other has not.
  [[nodiscard]] constexpr OffloadModules without(OffloadModules other) const {
    OffloadModules rest;
    rest.bits_ = static_cast<std::uint16_t>(bits_ & ~other.bits_);
    return rest;
  }
  auto operator<=>(const OffloadModules&) const = default;

 private:
  static constexpr std::uint16_t bit(OffloadModule module) {
    return static_cast<std::uint16_t>(1U << static_cast<unsigned>(module));
  }
  std::uint16_t bits_ = 0;
};

/// The names of a set, in their order.
std::vector<std::string_view> offload_words(OffloadModules modules);

/// The modules of a set that some layer of the model has.
OffloadModules held_modules(const model::Architecture& model, OffloadModules modules);

/// States and activations that lie in host memory instead of device memory.
struct Offload {
  /// From 0 to 1: of the parameters that a rank's optimizer holds, those whose states do, which the
  /// host updates.
  double optimizer = 0;
  bool masters = true;  ///< The copies that updates compute with lie there, too.
  /// Modules whose activations lie there from each forward to its backward.
  OffloadModules activations;
  /// Parameters and gradients do: every use fetches a rank's part of them, every reduction leaves
  /// it there.
  bool parameters = false;
  auto operator<=>(const Offload&) const = default;

  /// Whether what layers keep that are recomputed as a whole lies there.
  [[nodiscard]] bool moves_inputs() const { return activations.has(OffloadModule::kLayerInput); }
  void move_inputs() { activations.add(OffloadModule::kLayerInput); }
};

}  // namespace stepwright::plan
