#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "stepwright/cost/laws/fitted_range.h"
#include "stepwright/cost/laws/operator_class.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// One kernel of a sampled pass, as its law sees it.
struct KernelWork {
  double flops = 0;  ///< With the head dimension padded to what the kernel computes.
  double bytes = 0;  ///< Bytes moved, as `memory_bytes` counts.
  /// The ratio of what tiles and waves compute to what was asked: at least 1. The least over tiles
  /// of 128 x 256, 256 x 128 and 128 x 128; the rows of queries for a fused attention.
  double waves = 1;
  double depth = 0;          ///< Length of the inner sum of each result; 0: no product.
  double rows = 0;           ///< Rows of a vector kernel; layers of tensors of an optimizer.
  bool uneven_head = false;  ///< Head dimension not a multiple of 32 (fused attention).
  bool wide_head = false;    ///< Head dimension above 128 (fused attention).
  double head_dim = 0;       ///< Padded head dimension (fused attention).
  /// Queries over the pairs that a mask leaves (fused attention); 0 without a mask.
  double masked = 0;
};

/// The kernels of one pass: two for the backward of a product, (0) data and (1) weight gradient.
struct PassWork {
  std::array<KernelWork, 2> kernels{};
  int count = 1;
  double starts = 1;  ///< In starts of the pass: 2 where a sample holds another kernel besides.
};

/// The features that the law of a class reads. The phase of `op` does not count: `pass` says it.
PassWork pass_work(OperatorClass what, Pass pass, const step::Operator& op, int multiprocessors);

/// Inputs of the trees that correct a law: logarithms of sizes, alignments, tiles and waves.
inline constexpr std::size_t kMostFeatures = 18;
struct Features {
  std::array<float, kMostFeatures> values{};
  std::size_t count = 0;

  void add(double value) { values[count++] = static_cast<float>(value); }
  [[nodiscard]] std::span<const float> all() const { return {values.data(), count}; }
};
Features features(OperatorClass what, Pass pass, const step::Operator& op, int multiprocessors);
/// Their names in order.
std::span<const std::string_view> feature_names(OperatorClass what, Pass pass);

/// Sizes in plain numbers, over which a fit states its range; at most four.
struct Quantities {
  std::array<NamedSize, 4> values{};
  std::size_t count = 0;

  [[nodiscard]] std::span<const NamedSize> all() const { return {values.data(), count}; }
};
Quantities quantities(OperatorClass what, const step::Operator& op);

}  // namespace stepwright::cost
