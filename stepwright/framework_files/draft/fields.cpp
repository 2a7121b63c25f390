#include "stepwright/framework_files/draft/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

FrameworkSettingsReader FrameworkSettingsReader::nested_settings(std::string_view key) const {
  static const YamlJsonDocument kEmpty =
      YamlJsonDocument::from_tree(DocumentTree::make_empty_mapping(), "nothing");
  const auto value = node_.find(key);
  if (!value || value->is_null()) return FrameworkSettingsReader(kEmpty.root());
  if (!value->is_mapping()) value->fail("must be a mapping (key: value)");
  return {*value, fmt::format("{}{}.", prefix_, key), remarks_};
}

std::vector<std::string> split_word_list(DocumentNode node) {
  std::vector<std::string> words;
  const auto add = [&](const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find_first_of(" ,", at), text.size());
      if (end > at) words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  };
  if (!node.is_sequence()) {
    const std::string text = node.text();
    const bool list = text.starts_with('[') && text.ends_with(']');
    add(list ? text.substr(1, text.size() - 2) : text);
  } else {
    for (std::size_t i = 0; i < node.size(); ++i) add(node.at(i).text());
  }
  return words;
}

}  // namespace stepwright::framework_files
