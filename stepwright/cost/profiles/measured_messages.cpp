#include "stepwright/cost/profiles/measured_messages.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "stepwright/cost/profiles/law_fields.h"

namespace stepwright::cost {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostFactor = 1e3;

std::int64_t read_count(DocumentNode node, std::string_view key) {
  return static_cast<std::int64_t>(node.get(key).number(1, kMaxMeasuredGroupRanks));
}

TimeRatioCurve read_curve(DocumentNode node) {
  node.allow_only_keys({"nodes", "ranks_of_node", "groups_of_node", "factors"});
  TimeRatioCurve curve{.group = {.nodes = read_count(node, "nodes"),
                                 .members = read_count(node, "ranks_of_node"),
                                 .groups = read_count(node, "groups_of_node")}};
  const DocumentNode list = node.get("factors");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const DocumentNode pair = list.at(i);
    if (pair.size() != 2) pair.fail("must be [bytes, factor]");
    const double bytes = pair.at(0).number(1, kMaxMeasuredMessageBytes);
    if (!curve.factors.empty() && bytes <= curve.factors.back().first) {
      pair.fail("bytes must ascend");
    }
    curve.factors.emplace_back(bytes, pair.at(1).number(1 / kMostFactor, kMostFactor));
  }
  if (curve.factors.empty()) list.fail("must not be empty");
  return curve;
}

std::vector<TimeRatioCurve> read_curves(DocumentNode entry) {
  std::vector<TimeRatioCurve> curves;
  if (const auto list = entry.find("shapes")) {
    for (std::size_t i = 0; i < list->size(); ++i) curves.push_back(read_curve(list->at(i)));
  }
  return curves;
}

bool read_own_nics(DocumentNode node) {
  const auto found = node.find("own_nics");
  return found && found->boolean();
}

SampledLaw<GlooCostLaw> read_socket_law(DocumentNode node) {
  node.allow_only_keys({"library", "operation", "start_us", "hop_us", "network_hop_us",
                        "inside_bytes_per_s", "network_bytes_per_s", "own_nics", "shapes", "rows",
                        "held_out_error"});
  return {{.start_s = read_microseconds(node, "start_us"),
           .hop_s = read_microseconds(node, "hop_us"),
           .network_hop_s = read_microseconds(node, "network_hop_us"),
           .inside_s_per_byte = read_rate_as_seconds_per_unit(node, "inside_bytes_per_s"),
           .network_s_per_byte = read_rate_as_seconds_per_unit(node, "network_bytes_per_s"),
           .own_nics = read_own_nics(node)},
          read_curves(node)};
}

SampledLaw<ScheduledCollectiveLaw> read_schedule_law(DocumentNode node) {
  node.allow_only_keys({"library", "operation", "start_us", "message_us", "network_hop_us",
                        "inside_bytes_per_s", "network_bytes_per_s", "own_nics", "chunk_bytes",
                        "shapes", "rows", "held_out_error"});
  return {{.start_s = read_microseconds(node, "start_us"),
           .message_s = read_microseconds(node, "message_us"),
           .network_hop_s = read_microseconds(node, "network_hop_us"),
           .inside_s_per_byte = read_rate_as_seconds_per_unit(node, "inside_bytes_per_s"),
           .network_s_per_byte = read_rate_as_seconds_per_unit(node, "network_bytes_per_s"),
           .chunk_bytes = node.get("chunk_bytes").number(1, kMaxMeasuredMessageBytes),
           .own_nics = read_own_nics(node)},
          read_curves(node)};
}

Json curves_json(const std::vector<TimeRatioCurve>& curves) {
  Json list = Json::array();
  for (const TimeRatioCurve& curve : curves) {
    Json factors = Json::array();
    for (const auto& [bytes, factor] : curve.factors) {
      factors.push_back({bytes, round_to_five_digits(factor)});
    }
    list.push_back({{"nodes", curve.group.nodes},
                    {"ranks_of_node", curve.group.members},
                    {"groups_of_node", curve.group.groups},
                    {"factors", std::move(factors)}});
  }
  return list;
}

template <class FittedMessageTimeLaw>
OperatorTime corrected(OperatorTime time, const SampledLaw<FittedMessageTimeLaw>& sampled,
                       const GroupNodePlacement& group, double bytes) {
  time.seconds *= measured_time_factor(sampled.curves, group, bytes);
  return time;
}

}  // namespace

