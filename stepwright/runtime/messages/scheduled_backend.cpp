#include "stepwright/runtime/messages/scheduled_backend.h"

#include <algorithm>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "stepwright/process_group/backend.h"

namespace stepwright {

std::vector<std::int32_t> two_tiers(const std::vector<std::int64_t>& members,
                                    std::int64_t devices_per_node) {
  const auto node = [&](std::size_t i) { return members[i] / devices_per_node; };
  std::vector<std::int32_t> sizes;  // of runs of ranks on the same node
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == 0 || node(i) != node(i - 1)) sizes.push_back(0);
    ++sizes.back();
  }
  const bool even = std::ranges::all_of(sizes, [&](auto size) { return size == sizes.front(); });
  if (!even || sizes.size() < 2 || sizes.front() < 2) return {};
  return {sizes.front(), static_cast<std::int32_t>(sizes.size())};
}

c10::intrusive_ptr<c10d::Backend> scheduled_backend(const Groups::World& world,
                                                    const std::string& name,
                                                    const std::vector<std::int64_t>& members,
                                                    const std::vector<std::int32_t>& tiers,
                                                    Method method) {
  GroupSetup setup;
  setup.store = c10::make_intrusive<c10d::PrefixStore>(name + "/words", world.store);
  setup.rank = static_cast<int>(std::ranges::find(members, world.rank) - members.begin());
  setup.size = static_cast<int>(members.size());
  setup.timeout = world.timeout;
  setup.global_ranks = members;
  setup.tiers = tiers;
  setup.engine.method = method;
  setup.wrapped = gloo_backend(world, name + "/wrapped", members);
  for (const char* lane : {"/rails", "/inside"}) {
    setup.lanes.push_back(gloo_backend(world, name + lane, members));
  }
  return c10::make_intrusive<StepwrightBackend>(std::move(setup), SplitGroup{});
}

Method method_of(Algorithm algorithm) {
  return algorithm == Algorithm::kTwoLevel ? Method::kTwoLevel : Method::kHoRing;
}

std::int64_t scheduled_calls(const c10d::Backend& backend) {
  const auto* scheduled = dynamic_cast<const StepwrightBackend*>(&backend);
  if (scheduled == nullptr) return 0;
  std::int64_t calls = 0;
  for (const auto& [key, count] : scheduled->counts()) {
    if (key.second.empty()) calls += count.calls;
  }
  return calls;
}

}  // namespace stepwright
