#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::step {

/// An order of issue of the operators of a forward and a backward template: the forward's by their
/// index, the backward's by their index plus the number of the forward's.
using PairOrder = std::vector<std::int32_t>;

/// Returns the seconds that an operator takes alone, as accurately as choosing an order needs.
using OperatorSeconds = std::function<double(const Operator& op)>;

/// Returns the order of issue of two strands that run together. A message is issued as soon as
/// everything that it reads has been issued. Among computations, the one that can start first is
/// issued; on a tie, the one after which its strand's next message comes soonest. Weight gradients
/// are issued only if nothing else can run. So each message overlaps computations of the other
/// strand as far as there are enough of them. `seconds` must be finite.
PairOrder pair_order(const Template& forward, const Template& backward,
                     const OperatorSeconds& seconds);

/// Merges a forward and a backward of two micro-batches into one template: operators in `order`,
/// the backward's marked as the second strand (`Operator::strand`), messages on streams of their
/// own. The forward's inputs, outputs, parameters and tensors come first. The template saves what
/// the forward saves and then what the backward saves, and restores what the backward restores.
/// `backward` may be only a part of a backward (`step/split_backward.h`).
Template pair_template(const Template& forward, const Template& backward,
                       std::span<const std::int32_t> order);

}  // namespace stepwright::step
