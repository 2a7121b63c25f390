#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::huggingface {

/// A run of rows of an adapted weight. The adapter adds to row `begin + i` the product of row `up +
/// i` of B with the `rank` rows of A that start at row `down`, times alpha / rank.
struct AdaptedRows {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t up = 0;
  std::int64_t down = 0;
};

/// Returns the adapted rows of a parameter, one fused part after the other. For routed experts the
/// list goes expert by expert, as the weight, A and B are stored.
std::vector<AdaptedRows> adapted_rows(const model::Adapters& adapters,
                                      const model::Parameter& weight,
                                      const model::AdaptedWeight& entry);

/// The names of an adapted weight's A and B, and the rows that they change.
struct WithAdapters {
  std::string down, up;
  std::vector<AdaptedRows> rows;
};

/// Returns the adapted weights of a model, by the weight's name in checkpoints
/// ("layers.3.attention.qkv").
std::map<std::string, WithAdapters, std::less<>> adapted_weights(const model::Architecture& model);

}  // namespace stepwright::huggingface
