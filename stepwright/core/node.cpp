#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/document_content.h"
#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

constexpr std::size_t kLongestShownPath = 1000;

/// Finds a value by its address and sets its path. Only messages need paths, so nodes do not store
/// them.
bool path_to(const DocumentTree& from, const DocumentTree* target, std::string& path) {
  if (&from == target) return true;
  const bool mapping = from.kind == DocumentTree::TreeValueKind::kMapping;
  for (std::size_t i = mapping ? 1 : 0; i < from.items.size(); i += mapping ? 2 : 1) {
    const std::size_t length = path.size();
    if (length > 0) path += '.';
    path += mapping ? from.items[i - 1].text : std::to_string(i);
    if (path_to(from.items[i], target, path)) return true;
    path.resize(length);
  }
  return false;
}

void forget_positions(DocumentTree& tree) {
  tree.line = tree.column = 0;
  for (DocumentTree& item : tree.items) forget_positions(item);
}

std::string place(const std::string& file, const DocumentTree& at) {
  const std::string shown = one_line_printable_text(file, kLongestShownPath);
  if (at.line == 0) return shown;
  return fmt::format("{}:{}:{}", shown, at.line, at.column);
}

InputErrorPlace error_place(const std::string& file, const DocumentTree& at, std::string field) {
  return {.file = file,
          .line = at.line,
          .column = at.column,
          .field = std::move(field),
          .value = at.text};
}

std::string joined(const std::string& place, const std::string& path) {
  return path.empty() ? place : place + ": " + one_line_printable_text(path, kLongestShownPath);
}

/// Puts a message on one line, escaping line ends in text quoted from a file.
std::string on_one_line(std::string_view message) {
  return one_line_printable_text(message, std::string_view::npos);
}

std::string integers_of(std::int64_t low, std::int64_t high) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  if (high != kMost || low == kLeast) return fmt::format("an integer from {} to {}", low, high);
  return fmt::format("an integer of at least {} and below 2^63", low);
}

std::string numbers_of(double low, double high) {
  if (std::isinf(low) && std::isinf(high)) return "a finite number";
  if (std::isinf(high)) return fmt::format("a finite number of at least {}", low);
  if (std::isinf(low)) return fmt::format("a finite number of at most {}", high);
  return fmt::format("a number from {} to {}", low, high);
}

/// Returns the reason why a scalar is not the expected number, with examples from its range.
template <class Number>
std::string not_a_number(const DocumentTree& value, Number low, Number high) {
  if (value.quoted && is_number(value.text)) return describe_tree_value(value) + ", text in quotes";
  if (is_number(value.text)) return describe_tree_value(value);
  constexpr std::pair<double, std::string_view> kExamples[] = {
      {4096, "4096"}, {0.5, "0.5"}, {40e6, "40e6"}};
  std::vector<std::string_view> examples;
  for (const auto& [number, text] : kExamples) {
    const bool fits = std::is_floating_point_v<Number> || number == std::trunc(number);
    if (fits && number >= static_cast<double>(low) && number <= static_cast<double>(high))
      examples.push_back(text);
  }
  return fmt::format(
      "{}, which is not a number{}", describe_tree_value(value),
      examples.empty() ? "" : fmt::format(" (as in {})", join_with_commas(examples)));
}

}  // namespace

std::string describe_tree_value(const DocumentTree& value) {
  switch (value.kind) {
    case DocumentTree::TreeValueKind::kNull: return "empty";
    case DocumentTree::TreeValueKind::kSequence: return "a list";
    case DocumentTree::TreeValueKind::kMapping: return "a mapping";
    case DocumentTree::TreeValueKind::kScalar: break;
  }
  const std::string shown = one_line_printable_text(value.text);
  if (value.quoted) return '"' + shown + '"';
  return is_non_text_scalar(value.text) ? shown : "'" + shown + "'";
}

bool DocumentNode::is_null() const { return tree_->kind == DocumentTree::TreeValueKind::kNull; }
bool DocumentNode::is_scalar() const { return tree_->kind == DocumentTree::TreeValueKind::kScalar; }
bool DocumentNode::is_sequence() const {
  return tree_->kind == DocumentTree::TreeValueKind::kSequence;
}
bool DocumentNode::is_mapping() const {
  return tree_->kind == DocumentTree::TreeValueKind::kMapping;
}

bool DocumentNode::is_number() const {
  return is_scalar() && !tree_->quoted && stepwright::is_number(tree_->text);
}

void DocumentNode::must_be_mapping() const {
  if (!is_mapping()) fail("must be a mapping (key: value); it is " + describe_tree_value(*tree_));
}

void DocumentNode::must_be_scalar(std::string_view wanted) const {
  if (!is_scalar()) fail(fmt::format("must be {}; it is {}", wanted, describe_tree_value(*tree_)));
}

std::optional<DocumentNode> DocumentNode::find(std::string_view key) const {
  must_be_mapping();
  const DocumentTree* value = tree_->find(key);
  if (value == nullptr) return std::nullopt;
  return child(*value);
}

