#include "tests/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> asked{0};
std::atomic<std::int64_t> failing{-1};  // The call that fails.

}  // namespace

void* operator new(std::size_t size) {
  if (asked++ == failing) throw std::bad_alloc();
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
// As the usual one, which sanitizers replace by one that does not call the above.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace stepwright::testing {

std::int64_t allocations() { return asked; }

void fail_allocation_after(std::int64_t count) { failing = count < 0 ? -1 : asked + count; }

}  // namespace stepwright::testing
