#pragma once

#include <cstdint>

namespace stepwright::plan {

/// How often this program has asked for memory: linking allocations.cpp replaces `operator new`.
std::int64_t allocations();

}  // namespace stepwright::plan
