#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/checkpoint/pieces.h"
#include "stepwright/runtime/states/parameter_slice.h"

namespace stepwright::runtime {

/// Elements of a rank's flat, padded part of a parameter that stand together in the whole one.
struct LocalRun {
  std::int64_t local = 0;  ///< Counted from the first of the range.
  std::int64_t whole = 0;
  std::int64_t length = 0;
  bool operator==(const LocalRun&) const = default;
};

/// The runs of local elements `first` to `first + count`, padding left out.
std::vector<LocalRun> local_runs(const ParameterSlice& slice, std::int64_t first,
                                 std::int64_t count);

/// The place of local runs in the whole parameter.
std::vector<checkpoint::Piece> whole_pieces(const std::vector<LocalRun>& runs);

/// The whole parameter's extents, as checkpoints and exported weights have them.
std::vector<std::int64_t> whole_shape(const ParameterSlice& slice);

}  // namespace stepwright::runtime
