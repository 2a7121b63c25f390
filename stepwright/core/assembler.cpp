#include "stepwright/core/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

TextPosition place_of(const DocumentTree& tree) { return {tree.line, tree.column}; }

/// Size of a value that is copied for an alias: its bytes, values and levels.
struct Extent {
  std::size_t values = 1;
  std::size_t bytes = 0;
  std::size_t levels = 0;  ///< Levels of lists and mappings inside each other.
};

Extent extent_of(const DocumentTree& tree) {
  Extent extent{.bytes = sizeof(DocumentTree) + tree.text.size()};
  for (const DocumentTree& item : tree.items) {
    const Extent below = extent_of(item);
    extent.values += below.values;
    extent.bytes += below.bytes;
    extent.levels = std::max(extent.levels, below.levels);
  }
  const bool holds = tree.kind == DocumentTree::TreeValueKind::kSequence ||
                     tree.kind == DocumentTree::TreeValueKind::kMapping;
  extent.levels += holds ? 1 : 0;
  return extent;
}

/// Adds members of merged mappings to a mapping, unless it has their keys itself; if several merged
/// mappings have a key, the first one counts.
void add_absent(DocumentTree& mapping, std::vector<DocumentTree> others) {
  if (others.empty()) return;
  std::set<std::string> present;
  for (std::size_t i = 0; i < mapping.items.size(); i += 2) present.insert(mapping.items[i].text);
  for (DocumentTree& other : others) {
    for (std::size_t i = 0; i < other.items.size(); i += 2) {
      if (!present.insert(other.items[i].text).second) continue;
      mapping.items.push_back(std::move(other.items[i]));
      mapping.items.push_back(std::move(other.items[i + 1]));
    }
  }
}

}  // namespace

TextPosition text_position_at_offset(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto breaks = static_cast<std::size_t>(std::ranges::count(before, '\n'));
  const std::size_t last_break = before.rfind('\n');
  const std::size_t line_start = last_break == std::string_view::npos ? 0 : last_break + 1;
  return {breaks + 1, before.size() - line_start + 1};
}

void fail_at_text_position(const std::string& file, TextPosition at, std::string_view message) {
  constexpr std::size_t kLongest = 4000;
  const std::string shown = one_line_printable_text(message, kLongest);
  const std::string name = one_line_printable_text(file, kLongest);
  if (at.line == 0) fail_input(fmt::format("{}: {}", name, shown), {.file = file});
  fail_input(fmt::format("{}:{}:{}: {}", name, at.line, at.column, shown),
             {.file = file,
              .line = static_cast<std::int64_t>(at.line),
              .column = static_cast<std::int64_t>(at.column)});
}

void fail_nested_too_deep(const std::string& file, TextPosition at) {
  fail_at_text_position(file, at,
                        fmt::format("nested deeper than {} levels", kMaxDocumentNestingDepth));
}

void DocumentTreeAssembler::begin_container(DocumentTree container) {
  if (expects_key()) check_key(container);
  if (open_.size() == kMaxDocumentNestingDepth) fail_nested_too_deep(file_, place_of(container));
  open_.push_back({std::move(container)});
}

void DocumentTreeAssembler::end_document_container(DocumentTree* finished) {
  assert(!open_.empty());
  Open done = std::move(open_.back());
  open_.pop_back();
  if (done.container.kind == DocumentTree::TreeValueKind::kMapping)
    settle_duplicates(done.container);
  add_absent(done.container, std::move(done.merged));
  done.container.items.shrink_to_fit();
  if (finished != nullptr) {
    count_copy(extent_of(done.container).bytes, place_of(done.container));
    *finished = done.container;
  }
  place(std::move(done.container));
}

void DocumentTreeAssembler::add_scalar_value(DocumentTree value) {
  if (expects_key()) {
    check_key(value);
    value.quoted = false;  // A key is always text.
  }
  place(std::move(value));
}

void DocumentTreeAssembler::add_alias_copy(const DocumentTree& value, TextPosition at) {
  const Extent extent = extent_of(value);
  if (open_.size() + extent.levels > kMaxDocumentNestingDepth) fail_nested_too_deep(file_, at);
  count_copy(extent.bytes, at);
  values_ += extent.values - 1;
  add_scalar_value(value);
}

