#include "stepwright/framework_files/syntax/python_arithmetic.h"

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

}  // namespace stepwright
