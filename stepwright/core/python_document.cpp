#include "stepwright/core/python_document.h"

#include <algorithm>
#include <utility>

#include "stepwright/core/json_reader.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/yaml_reader.h"

namespace stepwright {
namespace {

bool begins_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

/// Removes underscores from numbers as PyYAML does (yaml/resolver.py, yaml/constructor.py): the
/// first character after a sign must be a digit.
void without_underscores(DocumentTree& tree) {
  for (DocumentTree& item : tree.items) without_underscores(item);
  const bool may = tree.kind == DocumentTree::TreeValueKind::kScalar && !tree.quoted &&
                   tree.text.find('_') != std::string::npos;
  if (!may) return;
  const std::size_t sign = tree.text.find_first_not_of("+-");
  if (sign > 1 || tree.text[sign] < '0' || tree.text[sign] > '9') return;
  std::string plain = tree.text;
  std::erase(plain, '_');
  if (is_number(plain)) tree.text = std::move(plain);
}

}  // namespace

std::string without_digit_underscores(std::string text) {
  const auto digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  for (std::size_t at = text.find('_'); at != std::string::npos; at = text.find('_', at + 1)) {
    if (at == 0 || !digit(at - 1) || !digit(at + 1)) return text;
  }
  std::string plain = text;
  std::erase(plain, '_');
  return is_number(plain) ? plain : text;
}

YamlJsonDocument parse_like_python_yaml(std::string_view text, std::string name,
                                        std::vector<RepeatedKey>* repeated) {
  std::vector<RepeatedKey> unasked;
  std::vector<RepeatedKey>* const found = repeated == nullptr ? &unasked : repeated;
  // A text that begins with a brace but is not JSON may be YAML in flow style.
  if (begins_like_json(text))
    return YamlJsonDocument::from_tree(read_json(text, name, found), name);
  DocumentTree tree = read_yaml(text, name, found);
  without_underscores(tree);
  return YamlJsonDocument::from_tree(std::move(tree), std::move(name));
}

}  // namespace stepwright
