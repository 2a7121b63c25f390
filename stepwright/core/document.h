#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright {

struct Tree;
struct DocumentContent;

/// A value of a document that was read: a light handle, valid as long as the `Document` (or the one
/// it was moved to) lives. Reading a value as something else than it is fails with `kInput`; the
/// message names file, position, field path, the value and what is allowed.
class Node {
 public:
  /// Null: the word `null` or `~`, or nothing at all.
  [[nodiscard]] bool is_null() const;
  /// A number, a truth value or text.
  [[nodiscard]] bool is_scalar() const;
  /// A scalar that reads as a number (and is not in quotes).
  [[nodiscard]] bool is_number() const;
  /// True if this is a list.
  [[nodiscard]] bool is_sequence() const;
  /// True if this is a mapping of keys to values.
  [[nodiscard]] bool is_mapping() const;

  /// The value of a key; nothing when absent. Fails when this is not a mapping.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;
  /// The value of a key. Fails when this is not a mapping, or naming the missing key.
  [[nodiscard]] Node get(std::string_view key) const;
  /// Fails when a mapping has a key that is not among these, naming the nearest of them.
  void allow_only(std::span<const std::string_view> keys) const;
  /// Allows only these keys, for `node.allow_only({"name", "nodes"})`.
  void allow_only(std::initializer_list<std::string_view> keys) const;
  /// Members of a mapping in file order. Fails when this is not a mapping.
  [[nodiscard]] std::vector<std::pair<std::string, Node>> members() const;

  /// Elements of a sequence or members of a mapping. Fails for a scalar and for null.
  [[nodiscard]] std::size_t size() const;
  /// An element of a sequence, from 0. Fails when this is not a sequence or too short.
  [[nodiscard]] Node at(std::size_t index) const;

  /// Any scalar as it was written, without quotes (so `version: 0.10` gives `0.10`).
  [[nodiscard]] std::string text() const;
  /// `true` or `false`, not in quotes.
  [[nodiscard]] bool boolean() const;
  /// An integer, both ends included. It may be written `40e6`; text in quotes is not a number.
  [[nodiscard]] std::int64_t integer(std::int64_t low = INT64_MIN,
                                     std::int64_t high = INT64_MAX) const;
  /// A finite number, both ends included.
  [[nodiscard]] double number(double low, double high) const;
  /// Reads a finite number.
  [[nodiscard]] double number() const;
  /// The enumerator of a word. Fails listing the words of the table and naming the nearest.
  template <class Enum, std::size_t kCount>
  [[nodiscard]] Enum choice(const Named<Enum> (&table)[kCount]) const {
    std::array<std::string_view, kCount> words;
    for (std::size_t i = 0; i < kCount; ++i) words[i] = table[i].name;
    return table[choice_of(words)].value;
  }

  /// The place of this node: `job.yaml:3:7: batch.length`; without the position when it came from
  /// no file.
  [[nodiscard]] std::string where() const;
  /// The dotted path from the root: `batch.length`, `layers.0`; empty for the root.
  [[nodiscard]] std::string path() const;
  /// Name of the node's document, for messages.
  [[nodiscard]] const std::string& file() const;
  /// The line of its file on which it begins, from 1; 0 when it came from no file.
  [[nodiscard]] std::uint32_t line() const;
  /// A copy of the value and everything below it, without positions, to be written elsewhere.
  [[nodiscard]] Tree tree() const;
  /// Returns the value as a tree with positions, to be changed and read on as a part of the same
  /// file.
  [[nodiscard]] Tree placed_tree() const;
  /// Throws `kInput`: `where()` and the message.
  [[noreturn]] void fail(std::string_view message) const;
  /// Throws `kUnsupported`: `where()` and the message.
  [[noreturn]] void fail_unsupported(std::string_view message) const;

 private:
  friend class Document;
  Node(const DocumentContent* content, const Tree* tree) : content_(content), tree_(tree) {}

  [[nodiscard]] Node child(const Tree& tree) const { return {content_, &tree}; }
  void must_be_mapping() const;
  void must_be_scalar(std::string_view wanted) const;
  [[nodiscard]] std::size_t choice_of(std::span<const std::string_view> words) const;

  const DocumentContent* content_;
  const Tree* tree_;
};

/// A YAML or JSON file that was read, which never changes. Text whose first character is `{` or `[`
/// is strict JSON, any other is one YAML document without tags, its aliases and merge keys written
/// out. Lines end with LF or CR LF, no key stands twice, and docs/limits.md says how much of each a
/// document may have.
class Document {
 public:
  /// Reads a text; `name` stands for it in messages. Fails with `kInput`: `name:line:column`.
  static Document parse(std::string_view text, std::string name);
  /// Reads a file. Fails with `kInput` when it is missing, a directory, unreadable or malformed.
  static Document load(const std::filesystem::path& path);
  /// Makes a document of a tree built by hand. Fails with `kInput` on what no file may have.
  static Document from(Tree tree, std::string name);

  Document(Document&& other) noexcept;
  Document& operator=(Document&& other) noexcept;
  ~Document();

  /// The value that the whole document is; null for an empty file.
  [[nodiscard]] Node root() const&;
  /// The node would dangle: keep the document in a variable.
  Node root() const&& = delete;

  /// The name of the document in messages: the path of the file.
  [[nodiscard]] const std::string& name() const;

  /// A copy with the scalar at a dotted path replaced; an element of a list is a number, as in
  /// `layers.0`. `value` is a scalar as in YAML (in quotes when text is meant that reads like a
  /// number), or a factor such as `2x` or `0.5x` of the present number. Missing keys are created in
  /// mappings. Fails with `kInput` when the path runs through a scalar or past a list, when it
  /// names a list or mapping, and when a factor meets anything but a number.
  [[nodiscard]] Document with(std::string_view path, std::string_view value) const;

  /// YAML text that reads back as the same values in the same order; the same on every machine.
  [[nodiscard]] std::string to_yaml() const;

 private:
  explicit Document(std::unique_ptr<const DocumentContent> content);

  std::unique_ptr<const DocumentContent> content_;
};

}  // namespace stepwright
