#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "stepwright/cli/collective_fit_text.h"
#include "stepwright/cli/fit_samples.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/error.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

Json dropped_json(const FittedCollectives& fitted) {
  Json json = Json::array();
  for (const auto& [file, rows] : fitted.dropped) {
    for (const DroppedRow& row : rows) {
      json.push_back({{"file", file}, {"line", row.line}, {"reason", row.reason}});
    }
  }
  return json;
}

/// The machine that is named, or after which a file is.
std::string machine_of_file(const FitRequest& request, const std::string& file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  return request.machine.empty() && find_machine(stem) != nullptr ? stem : request.machine;
}

/// Fails with `kInput` when no fit is left.
Json useful_profiles(const FittedCollectives& fitted, const std::vector<std::string>& sources) {
  Json profiles = Json::array();
  for (const FittedMachine& machine : fitted.machines) {
    if (machine.useful()) profiles.push_back(machine_profile(machine, sources));
  }
  if (profiles.empty()) {
    fail_input("no fit is better than the defaults:\n" + collective_fit_table(fitted) +
               dropped_samples_text(fitted));
  }
  return profiles;
}

void write_profiles(const Json& profiles, const std::string& output) {
  const bool folder = output.ends_with('/') || std::filesystem::is_directory(output);
  if (!folder && profiles.size() > 1) {
    fail_input(fmt::format("{}: the samples are of {} machines; name a folder that ends in /",
                           output, profiles.size()));
  }
  if (folder) std::filesystem::create_directories(output);
  for (const Json& profile : profiles) {
    const std::filesystem::path path =
        folder ? std::filesystem::path(output) / (profile["name"].get<std::string>() + ".json")
               : std::filesystem::path(output);
    write_file(path, [&](std::ostream& out) { out << machine_profile_text(profile); });
  }
}

}  // namespace

void fit_collective_tables(const FitRequest& request, const Console& console) {
  std::vector<CollectiveSamples> tables;
  for (std::size_t i = 0; i < request.tables.size(); ++i) {
    tables.push_back(
        read_collective_samples(request.tables[i], machine_of_file(request, request.files[i])));
  }
  const FittedCollectives fitted = fit_collectives(tables);
  const Json profiles = useful_profiles(fitted, source_names(request));
  if (request.json) {
    print_json(console.out, {{"profiles", profiles}, {"dropped", dropped_json(fitted)}});
  } else {
    console.out << collective_fit_table(fitted) << '\n' << dropped_samples_text(fitted);
  }
  write_profiles(profiles, request.output);
}

}  // namespace stepwright
