#include "stepwright/tune/dimensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "stepwright/core/error.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/legality.h"

namespace stepwright {
namespace {

template <class Value>
std::vector<Value> distinct(const std::vector<Value>& values) {
  std::vector<Value> out;
  for (const Value& value : values) {
    if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
  }
  return out;
}

/// The job's list, or what stands for a free dimension.
template <class Value>
std::vector<Value> listed(const std::vector<Value>& list, const std::vector<Value>& free) {
  return list.empty() ? free : distinct(list);
}

std::vector<std::int64_t> sizes(const char* name, const std::vector<std::int64_t>& list,
                                const std::vector<std::int64_t>& free, std::int64_t least = 1) {
  for (const std::int64_t value : list) {
    if (value < least) {
      fail_input(fmt::format("search.{} lists {}; it is at least 1", name, value));
    }
  }
  return listed(list, free);
}

/// Chunks per pipeline rank that leave a layer to each, from 2 on.
std::vector<std::int64_t> free_chunks(const Job& job) {
  std::vector<std::int64_t> chunks(
      static_cast<std::size_t>(std::max<std::int64_t>(1, job.model.layers / 2 - 1)));
  std::iota(chunks.begin(), chunks.end(), 2);
  return chunks;
}

void set_degrees(Dimensions& out, const Job& job) {
  const Space& space = job.space;
  out.tensor = sizes("tensor", space.tensor, legal_tensor_sizes(job));
  out.context = sizes("context", space.context, legal_context_sizes(job));
  out.pipeline = sizes("pipeline", space.pipeline, legal_pipeline_sizes(job));
  out.data = sizes("data", space.data, {});
  out.expert = sizes("expert", space.expert, legal_expert_sizes(job));
  out.expert_tensor = sizes("expert_tensor", space.expert_tensor, legal_expert_tensor_sizes(job));
  out.micro_batch = sizes("micro_batch", space.micro_batch, divisors(job.sequences));
}

/// Those that are searched unasked; where the framework has neither, 1f1b, which all have of one
/// position, and what it has.
std::vector<ScheduleKind> free_schedules(const Dimensions& out) {
  std::vector<ScheduleKind> usual = {ScheduleKind::kOneForwardOneBackward,
                                     ScheduleKind::kInterleaved};
  if (!out.framework) return usual;
  const WordSet& runs = out.framework->allowed(Ability::kSchedule, 0);
  const auto run = [&](ScheduleKind kind) { return runs[static_cast<std::size_t>(kind)]; };
  if (std::ranges::any_of(usual, run)) return usual;
  std::vector<ScheduleKind> kinds = {ScheduleKind::kOneForwardOneBackward};
  for (const auto& [kind, name] : kScheduleNames) {
    if (run(kind)) kinds.push_back(kind);
  }
  return kinds;
}

/// `auto` stands for whatever order is best: for those with a name, too.
std::vector<ScheduleKind> with_named(std::vector<ScheduleKind> kinds) {
  if (std::ranges::none_of(kinds, [](ScheduleKind kind) { return traits_of(kind).found; })) {
    return kinds;
  }
  for (const auto& [kind, name] : kScheduleNames) {
    if (traits_of(kind).runs) kinds.push_back(kind);
  }
  return distinct(kinds);
}

/// Everything beside computation that can be: it costs nothing to choose, and no message takes
/// longer for it. With a framework what is left of it with each degree of parallelism.
std::vector<Overlap> free_overlaps(const Dimensions& out) {
  const Overlap all = overlap_all(true);
  if (!out.framework) return {all};
  std::vector<Overlap> within;
  for (DegreeSet degrees = 0; degrees < FrameworkLaw::kDegreeSets; ++degrees) {
    within.push_back(overlap_within(all, out.framework->allowed(Ability::kOverlap, degrees)));
  }
  return distinct(within);
}

/// The usual order, and those that the framework has instead with some degree of parallelism.
std::vector<RankOrder> free_rank_orders(const Dimensions& out) {
  std::vector<RankOrder> orders = {RankOrder()};
  if (!out.framework) return orders;
  const std::vector<std::string>& words = ability_words(Ability::kRankOrder);
  for (DegreeSet degrees = 0; degrees < FrameworkLaw::kDegreeSets; ++degrees) {
    const WordSet& runs = out.framework->allowed(Ability::kRankOrder, degrees);
    for (std::size_t i = 0; i < words.size() && !runs[0]; ++i) {
      if (runs[i]) orders.push_back(rank_order_of(words[i]).value());
    }
  }
  return distinct(orders);
}

void set_stages(Dimensions& out, const Job& job) {
  const Space& space = job.space;
  out.schedule = with_named(listed(space.schedule, free_schedules(out)));
  out.chunks = sizes("chunks", space.chunks, free_chunks(job));
  out.strands = sizes("strands", space.strands, {1});
  out.layers = listed(space.layers, {{}});
  out.recompute =
      listed(space.recompute,
             {{RecomputeKind::kNone}, {RecomputeKind::kSelective}, {RecomputeKind::kFull}});
  for (const Recompute& recompute : out.recompute) {
    if (recompute.every < 1) fail_input("search.recompute lists every 0; it is at least 1");
  }
}

void set_states(Dimensions& out, const Job& job) {
  const Space& space = job.space;
  const Plan usual;
  const std::vector<std::int64_t> groups = divisors(job.cluster.devices());
  const std::vector<std::int64_t> one = {1};
  out.sharding = listed(space.sharding, paro_strategies());
  out.group = sizes("sharding_group", space.sharding_group, groups, kNodeGroup);
  out.expert_group =
      sizes("expert_group", space.expert_group, job.model.experts ? groups : one, kNodeGroup);
  out.accumulate = listed(space.accumulate, {default_gradients(job)});
  out.gradient_bucket = sizes("gradient_bucket", space.gradient_bucket, {usual.gradient_bucket});
  out.parameter_bucket =
      sizes("parameter_bucket", space.parameter_bucket, {usual.parameter_bucket});
}

}  // namespace

Dimensions dimensions(const Job& job) {
  const Space& space = job.space;
  Dimensions out;
  if (!job.framework.name.empty()) out.framework.emplace(job.framework);
  set_degrees(out, job);
  out.sequence_parallel = listed(space.sequence_parallel, {false, true});
  out.tensor_input = listed(space.tensor_input, {TensorInput::kKeep, TensorInput::kRegather});
  out.context_kind = listed(space.context_kind,
                            {ContextKind::kRing, ContextKind::kAllGather, ContextKind::kUlysses});
  out.overlap = listed(space.overlap, free_overlaps(out));
  out.rank_order = listed(space.rank_order, free_rank_orders(out));
  for (const auto list : kAlgorithmLists) {
    out.collectives.*list = listed(space.collectives.*list, {Algorithm::kLibrary});
  }
  set_stages(out, job);
  set_states(out, job);
  return out;
}

std::int64_t Dimensions::total() const {
  std::int64_t product = std::max<std::int64_t>(1, std::ssize(data));
  for (const std::size_t count : {tensor.size(),
                                  context.size(),
                                  pipeline.size(),
                                  expert.size(),
                                  expert_tensor.size(),
                                  micro_batch.size(),
                                  sequence_parallel.size(),
                                  tensor_input.size(),
                                  context_kind.size(),
                                  overlap.size(),
                                  rank_order.size(),
                                  schedule.size(),
                                  chunks.size(),
                                  strands.size(),
                                  layers.size(),
                                  recompute.size(),
                                  sharding.size(),
                                  group.size(),
                                  expert_group.size(),
                                  accumulate.size(),
                                  gradient_bucket.size(),
                                  parameter_bucket.size(),
                                  collectives.tensor.size(),
                                  collectives.context.size(),
                                  collectives.expert.size(),
                                  collectives.data.size()}) {
    product = times(product, static_cast<std::int64_t>(count));
  }
  return product;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  const bool over = __builtin_mul_overflow(a, b, &product);
  return over ? std::numeric_limits<std::int64_t>::max() : product;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  const bool over = __builtin_add_overflow(a, b, &sum);
  return over ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace stepwright
