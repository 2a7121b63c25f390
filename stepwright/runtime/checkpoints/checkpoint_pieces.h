#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/checkpoint/pieces.h"
#include "stepwright/runtime/states/parameter_slice.h"

namespace stepwright::runtime {

/// A run of elements of a rank's flat, padded part of a parameter that are contiguous in the whole
/// parameter, too.
struct LocalRun {
  std::int64_t local = 0;  ///< First element of the run, counted from the start of the range.
  std::int64_t whole = 0;
  std::int64_t length = 0;
  bool operator==(const LocalRun&) const = default;
};

/// Returns the runs of the local elements `first` to `first + count - 1`, without padding.
std::vector<LocalRun> local_runs(const ParameterSlice& slice, std::int64_t first,
                                 std::int64_t count);

/// Returns where local runs are in the whole parameter.
std::vector<checkpoint::ShardPiece> whole_pieces(const std::vector<LocalRun>& runs);

/// Returns the extents of the whole parameter, as checkpoints and exported weights have them.
std::vector<std::int64_t> whole_shape(const ParameterSlice& slice);

}  // namespace stepwright::runtime
