#include "stepwright/logs/files/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"

namespace stepwright::logs {
namespace {

constexpr std::size_t kPickleChunk = std::size_t{256} << 10;
constexpr std::size_t kDeepestPickle = 100;
/// The largest gap between two memo numbers of a pickle; `pickletools.optimize` removes unused
/// ones.
constexpr std::size_t kMostNamesLeftOut = std::size_t{1} << 20;
constexpr std::string_view kTooDeep =
    "a value that holds itself, or is nested deeper than 100 levels";

/// Ids of values that exist once for all pickles.
enum SharedPickleValue : PickleId { kRecordValue, kNoneValue, kTrueValue, kFalseValue };

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

bool is_container(PickleKind kind) {
  return kind == PickleKind::kList || kind == PickleKind::kMapping;
}

}  // namespace

PickleReader::PickleReader(FileByteReader& source, std::size_t most_bytes)
    : source_(source), most_bytes_(most_bytes), buffer_(kPickleChunk) {
  values_.push_back({.kind = PickleKind::kRecord, .pinned = true});
  values_.push_back({.kind = PickleKind::kNone, .pinned = true});
  values_.push_back({.kind = PickleKind::kBoolean, .pinned = true, .content = 1});
  values_.push_back({.kind = PickleKind::kBoolean, .pinned = true});
}

void PickleReader::consume_mappings_with_key(std::string key, TakeRecord take) {
  records_.push_back({std::move(key), std::move(take)});
}

PickleId PickleReader::read_to_end() {
  while (step()) {
  }
  if (stack_.size() != 1) fail_here("the pickle does not end with one value");
  if (fill(1)) fail_there(at_, "text after the end of the pickle");
  return stack_.front();
}

void PickleReader::fail(PickleId id, std::string_view what) const {
  fail_there(values_[id].offset, what);
}

void PickleReader::fail_there(std::uint64_t offset, std::string_view what) const {
  fail_input(fmt::format("{}: byte {}: {}", source_.name(), offset + 1, what));
}

// Functions that read a value.

std::optional<std::int64_t> PickleReader::integer(PickleId id) const {
  const Value& value = values_[id];
  if (value.kind != PickleKind::kInteger) return std::nullopt;
  return static_cast<std::int64_t>(value.content);
}

std::string_view PickleReader::text(PickleId id) const {
  const Value& value = values_[id];
  return value.kind == PickleKind::kText ? std::string_view(texts_[value.content])
                                         : std::string_view();
}

std::span<const PickleId> PickleReader::pickle_container_items(PickleId id) const {
  const Value& value = values_[id];
  if (!is_container(value.kind)) return {};
  return containers_[value.content].inside;
}

PickleId PickleReader::find(PickleId mapping, std::string_view key) const {
  PickleId found = kNoPickleValue;
  if (kind(mapping) != PickleKind::kMapping) return found;
  const std::span<const PickleId> items = pickle_container_items(mapping);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (kind(items[i]) != PickleKind::kText || text(items[i]) != key) continue;
    if (found != kNoPickleValue) fail(items[i], fmt::format("the key \"{}\" is given twice", key));
    found = items[i + 1];
  }
  return found;
}

std::optional<std::uint32_t> PickleReader::replacement_number_of_container(PickleId id) const {
  const Value& value = values_[id];
  if (value.kind != PickleKind::kReplaced) return std::nullopt;
  return static_cast<std::uint32_t>(value.content);
}

void PickleReader::replace_container_by_number(PickleId container, std::uint32_t number) {
  const std::uint64_t place = values_[container].content;
  values_[container].kind = PickleKind::kReplaced;
  values_[container].content = number;
  let_go_of_container(place);
}

std::string PickleReader::scalar_json(PickleId id) const {
  const Value& value = values_[id];
  switch (value.kind) {
    case PickleKind::kBoolean: return value.content != 0 ? "true" : "false";
    case PickleKind::kInteger: return std::to_string(static_cast<std::int64_t>(value.content));
    case PickleKind::kUnsigned: return std::to_string(value.content);
    case PickleKind::kNumber: {
      const auto number = std::bit_cast<double>(value.content);
      return std::isfinite(number) ? fmt::format("{}", number) : "null";
    }
    case PickleKind::kText:
      return nlohmann::json(text(id)).dump(-1, ' ', false,
                                           nlohmann::json::error_handler_t::replace);
    default: return "null";
  }
}

