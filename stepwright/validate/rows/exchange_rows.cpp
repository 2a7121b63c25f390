#include "stepwright/validate/rows/exchange_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cost/laws/expert_exchange.h"
#include "stepwright/fit/samples/sampled_machine.h"
#include "stepwright/validate/rows/run_row.h"
#include "stepwright/validate/rows/sample_table.h"

namespace stepwright::validate {
namespace {

constexpr std::string_view kDispatch = "moe_dispatch";
constexpr std::string_view kCombine = "moe_combine";

/// Returns the number after `key=` in a list separated by semicolons; nullopt: absent.
std::optional<double> number_of(std::string_view list, std::string_view key) {
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(';'));
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
    if (entry.starts_with(key) && entry.substr(key.size()).starts_with('=')) {
      return positive_number(entry.substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

/// Returns the mean number of ranks to which a row is sent when its experts are `chosen` different
/// ones of `experts`.
double met_ranks(double ranks, double experts, double chosen) {
  const double elsewhere = experts - experts / ranks;
  double missed = 1;
  for (double i = 0; i < chosen; ++i) missed *= std::max(0.0, elsewhere - i) / (experts - i);
  return ranks * (1 - missed);
}

}  // namespace

bool measures_expert_exchange(const CsvTable& table, const CsvRow& row) {
  const std::string_view collective = cell(table, row, "collective");
  return collective == kDispatch || collective == kCombine;
}

TableRowOutcome predict_expert_exchange(const CsvTable& table, const CsvRow& row) {
  TableRowOutcome outcome;
  const auto skip = [&outcome](std::string_view why) {
    outcome.skipped = SkippedRowReason{std::string(why), ""};
    return outcome;
  };
  const std::string_view extra = cell(table, row, "extra");
  constexpr std::array<std::string_view, 5> kKeys = {"tokens_per_rank", "hidden", "topk", "experts",
                                                     "sms"};
  std::array<double, kKeys.size()> sizes{};
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const std::optional<double> size = number_of(extra, kKeys[i]);
    if (!size) return skip(fmt::format("the exchange says no {} in `extra`", kKeys[i]));
    sizes[i] = *size;
  }
  const auto [tokens, width, chosen, experts, multiprocessors] = sizes;
  const std::optional<double> measured_us = positive_number(cell(table, row, "time_us"));
  const std::optional<double> ranks = positive_number(cell(table, row, "gpus"));
  if (!measured_us || !ranks || chosen > experts) return skip("no measurement");
  if (cell(table, row, "nodes") != "1") return skip("an exchange over several nodes");
  const fit::SampledMachine* machine =
      fit::sampled_machine_of_columns(cell(table, row, "gpu"), "", false);
  if (machine == nullptr) return skip("no machine");
  const bool combines = cell(table, row, "collective") == kCombine;
  const cluster::Cluster cluster = cluster::load_cluster(std::string(machine->cluster), 1);
  const double predicted =
      cost::deepep_exchange_s({.combines = combines,
                               .tokens = tokens,
                               .width = width,
                               .bytes = combines ? 2.0 : 1.0,
                               .ranks = static_cast<std::int64_t>(*ranks),
                               .met_ranks = met_ranks(*ranks, experts, chosen),
                               .multiprocessors = static_cast<std::int64_t>(multiprocessors)},
                              cluster.levels.front().uplink_bytes_per_s);
  const TableRowName name = row_name(table, row);
  const double measured = 1e-6 * *measured_us;
  outcome.results = {
      {.id = name.id,
       .predicted = predicted,
       .measured = measured,
       .error = predicted / measured - 1,
       .terms = {},
       .notes = {},
       .groups = {name.source, std::string(machine->name),
                  std::string(cell(table, row, "collective")), fmt::format("1x{}", *ranks),
                  message_size_decade(tokens * width * (combines ? 2 : 1))}}};
  return outcome;
}

}  // namespace stepwright::validate
