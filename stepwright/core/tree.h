#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright {

/// One value of a document and everything below it. Readers build trees, `Document` keeps them
/// unchanged, and code that writes a file builds them by hand:
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
  /// True for text that reads like a number, a truth value or null, and is therefore written in
  /// quotes.
  bool quoted = false;
  /// True if the value is written on one line, as `{a: 1}` or `[1, 2]`.
  bool flow = false;
  /// Line on which the value begins in its file, from 1; 0 if it did not come from a file.
  std::uint32_t line = 0;
  /// Column in which the value begins: bytes from the start of the line, from 1.
  std::uint32_t column = 0;
  /// The scalar as it was written, without quotes.
  std::string text;
  /// Elements of a sequence; for a mapping: key, value, key, value, ...
  std::vector<Tree> items;

  /// Makes a null value.
  Tree() = default;
  // The conversions are implicit so that `set("tensor", 4)` reads well.

  /// Makes a text. It is quoted in the file if it would otherwise read as another kind of value.
  Tree(std::string_view words);
  Tree(const char* words) : Tree(std::string_view(words)) {}
  Tree(const std::string& words) : Tree(std::string_view(words)) {}
  /// Makes a number, with the fewest digits that read back exactly. Fails with `kInput` if it is
  /// not finite.
  Tree(double number);
  /// Makes a truth value.
  template <std::same_as<bool> T>
  Tree(T truth) : kind(Kind::kScalar), text(truth ? "true" : "false") {}
  /// Makes a whole number.
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  Tree(T number) : kind(Kind::kScalar), text(std::to_string(number)) {}

  /// Makes a scalar (or null) from its spelling in a file.
  static Tree scalar(std::string spelling, bool in_quotes);
  /// Makes an empty mapping, which is written with one member a line.
  static Tree mapping();
  /// Makes an empty sequence, which is written with one element a line.
  static Tree sequence();
  /// Makes an empty mapping, which is written on one line.
  static Tree flow_mapping();
  /// Makes an empty sequence, which is written on one line.
  static Tree flow_sequence();
  /// Makes a sequence on one line from a range of values that convert to trees.
  template <class Range>
  static Tree flow_sequence(const Range& values) {
    Tree made = flow_sequence();
    for (const auto& value : values) made.add(value);
    return made;
  }

  /// Adds a member to a mapping (or to null, which becomes a mapping), or replaces its value.
  Tree& set(std::string_view key, Tree value);
  /// Adds an element to a sequence (or to null, which becomes a sequence).
  Tree& add(Tree value);
  /// Returns the value of a key; null pointer if it is absent or this is not a mapping.
  [[nodiscard]] const Tree* find(std::string_view key) const;
  /// Returns the value of a key, to be changed; null pointer if it is absent or this is not a
  /// mapping.
  [[nodiscard]] Tree* find(std::string_view key);

  /// True if both have the same values in the same order; layout and file positions are not
  /// compared.
  friend bool operator==(const Tree& a, const Tree& b) {
    return a.kind == b.kind && a.quoted == b.quoted && a.text == b.text && a.items == b.items;
  }
};

}  // namespace stepwright
