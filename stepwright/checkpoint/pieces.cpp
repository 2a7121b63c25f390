#include "stepwright/checkpoint/pieces.h"

#include <algorithm>
#include <queue>

namespace stepwright::checkpoint {

void append_element_run(std::vector<StridedShardPiece>& pieces, std::int64_t begin,
                        std::int64_t length) {
  if (length == 0) return;
  if (!pieces.empty()) {
    StridedShardPiece& last = pieces.back();
    if (last.count == 1 && begin == last.begin + last.length) {
      last.length += length;
      return;
    }
    const bool second = last.count == 1 && begin > last.begin + last.length;
    const bool next = last.count > 1 && begin == last.begin + last.stride * last.count;
    if (length == last.length && (second || next)) {
      last.stride = begin - (last.begin + last.stride * (last.count - 1));
      ++last.count;
      return;
    }
  }
  pieces.push_back({.begin = begin, .length = length, .stride = 0, .count = 1});
}

std::int64_t pieces_element_count(std::span<const StridedShardPiece> pieces) {
  std::int64_t sum = 0;
  for (const StridedShardPiece& piece : pieces) sum += piece.elements();
  return sum;
}

void append_element_runs_of_pieces(std::vector<StoredElementRun>& runs,
                                   std::span<const StridedShardPiece> pieces, std::int64_t source) {
  std::int64_t at = 0;
  for (const StridedShardPiece& piece : pieces) {
    for (std::int64_t i = 0; i < piece.count; ++i) {
      runs.push_back({piece.begin + i * piece.stride, piece.length, source, at});
      at += piece.length;
    }
  }
}

std::int64_t first_miscovered_element(std::span<const StridedShardPiece> pieces,
                                      std::int64_t elements) {
  struct Next {
    std::int64_t begin;
    std::int64_t runs;  ///< Remaining runs of the piece, this one included.
    const StridedShardPiece* piece;
  };
  const auto after = [](const Next& a, const Next& b) { return a.begin > b.begin; };
  std::priority_queue<Next, std::vector<Next>, decltype(after)> nexts(after);
  for (const StridedShardPiece& piece : pieces) nexts.push({piece.begin, piece.count, &piece});
  std::int64_t end = 0;
  while (!nexts.empty()) {
    const Next next = nexts.top();
    nexts.pop();
    if (next.begin != end) return std::min(next.begin, end);
    const StridedShardPiece& piece = *next.piece;
    const bool joined = piece.stride == piece.length;  // runs that touch each other count as one
    const std::int64_t runs = joined ? next.runs : 1;
    end += runs * piece.length;
    if (next.runs > runs) nexts.push({next.begin + piece.stride, next.runs - runs, &piece});
  }
  return end == elements ? -1 : std::min(end, elements);
}

}  // namespace stepwright::checkpoint
