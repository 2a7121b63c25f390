#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Levels of nesting that a document may have.
inline constexpr std::size_t kDeepestNesting = 100;

/// Values and keys that a document may have. Each takes about 100 bytes of memory, and twice that
/// while its list grows.
inline constexpr std::size_t kMostValues = 2'000'000;

/// Bytes that what anchors name and aliases repeat may have in memory, so that short text is not
/// a large document.
inline constexpr std::size_t kMostCopied = std::size_t{16} << 20U;

/// Bytes that a key may have: with every byte escaped it still is a YAML simple key (1,024).
inline constexpr std::size_t kLongestKey = 240;

/// A place in a file, both from 1.
struct TextPosition {
  std::size_t line = 0;
  std::size_t column = 0;
};

/// The position of a byte of a text.
TextPosition position_of(std::string_view text, std::size_t offset);

/// Throws `kInput` with `file:line:column: message`.
[[noreturn]] void fail_at(const std::string& file, TextPosition at, std::string_view message);
/// Throws it for a list or mapping that is nested too deep.
[[noreturn]] void fail_too_deep(const std::string& file, TextPosition at);

/// A key that stands twice in a mapping, and the lines of both places, from 1.
struct RepeatedKey {
  std::string key;
  std::uint32_t first_line = 0;
  std::uint32_t line = 0;
};

/// Puts a tree together from the events of a parser, and refuses what no document may have: deep
/// nesting, too many values, keys that are not text, and keys given twice.
class Assembler {
 public:
  /// `file` is named in messages and must outlive the assembler. `repeated`: of keys that stand
  /// twice the last counts, and each is added there; null: they are refused.
  explicit Assembler(const std::string& file, std::vector<RepeatedKey>* repeated = nullptr)
      : file_(file), repeated_(repeated) {}

  /// Begins a sequence or mapping, which is empty but has its kind and position.
  void open(Tree container);
  /// Ends the sequence or mapping begun last; `finished`, where there is one, becomes its copy.
  void close(Tree* finished = nullptr);
  /// Adds a scalar or null: an element, a key or a value, whichever is due.
  void leaf(Tree value);
  /// Adds a copy of a finished value, as `leaf` adds one, at the place of an alias.
  void copy(const Tree& value, TextPosition at);
  /// Takes the value that follows, a mapping or a list of such, for the members that the open
  /// mapping has where it says none itself; the first of a list goes before the others.
  void merge_next() { open_.back().merge_due = true; }
  /// Whether a key of a mapping is due.
  [[nodiscard]] bool expects_key() const;
  /// The key whose value is due; null pointer when none is.
  [[nodiscard]] const Tree* pending_key() const;
  /// The finished tree; null when there was no event.
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
  std::size_t copied_ = 0;  ///< Bytes of values that were copied.
  Tree root_;
};

}  // namespace stepwright
