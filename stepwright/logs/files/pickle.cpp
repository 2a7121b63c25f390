#include "stepwright/logs/files/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"

namespace stepwright::logs {
namespace {

// Texts that a dump names again and again take ten to thirty times their references.
constexpr std::size_t kMostGrowth = 100;
constexpr std::size_t kGrowsFreely = std::size_t{1} << 20;
constexpr std::size_t kLargestText = std::size_t{2} << 30;
constexpr int kDeepestPickle = 100;

/// A value, in an arena: containers name others by their place.
struct PickleValue {
  enum class Kind : std::uint8_t { kScalar, kList, kMapping } kind = Kind::kScalar;
  std::string scalar;                 ///< As JSON.
  std::vector<std::uint32_t> inside;  ///< Elements; of a mapping keys and values in turn.
  std::size_t offset = 0;             ///< Of the opcode that made it.
};

/// Opcodes of the pickle protocols 0 to 5 that plain values need (Lib/pickle.py).
enum PickleOpcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kNone = 'N',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kInt = 'I',
  kLong = 'L',
  kFloat = 'F',
  kBinFloat = 'G',
  kShortBinString = 'U',
  kBinString = 'T',
  kBinUnicode = 'X',
  kShortBinBytes = 'C',
  kBinBytes = 'B',
  kEmptyList = ']',
  kEmptyDict = '}',
  kEmptyTuple = ')',
  kAppend = 'a',
  kAppends = 'e',
  kSetItem = 's',
  kSetItems = 'u',
  kTuple = 't',
  kList = 'l',
  kDict = 'd',
  kPut = 'p',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kGet = 'g',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kProtocol = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kTrue = 0x88,
  kFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kMemoize = 0x94,
  kFrame = 0x95,
};

class PickleReader {
 public:
  PickleReader(std::span<const char> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::string json() {
    while (step()) {
    }
    if (stack_.size() != 1) fail("the pickle does not end with one value");
    if (at_ < bytes_.size()) fail_there(at_, "text after the end of the pickle");
    std::string text;
    write(stack_.front(), 0, text);
    return text;
  }

 private:
  using Id = std::uint32_t;

  [[noreturn]] void fail(std::string_view what) const { fail_there(opcode_, what); }
  [[noreturn]] void fail_there(std::size_t offset, std::string_view what) const {
    fail_input(fmt::format("{}: byte {}: {}", file_, offset + 1, what));
  }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail("the pickle ends in the middle of a value");
    const std::string_view text(bytes_.data() + at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return text;
  }

  /// A little-endian number.
  std::uint64_t number(std::size_t width) {
    const std::string_view text = take(width);
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[i]);
    return value;
  }

  std::string_view line() {
    const std::string_view rest(bytes_.data() + at_, bytes_.size() - at_);
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) fail("the pickle ends in the middle of a line");
    at_ += end + 1;
    return rest.substr(0, end);
  }

  void push(PickleValue value) {
    value.offset = opcode_;
    stack_.push_back(static_cast<Id>(values_.size()));
    values_.push_back(std::move(value));
  }
  void push_scalar(std::string text) { push({.scalar = std::move(text), .inside = {}}); }
  void push_text(std::string_view text) {
    // Bytes that are no UTF-8 are replaced: names of groups may be anything.
    push_scalar(
        nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  void push_list(std::vector<Id> inside) {
    push({.kind = PickleValue::Kind::kList, .scalar = {}, .inside = std::move(inside)});
  }

  Id pop() {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) fail("a value is missing");
    const Id top = stack_.back();
    stack_.pop_back();
    return top;
  }

  std::vector<Id> pop_to_mark() {
    if (marks_.empty()) fail("a mark is missing");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Id> values(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return values;
  }

  void pop_tuple(std::size_t size) {
    std::vector<Id> inside(size);
    for (std::size_t i = size; i-- > 0;) inside[i] = pop();
    push_list(std::move(inside));
  }

  void extend(PickleValue::Kind kind, const std::vector<Id>& more) {
    const Id container = pop();
    PickleValue& value = values_[container];
    if (value.kind != kind) fail("elements for what is no container");
    if (kind == PickleValue::Kind::kMapping && more.size() % 2 != 0) fail("a key without a value");
    value.inside.insert(value.inside.end(), more.begin(), more.end());
    stack_.push_back(container);
  }

  void push_mapping(std::vector<Id> inside) {
    if (inside.size() % 2 != 0) fail("a key without a value");
    push({.kind = PickleValue::Kind::kMapping, .scalar = {}, .inside = std::move(inside)});
  }

  void memoize(std::uint64_t key) {
    const Id top = pop();
    memo_[key] = top;
    stack_.push_back(top);
  }

  void recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail(fmt::format("a reference to {}, which is not there", key));
    stack_.push_back(found->second);
  }

  std::uint64_t decimal(std::string_view text) {
    std::uint64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) fail("no number");
    return value;
  }

  void push_double(double value) {
    push_scalar(std::isfinite(value) ? fmt::format("{}", value) : "null");
  }

