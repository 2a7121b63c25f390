#include "stepwright/plan/notes.h"

#include <fmt/format.h>

#include <utility>

#include "stepwright/cluster/unlikely.h"
#include "stepwright/model/parameters.h"

namespace stepwright {
namespace {

void add_unlikely_limit(const Job& job, std::vector<std::string>& notes) {
  const double limit = job.objective.memory_limit_bytes;
  if (limit <= 0 || limit >= 1e8) return;
  notes.push_back(fmt::format(
      "objective.memory_limit is {:g} bytes, less than any device has: a number without a unit is "
      "in bytes",
      limit));
}

void add_groups_of_one(const Job& job, const Sharding& sharding, std::vector<std::string>& notes) {
  if (!sharding.uses(Spread::kInner)) return;
  if (sharding.group == 1) {
    notes.push_back(
        fmt::format("sharding group is 1: what {} splits inside groups is held whole by every rank",
                    sharding_word(sharding)));
  }
  if (job.model.experts && sharding.expert_group == 1) {
    notes.emplace_back("expert_group is 1: expert states split inside groups are held whole");
  }
}

}  // namespace

std::vector<std::string> plan_notes(const PlannedJob& planned) {
  const auto& [job, plan] = planned;
  std::vector<std::string> notes = job.notes;
  for (std::string& note : unlikely_figures(job.cluster)) notes.push_back(std::move(note));
  add_unlikely_limit(job, notes);
  if (job.model.multi_token_layers > 0 && !job.model.count_multi_token) {
    notes.emplace_back("multi-token prediction layers are left out of parameters and step");
  }
  const std::int64_t padded = padded_vocabulary(job.model.vocabulary, plan.parallel.tensor);
  if (padded != job.model.vocabulary) {
    notes.push_back(fmt::format("vocabulary padded from {} to {} for tensor parallelism",
                                job.model.vocabulary, padded));
  }
  add_groups_of_one(job, plan.sharding, notes);
  if (job.model.experts && job.routing == Routing::kLearned) {
    notes.emplace_back("learned routing: expert messages are means; sizes vary from step to step");
  }
  return notes;
}

}  // namespace stepwright
