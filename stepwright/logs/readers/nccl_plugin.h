#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/record.h"

namespace stepwright {

/// Reads what NCCL's example profiler plugin writes (a list of Chrome events, not quite JSON):
/// events COLL and P2P, which other categories describe again. A communicator is a hash; its size
/// is known when `finish` has seen events of its ranks 0 to n-1, in any of the files.
class NcclProfilerReader {
 public:
  explicit NcclProfilerReader(Log& log);
  ~NcclProfilerReader();
  NcclProfilerReader(const NcclProfilerReader&) = delete;
  NcclProfilerReader& operator=(const NcclProfilerReader&) = delete;

  void read(ByteSource& bytes);
  void finish();

 private:
  struct PluginCall;
  class File;

  Log& log_;
  std::vector<PluginCall> calls_;
  std::map<std::string, std::set<std::int64_t>> ranks_;  ///< Seen, by communicator.
};

/// Reads what NCCL's inspector writes, one object of JSON a line: `coll_perf` and `p2p_perf`. Gaps
/// in the numbers of calls are said.
void read_nccl_inspector(ByteSource& bytes, Log& log);

}  // namespace stepwright
