#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stepwright::checkpoint {

/// Elements of a flattened tensor that a shard stores one after the other: `count` runs of `length`
/// elements, the first at `begin`, each starting `stride` elements after the one before. Any slice
/// of a matrix is a few such pieces.
struct StridedShardPiece {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  std::int64_t count = 1;

  [[nodiscard]] std::int64_t elements() const { return length * count; }
  bool operator==(const StridedShardPiece&) const = default;
};

/// Appends `length` consecutive elements of a tensor, from element `begin`, to a list of pieces
/// (ranges of elements); extends the last piece if they continue it.
void append_element_run(std::vector<StridedShardPiece>& pieces, std::int64_t begin,
                        std::int64_t length);

/// Returns the number of tensor elements in all pieces (strided ranges of elements) together.
std::int64_t pieces_element_count(std::span<const StridedShardPiece> pieces);

/// `length` consecutive elements of a tensor, from element `begin`, and where they are stored: from
/// element `at` of source number `source`.
struct StoredElementRun {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t source = 0;
  std::int64_t at = 0;
};

/// Splits pieces (strided ranges of a tensor) into runs of consecutive elements and appends the
/// runs. Source number `source` stores the pieces one after the other.
void append_element_runs_of_pieces(std::vector<StoredElementRun>& runs,
                                   std::span<const StridedShardPiece> pieces, std::int64_t source);

/// Returns the first element of a tensor that is in no piece or in several; -1: each element from 0
/// to `elements` - 1 is in exactly one piece. Time is proportional to the number of runs, memory to
/// that of pieces.
std::int64_t first_miscovered_element(std::span<const StridedShardPiece> pieces,
                                      std::int64_t elements);

}  // namespace stepwright::checkpoint
