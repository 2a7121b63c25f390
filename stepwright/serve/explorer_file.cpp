#include "stepwright/serve/explorer_file.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/program_folder.h"

namespace stepwright::serve {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> found_explorer() {
  const fs::path here = program_folder();
  for (const fs::path& file :
       {here / "explorer.html", here.parent_path() / "share/stepwright/explorer.html"}) {
    if (path_exists(file)) return file;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MissingRequirement> missing_explorer_error() {
  if (found_explorer()) return std::nullopt;
  return MissingRequirement{
      fmt::format("{} is missing: it is the planner compiled for browsers",
                  (program_folder() / "explorer.html").string()),
      "build it with `make engine`, which installs Emscripten, or state its path with --page"};
}

fs::path explorer_page_path() {
  if (const auto found = found_explorer()) return *found;
  const MissingRequirement lack = *missing_explorer_error();
  fail_unsupported(fmt::format("{}; {}", lack.what, lack.remedy));
}

}  // namespace stepwright::serve
