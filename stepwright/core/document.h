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

struct DocumentTree;
struct DocumentContent;

/// A value of a YAML or JSON document that was read: a light handle, valid as long as the
/// `YamlJsonDocument` (or the one that it was moved to) lives. Reading a value as a type that it
/// does not have fails with `kInput`; the message names file, position, field path, the value and
/// what is allowed.
class DocumentNode {
 public:
  /// True if the value is missing, `null` or `~`.
  [[nodiscard]] bool is_null() const;
  /// True if this value of a document is a number, a truth value or text.
  [[nodiscard]] bool is_scalar() const;
  /// True if this value of a document is a scalar that reads as a number and is not in quotes.
  [[nodiscard]] bool is_number() const;
  /// True if this value of a document is a list.
  [[nodiscard]] bool is_sequence() const;
  /// True if this value of a document is a mapping of keys to values.
  [[nodiscard]] bool is_mapping() const;

  /// Returns the value of a key of this mapping; nullopt if it lacks the key. Fails if this value
  /// is not a mapping.
  [[nodiscard]] std::optional<DocumentNode> find(std::string_view key) const;
  /// Returns the value of a key of this mapping. Fails, naming the key, if the mapping lacks it, or
  /// if this value is not a mapping.
  [[nodiscard]] DocumentNode get(std::string_view key) const;
  /// Fails if the mapping has a key that is not in `keys`; the message suggests the nearest allowed
  /// key.
  void allow_only_keys(std::span<const std::string_view> keys) const;
  /// Fails if the mapping has a key that is not in `keys`: `node.allow_only_keys({"name",
  /// "nodes"})`.
  void allow_only_keys(std::initializer_list<std::string_view> keys) const;
  /// Returns keys and values of a mapping in file order. Fails if this is not a mapping.
  [[nodiscard]] std::vector<std::pair<std::string, DocumentNode>> mapping_members() const;

  /// Returns the number of elements of this sequence or of members of this mapping. Fails for a
  /// scalar and for null.
  [[nodiscard]] std::size_t size() const;
  /// Returns an element of this sequence of a document, counted from 0. Fails if this value is not
  /// a sequence or is too short.
  [[nodiscard]] DocumentNode at(std::size_t index) const;

  /// Returns the text of this scalar of a document as it was written, without quotes (so `version:
  /// 0.10` gives `0.10`).
  [[nodiscard]] std::string text() const;
  /// Returns the texts of a list of scalars in a document. Fails if this value is not a list, or an
  /// element no scalar.
  [[nodiscard]] std::vector<std::string> as_text_list() const;
  /// Returns this truth value of a document: the words `true` or `false`, not in quotes. Fails for
  /// other values.
  [[nodiscard]] bool boolean() const;
  /// Returns this value of a document as an integer; fails unless it is one from `low` to `high`,
  /// both allowed. It may be written `40e6`; text in quotes is not a number.
  [[nodiscard]] std::int64_t integer(std::int64_t low = INT64_MIN,
                                     std::int64_t high = INT64_MAX) const;
  /// Returns this value of a document as a finite number; fails unless it is one from `low` to
  /// `high`, both allowed.
  [[nodiscard]] double number(double low, double high) const;
  /// Returns this value of a document as a finite number; fails if it is none.
  [[nodiscard]] double number() const;
  /// Returns the enumerator that this word of a document stands for in a table of words. Fails for
  /// other words, listing those of the table and suggesting the nearest.
  template <class EnumNamedByWord, std::size_t kCount>
  [[nodiscard]] EnumNamedByWord choice(const Named<EnumNamedByWord> (&table)[kCount]) const {
    std::array<std::string_view, kCount> words;
    for (std::size_t i = 0; i < kCount; ++i) words[i] = table[i].name;
    return table[choice_of(words)].value;
  }

