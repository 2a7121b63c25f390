#include "stepwright/cost/laws/boosted_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "stepwright/core/error.h"

namespace stepwright::cost {
namespace {

constexpr int kDeepest = 32;

/// Removes a number from the front of a text; false when there is none.
template <class Number>
bool take(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

BoostedTrees::BoostedTrees(float base, std::span<const std::string> trees, std::size_t features,
                           const std::string& where)
    : base_(base) {
  for (const std::string& text : trees) {
    roots_.push_back(static_cast<std::int32_t>(nodes_.size()));
    const std::size_t end = read(text, 0, features, where, 0);
    if (end <= text.size()) {
      fail_input(fmt::format("{}: tree {}: text goes on after the last leaf at character {}", where,
                             roots_.size() - 1, end));
    }
  }
}

std::size_t BoostedTrees::read(std::string_view text, std::size_t at, std::size_t features,
                               const std::string& where, int depth) {
  const std::string_view rest = text.substr(std::min(at, text.size()));
  Node node;
  std::string_view value = rest;
  const bool split = take(value, node.feature) && value.starts_with('<');
  if (split) {
    value.remove_prefix(1);
  } else {
    value = rest;
    node.feature = -1;
  }
  const bool valued = take(value, node.value) && (value.empty() || value.starts_with(' '));
  const bool known =
      !split || (node.feature >= 0 && static_cast<std::size_t>(node.feature) < features);
  if (!valued || !known || depth > kDeepest) {
    fail_input(fmt::format(
        "{}: tree {}: `{}` at character {} is neither a leaf nor "
        "FEATURE<THRESHOLD with one of {} features, {} levels at most",
        where, roots_.size() - 1, rest.substr(0, rest.find(' ')), at, features, kDeepest));
  }
  const std::size_t place = nodes_.size();
  nodes_.push_back(node);
  const std::size_t next = text.size() - value.size() + 1;
  if (!split) return next;
  const std::size_t upper = read(text, next, features, where, depth + 1);
  nodes_[place].upper = static_cast<std::int32_t>(nodes_.size());
  return read(text, upper, features, where, depth + 1);
}

double BoostedTrees::predict_from_features(std::span<const float> features) const {
  float sum = base_;
  for (const std::int32_t root : roots_) {
    std::int32_t at = root;
    while (nodes_[at].feature >= 0) {
      const Node& node = nodes_[at];
      at = features[static_cast<std::size_t>(node.feature)] < node.value ? at + 1 : node.upper;
    }
    sum += nodes_[at].value;
  }
  return sum;
}

std::vector<std::string> BoostedTrees::boosted_tree_texts() const {
  std::vector<std::string> boosted_tree_texts;
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const auto end =
        i + 1 < roots_.size() ? static_cast<std::size_t>(roots_[i + 1]) : nodes_.size();
    std::string text;
    for (auto at = static_cast<std::size_t>(roots_[i]); at < end; ++at) {
      const Node& node = nodes_[at];
      if (!text.empty()) text += ' ';
      if (node.feature >= 0) text += fmt::format("{}<", node.feature);
      text += fmt::format("{}", node.value);
    }
    boosted_tree_texts.push_back(std::move(text));
  }
  return boosted_tree_texts;
}

}  // namespace stepwright::cost
