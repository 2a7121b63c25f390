#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/checkpoint/pieces.h"
#include "stepwright/runtime/states/parameter_slice.h"

namespace stepwright::runtime {

/// Consecutive elements of a rank's part of a parameter (flattened and padded) that are also
/// consecutive in the whole, unsharded parameter.
struct ContiguousElementRun {
  /// Index of the run's first element among the elements that were split into runs, from 0.
  std::int64_t local = 0;
  std::int64_t whole = 0;
  std::int64_t length = 0;
  bool operator==(const ContiguousElementRun&) const = default;
};

/// Splits the elements `first` to `first + count - 1` of a rank's part of a parameter into runs
/// that are contiguous in the whole parameter. Padding is left out.
std::vector<ContiguousElementRun> contiguous_element_runs(const ParameterSlice& slice,
                                                          std::int64_t first, std::int64_t count);

/// Returns, as pieces (strided ranges), the elements of the whole parameter that `runs` cover.
std::vector<checkpoint::StridedShardPiece> pieces_covered_by_rank_shard(
    const std::vector<ContiguousElementRun>& runs);

/// Returns the shape of the whole parameter in checkpoints and exported weights: [rows, columns],
/// [rows] for a vector, with a first dimension for the experts of an expert parameter.
std::vector<std::int64_t> whole_parameter_shape(const ParameterSlice& slice);

}  // namespace stepwright::runtime
