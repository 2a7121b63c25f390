#include "stepwright/runtime/checkpoints/checkpoint_pieces.h"

#include <algorithm>

namespace stepwright::runtime {

std::vector<ContiguousElementRun> contiguous_element_runs(const ParameterSlice& slice,
                                                          std::int64_t first, std::int64_t count) {
  std::vector<ContiguousElementRun> runs;
  const std::int64_t end = std::min(first + count, slice.elements_on_this_rank());
  for (std::int64_t local = first; local < end;) {
    const std::int64_t left = slice.local_columns - local % slice.local_columns;
    const std::int64_t length = std::min(left, end - local);
    const std::int64_t whole = slice.whole_parameter_index(local);
    const bool continues = !runs.empty() && whole == runs.back().whole + runs.back().length &&
                           local - first == runs.back().local + runs.back().length;
    if (whole >= 0 && continues) runs.back().length += length;
    if (whole >= 0 && !continues) runs.push_back({local - first, whole, length});
    local += length;
  }
  return runs;
}

std::vector<checkpoint::StridedShardPiece> pieces_covered_by_rank_shard(
    const std::vector<ContiguousElementRun>& runs) {
  std::vector<checkpoint::StridedShardPiece> pieces;
  for (const ContiguousElementRun& run : runs)
    checkpoint::append_element_run(pieces, run.whole, run.length);
  return pieces;
}

std::vector<std::int64_t> whole_parameter_shape(const ParameterSlice& slice) {
  std::vector<std::int64_t> shape{slice.rows};
  if (slice.expert) shape.insert(shape.begin(), slice.copies);
  if (slice.columns > 1) shape.push_back(slice.columns);
  return shape;
}

}  // namespace stepwright::runtime