// Functions that read bytes.

void PickleReader::hold(std::size_t bytes) {
  held_ += bytes;
  if (held_ > most_bytes_) {
    fail_here(fmt::format("values that take more than {} MiB of memory", most_bytes_ >> 20U));
  }
}

/// Makes that many bytes available, at most the size of the buffer; false if the file ends before.
bool PickleReader::fill(std::size_t size) {
  if (end_ - begin_ >= size) return true;
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  while (end_ < size) {
    const std::size_t got = source_.read_source_bytes(std::span(buffer_).subspan(end_));
    if (got == 0) return false;
    end_ += got;
  }
  return true;
}

std::string_view PickleReader::take(std::uint64_t size) {
  if (size > buffer_.size()) return take_long(size);
  if (!fill(static_cast<std::size_t>(size))) fail_here("the pickle ends in the middle of a value");
  const std::string_view text(buffer_.data() + begin_, static_cast<std::size_t>(size));
  begin_ += static_cast<std::size_t>(size);
  at_ += size;
  return text;
}

std::string_view PickleReader::take_long(std::uint64_t size) {
  long_text_.clear();
  while (long_text_.size() < size) {
    const std::uint64_t more = std::min<std::uint64_t>(size - long_text_.size(), buffer_.size());
    long_text_ += take(more);
    if (held_ + long_text_.size() > most_bytes_) hold(long_text_.size());
  }
  return long_text_;
}

/// Reads a little-endian number.
std::uint64_t PickleReader::number(std::size_t width) {
  const std::string_view text = take(width);
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[i]);
  return value;
}

std::string_view PickleReader::line() {
  for (std::size_t looked = 0;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const std::size_t newline = rest.find('\n', looked);
    if (newline != std::string_view::npos) return take(newline + 1).substr(0, newline);
    looked = rest.size();
    if (looked == buffer_.size()) fail_here("a number or a name of more than 256 KiB");
    if (!fill(looked + 1)) fail_here("the pickle ends in the middle of a line");
  }
}

// Functions that make values.

PickleId PickleReader::make(Value value) {
  value.offset = opcode_;
  hold(sizeof value);
  if (!free_values_.empty()) {
    const PickleId id = free_values_.back();
    free_values_.pop_back();
    values_[id] = value;
    return id;
  }
  values_.push_back(value);
  return static_cast<PickleId>(values_.size() - 1);
}

void PickleReader::push(PickleKind kind, std::uint64_t content) {
  stack_.push_back(make({.kind = kind, .content = content}));
}

void PickleReader::push_integer(std::int64_t value) {
  push(PickleKind::kInteger, static_cast<std::uint64_t>(value));
}

void PickleReader::push_double(double value) {
  push(PickleKind::kNumber, std::bit_cast<std::uint64_t>(value));
}

void PickleReader::push_text(std::string_view text) {
  hold(sizeof(std::string) + text.size());
  std::uint32_t place = static_cast<std::uint32_t>(texts_.size());
  if (free_texts_.empty()) {
    texts_.emplace_back(text);
  } else {
    place = free_texts_.back();
    free_texts_.pop_back();
    texts_[place] = text;
  }
  push(PickleKind::kText, place);
}

void PickleReader::push_container(PickleKind kind, std::vector<PickleId> inside) {
  if (kind == PickleKind::kMapping && inside.size() % 2 != 0) fail_here("a key without a value");
  hold(sizeof(Container));
  std::uint32_t place = static_cast<std::uint32_t>(containers_.size());
  if (free_containers_.empty()) {
    containers_.emplace_back();
  } else {
    place = free_containers_.back();
    free_containers_.pop_back();
  }
  const PickleId id = make({.kind = kind, .content = place});
  put_inside(id, inside);
  stack_.push_back(id);
}

