#include "stepwright/capture/capture.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "stepwright/capture/launch_record.h"
#include "stepwright/cli/capture_options.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/output.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

class Capture : public Subcommand {
 public:
  explicit Capture(CLI::App& program)
      : Subcommand(program, "capture", "Run a launch script without its launchers, and record them",
                   "  stepwright capture -o launch.json -- bash job.sh\n"
                   "  stepwright capture --nodes 16 --gpus-per-node 8 -- sbatch job.sh\n"
                   "  stepwright import launch.json --cluster dgx-h100") {
    mark_option_as_output(app().add_option("-o,--output", output_, "Write the record to FILE"))
        ->type_name("FILE");
    app()
        .add_option("--nodes", nodes_, "Number of nodes of the job; overrides the script")
        ->check(runtime::whole_number_validator(1, cluster::kMaxClusterDevices));
    options_.add_options_to_command(app());
    reads(app().add_option("COMMAND", command_, "The script and its arguments, after --"))
        ->required()
        ->type_name("COMMAND");
  }

  void run_subcommand(const Console& console) override {
    const capture::ScriptCaptureResult captured =
        options_.capture_launch_script(command_, nodes_, console);
    const std::string record = capture::capture_record_json(captured);
    if (wants_json_output() || output_.empty()) console.out << record;
    if (!output_.empty()) {
      write_file(output_, [&](std::ostream& out) { out << record; });
      console.log.info(fmt::format("wrote the record to {}", output_));
      if (!wants_json_output()) console.out << seen_text(captured);
    }
    if (captured.commands.empty()) {
      throw Error(ErrorKind::kRuntime, "the script ended without starting anything that trains");
    }
  }

 private:
  /// Returns one line for each launch that was captured, then the programs that did nothing.
  static std::string seen_text(const capture::ScriptCaptureResult& captured) {
    std::string text;
    for (std::size_t i = 0; i < captured.commands.size(); ++i) {
      const capture::CapturedLaunchCommand& command = captured.commands[i];
      const auto extent = [](const std::optional<std::int64_t>& count) {
        return count ? std::to_string(*count) : std::string("?");
      };
      text += fmt::format("{}: {} nodes of {} devices: {}\n", i + 1, extent(command.nodes),
                          extent(command.devices_per_node), quoted_for_shell(command.argv));
    }
    for (const std::string& word : captured.not_run) text += fmt::format("not run: {}\n", word);
    for (const std::string& word : captured.ran) text += fmt::format("really ran: {}\n", word);
    return text;
  }

  ScriptCaptureOptions options_;
  std::optional<std::int64_t> nodes_;
  std::vector<std::string> command_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Subcommand> capture_command(CLI::App& program) {
  return std::make_unique<Capture>(program);
}

}  // namespace stepwright::cli
