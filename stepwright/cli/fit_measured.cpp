#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stepwright/cli/fit_samples.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/fit/readable.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Formats the constants of a law: "start_us 12.3, flops_per_s 4e+10".
std::string constants_text(const Json& law) {
  std::string text;
  for (const auto& [key, value] : law.items()) {
    if (!value.is_number() || key == "rows" || key == "held_out_error") continue;
    text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ", key, value.get<double>());
  }
  return text;
}

std::string line_of(const std::string& what, const Json& law) {
  return fmt::format(
      "{:<36}{:>5} rows  {:>6}  {}\n", what, law["rows"].get<std::size_t>(),
      law.contains("held_out_error") ? format_percent(law["held_out_error"].get<double>()) : "-",
      constants_text(law));
}

std::string measured_fit_text(const Json& profile) {
  std::string text = "law, rows, median error on rows left out, constants\n";
  for (const Json& law : profile.value("messages", Json::array())) {
    text += line_of(fmt::format("{} by {}", law["operation"].get<std::string>(),
                                law["library"].get<std::string>()),
                    law);
  }
  for (const Json& law : profile.value("handling", Json::array())) {
    text += line_of(fmt::format("handling {} {}", law["scheme"].get<std::string>(),
                                law["operation"].get<std::string>()),
                    law);
  }
  const Json computations = profile.value("computations", Json::array());
  for (const Json& law : computations) {
    text += line_of(fmt::format("{} {} {}", law["operator"].get<std::string>(),
                                law["phase"].get<std::string>(), law["dtype"].get<std::string>()),
                    law);
  }
  const Json overlap = profile.value("overlap", Json::object());
  for (const auto& [key, factor] : overlap.items()) {
    text += fmt::format("{}: computation takes {} times as long\n", key, factor.get<double>());
  }
  return text;
}

}  // namespace

void write_measured_profile(const fit::OwnClusterFit& fit, const ProfileFitRequest& request,
                            const std::string& heading, const Console& console) {
  const std::string stem = std::filesystem::path(request.output).stem().string();
  const Json profile = fit::measured_profile_json(fit, request.name.empty() ? stem : request.name,
                                                  profile_fit_input_file_names(request));
  std::ostringstream text;
  print_json(text, profile);
  fit::check_measured_profile_readable({text.str(), request.output, request.files});
  if (request.json) {
    console.out << text.str();
  } else {
    console.out << heading << measured_fit_text(profile);
  }
  write_file(request.output, [&](std::ostream& out) { out << text.str(); });
  console.log.info(fmt::format("wrote the profile to {}; a job names it as `measured: {}`",
                               request.output, request.output));
}

void fit_measured_sample_tables(const ProfileFitRequest& request, const Console& console) {
  fit::OwnClusterSamples samples;
  for (const SampleFile& file : request.samples) {
    const auto* table = std::get_if<CsvTable>(&file);
    if (table == nullptr || !fit::table_has_own_cluster_timings(*table)) {
      fail_input("own samples (stepwright sample) are fitted without others");
    }
    fit::read_own_cluster_samples(*table, samples);
  }
  write_measured_profile(fit::fit_own_cluster(samples), request, {}, console);
}

}  // namespace stepwright::cli
