#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::huggingface {

/// Rows of a weight with an adapter beside them: what is added to row `begin + i` is the scale of
/// the adapters times row `up + i` of B times the rows of A from `down` on, as many as the rank.
struct AdaptedRows {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t up = 0;
  std::int64_t down = 0;
};

/// Adapted rows of a parameter, part after part; of routed experts one expert after the other, as
/// all three stand.
std::vector<AdaptedRows> adapted_rows(const model::Adapters& adapters,
                                      const model::Parameter& weight,
                                      const model::AdaptedWeight& entry);

/// A weight that has adapters beside it, and the names of its A and B.
struct WithAdapters {
  std::string down, up;
  std::vector<AdaptedRows> rows;
};

/// Weights of a model that have adapters, by the weight's name in checkpoints
/// ("layers.3.attention.qkv").
std::map<std::string, WithAdapters, std::less<>> adapted_weights(const model::Architecture& model);

}  // namespace stepwright::huggingface
