#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Reads what NCCL's example profiler plugin writes (a list of Chrome events, not quite JSON):
/// events COLL and P2P, which other categories describe again. A communicator is a hash; its size
/// is known when `finish` has seen events of its ranks 0 to n-1, in any of the files.
class NcclProfilerReader {
 public:
  explicit NcclProfilerReader(Log& log) : log_(log) {}

  void read(ByteSource& bytes);
  void finish();

 private:
  /// A communicator: its number, which its calls have until `finish`, and the ranks that were seen.
  struct Group {
    std::int32_t number = 0;
    std::set<std::int64_t> ranks;
  };
  class File;

  Log& log_;
  std::map<std::string, Group> groups_;  ///< Groups by their hash.
};

/// Reads what NCCL's inspector writes, one object of JSON a line: `coll_perf` and `p2p_perf`. Gaps
/// in the numbers of calls are said.
void read_nccl_inspector(ByteSource& bytes, Log& log);

}  // namespace stepwright::logs
