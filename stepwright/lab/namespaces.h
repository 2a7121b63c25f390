#pragma once

#include <string>
#include <vector>

#include "stepwright/lab/spec.h"

namespace stepwright::lab {

/// The network namespaces of a lab and their links, not yet limited to rates, under a name that no
/// other lab has. They are removed with this object.
class Namespaces {
 public:
  /// Makes the namespaces. Fails with `kUnsupported`, naming everything that the machine lacks, or
  /// with `kRuntime`.
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

/// Removes namespaces of labs whose processes are dead (killed before they could remove them) and
/// returns their names. Namespaces of live processes stay.
std::vector<std::string> clean_dead_labs();

}  // namespace stepwright::lab
