#pragma once

#include <cstddef>
#include <memory>

#include "stepwright/plan/plan.h"
#include "stepwright/simulate/price/block_costs.h"

namespace stepwright::simulate {

/// Cache of where the ranks of communication groups lie in the cluster, for the plans of one
/// search; many plans share these layouts.
class GroupLayoutCache {
 public:
  /// Creates an empty cache for this cluster, which must outlive the cache.
  explicit GroupLayoutCache(const cluster::Cluster& cluster);
  ~GroupLayoutCache();
  GroupLayoutCache(const GroupLayoutCache&) = delete;
  GroupLayoutCache& operator=(const GroupLayoutCache&) = delete;

  /// Returns where the ranks of a plan's communication groups lie; computed when first asked for,
  /// valid until `clear`.
  const Layouts& get(const plan::Plan& plan);
  /// True if the cache holds as many layouts as it should (about 2 kB each), so that it is time for
  /// `clear`.
  [[nodiscard]] bool is_layout_cache_full() const;
  void clear();

 private:
  struct Entries;
  const cluster::Cluster& cluster_;
  std::unique_ptr<Entries> entries_;
};

}  // namespace stepwright::simulate
