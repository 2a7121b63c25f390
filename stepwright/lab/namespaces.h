#pragma once

#include <string>
#include <vector>

#include "stepwright/lab/spec.h"

namespace stepwright::lab {

/// The network namespaces that emulate the nodes of a cluster, connected by links without rate
/// limits, under a name that is unique on this machine. The destructor removes them.
class NodeNamespaces {
 public:
  /// Makes the namespaces and links. Fails with `kUnsupported`, listing everything that the machine
  /// lacks, or with `kRuntime`.
  explicit NodeNamespaces(const EmulatedClusterSpec& spec);
  ~NodeNamespaces();
  NodeNamespaces(const NodeNamespaces&) = delete;
  NodeNamespaces& operator=(const NodeNamespaces&) = delete;

  [[nodiscard]] const std::string& lab() const { return lab_; }

 private:
  void remove_all() const;

  std::string lab_;
  std::vector<std::string> names_;
};

/// Removes the network namespaces of emulated clusters whose process died before it could remove
/// them, and returns their names. Namespaces of live processes stay.
std::vector<std::string> remove_abandoned_network_namespaces();

}  // namespace stepwright::lab
