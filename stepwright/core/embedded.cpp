#include "stepwright/core/embedded.h"

#include <algorithm>

namespace stepwright {

std::vector<std::string_view> embedded_file_names(std::span<const EmbeddedFile> files) {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : files) names.push_back(file.name);
  std::ranges::sort(names);
  return names;
}

const EmbeddedFile* find_embedded_file(std::span<const EmbeddedFile> files, std::string_view name) {
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace stepwright