void PickleReader::put_inside(PickleId container, std::span<const PickleId> more) {
  Container& held = containers_[values_[container].content];
  hold(more.size() * sizeof(PickleId));
  held.inside.reserve(held.inside.empty() ? more.size() : 0);
  for (const PickleId id : more) {
    if (is_container(values_[id].kind)) {
      held.levels = std::max(held.levels, containers_[values_[id].content].levels + 1);
      if (held.levels >= kDeepestPickle) fail(id, kTooDeep);
    }
    if (id != kRecordValue) {
      held.inside.push_back(id);
    } else if (values_[container].kind == PickleKind::kMapping) {
      fail_here("a record that is in no list");
    }
  }
}

void PickleReader::push_decimal(std::string_view text) {
  if (text == "00" || text == "01") return push_shared(text == "01" ? kTrueValue : kFalseValue);
  if (!text.empty() && text.back() == 'L') text.remove_suffix(1);
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    fail_here("a number that no 64 bits hold");
  }
  push_integer(value);
}

/// Little-endian and signed; unsigned 64-bit numbers take nine bytes.
void PickleReader::push_long(std::string_view text) {
  const bool is_unsigned = text.size() == 9 && text.back() == 0;
  if (text.size() > 8 && !is_unsigned) fail_here("a number that no 64 bits hold");
  std::uint64_t value = 0;
  for (std::size_t i = std::min<std::size_t>(text.size(), 8); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(text[i]);
  }
  if (is_unsigned && value > INT64_MAX) return push(PickleKind::kUnsigned, value);
  const std::size_t bits = 8 * text.size();
  if (bits > 0 && bits < 64 && (value >> (bits - 1)) != 0) value |= ~std::uint64_t{0} << bits;
  push_integer(static_cast<std::int64_t>(value));
}

std::uint64_t PickleReader::decimal(std::string_view text) const {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) fail_here("no number");
  return value;
}

double PickleReader::big_endian_double() {
  std::uint64_t bits = 0;
  for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
  return std::bit_cast<double>(bits);
}

// Functions for the stack.

PickleId PickleReader::pop() {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) fail_here("a value is missing");
  const PickleId top = stack_.back();
  stack_.pop_back();
  return top;
}

void PickleReader::push_mark() {
  // Each level of nesting has at most one mark, so marks bound the depth.
  if (marks_.size() > kDeepestPickle) fail_here(kTooDeep);
  marks_.push_back(stack_.size());
}

