#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::step {

/// Order in which the operators of a forward and a backward template, merged into one, are issued:
/// the forward's by their index, the backward's by their index plus the number of forward
/// operators.
using PairOrder = std::vector<std::int32_t>;

/// A function that estimates the seconds that an operator takes alone, accurately enough to choose
/// an order of operators.
using OperatorSeconds = std::function<double(const Operator& op)>;

/// Returns the order in which the operators of a forward and a backward of two micro-batches are
/// issued when both run together on a rank. A message is issued as soon as everything that it reads
/// has been issued. Among computations, the one that can start first is issued; on a tie, the one
/// after which its own micro-batch's next message comes soonest. Weight gradients are issued only
/// if nothing else can run. So each message overlaps computations of the other micro-batch as far
/// as there are enough of them. `seconds` must be finite.
PairOrder interleaved_issue_order(const OperatorTemplate& forward, const OperatorTemplate& backward,
                                  const OperatorSeconds& seconds);

/// Merges a forward and a backward of two micro-batches into one template: operators in `order`,
/// the backward's marked by `Operator::strand` = 1, messages on streams of their own. The forward's
/// inputs, outputs, parameters and tensors come first. The template saves what the forward saves
/// and then what the backward saves, and restores what the backward restores. `backward` may be
/// only a part of a backward (`step/split_backward.h`).
OperatorTemplate merge_forward_backward_templates(const OperatorTemplate& forward,
                                                  const OperatorTemplate& backward,
                                                  std::span<const std::int32_t> order);

}  // namespace stepwright::step
