#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Largest nesting depth of lists and mappings that a YAML or JSON document may have.
inline constexpr std::size_t kMaxDocumentNestingDepth = 100;

/// Largest number of values and keys that a YAML or JSON document may have. Each takes about 100
/// bytes of memory, and twice that while its list grows.
inline constexpr std::size_t kMaxYamlOrJsonValues = 2'000'000;

/// Largest memory, in bytes, for copies that YAML aliases make of anchored values, so that a short
/// text cannot expand into a huge document.
inline constexpr std::size_t kMaxYamlAliasCopyBytes = std::size_t{16} << 20U;

/// Longest key of a mapping, in bytes. Even with every byte escaped, it stays within the 1,024
/// bytes that YAML allows for a simple key.
inline constexpr std::size_t kMaxMappingKeyBytes = 240;

/// A position in a text file: line and column (in bytes), both from 1.
struct TextPosition {
  std::size_t line = 0;
  std::size_t column = 0;
};

/// Returns the line and column of the byte at `offset` in a text.
TextPosition text_position_at_offset(std::string_view text, std::size_t offset);

/// Throws an error of kind `kInput` with the message `file:line:column: message`; if the line is 0
/// (unknown position), `file: message`.
[[noreturn]] void fail_at_text_position(const std::string& file, TextPosition at,
                                        std::string_view message);
/// Throws an error of kind `kInput` that says that a list or mapping is nested too deep, and where.
[[noreturn]] void fail_nested_too_deep(const std::string& file, TextPosition at);

/// A key that occurs more than once in a mapping of a file, with the lines (from 1) of its first
/// and last occurrence.
struct RepeatedKey {
  std::string key;
  std::uint32_t first_line = 0;
  std::uint32_t line = 0;
};

/// Builds the tree of a YAML or JSON document from a parser's events. Refuses documents that are
/// nested too deep or have too many values, keys that are not text, and repeated keys.
class DocumentTreeAssembler {
 public:
  /// `file`: name for messages, which must outlive this object. `repeated`: receives keys that
  /// occur twice in a mapping, whose last value then counts; null: repeated keys are refused.
  explicit DocumentTreeAssembler(const std::string& file,
                                 std::vector<RepeatedKey>* repeated = nullptr)
      : file_(file), repeated_(repeated) {}

  /// Begins a sequence or mapping. `container`: an empty tree of that kind, with its position in
  /// the file.
  void begin_container(DocumentTree container);
  /// Ends the innermost sequence or mapping that was begun in the tree. `finished`: receives a copy
  /// of the container for later YAML aliases; null: no copy is made.
  void end_document_container(DocumentTree* finished = nullptr);
  /// Adds a scalar or null at the parser's current place: as an element of a list, a key, or the
  /// value of a key.
  void add_scalar_value(DocumentTree value);
  /// Adds a copy of an anchored value at a YAML alias (`*name`). `at`: position of the alias, for
  /// errors.
  void add_alias_copy(const DocumentTree& value, TextPosition at);
  /// Announces that the next value belongs to a YAML merge key (`<<`): a mapping or a list of
  /// mappings, whose members are added to the current mapping unless it has these keys itself.
  /// Earlier mappings of the list take precedence.
  void expect_merge_value() { open_.back().merge_due = true; }
  /// True if the parser's next event must be a key, because a mapping is open and its last key has
  /// a value.
  [[nodiscard]] bool expects_key() const;
  /// Returns the key of the current mapping that still has no value; null if there is none.
  [[nodiscard]] const DocumentTree* yaml_key_without_value() const;
  /// Returns the finished tree of the document; a null value if the parser reported no event.
  DocumentTree finished_document_tree() { return std::move(root_); }

 private:
  struct Open {
    DocumentTree container;
    bool merge_due = false;
    /// Mappings whose members a YAML merge key (`<<`) adds to the container.
    std::vector<DocumentTree> merged{};
  };
  void place(DocumentTree value);
  void take_merged(DocumentTree value);
  void count_copy(std::size_t bytes, TextPosition at);
  void check_key(const DocumentTree& key) const;
  void settle_duplicates(DocumentTree& mapping);

  const std::string& file_;
  std::vector<RepeatedKey>* repeated_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  /// Memory, in bytes, of all copies of anchored values that were made for YAML aliases.
  std::size_t copied_ = 0;
  DocumentTree root_;
};

}  // namespace stepwright
