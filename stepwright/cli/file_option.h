#pragma once

#include <cstdint>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stepwright::cli {

/// Kinds of outputs that a command-line option can name.
enum class OptionOutputKind : std::uint8_t {
  kFile,  ///< A file. Before the work starts, `check_option_files` checks that it can be written.
  /// A file or folder, of which the command itself checks that it can be written.
  kAnything,
};

/// Kinds of inputs that a command-line option can name.
enum class OptionInputKind : std::uint8_t {
  /// A file that must be on disk.
  kFile,
  /// A job, plan or configuration file; a caller may provide its text in memory instead.
  kDocument,
};

/// Marks an option as one that names an output file or folder of the command, and returns the
/// option; `reads` marks one that names an input file.
CLI::Option* mark_option_as_output(CLI::Option* option,
                                   OptionOutputKind output = OptionOutputKind::kFile);
CLI::Option* reads(CLI::Option* option, OptionInputKind input = OptionInputKind::kFile);

/// True if the option names an output (`mark_option_as_output`); `is_document_option`: if it names
/// an input of the kind `OptionInputKind::kDocument`.
bool is_output_option(CLI::Option& option);
bool is_document_option(CLI::Option& option);

/// Checks, before a command's work starts, that its outputs can be written, and that no two
/// outputs, and no output and input, are the same file. Fails with `kInput` or `kRuntime`, naming
/// the options.
void check_option_files(CLI::App& command);

}  // namespace stepwright::cli
