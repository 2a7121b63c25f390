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

/// A product that an adapter may stand beside; of one that a model fuses (queries, keys and values;
/// gate and input of an MLP) each part. `kUp` is the first product of an MLP without a gate; the
/// last four are those of latent attention, whose queries without a latent of their own are kQuery.
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

/// A set of targets, by `AdapterTarget`.
using AdapterTargets = std::bitset<std::size(kAdapterTargetNames)>;

constexpr std::size_t place_of(AdapterTarget target) { return static_cast<std::size_t>(target); }

/// Storage of frozen matrices of layers: as everything else is stored, or narrower; each product
/// that uses them makes them wide again.
inline constexpr Named<DType> kAdapterBaseNames[] = {
    {DType::kBf16, "bf16"}, {DType::kFp8, "fp8"}, {DType::kNf4, "nf4"}};

/// Low-rank adapters (LoRA, arXiv 2106.09685): beside the product of each target with its frozen
/// weight W stands one with B A, of `rank`, times `alpha / rank`; A and B alone are trained.
struct Adapters {
  std::int64_t rank = 8;
  double alpha = 8;
  AdapterTargets targets;
  double dropout = 0;         ///< Dropout of the input of A.
  DType base = DType::kBf16;  ///< A type of `kAdapterBaseNames`; bf16: stored as everything else.
  /// The parts of a fused product share one adapter (Megatron-Bridge's linear_qkv and linear_fc1);
  /// else each has its own (peft's q_proj, k_proj, v_proj).
  bool joined = false;

  [[nodiscard]] bool has(AdapterTarget target) const { return targets[place_of(target)]; }
  [[nodiscard]] double scale() const { return alpha / static_cast<double>(rank); }
  [[nodiscard]] bool quantised() const { return base != DType::kBf16; }
  bool operator==(const Adapters&) const = default;
};

/// Parts of a model that are not trained, though nothing stands beside them.
struct Frozen {
  bool embedding = false;  ///< Freezes the embedding; with a tied head the head's table, too.
  bool encoder = false;    ///< Freezes the encoder of images, without its projector.
  bool projector = false;  ///< Freezes the projector behind the encoder.
  std::int64_t first = 0;  ///< First of the frozen layers.
  std::int64_t layers = 0;

  [[nodiscard]] bool has(std::int64_t layer) const {
    return layer >= first && layer < first + layers;
  }
  [[nodiscard]] bool any() const { return embedding || encoder || projector || layers > 0; }
  bool operator==(const Frozen&) const = default;
};

/// A weight that adapters may stand beside, the names of their A and B, and the target that each of
/// its fused parts is, in their order (the gates of attention belong to the queries).
struct AdaptedWeight {
  std::string_view weight, down, up;
  std::array<std::optional<AdapterTarget>, 4> parts;
};
/// The entry of a weight's name; null pointer where no adapter can stand beside it.
const AdaptedWeight* adapted_weight(std::string_view weight);

struct Architecture;
struct LayerClass;

/// Whether layers of a class have adapters, if nothing freezes them.
bool takes_adapters(const Architecture& model, const LayerClass& layer);

/// The targets that some layer of the model has.
AdapterTargets possible_targets(const Architecture& model);

/// The largest rank that an adapter of these targets can have: the least side of their weights.
std::int64_t largest_rank(const Architecture& model, const AdapterTargets& targets);

}  // namespace stepwright::model
