#pragma once

#include <cstddef>
#include <functional>

namespace stepwright {

/// Calls `body(0)` ... `body(count - 1)`, each once, on at most `threads` threads including the
/// caller's, and returns when all calls have returned. Threads take indices in order, one at a
/// time; with one thread or fewer everything runs in the caller.
///
/// If calls throw, no further index starts, and the exception of the lowest index that threw is
/// rethrown: the one that a loop in order would have met first.
void parallel_for(int threads, std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace stepwright
