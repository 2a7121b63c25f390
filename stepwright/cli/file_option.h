#pragma once

#include <cstdint>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stepwright::cli {

/// Kinds of output that an option can have.
enum class Output : std::uint8_t {
  kFile,      ///< A file. The command asks whether it can be written before the work starts.
  kAnything,  ///< A file or folder; the command asks whether it can be written.
};

/// The input that an option names.
enum class Input : std::uint8_t {
  kFile,      ///< A file, read at its path.
  kDocument,  ///< A job, plan or configuration, which can stand in memory instead (`given_file`).
};

/// Marks an option whose value names an output of the command, or a file that it reads. Returns
/// the option.
CLI::Option* writes(CLI::Option* option, Output output = Output::kFile);
CLI::Option* reads(CLI::Option* option, Input input = Input::kFile);

/// True for an option marked by `writes`, and for one marked as a `kDocument`.
bool is_output(CLI::Option& option);
bool is_document(CLI::Option& option);

/// Asks, before a command that was parsed starts its work, whether its outputs can be written, each
/// into a file of its own that is no input. Fails as `check_distinct` and `check_output` of
/// `answers`; standard output counts as an input.
void check_files(CLI::App& command);

}  // namespace stepwright::cli
