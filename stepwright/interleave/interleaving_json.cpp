#include <nlohmann/json.hpp>

#include "stepwright/interleave/interleaving.h"

namespace stepwright::interleave {
namespace {

using Json = nlohmann::ordered_json;

Json operators_json(const Strand& strand) {
  Json list = Json::array();
  for (const InterleavedOperator& op : strand) {
    list.push_back({{"id", op.id}, {"what", op.what}, {"seconds", op.seconds}});
  }
  return list;
}

}  // namespace

Json interleaving_json(const ForwardBackwardOperators& pair,
                       const LayerInterleaving& interleaving) {
  Json json = {{"serial_s", interleaving.serial_s},
               {"serial_own_overlap_s", interleaving.serial_own_overlap_s},
               {"interleaved_s", interleaving.interleaved_s},
               {"event_s", interleaving.event_s},
               {"lower_bound_s", interleaving.lower_bound_s},
               {"exposed_s", interleaving.exposed_s},
               {"exposed_by_collective", interleaving.exposed_by_collective},
               {"starts_at", interleaving.starts_at},
               {"peak_extra_bytes", interleaving.peak_extra_bytes},
               {"serial_extra_bytes", interleaving.serial_extra_bytes}};
  json["operators"] = {{"forward", operators_json(pair.forward)},
                       {"backward", operators_json(pair.backward)}};
  json["blocks"] = Json::array();
  for (const InterleavedBlock& block : interleaving.blocks) {
    json["blocks"].push_back({{"forward", block.forward},
                              {"backward", block.backward},
                              {"communication", block.communication},
                              {"seconds", block.seconds},
                              {"compute_s", block.compute_s}});
  }
  return json;
}

}  // namespace stepwright::interleave
