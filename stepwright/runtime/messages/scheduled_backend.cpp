#include "stepwright/runtime/messages/scheduled_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "stepwright/cluster/adding_switches.h"
#include "stepwright/core/error.h"
#include "stepwright/process_group/backend.h"

namespace stepwright::runtime {

namespace {

/// True if any operation of a communicator runs as a schedule of the algorithm.
bool runs_any(collective::CollectiveAlgorithm algorithm) {
  constexpr collective::CollectiveOperation kRun[] = {
      collective::CollectiveOperation::kAllReduce, collective::CollectiveOperation::kAllGather,
      collective::CollectiveOperation::kReduceScatter, collective::CollectiveOperation::kAllToAll};
  return std::ranges::any_of(kRun, [=](collective::CollectiveOperation one) {
    return collective::own_process_group_supports_algorithm(algorithm, one);
  });
}

}  // namespace

std::vector<std::int32_t> tier_sizes_of_scheduled_group(collective::CollectiveAlgorithm algorithm,
                                                        const std::vector<std::int64_t>& members,
                                                        const cluster::Cluster& cluster) {
  if (algorithm == collective::CollectiveAlgorithm::kLibrary || members.size() < 2) return {};
  const auto node = [&](std::size_t i) { return members[i] / cluster.devices_per_node; };
  std::vector<std::int32_t> sizes;  // lengths of runs of ranks on one node
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == 0 || node(i) != node(i - 1)) sizes.push_back(0);
    ++sizes.back();
  }
  const collective::GroupNodeLayout form{
      .ranks = std::ssize(members),
      .members = std::ranges::max(sizes),
      .nodes = std::ssize(sizes),
      .inside_adds = cluster::node_switches_reduce(cluster::in_network_reduction_support(cluster))};
  if (!collective::algorithm_suits_group(algorithm, form)) return {};
  if (!runs_any(algorithm)) {
    fail_unsupported(fmt::format("collectives: {} has no executor here",
                                 name_of(collective::kCollectiveAlgorithmNames, algorithm)));
  }
  if (!form.has_equal_ranks_per_node()) return {static_cast<std::int32_t>(members.size()), 1};
  return {sizes.front(), static_cast<std::int32_t>(sizes.size())};
}

c10::intrusive_ptr<c10d::Backend> create_scheduled_collective_backend(
    const RankCommunicators::RankWorld& world, const std::string& name,
    const std::vector<std::int64_t>& members, const std::vector<std::int32_t>& tiers,
    collective::CollectiveAlgorithm algorithm) {
  process_group::ProcessGroupSetup setup;
  setup.store = c10::make_intrusive<c10d::PrefixStore>(name + "/words", world.store);
  setup.rank = static_cast<int>(std::ranges::find(members, world.rank) - members.begin());
  setup.size = static_cast<int>(members.size());
  setup.timeout = world.timeout;
  setup.global_ranks = members;
  setup.tiers = tiers;
  setup.engine.method = algorithm;
  for (const collective::CollectiveOperation one :
       {collective::CollectiveOperation::kAllReduce, collective::CollectiveOperation::kAllGather,
        collective::CollectiveOperation::kReduceScatter,
        collective::CollectiveOperation::kAllToAll}) {
    const bool runs = collective::own_process_group_supports_algorithm(algorithm, one);
    setup.engine.choices.push_back({.collective = one,
                                    .most_bytes = std::numeric_limits<double>::infinity(),
                                    .method = runs ? std::optional(algorithm) : std::nullopt});
  }
  setup.wrapped = create_gloo_process_group(world, name + "/wrapped", members);
  for (const char* lane : {"/rails", "/inside"}) {
    setup.lanes.push_back(create_gloo_process_group(world, name + lane, members));
  }
  return c10::make_intrusive<process_group::StepwrightBackend>(std::move(setup),
                                                               process_group::SplitGroup{});
}

std::int64_t scheduled_call_count(const c10d::Backend& backend) {
  const auto* scheduled = dynamic_cast<const process_group::StepwrightBackend*>(&backend);
  if (scheduled == nullptr) return 0;
  std::int64_t calls = 0;
  for (const auto& [key, count] : scheduled->collective_call_counts()) {
    if (key.second.empty()) calls += count.calls;
  }
  return calls;
}

}  // namespace stepwright::runtime
