#include "stepwright/fit/samples/collective_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/divide_up.h"
#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/scalar.h"
#include "stepwright/cost/profiles/collective_profiles.h"

namespace stepwright::fit {
namespace {

/// Names of operations in tables.
constexpr Named<collective::CollectiveOperation> kTableWords[] = {
    {collective::CollectiveOperation::kAllReduce, "all_reduce"},
    {collective::CollectiveOperation::kAllGather, "all_gather"},
    {collective::CollectiveOperation::kReduceScatter, "reduce_scatter"},
    {collective::CollectiveOperation::kAllToAll, "all_to_all"},
    {collective::CollectiveOperation::kAllToAll, "alltoall"},
    {collective::CollectiveOperation::kPointToPoint, "send_recv"},
    {collective::CollectiveOperation::kPointToPoint, "sendrecv"},
};

/// All columns that are read from tables.
constexpr std::string_view kCollectiveColumns[] = {
    "op",      "elements_fp16",   "gpus_per_node", "time_us",    "collective",
    "gpu",     "inter_node",      "nodes",         "gpus",       "library",
    "tool",    "datatype",        "size_bytes",    "source_url", "id",
    "cluster", "busbw_gbps_bytes"};

/// The cells of one row by column title; absent columns read as empty.
class Cells {
 public:
  Cells(const CsvTable& table, const CsvRow& row) : table_(table), row_(row) {}

  [[nodiscard]] std::string_view text(std::string_view title) const {
    const auto column = table_.column(title);
    return column ? std::string_view(row_.cells[*column]) : std::string_view();
  }
  [[nodiscard]] double number(std::string_view title) const {
    return read_double(text(title)).value_or(0);
  }
  [[nodiscard]] std::int64_t count(std::string_view title) const {
    const IntegerParseResult read = read_integer(text(title));
    const bool good = read.status == IntegerParseResult::IntegerParseStatus::kGood;
    return good && read.value >= 1 && read.value <= cluster::kMaxClusterDevices ? read.value : 0;
  }