  void push_decimal(std::string_view text) {
    if (text == "00" || text == "01") return push_scalar(text == "01" ? "true" : "false");
    if (!text.empty() && text.back() == 'L') text.remove_suffix(1);
    std::int64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
      fail("a number that no 64 bits hold");
    }
    push_scalar(std::to_string(value));
  }

  /// Little-endian, signed; unsigned 64 bits take nine bytes.
  void push_long(std::string_view text) {
    const bool is_unsigned = text.size() == 9 && text.back() == 0;
    if (text.size() > 8 && !is_unsigned) fail("a number that no 64 bits hold");
    std::uint64_t value = 0;
    for (std::size_t i = std::min<std::size_t>(text.size(), 8); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(text[i]);
    }
    if (is_unsigned) return push_scalar(std::to_string(value));
    const std::size_t bits = 8 * text.size();
    if (bits > 0 && bits < 64 && (value >> (bits - 1)) != 0) value |= ~std::uint64_t{0} << bits;
    push_scalar(std::to_string(static_cast<std::int64_t>(value)));
  }

  bool step() {
    opcode_ = at_;
    const auto opcode = static_cast<PickleOpcode>(static_cast<unsigned char>(take(1).front()));
    switch (opcode) {
      case kStop: return false;
      case kProtocol: (void)number(1); return true;
      case kFrame: (void)number(8); return true;
      case kMark: marks_.push_back(stack_.size()); return true;
      case kPop: (void)pop(); return true;
      default: break;
    }
    if (!scalar(opcode) && !container(opcode) && !reference(opcode)) {
      fail(fmt::format("opcode 0x{:02x} does more than name a plain value; it is not executed",
                       static_cast<unsigned>(opcode)));
    }
    return true;
  }

  bool scalar(PickleOpcode opcode) {
    switch (opcode) {
      case kNone: return push_scalar("null"), true;
      case kTrue: return push_scalar("true"), true;
      case kFalse: return push_scalar("false"), true;
      case kBinInt: return push_scalar(std::to_string(static_cast<std::int32_t>(number(4)))), true;
      case kBinInt1: return push_scalar(std::to_string(number(1))), true;
      case kBinInt2: return push_scalar(std::to_string(number(2))), true;
      case kInt:
      case kLong: return push_decimal(line()), true;
      case kLong1: return push_long(take(number(1))), true;
      case kBinFloat: return push_double(big_endian_double()), true;
      case kFloat: return push_double(std::strtod(std::string(line()).c_str(), nullptr)), true;
      case kShortBinString:
      case kShortBinBytes:
      case kShortBinUnicode: return push_text(take(number(1))), true;
      case kBinString:
      case kBinBytes:
      case kBinUnicode: return push_text(take(number(4))), true;
      case kBinUnicode8: return push_text(take(number(8))), true;
      default: return false;
    }
  }

  bool container(PickleOpcode opcode) {
    using Kind = PickleValue::Kind;
    switch (opcode) {
      case kEmptyList:
      case kEmptyTuple: return push_list({}), true;
      case kEmptyDict: return push_mapping({}), true;
      case kAppend: {
        const Id value = pop();
        return extend(Kind::kList, {value}), true;
      }
      case kAppends: return extend(Kind::kList, pop_to_mark()), true;
      case kSetItem: {
        const Id value = pop();
        const Id key = pop();
        return extend(Kind::kMapping, {key, value}), true;
      }
      case kSetItems: return extend(Kind::kMapping, pop_to_mark()), true;
      case kTuple:
      case kList: return push_list(pop_to_mark()), true;
      case kDict: return push_mapping(pop_to_mark()), true;
      case kTuple1: return pop_tuple(1), true;
      case kTuple2: return pop_tuple(2), true;
      case kTuple3: return pop_tuple(3), true;
      default: return false;
    }
  }

  bool reference(PickleOpcode opcode) {
    switch (opcode) {
      case kPut: return memoize(decimal(line())), true;
      case kBinPut: return memoize(number(1)), true;
      case kLongBinPut: return memoize(number(4)), true;
      case kMemoize: return memoize(memo_.size()), true;
      case kGet: return recall(decimal(line())), true;
      case kBinGet: return recall(number(1)), true;
      case kLongBinGet: return recall(number(4)), true;
      default: return false;
    }
  }

  double big_endian_double() {
    std::uint64_t bits = 0;
    for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
    return std::bit_cast<double>(bits);
  }

  /// Values in a circle are deeper than any that are not.
  void write(Id id, int depth, std::string& text) const {
    const PickleValue& value = values_[id];
    if (depth > kDeepestPickle) {
      fail_there(value.offset, "a value that holds itself, or is nested deeper than 100 levels");
    }
    if (text.size() > std::min(kGrowsFreely + kMostGrowth * bytes_.size(), kLargestText)) {
      fail_there(value.offset, "values that grow to more than 100 times the pickle, or 2 GiB");
    }
    if (value.kind == PickleValue::Kind::kScalar) {
      text += value.scalar;
      return;
    }
    const bool mapping = value.kind == PickleValue::Kind::kMapping;
    if (mapping) check_keys(value);
    text += mapping ? '{' : '[';
    for (std::size_t i = 0; i < value.inside.size(); ++i) {
      const bool key = mapping && i % 2 == 0;
      if (i > 0) text += mapping && !key ? ':' : ',';
      if (key) {
        write_key(value.inside[i], text);
      } else {
        write(value.inside[i], depth + 1, text);
      }
    }
    text += mapping ? '}' : ']';
  }

  void check_keys(const PickleValue& mapping) const {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < mapping.inside.size(); i += 2) {
      const PickleValue& key = values_[mapping.inside[i]];
      if (!seen.insert(key.scalar).second) {
        fail_there(key.offset, fmt::format("the key {} is given twice", printable(key.scalar)));
      }
    }
  }

  void write_key(Id id, std::string& text) const {
    const PickleValue& key = values_[id];
    if (key.kind != PickleValue::Kind::kScalar) fail_there(key.offset, "a key that is a container");
    const bool quoted = key.scalar.starts_with('"');
    text += quoted ? key.scalar : '"' + key.scalar + '"';
  }

  std::span<const char> bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t opcode_ = 0;  ///< Where the current one stands.
  std::vector<PickleValue> values_;
  std::vector<Id> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, Id> memo_;
};

}  // namespace

std::string pickle_to_json(std::span<const char> bytes, const std::string& file) {
  return PickleReader(bytes, file).json();
}

}  // namespace stepwright::logs
