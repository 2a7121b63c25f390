#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stepwright::checkpoint {

/// The positions in the whole, flattened tensor of elements that are contiguous in a shard: `count`
/// runs of `length` elements, each `stride` after the one before. A slice of a matrix, however it
/// was cut, is a few such pieces.
struct ShardPiece {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  std::int64_t count = 1;

  [[nodiscard]] std::int64_t elements() const { return length * count; }
  bool operator==(const ShardPiece&) const = default;
};

/// Adds a run to a list of pieces; extends the last piece if the run continues it.
void append_to_pieces(std::vector<ShardPiece>& pieces, std::int64_t begin, std::int64_t length);

/// Returns the number of elements of all pieces.
std::int64_t pieces_element_count(std::span<const ShardPiece> pieces);

/// A run of elements of a whole tensor, and its position: the number of its source, and the first
/// element in that source.
struct Run {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t source = 0;
  std::int64_t at = 0;
};

/// Appends the runs of pieces that are stored one after the other in a source.
void append_runs(std::vector<Run>& runs, std::span<const ShardPiece> pieces, std::int64_t source);

/// Returns the first element of a tensor that no piece, or more than one, holds; -1: each element
/// from 0 to `elements` - 1 is in exactly one. Takes time in proportion to the runs, and memory in
/// proportion to the pieces.
std::int64_t first_uncovered_element(std::span<const ShardPiece> pieces, std::int64_t elements);

}  // namespace stepwright::checkpoint
