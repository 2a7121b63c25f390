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

/// Names of libraries in tables of timed collectives: the kernels of an inference library
/// (`kInferenceKernelLibraryName`), and the calls of torch.distributed that take lists of tensors,
/// with their copies (`kTensorListLibraryName`).
inline constexpr std::string_view kInferenceKernelLibraryName = "trtllm";
inline constexpr std::string_view kTensorListLibraryName = "torch-lists";

/// One timed collective of a table: machine, library, operation, layout, payload and seconds.
struct CollectiveSample {
  const SampledMachine* machine = nullptr;
  /// Communication library: `kDefaultCollectiveLibrary`, `kInferenceKernelLibraryName` or
  /// `kTensorListLibraryName`.
  std::string library;
  collective::CollectiveOperation operation{};
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  /// Bytes of the full buffer of the collective (docs/formats.md, "Collective samples").
  double payload_bytes = 0;
  double seconds = 0;
  /// True if a network switch can add numbers of the message's type (16 bits or more).
  bool switch_adds = true;
  /// Id of the sample's row in its source; without one, its file and line.
  std::string id;
  std::size_t line = 0;
  /// Routes of the message (links and protocols), assuming that nothing else runs on the machine.
  cost::MessageRouteTimes routes;

  /// Returns the layout as text, nodes x ranks per node: "2x4".
  [[nodiscard]] std::string nodes_by_ranks_text() const;
  [[nodiscard]] std::int64_t ranks() const { return nodes * ranks_per_node; }
  /// Returns the quantities (bytes, ranks, nodes) for which a fit states the range of its samples.
  [[nodiscard]] std::array<cost::NamedSize, 3> sampled_bytes_ranks_and_nodes() const {
    return {{{"bytes", payload_bytes},
             {"ranks", static_cast<double>(ranks())},
             {"nodes", static_cast<double>(nodes)}}};
  }
};

/// A row of a table that fits must not use, and why.
struct DroppedSampleRow {
  std::size_t line = 0;
  std::string reason;

  /// Returns the reason with `#` in place of numbers, so that rows with equal reasons are reported
  /// together.
  [[nodiscard]] std::string skip_reason_without_numbers() const;
};

/// The content of a table of timed collectives: usable samples, and dropped rows with reasons.
struct CollectiveSampleTable {
  std::string file;
  std::vector<CollectiveSample> samples;
  std::vector<DroppedSampleRow> dropped;
};

/// True if a table holds timed collectives in one of two schemas: `op, nodes, gpus_per_node,
/// elements_fp16, time_us` (one machine, which the table does not name), or `gpu, nodes, gpus,
/// collective, size_bytes, time_us, ...` (many clusters).
bool table_has_collective_timings(const CsvTable& table);

/// Reads a table of timed collectives of either schema. `machine`: name of the machine
/// (`SampledMachine`) of all rows; empty: the machine that the columns name. Rows that are no
/// credible measurement are dropped with the reason: not a number, not positive, unknown operation
/// or machine, faster than the line rate, repeated, or an order of magnitude that only another unit
/// explains. Fails with `kInput` if a column is missing, or the machine is missing or unknown.
CollectiveSampleTable read_collective_samples(const CsvTable& table, const std::string& machine);
/// Reads a table of timed collectives of a known machine; null: the machine that the columns name.
CollectiveSampleTable read_collective_samples(const CsvTable& table, const SampledMachine* machine);

/// Cache of the clusters on which collectives were timed, each made once and as large as its
/// samples need.
class SampledClusterCache {
 public:
  const cluster::Cluster& of(const CollectiveSample& sample);

 private:
  std::map<std::pair<const SampledMachine*, std::int64_t>, cluster::Cluster> clusters_;
};

/// Returns how the ranks of a timed collective are placed on their cluster if nothing else runs on
/// it.
cluster::GroupLayout rank_placement_of_sample(const CollectiveSample& sample,
                                              const cluster::Cluster& cluster);

/// Predicts the seconds of timed collectives from profiles: the built-in profile of the machine,
/// else of its cluster, else of its device. Caches constants, so make one for many samples.
class SamplePredictor {
 public:
  /// Uses the constants of this profile for a machine from now on; the profile must outlive this
  /// object.
  void set_machine_profile(const SampledMachine& machine, const YamlJsonDocument& profile);
  double seconds(const CollectiveSample& sample);
  /// Returns the name of the profile whose constants predict this sample; nullopt: documented
  /// default constants.
  std::optional<std::string> fit(const CollectiveSample& sample);
  /// Describes how the sample is outside of the range to which the constants were fitted; empty if
  /// it is inside.
  std::string outside_fitted_range_text(const CollectiveSample& sample);

 private:
  const cost::MachineCollectiveConstants& constants(const CollectiveSample& sample);

  SampledClusterCache clusters_;
  std::map<const SampledMachine*, const YamlJsonDocument*> profiles_;
  std::map<std::pair<const SampledMachine*, std::string>, cost::MachineCollectiveConstants>
      constants_;
};

}  // namespace stepwright::fit
