#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/core/document.h"
#include "stepwright/cost/collective_cost.h"
#include "stepwright/fit/samples/sampled_machine.h"

namespace stepwright::fit {

/// The kernels of an inference library, and the list calls of torch.distributed with their copies.
inline constexpr std::string_view kKernelLibrary = "trtllm";
inline constexpr std::string_view kListLibrary = "torch-lists";

/// A message that was measured.
struct CollectiveSample {
  const SampledMachine* machine = nullptr;
  std::string library;  ///< Library of the collective: `kDefaultLibrary` or one of the above.
  collective::Collective operation{};
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  double payload_bytes = 0;  ///< The full buffer (docs/formats.md, "Collective samples").
  double seconds = 0;
  bool switch_adds = true;  ///< Whether a switch can add numbers of this type (16 bits or more).
  std::string id;           ///< The source's own, else file and line.
  std::size_t line = 0;
  cost::Routes routes;  ///< Routes of the message when nothing else runs on the machine.

  /// "2x4": nodes x ranks on each.
  [[nodiscard]] std::string layout() const;
  [[nodiscard]] std::int64_t ranks() const { return nodes * ranks_per_node; }
  /// The quantities over which a fit states its range.
  [[nodiscard]] std::array<cost::NamedSize, 3> quantities() const {
    return {{{"bytes", payload_bytes},
             {"ranks", static_cast<double>(ranks())},
             {"nodes", static_cast<double>(nodes)}}};
  }
};

/// A row that no fit may see.
struct DroppedRow {
  std::size_t line = 0;
  std::string reason;

  /// The reason with `#` for words that are numbers: rows of one kind are reported together.
  [[nodiscard]] std::string kind() const;
};

/// The content of a table.
struct CollectiveSamples {
  std::string file;
  std::vector<CollectiveSample> samples;
  std::vector<DroppedRow> dropped;
};

/// Whether a table has one of the two schemas of collective samples: `op, nodes, gpus_per_node,
/// elements_fp16, time_us` (one machine, which the table does not name), or `gpu, nodes, gpus,
/// collective, size_bytes, time_us, ...` (many clusters).
bool holds_collectives(const CsvTable& table);

/// Reads a table of either schema. `machine` names the one that all rows are of (`SampledMachine`),
/// whatever their columns say; empty: what they say.
/// Rows that are no measurement or not credible are dropped with the reason: no number, not
/// positive, unknown operation or machine, faster than the line rate, the same row twice, an order
/// of magnitude that only another unit explains. Fails with `kInput` when a column is missing, or
/// the machine is missing or unknown.
CollectiveSamples read_collective_samples(const CsvTable& table, const std::string& machine);
/// Reads samples of a machine that the caller knows; null: the one that the columns name.
CollectiveSamples read_collective_samples(const CsvTable& table, const SampledMachine* machine);

/// The clusters that samples ran on, as large as they need; each is made once.
class SampledClusters {
 public:
  const cluster::Cluster& of(const CollectiveSample& sample);

 private:
  std::map<std::pair<const SampledMachine*, std::int64_t>, cluster::Cluster> clusters_;
};

/// How the ranks of a sample lie on their cluster when nothing else runs there.
cluster::GroupLayout sample_layout(const CollectiveSample& sample, const cluster::Cluster& cluster);

/// Seconds that profiles predict for samples: the built-in one of the machine, else of its cluster,
/// else of its device. Made once for many.
class SamplePredictor {
 public:
  /// Takes the constants of a machine from this profile, which must outlive this.
  void use(const SampledMachine& machine, const Document& profile);
  double seconds(const CollectiveSample& sample);
  /// The profile of the constants of the sample's machine; nullopt: documented defaults.
  std::optional<std::string> fit(const CollectiveSample& sample);
  /// How the sample lies outside of what they were fitted on; empty when inside.
  std::string outside_range(const CollectiveSample& sample);

 private:
  const cost::CollectiveConstants& constants(const CollectiveSample& sample);

  SampledClusters clusters_;
  std::map<const SampledMachine*, const Document*> profiles_;
  std::map<std::pair<const SampledMachine*, std::string>, cost::CollectiveConstants> constants_;
};

}  // namespace stepwright::fit
