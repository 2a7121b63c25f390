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

/// A line of NCCL's output: its number and the value read from it.
struct NcclLine {
  std::int64_t line = 0;
  std::string text;
};

/// Facts about message paths from lines of NCCL_DEBUG=INFO.
struct NcclFacts {
  /// Number of channels by path: "NET/Socket", "P2P/IPC".
  std::map<std::string, std::int64_t> channels;
  std::map<std::string, NcclLine> first_channel;  ///< First line that names each path.
  std::map<std::string, NcclLine> settings;       ///< Value of each NCCL_* variable, with its line.
  std::map<std::string, std::set<std::string>> nics;  ///< InfiniBand adapters of each host.
  /// Hosts without an InfiniBand adapter, each with the line that reports it.
  std::map<std::string, NcclLine> no_adapter;
  std::set<std::string> hosts;             ///< Names of all hosts that wrote a line.
  bool across_nodes = false;               ///< True if a communicator reports "nNodes 2" or more.
  std::optional<NcclLine> socket_network;  ///< Line with "Using network Socket"; nullopt: none.
  /// Line with "GPU Direct RDMA Disabled for HCA"; nullopt: none.
  std::optional<NcclLine> no_direct;
};

/// Reads lines of NCCL ("host:pid:tid [0] NCCL INFO ...", NCCL 2.4 to 2.27).
class NcclLines {
 public:
  /// Reads one log line, whichever program wrote it; `number`: its line number.
  void read(std::string_view line, std::int64_t number);
  /// Returns the rank of the process that wrote a line, known from its communicators; `kUnknown`:
  /// not known.
  [[nodiscard]] std::int64_t rank_of(std::string_view line) const;
  [[nodiscard]] const NcclFacts& facts() const { return facts_; }

 private:
  void read_info(std::string_view host, std::string_view text, std::int64_t number);

  NcclFacts facts_;
  /// By host and process: number of ranks of its largest communicator, and its rank there.
  std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>> ranks_;
};

/// Finds messages that use a slower path than machines usually have: sockets between nodes, shared
/// memory or host memory inside a node, and nodes with fewer adapters than others.
std::vector<Finding> slow_link_findings(const NcclFacts& facts, const std::string& file);

}  // namespace stepwright::diagnose
