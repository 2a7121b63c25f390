#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Reads the output of NCCL's example profiler plugin (a list of Chrome events, not quite JSON).
/// Only COLL and P2P events are read, since events of other categories describe the same calls. A
/// communicator is named by a hash; `finish` sets its size once events of its ranks 0 to n-1 were
/// seen in any of the files.
class NcclProfilerReader {
 public:
  explicit NcclProfilerReader(CommunicationLog& log) : log_(log) {}

  void read(FileByteReader& bytes);
  void finish();

 private:
  /// A communicator: the number by which its calls refer to it until `finish`, and its ranks seen
  /// so far.
  struct NcclCommunicator {
    std::int32_t number = 0;
    std::set<std::int64_t> ranks;
  };
  class File;

  CommunicationLog& log_;
  std::map<std::string, NcclCommunicator> groups_;  ///< Communicators seen so far, by their hash.
};

/// Reads the output of NCCL's inspector, one JSON object a line: `coll_perf` and `p2p_perf`. A note
/// reports gaps in the numbers of calls.
void read_nccl_inspector(FileByteReader& bytes, CommunicationLog& log);

}  // namespace stepwright::logs
