#pragma once

#include <cstddef>
#include <functional>

namespace stepwright {

/// Calls `body(0)` ... `body(count - 1)`, each once, on at most `threads` threads, the caller's
/// included; returns when all have returned. Indices are handed out in order, one at a time, as
/// threads become free. With one thread or fewer everything runs in the caller, in order.
///
/// When calls throw, no further index is handed out, and the exception of the lowest index that
/// threw is thrown again: the one that a loop in order would have met first.
void parallel_for(int threads, std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace stepwright
