#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"

namespace stepwright {

/// The most levels of lists and mappings inside each other that a document may have.
inline constexpr std::size_t kMaxNesting = 100;

/// The most values and keys that a document may have. Each takes about 100 bytes of memory, and
/// twice that while its list grows.
inline constexpr std::size_t kMaxDocumentValues = 2'000'000;

/// The most bytes of memory that anchored values and their aliased copies may take, so that a short
/// text cannot become a large document.
inline constexpr std::size_t kMaxAliasCopyBytes = std::size_t{16} << 20U;

/// The most bytes of a key: even with every byte escaped, the key remains a simple key of YAML
/// (1,024 bytes).
inline constexpr std::size_t kMaxKeyBytes = 240;

/// A position in a text file: line and column (in bytes), both counted from 1.
struct TextPosition {
  std::size_t line = 0;
  std::size_t column = 0;
};

/// Returns the line and column of the byte at `offset` in `text`.
TextPosition position_of(std::string_view text, std::size_t offset);

/// Throws an error of kind `kInput` that reads `file:line:column: message`; line 0: no position is
/// known, and it reads `file: message`.
[[noreturn]] void fail_at_position(const std::string& file, TextPosition at,
                                   std::string_view message);
/// Throws an error of kind `kInput` with the position of a list or mapping that is nested too deep.
[[noreturn]] void fail_too_deep(const std::string& file, TextPosition at);

/// A key that a mapping has twice, with the lines of its first and its last occurrence, from 1.
struct RepeatedKey {
  std::string key;
  std::uint32_t first_line = 0;
  std::uint32_t line = 0;
};

/// Builds a tree from the events of a parser. Refuses documents that are nested too deep or have
/// too many values, keys that are not text, and keys given twice.
class Assembler {
 public:
  /// `file` is named in messages and must outlive the assembler. `repeated`: where a key occurs
  /// twice in a mapping, the last value counts and the key is added to this list; null: repeated
  /// keys are refused.
  explicit Assembler(const std::string& file, std::vector<RepeatedKey>* repeated = nullptr)
      : file_(file), repeated_(repeated) {}

  /// Begins a sequence or mapping; `container` is empty and has the kind and the position.
  void open(Tree container);
  /// Ends the innermost open sequence or mapping. `finished`: receives a copy of it (for a later
  /// alias); null: no copy is made.
  void close(Tree* finished = nullptr);
  /// Adds a scalar or null where the parser is: as an element of a list, a key, or the value of a
  /// key.
  void leaf(Tree value);
  /// Adds a copy of an anchored value where an alias names it; `at`: position of the alias, for
  /// errors.
  void copy(const Tree& value, TextPosition at);
  /// Announces that the next value belongs to a merge key (`<<`): a mapping, or a list of mappings,
  /// whose members are added to the open mapping unless it has those keys itself. Earlier mappings
  /// of the list take precedence over later ones.
  void merge_next() { open_.back().merge_due = true; }
  /// True if the next event must be a key of the open mapping.
  [[nodiscard]] bool expects_key() const;
  /// Returns the key whose value comes next; null if no key waits for a value.
  [[nodiscard]] const Tree* pending_key() const;
  /// Returns the finished tree; null if the parser reported no event.
  Tree take() { return std::move(root_); }

 private:
  struct Open {
    Tree container;
    bool merge_due = false;
    std::vector<Tree> merged{};  ///< Mappings that a merge key (`<<`) adds to the container.
  };
  void place(Tree value);
  void take_merged(Tree value);
  void count_copy(std::size_t bytes, TextPosition at);
  void check_key(const Tree& key) const;
  void settle_duplicates(Tree& mapping);

  const std::string& file_;
  std::vector<RepeatedKey>* repeated_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  std::size_t copied_ = 0;  ///< Memory, in bytes, of all copies made so far.
  Tree root_;
};

}  // namespace stepwright
