#pragma once

#include <cstddef>
#include <memory>

#include "stepwright/plan/plan.h"
#include "stepwright/simulate/price/block_costs.h"

namespace stepwright::simulate {

/// Remembers the group layouts of the plans of one search: many plans share layouts, and a search
/// meets equal ones in a row.
class LayoutStore {
 public:
  /// `cluster` must outlive it.
  explicit LayoutStore(const cluster::Cluster& cluster);
  ~LayoutStore();
  LayoutStore(const LayoutStore&) = delete;
  LayoutStore& operator=(const LayoutStore&) = delete;

  /// Returns the layouts of a plan's groups, computed when first asked for; valid until `clear`.
  const Layouts& get(const plan::Plan& plan);
  /// True if it holds as many layouts as it should (about 2 kB each).
  [[nodiscard]] bool full() const;
  void clear();

 private:
  struct Entries;
  const cluster::Cluster& cluster_;
  std::unique_ptr<Entries> entries_;
};

}  // namespace stepwright::simulate
