#include "tests/plan/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::int64_t> asked{0};
}  // namespace

void* operator new(std::size_t size) {
  ++asked;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace stepwright::plan {

std::int64_t allocations() { return asked; }

}  // namespace stepwright::plan
