#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "stepwright/cli/command.h"
#include "stepwright/cli/log_text.h"
#include "stepwright/cli/output.h"
#include "stepwright/logs/characterize_json.h"
#include "stepwright/logs/read_logs.h"

namespace stepwright {
namespace {

class Characterize : public Command {
 public:
  explicit Characterize(CLI::App& program)
      : Command(program, "characterize", "Say what the logs of a job communicated",
                "  stepwright characterize --log nccl.*.log\n"
                "  stepwright characterize --log trace.json.gz --json") {
    app()
        .add_option("--log", logs_,
                    "Logs of any program in docs/logs.md, recognised by their content; all\n"
                    "ranks' files together say most")
        ->required()
        ->type_name("FILE");
  }

  void run(const Console& console) override {
    const Log log = read_logs(logs_);
    if (json()) {
      print_json(console.out, characterize_json(log));
    } else {
      console.out << characterize_text(log);
    }
  }

 private:
  std::vector<std::string> logs_;
};

}  // namespace

std::unique_ptr<Command> characterize_command(CLI::App& program) {
  return std::make_unique<Characterize>(program);
}

}  // namespace stepwright
