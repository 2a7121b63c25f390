#include "stepwright/tune/used_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "stepwright/core/format.h"
#include "stepwright/tune/fixed_cluster.h"
#include "stepwright/tune/free_kernels.h"

namespace stepwright::tune {
namespace {

/// Returns the number itself and, unless it is one of these, the largest power of two and the
/// largest three times a power of two below it.
std::vector<std::int64_t> even_sizes(std::int64_t number) {
  const auto power_within = [](std::int64_t most) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most)));
  };
  const std::int64_t power = power_within(number);
  const std::int64_t thrice = number >= 3 ? 3 * power_within(number / 3) : 1;
  if (number == power || number == thrice) return {number};
  return {number, std::max(power, thrice), std::min(power, thrice)};
}

bool better(const TuneResult& part, const TuneResult& whole) {
  const TunedPlan& a = part.plans.front();
  const TunedPlan& b = whole.plans.front();
  if (a.verdict != b.verdict) return a.verdict < b.verdict;
  return a.step_time_s < b.step_time_s * (1 - kMinGainForIdleDevices);
}

/// Returns in words how many nodes or devices may fail.
std::string failures(const IdleDevicesGain& spares) {
  std::string text;
  if (spares.nodes > 0) text = count_with_noun(spares.nodes, "node");
  if (spares.devices_of_node > 0) {
    text += fmt::format("{}{} of each node", text.empty() ? "" : " and ",
                        count_with_noun(spares.devices_of_node, "device"));
  }
  return text;
}

/// Returns in words what using all devices would cost.
std::string if_used(const TuneResult& result, const IdleDevicesGain& spares) {
  if (!spares.step_time_if_used_s) return "no plan of all devices is legal and fits";
  const double lost = 1 / result.plans.front().step_time_s - 1 / *spares.step_time_if_used_s;
  return fmt::format("with all in use a step takes {}, {} tokens/s less",
                     format_time(*spares.step_time_if_used_s),
                     format_count(std::llround(lost * result.job.tokens())));
}

/// Sets the idle devices of a result and the note about them. `used_whole_s`: step time of the best
/// plan on the whole cluster; nullopt: there is none.
void say_idle(TuneResult& result, const cluster::Cluster& whole,
              std::optional<double> used_whole_s) {
  const cluster::Cluster& part = result.job.cluster;
  result.devices_idle = whole.devices() - part.devices();
  if (result.devices_idle == 0) return;
  result.spares = {.nodes = whole.nodes - part.nodes,
                   .devices_of_node = whole.devices_per_node - part.devices_per_node,
                   .step_time_if_used_s = used_whole_s};
  result.notes.push_back(fmt::format(
      "The plan uses {} of {} devices: {} nodes, {} devices of each. The {} idle devices are "
      "spares: {} can fail before the plan must shrink; {}. Set `cluster: {{use: all}}` in the job "
      "to use all devices.",
      format_count(part.devices()), format_count(whole.devices()), format_count(part.nodes),
      part.devices_per_node, format_count(result.devices_idle), failures(*result.spares),
      if_used(result, *result.spares)));
}

}  // namespace

cluster::Cluster cluster_reduced_to_devices(const cluster::Cluster& cluster, std::int64_t nodes,
                                            std::int64_t devices_per_node) {
  cluster::Cluster part = cluster;
  part.nodes = nodes;
  part.devices_per_node = devices_per_node;
  part.nic_of_device.resize(static_cast<std::size_t>(devices_per_node));
  const bool own_nics = cluster.nics_per_node == cluster.devices_per_node;
  if (own_nics) part.nics_per_node = devices_per_node;
  for (cluster::NetworkLevel& level : part.levels) {
    if (own_nics && level.network) {
      level.uplink_bytes_per_s *=
          static_cast<double>(devices_per_node) / static_cast<double>(cluster.devices_per_node);
    }
    const std::int64_t whole_nodes = level.size / cluster.devices_per_node;
    if (whole_nodes == 0) {
      level.size = std::min(level.size, devices_per_node);
    } else {
      level.size = std::min(whole_nodes, nodes) * devices_per_node;
    }
  }
  return part;
}

std::vector<cluster::Cluster> cluster_parts_to_try(const cluster::Cluster& cluster) {
  std::vector<cluster::Cluster> parts;
  for (const std::int64_t devices : even_sizes(cluster.devices_per_node)) {
    for (const std::int64_t nodes : even_sizes(cluster.nodes)) {
      const auto used = static_cast<double>(nodes * devices);
      if (used < kMinUsedDeviceShare * static_cast<double>(cluster.devices())) continue;
      parts.push_back(cluster_reduced_to_devices(cluster, nodes, devices));
    }
  }
  return parts;
}

FasterPlans find_faster_plans(const plan::Job& job, double below_s, const TuneOptions& options) {
  const plan::Job chosen = with_fastest_attention_kernel(job);
  const std::vector<cluster::Cluster> parts =
      job.use_all ? std::vector{job.cluster} : cluster_parts_to_try(job.cluster);
  FasterPlans best{chosen, {}};
  for (const cluster::Cluster& part : parts) {
    plan::Job smaller = chosen;
    smaller.cluster = part;
    std::vector<TunedPlan> plans = faster_plans_on_cluster(smaller, below_s, options);
    if (plans.empty()) continue;
    below_s = plans.front().step_time_s * (1 - kMinGainForIdleDevices);
    best = {std::move(smaller), std::move(plans)};
  }
  return best;
}

TuneOutcome tune_on_cluster_parts(const plan::Job& job, const TuneOptions& options) {
  if (job.use_all) return tune_on_cluster(job, options);
  std::optional<TuneResult> best;
  std::optional<EmptySearchSpaceReason> none_on_whole;
  std::optional<double> used_whole_s;
  for (const cluster::Cluster& part : cluster_parts_to_try(job.cluster)) {
    plan::Job smaller = job;
    smaller.cluster = part;
    TuneOutcome outcome = tune_on_cluster(smaller, options);
    if (auto* none = std::get_if<EmptySearchSpaceReason>(&outcome)) {
      if (!none_on_whole) none_on_whole = std::move(*none);
      continue;
    }
    auto& result = std::get<TuneResult>(outcome);
    const TunedPlan& fastest = result.plans.front();
    if (part.devices() == job.cluster.devices() && fastest.fits) {
      used_whole_s = fastest.step_time_s;
    }
    if (!best || better(result, *best)) best = std::move(result);
  }
  if (!best) return *std::move(none_on_whole);
  say_idle(*best, job.cluster, used_whole_s);
  return *std::move(best);
}

}  // namespace stepwright::tune
