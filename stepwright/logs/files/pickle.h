#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/logs/files/byte_source.h"

namespace stepwright::logs {

/// Identifies a value of a pickle: an index into the values that the reader holds.
using PickleId = std::uint32_t;
/// A `PickleId` that stands for no value.
inline constexpr PickleId kNoPickleValue = UINT32_MAX;

enum class PickleKind : std::uint8_t {
  /// A record: a mapping that `PickleReader::consume_mappings_with_key` passed to the caller and
  /// freed.
  kRecord,
  kReplaced,  ///< A container that was replaced by a number (`replace_container_by_number`).
  kNone,
  kBoolean,
  kInteger,   ///< A signed 64-bit integer.
  kUnsigned,  ///< An unsigned 64-bit integer above the largest signed one.
  kNumber,
  kText,
  kList,  ///< A list or a tuple.
  kMapping,
};

/// Reads a pickle of plain values from front to back: mappings, lists, tuples, texts, numbers,
/// booleans and None. Nothing is ever executed: opcodes that name a class or a function (GLOBAL,
/// REDUCE, BUILD, ...) are refused, and so is nesting deeper than 100 levels. Values are held until
/// the end, except records (`consume_mappings_with_key`), so a file of any size is read in bounded
/// memory. Every failure is an `Error` of kind `kInput` that names file and byte.
class PickleReader {
 public:
  /// Callback that receives a record (a complete mapping). `list`: the list that contains it;
  /// `kNoPickleValue`: no list does.
  using TakeRecord = std::function<void(PickleId record, PickleId list)>;

  /// Reads from `source`. `most_bytes`: limit in bytes of the memory of the values held at one
  /// time; reading fails above it.
  PickleReader(FileByteReader& source, std::size_t most_bytes);

  /// Passes each mapping with the text key `key` to `take` as soon as it is complete, then frees it
  /// and all values in it that no later byte of the pickle can refer to.
  void consume_mappings_with_key(std::string key, TakeRecord take);

  /// Reads to the end and returns the outermost value.
  PickleId read_to_end();

  [[nodiscard]] PickleKind kind(PickleId id) const { return values_[id].kind; }
  /// Returns the value of an integer that fits in 64 signed bits; nullopt for any other value.
  [[nodiscard]] std::optional<std::int64_t> integer(PickleId id) const;
  /// Returns the bytes of a text; "" for any other value.
  [[nodiscard]] std::string_view text(PickleId id) const;
  /// Returns the elements of a list, or alternately the keys and values of a mapping; empty for any
  /// other value.
  [[nodiscard]] std::span<const PickleId> pickle_container_items(PickleId id) const;
  /// Returns the value that a mapping has for a text key; `kNoPickleValue` if absent. Fails if the
  /// mapping has the key twice.
  [[nodiscard]] PickleId find(PickleId mapping, std::string_view key) const;

  /// Returns the number that replaced a container; nullopt: the value was not replaced.
  [[nodiscard]] std::optional<std::uint32_t> replacement_number_of_container(PickleId id) const;
  /// Replaces a container by a number that the caller chooses; the container's values are freed,
  /// and later references to it give the number.
  void replace_container_by_number(PickleId container, std::uint32_t number);

  /// Returns a scalar value as JSON. Bytes of a text that are not UTF-8 are replaced.
  [[nodiscard]] std::string scalar_json(PickleId id) const;
  /// Returns the number of bytes read so far.
  [[nodiscard]] std::uint64_t bytes_read() const { return at_; }
  [[noreturn]] void fail(PickleId id, std::string_view what) const;

 private:
  struct Value {
    PickleKind kind = PickleKind::kNone;
    /// True if the pickle's memo (its table of values for later reference) names the value.
    bool named = false;
    /// True if several memo names or containers refer to the value, so that it is never freed.
    bool pinned = false;
    /// Number of the value in the pickle's memo (its table of values for later reference).
    std::uint32_t name = 0;
    /// The number itself or, for texts and containers, an index into `texts_` or `containers_`.
    std::uint64_t content = 0;
    std::uint64_t offset = 0;  ///< Offset in the file of the opcode that made the value, in bytes.
  };
  struct Container {
    std::vector<PickleId> inside;
    /// Depth of the value: number of nested levels of containers inside it.
    std::uint32_t levels = 0;
  };
  struct RecordKind {
    std::string key;
    TakeRecord take;
  };

  [[noreturn]] void fail_here(std::string_view what) const { fail_there(opcode_, what); }
  [[noreturn]] void fail_there(std::uint64_t offset, std::string_view what) const;

  void hold(std::size_t bytes);
  bool fill(std::size_t size);
  std::string_view take(std::uint64_t size);
  std::string_view take_long(std::uint64_t size);
  std::uint64_t number(std::size_t width);
  std::string_view line();

  PickleId make(Value value);
  void push(PickleKind kind, std::uint64_t content);
  void push_shared(PickleId id) { stack_.push_back(id); }
  void push_integer(std::int64_t value);
  void push_double(double value);
  void push_text(std::string_view text);
  void push_container(PickleKind kind, std::vector<PickleId> inside);
  void push_decimal(std::string_view text);
  void push_long(std::string_view text);
  std::uint64_t decimal(std::string_view text) const;
  double big_endian_double();

  PickleId pop();
  std::vector<PickleId> pop_to_mark();
  void pop_tuple(std::size_t size);
  void push_mark();
  void extend(PickleKind kind, std::span<const PickleId> more);
  void put_inside(PickleId container, std::span<const PickleId> more);
  void memoize(std::uint64_t name);
  void recall(std::uint64_t name);

  bool step();
  bool scalar(unsigned char opcode);
  bool container(unsigned char opcode);
  bool reference(unsigned char opcode);

  const RecordKind* record_kind(PickleId id) const;
  [[nodiscard]] PickleId list_around() const;
  void hand_out_top();
  void hand_out(const RecordKind& kind, PickleId id, PickleId list);
  void let_go(PickleId id);
  void let_go_of_container(std::uint64_t place);

  FileByteReader& source_;
  std::size_t most_bytes_;
  std::vector<RecordKind> records_;
  std::vector<char> buffer_;
  /// Begin and end of the unread bytes in the reader's buffer.
  std::size_t begin_ = 0, end_ = 0;
  std::string long_text_;  ///< Content of a text that is longer than the buffer.
  /// Offset in the pickle of the first unread byte, which is at `begin_` in the buffer.
  std::uint64_t at_ = 0;
  std::uint64_t opcode_ = 0;  ///< Offset in the file of the current opcode, in bytes.
  std::size_t held_ = 0;      ///< Memory of the values that are held, in bytes.
  std::vector<Value> values_;
  std::vector<PickleId> free_values_;
  std::deque<std::string> texts_;
  std::vector<std::uint32_t> free_texts_;
  std::deque<Container> containers_;
  std::vector<std::uint32_t> free_containers_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleId> memo_;
};

/// Reads the rest of a file, a pickle of plain values, and returns it as JSON: tuples become lists,
/// None becomes null. Fails as `PickleReader` does, and if values contain themselves or the JSON
/// grows to more than 100 times the pickle.
std::string pickle_to_json(FileByteReader& source);

}  // namespace stepwright::logs
