#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::step {

/// Operators of a forward and a backward template in one order of issue: those of the forward by
/// their index, those of the backward by theirs behind the forward's.
using PairOrder = std::vector<std::int32_t>;

/// Seconds of an operator alone, as far as an order is chosen by it.
using OperatorSeconds = std::function<double(const Operator& op)>;

/// The order of issue of two strands that run together: a message as soon as all that it reads has
/// been issued; of computations the one that can start first, where several can the one after which
/// its strand's next message comes soonest; weight gradients where nothing else can run. What
/// results has every message beside computations of the other strand as far as these reach.
/// `seconds` are finite.
PairOrder pair_order(const Template& forward, const Template& backward,
                     const OperatorSeconds& seconds);

/// A forward and a backward of two micro-batches as one template: operators in `order`, those of
/// the backward marked as of the second strand (`Operator::strand`), messages on streams of their
/// own. Inputs, outputs, parameters and tensors of the forward come first. It saves what the
/// forward saves and then what the backward saves, and restores what the backward restores. For
/// the backward a part of it may stand (`step/split_backward.h`).
Template pair_template(const Template& forward, const Template& backward,
                       std::span<const std::int32_t> order);

}  // namespace stepwright::step
