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

/// Names of libraries in tables: the kernels of an inference library (`kInferenceKernelLibrary`),
/// and the list calls of torch.distributed with their copies (`kListLibrary`).
inline constexpr std::string_view kInferenceKernelLibrary = "trtllm";
inline constexpr std::string_view kListLibrary = "torch-lists";

/// A message that was measured.
struct CollectiveSample {
  const SampledMachine* machine = nullptr;
  std::string library;  ///< Library of the collective: `kDefaultLibrary` or one of the above.
  collective::Collective operation{};
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  double payload_bytes = 0;  ///< Bytes of the full buffer (docs/formats.md, "Collective samples").
  double seconds = 0;
  bool switch_adds = true;  ///< True if a switch can add numbers of this type (16 bits or more).
  std::string id;           ///< Id of the row in its source, else its file and line.
  std::size_t line = 0;
  /// Routes of the message, assuming that nothing else runs on the machine.
  cost::MessageRoutes routes;

  /// Returns the layout as text, nodes x ranks on each: "2x4".
  [[nodiscard]] std::string layout() const;
  [[nodiscard]] std::int64_t ranks() const { return nodes * ranks_per_node; }
  /// Returns the quantities for which a fit states its range.
  [[nodiscard]] std::array<cost::NamedSize, 3> quantities() const {
    return {{{"bytes", payload_bytes},
             {"ranks", static_cast<double>(ranks())},
             {"nodes", static_cast<double>(nodes)}}};
  }
};

/// A row that no fit may use.
struct DroppedRow {
  std::size_t line = 0;
  std::string reason;

  /// Returns the reason with `#` in place of numbers, so that rows of one kind are reported
  /// together.
  [[nodiscard]] std::string kind() const;
};

/// The content of a table of collective samples.
struct CollectiveSamples {
  std::string file;
  std::vector<CollectiveSample> samples;
  std::vector<DroppedRow> dropped;
};

/// True if a table has one of the two schemas of collective samples: `op, nodes, gpus_per_node,
/// elements_fp16, time_us` (one machine, which the table does not name), or `gpu, nodes, gpus,
/// collective, size_bytes, time_us, ...` (many clusters).
bool holds_collectives(const CsvTable& table);

/// Reads a table of either schema. `machine`: name of the machine (`SampledMachine`) of all rows,
/// whatever their columns say; empty: the machine that the columns name. Rows that are no
/// measurement or not credible are dropped with the reason: not a number, not positive, unknown
/// operation or machine, faster than the line rate, the same row twice, or an order of magnitude
/// that only another unit explains. Fails with `kInput` when a column is missing, or the machine is
/// missing or unknown.
CollectiveSamples read_collective_samples(const CsvTable& table, const std::string& machine);
/// Reads samples of a known machine; null: the machine that the columns name.
CollectiveSamples read_collective_samples(const CsvTable& table, const SampledMachine* machine);

/// Makes the clusters that samples ran on, each as large as its samples need and only once.
class SampledClusters {
 public:
  const cluster::Cluster& of(const CollectiveSample& sample);

 private:
  std::map<std::pair<const SampledMachine*, std::int64_t>, cluster::Cluster> clusters_;
};

/// Returns how the ranks of a sample are placed on their cluster when nothing else runs on it.
cluster::GroupLayout sample_layout(const CollectiveSample& sample, const cluster::Cluster& cluster);

/// Predicts the seconds of samples from profiles: the built-in profile of the machine, else of its
/// cluster, else of its device. Make one for many samples, since it remembers constants.
class SamplePredictor {
 public:
  /// From now on uses the constants of this profile for a machine; the profile must outlive this.
  void use(const SampledMachine& machine, const Document& profile);
  double seconds(const CollectiveSample& sample);
  /// Returns the profile from which the constants for the sample's machine come; nullopt:
  /// documented defaults.
  std::optional<std::string> fit(const CollectiveSample& sample);
  /// Returns in words how the sample is outside of the range that the constants were fitted on;
  /// empty when it is inside.
  std::string outside_range(const CollectiveSample& sample);

 private:
  const cost::CollectiveConstants& constants(const CollectiveSample& sample);

  SampledClusters clusters_;
  std::map<const SampledMachine*, const Document*> profiles_;
  std::map<std::pair<const SampledMachine*, std::string>, cost::CollectiveConstants> constants_;
};

}  // namespace stepwright::fit
