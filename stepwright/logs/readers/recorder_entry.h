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

/// Calls `read` with the JSON of a dump, which may be a pickle. Fails as `pickle_to_json`.
void read_recorder_json(ByteSource& bytes, const std::function<void(ByteSource&)>& read);

/// The groups of a dump by their names.
using RecorderGroups = std::map<std::string, LogCommunicator, std::less<>>;

/// The groups that the member `pg_config` of a dump lists. Fails with `kInput`, naming file and
/// byte, where it is no mapping or has a key twice.
RecorderGroups recorder_groups(const JsonPiece& config, const std::string& file);

/// The group that an entry names; null where the dump does not list it. Names of entries and of
/// `pg_config` differ where the file has one group only (Gloo).
const LogCommunicator* recorder_group(const RecorderGroups& groups, std::string_view name);

/// Part `i` of an entry's `process_group`: 0 its name, 1 its purpose ("default_pg"); empty where
/// absent.
std::string_view recorder_group_part(const simdjson::dom::element& entry, std::size_t i);

/// True if an entry's call has ended: it says so, says no state, or is retired by Gloo, which never
/// writes that a call has ended.
bool recorder_call_ended(const simdjson::dom::element& entry);

/// The other side of "nccl:send 1->2" or "nccl:recv 3<-0", a rank of the group; `kUnknown` where
/// the name has none.
std::int64_t recorder_peer(std::string_view name, bool sends);

}  // namespace stepwright::logs
