#include "stepwright/framework_files/syntax/python_arithmetic.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "stepwright/framework_files/syntax/python_value.h"

namespace stepwright {
namespace {

constexpr std::size_t kMostRepeated = 10'000;

std::optional<std::int64_t> whole(const Tree& tree) {
  if (tree.kind != Tree::Kind::kScalar || tree.quoted) return std::nullopt;
  std::int64_t value = 0;
  const char* const end = tree.text.data() + tree.text.size();
  const auto [stop, error] = std::from_chars(tree.text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// The result of an operator on whole numbers; nothing where it is none.
std::optional<Tree> calculated(char op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const bool over = op == '+'   ? __builtin_add_overflow(a, b, &result)
                    : op == '-' ? __builtin_sub_overflow(a, b, &result)
                                : __builtin_mul_overflow(a, b, &result);
  if (op == '/') {
    if (a < 0 || b <= 0) return std::nullopt;
    return Tree(a / b);
  }
  if (over) return std::nullopt;
  return Tree(result);
}

/// "[a] * 3".
std::optional<Tree> repeated(const Tree& list, std::int64_t count) {
  const auto weight = weight_of(list);
  if (count < 0 || !weight || *weight * static_cast<std::size_t>(count) > kMostRepeated) {
    return std::nullopt;
  }
  Tree result = Tree::flow_sequence();
  for (std::int64_t i = 0; i < count; ++i) {
    result.items.insert(result.items.end(), list.items.begin(), list.items.end());
  }
  return result;
}

/// Whether a scalar was written in quotes: it is marked so only where it could be something else.
bool is_text(const Tree& tree) {
  return tree.kind == Tree::Kind::kScalar &&
         (tree.quoted || !Tree(std::string_view(tree.text)).quoted);
}

std::optional<double> number(const Tree& tree) {
  if (tree.kind != Tree::Kind::kScalar || tree.quoted) return std::nullopt;
  double value = 0;
  const char* const end = tree.text.data() + tree.text.size();
  const auto [stop, error] = std::from_chars(tree.text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Tree> combined_python(char op, const Tree& a, const Tree& b) {
  const auto left = whole(a);
  const auto right = whole(b);
  if (left && right) return calculated(op, *left, *right);
  if (a.kind == Tree::Kind::kSequence && op == '*' && right &&
      *right <= std::int64_t{kMostRepeated}) {
    return repeated(a, *right);
  }
  if (a.kind == Tree::Kind::kSequence && b.kind == Tree::Kind::kSequence && op == '+' &&
      a.items.size() + b.items.size() <= kMostRepeated) {
    Tree result = a;
    result.items.insert(result.items.end(), b.items.begin(), b.items.end());
    return result;
  }
  return std::nullopt;
}

std::optional<Tree> python_method(const Tree& text, std::string_view method,
                                  const Tree& arguments) {
  if (!is_text(text)) return std::nullopt;
  if (arguments.items.empty() && (method == "upper" || method == "lower")) {
    Tree changed = text;
    std::ranges::transform(changed.text, changed.text.begin(), [&](unsigned char c) {
      return static_cast<char>(method == "upper" ? std::toupper(c) : std::tolower(c));
    });
    return changed;
  }
  const Tree* unnamed = arguments.find("[]");
  if (unnamed == nullptr || unnamed->items.size() != 1) return std::nullopt;
  const Tree& part = unnamed->items.front();
  if (!is_text(part)) return std::nullopt;
  if (method == "startswith") return Tree(text.text.starts_with(part.text));
  if (method == "endswith") return Tree(text.text.ends_with(part.text));
  return std::nullopt;
}

std::optional<bool> compared_python(std::string_view sign, const Tree& a, const Tree& b) {
  const bool scalars = a.kind == Tree::Kind::kScalar && b.kind == Tree::Kind::kScalar;
  if (!scalars || a.quoted != b.quoted) return std::nullopt;
  if (sign == "==") return a.text == b.text;
  if (sign == "!=") return a.text != b.text;
  const auto left = number(a);
  const auto right = number(b);
  if (!left || !right) return std::nullopt;
  if (sign == "<") return *left < *right;
  if (sign == "<=") return *left <= *right;
  return sign == ">" ? *left > *right : *left >= *right;
}

}  // namespace stepwright
