#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/files/json_scanner.h"
#include "stepwright/logs/log.h"

namespace simdjson::dom {
class element;
}  // namespace simdjson::dom

namespace stepwright::logs {

// Parts of a dump of PyTorch's flight recorder, versions 2.4 to 2.10 of the format
// (torch/csrc/distributed/c10d/FlightRecorder.hpp).

/// Calls `read` with a dump as JSON, converted if it is a pickle. Fails as `pickle_to_json`.
void read_recorder_dump_as_json(FileByteReader& bytes,
                                const std::function<void(FileByteReader&)>& read);

/// Process groups of a flight-recorder dump, by name.
using RecorderGroups = std::map<std::string, LogCommunicator, std::less<>>;

/// Reads the process groups in the member `pg_config` of a flight-recorder dump. Fails with
/// `kInput`, naming file and byte, if it is no mapping or has a key twice.
RecorderGroups read_flight_recorder_groups(const JsonPiece& config, const std::string& file);

/// Returns the process group that an entry of a flight-recorder dump names; null if the dump does
/// not list it. If the dump lists only one group, that group is returned even under another name
/// (Gloo).
const LogCommunicator* flight_recorder_group_of_entry(const RecorderGroups& groups,
                                                      std::string_view name);

/// Returns element `i` of the member `process_group` of a flight-recorder entry: 0 is the name, 1
/// the purpose ("default_pg"); empty if absent.
std::string_view flight_recorder_group_name_or_purpose(const simdjson::dom::element& entry,
                                                       std::size_t i);

/// True if the call of a flight-recorder entry has ended: its state says so, it has no state, or
/// Gloo has retired it (Gloo never records that a call has ended).
bool has_flight_recorder_call_ended(const simdjson::dom::element& entry);

/// Returns the other rank in the name of a send or receive ("nccl:send 1->2", "nccl:recv 3<-0"), as
/// a rank of the group; `kUnknown` if the name has none.
std::int64_t peer_rank_in_flight_recorder_name(std::string_view name, bool sends);

}  // namespace stepwright::logs
