#include <fmt/format.h>

#include <cmath>

#include "stepwright/core/error.h"
#include "stepwright/fit/samples/own_sample.h"
#include "stepwright/validate/rows/run_row.h"
#include "stepwright/validate/rows/sample_rows.h"
#include "stepwright/validate/rows/sample_table.h"

namespace stepwright::validate {
namespace {

std::string shape_of(const cost::GroupNodePlacement& group) {
  return fmt::format("{}x{} beside {}", group.nodes, group.members, group.groups - 1);
}

std::string decade_of(double bytes) {
  return fmt::format("from 1e{:.0f} B", std::floor(std::log10(bytes)));
}

std::string_view library_of(const fit::OwnCollectiveSample& sample) {
  return sample.method ? name_of(collective::kCollectiveAlgorithmNames, *sample.method)
                       : cost::kGlooLibraryName;
}

TableRowOutcome outcome_of(const fit::OwnCollectiveSample& sample, const TableRowName& name,
                           const cost::MeasuredMessageLaws& messages) {
  const std::optional<cost::OperatorTime> time = messages.measured_message_time(
      sample.method, sample.operation, sample.payload_bytes, sample.group);
  if (!time) return {.skipped = SkippedRowReason{"the profile has no such message"}};
  TableRowPrediction result{
      .id = name.id,
      .predicted = time->seconds,
      .measured = sample.seconds,
      .error = time->seconds / sample.seconds - 1,
      .groups = {std::string(library_of(sample)),
                 std::string(name_of(cost::kCollectiveNames, sample.operation)),
                 shape_of(sample.group), decade_of(sample.payload_bytes)}};
  return {.results = {std::move(result)}};
}

}  // namespace

std::vector<TableRowOutcome> predict_own_message_times(const CsvTable& table,
                                                       const std::string& profile) {
  if (profile.empty()) {
    fail_input(
        fmt::format("{}: samples of one's own need --profile MEASURED, what `stepwright fit` "
                    "made of others of the same cluster",
                    table.name));
  }
  const cost::MeasuredProfile measured = cost::load_measured_profile(profile);
  fit::OwnClusterSamples samples;
  fit::read_own_cluster_samples(table, samples);
  std::vector<TableRowOutcome> outcomes;
  for (const fit::OwnCollectiveSample& sample : samples.messages) {
    const CsvRow& row = table.rows[table_row_index_at_line(table, sample.line)];
    outcomes.push_back(outcome_of(sample, row_name(table, row), measured.messages));
  }
  return outcomes;
}

}  // namespace stepwright::validate
