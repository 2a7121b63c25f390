#include "stepwright/validate/rows/row_layers.h"

#include <algorithm>

#include "stepwright/validate/rows/row_framework.h"

namespace stepwright {

std::vector<std::int64_t> layers_by_modules(std::int64_t layers, std::int64_t stages) {
  constexpr std::int64_t kBefore = 1;  // embedding
  constexpr std::int64_t kBehind = 2;  // final norm, head
  const std::int64_t modules = kBefore + layers + kBehind;
  std::vector<std::int64_t> shares(stages, modules / stages);
  for (std::int64_t i = 0; i < modules % stages; ++i) ++shares[i];
  shares.front() -= kBefore;
  shares.back() -= kBehind;
  if (std::ranges::min(shares) < 1) return {};
  return shares;
}

std::vector<std::int64_t> row_layers(const RunRow& row, std::int64_t stages) {
  if (!stack_of(row).deals_modules || stages == 1 || !row.layers) return {};
  return layers_by_modules(*row.layers, stages);
}

}  // namespace stepwright
