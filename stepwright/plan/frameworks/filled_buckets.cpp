#include "stepwright/plan/frameworks/filled_buckets.h"

#include <algorithm>

namespace stepwright::plan {

std::int64_t mean_filled_bucket_elements(const model::ModelArchitecture& model, std::int64_t tensor,
                                         std::int64_t least) {
  const std::int64_t attention = model.heads * model.head_dim;
  const std::int64_t joined = attention + 2 * model.kv_heads * model.head_dim;
  const std::int64_t widths[] = {model.ffn, (model.gated ? 2 : 1) * model.ffn, attention, joined};
  std::int64_t sum = 0;
  std::int64_t buckets = 0;
  std::int64_t open = 0;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    for (const std::int64_t width : widths) {
      open += model.hidden * width / tensor;
      if (open < least) continue;
      sum += open;
      ++buckets;
      open = 0;
    }
  }
  return buckets == 0 ? std::max(least, open) : sum / buckets;
}

}  // namespace stepwright::plan
