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

/// A line that says something, and what it says.
struct NcclLine {
  std::int64_t line = 0;
  std::string text;
};

/// Facts about the ways of messages in lines of NCCL_DEBUG=INFO.
struct NcclFacts {
  std::map<std::string, std::int64_t> channels;       ///< By way: "NET/Socket", "P2P/IPC".
  std::map<std::string, NcclLine> first_channel;      ///< The first line of each way.
  std::map<std::string, NcclLine> settings;           ///< Value of each NCCL_* variable.
  std::map<std::string, std::set<std::string>> nics;  ///< Adapters of InfiniBand by host.
  /// Hosts without an adapter, each with the line that says so.
  std::map<std::string, NcclLine> no_adapter;
  std::set<std::string> hosts;             ///< All that wrote a line.
  bool across_nodes = false;               ///< A communicator says "nNodes 2" or more.
  std::optional<NcclLine> socket_network;  ///< Line that says "Using network Socket".
  std::optional<NcclLine> no_direct;       ///< "GPU Direct RDMA Disabled for HCA".
};

/// Reads lines of NCCL ("host:pid:tid [0] NCCL INFO ...", NCCL 2.4 to 2.27).
class NcclLines {
 public:
  /// Reads a line of any program.
  void read(std::string_view line, std::int64_t number);
  /// The rank of the process that wrote a line, by its communicators; `kUnknown` without.
  [[nodiscard]] std::int64_t rank_of(std::string_view line) const;
  [[nodiscard]] const NcclFacts& facts() const { return facts_; }

 private:
  void read_info(std::string_view host, std::string_view text, std::int64_t number);

  NcclFacts facts_;
  /// Host and process -> ranks of its largest communicator, its rank there.
  std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>> ranks_;
};

/// Says where messages take a slower way than machines usually have: sockets between nodes, shared
/// memory or the host inside of one, a node with fewer adapters than the others.
std::vector<Finding> link_findings(const NcclFacts& facts, const std::string& file);

}  // namespace stepwright::diagnose
