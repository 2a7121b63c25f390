#include "stepwright/schedule/groups.h"

namespace stepwright::schedule {

bool is_legal_group_size(std::int64_t group, std::int64_t positions, std::int64_t micro_batches) {
  if (group < positions || group > micro_batches) return false;
  const std::int64_t last = micro_batches % group;
  return last == 0 || last >= positions;
}

std::int64_t min_group_size(std::int64_t positions, std::int64_t micro_batches) {
  std::int64_t group = positions;
  while (group < micro_batches && !is_legal_group_size(group, positions, micro_batches)) ++group;
  return group < micro_batches ? group : micro_batches;
}

bool is_pytorch_micro_batch_group_size(std::int64_t group, std::int64_t positions,
                                       std::int64_t micro_batches) {
  const std::int64_t groups = micro_batches / positions;
  return groups > 0 && group * groups == micro_batches;
}

}  // namespace stepwright::schedule
