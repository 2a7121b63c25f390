#pragma once

#include <cstdint>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stepwright::cli {

/// Kinds of output that an option's value can name.
enum class Output : std::uint8_t {
  kFile,      ///< A file; before the work starts, the command checks that it can be written.
  kAnything,  ///< A file or folder; the command itself checks that it can be written.
};

/// Kinds of input that an option's value can name.
enum class Input : std::uint8_t {
  kFile,  ///< A file that must be read from disk.
  /// A job, plan or configuration, whose text may be given in memory instead (`user_file`).
  kDocument,
};

/// Marks an option whose value names an output of the command, or a file that the command reads.
/// Returns the option.
CLI::Option* writes(CLI::Option* option, Output output = Output::kFile);
CLI::Option* reads(CLI::Option* option, Input input = Input::kFile);

/// `is_output`: true for an option marked by `writes`. `is_document`: true for an input marked as
/// `kDocument`.
bool is_output(CLI::Option& option);
bool is_document(CLI::Option& option);

/// Checks, after a command was parsed and before its work starts, that its outputs can be written
/// and are different files, none of them an input. Standard output counts as an input. Fails as
/// `check_distinct_outputs` and `check_output` of `answers`.
void check_files(CLI::App& command);

}  // namespace stepwright::cli
