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

/// A value of a pickle, by its place among those that are held.
using PickleId = std::uint32_t;
/// The mark of no value.
inline constexpr PickleId kNoPickleValue = UINT32_MAX;

enum class PickleKind : std::uint8_t {
  kRecord,    ///< A record that was handed out (`PickleReader::on_record`).
  kReplaced,  ///< A container that became a number (`PickleReader::replace`).
  kNone,
  kBoolean,
  kInteger,   ///< A number of 64 bits, signed.
  kUnsigned,  ///< 64 bits, above the largest signed number.
  kNumber,
  kText,
  kList,  ///< A list or a tuple.
  kMapping,
};

/// Reads a pickle of plain values from front to back: mappings, lists, tuples, texts, numbers,
/// booleans and None. Nothing is ever executed: an opcode that names a class or a function (GLOBAL,
/// REDUCE, BUILD, ...) is refused, as is nesting deeper than 100 levels. Values are held until the
/// end, but for records, so that a file of any size is read in bounded memory. Every failure is an
/// `Error` of kind `kInput` that names file and byte.
class PickleReader {
 public:
  /// Takes a record; `list` is the list that it is an element of, or `kNoPickleValue`.
  using TakeRecord = std::function<void(PickleId record, PickleId list)>;

  /// Fails while reading once all values that are held take more than `most_bytes`.
  PickleReader(ByteSource& source, std::size_t most_bytes);

  /// Hands out each mapping that has the text `key` as soon as it is complete, then lets go of it
  /// and of all values in it that no later byte can name.
  void on_record(std::string key, TakeRecord take);

  /// Reads to the end and returns the value of the pickle.
  PickleId read();

  [[nodiscard]] PickleKind kind(PickleId id) const { return values_[id].kind; }
  /// The number of an integer that 64 signed bits hold; nullopt of any other value.
  [[nodiscard]] std::optional<std::int64_t> integer(PickleId id) const;
  /// A text, its bytes as they are; "" of any other value.
  [[nodiscard]] std::string_view text(PickleId id) const;
  /// Elements of a list; of a mapping keys and values in turn. Empty for any other value.
  [[nodiscard]] std::span<const PickleId> inside(PickleId id) const;
  /// The value of a text key in a mapping; `kNoPickleValue` if absent. Fails when it is there
  /// twice.
  [[nodiscard]] PickleId find(PickleId mapping, std::string_view key) const;

  /// The number that stands in the place of a container; nullopt of any other value.
  [[nodiscard]] std::optional<std::uint32_t> replaced(PickleId id) const;
  /// Puts a number in the place of a container, for the caller: later references find it.
  void replace(PickleId container, std::uint32_t number);

  /// A scalar as JSON. Bytes of a text that are no UTF-8 are replaced.
  [[nodiscard]] std::string scalar_json(PickleId id) const;
  /// Bytes that were read.
  [[nodiscard]] std::uint64_t bytes_read() const { return at_; }
  [[noreturn]] void fail(PickleId id, std::string_view what) const;

 private:
  struct Value {
    PickleKind kind = PickleKind::kNone;
    bool named = false;         ///< True if the memo names the value.
    bool pinned = false;        ///< More than one name or place: it is never let go of.
    std::uint32_t name = 0;     ///< Number of its name in the memo.
    std::uint64_t content = 0;  ///< A number, or a place in `texts_` or `containers_`.
    std::uint64_t offset = 0;   ///< Offset of the opcode that made it.
  };
  struct Container {
    std::vector<PickleId> inside;
    std::uint32_t levels = 0;  ///< Levels of containers inside.
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

  ByteSource& source_;
  std::size_t most_bytes_;
  std::vector<RecordKind> records_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< Begin and end of unread bytes in the buffer.
  std::string long_text_;            ///< A value longer than the buffer.
  std::uint64_t at_ = 0;             ///< Bytes of the pickle before `begin_`.
  std::uint64_t opcode_ = 0;         ///< Offset of the current opcode.
  std::size_t held_ = 0;             ///< Bytes that values take.
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

/// The rest of a file, a pickle of plain values, as JSON: tuples are lists, None is null. Fails as
/// `PickleReader` does, and where values hold themselves or grow to more than 100 times the pickle.
std::string pickle_to_json(ByteSource& source);

}  // namespace stepwright::logs
