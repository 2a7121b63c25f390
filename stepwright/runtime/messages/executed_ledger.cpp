#include "stepwright/runtime/messages/executed_ledger.h"

#include <nlohmann/json.hpp>

namespace stepwright::runtime {
namespace {

nlohmann::ordered_json call_json(const ExecutedCollectiveCall& call) {
  return {{"operation", name_of(step::kOperatorNames, call.operation)},
          {"scheme", name_of(step::kSchemeNames, call.scheme)},
          {"phase", name_of(step::kPhaseNames, call.phase)},
          {"name", call.name},
          {"payload_bytes", call.payload_bytes},
          {"count", 1}};
}

}  // namespace

nlohmann::ordered_json communicator_calls_json(
    const std::vector<CommunicatorCallLog>& communicators) {
  auto list = nlohmann::ordered_json::array();
  for (const CommunicatorCallLog& one : communicators) {
    auto calls = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < one.calls.size(); ++i) {
      if (i > 0 && one.calls[i] == one.calls[i - 1]) {
        calls.back()["count"] = calls.back()["count"].get<std::int64_t>() + 1;
      } else {
        calls.push_back(call_json(one.calls[i]));
      }
    }
    list.push_back({{"rank", one.rank},
                    {"group", name_of(plan::kGroupNames, one.group)},
                    {"channel", one.channel},
                    {"members", one.members},
                    {"scheduled", one.scheduled},
                    {"calls", std::move(calls)}});
  }
  return list;
}

nlohmann::ordered_json executed_messages_json(const std::vector<CommunicatorCallLog>& communicators,
                                              std::int64_t ranks, std::int64_t steps) {
  return {{"stepwright", "ledger/1"},
          {"ranks", ranks},
          {"steps", steps},
          {"communicators", communicator_calls_json(communicators)}};
}

}  // namespace stepwright::runtime
