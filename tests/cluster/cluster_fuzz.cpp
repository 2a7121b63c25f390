// Any mapping is read or refused with an Error. An accepted cluster is read back from its inline
// mapping, and layouts on it stay within their bounds.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/layout.h"
#include "stepwright/core/error.h"

namespace {

using namespace stepwright;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_layout(const cluster::Cluster& cluster, std::int64_t size, std::int64_t stride) {
  const cluster::GroupLayout layout =
      cluster::network_layout_of_strided_group(cluster, size, stride);
  std::int64_t lower = 1;
  for (int i = 0; i < layout.levels; ++i) {
    require(layout.members[i] >= lower && layout.members[i] <= size);
    require((layout.sharers[i] > 0) == (i <= layout.span));
    require(layout.sharers[i] <= 2 * stride);
    lower = layout.members[i];
  }
}

void check_cluster(const cluster::Cluster& cluster, std::uint8_t first, std::uint8_t second) {
  const YamlJsonDocument again =
      YamlJsonDocument::parse(cluster::inline_cluster_mapping(cluster).dump(), "inline");
  require(cluster::read_job_cluster(again.root(), {}) == cluster);
  const std::int64_t size = 1 + first;
  const std::int64_t stride = 1 + second;
  if (cluster.devices() <= 1000000 && size * stride <= cluster.devices()) {
    check_layout(cluster, size, stride);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (text.find('/') != std::string_view::npos) return 0;  // no files outside the folder
  try {
    const YamlJsonDocument document = YamlJsonDocument::parse(text, "fuzz.yaml");
    check_cluster(cluster::read_job_cluster(document.root(), "no-such-folder"), data[0], data[1]);
  } catch (const Error&) {
    // A refusal is an answer.
  }
  return 0;
}
