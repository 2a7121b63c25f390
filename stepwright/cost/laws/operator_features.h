#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "stepwright/cost/laws/fitted_range.h"
#include "stepwright/cost/laws/operator_class.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// The features of one kernel of a sampled pass that its law uses.
struct KernelWork {
  double flops = 0;  ///< FLOPs, with the head dimension padded to the one that the kernel computes.
  double bytes = 0;  ///< Bytes that the kernel moves, as `memory_bytes` counts them.
  /// Ratio (at least 1) of the elements that full waves of tiles compute to the elements asked for:
  /// the least over tiles of 128 x 256, 256 x 128 and 128 x 128; for a fused attention from the
  /// rows of queries.
  double waves = 1;
  double depth = 0;  ///< Length of the inner sum of each result; 0: not a product.
  /// Rows of a vector kernel; for an optimizer, the number of layers whose tensors it updates.
  double rows = 0;
  /// True if the head dimension is not a multiple of 32 (fused attention).
  bool uneven_head = false;
  bool wide_head = false;  ///< True if the head dimension is above 128 (fused attention).
  double head_dim = 0;     ///< Padded head dimension (fused attention).
  /// Number of queries over the number of pairs that a mask leaves (fused attention); 0 without a
  /// mask.
  double masked = 0;
};

/// The kernels of one pass: two for the backward of a product, (0) data and (1) weight gradient.
struct PassWork {
  std::array<KernelWork, 2> kernels{};
  int count = 1;
  double starts = 1;  ///< Number of starts of the pass: 2 where a sample includes a second kernel.
};

/// Returns the features that the law of a class uses. `pass` counts, the phase of `op` does not.
PassWork pass_work(OperatorClass what, Pass pass, const step::Operator& op, int multiprocessors);

/// Inputs of the trees that correct a law: logarithms of sizes, alignments, tiles and waves.
inline constexpr std::size_t kMaxTreeFeatures = 18;
struct Features {
  std::array<float, kMaxTreeFeatures> values{};
  std::size_t count = 0;

  void add(double value) { values[count++] = static_cast<float>(value); }
  [[nodiscard]] std::span<const float> all() const { return {values.data(), count}; }
};
Features features(OperatorClass what, Pass pass, const step::Operator& op, int multiprocessors);
/// Returns the names of these features, in order.
std::span<const std::string_view> feature_names(OperatorClass what, Pass pass);

/// The sizes over which a fit states its range; at most four.
struct Quantities {
  std::array<NamedSize, 4> values{};
  std::size_t count = 0;

  [[nodiscard]] std::span<const NamedSize> all() const { return {values.data(), count}; }
};
Quantities quantities(OperatorClass what, const step::Operator& op);

}  // namespace stepwright::cost
