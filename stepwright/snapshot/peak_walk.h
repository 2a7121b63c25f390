#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace stepwright::snapshot {

/// A block of memory in use.
struct Block {
  std::int64_t bytes = 0;
  std::int64_t event = -1;  ///< Event that allocated it; -1: it existed before the first event.
  std::uint64_t what = 0;   ///< A value for the caller's own use.
};

/// Finds the largest sum of blocks in use over a list of events, and the blocks at that moment, in
/// one pass. Needs memory only for the blocks in use. A block that is freed without having been
/// allocated existed before the first event.
///
/// Example: free(a, 3), allocate(b, 5), allocate(c, 1), free(b) has the peak 6 at the third event,
/// with b and c in use; before the first event 3 bytes were in use.
class PeakWalk {
 public:
  /// Adds an allocation. Returns true if the sum is larger than ever before. Has no effect and
  /// returns false where a block of the key is in use, or where more than 4 Mi blocks would be.
  bool allocate(std::uint64_t key, const Block& block);
  void free(std::uint64_t key, const Block& block);
  /// Adds a block that is in use at the end; no effect if its key was allocated and not freed.
  void found_at_end(std::uint64_t key, const Block& block);

  /// Returns the bytes in use before the first event.
  [[nodiscard]] std::int64_t before_bytes() const { return before_bytes_; }
  /// Returns the bytes in use now, less those before the first event.
  [[nodiscard]] std::int64_t added_bytes() const { return added_bytes_; }
  [[nodiscard]] std::int64_t peak_bytes() const { return before_bytes_ + peak_added_bytes_; }
  /// Returns the event that reaches the peak; -1: the peak was before the first event.
  [[nodiscard]] std::int64_t peak_event() const { return peak_event_; }
  /// Returns the blocks at the peak in the order of their allocation; those from before the first
  /// event come first.
  [[nodiscard]] std::vector<Block> at_peak() const;
  /// True if more than 4 Mi blocks were in use, of which some were left out.
  [[nodiscard]] bool overflows() const { return overflows_; }

 private:
  std::unordered_map<std::uint64_t, Block> in_use_;
  std::vector<Block> freed_;  ///< Blocks that were in use at the peak and have been freed since.
  std::vector<Block> never_freed_;  ///< Blocks from before the first event that are never freed.
  std::int64_t before_bytes_ = 0;
  std::int64_t added_bytes_ = 0;
  std::int64_t peak_added_bytes_ = 0;
  std::int64_t peak_event_ = -1;
  bool overflows_ = false;
};

}  // namespace stepwright::snapshot
