#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/fit_runs.h"
#include "stepwright/cli/fit_samples.h"
#include "stepwright/cli/fit_snapshot.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/named_file.h"
#include "stepwright/fit/samples/collective_sample.h"
#include "stepwright/fit/samples/operator_sample.h"
#include "stepwright/fit/samples/own_sample.h"
#include "stepwright/logs/readers/kineto.h"
#include "stepwright/logs/readers/nccl_tests_text.h"

namespace stepwright::cli {
namespace {

/// Reads samples in any of the forms of docs/formats.md.
SampleFile load_samples(const std::string& path) {
  logs::FileByteReader bytes{std::filesystem::path(path)};
  if (logs::is_kineto_trace(bytes)) return logs::read_kineto_trace(bytes);
  if (logs::is_nccl_tests_text(bytes.peek_first_bytes())) {
    constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    return logs::read_nccl_tests_text(bytes.read_rest_of_source(kMostBytes), path);
  }
  CsvTable table = load_csv(path);
  if (!fit::table_has_collective_timings(table) && !fit::table_has_operator_timings(table)) {
    fit::refuse_misspelt_own_samples(table);
  }
  return table;
}

/// True if the samples are of collectives. A trace has operators and collectives; the latter are
/// fitted if a machine is named.
bool is_of_collectives(const ProfileFitRequest& request) {
  return std::ranges::any_of(request.samples, [&](const SampleFile& samples) {
    const auto* table = std::get_if<CsvTable>(&samples);
    return table == nullptr ? !request.machine.empty() : fit::table_has_collective_timings(*table);
  });
}

bool is_measured_here(const ProfileFitRequest& request) {
  return std::ranges::any_of(request.samples, [](const SampleFile& samples) {
    const auto* table = std::get_if<CsvTable>(&samples);
    return table != nullptr && fit::table_has_own_cluster_timings(*table);
  });
}

class Fit : public Subcommand {
 public:
  explicit Fit(CLI::App& program)
      : Subcommand(program, "fit", "Fit the cost models to measured samples, or to whole runs",
                   "  stepwright fit data/operators/a100_sxm4_80g.csv -o profile.json\n"
                   "  stepwright fit samples.csv --device h100-sxm-80g -o profile.json --json\n"
                   "  stepwright fit trace.json -o profile.json\n"
                   "  stepwright fit all_reduce_perf.txt --profile dgx-h100 -o messages.json\n"
                   "  stepwright fit trace.*.json.gz --plan plan.yaml -o measured.json\n"
                   "  stepwright fit operators.csv messages.csv -o measured.json\n"
                   "  stepwright fit --runs my_runs.csv -o conditions.yaml\n"
                   "  stepwright fit --snapshot rank0.pickle plan.yaml -o conditions.yaml") {
    auto* samples = reads(
        app().add_option("SAMPLES", request_.files,
                         "Tables of operator samples, or of collective samples, what nccl-tests\n"
                         "printed, or traces of the PyTorch profiler (docs/formats.md, Samples)"));
    auto* runs = reads(app().add_option(
                           "--runs", runs_,
                           "Calibrate the conditions of training with a table of your own runs\n"
                           "instead (docs/formats.md, Tables of measurements)"))
                     ->type_name("RUNS")
                     ->excludes(samples);
    reads(
        app().add_option("--conditions", conditions_,
                         "With --runs or --snapshot: start from this file, not from the built-in\n"
                         "conditions"))
        ->type_name("FILE");
    reads(app().add_option("--snapshot", snapshots_,
                           "Memory snapshot (torch.cuda.memory._dump_snapshot) of a rank that runs "
                           "the plan\ngiven in place of SAMPLES: learns what the framework "
                           "allocates in addition;\nrepeatable"))
        ->type_name("FILE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->excludes(runs);
    mark_option_as_output(
        app().add_option("-o,--output", request_.output,
                         "Profile file to write; a folder for collectives of several "
                         "machines;\nwith --runs or --snapshot a conditions file"),
        OptionOutputKind::kAnything);
    reads(app().add_option(
              "--plan", request_.plan,
              "Plan that was running when the traces were made: fit a measured profile to\n"
              "its steps (docs/logs.md, From a log to a calibrated plan)"),
          OptionInputKind::kDocument)
        ->type_name("PLAN")
        ->excludes(runs);
    app()
        .add_option("--device", request_.device,
                    "Built-in device of operator samples, if the samples do not state it")
        ->excludes(runs);
    app()
        .add_option("--name", request_.name, "Name of the profile; by default the name of the file")
        ->excludes(runs);
    app()
        .add_option("--profile", request_.machine,
                    "Machine of collective samples, if the samples do not state it; for a trace, "
                    "use\nits collectives")
        ->excludes(runs);
  }

  void run_subcommand(const Console& console) override {
    request_.json = wants_json_output();
    if (!runs_.empty()) return calibrate_runs(console);
    if (!snapshots_.empty()) return learn_memory(console);
    refuse_options(kOfConditions, "--runs and --snapshot");
    if (request_.files.empty()) fail_input("SAMPLES or --runs is required (stepwright fit --help)");
    if (request_.output.empty()) fail_input("--output is required (stepwright fit --help)");
    if (!is_profile_folder(request_.output))
      check_option_output_writable({"--output", request_.output});
    if (!request_.plan.empty()) {
      refuse_options(kOfOperators, "operator samples");
      refuse_options(kOfCollectives, "collective samples");
      refuse_options(kNamed, "samples, not for --plan");
      return fit_profile_to_step_traces(request_, console);
    }
    for (const std::string& file : request_.files) request_.samples.push_back(load_samples(file));
    fit_samples(console);
  }

 private:
  static constexpr const char* kOfOperators[] = {"--device"};
  static constexpr const char* kOfCollectives[] = {"--profile"};
  static constexpr const char* kNamed[] = {"--name"};
  static constexpr const char* kOfConditions[] = {"--conditions"};
  static constexpr const char* kOfProfiles[] = {"--device", "--profile", "--name", "--plan"};

  void fit_samples(const Console& console) const {
    const bool here = is_measured_here(request_), collectives = is_of_collectives(request_);
    if (here || collectives) refuse_options(kOfOperators, "operator samples");
    if (collectives && !here)
      refuse_options(kNamed,
                     "operator samples; a profile of collectives has the name of its machine");
    if (here || !collectives) refuse_options(kOfCollectives, "collective samples");
    if (here) return fit_measured_sample_tables(request_, console);
    if (collectives) return fit_collective_sample_tables(request_, console);
    fit_operator_sample_tables(request_, console);
  }

  void calibrate_runs(const Console& console) const {
    if (!request_.output.empty()) check_option_output_writable({"--output", request_.output});
    fit_conditions_to_runs({.runs = runs_,
                            .conditions = conditions_,
                            .output = request_.output,
                            .json = wants_json_output()},
                           console);
  }

  void learn_memory(const Console& console) const {
    refuse_options(kOfProfiles, "samples");
    if (request_.files.size() != 1) {
      fail_input("--snapshot needs one PLAN: stepwright fit --snapshot FILE PLAN");
    }
    if (!request_.output.empty()) check_option_output_writable({"--output", request_.output});
    fit_memory_snapshots({.snapshots = snapshots_,
                          .plan = request_.files.front(),
                          .conditions = conditions_,
                          .output = request_.output,
                          .json = wants_json_output()},
                         console);
  }

  ProfileFitRequest request_;
  std::vector<std::string> snapshots_;
  std::string runs_;
  std::string conditions_;
};

}  // namespace

bool is_profile_folder(const std::string& output) {
  return output.ends_with('/') || is_folder(output);
}

std::vector<std::string> profile_fit_input_file_names(const ProfileFitRequest& request) {
  std::vector<std::string> names;
  for (const std::string& file : request.files) {
    names.push_back(std::filesystem::path(file).filename().string());
  }
  return names;
}

std::unique_ptr<Subcommand> fit_command(CLI::App& program) {
  return std::make_unique<Fit>(program);
}

}  // namespace stepwright::cli
