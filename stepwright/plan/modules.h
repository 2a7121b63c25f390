#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// Parts of a layer that the backward can recompute, named as in Megatron-Core
/// (`--recompute-modules`; `norm` is its `layernorm`). `per-operator` is torchtitan's selective
/// recomputation: every second matrix product of attention, dense MLP and shared experts, all
/// operators between products except attention's core, and of routed experts everything except the
/// routing and received rows (torchtitan 0.3 distributed/activation_checkpoint.py, SelectiveAC).
enum class RecomputeModule : std::uint8_t {
  kCoreAttention,
  kMlp,
  kMoe,
  kMoeActivation,
  kNorm,
  kLatentUp,
  kSharedExperts,
  kPerOperator
};
inline constexpr Named<RecomputeModule> kModuleNames[] = {
    {RecomputeModule::kCoreAttention, "core_attn"},
    {RecomputeModule::kMlp, "mlp"},
    {RecomputeModule::kMoe, "moe"},
    {RecomputeModule::kMoeActivation, "moe_act"},
    {RecomputeModule::kNorm, "norm"},
    {RecomputeModule::kLatentUp, "mla_up_proj"},
    {RecomputeModule::kSharedExperts, "shared_experts"},
    {RecomputeModule::kPerOperator, "per-operator"}};

/// A set of layer parts to recompute, ordered like `kModuleNames`.
class RecomputeModuleSet {
 public:
  constexpr RecomputeModuleSet() = default;
  constexpr RecomputeModuleSet(std::initializer_list<RecomputeModule> modules) {
    for (const RecomputeModule module : modules) add(module);
  }
  constexpr void add(RecomputeModule module) { bits_ |= bit(module); }
  constexpr void add(RecomputeModuleSet other) { bits_ |= other.bits_; }
  constexpr void remove(RecomputeModule module) {
    bits_ &= static_cast<std::uint8_t>(~bit(module));
  }
  [[nodiscard]] constexpr bool has(RecomputeModule module) const {
    return (bits_ & bit(module)) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  /// Returns the modules of this set that `other` does not contain.
  [[nodiscard]] constexpr RecomputeModuleSet modules_not_in(RecomputeModuleSet other) const {
    RecomputeModuleSet rest;
    rest.bits_ = static_cast<std::uint8_t>(bits_ & ~other.bits_);
    return rest;
  }
  auto operator<=>(const RecomputeModuleSet&) const = default;

 private:
  static constexpr std::uint8_t bit(RecomputeModule module) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(module));
  }
  std::uint8_t bits_ = 0;
};

/// Returns the names of the layer parts in a set, in the order of `kModuleNames`.
std::vector<std::string_view> recompute_module_names(RecomputeModuleSet modules);

/// Returns those layer parts of a set that exist in at least one layer of the model.
RecomputeModuleSet modules_existing_in_model(const model::ModelArchitecture& model,
                                             RecomputeModuleSet modules);

}  // namespace stepwright::plan
