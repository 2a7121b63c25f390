#pragma once

#include <cstdint>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stepwright::cli {

/// Kinds of outputs that a command-line option can name.
enum class Output : std::uint8_t {
  kFile,      ///< A file. Before the work starts, `check_files` checks that it can be written.
  kAnything,  ///< A file or folder. The command itself checks that it can be written.
};

/// Kinds of inputs that a command-line option can name.
enum class Input : std::uint8_t {
  kFile,  ///< A file on disk.
  /// A job, plan or configuration file; a caller may provide its text in memory instead.
  kDocument,
};

/// Mark an option as one that names an output (`writes`) or an input (`reads`) of the command.
/// Return the option.
CLI::Option* writes(CLI::Option* option, Output output = Output::kFile);
CLI::Option* reads(CLI::Option* option, Input input = Input::kFile);

/// `is_output`: true if the option was marked by `writes`. `is_document`: true if it was marked by
/// `reads` as `Input::kDocument`.
bool is_output(CLI::Option& option);
bool is_document(CLI::Option& option);

/// Checks, before a command's work starts, that its outputs can be written, and that no two
/// outputs, and no output and input, are the same file. Fails with `kInput` or `kRuntime`, naming
/// the options.
void check_files(CLI::App& command);

}  // namespace stepwright::cli