std::vector<PickleId> PickleReader::pop_to_mark() {
  if (marks_.empty()) fail_here("a mark is missing");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleId> values(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return values;
}

void PickleReader::pop_tuple(std::size_t size) {
  std::vector<PickleId> inside(size);
  for (std::size_t i = size; i-- > 0;) inside[i] = pop();
  push_container(PickleKind::kList, std::move(inside));
}

void PickleReader::extend(PickleKind kind, std::span<const PickleId> more) {
  const PickleId container = pop();
  if (values_[container].kind != kind) fail_here("elements for what is no container");
  if (kind == PickleKind::kMapping && more.size() % 2 != 0) fail_here("a key without a value");
  std::vector<PickleId> left;
  left.reserve(more.size());
  for (const PickleId id : more) {
    // A record that was filled key by key is complete only now.
    const RecordKind* record = kind == PickleKind::kList ? record_kind(id) : nullptr;
    if (record == nullptr) {
      left.push_back(id);
    } else {
      hand_out(*record, id, container);
    }
  }
  put_inside(container, left);
  stack_.push_back(container);
}

void PickleReader::memoize(std::uint64_t name) {
  const PickleId top = pop();
  stack_.push_back(top);
  if (name > memo_.size() + kMostNamesLeftOut) fail_here("a name far above all others");
  if (name >= memo_.size()) {
    hold((static_cast<std::size_t>(name) + 1 - memo_.size()) * sizeof(PickleId));
    memo_.resize(static_cast<std::size_t>(name) + 1, kNoPickleValue);
  }
  memo_[static_cast<std::size_t>(name)] = top == kRecordValue ? kNoPickleValue : top;
  Value& value = values_[top];
  value.pinned = value.pinned || value.named;
  value.named = true;
  value.name = static_cast<std::uint32_t>(name);
}

void PickleReader::recall(std::uint64_t name) {
  if (name >= memo_.size() || memo_[static_cast<std::size_t>(name)] == kNoPickleValue) {
    fail_here(fmt::format("a reference to {}, which is not there", name));
  }
  const PickleId id = memo_[static_cast<std::size_t>(name)];
  values_[id].pinned = true;  // Two containers refer to it now.
  stack_.push_back(id);
}

// Functions for opcodes.

bool PickleReader::step() {
  opcode_ = at_;
  if (held_ + stack_.size() * sizeof(PickleId) > most_bytes_) hold(most_bytes_);
  const auto opcode = static_cast<unsigned char>(take(1).front());
  switch (opcode) {
    case kStop: return false;
    case kProtocol: (void)number(1); return true;
    case kFrame: (void)number(8); return true;
    case kMark: push_mark(); return true;
    case kPop: (void)pop(); return true;
    default: break;
  }
  if (!scalar(opcode) && !container(opcode) && !reference(opcode)) {
    fail_here(fmt::format("opcode 0x{:02x} does more than name a plain value; it is not executed",
                          static_cast<unsigned>(opcode)));
  }
  return true;
}

bool PickleReader::scalar(unsigned char opcode) {
  switch (opcode) {
    case kNone: return push_shared(kNoneValue), true;
    case kTrue: return push_shared(kTrueValue), true;
    case kFalse: return push_shared(kFalseValue), true;
    case kBinInt: return push_integer(static_cast<std::int32_t>(number(4))), true;
    case kBinInt1: return push_integer(static_cast<std::int64_t>(number(1))), true;
    case kBinInt2: return push_integer(static_cast<std::int64_t>(number(2))), true;
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

bool PickleReader::container(unsigned char opcode) {
  switch (opcode) {
    case kEmptyList:
    case kEmptyTuple: return push_container(PickleKind::kList, {}), true;
    case kEmptyDict: return push_container(PickleKind::kMapping, {}), true;
    case kAppend: {
      const PickleId value = pop();
      return extend(PickleKind::kList, std::span(&value, 1)), true;
    }
    case kAppends: return extend(PickleKind::kList, pop_to_mark()), true;
    case kSetItem: {
      const PickleId value = pop();
      const PickleId key = pop();
      const PickleId item[] = {key, value};
      return extend(PickleKind::kMapping, item), true;
    }
    case kSetItems: extend(PickleKind::kMapping, pop_to_mark()); return hand_out_top(), true;
    case kTuple:
    case kList: return push_container(PickleKind::kList, pop_to_mark()), true;
    case kDict: push_container(PickleKind::kMapping, pop_to_mark()); return hand_out_top(), true;
    case kTuple1: return pop_tuple(1), true;
    case kTuple2: return pop_tuple(2), true;
    case kTuple3: return pop_tuple(3), true;
    default: return false;
  }
}

bool PickleReader::reference(unsigned char opcode) {
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

// Functions for records.

const PickleReader::RecordKind* PickleReader::record_kind(PickleId id) const {
  if (records_.empty() || kind(id) != PickleKind::kMapping) return nullptr;
  for (const RecordKind& record : records_) {
    if (find(id, record.key) != kNoPickleValue) return &record;
  }
  return nullptr;
}

/// Returns the list to which the value on top of the stack will be added: the value below it, or
/// the one below its mark.
PickleId PickleReader::list_around() const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  const std::size_t below = stack_.size() - 1;
  if (below > floor && kind(stack_[below - 1]) == PickleKind::kList) return stack_[below - 1];
  if (floor > 0 && kind(stack_[floor - 1]) == PickleKind::kList) return stack_[floor - 1];
  return kNoPickleValue;
}

void PickleReader::hand_out_top() {
  const PickleId id = stack_.back();
  const RecordKind* record = record_kind(id);
  const PickleId list = record != nullptr ? list_around() : kNoPickleValue;
  if (list == kNoPickleValue) return;
  hand_out(*record, id, list);
  // Adjacent records share one value, so that a list of them takes no memory.
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  stack_.pop_back();
  if (stack_.size() == floor || stack_.back() != kRecordValue) stack_.push_back(kRecordValue);
}

void PickleReader::hand_out(const RecordKind& kind, PickleId id, PickleId list) {
  kind.take(id, list);
  let_go(id);
}

void PickleReader::let_go(PickleId id) {
  Value& value = values_[id];
  if (value.pinned) return;
  if (value.named) memo_[value.name] = kNoPickleValue;
  if (is_container(value.kind)) {
    let_go_of_container(value.content);
  } else if (value.kind == PickleKind::kText) {
    std::string& text = texts_[value.content];
    held_ -= sizeof(std::string) + text.size();
    std::string().swap(text);
    free_texts_.push_back(static_cast<std::uint32_t>(value.content));
  }
  value = {};
  free_values_.push_back(id);
  held_ -= sizeof(Value);
}

/// Frees a container and those of its values that the memo does not name, because no later byte can
/// refer to them.
void PickleReader::let_go_of_container(std::uint64_t place) {
  const std::vector<PickleId> inside = std::exchange(containers_[place].inside, {});
  containers_[place].levels = 0;
  free_containers_.push_back(static_cast<std::uint32_t>(place));
  held_ -= sizeof(Container) + inside.size() * sizeof(PickleId);
  for (const PickleId id : inside) {
    if (!values_[id].named) let_go(id);
  }
}

namespace {

// A dump that refers to the same texts again and again grows to ten to thirty times its size.
constexpr std::size_t kMostGrowth = 100;
constexpr std::size_t kGrowsFreely = std::size_t{1} << 20;
constexpr std::size_t kLargestText = std::size_t{2} << 30;
/// The most memory for the values of a pickle that is not read record by record.
constexpr std::size_t kMostPickleValues = std::size_t{4} << 30;

class PickleJson {
 public:
  explicit PickleJson(const PickleReader& pickle) : pickle_(pickle) {}

  /// Values that contain themselves exceed any depth, so the limit on depth finds cycles.
  void write(PickleId id, std::size_t depth) {
    if (depth > kDeepestPickle) pickle_.fail(id, kTooDeep);
    if (text.size() > std::min(kGrowsFreely + kMostGrowth * pickle_.bytes_read(), kLargestText)) {
      pickle_.fail(id, "values that grow to more than 100 times the pickle, or 2 GiB");
    }
    if (!is_container(pickle_.kind(id))) {
      text += pickle_.scalar_json(id);
      return;
    }
    const bool mapping = pickle_.kind(id) == PickleKind::kMapping;
    if (mapping) check_keys(id);
    text += mapping ? '{' : '[';
    const std::span<const PickleId> inside = pickle_.pickle_container_items(id);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const bool key = mapping && i % 2 == 0;
      if (i > 0) text += mapping && !key ? ':' : ',';
      if (key) {
        write_key(inside[i]);
      } else {
        write(inside[i], depth + 1);
      }
    }
    text += mapping ? '}' : ']';
  }

  std::string text;

 private:
  void check_keys(PickleId mapping) const {
    std::set<std::string> seen;
    const std::span<const PickleId> inside = pickle_.pickle_container_items(mapping);
    for (std::size_t i = 0; i < inside.size(); i += 2) {
      if (is_container(pickle_.kind(inside[i])))
        pickle_.fail(inside[i], "a key that is a container");
      const std::string key = pickle_.scalar_json(inside[i]);
      if (!seen.insert(key).second) {
        pickle_.fail(inside[i],
                     fmt::format("the key {} is given twice", one_line_printable_text(key)));
      }
    }
  }

  void write_key(PickleId key) {
    const std::string scalar = pickle_.scalar_json(key);
    text += pickle_.kind(key) == PickleKind::kText ? scalar : '"' + scalar + '"';
  }

  const PickleReader& pickle_;
};

}  // namespace

std::string pickle_to_json(FileByteReader& source) {
  PickleReader pickle(source, kMostPickleValues);
  PickleJson json(pickle);
  json.write(pickle.read_to_end(), 0);
  return std::move(json.text);
}

}  // namespace stepwright::logs
