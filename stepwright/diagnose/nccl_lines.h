#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/diagnose/finding.h"
#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// A value read from a line of NCCL's output, with the line number.
struct NcclLogValue {
  std::int64_t line = 0;
  std::string text;
};

/// Which network paths NCCL uses, and its settings, from lines printed with NCCL_DEBUG=INFO.
struct NcclLogFacts {
  /// Number of NCCL channels for each kind of path: "NET/Socket", "P2P/IPC".
  std::map<std::string, std::int64_t> channels;
  /// For each kind of network path ("NET/Socket"), the first log line that mentions it.
  std::map<std::string, NcclLogValue> first_channel;
  /// Value of each NCCL_* environment variable that NCCL prints.
  std::map<std::string, NcclLogValue> settings;
  /// Names of the InfiniBand adapters that NCCL found on each host.
  std::map<std::string, std::set<std::string>> nics;
  /// Hosts on which NCCL found no InfiniBand adapter, each with the line that says so.
  std::map<std::string, NcclLogValue> no_adapter;
  std::set<std::string> hosts;  ///< Names of all hosts from which NCCL printed a line.
  /// True if NCCL reports a communicator over several nodes ("nNodes 2" or more).
  bool across_nodes = false;
  /// Line "Using network Socket": NCCL uses TCP between nodes; nullopt: there is none.
  std::optional<NcclLogValue> socket_network;
  /// Line "GPU Direct RDMA Disabled for HCA": NCCL copies through host memory; nullopt: there is
  /// none.
  std::optional<NcclLogValue> no_direct;
};

/// Reads NCCL's debug lines in a log ("host:pid:tid [0] NCCL INFO ...", NCCL 2.4 to 2.27).
class NcclDebugLogReader {
 public:
  /// Reads the next log line, of any program. `number`: its line number.
  void read_nccl_log_line(std::string_view line, std::int64_t number);
  /// Returns the global rank of the process that wrote an NCCL line, from that process's largest
  /// communicator; `kUnknown`: not known.
  [[nodiscard]] std::int64_t rank_of_nccl_process(std::string_view line) const;
  [[nodiscard]] const NcclLogFacts& facts() const { return facts_; }

 private:
  void read_info(std::string_view host, std::string_view text, std::int64_t number);

  NcclLogFacts facts_;
  /// For each {host, process id}: {number of ranks, own rank} of the process's largest
  /// communicator.
  std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>> ranks_;
};

/// Finds network paths that are slower than usual: sockets between nodes, shared or host memory
/// within a node, and nodes with fewer adapters than others.
std::vector<FaultFinding> slow_link_findings(const NcclLogFacts& facts, const std::string& file);

}  // namespace stepwright::diagnose
