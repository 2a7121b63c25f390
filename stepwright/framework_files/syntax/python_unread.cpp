#include <utility>
#include <vector>

#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/syntax/python_source.h"
#include "stepwright/framework_files/syntax/python_value.h"

namespace stepwright {
namespace {

constexpr std::size_t kLongestUnread = 200;

}  // namespace

Tree unread_value(std::string_view text) {
  Tree tree;
  tree.text = std::string(python_trimmed(text).substr(0, kLongestUnread));
  if (tree.text.empty()) tree.text = "...";
  // A character is not cut in two.
  while (find_bad_utf8(tree.text) != std::string_view::npos) tree.text.pop_back();
  return tree;
}

std::optional<std::size_t> weight_of(const Tree& tree) {
  constexpr int kDeepestValue = 80;
  constexpr std::size_t kBytesOfOne = 64;
  std::size_t weight = 0;
  std::vector<std::pair<const Tree*, int>> open = {{&tree, 0}};
  while (!open.empty()) {
    const auto [one, depth] = open.back();
    open.pop_back();
    if (depth > kDeepestValue) return std::nullopt;
    weight += 1 + one->text.size() / kBytesOfOne;
    for (const Tree& item : one->items) open.emplace_back(&item, depth + 1);
  }
  return weight;
}

bool is_unread(const Tree& tree) { return tree.kind == Tree::Kind::kNull && !tree.text.empty(); }

}  // namespace stepwright
