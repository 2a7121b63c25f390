#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stepwright::checkpoint {

/// The place in the whole, flattened tensor of elements that stand together in a shard: `count`
/// runs of `length` elements, each `stride` after the one before. A slice of a matrix, however it
/// was cut, is a few of these.
struct Piece {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  std::int64_t count = 1;

  [[nodiscard]] std::int64_t elements() const { return length * count; }
  bool operator==(const Piece&) const = default;
};

/// Adds a run to a list of pieces: to the last one where it continues it.
void add_run(std::vector<Piece>& pieces, std::int64_t begin, std::int64_t length);

/// Elements of all pieces.
std::int64_t elements_of(std::span<const Piece> pieces);

/// A run of a whole tensor, and where it stands: in which source, at which element of it.
struct Run {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t source = 0;
  std::int64_t at = 0;
};

/// The runs of pieces that stand one after the other in a source.
void append_runs(std::vector<Run>& runs, std::span<const Piece> pieces, std::int64_t source);

/// The first element of a tensor that no piece or two pieces hold; -1: each element from 0 to
/// `elements` is in exactly one. It takes the time of the runs and the memory of the pieces.
std::int64_t first_flaw(std::span<const Piece> pieces, std::int64_t elements);

}  // namespace stepwright::checkpoint
