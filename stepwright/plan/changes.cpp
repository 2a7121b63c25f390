#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stepwright/plan/laws/repair.h"

namespace stepwright {
namespace {

/// Collects "field value" of what differs.
class Differences {
 public:
  template <class Value, class Text>
  void compare(std::string_view field, const Value& from, const Value& to, const Text& text) {
    if (from == to) return;
    const std::string_view joint = found_.empty() ? "" : count_ == 1 ? " with " : ", ";
    found_ += fmt::format("{}{} {}", joint, field, text);
    ++count_;
  }
  void compare(std::string_view field, std::int64_t from, std::int64_t to) {
    compare(field, from, to, to);
  }

  [[nodiscard]] const std::string& text() const { return found_; }

 private:
  std::string found_;
  int count_ = 0;
};

void compare_degrees(Differences& found, const Parallel& from, const Parallel& to) {
  found.compare("tensor", from.tensor, to.tensor);
  found.compare("context", from.context, to.context);
  found.compare("expert", from.expert, to.expert);
  found.compare("expert_tensor", from.expert_tensor, to.expert_tensor);
  found.compare("pipeline", from.pipeline, to.pipeline);
  found.compare("data", from.data, to.data);
}

void compare_states(Differences& found, const Sharding& from, const Sharding& to) {
  found.compare("sharding", sharding_word(from), sharding_word(to), sharding_word(to));
  found.compare("sharding group", from.group, to.group);
  found.compare("expert group", from.expert_group, to.expert_group);
}

}  // namespace

std::string changes(const Plan& from, const Plan& to) {
  Differences found;
  compare_degrees(found, from.parallel, to.parallel);
  found.compare("micro_batch", from.micro_batch, to.micro_batch);
  found.compare("schedule", from.schedule.kind, to.schedule.kind,
                name_of(kScheduleNames, to.schedule.kind));
  found.compare("chunks", from.schedule.chunks, to.schedule.chunks);
  found.compare("strands", from.schedule.strands, to.schedule.strands);
  found.compare("order found for", from.schedule.basis, to.schedule.basis,
                to.schedule.basis.chunks.empty() ? "this plan" : "another");
  found.compare("layers", from.layers, to.layers,
                to.layers.empty() ? "even" : fmt::format("[{}]", fmt::join(to.layers, ", ")));
  found.compare("sequence_parallel", from.sequence_parallel, to.sequence_parallel,
                to.sequence_parallel);
  found.compare("tensor_input", from.tensor_input, to.tensor_input,
                name_of(kTensorInputNames, to.tensor_input));
  found.compare("context_kind", from.context_kind, to.context_kind,
                name_of(kContextKindNames, to.context_kind));
  compare_states(found, from.sharding, to.sharding);
  found.compare("recompute", from.recompute, to.recompute, recompute_word(to.recompute));
  found.compare("accumulate", from.accumulate, to.accumulate, name_of(kDTypeNames, to.accumulate));
  found.compare("gradient bucket", from.gradient_bucket, to.gradient_bucket);
  found.compare("parameter bucket", from.parameter_bucket, to.parameter_bucket);
  for (const auto& [flag, name] : kOverlapNames) {
    found.compare(fmt::format("overlap.{}", name), from.overlap.*flag, to.overlap.*flag,
                  to.overlap.*flag);
  }
  found.compare("collectives", from.collectives, to.collectives, collectives_word(to.collectives));
  found.compare("rank_order", from.rank_order, to.rank_order, rank_order_word(to.rank_order));
  return found.text();
}

}  // namespace stepwright
