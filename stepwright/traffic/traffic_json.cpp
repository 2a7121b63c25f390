#include "stepwright/traffic/traffic_json.h"

#include <nlohmann/json.hpp>

namespace stepwright::traffic {
namespace {

using Json = nlohmann::ordered_json;

Json message_json(const TrafficLedgerRow& message) {
  return {{"operation", name_of(step::kOperatorNames, message.operation)},
          {"scheme", name_of(step::kSchemeNames, message.scheme)},
          {"phase", traffic_phase_name(message.phase)},
          {"group", name_of(plan::kGroupNames, message.group)},
          {"group_size", message.group_size},
          {"payload_bytes", message.payload_bytes},
          {"count", message.count},
          {"sent_bytes_per_rank", message.sent_bytes_per_rank}};
}

Json volume_json(const MessageVolume& volume) {
  return {{"count", volume.count},
          {"payload_bytes", volume.payload_bytes},
          {"sent_bytes", volume.sent_bytes}};
}

Json link_json(const collective::DirectedLinkBytes& load) {
  return {{"name", load.name},
          {"units", load.units},
          {"busiest_unit", load.busiest_unit},
          {"busiest_bytes", load.busiest_bytes},
          {"mean_bytes", load.mean_bytes}};
}

}  // namespace

std::string_view traffic_phase_name(step::Phase phase) {
  const bool backward = step::is_backward_phase(phase);
  return backward ? "backward" : name_of(step::kPhaseNames, phase);
}

Json traffic_json(const TrafficLedger& ledger, std::int64_t ranks) {
  Json messages = Json::array();
  for (const TrafficLedgerRow& message : ledger.messages) messages.push_back(message_json(message));
  Json by_scheme = Json::object();
  for (const auto& [scheme, volume] : traffic_totals_by_scheme(ledger)) {
    by_scheme[std::string(name_of(step::kSchemeNames, scheme))] = volume_json(volume);
  }
  Json sizes = Json::array();
  for (const auto& [bytes, volume] : message_size_histogram(ledger)) {
    Json bucket = {{"at_least_bytes", bytes}};
    bucket.update(volume_json(volume));
    sizes.push_back(bucket);
  }
  return {{"ranks", ranks}, {"messages", messages}, {"totals", by_scheme}, {"histogram", sizes}};
}

Json link_traffic_json(const collective::LinkLoads& links) {
  Json levels = Json::array();
  for (const collective::DirectedLinkBytes& level : links.levels)
    levels.push_back(link_json(level));
  Json result = {{"levels", levels}};
  if (links.nics.units > 0) result["nics"] = link_json(links.nics);
  return result;
}

}  // namespace stepwright::traffic
