#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::logs {

/// Reads log files of any known formats into one log; each format is recognised by content. Fails
/// with `kInput`, naming file and position, if a file is damaged or of no known format.
CommunicationLog read_logs(std::span<const std::string> files);

/// Reads logs from sources that are in memory or that the caller opened.
CommunicationLog read_logs(std::span<FileByteReader> files);

/// Reads PyTorch profiler traces only, each in one pass. `take` receives the operators of a trace
/// before the next file is read. Fails with `kInput` if a file is no such trace.
CommunicationLog read_kineto_host_traces(std::span<const std::string> files,
                                         const std::function<void(const KinetoTrace&)>& take);

/// Assumes that groups of unknown size have `ranks` ranks, so that payloads can be computed from a
/// logged shard of one rank. A note for each file reports this.
void assume_group_size(CommunicationLog& log, std::int64_t ranks);

}  // namespace stepwright::logs
