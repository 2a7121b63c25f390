#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <system_error>

#include "stepwright/core/assembler.h"
#include "stepwright/core/document_content.h"
#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/core/yaml_reader.h"

namespace stepwright {
namespace {

/// A replacement in progress: its path, value and file, for messages.
struct Override {
  const std::string& file;
  std::string_view path;
  std::string_view value;

  [[noreturn]] void fail(std::string_view reason) const {
    fail_input(fmt::format("{}: cannot set {} to '{}': {}", file,
                           one_line_printable_text(path, 1000), one_line_printable_text(value),
                           reason));
  }
};

DocumentTree& element(DocumentTree& list, std::string_view segment, const Override& change) {
  std::size_t index = 0;
  const auto read = std::from_chars(segment.data(), segment.data() + segment.size(), index);
  if (read.ec != std::errc() || read.ptr != segment.data() + segment.size()) {
    change.fail(fmt::format("'{}' should be the number of an element of a list",
                            one_line_printable_text(segment)));
  }
  if (index >= list.items.size()) {
    change.fail(fmt::format("the list has {} elements (from 0); element {} does not exist",
                            list.items.size(), index));
  }
  return list.items[index];
}

/// Returns a mapping of YAML in which a path leads to a value: "{a: {b: 4}}" for "a.b" and "4".
std::string mapping_to_value(std::string_view path, std::string_view value) {
  const std::size_t dot = path.find('.');
  return fmt::format("{{{}: {}}}", path.substr(0, dot),
                     dot == std::string_view::npos ? std::string(value)
                                                   : mapping_to_value(path.substr(dot + 1), value));
}

/// Returns the value to which a segment of the path leads; creates it if a mapping lacks it.
DocumentTree& step(DocumentTree& from, std::string_view segment, const Override& change) {
  if (segment.empty()) change.fail("the path has an empty part");
  if (segment.size() > kMaxMappingKeyBytes) {
    change.fail(fmt::format("a key may have {} bytes", kMaxMappingKeyBytes));
  }
  if (from.kind == DocumentTree::TreeValueKind::kSequence) return element(from, segment, change);
  if (from.kind == DocumentTree::TreeValueKind::kScalar) {
    const auto at = static_cast<std::size_t>(segment.data() - change.path.data());
    const std::string_view holder = change.path.substr(0, at == 0 ? 0 : at - 1);
    change.fail(fmt::format(
        "{} is {}, which has no keys; if {} takes a mapping, set {}='{}' instead",
        one_line_printable_text(holder), describe_tree_value(from), one_line_printable_text(holder),
        one_line_printable_text(holder),
        one_line_printable_text(mapping_to_value(change.path.substr(at), change.value))));
  }
  if (from.find(segment) == nullptr) from.set(segment, DocumentTree());
  return *from.find(segment);
}

bool is_factor(std::string_view value) {
  return value.ends_with('x') && is_number(value.substr(0, value.size() - 1));
}

/// Multiplies exactly if both numbers are integers; a whole result is written as an integer.
std::string product(std::string_view present, std::string_view factor, const Override& change) {
  const IntegerParseResult a = read_integer(present);
  const IntegerParseResult b = read_integer(factor);
  const bool exact = a.status == IntegerParseResult::IntegerParseStatus::kGood &&
                     b.status == IntegerParseResult::IntegerParseStatus::kGood;
  std::int64_t whole = 0;
  if (exact && !__builtin_mul_overflow(a.value, b.value, &whole)) return std::to_string(whole);
  const std::optional<double> x = read_double(present);
  const std::optional<double> y = read_double(factor);
  if (!x || !y || !std::isfinite(*x * *y)) change.fail("the product is too large");
  const double result = *x * *y;
  constexpr double kExactIntegers = 9007199254740992.0;
  if (std::abs(result) < kExactIntegers && result == std::trunc(result)) {
    return std::to_string(static_cast<std::int64_t>(result));
  }
  return number_text(result);
}

DocumentTree multiplied(const DocumentTree& present, const Override& change) {
  const bool number = present.kind == DocumentTree::TreeValueKind::kScalar && !present.quoted &&
                      is_number(present.text);
  if (!number) {
    change.fail(fmt::format("a factor needs a number; the present value is {}",
                            describe_tree_value(present)));
  }
  const std::string_view factor = change.value.substr(0, change.value.size() - 1);
  return DocumentTree::make_scalar(product(present.text, factor, change), false);
}

/// Text in quotes is read by the rules of YAML; anything else is one bare word.
DocumentTree read_value(const Override& change) {
  const std::string_view value = change.value;
  if (value.empty()) change.fail("the value is empty (write null or \"\")");
  if (find_bad_utf8(value) != std::string_view::npos) change.fail("the value is not UTF-8");
  if (value.starts_with('[') || value.starts_with('{')) change.fail("it is not a scalar");
  if (!value.starts_with('"') && !value.starts_with('\'')) {
    return DocumentTree::make_scalar(std::string(value), false);
  }
  DocumentTree read =
      read_yaml(value, fmt::format("the value of {}", one_line_printable_text(change.path)));
  if (read.kind != DocumentTree::TreeValueKind::kScalar) change.fail("it is not a scalar");
  read.line = read.column = 0;
  return read;
}

}  // namespace

void replace_scalar_at_path(DocumentTree& root, std::string_view path, std::string_view value,
                            const std::string& file) {
  const Override change{file, path, value};
  if (find_bad_utf8(path) != std::string_view::npos) change.fail("the path is not UTF-8");
  DocumentTree* at = &root;
  std::size_t depth = 0;
  for (std::size_t begin = 0; begin <= path.size(); ++depth) {
    if (depth == kMaxDocumentNestingDepth) {
      change.fail(fmt::format("nested deeper than {} levels", kMaxDocumentNestingDepth));
    }
    const std::size_t end = std::min(path.find('.', begin), path.size());
    at = &step(*at, path.substr(begin, end - begin), change);
    begin = end + 1;
  }
  if (at->kind == DocumentTree::TreeValueKind::kSequence ||
      at->kind == DocumentTree::TreeValueKind::kMapping) {
    change.fail(fmt::format("it is {}; only a scalar can be replaced", describe_tree_value(*at)));
  }
  *at = is_factor(value) ? multiplied(*at, change) : read_value(change);
}

}  // namespace stepwright
