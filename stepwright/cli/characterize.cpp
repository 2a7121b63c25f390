#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/log_text.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/logs/characterize_json.h"
#include "stepwright/logs/readers/read_logs.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

constexpr double kMostKneeBytes = 1e15;

class Characterize : public Subcommand {
 public:
  explicit Characterize(CLI::App& program)
      : Subcommand(program, "characterize", "Summarise what a job communicated, from its logs",
                   "  stepwright characterize --log nccl.*.log\n"
                   "  stepwright characterize --log trace.json.gz --json") {
    reads(app().add_option("--log", logs_,
                           "Logs of any program in docs/logs.md, recognised by their content; "
                           "files of\nall ranks give the fullest answer"))
        ->required()
        ->type_name("FILE");
    app()
        .add_option(
            "--knee", knee_,
            "Payload below which latency exceeds the transfer time; only for logs\nwithout times")
        ->type_name("BYTES")
        ->check(runtime::number_range_validator({.low = 0, .high = kMostKneeBytes, .above = true}));
    app()
        .add_option(
            "--group-size", group_size_,
            "Number of ranks of groups whose size the logs do not state (DeepSpeed, Chakra)")
        ->type_name("N")
        ->check(runtime::whole_number_validator(1, cluster::kMaxClusterDevices));
  }

  void run_subcommand(const Console& console) override {
    logs::CommunicationLog log = logs::read_logs(logs_);
    if (group_size_) logs::assume_group_size(log, *group_size_);
    const logs::LoggedCommunicationSummary found = logs::summarise_logged_calls(log, knee_);
    nlohmann::ordered_json answer = nlohmann::ordered_json::object();
    if (wants_json_output() || report_.wanted()) answer = logs::communication_summary_json(found);
    if (report_.wanted()) report_.write_report_page(console, "What a job communicated", answer, {});
    if (wants_json_output()) {
      print_json(console.out, answer);
    } else {
      console.out << log_communication_text(found);
    }
  }

 private:
  std::vector<std::string> logs_;
  std::optional<double> knee_;
  std::optional<std::int64_t> group_size_;
  ReportFileOption report_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> characterize_command(CLI::App& program) {
  return std::make_unique<Characterize>(program);
}

}  // namespace stepwright::cli
