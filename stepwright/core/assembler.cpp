#include "stepwright/core/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

Position place_of(const Tree& tree) { return {tree.line, tree.column}; }

}  // namespace

Position position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto breaks = static_cast<std::size_t>(std::ranges::count(before, '\n'));
  const std::size_t last_break = before.rfind('\n');
  const std::size_t line_start = last_break == std::string_view::npos ? 0 : last_break + 1;
  return {breaks + 1, before.size() - line_start + 1};
}

void fail_at(const std::string& file, Position at, std::string_view message) {
  if (at.line == 0) fail_input(fmt::format("{}: {}", file, message), {.file = file});
  fail_input(fmt::format("{}:{}:{}: {}", file, at.line, at.column, message),
             {.file = file,
              .line = static_cast<std::int64_t>(at.line),
              .column = static_cast<std::int64_t>(at.column)});
}

void fail_too_deep(const std::string& file, Position at) {
  fail_at(file, at, fmt::format("nested deeper than {} levels", kDeepestNesting));
}

void Assembler::open(Tree container) {
  if (expects_key()) check_key(container);
  if (open_.size() == kDeepestNesting) fail_too_deep(file_, place_of(container));
  open_.push_back(std::move(container));
}

void Assembler::close() {
  assert(!open_.empty());
  Tree done = std::move(open_.back());
  open_.pop_back();
  done.items.shrink_to_fit();
  if (done.kind == Tree::Kind::kMapping) check_duplicates(done);
  place(std::move(done));
}

void Assembler::leaf(Tree value) {
  if (expects_key()) {
    check_key(value);
    value.quoted = false;  // A key is always text.
  }
  place(std::move(value));
}

bool Assembler::expects_key() const {
  return !open_.empty() && open_.back().kind == Tree::Kind::kMapping &&
         open_.back().items.size() % 2 == 0;
}

const Tree* Assembler::pending_key() const {
  const bool in_mapping = !open_.empty() && open_.back().kind == Tree::Kind::kMapping;
  return in_mapping && !expects_key() ? &open_.back().items.back() : nullptr;
}

void Assembler::place(Tree value) {
  if (++values_ > kMostValues) {
    fail_at(file_, place_of(value), fmt::format("more than {} values", kMostValues));
  }
  if (open_.empty()) {
    root_ = std::move(value);
  } else {
    open_.back().items.push_back(std::move(value));
  }
}

void Assembler::check_key(const Tree& key) const {
  if (key.kind == Tree::Kind::kNull) {
    fail_at(file_, place_of(key), "a key is missing or null (quote it if it is meant as text)");
  }
  if (key.kind != Tree::Kind::kScalar) {
    fail_at(file_, place_of(key), "a key must be text, not a list or a mapping");
  }
  if (key.text.size() > kLongestKey) {
    fail_at(file_, place_of(key),
            fmt::format("the key '{}' is longer than {} bytes", printable(key.text), kLongestKey));
  }
}

void Assembler::check_duplicates(const Tree& mapping) const {
  std::map<std::string_view, const Tree*> seen;
  for (std::size_t i = 0; i < mapping.items.size(); i += 2) {
    const Tree& key = mapping.items[i];
    const auto [first, is_new] = seen.emplace(key.text, &key);
    if (is_new) continue;
    fail_at(file_, place_of(key),
            fmt::format("the key '{}' is given twice, first at line {}", printable(key.text),
                        first->second->line));
  }
}

}  // namespace stepwright
