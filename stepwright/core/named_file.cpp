#include "stepwright/core/named_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "stepwright/core/error.h"
#include "stepwright/core/output_path.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

[[noreturn]] void fail_same(const CommandLineFile& output, const CommandLineFile& other) {
  fail_input(fmt::format("{}: {} and {} name the same file; give {} another name",
                         one_line_printable_text(output.path), other.option, output.option,
                         output.option));
}

bool is_there_as(const CommandLineFile& output, const CommandLineFile& input) {
  std::error_code error;
  return !input.path.empty() && std::filesystem::equivalent(output.path, input.path, error);
}

}  // namespace

void check_distinct_output_files(std::span<const CommandLineFile> outputs,
                                 std::span<const CommandLineFile> inputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (output->path.empty() || !resolve_output_target(output->path).is_plain) continue;
    for (const CommandLineFile& input : inputs) {
      if (is_there_as(*output, input)) fail_same(*output, input);
    }
    for (auto other = outputs.begin(); other != output; ++other) {
      if (!other->path.empty() && is_same_output_file(output->path, other->path)) {
        fail_same(*output, *other);
      }
    }
  }
}

void check_option_output_writable(const CommandLineFile& output) try {
  if (!output.path.empty()) check_output_file_writable(output.path);
} catch (const Error& error) {
  throw Error(error.kind(), fmt::format("{}: {}", output.option, error.what()), error.place());
}

}  // namespace stepwright
