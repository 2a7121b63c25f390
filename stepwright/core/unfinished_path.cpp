#include "stepwright/core/unfinished_path.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

namespace stepwright {
namespace {

// Bytes including the terminating zero; the limit of Linux.
constexpr std::size_t kLongestUnfinished = 4096;

enum class Slot : std::uint8_t { kFree, kClaimed, kFull };

/// A path that a signal handler can read without a lock and without allocating memory.
struct Entry {
  std::atomic<Slot> state = Slot::kFree;
  std::array<char, kLongestUnfinished> path{};
};
static_assert(std::atomic<Slot>::is_always_lock_free);

std::array<Entry, kMaxUnfinishedPaths> table;

}  // namespace

UnfinishedPath::UnfinishedPath(const std::filesystem::path& path) {
  const std::string& name = path.native();
  if (name.size() >= kLongestUnfinished) return;
  for (std::size_t slot = 0; slot < table.size(); ++slot) {
    Slot expected = Slot::kFree;
    if (!table[slot].state.compare_exchange_strong(expected, Slot::kClaimed)) continue;
    std::memcpy(table[slot].path.data(), name.c_str(), name.size() + 1);
    table[slot].state = Slot::kFull;
    slot_ = slot;
    return;
  }
}

UnfinishedPath::~UnfinishedPath() {
  if (slot_ < kMaxUnfinishedPaths) table[slot_].state = Slot::kFree;
}

const char* unfinished_path(std::size_t slot) {
  return table[slot].state == Slot::kFull ? table[slot].path.data() : nullptr;
}

}  // namespace stepwright
