#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "stepwright/cli/fit_samples.h"
#include "stepwright/cli/fit_text.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/unused_kernels.h"
#include "stepwright/core/error.h"
#include "stepwright/fit/operators/device_profile.h"
#include "stepwright/fit/operators/fit_target.h"
#include "stepwright/fit/readable.h"
#include "stepwright/fit/samples/kineto_samples.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

Json dropped_json(const fit::DeviceFit& fit) {
  Json json = Json::array();
  for (const fit::UnusableOperatorRow& row : fit.dropped) {
    json.push_back(
        {{"file", row.file}, {"line", row.line}, {"reason", row.reason}, {"detail", row.detail}});
  }
  return json;
}

Json answer_json(const Json& profile, const fit::DeviceFit& fit, const UnusedByFile& unused) {
  Json answer = profile;
  for (auto& entry : answer["operators"]) entry.erase("trees");
  answer["dropped"] = dropped_json(fit);
  if (!unused.empty()) answer["unused"] = unused_kernels_json(unused);
  return answer;
}

/// Returns the operators of a file; for a trace, also records which kernels were not used.
fit::OperatorSampleTable operators_of(const SampleFile& samples, UnusedByFile& unused) {
  if (const auto* table = std::get_if<CsvTable>(&samples))
    return fit::read_operator_samples(*table);
  const auto& trace = std::get<logs::KinetoTrace>(samples);
  fit::TraceOperatorSamples operators = fit::read_trace_operators(trace);
  unused[trace.file] = std::move(operators.unused);
  return std::move(operators.table);
}

/// Fails with `kInput`, naming the files and the dropped rows, if no table has a sample.
void check_samples(const std::vector<fit::OperatorSampleTable>& tables,
                   const ProfileFitRequest& request, const UnusedByFile& unused) {
  std::vector<fit::UnusableOperatorRow> dropped;
  for (const fit::OperatorSampleTable& table : tables) {
    if (!table.samples.empty()) return;
    dropped.insert(dropped.end(), table.bad.begin(), table.bad.end());
  }
  fail_input(fmt::format("{}: no sample is left:\n{}{}", fmt::join(request.files, ", "),
                         dropped_measurement_rows_text(dropped), unused_kernels_text(unused)));
}

}  // namespace

void fit_operator_sample_tables(const ProfileFitRequest& request, const Console& console) {
  std::vector<fit::OperatorSampleTable> tables;
  UnusedByFile unused;
  for (const SampleFile& samples : request.samples) tables.push_back(operators_of(samples, unused));
  check_samples(tables, request, unused);
  const std::string device =
      request.device.empty() ? fit::device_of_samples(tables) : request.device;
  const std::string stem = std::filesystem::path(request.output).stem().string();
  const fit::OperatorProfileHeader head{.name = request.name.empty() ? stem : request.name,
                                        .target = fit::find_operator_fit_device(device),
                                        .sources = profile_fit_input_file_names(request)};
  const fit::DeviceFit fit = fit::fit_device_operators(tables, head.target);
  const Json profile = fit::operator_profile_json(head, fit);
  if (profile["operators"].empty()) {
    fail_input(fmt::format("{}: no fit of {} samples is better than the defaults:\n{}{}{}",
                           fmt::join(request.files, ", "), head.target.device.name,
                           operator_fit_table(fit), dropped_measurement_rows_text(fit.dropped),
                           unused_kernels_text(unused)));
  }
  const std::string text = fit::operator_profile_text(profile);
  fit::check_operator_profile_readable({text, request.output, request.files});
  if (request.json) {
    print_json(console.out, answer_json(profile, fit, unused));
  } else {
    console.out << fmt::format("Profile {} of {}\n\n", head.name, head.target.device.name)
                << operator_fit_table(fit) << '\n'
                << dropped_measurement_rows_text(fit.dropped) << unused_kernels_text(unused);
  }
  write_file(request.output, [&](std::ostream& out) { out << text; });
}

}  // namespace stepwright::cli
