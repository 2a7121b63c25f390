#include <spdlog/logger.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <thread>

#include "stepwright/cli/command.h"
#include "stepwright/core/error.h"
#include "stepwright/core/output_path.h"
#include "stepwright/runtime/launch/launch.h"
#include "stepwright/sample/sample_options.h"

namespace stepwright {
namespace {

constexpr std::chrono::seconds kSampleGrace{10};

class Sample : public Command {
 public:
  explicit Sample(CLI::App& program)
      : Command(program, "sample", "Measure operators or messages of this machine, or of a lab",
                "  stepwright sample operators --ranks 4 -o operators.csv\n"
                "  stepwright lab run lab.yaml -- stepwright sample collectives --scale 100 "
                "-o messages.csv\n"
                "  stepwright fit operators.csv messages.csv -o measured.json") {
    add_sample_flags(app(), options_);
  }

  void run(const Console& console) override {
    check(options_);
    const auto place = launched_rank();
    if (!place || place->rank == 0) check_writable(options_.output);
    const std::filesystem::path program = rank_program();
    const std::vector<std::string> words = sample_arguments(options_);
    if (place) become(program, words);
    const std::int64_t cores = std::max(2U, std::thread::hardware_concurrency());
    const int code =
        run_ranks(program, words, options_.ranks > 0 ? options_.ranks : cores, kSampleGrace);
    if (code != 0) {
      throw Error(code == 2 ? ErrorKind::kInput : ErrorKind::kRuntime,
                  "sampling failed; a process said why above");
    }
    console.log.info("wrote the samples to {}", options_.output);
  }

 private:
  SampleOptions options_;
};

}  // namespace

std::unique_ptr<Command> sample_command(CLI::App& program) {
  return std::make_unique<Sample>(program);
}

}  // namespace stepwright
