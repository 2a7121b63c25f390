#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "stepwright/cli/collective_fit_text.h"
#include "stepwright/cli/fit_samples.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/unused_kernels.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/core/output_path.h"
#include "stepwright/fit/readable.h"
#include "stepwright/fit/samples/kineto_collectives.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

Json dropped_json(const fit::FittedMachineList& fitted) {
  Json json = Json::array();
  for (const auto& [file, rows] : fitted.dropped) {
    for (const fit::DroppedSampleRow& row : rows) {
      json.push_back({{"file", file}, {"line", row.line}, {"reason", row.reason}});
    }
  }
  return json;
}

/// Returns the machine that is named; if none is, the file's name, if it is that of a known
/// machine.
std::string machine_of_file(const ProfileFitRequest& request, const std::string& file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  return request.machine.empty() && fit::find_sampled_machine(stem) != nullptr ? stem
                                                                               : request.machine;
}

/// Returns the messages of a file; for a trace, also records which kernels were not used.
fit::CollectiveSampleTable messages_of(const SampleFile& samples, const std::string& machine,
                                       UnusedByFile& unused) {
  const auto* table = std::get_if<CsvTable>(&samples);
  if (table != nullptr) return fit::read_collective_samples(*table, machine);
  const auto& trace = std::get<logs::KinetoTrace>(samples);
  const fit::SampledMachine* known = fit::find_sampled_machine(machine);
  const std::int64_t devices =
      known == nullptr ? 1 : cluster::built_in_cluster(known->cluster, 1).value().devices_per_node;
  fit::TraceCollectiveSamples collectives = fit::read_trace_collectives(trace, devices);
  unused[trace.file] = std::move(collectives.unused);
  return fit::read_collective_samples(collectives.table, machine);
}

/// Returns the fitted profiles. Fails with `kInput` if no fit can be used, or one that no profile
/// can store.
Json useful_profiles(const fit::FittedMachineList& fitted, const std::string& unused,
                     const ProfileFitRequest& request) {
  Json profiles = Json::array();
  for (const fit::FittedMachineCollectives& machine : fitted.machines) {
    if (machine.uses_fit_of_any_library())
      profiles.push_back(
          fit::machine_profile_document(machine, profile_fit_input_file_names(request)));
  }
  if (profiles.empty()) {
    fail_input(fmt::format("{}: no fit is better than the defaults:\n{}{}{}",
                           fmt::join(request.files, ", "), collective_fit_table(fitted),
                           dropped_samples_text(fitted), unused));
  }
  for (const Json& profile : profiles) {
    fit::check_collectives({fit::machine_profile_text(profile), request.output, request.files});
  }
  return profiles;
}

void write_profiles(const Json& profiles, const std::string& output) {
  const bool folder = is_profile_folder(output);
  if (!folder && profiles.size() > 1) {
    fail_input(fmt::format("{}: the samples are of {} machines; name a folder that ends in /",
                           output, profiles.size()));
  }
  std::error_code error;
  if (folder) std::filesystem::create_directories(output, error);
  if (error) fail_to_write(output, error.message());
  for (const Json& profile : profiles) {
    const std::filesystem::path path =
        folder ? std::filesystem::path(output) / (profile["name"].get<std::string>() + ".json")
               : std::filesystem::path(output);
    write_file(path, [&](std::ostream& out) { out << fit::machine_profile_text(profile); });
  }
}

}  // namespace

void fit_collective_sample_tables(const ProfileFitRequest& request, const Console& console) {
  std::vector<fit::CollectiveSampleTable> tables;
  UnusedByFile unused;
  for (std::size_t i = 0; i < request.samples.size(); ++i) {
    tables.push_back(
        messages_of(request.samples[i], machine_of_file(request, request.files[i]), unused));
  }
  const fit::FittedMachineList fitted = fit::fit_collectives_of_machines(tables);
  const Json profiles = useful_profiles(fitted, unused_kernels_text(unused), request);
  if (request.json) {
    Json answer{{"profiles", profiles}, {"dropped", dropped_json(fitted)}};
    if (!unused.empty()) answer["unused"] = unused_kernels_json(unused);
    print_json(console.out, answer);
  } else {
    console.out << collective_fit_table(fitted) << '\n'
                << dropped_samples_text(fitted) << unused_kernels_text(unused);
  }
  write_profiles(profiles, request.output);
}

}  // namespace stepwright::cli
