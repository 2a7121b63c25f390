#include "stepwright/lab/lab.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/lab_text.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/error.h"
#include "stepwright/core/signal_recorder.h"
#include "stepwright/lab/capacity.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

/// Long enough for TCP to reach its steady rate.
constexpr double kSelfTestSeconds = 0.3;
constexpr double kBusySeconds = 1;

class LabCommand : public Subcommand {
 public:
  explicit LabCommand(CLI::App& program)
      : Subcommand(program, "lab", "Emulate a cluster on this machine (Linux, root)",
                   "  stepwright lab run examples/lab-4x4.yaml -- ./rank plan.yaml\n"
                   "  stepwright lab check examples/lab-4x4.yaml\n"
                   "  stepwright lab profile examples/lab-4x4.yaml -o lab.json\n"
                   "  stepwright lab clean") {
    add_run();
    check_ = add("check", "Compare the rates of a lab with those of this machine");
    add_file(check_);
    profile_ = add("profile", "Write a lab as a cluster file for jobs, with nominal rates");
    add_file(profile_);
    mark_option_as_output(
        profile_->add_option("-o,--output", output_, "File to write; standard output otherwise"))
        ->type_name("PROFILE");
    clean_ = add("clean", "Remove the remains of killed labs; running labs stay");
  }

  void run_subcommand(const Console& console) override {
    if (run_->parsed()) run_lab(console);
    if (check_->parsed()) check_lab(console);
    if (profile_->parsed()) write_profile(console);
    if (clean_->parsed()) clean(console);
    if (app().get_subcommands().empty()) {
      fail_input("say what to do with a lab: run, check, profile or clean (stepwright lab --help)");
    }
  }

 private:
  CLI::App* add(const std::string& name, const std::string& description) {
    CLI::App* command = app().add_subcommand(name, description);
    command->fallthrough();  // --json stands with all of them
    return command;
  }

  void add_file(CLI::App* command) {
    reads(command->add_option("LAB", file_, "Lab file (docs/formats.md, Lab)"))->required();
  }

  void add_run() {
    run_ = add("run", "Run a program as every rank of a lab, each in its node");
    add_file(run_);
    run_->add_option("COMMAND", command_,
                     "Program and its arguments, after --; it finds RANK, WORLD_SIZE,\n"
                     "MASTER_ADDR, ... as under torchrun (docs/emulation.md)")
        ->required();
    run_->add_option("--timeout", timeout_s_, "Stop ranks that still run after so many seconds")
        ->type_name("S")
        ->check(
            runtime::number_range_validator({.low = 1e-3, .high = runtime::kMaxTimeoutSeconds}));
    run_->add_option("--grace", grace_s_, "Seconds from SIGTERM to SIGKILL for ranks to stop")
        ->type_name("S")
        ->check(runtime::number_range_validator({.low = 0, .high = runtime::kMaxTimeoutSeconds}))
        ->capture_default_str();
  }

  void run_lab(const Console& console) {
    const lab::EmulatedClusterSpec spec = lab::load_emulated_cluster(file_);
    // It outlives the lab, so that no signal ends this process before the lab is removed.
    const SignalRecorder interrupts;
    const std::string warning =
        emulated_links_too_fast_reason(spec, lab::machine_tcp_bytes_per_s(kSelfTestSeconds));
    if (!warning.empty()) console.log.warn(warning);
    const lab::EmulatedCluster lab(spec);
    const std::vector<lab::CommandLine> commands(spec.ranks(), command_);
    std::ostream& relayed = console.relayed != nullptr ? *console.relayed : console.out;
    const lab::RankRunResult result =
        lab.run_programs_on_ranks(commands, {.out = wants_json_output() ? std::cerr : relayed,
                                             .err = std::cerr,
                                             .timeout_s = timeout_s_,
                                             .grace_s = grace_s_,
                                             .stop_fd = interrupts.signal_descriptor()});
    if (wants_json_output()) print_json(console.out, lab_run_json(result));
    if (!result.failure.empty()) throw Error(ErrorKind::kRuntime, result.failure);
  }

  void check_lab(const Console& console) {
    const lab::EmulatedClusterSpec spec = lab::load_emulated_cluster(file_);
    const SignalRecorder interrupts;
    const double capacity = lab::machine_tcp_bytes_per_s(kSelfTestSeconds);
    const lab::BusyLinkRateShares busy = lab::measure_busy_links(spec, kBusySeconds);
    if (wants_json_output()) {
      print_json(console.out, lab_check_json(spec, capacity, busy));
    } else {
      console.out << lab_check_text(spec, capacity, busy);
    }
    const std::string warning = emulated_links_too_fast_reason(spec, capacity);
    if (!warning.empty()) throw Error(ErrorKind::kRuntime, warning);
  }

  void write_profile(const Console& console) {
    const auto profile = lab::emulated_cluster_profile(lab::load_emulated_cluster(file_));
    if (output_.empty()) return print_json(console.out, profile);
    write_file(output_, [&](std::ostream& out) { print_json(out, profile); });
    console.log.info(fmt::format("wrote the profile to {}", output_));
  }

  void clean(const Console& console) {
    const std::vector<std::string> removed = lab::remove_abandoned_network_namespaces();
    if (wants_json_output()) return print_json(console.out, {{"removed", removed}});
    for (const std::string& name : removed) console.out << "removed " << name << '\n';
    if (removed.empty()) console.out << "nothing was left behind\n";
  }

  CLI::App* run_ = nullptr;
  CLI::App* check_ = nullptr;
  CLI::App* profile_ = nullptr;
  CLI::App* clean_ = nullptr;
  std::string file_;
  std::vector<std::string> command_;
  std::string output_;
  double timeout_s_ = 0;
  double grace_s_ = 5;
};

}  // namespace

std::unique_ptr<Subcommand> lab_command(CLI::App& program) {
  return std::make_unique<LabCommand>(program);
}

}  // namespace stepwright::cli
