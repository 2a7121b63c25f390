#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "stepwright/core/dtype.h"
#include "stepwright/core/named.h"

namespace stepwright::model {

/// A matrix product to which a LoRA adapter can be added. Queries, keys and values count separately
/// even if one fused product computes them, as do an MLP's gate and its input (kUp, also the first
/// product of an MLP without a gate). The last four enumerators belong to latent attention; without
/// a low-rank query projection it uses kQuery.
enum class LoraTargetProduct : std::uint8_t {
  kQuery,
  kKey,
  kValue,
  kProjection,
  kGate,
  kUp,
  kFc2,
  kQueryDown,
  kQueryUp,
  kKeyValueDown,
  kKeyValueUp,
};
inline constexpr Named<LoraTargetProduct> kAdapterTargetNames[] = {
    {LoraTargetProduct::kQuery, "q"},         {LoraTargetProduct::kKey, "k"},
    {LoraTargetProduct::kValue, "v"},         {LoraTargetProduct::kProjection, "projection"},
    {LoraTargetProduct::kGate, "gate"},       {LoraTargetProduct::kUp, "up"},
    {LoraTargetProduct::kFc2, "fc2"},         {LoraTargetProduct::kQueryDown, "q_down"},
    {LoraTargetProduct::kQueryUp, "q_up"},    {LoraTargetProduct::kKeyValueDown, "kv_down"},
    {LoraTargetProduct::kKeyValueUp, "kv_up"}};

/// A set of matrix products that get LoRA adapters: bit i is set if the `LoraTargetProduct` of
/// value i gets one.
using AdapterTargets = std::bitset<std::size(kAdapterTargetNames)>;

constexpr std::size_t place_of(LoraTargetProduct target) {
  return static_cast<std::size_t>(target);
}

/// Types in which the layers' frozen matrices may be stored under LoRA adapters. bf16: as all other
/// weights; a narrower type is converted back to bf16 for each product.
inline constexpr Named<DType> kAdapterBaseTypeNames[] = {
    {DType::kBf16, "bf16"}, {DType::kFp8, "fp8"}, {DType::kNf4, "nf4"}};

/// LoRA adapters of a model (arXiv 2106.09685). Each target product with frozen weight W computes W
/// x + `alpha / rank` B A x, where A and B have rank `rank`; only A and B are trained.
struct LoraAdapters {
  std::int64_t rank = 8;
  double alpha = 8;
  AdapterTargets targets;
  double dropout = 0;  ///< Dropout rate on the input of an adapter's A.
  /// Storage type of frozen layer matrices, one of `kAdapterBaseTypeNames`; bf16: as all other
  /// weights.
  DType base = DType::kBf16;
  /// True if a fused product (qkv, gate and up) has one adapter (Megatron-Bridge's linear_qkv and
  /// linear_fc1); false: each part has its own (peft's q_proj, k_proj, v_proj).
  bool joined = false;

  [[nodiscard]] bool has(LoraTargetProduct target) const { return targets[place_of(target)]; }
  [[nodiscard]] double scale() const { return alpha / static_cast<double>(rank); }
  [[nodiscard]] bool quantised() const { return base != DType::kBf16; }
  bool operator==(const LoraAdapters&) const = default;
};

/// Parts of a model whose weights are not trained and get no adapter either.
struct FrozenModelParts {
  bool embedding = false;  ///< True if the embedding is frozen, and with it a tied head.
  bool encoder = false;    ///< True if the image encoder is frozen, except its projector.
  bool projector = false;  ///< True if the projector between image encoder and decoder is frozen.
  /// Index of the first frozen layer, from 0; `layers` layers are frozen from it on.
  std::int64_t first = 0;
  std::int64_t layers = 0;

  [[nodiscard]] bool has(std::int64_t layer) const {
    return layer >= first && layer < first + layers;
  }
  [[nodiscard]] bool any() const { return embedding || encoder || projector || layers > 0; }
  bool operator==(const FrozenModelParts&) const = default;
};

/// Table row for a weight that can get an adapter: names of the weight and of the adapter's A
/// (`down`) and B (`up`), and the adapter target of each fused part of the weight, in order
/// (attention gates count as queries).
struct LoraAdaptableWeight {
  std::string_view weight, down, up;
  std::array<std::optional<LoraTargetProduct>, 4> parts;
};
/// Returns the table row (names and LoRA targets) of the weight with this name; null if no adapter
/// can be added to it.
const LoraAdaptableWeight* find_adaptable_weight(std::string_view weight);

struct ModelArchitecture;
struct LayerClass;

/// True if layers of this class (layers with equal operators) contain a matrix product that the
/// model's LoRA adapters target; frozen layers are not excluded.
bool has_adapter_targets(const ModelArchitecture& model, const LayerClass& layer);

/// Returns the LoRA targets (matrix products) that exist in at least one layer of the model.
AdapterTargets possible_adapter_targets(const ModelArchitecture& model);

/// Returns the largest rank that adapters on these targets can have: the smallest number of rows or
/// columns among the target weights.
std::int64_t largest_adapter_rank(const ModelArchitecture& model, const AdapterTargets& targets);

}  // namespace stepwright::model
