#include "stepwright/snapshot/peak_walk.h"

#include <algorithm>

namespace stepwright::snapshot {
namespace {

constexpr std::size_t kMostBlocks = std::size_t{4} << 20;

}  // namespace

bool MemoryPeakFinder::allocate(std::uint64_t key, const MemoryBlock& block) {
  if (in_use_.size() >= kMostBlocks) {
    overflows_ = true;
    return false;
  }
  if (!in_use_.emplace(key, block).second) return false;
  added_bytes_ += block.bytes;
  if (added_bytes_ <= peak_added_bytes_) return false;
  peak_added_bytes_ = added_bytes_;
  peak_event_ = block.event;
  freed_.clear();
  return true;
}

void MemoryPeakFinder::free(std::uint64_t key, const MemoryBlock& block) {
  const auto found = in_use_.find(key);
  MemoryBlock freed = block;
  freed.event = -1;
  if (found != in_use_.end()) {
    freed = found->second;
    in_use_.erase(found);
  } else {
    before_bytes_ += freed.bytes;
  }
  added_bytes_ -= freed.bytes;
  if (freed.event > peak_event_) return;
  if (freed_.size() < kMostBlocks) {
    freed_.push_back(freed);
  } else {
    overflows_ = true;
  }
}

void MemoryPeakFinder::add_block_in_use_at_end(std::uint64_t key, const MemoryBlock& block) {
  if (in_use_.contains(key)) return;
  if (never_freed_.size() >= kMostBlocks) {
    overflows_ = true;
    return;
  }
  before_bytes_ += block.bytes;
  never_freed_.push_back({.bytes = block.bytes, .event = -1, .what = block.what});
}

std::vector<MemoryBlock> MemoryPeakFinder::blocks_at_peak() const {
  std::vector<MemoryBlock> blocks = never_freed_;
  blocks.insert(blocks.end(), freed_.begin(), freed_.end());
  for (const auto& [key, block] : in_use_) {
    if (block.event <= peak_event_) blocks.push_back(block);
  }
  std::ranges::sort(blocks, [](const MemoryBlock& a, const MemoryBlock& b) {
    if (a.event != b.event) return a.event < b.event;
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.what < b.what;
  });
  return blocks;
}

}  // namespace stepwright::snapshot
