#pragma once

#include <cstdint>

namespace stepwright::testing {

/// How often this program has asked for memory: linking allocations.cpp replaces `operator new`.
std::int64_t allocations();

/// Lets the next `count` calls of `operator new` succeed and the one behind them throw
/// `std::bad_alloc`; later calls succeed again. -1: no call fails.
void fail_allocation_after(std::int64_t count);

}  // namespace stepwright::testing
