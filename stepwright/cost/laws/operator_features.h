#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "stepwright/cost/laws/fitted_range.h"
#include "stepwright/cost/laws/operator_class.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// The work of one kernel (FLOPs, bytes, tiles, ...) from which a fitted law computes its time.
struct KernelWork {
  /// FLOPs of the kernel; attention counts the padded head dimension that the kernel computes.
  double flops = 0;
  /// Bytes of device memory that the kernel reads and writes (`step::device_memory_traffic_bytes`).
  double bytes = 0;
  /// Waste by partial tiles and waves: elements computed by full waves of tiles / elements asked
  /// for, at least 1. The least over tiles of 128 x 256, 256 x 128 and 128 x 128; for fused
  /// attention, from the rows of queries.
  double waves = 1;
  double depth = 0;  ///< Length of a matrix product's inner dimension; 0: not a product.
  /// Rows of an element-wise or row-wise kernel; for an optimizer, the number of layers whose
  /// tensors it updates.
  double rows = 0;
  /// True if fused attention has a head dimension that is not a multiple of 32.
  bool uneven_head = false;
  bool wide_head = false;  ///< True if fused attention has a head dimension above 128.
  double head_dim = 0;     ///< Head dimension of fused attention, padded as its kernel computes it.
  /// Queries of fused attention / query-key pairs that its mask leaves: weight of the work on tiles
  /// that the mask cuts; 0 without a mask.
  double masked = 0;
};

/// The work of the kernels that one measurement covers: one kernel, or two for the backward of a
/// matrix product (index 0: data gradient; 1: weight gradient).
struct OperatorPassWork {
  std::array<KernelWork, 2> kernels{};
  int count = 1;
  /// Number of kernel starts that one measurement includes: 2 if it has a second kernel.
  double starts = 1;
};

/// Returns the work of an operator in the given pass (`pass`, not the operator's own phase) as the
/// fitted law of its class uses it.
OperatorPassWork operator_pass_work_for_law(OperatorClass what, OperatorPass pass,
                                            const step::Operator& op, int multiprocessors);

/// Largest number of inputs (logarithms of sizes, alignments, tiles, waves) of the boosted trees
/// that correct a fitted law.
inline constexpr std::size_t kMaxBoostedTreeFeatures = 18;
struct Features {
  std::array<float, kMaxBoostedTreeFeatures> values{};
  std::size_t count = 0;

  void add(double value) { values[count++] = static_cast<float>(value); }
  [[nodiscard]] std::span<const float> all() const { return {values.data(), count}; }
};
Features features(OperatorClass what, OperatorPass pass, const step::Operator& op,
                  int multiprocessors);
/// Returns the names of the inputs of the boosted trees for a class and pass, in the order of
/// `features`.
std::span<const std::string_view> boosted_tree_feature_names(OperatorClass what, OperatorPass pass);

/// The sizes of an operator (at most four) for which a fit states the range that it was measured
/// on.
struct OperatorSizes {
  std::array<NamedSize, 4> values{};
  std::size_t count = 0;

  [[nodiscard]] std::span<const NamedSize> all() const { return {values.data(), count}; }
};
OperatorSizes quantities(OperatorClass what, const step::Operator& op);

}  // namespace stepwright::cost
