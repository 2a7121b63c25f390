#include "stepwright/cli/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/parse_error_text.h"
#include "stepwright/cli/standard_output.h"
#include "stepwright/core/error.h"
#include "stepwright/core/escaped_text_stream.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cli {
namespace {

constexpr int kRuntimeCode = 1;
constexpr int kInputCode = 2;
constexpr int kUnsupportedCode = 3;

constexpr const char* kDescription =
    "Plans, predicts and explains the training step of a large language model on many GPUs.\n"
    "\n"
    "A job file states what is trained, on which cluster, with which batch. `tune` finds the plan "
    "to\ntrain it with; `predict`, `traffic` and `memory` show what a plan costs. No GPU is "
    "needed.";
constexpr const char* kFooter =
    "Start here:\n"
    "  stepwright init -o job.yaml\n"
    "  stepwright tune job.yaml -o plan.yaml\n"
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

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

using Commands = std::vector<std::unique_ptr<Subcommand>>;

Commands add_commands(CLI::App& program) {
  Commands commands;
  commands.push_back(init_command(program));
  commands.push_back(tune_command(program));
  commands.push_back(predict_command(program));
  commands.push_back(whole_run_command(program));
  commands.push_back(phases_command(program));
  commands.push_back(traffic_command(program));
  commands.push_back(memory_command(program));
  commands.push_back(explain_command(program));
  commands.push_back(study_command(program));
  commands.push_back(interleave_command(program));
  commands.push_back(sample_command(program));
  commands.push_back(fit_command(program));
  commands.push_back(validate_command(program));
  commands.push_back(lab_command(program));
  commands.push_back(train_command(program));
  commands.push_back(checkpoint_command(program));
  commands.push_back(characterize_command(program));
  commands.push_back(compare_command(program));
  commands.push_back(diagnose_command(program));
  commands.push_back(export_command(program));
  commands.push_back(capture_command(program));
  commands.push_back(import_command(program));
  commands.push_back(check_command(program));
  commands.push_back(serve_command(program));
  commands.push_back(mcp_command(program));
  commands.push_back(lengths_command(program));
  commands.push_back(list_command(program));
  commands.push_back(doctor_command(program));
  commands.push_back(completion_command(program));
  return commands;
}

/// For a word that is no command, suggests the nearest command; CLI11 would only say that a command
/// is missing.
void check_name(const CLI::App& program, const std::vector<std::string>& arguments) {
  const auto names = command_names(program);
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (arguments.empty()) {
    fail_input(
        fmt::format("a command is missing: {} (stepwright --help)", join_with_commas(known)));
  }
  const std::string& word = arguments.front();
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return;
  fail_input(fmt::format("there is no command '{}'{} (stepwright --help)",
                         one_line_printable_text(word), spelling_hint(word, known)));
}

void add_options(const CLI::App& command, std::vector<std::string>& names) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* inner : command.get_subcommands({})) add_options(*inner, names);
}

/// For an option that the command does not have, suggests the nearest one. Words after `--` belong
/// to another program.
void check_options(const CLI::App& program, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return;
  const CLI::App& command = *program.get_subcommand(arguments.front());
  std::vector<std::string> names;
  add_options(command, names);
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    const std::string option = argument.substr(0, argument.find('='));
    if (!option.starts_with("--") || std::ranges::find(names, option) != names.end()) continue;
    fail_input(fmt::format("{} has no option {}{} (stepwright {} --help)", command.get_name(),
                           one_line_printable_text(option), spelling_hint(option, known),
                           command.get_name()));
  }
}

/// Refuses empty values: no option accepts one; usually a variable of a script was empty.
void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> values = option->results();
    if (std::ranges::find(values, "") == values.end()) continue;
    fail_input(
        fmt::format("{}: is empty (stepwright {} --help)", option->get_name(), command.get_name()));
  }
  for (const CLI::App* inner : command.get_subcommands()) refuse_empty_values(*inner);
}

void run_chosen(const Commands& commands, const Console& console) {
  for (const auto& command : commands) {
    if (command->is_subcommand_chosen()) command->run_subcommand(console);
  }
}

}  // namespace

int run_command_exit_code(const std::vector<std::string>& arguments, const Console& console) try {
  run_stepwright_command(arguments, console);
  return 0;
} catch (const Error& error) {
  console.log.error(error.what());
  return exit_code(error.kind());
} catch (const std::filesystem::filesystem_error& error) {
  const std::string path = error.path1().empty() ? "the current folder" : error.path1().string();
  console.log.error(fmt::format("{}: {}", path, error.code().message()));
  return kRuntimeCode;
} catch (const std::bad_alloc&) {
  console.log.error("out of memory");
  return kRuntimeCode;
} catch (const std::exception& error) {
  console.log.error(error.what());
  return kRuntimeCode;
}

void run_stepwright_command(const std::vector<std::string>& arguments, const Console& console) {
  CLI::App program(kDescription, "stepwright");
  program.footer(kFooter);
  program.require_subcommand(1);
  program.set_version_flag("--version", "stepwright " STEPWRIGHT_VERSION);
  const Commands commands = add_commands(program);
  try {
    check_name(program, arguments);
    check_options(program, arguments);
    program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      fail_input(fmt::format("{} (stepwright {} --help)", argument_error_text(error.what()),
                             arguments.front()));
    }
    program.exit(error, console.out, console.out);  // --help, --version
    return;
  }
  refuse_empty_values(program);
  check_option_files(program);
  run_chosen(commands, console);
}

int run_command_line(int argc, char** argv, const std::filesystem::path& stand_in) {
  const Logger log([](const char* level, const std::string& text) {
    std::cerr << fmt::format("stepwright: {}: {}\n", level, terminal_safe_text(text)) << std::flush;
  });
  const bool seen = ::isatty(STDERR_FILENO) == 1;
  const bool answered = seen && ::isatty(STDIN_FILENO) == 1;
  StandardOutput out;
  EscapedTextStream text(out.stream());
  const int code = run_command_exit_code({argv + std::min(argc, 1), argv + argc},
                                         {.out = text,
                                          .log = log,
                                          .terminal = seen ? &std::cerr : nullptr,
                                          .keyboard = answered ? &std::cin : nullptr,
                                          .relayed = &out.stream(),
                                          .stand_in = stand_in});
  text.flush();
  const int unwritten = out.finish();
  if (unwritten == 0) return code;
  // A reader that closes the pipe early, such as `head`, needs no message.
  if (unwritten != EPIPE) {
    log.error("cannot write to standard output: " + std::generic_category().message(unwritten));
  }
  return code == 0 ? kRuntimeCode : code;
}

}  // namespace stepwright::cli
