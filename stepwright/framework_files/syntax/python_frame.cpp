#include "stepwright/framework_files/syntax/python_frame.h"

#include <algorithm>
#include <cstdint>

#include "stepwright/framework_files/syntax/python_value.h"

namespace stepwright {
namespace {

constexpr int kMostAliases = 16;
constexpr std::size_t kMostNames = 200;      ///< Of objects beside their first.
constexpr std::int64_t kMostPathParts = 32;  ///< Of a path.

std::string head_of(std::string_view path) { return std::string(path.substr(0, path.find('.'))); }

/// Whether a path is another or a part of it.
bool is_within(std::string_view path, std::string_view whole) {
  return path.starts_with(whole) && (path.size() == whole.size() || path[whole.size()] == '.');
}

}  // namespace

std::string PythonFrame::resolved(std::string path) const {
  for (int i = 0; i < kMostAliases; ++i) {
    const auto alias = aliases_.find(head_of(path));
    if (alias == aliases_.end()) break;
    path = alias->second + path.substr(alias->first.size());
  }
  return path;
}

bool PythonFrame::knows(const std::string& path) const {
  return values_.contains(head_of(resolved(path)));
}

std::optional<Tree> PythonFrame::find(const std::string& path) const {
  const std::string place = resolved(path);
  const std::string head = head_of(place);
  const auto value = values_.find(head);
  if (value == values_.end()) return std::nullopt;
  const Tree* tree = &value->second;
  std::size_t at = head.size();
  while (at < place.size()) {
    const std::size_t end = std::min(place.find('.', at + 1), place.size());
    tree = tree->find(std::string_view(place).substr(at + 1, end - at - 1));
    if (tree == nullptr) return unread_value(path);
    at = end;
  }
  return *tree;
}

/// Other names for an object keep it when its own name gets another.
void PythonFrame::release(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& [name, target] : aliases_) {
    if (is_within(resolved(target), path)) names.push_back(name);
  }
  for (const std::string& name : names) {
    const auto value = find(name);
    aliases_.erase(name);
    values_[name] = value.value_or(Tree());
  }
}

void PythonFrame::set(const std::string& path, Tree value, std::vector<PythonUnread>& unread) {
  if (std::ranges::count(path, '.') > kMostPathParts) {
    unread.push_back({path.substr(0, path.find('.')), "an attribute of too many", value.line});
    return;
  }
  const bool whole = path.find('.') == std::string::npos;
  if (whole) aliases_.erase(path);
  const std::string place = resolved(path);
  release(place);
  for (const std::string& away : put_away_) {
    if (!whole && is_within(place, away)) {
      unread.push_back({path, "set after " + away + " was used", value.line});
    }
  }
  if (whole) std::erase_if(put_away_, [&](const auto& away) { return is_within(away, path); });
  const std::string head = head_of(place);
  Tree* tree = &values_[head];
  std::size_t at = head.size();
  while (at < place.size()) {
    if (is_unread(*tree)) {
      unread.push_back({place.substr(0, at), tree->text, tree->line});
      *tree = Tree::mapping();
    } else if (tree->kind != Tree::Kind::kMapping) {
      *tree = Tree::mapping();
    }
    const std::size_t end = std::min(place.find('.', at + 1), place.size());
    const std::string key = place.substr(at + 1, end - at - 1);
    if (tree->find(key) == nullptr) tree->set(key, Tree());
    tree = tree->find(key);
    at = end;
  }
  *tree = std::move(value);
}

void PythonFrame::alias(const std::string& name, const std::string& path) {
  const std::string place = resolved(path);
  if (head_of(place) == name) return;
  release(name);
  if (aliases_.size() >= kMostNames) {
    aliases_.erase(name);
    values_[name] = unread_value(path);
    return;
  }
  values_.erase(name);
  aliases_[name] = place;
}

}  // namespace stepwright
