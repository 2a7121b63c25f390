#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright {

/// One value of a YAML or JSON document and everything below it. Readers build trees, a
/// `YamlJsonDocument` keeps one unchanged, and code that writes a file builds it by hand:
///
///     DocumentTree plan = DocumentTree::make_empty_mapping();
///     plan.set("stepwright", "plan/1");
///     plan.set("parallel", DocumentTree::empty_flow_mapping().set("tensor", 4));
///     plan.set("layers", DocumentTree::empty_flow_sequence(std::vector<int>{40, 40}));
///     std::string text = YamlJsonDocument::from_tree(plan, "plan.yaml").to_yaml();
struct DocumentTree {
  /// Kinds of values in a document. A scalar is a number, a truth value or text.
  enum class TreeValueKind : std::uint8_t { kNull, kScalar, kSequence, kMapping };

  TreeValueKind kind = TreeValueKind::kNull;
  /// True for text in quotes: it would otherwise read as a number, a truth value or null.
  bool quoted = false;
  /// True if a list or mapping is written on one line, as `{a: 1}` or `[1, 2]`.
  bool flow = false;
  /// Line on which a value of a document begins in its file, from 1; 0 if it did not come from a
  /// file.
  std::uint32_t line = 0;
  /// Column in which a value of a document begins in its file: bytes from the start of the line,
  /// from 1.
  std::uint32_t column = 0;
  /// Text of a scalar as it was written in the file, without quotes; empty for other kinds.
  std::string text;
  /// Elements of a sequence; for a mapping, its keys and values in turn: key, value, key, value,
  /// ...
  std::vector<DocumentTree> items;

  /// Makes a null value of a YAML or JSON document.
  DocumentTree() = default;
  // The conversions are implicit so that `set("tensor", 4)` reads well.

  /// Makes a text value of a YAML or JSON document. It is written in quotes if it would otherwise
  /// read as a number, a truth value or null.
  DocumentTree(std::string_view words);
  DocumentTree(const char* words) : DocumentTree(std::string_view(words)) {}
  DocumentTree(const std::string& words) : DocumentTree(std::string_view(words)) {}
  /// Makes a number value of a YAML or JSON document, written with the fewest digits that read back
  /// exactly. Fails with `kInput` if the number is not finite.
  DocumentTree(double number);
  /// Makes a truth value (true or false) of a YAML or JSON document.
  template <std::same_as<bool> T>
  DocumentTree(T truth) : kind(TreeValueKind::kScalar), text(truth ? "true" : "false") {}
  /// Makes a whole-number value of a YAML or JSON document.
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  DocumentTree(T number) : kind(TreeValueKind::kScalar), text(std::to_string(number)) {}

  /// Makes a scalar or null of a YAML or JSON document from the word that a file has for it.
  /// `in_quotes`: true if the word was in quotes, and is therefore text.
  static DocumentTree make_scalar(std::string spelling, bool in_quotes);
  /// Makes an empty mapping that is written over several lines, one member per line.
  static DocumentTree make_empty_mapping();
  /// Makes an empty sequence that is written over several lines, one element per line.
  static DocumentTree make_empty_sequence();
  /// Makes an empty mapping that is written on one line, as `{a: 1}`.
  static DocumentTree empty_flow_mapping();
  /// Makes an empty sequence that is written on one line, as `[1, 2]`.
  static DocumentTree empty_flow_sequence();
  /// Makes a sequence that is written on one line, from a range of values.
  template <class SequenceValueRange>
  static DocumentTree empty_flow_sequence(const SequenceValueRange& values) {
    DocumentTree made = empty_flow_sequence();
    for (const auto& value : values) made.add(value);
    return made;
  }

  /// Adds a key with its value to a mapping, or replaces the value. Null becomes a mapping first.
  DocumentTree& set(std::string_view key, DocumentTree value);
  /// Adds an element to a sequence. Null becomes a sequence first.
  DocumentTree& add(DocumentTree value);
  /// Returns the value of a key; null pointer if the key is absent or this is no mapping.
  [[nodiscard]] const DocumentTree* find(std::string_view key) const;
  /// Returns the value of a key, which the caller may change; null pointer if the key is absent or
  /// this is no mapping.
  [[nodiscard]] DocumentTree* find(std::string_view key);

  /// True if two trees have the same values in the same order. Block or one-line style and file
  /// positions are not compared.
  friend bool operator==(const DocumentTree& a, const DocumentTree& b) {
    return a.kind == b.kind && a.quoted == b.quoted && a.text == b.text && a.items == b.items;
  }
};

}  // namespace stepwright
