#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace stepwright::snapshot {

/// A block in use.
struct Block {
  std::int64_t bytes = 0;
  std::int64_t event = -1;  ///< Event that allocated it; -1: it was there before the first event.
  std::uint64_t what = 0;   ///< Mark that the caller may use.
};

/// The largest sum of blocks in use over a list of events, and which blocks they are, in one pass
/// and in memory for the blocks in use alone. A block that is freed without having been allocated
/// was there before the first event.
///
/// Example: free(a, 3), allocate(b, 5), allocate(c, 1), free(b) has the peak 6 at the third event,
/// of b and c; before the first event there were 3.
class PeakWalk {
 public:
  /// True if the sum is larger than ever before. False and without effect where a block of the key
  /// is in use, or where more than 4 Mi blocks would be.
  bool allocate(std::uint64_t key, const Block& block);
  void free(std::uint64_t key, const Block& block);
  /// A block that is in use at the end; without effect where its key was allocated and not freed.
  void found_at_end(std::uint64_t key, const Block& block);

  /// The bytes in use before the first event.
  [[nodiscard]] std::int64_t before_bytes() const { return before_bytes_; }
  /// The bytes in use now, beside those before the first event.
  [[nodiscard]] std::int64_t added_bytes() const { return added_bytes_; }
  [[nodiscard]] std::int64_t peak_bytes() const { return before_bytes_ + peak_added_bytes_; }
  /// The event that reaches the peak; -1: none, it was there before.
  [[nodiscard]] std::int64_t peak_event() const { return peak_event_; }
  /// The blocks at the peak in the order of their allocation; those before the first event first.
  [[nodiscard]] std::vector<Block> at_peak() const;
  /// True if more than 4 Mi blocks were in use, of which some were left out.
  [[nodiscard]] bool overflows() const { return overflows_; }

 private:
  std::unordered_map<std::uint64_t, Block> in_use_;
  std::vector<Block> freed_;        ///< Since the peak, of those that were in use then.
  std::vector<Block> never_freed_;  ///< Blocks from before the first event that are never freed.
  std::int64_t before_bytes_ = 0;
  std::int64_t added_bytes_ = 0;
  std::int64_t peak_added_bytes_ = 0;
  std::int64_t peak_event_ = -1;
  bool overflows_ = false;
};

}  // namespace stepwright::snapshot
