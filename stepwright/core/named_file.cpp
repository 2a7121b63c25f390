#include "stepwright/core/named_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "stepwright/core/error.h"
#include "stepwright/core/output_path.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

[[noreturn]] void fail_same(const NamedFile& output, const NamedFile& other) {
  fail_input(fmt::format("{}: {} and {} name the same file; give {} another name",
                         printable(output.path), other.option, output.option, output.option));
}

bool is_there_as(const NamedFile& output, const NamedFile& input) {
  std::error_code error;
  return !input.path.empty() && std::filesystem::equivalent(output.path, input.path, error);
}

}  // namespace

void check_distinct_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (output->path.empty() || !output_target(output->path).is_plain) continue;
    for (const NamedFile& input : inputs) {
      if (is_there_as(*output, input)) fail_same(*output, input);
    }
    for (auto other = outputs.begin(); other != output; ++other) {
      if (!other->path.empty() && is_same_output(output->path, other->path)) {
        fail_same(*output, *other);
      }
    }
  }
}

void check_output(const NamedFile& output) try {
  if (!output.path.empty()) check_writable(output.path);
} catch (const Error& error) {
  throw Error(error.kind(), fmt::format("{}: {}", output.option, error.what()), error.place());
}

}  // namespace stepwright
