#include <nlohmann/json.hpp>

#include "stepwright/cost/laws/collective_constants.h"
#include "stepwright/study/scaling.h"

namespace stepwright::study {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the rate of a link in bytes/s; 0: there is no such link.
double rate_of(double s_per_byte) { return s_per_byte > 0 ? 1 / s_per_byte : 0; }

Json schedule_json(const CollectiveScheduleTime& time) {
  Json json{{"name", name_of(collective::kCollectiveAlgorithmNames, time.method)},
            {"chunks", time.chunks},
            {"closed_s", time.closed_s}};
  if (time.played_s) json["simulated_s"] = *time.played_s;
  return json;
}

Json point_json(const CollectiveScalingPoint& point) {
  Json json{{"operation", name_of(cost::kCollectiveNames, point.collective)},
            {"payload_bytes", point.payload_bytes},
            {"nodes", point.nodes},
            {"ranks", point.ranks},
            {"schedules", Json::array()},
            {"least_s", point.least.any_s},
            {"least_on_both_levels_s", point.least.levels_s}};
  for (const CollectiveScheduleTime& time : point.schedules) {
    json["schedules"].push_back(schedule_json(time));
  }
  if (point.adding_network_s) json["adding_network_s"] = *point.adding_network_s;
  if (point.adding_switches_s) json["adding_switches_s"] = *point.adding_switches_s;
  if (const auto gain = point.ho_ring_speedup()) json["ho_ring_gain"] = *gain;
  return json;
}

}  // namespace

Json collective_scaling_json(const CollectiveScalingStudy& study) {
  Json out{{"variable", "collectives"},
           {"cluster", study.cluster.name},
           {"devices_per_node", study.cluster.devices_per_node},
           {"nics_per_node", study.cluster.nics_per_node},
           {"nic_bytes_per_s", study.cluster.nic_bytes_per_s},
           {"inside_bytes_per_s", rate_of(study.links.inside_s_per_byte)},
           {"rail_bytes_per_s", rate_of(study.links.rail_s_per_byte)},
           {"inside_latency_s", study.links.inside_latency_s},
           {"network_latency_s", study.links.network_latency_s},
           {"message_start_s", study.links.message_s},
           {"points", Json::array()}};
  for (const CollectiveScalingPoint& point : study.points)
    out["points"].push_back(point_json(point));
  out["differences"] = Json::object();
  for (const auto& [method, difference] : study.closed_form_differences()) {
    out["differences"][std::string(name_of(collective::kCollectiveAlgorithmNames, method))] =
        difference;
  }
  return out;
}

}  // namespace stepwright::study
