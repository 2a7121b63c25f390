#pragma once

#include <random>

#include "stepwright/plan/job.h"

namespace stepwright::step {

/// Gives adapters to all parts of a job's model that can have them.
inline void adapt(plan::Job& job, std::int64_t rank) {
  job.model.adapters = model::LoraAdapters{.rank = rank, .alpha = 2.0 * static_cast<double>(rank)};
  job.model.adapters->targets = model::possible_adapter_targets(job.model);
}

/// Freezes some of the weights of a job's model.
inline void freeze_any(plan::Job& job, std::mt19937& random) {
  const auto below = [&](unsigned most) { return random() % most; };
  if (below(4) == 0) {
    job.model.frozen = {.embedding = below(2) == 0,
                        .first = static_cast<std::int64_t>(below(2)),
                        .layers = static_cast<std::int64_t>(below(3))};
    return;
  }
  adapt(job, 4);
  model::LoraAdapters& adapters = *job.model.adapters;
  adapters.joined = below(2) == 0;
  if (below(3) == 0) adapters.dropout = 0.1;
  if (below(3) == 0) adapters.base = below(2) == 0 ? DType::kNf4 : DType::kFp8;
  for (std::size_t i = 0; i < adapters.targets.size() && !adapters.joined; ++i) {
    if (adapters.targets.count() > 1 && below(2) == 0) adapters.targets.reset(i);
  }
}

}  // namespace stepwright::step
