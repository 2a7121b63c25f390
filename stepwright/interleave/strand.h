#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/cost/collective_cost.h"

namespace stepwright::interleave {

/// One computation or collective of one micro-batch, in one layer and one direction (forward or
/// backward).
struct InterleavedOperator {
  /// Id of the operator (`docs/strands.md`): f1, f2, ... in the forward, b1, ... in the backward.
  std::string id;
  /// Name of the operator for users: "all_gather of attention.qkv".
  std::string what = {};
  /// Link class of a collective; kNone: the operator is a computation.
  cost::LinkClass link = cost::LinkClass::kNone;
  double seconds = 0;  ///< Seconds of the operator if nothing runs beside it.
  /// Indices, in the same list, of the operators that must end before this one starts; all are
  /// smaller than its own.
  std::vector<std::size_t> after;
  bool weight_gradient = false;
  /// Indices of the operators of the step program's template (one layer's forward or backward) that
  /// this interleaved operator combines, ascending.
  std::vector<std::int32_t> operators;

  [[nodiscard]] bool is_collective() const { return link != cost::LinkClass::kNone; }
};

/// The operators of one direction (forward or backward) of a layer, each after those that it
/// depends on.
using Strand = std::vector<InterleavedOperator>;

/// The two operator lists to interleave: the forward of one micro-batch through a layer, and the
/// backward of another.
struct ForwardBackwardOperators {
  /// Operators of the forward, in order; one that waits for no other waits for the layer before.
  Strand forward;
  Strand backward;
};

/// A set of operators of a forward or backward list: bit i is set if operator i belongs to it (at
/// most 64).
using OperatorSet = std::uint64_t;
inline constexpr std::size_t kMostStrandOperators = 64;

constexpr OperatorSet only(std::size_t place) { return OperatorSet{1} << place; }
constexpr bool holds(OperatorSet set, std::size_t place) { return (set >> place & 1U) != 0; }

/// Returns, for each operator, all operators that must end before it, direct and indirect.
std::vector<OperatorSet> transitive_operator_dependencies(const Strand& strand);

/// Returns all sets of operators that can be finished at the same moment: each contains everything
/// that its members depend on (order ideals). Small sets come first.
std::vector<OperatorSet> finished_operator_sets(const Strand& strand);

}  // namespace stepwright::interleave