 private:
  const CsvTable& table_;
  const CsvRow& row_;
};

/// Returns the library whose collectives a row of a table of clusters timed.
std::string library_of(const Cells& cells) {
  if (cells.text("library").starts_with("TRT-LLM")) return std::string(kInferenceKernelLibraryName);
  if (cells.text("tool").starts_with("Aceso")) return std::string(kTensorListLibraryName);
  return std::string(cost::kDefaultCollectiveLibrary);
}

/// A sample that was read, or the reason (`refusal`) why the row was refused.
struct Reading {
  CollectiveSample sample;
  std::string refusal;
};

bool read_operation(std::string_view word, Reading& out) {
  const auto found =
      std::ranges::find(kTableWords, word, &Named<collective::CollectiveOperation>::name);
  if (found == std::end(kTableWords)) {
    out.refusal = fmt::format("'{}' is not an operation of the model", word);
    return false;
  }
  out.sample.operation = found->value;
  return true;
}

/// Reads a row of `op, nodes, gpus_per_node, elements_fp16, time_us`: elements are of two bytes,
/// and of one rank's input.
Reading read_one_machine(const Cells& cells, const SampledMachine& machine) {
  Reading out;
  CollectiveSample& sample = out.sample;
  if (!read_operation(cells.text("op"), out)) return out;
  sample.machine = &machine;
  sample.library = cost::kDefaultCollectiveLibrary;
  sample.nodes = cells.count("nodes");
  sample.ranks_per_node = cells.count("gpus_per_node");
  sample.payload_bytes = 2 * cells.number("elements_fp16");
  if (sample.operation == collective::CollectiveOperation::kAllGather) {
    sample.payload_bytes *= static_cast<double>(sample.ranks());
  }
  sample.seconds = 1e-6 * cells.number("time_us");
  return out;
}

/// Reads a row of a table of many clusters. Sizes are as nccl-tests counts them, except that list
/// calls of torch.distributed state the buffer of one rank; where no time is stated, seconds follow
/// from the bandwidth.
Reading read_clusters(const Cells& cells, const SampledMachine* named) {
  Reading out;
  CollectiveSample& sample = out.sample;
  if (!read_operation(cells.text("collective"), out)) return out;
  sample.nodes = cells.count("nodes");
  const std::int64_t ranks = cells.count("gpus");
  sample.ranks_per_node = sample.nodes > 0 ? ranks / sample.nodes : 0;
  sample.machine = named != nullptr
                       ? named
                       : sampled_machine_of_columns(cells.text("gpu"), cells.text("inter_node"),
                                                    sample.nodes > 1);
  if (sample.machine == nullptr) {
    out.refusal = fmt::format("no machine is known for the GPU '{}'", cells.text("gpu"));
    return out;
  }
  sample.library = library_of(cells);
  sample.payload_bytes = cells.number("size_bytes");
  if (sample.library == kTensorListLibraryName &&
      sample.operation == collective::CollectiveOperation::kAllGather) {
    sample.payload_bytes *= static_cast<double>(ranks);
  }
  sample.switch_adds = cells.text("datatype") != "int8";
  sample.seconds = 1e-6 * cells.number("time_us");
  if (cells.text("time_us").empty() && cells.number("busbw_gbps_bytes") > 0) {
    sample.seconds =
        collective::bytes_sent_by_each_rank(sample.operation, sample.payload_bytes, ranks) /
        (1e9 * cells.number("busbw_gbps_bytes"));
  }
  return out;
}

/// Sets the routes of a sample, and returns what is wrong with the numbers of a row; empty when
/// nothing is.
std::string fault(CollectiveSample& sample, SampledClusterCache& clusters) {
  if (!(sample.seconds > 0)) return "the time is missing or not a positive number";
  if (!(sample.payload_bytes > 0)) return "the size is missing or not a positive number";
  if (sample.nodes < 1 || sample.ranks_per_node < 1 || sample.ranks() < 2) {
    return "the layout is not a group of two or more";
  }
  const cluster::Cluster& cluster = clusters.of(sample);
  if (!sample.machine->trays && sample.ranks_per_node > cluster.devices_per_node) {
    return fmt::format("{} ranks a node, {} has {}", sample.ranks_per_node, cluster.name,
                       cluster.devices_per_node);
  }
  sample.routes = cost::ClusterLineRates(cluster).message_times_by_route(
      {sample.operation, sample.payload_bytes, rank_placement_of_sample(sample, cluster),
       collective::CollectiveAlgorithm::kLibrary});
  sample.routes.switches.exists = sample.routes.switches.exists && sample.switch_adds;
  const cost::MessageRouteTimes& routes = sample.routes;
  const double least = 1.0 / 1.02 *
                       std::min(std::max(routes.ring.inside_s, routes.ring.network_s),
                                routes.tree.exists || routes.switches.exists
                                    ? std::max(routes.switches.inside_s, routes.tree.network_s)
                                    : INFINITY);
  if (sample.seconds < least) {
    return fmt::format("faster than the line rate by {:.2f}", least / sample.seconds);
  }
  const cost::MachineCollectiveConstants constants =
      cost::collective_constants_without_fit(cluster);
  const double ratio =
      sample.seconds / cost::message_seconds_by_algorithm(routes, constants.of(sample.operation));
  if (ratio > 300) return fmt::format("{:.0f} times the default model: another unit?", ratio);
  return {};
}

/// A row may be at most this many times as slow as a row of the same run with more bytes.
constexpr double kSlower = 2.5;

/// Drops rows that are far slower than larger ones of the same run, such as first calls and
/// interruptions.
void drop_interrupted(CollectiveSampleTable& all, const std::vector<std::string>& runs) {
  std::map<std::string, std::vector<std::size_t>> by_run;
  for (std::size_t i = 0; i < all.samples.size(); ++i) by_run[runs[i]].push_back(i);
  std::set<std::size_t> slow;
  for (auto& [run, rows] : by_run) {
    std::ranges::sort(rows, [&](std::size_t a, std::size_t b) {
      return all.samples[a].payload_bytes > all.samples[b].payload_bytes;
    });
    std::vector<std::size_t> found;
    double least = INFINITY;
    for (const std::size_t i : rows) {
      if (all.samples[i].seconds > kSlower * least) found.push_back(i);
      least = std::min(least, all.samples[i].seconds);
    }
    // If there are more of them, they are not interruptions but contradict each other, which the
    // fit detects.
    if (10 * found.size() <= rows.size()) slow.insert(found.begin(), found.end());
  }
  std::vector<CollectiveSample> kept;
  for (std::size_t i = 0; i < all.samples.size(); ++i) {
    if (!slow.contains(i)) {
      kept.push_back(std::move(all.samples[i]));
    } else {
      all.dropped.push_back(
          {all.samples[i].line, fmt::format("more than {} times as slow as a larger message of the "
                                            "same run",
                                            kSlower)});
    }
  }
  all.samples = std::move(kept);
}

/// Returns the key of a row's run: rows of one run share source, operation, layout and type.
std::string run_of(const CollectiveSample& sample, const Cells& cells) {
  return fmt::format("{} {} {} {} {} {}", sample.machine->name, sample.library,
                     static_cast<int>(sample.operation), sample.nodes_by_ranks_text(),
                     cells.text("source_url"), cells.text("datatype"));
}

std::string key_of(const CollectiveSample& sample, const Cells& cells) {
  return fmt::format("{} {} {}", run_of(sample, cells), sample.payload_bytes, sample.seconds);
}

}  // namespace

std::string CollectiveSample::nodes_by_ranks_text() const {
  return fmt::format("{}x{}", nodes, ranks_per_node);
}

std::string DroppedSampleRow::skip_reason_without_numbers() const {
  std::string result, word;
  for (const char c : reason + ' ') {
    if (c != ' ') {
      word += c;
      continue;
    }
    if (!result.empty()) result += ' ';
    result += is_number(word) ? "#" : word;
    word.clear();
  }
  return result;
}

bool table_has_collective_timings(const CsvTable& table) {
  return (table.column("op") && table.column("elements_fp16")) ||
         (table.column("collective") && table.column("size_bytes"));
}

CollectiveSampleTable read_collective_samples(const CsvTable& table, const std::string& machine) {
  const SampledMachine* named = find_sampled_machine(machine);
  if (!machine.empty() && named == nullptr) {
    std::vector<std::string_view> names;
    for (const SampledMachine& known : sampled_machines()) names.push_back(known.name);
    fail_input(fmt::format("{}: no sampled machine '{}'; there are {}", table.name, machine,
                           join_with_commas(names)));
  }
  return read_collective_samples(table, named);
}

CollectiveSampleTable read_collective_samples(const CsvTable& table, const SampledMachine* named) {
  table.refuse_misspelt_column_titles(kCollectiveColumns);
  if (!table_has_collective_timings(table)) {
    fail_input(
        fmt::format("{}: no samples of collectives: the columns are neither op, nodes, "
                    "gpus_per_node, elements_fp16, time_us nor gpu, nodes, gpus, "
                    "collective, size_bytes, time_us",
                    table.name));
  }
  const bool many = table.column("collective").has_value();
  if (named == nullptr && !(many && table.column("gpu"))) {
    fail_input(fmt::format("{}: states no machine; give --profile NAME", table.name));
  }
  table.require_table_rows();
  CollectiveSampleTable result{.file = table.name, .samples = {}, .dropped = {}};
  SampledClusterCache clusters;
  std::set<std::string> seen;
  std::vector<std::string> runs;
  for (const CsvRow& row : table.rows) {
    const Cells cells(table, row);
    Reading reading = many ? read_clusters(cells, named) : read_one_machine(cells, *named);
    if (reading.refusal.empty()) reading.refusal = fault(reading.sample, clusters);
    if (reading.refusal.empty() && !seen.insert(key_of(reading.sample, cells)).second) {
      reading.refusal = "an earlier row is the same";
    }
    if (!reading.refusal.empty()) {
      result.dropped.push_back({row.line, std::move(reading.refusal)});
      continue;
    }
    reading.sample.line = row.line;
    reading.sample.id = cells.text("id");
    if (reading.sample.id.empty()) {
      reading.sample.id = fmt::format("{}:{}", reading.sample.machine->name, row.line);
    }
    runs.push_back(run_of(reading.sample, cells));
    result.samples.push_back(std::move(reading.sample));
  }
  drop_interrupted(result, runs);
  return result;
}

const cluster::Cluster& SampledClusterCache::of(const CollectiveSample& sample) {
  std::int64_t nodes = std::max<std::int64_t>(1, sample.nodes);
  if (sample.machine->trays) {
    const cluster::Cluster one = cluster::load_cluster(sample.machine->cluster, 1);
    nodes = std::max<std::int64_t>(1, ceil_divide(sample.ranks(), one.devices_per_node));
  }
  const auto key = std::pair(sample.machine, nodes);
  auto found = clusters_.find(key);
  if (found == clusters_.end()) {
    found = clusters_.emplace(key, cluster::load_cluster(sample.machine->cluster, nodes)).first;
  }
  return found->second;
}

cluster::GroupLayout rank_placement_of_sample(const CollectiveSample& sample,
                                              const cluster::Cluster& cluster) {
  const std::int64_t in_node =
      sample.machine->trays ? ceil_divide(sample.ranks(), cluster.nodes) : sample.ranks_per_node;
  cluster::GroupLayout layout{.size = sample.ranks(),
                              .levels = static_cast<int>(cluster.levels.size())};
  std::int64_t lower = 1;
  for (int i = 0; i < layout.levels; ++i) {
    const std::int64_t unit = cluster.levels[i].size;
    layout.members[i] = unit <= cluster.devices_per_node ? std::min(in_node, unit) : layout.size;
    if (lower < layout.size) {
      layout.sharers[i] = 1;
      layout.span = i;
    }
    lower = layout.members[i];
  }
  return layout;
}

void SamplePredictor::set_machine_profile(const SampledMachine& machine,
                                          const YamlJsonDocument& profile) {
  profiles_[&machine] = &profile;
}

const cost::MachineCollectiveConstants& SamplePredictor::constants(const CollectiveSample& sample) {
  const auto key = std::pair(sample.machine, sample.library);
  const auto found = constants_.find(key);
  if (found != constants_.end()) return found->second;
  const cluster::Cluster& cluster = clusters_.of(sample);
  cost::MachineCollectiveConstants constants =
      cost::collective_constants_of_profile(cluster, sample.machine->name, sample.library);
  const cost::MachineCollectiveConstants ordinary =
      cost::collective_constants_of_cluster(cluster, sample.library);
  // A machine without samples is priced as a job on its cluster would be.
  if (!constants.fit) constants = ordinary;
  if (const auto profile = profiles_.find(sample.machine); profile != profiles_.end()) {
    constants = cost::collective_constants_without_fit(cluster);
    const DocumentNode list = profile->second->root().get("collectives");
    if (cost::read_collective_constants(list, sample.library, constants))
      constants.fit = sample.machine->name;
  }
  return constants_.emplace(key, std::move(constants)).first->second;
}

double SamplePredictor::seconds(const CollectiveSample& sample) {
  return stepwright::cost::message_seconds_by_algorithm(sample.routes,
                                                        constants(sample).of(sample.operation));
}

std::string SamplePredictor::outside_fitted_range_text(const CollectiveSample& sample) {
  const auto& ranges = constants(sample).ranges[static_cast<std::size_t>(sample.operation)];
  if (!ranges.empty())
    return stepwright::cost::outside_fitted_range_text(ranges,
                                                       sample.sampled_bytes_ranks_and_nodes());
  return fmt::format("no {} was fitted", name_of(cost::kCollectiveNames, sample.operation));
}

std::optional<std::string> SamplePredictor::fit(const CollectiveSample& sample) {
  return constants(sample).fit;
}

}  // namespace stepwright::fit
