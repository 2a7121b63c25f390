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

/// A matrix product that a low-rank adapter can be added to. The queries, keys and values of a
/// fused attention product are targets of their own, as are the gate and the input of a fused MLP
/// product.
/// `kUp` also names the first product of an MLP without a gate. The last four targets belong to
/// latent attention; a latent attention that projects queries directly has kQuery.
enum class AdapterTarget : std::uint8_t {
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
inline constexpr Named<AdapterTarget> kAdapterTargetNames[] = {
    {AdapterTarget::kQuery, "q"},         {AdapterTarget::kKey, "k"},
    {AdapterTarget::kValue, "v"},         {AdapterTarget::kProjection, "projection"},
    {AdapterTarget::kGate, "gate"},       {AdapterTarget::kUp, "up"},
    {AdapterTarget::kFc2, "fc2"},         {AdapterTarget::kQueryDown, "q_down"},
    {AdapterTarget::kQueryUp, "q_up"},    {AdapterTarget::kKeyValueDown, "kv_down"},
    {AdapterTarget::kKeyValueUp, "kv_up"}};

/// A set of adapter targets; the bit number is the value of the `AdapterTarget`.
using AdapterTargets = std::bitset<std::size(kAdapterTargetNames)>;

constexpr std::size_t place_of(AdapterTarget target) { return static_cast<std::size_t>(target); }

/// Types in which the frozen matrices of layers are stored. bf16 means the type of all other
/// weights; a matrix in a narrower type is converted back to bf16 for each product that uses it.
inline constexpr Named<DType> kAdapterBaseNames[] = {
    {DType::kBf16, "bf16"}, {DType::kFp8, "fp8"}, {DType::kNf4, "nf4"}};

/// Low-rank adapters (LoRA, arXiv 2106.09685). Each target multiplies its input by the frozen
/// weight W and adds `alpha / rank` times the product with B A, where A and B have rank `rank`.
/// Only A and B are trained.
struct Adapters {
  std::int64_t rank = 8;
  double alpha = 8;
  AdapterTargets targets;
  double dropout = 0;  ///< Dropout rate of the input of A.
  /// Storage type of frozen matrices, one of `kAdapterBaseNames`; bf16: the type of all other
  /// weights.
  DType base = DType::kBf16;
  /// True if the parts of a fused product share one adapter (Megatron-Bridge's linear_qkv and
  /// linear_fc1); false if each part has its own (peft's q_proj, k_proj, v_proj).
  bool joined = false;

  [[nodiscard]] bool has(AdapterTarget target) const { return targets[place_of(target)]; }
  [[nodiscard]] double scale() const { return alpha / static_cast<double>(rank); }
  [[nodiscard]] bool quantised() const { return base != DType::kBf16; }
  bool operator==(const Adapters&) const = default;
};

/// Parts of a model that are frozen without an adapter in their place.
struct Frozen {
  bool embedding = false;  ///< Freezes the embedding, and a tied head with it.
  bool encoder = false;    ///< Freezes the encoder of images, without its projector.
  bool projector = false;  ///< Freezes the projector between the encoder and the decoder.
  std::int64_t first = 0;  ///< Number of the first frozen layer, from 0.
  std::int64_t layers = 0;

  [[nodiscard]] bool has(std::int64_t layer) const {
    return layer >= first && layer < first + layers;
  }
  [[nodiscard]] bool any() const { return embedding || encoder || projector || layers > 0; }
  bool operator==(const Frozen&) const = default;
};

/// A weight that an adapter can be added to, the names of the adapter's A and B, and the target
/// that each fused part of the weight is, in the order of the parts (the gates of attention belong
/// to the queries).
struct AdaptedWeight {
  std::string_view weight, down, up;
  std::array<std::optional<AdapterTarget>, 4> parts;
};
/// Returns the entry for a weight's name; a null pointer if no adapter can be added to that weight.
const AdaptedWeight* adapted_weight(std::string_view weight);

struct Architecture;
struct LayerClass;

/// True if layers of this class get adapters, unless the layer is frozen.
bool takes_adapters(const Architecture& model, const LayerClass& layer);

/// Returns the targets that at least one layer of the model has.
AdapterTargets possible_targets(const Architecture& model);

/// Returns the largest rank that an adapter of these targets can have: the smallest number of rows
/// or columns among the weights of the targets.
std::int64_t largest_rank(const Architecture& model, const AdapterTargets& targets);

}  // namespace stepwright::model
