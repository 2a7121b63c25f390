#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/cost/collective_cost.h"

namespace stepwright::interleave {

/// An operator of one micro-batch in one layer and direction: a computation, or a collective.
struct StrandOperator {
  std::string id;  ///< Id as in `docs/strands.md`: f1 ..., b1 ...
  /// Description for people: "all_gather of attention.qkv".
  std::string what = {};
  cost::LinkClass link = cost::LinkClass::kNone;  ///< Link of a collective; kNone: a computation.
  double seconds = 0;                             ///< Seconds of the operator alone.
  std::vector<std::size_t> after;  ///< Places in the list that it depends on, all before its own.
  bool weight_gradient = false;
  std::vector<std::int32_t> operators;  ///< Operators of its template, in their order there.

  [[nodiscard]] bool is_collective() const { return link != cost::LinkClass::kNone; }
};

/// Operators in an order that respects their dependences.
using Strand = std::vector<StrandOperator>;

/// The forward of one micro-batch through a layer, and the backward of another.
struct StrandPair {
  Strand forward;  ///< Forward; an operator without dependences waits for the layer before it.
  Strand backward;
};

/// Operators of a strand, by place; a strand has at most 64.
using OperatorSet = std::uint64_t;
inline constexpr std::size_t kMostStrandOperators = 64;

constexpr OperatorSet only(std::size_t place) { return OperatorSet{1} << place; }
constexpr bool holds(OperatorSet set, std::size_t place) { return (set >> place & 1U) != 0; }

/// The operators before each one, by place: everything that an operator depends on.
std::vector<OperatorSet> ancestors(const Strand& strand);

/// All sets that hold with an operator what it depends on (order ideals), small ones first: the
/// states that a strand can be in.
std::vector<OperatorSet> order_ideals(const Strand& strand);

}  // namespace stepwright::interleave