void DocumentTreeAssembler::count_copy(std::size_t bytes, TextPosition at) {
  copied_ += bytes;
  if (copied_ <= kMaxYamlAliasCopyBytes) return;
  fail_at_text_position(
      file_, at,
      fmt::format("anchors (&name) and aliases (*name) stand for more than {} MiB",
                  kMaxYamlAliasCopyBytes >> 20U));
}

bool DocumentTreeAssembler::expects_key() const {
  if (open_.empty() || open_.back().merge_due) return false;
  const DocumentTree& container = open_.back().container;
  return container.kind == DocumentTree::TreeValueKind::kMapping && container.items.size() % 2 == 0;
}

const DocumentTree* DocumentTreeAssembler::yaml_key_without_value() const {
  if (open_.empty() || open_.back().merge_due) return nullptr;
  const DocumentTree& container = open_.back().container;
  const bool is_due =
      container.kind == DocumentTree::TreeValueKind::kMapping && container.items.size() % 2 == 1;
  return is_due ? &container.items.back() : nullptr;
}

void DocumentTreeAssembler::place(DocumentTree value) {
  if (++values_ > kMaxYamlOrJsonValues) {
    fail_at_text_position(file_, place_of(value),
                          fmt::format("more than {} values", kMaxYamlOrJsonValues));
  }
  if (open_.empty()) {
    root_ = std::move(value);
  } else if (open_.back().merge_due) {
    take_merged(std::move(value));
  } else {
    open_.back().container.items.push_back(std::move(value));
  }
}

void DocumentTreeAssembler::take_merged(DocumentTree value) {
  Open& mapping = open_.back();
  mapping.merge_due = false;
  std::vector<DocumentTree> merged;
  if (value.kind == DocumentTree::TreeValueKind::kSequence) {
    merged = std::move(value.items);
  } else {
    merged.push_back(std::move(value));
  }
  for (DocumentTree& one : merged) {
    if (one.kind != DocumentTree::TreeValueKind::kMapping) {
      fail_at_text_position(file_, place_of(one),
                            "a merge key (<<) takes a mapping or a list of mappings");
    }
    mapping.merged.push_back(std::move(one));
  }
}

void DocumentTreeAssembler::check_key(const DocumentTree& key) const {
  if (key.kind == DocumentTree::TreeValueKind::kNull) {
    fail_at_text_position(file_, place_of(key),
                          "a key is missing or null (quote it if it is meant as text)");
  }
  if (key.kind != DocumentTree::TreeValueKind::kScalar) {
    fail_at_text_position(file_, place_of(key), "a key must be text, not a list or a mapping");
  }
  if (key.text.size() > kMaxMappingKeyBytes) {
    fail_at_text_position(file_, place_of(key),
                          fmt::format("the key '{}' is longer than {} bytes",
                                      one_line_printable_text(key.text), kMaxMappingKeyBytes));
  }
}

void DocumentTreeAssembler::settle_duplicates(DocumentTree& mapping) {
  std::map<std::string_view, std::size_t> seen;
  std::vector<bool> replaced(mapping.items.size(), false);
  bool repeats = false;
  for (std::size_t i = 0; i < mapping.items.size(); i += 2) {
    const DocumentTree& key = mapping.items[i];
    const auto [first, is_new] = seen.emplace(key.text, i);
    if (is_new) continue;
    const std::uint32_t line = mapping.items[first->second].line;
    if (repeated_ == nullptr) {
      fail_at_text_position(file_, place_of(key),
                            fmt::format("the key '{}' is given twice, first at line {}",
                                        one_line_printable_text(key.text), line));
    }
    repeated_->push_back({key.text, line, key.line});
    replaced[first->second] = repeats = true;
    first->second = i;
  }
  if (!repeats) return;
  std::vector<DocumentTree> kept;
  for (std::size_t i = 0; i < mapping.items.size(); i += 2) {
    if (replaced[i]) continue;
    kept.push_back(std::move(mapping.items[i]));
    kept.push_back(std::move(mapping.items[i + 1]));
  }
  mapping.items = std::move(kept);
}

}  // namespace stepwright