DocumentNode DocumentNode::get(std::string_view key) const {
  if (const std::optional<DocumentNode> value = find(key)) return *value;
  fail(fmt::format("the key '{}' is missing", key));
}

void DocumentNode::allow_only_keys(std::span<const std::string_view> keys) const {
  must_be_mapping();
  for (std::size_t i = 0; i < tree_->items.size(); i += 2) {
    const DocumentTree& key = tree_->items[i];
    if (std::ranges::find(keys, key.text) != keys.end()) continue;
    fail_input(fmt::format(
        "{}: unknown key '{}'{} (allowed: {})", joined(place(content_->name, key), dotted_path()),
        one_line_printable_text(key.text), spelling_hint(key.text, keys), join_with_commas(keys)));
  }
}

void DocumentNode::allow_only_keys(std::initializer_list<std::string_view> keys) const {
  allow_only_keys(std::span<const std::string_view>(keys.begin(), keys.size()));
}

std::vector<std::pair<std::string, DocumentNode>> DocumentNode::mapping_members() const {
  must_be_mapping();
  std::vector<std::pair<std::string, DocumentNode>> found;
  found.reserve(tree_->items.size() / 2);
  for (std::size_t i = 0; i < tree_->items.size(); i += 2) {
    found.emplace_back(tree_->items[i].text, child(tree_->items[i + 1]));
  }
  return found;
}

std::size_t DocumentNode::size() const {
  if (is_mapping()) return tree_->items.size() / 2;
  if (!is_sequence()) fail("must be a list or a mapping; it is " + describe_tree_value(*tree_));
  return tree_->items.size();
}

DocumentNode DocumentNode::at(std::size_t index) const {
  if (!is_sequence()) fail("must be a list; it is " + describe_tree_value(*tree_));
  if (index >= tree_->items.size()) {
    fail(fmt::format("has {} elements; element {} does not exist", tree_->items.size(), index));
  }
  return child(tree_->items[index]);
}

std::vector<std::string> DocumentNode::as_text_list() const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < size(); ++i) texts.push_back(at(i).text());
  return texts;
}

std::string DocumentNode::text() const {
  must_be_scalar("text");
  return tree_->text;
}

bool DocumentNode::boolean() const {
  must_be_scalar("true or false");
  const std::optional<bool> truth = parse_boolean_word(tree_->text);
  if (!truth || tree_->quoted) fail("must be true or false; it is " + describe_tree_value(*tree_));
  return *truth;
}

std::int64_t DocumentNode::integer(std::int64_t low, std::int64_t high) const {
  if (!is_scalar()) must_be_scalar(integers_of(low, high));
  const IntegerParseResult read = tree_->quoted ? IntegerParseResult{} : read_integer(tree_->text);
  const bool good = read.status == IntegerParseResult::IntegerParseStatus::kGood;
  if (good && read.value >= low && read.value <= high) return read.value;
  fail(
      fmt::format("must be {}; it is {}", integers_of(low, high), not_a_number(*tree_, low, high)));
}

double DocumentNode::number(double low, double high) const {
  if (!is_scalar()) must_be_scalar(numbers_of(low, high));
  const std::optional<double> read = tree_->quoted ? std::nullopt : read_double(tree_->text);
  if (read && *read >= low && *read <= high) return *read;
  fail(fmt::format("must be {}; it is {}", numbers_of(low, high), not_a_number(*tree_, low, high)));
}

double DocumentNode::number() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return number(-kInfinity, kInfinity);
}

std::size_t DocumentNode::choice_of(std::span<const std::string_view> words) const {
  if (!is_scalar()) must_be_scalar("one of " + join_with_commas(words));
  const auto found = std::ranges::find(words, tree_->text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  fail(fmt::format("must be one of {}; it is {}{}", join_with_commas(words),
                   describe_tree_value(*tree_), spelling_hint(tree_->text, words)));
}

std::string DocumentNode::dotted_path() const {
  std::string found;
  path_to(content_->root, tree_, found);
  return found;
}

const std::string& DocumentNode::file() const { return content_->name; }

std::uint32_t DocumentNode::source_line() const { return tree_->line; }

std::string DocumentNode::file_position_text() const {
  return joined(place(content_->name, *tree_), dotted_path());
}

DocumentTree DocumentNode::copy_tree() const {
  DocumentTree copy = *tree_;
  forget_positions(copy);
  return copy;
}

DocumentTree DocumentNode::copy_tree_with_file_positions() const { return *tree_; }

void DocumentNode::fail(std::string_view message) const {
  fail_input(fmt::format("{}: {}", file_position_text(), on_one_line(message)),
             error_place(content_->name, *tree_, dotted_path()));
}

void DocumentNode::fail_unsupported(std::string_view message) const {
  stepwright::fail_unsupported(fmt::format("{}: {}", file_position_text(), on_one_line(message)),
                               error_place(content_->name, *tree_, dotted_path()));
}

}  // namespace stepwright
