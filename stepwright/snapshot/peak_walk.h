#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace stepwright::snapshot {

/// A block of device memory that is in use.
struct MemoryBlock {
  std::int64_t bytes = 0;
  /// Index of the event that allocated the block; -1: it existed before the first event.
  std::int64_t event = -1;
  /// Value that the caller attaches to the block and gets back with it, such as its call stack's
  /// number.
  std::uint64_t what = 0;
};

/// Finds the memory peak in a list of allocations and frees: the largest number of bytes in use and
/// the blocks in use at that moment, in one pass. Needs memory only for blocks in use. A block that
/// is freed without having been allocated existed before the first event.
///
/// Example: free(a, 3), allocate(b, 5), allocate(c, 1), free(b) has the peak 6 at the third event,
/// with b and c in use; before the first event 3 bytes were in use.
class MemoryPeakFinder {
 public:
  /// Adds the allocation of a block. Returns true if the bytes in use reach a new maximum. Ignored
  /// (false) if the key is already in use or 4 Mi blocks are in use.
  bool allocate(std::uint64_t key, const MemoryBlock& block);
  void free(std::uint64_t key, const MemoryBlock& block);
  /// Adds a block that is in use after the last event; ignored if its allocation was already added.
  void add_block_in_use_at_end(std::uint64_t key, const MemoryBlock& block);

  /// Returns the bytes of blocks in use before the first event.
  [[nodiscard]] std::int64_t bytes_before_first_event() const { return before_bytes_; }
  /// Returns the bytes in use now minus those in use before the first event.
  [[nodiscard]] std::int64_t bytes_added_since_first_event() const { return added_bytes_; }
  [[nodiscard]] std::int64_t peak_bytes() const { return before_bytes_ + peak_added_bytes_; }
  /// Returns the index of the event that reaches the peak; -1: the peak was before the first event.
  [[nodiscard]] std::int64_t peak_event_index() const { return peak_event_; }
  /// Returns the blocks in use at the peak, those from before the first event first, then in the
  /// order of allocation.
  [[nodiscard]] std::vector<MemoryBlock> blocks_at_peak() const;
  /// True if more than 4 Mi blocks were in use at a time, so that some were left out.
  [[nodiscard]] bool has_omitted_memory_blocks() const { return overflows_; }

 private:
  std::unordered_map<std::uint64_t, MemoryBlock> in_use_;
  /// Blocks that were in use at the largest number of bytes so far and have been freed since then.
  std::vector<MemoryBlock> freed_;
  /// Blocks that existed before the first recorded event and are never freed.
  std::vector<MemoryBlock> never_freed_;
  std::int64_t before_bytes_ = 0;
  std::int64_t added_bytes_ = 0;
  std::int64_t peak_added_bytes_ = 0;
  std::int64_t peak_event_ = -1;
  bool overflows_ = false;
};

}  // namespace stepwright::snapshot
