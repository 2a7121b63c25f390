#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright::step {

/// FLOPs of one computation on one rank (two per multiply-add; vector operators count their
/// arithmetic roughly: they are bound by memory). A gradient of a matrix product costs what its
/// forward costs, also of the two products of unfused attention, whose backward is two operators
/// each; a fused attention backward is one operator with 2.5 times the forward (five products
/// instead of two, FlashAttention-2, 2307.08691). 0 for communication.
double flops(const Operator& op);

/// Bytes that one computation reads from and writes to device memory when each operand moves once.
/// Products narrower than 16 bits read stored operands of 16, write them narrow and read them again
/// (the cast). 0 for communication.
double memory_bytes(const Operator& op);

/// How many of `places` are met by `draws` at random, on average: places (1 - (1 -
/// 1/places)^draws).
double distinct_of(std::int64_t places, std::int64_t draws);

}  // namespace stepwright::step
