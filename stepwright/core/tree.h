#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright {

/// One value of a document and everything below it. Readers fill it, `Document` guards it, and code
/// that writes a file builds it by hand:
///
///     Tree plan = Tree::mapping();
///     plan.set("stepwright", "plan/1");
///     plan.set("parallel", Tree::flow_mapping().set("tensor", 4).set("pipeline", 2));
///     plan.set("layers", Tree::flow_sequence(std::vector<int>{40, 40}));
///     std::string text = Document::from(plan, "plan.yaml").to_yaml();
struct Tree {
  /// The kind of a value; a scalar is a number, a truth value or text.
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMapping };

  Kind kind = Kind::kNull;
  /// A scalar that is text although it reads like a number, a truth value or null.
  bool quoted = false;
  /// Written on one line, as `{a: 1}` or `[1, 2]`.
  bool flow = false;
  /// The line on which the value begins in its file, from 1; 0 when it came from no file.
  std::uint32_t line = 0;
  /// Bytes from the start of the line, from 1.
  std::uint32_t column = 0;
  /// The scalar as it was written, without quotes.
  std::string text;
  /// The elements of a sequence; key, value, key, value, ... of a mapping.
  std::vector<Tree> items;

  /// Makes a null value.
  Tree() = default;
  // The conversions are implicit so that `set("tensor", 4)` reads well.

  /// Text. It is quoted in the file where it would otherwise read as something else.
  Tree(std::string_view words);
  Tree(const char* words) : Tree(std::string_view(words)) {}
  Tree(const std::string& words) : Tree(std::string_view(words)) {}
  /// The shortest number that reads back exactly. Fails with `kInput` when it is not finite.
  Tree(double number);
  /// Makes a truth value.
  template <std::same_as<bool> T>
  Tree(T truth) : kind(Kind::kScalar), text(truth ? "true" : "false") {}
  /// Makes a whole number.
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  Tree(T number) : kind(Kind::kScalar), text(std::to_string(number)) {}

  /// A scalar (or null) as a file spells it.
  static Tree scalar(std::string spelling, bool in_quotes);
  /// An empty mapping, one member a line.
  static Tree mapping();
  /// An empty sequence, one element a line.
  static Tree sequence();
  /// An empty mapping on one line.
  static Tree flow_mapping();
  /// An empty sequence on one line.
  static Tree flow_sequence();
  /// A sequence on one line of anything that a Tree is made from.
  template <class Range>
  static Tree flow_sequence(const Range& values) {
    Tree made = flow_sequence();
    for (const auto& value : values) made.add(value);
    return made;
  }

  /// Adds a member to a mapping (or to null, which becomes one), or replaces it.
  Tree& set(std::string_view key, Tree value);
  /// Adds an element to a sequence (or to null, which becomes one).
  Tree& add(Tree value);
  /// The value of a key of a mapping; null pointer when absent or not a mapping.
  [[nodiscard]] const Tree* find(std::string_view key) const;
  /// Finds a key to change its value.
  [[nodiscard]] Tree* find(std::string_view key);

  /// Whether both hold the same values in the same order; layout and position do not count.
  friend bool operator==(const Tree& a, const Tree& b) {
    return a.kind == b.kind && a.quoted == b.quoted && a.text == b.text && a.items == b.items;
  }
};

}  // namespace stepwright
