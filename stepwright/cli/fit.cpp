#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "stepwright/cli/command.h"
#include "stepwright/cli/fit_text.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/csv.h"
#include "stepwright/core/error.h"
#include "stepwright/fit/fit_target.h"
#include "stepwright/fit/profile_writer.h"

namespace stepwright {
namespace {

nlohmann::ordered_json dropped_json(const OperatorFit& fit) {
  auto json = nlohmann::ordered_json::array();
  for (const BadRow& row : fit.dropped) {
    json.push_back(
        {{"file", row.file}, {"line", row.line}, {"reason", row.reason}, {"detail", row.detail}});
  }
  return json;
}

class Fit : public Command {
 public:
  explicit Fit(CLI::App& program)
      : Command(program, "fit", "Fit the cost models to measured samples",
                "  stepwright fit data/operators/a100_sxm4_80g.csv -o profile.json\n"
                "  stepwright fit samples.csv --device h100-sxm-80g -o profile.json --json") {
    app()
        .add_option("SAMPLES", samples_, "Tables of samples (docs/formats.md, Samples)")
        ->required();
    app().add_option("-o,--output", output_, "Profile file to write")->required();
    app().add_option("--device", device_, "Built-in device of the samples, when they do not say");
    app().add_option("--name", name_, "Name of the profile; that of the file otherwise");
  }

  void run(const Console& console) override {
    for (const std::string& file : samples_) check_not_input(output_, file);
    std::vector<OperatorTable> tables;
    for (const std::string& file : samples_)
      tables.push_back(read_operator_samples(load_csv(file)));
    const std::string device = device_.empty() ? sampled_device(tables) : device_;
    const ProfileHead head{
        .name = name_.empty() ? std::filesystem::path(output_).stem().string() : name_,
        .target = fit_target(device),
        .sources = sources()};
    const OperatorFit fit = fit_operators(tables, head.target);
    const auto profile = profile_json(head, fit);
    report(console, head, fit, profile);
    write_file(output_, [&](std::ostream& out) { out << profile_text(profile); });
  }

 private:
  [[nodiscard]] std::vector<std::string> sources() const {
    std::vector<std::string> names;
    for (const std::string& file : samples_) {
      names.push_back(std::filesystem::path(file).filename().string());
    }
    return names;
  }

  /// Fails with `kInput` when no fit is left.
  void report(const Console& console, const ProfileHead& head, const OperatorFit& fit,
              const nlohmann::ordered_json& profile) const {
    if (profile["operators"].empty()) {
      fail_input(fmt::format("no fit of {} samples is better than the defaults:\n{}{}",
                             head.target.device.name, fit_table(fit), dropped_text(fit)));
    }
    if (json()) {
      auto answer = profile;
      for (auto& entry : answer["operators"]) entry.erase("trees");
      answer["dropped"] = dropped_json(fit);
      print_json(console.out, answer);
      return;
    }
    console.out << fmt::format("Profile {} of {}\n\n", head.name, head.target.device.name)
                << fit_table(fit) << '\n'
                << dropped_text(fit);
  }

  std::vector<std::string> samples_;
  std::string output_, device_, name_;
};

}  // namespace

std::unique_ptr<Command> fit_command(CLI::App& program) { return std::make_unique<Fit>(program); }

}  // namespace stepwright
