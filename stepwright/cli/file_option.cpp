#include "stepwright/cli/file_option.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "stepwright/core/named_file.h"

namespace stepwright::cli {
namespace {

constexpr const char* kReads = "reads";
constexpr const char* kReadsDocument = "reads a document";
constexpr const char* kWrites = "writes";
constexpr const char* kWritesFile = "writes a file";

/// Marks an option by adding a validator that accepts every value.
CLI::Option* marked(CLI::Option* option, const char* mark) {
  return option->check(CLI::Validator([](std::string&) { return std::string(); }, "", mark));
}

bool has_mark(CLI::Option& option, const char* mark) try {
  return option.get_validator(mark) != nullptr;
} catch (const CLI::OptionNotFound&) {
  return false;
}

/// Returns the files named by options that have a mark.
std::vector<CommandLineFile> marked_files(CLI::App& command, const char* mark) {
  std::vector<CommandLineFile> files;
  for (CLI::Option* option : command.get_options()) {
    if (!has_mark(*option, mark)) continue;
    for (const std::string& path : option->results()) files.push_back({option->get_name(), path});
  }
  return files;
}

}  // namespace

CLI::Option* mark_option_as_output(CLI::Option* option, OptionOutputKind output) {
  if (output == OptionOutputKind::kFile) marked(option, kWritesFile);
  return marked(option, kWrites);
}

CLI::Option* reads(CLI::Option* option, OptionInputKind input) {
  if (input == OptionInputKind::kDocument) marked(option, kReadsDocument);
  return marked(option, kReads);
}

bool is_output_option(CLI::Option& option) { return has_mark(option, kWrites); }

bool is_document_option(CLI::Option& option) { return has_mark(option, kReadsDocument); }

void check_option_files(CLI::App& command) {
  for (const CommandLineFile& file : marked_files(command, kWritesFile)) {
    check_option_output_writable(file);
  }
  std::vector<CommandLineFile> inputs = marked_files(command, kReads);
  inputs.push_back({"standard output", "/dev/stdout"});
  check_distinct_output_files(marked_files(command, kWrites), inputs);
  for (CLI::App* inner : command.get_subcommands()) check_option_files(*inner);
}

}  // namespace stepwright::cli
