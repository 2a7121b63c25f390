#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright::step {

/// Returns the FLOPs of one computation on one rank; 0 for communication. A multiply-add counts
/// two; vector operators count their arithmetic roughly, as memory bounds them. Each gradient of a
/// matrix product costs as much as its forward, also in unfused attention, whose two products have
/// two gradient operators each. A fused attention backward is one operator with 2.5 times the FLOPs
/// of the forward (five products instead of two, FlashAttention-2, 2307.08691).
double operator_flops(const Operator& op);

/// Returns the bytes that one computation reads from and writes to device memory if each operand
/// moves once; 0 for communication. Products narrower than 16 bits read stored 16-bit operands,
/// write them narrow and read them again (the cast).
double device_memory_traffic_bytes(const Operator& op);

/// Returns the mean number of distinct places that `draws` random draws hit among `places`: places
/// (1 - (1 - 1/places)^draws). Example: ranks hit by the top k experts of a row.
double expected_distinct_count(std::int64_t places, std::int64_t draws);

}  // namespace stepwright::step
