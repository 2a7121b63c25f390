#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/cost/collective_cost.h"

namespace stepwright::interleave {

/// An operator of one micro-batch in one layer and direction: a computation, or a collective.
struct StrandOperator {
  std::string id;  ///< Id as in `docs/strands.md`: f1, ..., b1, ...
  /// Description for messages: "all_gather of attention.qkv".
  std::string what = {};
  cost::LinkClass link = cost::LinkClass::kNone;  ///< Link of a collective; kNone: a computation.
  double seconds = 0;                             ///< Seconds of the operator alone.
  /// Indices of the operators that it depends on, all before its own.
  std::vector<std::size_t> after;
  bool weight_gradient = false;
  /// Indices of its operators in the template, in their order there.
  std::vector<std::int32_t> operators;

  [[nodiscard]] bool is_collective() const { return link != cost::LinkClass::kNone; }
};

/// Operators in an order that respects their dependences.
using Strand = std::vector<StrandOperator>;

/// The forward of one micro-batch through a layer, and the backward of another.
struct StrandPair {
  Strand forward;  ///< The forward; an operator without dependences waits for the layer before it.
  Strand backward;
};

/// A set of operators of a strand, one bit for each index; a strand has at most 64.
using OperatorSet = std::uint64_t;
inline constexpr std::size_t kMostStrandOperators = 64;

constexpr OperatorSet only(std::size_t place) { return OperatorSet{1} << place; }
constexpr bool holds(OperatorSet set, std::size_t place) { return (set >> place & 1U) != 0; }

/// Returns, for each operator, the set of all operators on which it depends.
std::vector<OperatorSet> ancestors(const Strand& strand);

/// Returns all sets of operators that contain every dependence of their members (order ideals),
/// small sets first: the states in which a strand can be.
std::vector<OperatorSet> order_ideals(const Strand& strand);

}  // namespace stepwright::interleave
