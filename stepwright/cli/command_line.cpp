#include "stepwright/cli/command_line.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/core/error.h"

namespace stepwright {
namespace {

constexpr int kRuntimeCode = 1;
constexpr int kInputCode = 2;
constexpr int kUnsupportedCode = 3;

constexpr const char* kDescription =
    "Plans, predicts and explains the training step of a large language model on many GPUs.\n"
    "\n"
    "A job file says what is trained, on which cluster, with which batch. `tune` finds the plan "
    "to\n"
    "train it with; `predict`, `traffic` and `memory` say what a plan costs. It needs no GPU.";
constexpr const char* kFooter =
    "Start here:\n"
    "  stepwright tune examples/llama-3-70b.yaml -o plan.yaml\n"
    "  stepwright predict plan.yaml\n"
    "\n"
    "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 known but not supported yet.";

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInput: return kInputCode;
    case ErrorKind::kUnsupported: return kUnsupportedCode;
    case ErrorKind::kRuntime: break;
  }
  return kRuntimeCode;
}

using Commands = std::vector<std::unique_ptr<Command>>;

Commands add_commands(CLI::App& program) {
  Commands commands;
  commands.push_back(tune_command(program));
  commands.push_back(predict_command(program));
  commands.push_back(traffic_command(program));
  commands.push_back(memory_command(program));
  commands.push_back(list_command(program));
  return commands;
}

void run_chosen(const Commands& commands, const Console& console) {
  for (const auto& command : commands) {
    if (command->chosen()) command->run(console);
  }
  console.out.flush();
  if (!console.out) throw Error(ErrorKind::kRuntime, "cannot write to standard output");
}

}  // namespace

int run_command_line(int argc, char** argv) {
  spdlog::logger log("stepwright", std::make_shared<spdlog::sinks::stderr_sink_st>());
  log.set_pattern("%n: %l: %v");
  CLI::App program(kDescription, "stepwright");
  program.footer(kFooter);
  program.require_subcommand(1);
  program.set_version_flag("--version", "stepwright " STEPWRIGHT_VERSION);
  const Commands commands = add_commands(program);
  try {
    program.parse(argc, argv);
    run_chosen(commands, {.out = std::cout, .log = log});
    return 0;
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : kInputCode;
  } catch (const Error& error) {
    log.error(std::string_view(error.what()));
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    log.error("out of memory");
  } catch (const std::exception& error) {
    log.error(std::string_view(error.what()));
  }
  return kRuntimeCode;
}

}  // namespace stepwright
