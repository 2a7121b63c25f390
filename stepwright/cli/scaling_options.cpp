#include "stepwright/cli/scaling_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "stepwright/cli/one_of.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/cost/laws/collective_constants.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

constexpr Named<collective::CollectiveOperation> kScaledCollectives[] = {
    {collective::CollectiveOperation::kAllReduce, "all_reduce"},
    {collective::CollectiveOperation::kAllGather, "all_gather"},
    {collective::CollectiveOperation::kReduceScatter, "reduce_scatter"}};
constexpr std::int64_t kLargestDefault = 2048;
constexpr double kDefaultPayload = 1024.0 * 1024 * 1024;
constexpr double kLeastPayload = 1;
constexpr double kMostPayload = 1e15;
constexpr const char* kOwnOptions[] = {"--nodes",     "--bytes",         "--operations",
                                       "--schedules", "--message-start", "--simulate",
                                       "--every-rank"};

struct SizeUnit {
  const char* name;
  double bytes;
};
constexpr SizeUnit kSizeUnits[] = {{"KiB", 1024.0},
                                   {"MiB", 1024.0 * 1024},
                                   {"GiB", 1024.0 * 1024 * 1024},
                                   {"kB", 1e3},
                                   {"MB", 1e6},
                                   {"GB", 1e9},
                                   {"B", 1}};

template <class EnumNamedByWord, std::size_t kCount>
std::vector<std::string> names_in(const Named<EnumNamedByWord> (&table)[kCount]) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

/// Returns the enumerators whose names were given, in the order of the table.
template <class EnumNamedByWord, std::size_t kCount>
std::vector<EnumNamedByWord> named_in(const Named<EnumNamedByWord> (&table)[kCount],
                                      const std::vector<std::string>& names) {
  std::vector<EnumNamedByWord> values;
  for (const auto& [value, name] : table) {
    if (std::ranges::find(names, name) != names.end()) values.push_back(value);
  }
  return values;
}

std::vector<std::int64_t> doubled_nodes() {
  std::vector<std::int64_t> nodes;
  for (std::int64_t n = 1; n <= kLargestDefault; n *= 2) nodes.push_back(n);
  return nodes;
}

}  // namespace

double read_byte_count(const std::string& word) {
  std::string number = word;
  double unit = 1;
  for (const SizeUnit& known : kSizeUnits) {
    if (!word.ends_with(known.name)) continue;
    unit = known.bytes;
    number = word.substr(0, word.size() - std::string_view(known.name).size());
    break;
  }
  const auto value = read_double(number);
  if (!value || *value * unit < kLeastPayload || *value * unit > kMostPayload) {
    fail_input(fmt::format("--bytes: '{}' is not a size from 1 to 1e15 bytes, as 1e9, 64MB or 1GiB",
                           word));
  }
  return *value * unit;
}

void CollectiveStudyOptions::add_options_to_command(CLI::App& app) {
  const auto add_list = [&](const char* name, auto& values, const char* help, const char* type) {
    return app.add_option(name, values, help)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name(type)
        ->group("Of collectives");
  };
  add_list("--nodes", nodes_, "Numbers of nodes, separated by commas; default 1,2,4,...,2048", "N")
      ->check(runtime::whole_number_validator(1, cluster::kMaxClusterDevices));
  add_list("--bytes", payloads_, "Sizes of full buffers, as 1e9, 64MB, 64MiB; default 1GiB",
           "SIZE");
  add_list("--operations", operations_,
           "Some of all_reduce, all_gather, reduce_scatter; default all", "NAME")
      ->transform(one_of_words_validator(names_in(kScaledCollectives)));
  add_list("--schedules", schedules_,
           "Some of the algorithms of `stepwright list collectives`; default all", "NAME")
      ->transform(one_of_words_validator(names_in(collective::kGeneratedCollectiveAlgorithmNames)));
  app.add_option("--message-start", message_s_,
                 "Latency of a message in seconds; default 1e-6, an assumption")
      ->check(runtime::number_range_validator({.low = 0, .high = 1}))
      ->type_name("SECONDS")
      ->group("Of collectives");
  CLI::Option* simulates = app.add_option("--simulate", play_ranks_,
                                          "Simulate groups of up to N GPUs, message by message")
                               ->check(runtime::whole_number_validator(0, study::kMostScaledRanks))
                               ->type_name("N")
                               ->group("Of collectives");
  app.add_flag("--every-rank", every_rank_,
               "Simulate each rank, instead of one node if all nodes are alike: the\nsame result "
               "with more time and memory")
      ->needs(simulates)
      ->group("Of collectives");
}

std::span<const char* const> CollectiveStudyOptions::collectives_study_option_names() {
  return kOwnOptions;
}

study::CollectiveScalingSettings CollectiveStudyOptions::scaling_settings_from_options(
    const std::string& cluster) const {
  study::CollectiveScalingSettings setting{
      .message_s = message_s_, .play_ranks = play_ranks_, .every_rank = every_rank_};
  std::vector<std::int64_t> nodes = nodes_.empty() ? doubled_nodes() : nodes_;
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const std::int64_t n : nodes) setting.clusters.push_back(cluster::load_cluster(cluster, n));
  for (const std::string& word : payloads_) setting.payloads_bytes.push_back(read_byte_count(word));
  if (payloads_.empty()) setting.payloads_bytes = {kDefaultPayload};
  setting.collectives = named_in(kScaledCollectives,
                                 operations_.empty() ? names_in(kScaledCollectives) : operations_);
  setting.methods = named_in(collective::kGeneratedCollectiveAlgorithmNames, schedules_);
  return setting;
}

}  // namespace stepwright::cli
