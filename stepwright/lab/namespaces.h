#pragma once

#include <string>
#include <vector>

#include "stepwright/lab/spec.h"

namespace stepwright::lab {

/// The network namespaces that emulate the nodes of a cluster, connected by links without rate
/// limits, under a name that is unique on this machine. The destructor removes them.
class Namespaces {
 public:
  /// Makes the namespaces and links. Fails with `kUnsupported`, listing everything that the machine
  /// lacks, or with `kRuntime`.
  explicit Namespaces(const LabSpec& spec);
  ~Namespaces();
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;

  [[nodiscard]] const std::string& lab() const { return lab_; }

 private:
  void remove_all() const;

  std::string lab_;
  std::vector<std::string> names_;
};

/// Removes the network namespaces of emulated clusters whose process died before it could remove
/// them, and returns their names. Namespaces of live processes stay.
std::vector<std::string> clean_dead_labs();

}  // namespace stepwright::lab
