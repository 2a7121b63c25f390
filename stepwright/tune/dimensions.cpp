#include "stepwright/tune/dimensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "stepwright/cluster/platform.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::tune {
namespace {

template <class Value>
std::vector<Value> distinct(const std::vector<Value>& values) {
  std::vector<Value> out;
  for (const Value& value : values) {
    if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
  }
  return out;
}

/// Every number of chunks is tried up to this one; beyond it only numbers that divide the layers
/// evenly.
constexpr std::int64_t kMostUnevenChunks = 64;

/// Returns the numbers of chunks per pipeline rank, from 2 on, that leave each chunk a layer. Each
/// number is balanced layer by layer; the list is short, so that the time of a search does not grow
/// with the square of the layers.
std::vector<std::int64_t> free_chunks(const plan::Job& job) {
  const std::int64_t most = std::max<std::int64_t>(2, job.model.layers / 2);
  std::vector<std::int64_t> chunks(static_cast<std::size_t>(std::min(most, kMostUnevenChunks) - 1));
  std::iota(chunks.begin(), chunks.end(), 2);
  for (const std::int64_t count : plan::divisors(job.model.layers)) {
    if (count > kMostUnevenChunks && count <= most) chunks.push_back(count);
  }
  return chunks;
}

/// Returns the schedules that are searched where the job lists none: 1f1b and interleaved. Where
/// the framework runs neither, 1f1b (every framework runs it with one position) and the schedules
/// that it runs.
std::vector<schedule::PipelineScheduleKind> free_schedules(const SearchSpaceDimensions& out) {
  std::vector<schedule::PipelineScheduleKind> usual = {
      schedule::PipelineScheduleKind::kOneForwardOneBackward,
      schedule::PipelineScheduleKind::kInterleaved};
  if (!out.framework) return usual;
  const plan::WordSet& runs =
      out.framework->supported_property_words(plan::FrameworkProperty::kSchedule, 0);
  const auto run = [&](schedule::PipelineScheduleKind kind) {
    return runs[static_cast<std::size_t>(kind)];
  };
  if (std::ranges::any_of(usual, run)) return usual;
  std::vector<schedule::PipelineScheduleKind> kinds = {
      schedule::PipelineScheduleKind::kOneForwardOneBackward};
  for (const auto& [kind, name] : schedule::kScheduleKindNames) {
    if (run(kind)) kinds.push_back(kind);
  }
  return kinds;
}

/// Adds to `auto`, if listed, the named schedules: `auto` stands for the best order, and they may
/// be it.
std::vector<schedule::PipelineScheduleKind> with_named(
    std::vector<schedule::PipelineScheduleKind> kinds) {
  if (std::ranges::none_of(kinds, [](schedule::PipelineScheduleKind kind) {
        return schedule::traits_of(kind).found;
      })) {
    return kinds;
  }
  for (const auto& [kind, name] : schedule::kScheduleKindNames) {
    if (schedule::is_fixed_order_kind(kind)) kinds.push_back(kind);
  }
  return distinct(kinds);
}

/// Returns the overlaps that are searched where the job lists none: all kinds on, since overlap
/// costs nothing to choose and no message takes longer for it. With a framework, the parts of it
/// that the framework runs with each degree of parallelism.
std::vector<plan::OverlapFlags> free_overlaps(const plan::Job& job,
                                              const SearchSpaceDimensions& out) {
  const plan::OverlapFlags all = plan::all_overlap_flags(true);
  if (!out.framework) return {all};
  const bool rocm = cluster::is_rocm_device(job.cluster.device);
  const auto allowed = [rocm](const plan::OverlapFlags& overlap, const plan::WordSet& words) {
    plan::OverlapFlags kept = plan::overlap_limited_to_listed_flags(overlap, words);
    kept.tensor = kept.tensor && (!rocm || words[std::size(plan::kOverlapFlagTable)]);
    return kept;
  };
  std::vector<plan::OverlapFlags> within;
  for (plan::DegreeSet degrees = 0;
       degrees < plan::FrameworkSupport::kParallelismDegreeCombinations; ++degrees) {
    within.push_back(allowed(
        all, out.framework->supported_property_words(plan::FrameworkProperty::kOverlap, degrees)));
  }
  // Several lines that depend on other choices may hold at once.
  for (const plan::WordSet& words :
       out.framework->coupled_property_words(plan::FrameworkProperty::kOverlap)) {
    for (std::size_t i = 0, count = within.size(); i < count; ++i) {
      within.push_back(allowed(within[i], words));
    }
    within = distinct(within);
  }
  // Overlaps with the flag `parameters` come first: they also stand for states without parameters
  // to gather, for which the flag changes nothing.
  std::ranges::stable_sort(within, std::ranges::greater{}, &plan::OverlapFlags::parameters);
  return distinct(within);
}

/// Returns the framework's accumulation type, and the other types where it reduces some states in
/// one type only.
std::vector<DType> free_types(const plan::Job& job, const SearchSpaceDimensions& out) {
  std::vector<DType> types = {plan::default_gradient_type(job)};
  if (out.framework &&
      !out.framework->coupled_property_words(plan::FrameworkProperty::kAccumulate).empty()) {
    types.push_back(plan::parameter_storage_type(job.precision));
    types.push_back(plan::default_accumulation_type(job.precision));
  }
  return distinct(types);
}

/// Returns the usual rank order, and the orders that the framework uses instead with some degree of
/// parallelism.
std::vector<plan::RankOrder> free_rank_orders(const SearchSpaceDimensions& out) {
  std::vector<plan::RankOrder> orders = {plan::RankOrder()};
  if (!out.framework) return orders;
  const std::vector<std::string>& words =
      plan::framework_property_value_names(plan::FrameworkProperty::kRankOrder);
  for (plan::DegreeSet degrees = 0;
       degrees < plan::FrameworkSupport::kParallelismDegreeCombinations; ++degrees) {
    const plan::WordSet& runs =
        out.framework->supported_property_words(plan::FrameworkProperty::kRankOrder, degrees);
    for (std::size_t i = 0; i < words.size() && !runs[0]; ++i) {
      if (runs[i]) orders.push_back(plan::parse_rank_order(words[i]).value());
    }
  }
  return distinct(orders);
}

/// Returns the values of each dimension that a job does not list; an empty list: the default of a
/// plan.
plan::TunerSearchSpace free_values(const plan::Job& job, const SearchSpaceDimensions& out) {
  plan::TunerSearchSpace free;
  free.tensor = plan::legal_tensor_degrees(job);
  free.context = plan::legal_context_degrees(job);
  free.pipeline = plan::legal_pipeline_degrees(job);
  free.expert = plan::legal_expert_degrees(job);
  free.expert_tensor = plan::legal_expert_tensor_degrees(job);
  free.micro_batch = plan::divisors(job.sequences);
  free.sequence_parallel = {false, true};
  free.tensor_input = {plan::GatheredInputPolicy::kKeep, plan::GatheredInputPolicy::kRegather};
  free.context_kind = {plan::ContextKind::kRing, plan::ContextKind::kAllGather,
                       plan::ContextKind::kUlysses};
  free.overlap = free_overlaps(job, out);
  free.rank_order = free_rank_orders(out);
  free.schedule = free_schedules(out);
  free.chunks = free_chunks(job);
  free.recompute = {{plan::RecomputeKind::kNone},
                    {plan::RecomputeKind::kSelective},
                    {plan::RecomputeKind::kFull}};
  free.sharding = plan::paro_strategies();
  free.accumulate = free_types(job, out);
  free.sharding_group = plan::divisors(job.cluster.devices());
  if (job.model.experts) free.expert_group = free.sharding_group;
  return free;
}

void check_listed(const plan::TunerSearchSpace& space) {
  plan::each_choice([&](const auto& choice) {
    if constexpr (std::is_same_v<plan::KindOf<decltype(choice)>, std::int64_t>) {
      for (const std::int64_t value : choice.list(space)) {
        if (value >= choice.traits.least) continue;
        fail_input(fmt::format("search.{} lists {}; it is at least 1", choice.key, value));
      }
    }
  });
}

}  // namespace

SearchSpaceDimensions search_space_dimensions(const plan::Job& job) {
  check_listed(job.space);
  SearchSpaceDimensions out;
  if (!job.framework.name.empty()) out.framework.emplace(job.framework);
  const plan::TunerSearchSpace free = free_values(job, out);
  plan::Plan usual;
  usual.accumulate = plan::default_gradient_type(job);
  plan::each_choice([&](const auto& choice) {
    auto& values = choice.list(out);
    values = distinct(choice.list(job.space));
    if (values.empty()) values = choice.list(free);
    if (values.empty() && choice.place != "parallel.data") values.push_back(choice.of(usual));
  });
  out.schedule = with_named(out.schedule);
  return out;
}

std::int64_t SearchSpaceDimensions::combination_count() const {
  std::int64_t product = 1;
  plan::each_choice([&](const auto& choice) {
    product =
        overflow_capped_product(product, std::max<std::int64_t>(1, std::ssize(choice.list(*this))));
  });
  return product;
}

std::int64_t overflow_capped_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  const bool over = __builtin_mul_overflow(a, b, &product);
  return over ? std::numeric_limits<std::int64_t>::max() : product;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  const bool over = __builtin_add_overflow(a, b, &sum);
  return over ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace stepwright::tune