double measured_time_factor(const std::vector<TimeRatioCurve>& curves,
                            const GroupNodePlacement& group, double bytes) {
  const auto curve = std::ranges::find(curves, group, &TimeRatioCurve::group);
  if (curve == curves.end()) return 1;
  const auto& factors = curve->factors;
  const auto above =
      std::ranges::lower_bound(factors, bytes, {}, &std::pair<double, double>::first);
  if (above == factors.begin()) return factors.front().second;
  if (above == factors.end()) return factors.back().second;
  const auto& [least, from] = *std::prev(above);
  const double way = std::log(bytes / least) / std::log(above->first / least);
  return from + way * (above->second - from);
}

std::optional<collective::CollectiveAlgorithm> algorithm_run_as_explicit_schedule(
    collective::CollectiveAlgorithm algorithm, collective::CollectiveOperation collective,
    const GroupNodePlacement& group) {
  const collective::CollectiveAlgorithm runs = collective::effective_collective_algorithm(
      algorithm, collective,
      {.ranks = group.size(), .members = group.members, .nodes = group.nodes});
  if (runs == collective::CollectiveAlgorithm::kLibrary ||
      !collective::own_process_group_supports_algorithm(runs, collective))
    return std::nullopt;
  return runs;
}

std::optional<OperatorTime> MeasuredMessageLaws::measured_message_time(
    std::optional<collective::CollectiveAlgorithm> method,
    collective::CollectiveOperation collective, double payload_bytes,
    const GroupNodePlacement& group) const {
  if (method) {
    const auto found = schedules.find({*method, collective});
    if (found == schedules.end()) return std::nullopt;
    const auto& sampled = found->second;
    return corrected(
        sampled.law.collective_time_by_schedule(*method, collective, payload_bytes, group), sampled,
        group, payload_bytes);
  }
  const auto& sampled = gloo[static_cast<std::size_t>(collective)];
  if (!sampled) return std::nullopt;
  return corrected(sampled->law.time(socket_loads(collective, payload_bytes, group)), *sampled,
                   group, payload_bytes);
}

bool MeasuredMessageLaws::any() const {
  return !schedules.empty() || std::ranges::any_of(gloo, [](const auto& law) { return !!law; });
}

void read_measured_message_law(DocumentNode entry, MeasuredMessageLaws& messages) {
  const collective::CollectiveOperation collective =
      entry.get("operation").choice(kCollectiveNames);
  const DocumentNode library = entry.get("library");
  if (library.text() == kGlooLibraryName) {
    messages.gloo[static_cast<std::size_t>(collective)] = read_socket_law(entry);
    return;
  }
  for (const auto& [method, name] : collective::kGeneratedCollectiveAlgorithmNames) {
    if (library.text() != name) continue;
    messages.schedules[{method, collective}] = read_schedule_law(entry);
    return;
  }
  library.fail_unsupported("only messages of gloo and of our schedules are modelled");
}

Json message_law_json(collective::CollectiveOperation collective,
                      const SampledLaw<GlooCostLaw>& sampled) {
  const GlooCostLaw& law = sampled.law;
  Json json = {{"library", kGlooLibraryName}, {"operation", name_of(kCollectiveNames, collective)}};
  write_seconds_as_microseconds(json, "start_us", law.start_s);
  write_seconds_as_microseconds(json, "hop_us", law.hop_s);
  write_seconds_as_microseconds(json, "network_hop_us", law.network_hop_s);
  write_seconds_per_unit_as_rate(json, "inside_bytes_per_s", law.inside_s_per_byte);
  write_seconds_per_unit_as_rate(json, "network_bytes_per_s", law.network_s_per_byte);
  if (law.own_nics) json["own_nics"] = true;
  if (!sampled.curves.empty()) json["shapes"] = curves_json(sampled.curves);
  return json;
}

Json message_law_json(collective::CollectiveAlgorithm method,
                      collective::CollectiveOperation collective,
                      const SampledLaw<ScheduledCollectiveLaw>& sampled) {
  const ScheduledCollectiveLaw& law = sampled.law;
  Json json = {{"library", name_of(collective::kCollectiveAlgorithmNames, method)},
               {"operation", name_of(kCollectiveNames, collective)},
               {"chunk_bytes", law.chunk_bytes}};
  write_seconds_as_microseconds(json, "start_us", law.start_s);
  write_seconds_as_microseconds(json, "message_us", law.message_s);
  write_seconds_as_microseconds(json, "network_hop_us", law.network_hop_s);
  write_seconds_per_unit_as_rate(json, "inside_bytes_per_s", law.inside_s_per_byte);
  write_seconds_per_unit_as_rate(json, "network_bytes_per_s", law.network_s_per_byte);
  if (law.own_nics) json["own_nics"] = true;
  if (!sampled.curves.empty()) json["shapes"] = curves_json(sampled.curves);
  return json;
}

}  // namespace stepwright::cost
