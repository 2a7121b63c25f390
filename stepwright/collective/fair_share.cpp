#include "stepwright/collective/fair_share.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace stepwright::collective {
namespace {

/// Relative difference of shares below which links saturate together.
constexpr double kSameShare = 1e-12;

std::span<const std::int32_t> links_of(const LinkPath& path) {
  return {path.links.data(), static_cast<std::size_t>(path.count)};
}

}  // namespace

void MaxMinFairRates::count(const LinkMap& links, std::span<const LinkPath* const> paths) {
  links_.assign(links.size(), {});
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].left = links.bytes_per_s(static_cast<std::int32_t>(i));
  }
  for (const LinkPath* path : paths) {
    for (const std::int32_t link : links_of(*path)) ++links_[static_cast<std::size_t>(link)].flows;
  }
}

double MaxMinFairRates::fix_flows_of_next_saturated_links() {
  double least = std::numeric_limits<double>::infinity();
  for (const Link& link : links_) {
    if (link.flows > 0) least = std::min(least, link.left / link.flows);
  }
  for (Link& link : links_) {
    link.full = link.flows > 0 && link.left / link.flows <= least * (1 + kSameShare);
  }
  return least;
}

std::span<const double> MaxMinFairRates::flow_rates(const LinkMap& links,
                                                    std::span<const LinkPath* const> paths) {
  count(links, paths);
  rates_.assign(paths.size(), std::numeric_limits<double>::infinity());
  open_.resize(paths.size());
  std::iota(open_.begin(), open_.end(), std::size_t{0});
  std::erase_if(open_, [&](std::size_t flow) { return paths[flow]->count == 0; });
  while (!open_.empty()) {
    const double share = fix_flows_of_next_saturated_links();
    std::erase_if(open_, [&](std::size_t flow) {
      const auto full = [&](std::int32_t link) {
        return links_[static_cast<std::size_t>(link)].full;
      };
      if (std::ranges::none_of(links_of(*paths[flow]), full)) return false;
      rates_[flow] = share;
      for (const std::int32_t id : links_of(*paths[flow])) {
        Link& link = links_[static_cast<std::size_t>(id)];
        link.left = std::max(0.0, link.left - share);
        --link.flows;
      }
      return true;
    });
  }
  return rates_;
}

}  // namespace stepwright::collective
