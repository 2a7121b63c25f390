#pragma once

#include <cstdint>

namespace stepwright::testing {

/// Returns how often this program has allocated memory; linking allocations.cpp replaces `operator
/// new` by one that counts.
std::int64_t allocations();

/// Lets the next `count` calls of `operator new` succeed and the one after them throw
/// `std::bad_alloc`; later calls succeed again. -1: no call fails.
void fail_allocation_after(std::int64_t count);

}  // namespace stepwright::testing
