#include "stepwright/cli/lab_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stepwright/core/format.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Above this share of the machine's TCP rate, links may no longer keep their rates.
constexpr double kMostOfCapacity = 0.5;

/// Formats a rate in Mbit/s, the unit of lab files.
std::string mbit_text(double bytes_per_s) {
  return format_count(std::llround(bytes_per_s * 8 / 1e6)) + " Mbit/s";
}

Json link_json(const lab::RateLimitedLink& link) {
  return {{"rate_bytes_per_s", link.rate_bytes_per_s},
          {"packet_bytes", link.packet_bytes},
          {"burst_bytes", link.burst_bytes}};
}

}  // namespace

std::string lab_check_text(const lab::EmulatedClusterSpec& spec, double capacity_bytes_per_s,
                           const lab::BusyLinkRateShares& busy) {
  const double shaped = spec.emulated_link_capacity_bytes_per_s();
  return fmt::format(
      "{}: {} nodes of {} ranks\n"
      "NIC, each way   {}, {} a node\n"
      "inside a node   {}\n"
      "all links       {}\n"
      "this machine    {} of TCP; the lab takes {} of it, and above half of it links may be too "
      "slow\n"
      "all links busy  the slowest NIC keeps {} of its rate, the slowest bus {}\n",
      spec.name, spec.nodes, spec.ranks_per_node, mbit_text(spec.nic.rate_bytes_per_s),
      spec.nics_per_node(), mbit_text(spec.inside.rate_bytes_per_s), mbit_text(shaped),
      mbit_text(capacity_bytes_per_s), format_percent(shaped / capacity_bytes_per_s),
      format_percent(busy.nic), format_percent(busy.inside));
}

Json lab_check_json(const lab::EmulatedClusterSpec& spec, double capacity_bytes_per_s,
                    const lab::BusyLinkRateShares& busy) {
  return {{"name", spec.name},
          {"nodes", spec.nodes},
          {"ranks_per_node", spec.ranks_per_node},
          {"nics_per_node", spec.nics_per_node()},
          {"nic", link_json(spec.nic)},
          {"inside", link_json(spec.inside)},
          {"shaped_bytes_per_s", spec.emulated_link_capacity_bytes_per_s()},
          {"capacity_bytes_per_s", capacity_bytes_per_s},
          {"busy", {{"nic", busy.nic}, {"inside", busy.inside}}},
          {"fits", emulated_links_too_fast_reason(spec, capacity_bytes_per_s).empty()}};
}

std::string emulated_links_too_fast_reason(const lab::EmulatedClusterSpec& spec,
                                           double capacity_bytes_per_s) {
  const double shaped = spec.emulated_link_capacity_bytes_per_s();
  if (shaped <= kMostOfCapacity * capacity_bytes_per_s) return {};
  return fmt::format(
      "the links of {} carry {} together, more than half of the {} that TCP carries on this "
      "machine: busy ones may fall short of their rates",
      spec.name, mbit_text(shaped), mbit_text(capacity_bytes_per_s));
}

Json lab_run_json(const lab::RankRunResult& result) {
  Json ranks = Json::array();
  for (const lab::RankProgramEnd& end : result.ranks) {
    ranks.push_back({{"rank", end.rank},
                     {"node", end.node},
                     {"exit_code", end.exit_code},
                     {"signal", end.signal},
                     {"seconds", end.seconds}});
  }
  return {{"seconds", result.seconds}, {"failure", result.failure}, {"ranks", std::move(ranks)}};
}

}  // namespace stepwright::cli