  /// Returns where this value is in its file: `job.yaml:3:7: batch.length`; without line and column
  /// if the value did not come from a file.
  [[nodiscard]] std::string file_position_text() const;
  /// Returns the dotted path of this value from the root of its document: `batch.length`,
  /// `layers.0`; empty for the root.
  [[nodiscard]] std::string dotted_path() const;
  /// Returns the name of this value's document, for messages.
  [[nodiscard]] const std::string& file() const;
  /// Returns the line of the file on which the value begins, from 1; 0 if it did not come from a
  /// file.
  [[nodiscard]] std::uint32_t source_line() const;
  /// Returns a copy of this value of a document and everything below it, without file positions, to
  /// be written elsewhere.
  [[nodiscard]] DocumentTree copy_tree() const;
  /// Returns a copy of the value and everything below it with file positions, so that it can be
  /// changed and then read with errors that still point into the file.
  [[nodiscard]] DocumentTree copy_tree_with_file_positions() const;
  /// Throws an error of kind `kInput` with `file_position_text()` and the message.
  [[noreturn]] void fail(std::string_view message) const;
  /// Throws an error of kind `kUnsupported` with `file_position_text()` and the message.
  [[noreturn]] void fail_unsupported(std::string_view message) const;

 private:
  friend class YamlJsonDocument;
  DocumentNode(const DocumentContent* content, const DocumentTree* tree)
      : content_(content), tree_(tree) {}

  [[nodiscard]] DocumentNode child(const DocumentTree& tree) const { return {content_, &tree}; }
  void must_be_mapping() const;
  void must_be_scalar(std::string_view wanted) const;
  [[nodiscard]] std::size_t choice_of(std::span<const std::string_view> words) const;

  const DocumentContent* content_;
  const DocumentTree* tree_;
};

/// An immutable YAML or JSON document. Text whose first character is `{` or `[` must be strict
/// JSON; any other text must be one YAML document without tags, whose aliases and merge keys are
/// expanded. Lines end with LF or CR LF, no mapping has a key twice, and docs/limits.md lists
/// limits of size and nesting.
class YamlJsonDocument {
 public:
  /// Reads a YAML or JSON document from a text. `name`: name in messages. Fails with
  /// `kInput`, naming line and column, if the text is malformed.
  static YamlJsonDocument parse(std::string_view text, std::string name);
  /// Reads a document from a file. Fails with `kInput` if it is missing, a directory, unreadable or
  /// malformed.
  static YamlJsonDocument load(const std::filesystem::path& path);
  /// Makes a document from a tree built in code. Fails with `kInput` if the tree has something that
  /// files may not have, such as a repeated key.
  static YamlJsonDocument from_tree(DocumentTree tree, std::string name);

  YamlJsonDocument(YamlJsonDocument&& other) noexcept;
  YamlJsonDocument& operator=(YamlJsonDocument&& other) noexcept;
  ~YamlJsonDocument();

  /// Returns the outermost value of the document; null for an empty file.
  [[nodiscard]] DocumentNode root() const&;
  /// Deleted, because the node would outlive a temporary document: keep the document in a variable.
  DocumentNode root() const&& = delete;

  /// Returns the name of the document for messages: the path of its file.
  [[nodiscard]] const std::string& document_name() const;

  /// Returns a copy of the document in which the scalar at a dotted path (`batch.length`,
  /// `layers.0`) is replaced. `value` is a YAML scalar (in quotes if it is text that reads like a
  /// number), or a factor such as `2x` or `0.5x` of the present number. Missing keys of mappings
  /// are created. Fails with `kInput` if the path leads through a scalar, beyond the end of a list,
  /// or to a list or mapping, and if a factor is applied to something other than a number.
  [[nodiscard]] YamlJsonDocument copy_with_replaced_scalar(std::string_view path,
                                                           std::string_view value) const;

  /// Returns the document as YAML text, which reads back as the same values in the same order. The
  /// text is the same on every machine.
  [[nodiscard]] std::string to_yaml() const;

 private:
  explicit YamlJsonDocument(std::unique_ptr<const DocumentContent> content);

  std::unique_ptr<const DocumentContent> content_;
};

}  // namespace stepwright
