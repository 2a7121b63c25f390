#include "stepwright/packing/dataset_lengths.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/file_kind.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/json_fault.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/utf8.h"

namespace stepwright::packing {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kBlock = 4 << 20;
constexpr std::size_t kLongestLine = 256 << 20;
constexpr std::int64_t kLongestDocument = std::int64_t{1} << 40;

/// Iterates over the lines of a file; each line is followed by padding that a parser may read.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& path)
      : name_(one_line_printable_text(path.string())), file_(path) {
    buffer_.resize(kBlock + simdjson::SIMDJSON_PADDING);
    if (fill()) check_start(std::string_view(buffer_.data(), filled_));
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (std::string_view(buffer_.data(), filled_).starts_with(kMark)) begin_ = kMark.size();
  }

  /// Returns the next line without its end; nullopt after the last.
  std::optional<std::string_view> next() {
    std::size_t searched = 0;
    while (true) {
      const char* from = buffer_.data() + begin_;
      const void* end = std::memchr(from + searched, '\n', filled_ - begin_ - searched);
      if (end != nullptr) {
        const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - from);
        begin_ += length + 1;
        ++number_;
        return std::string_view(from, length);
      }
      searched = filled_ - begin_;
      if (!fill()) break;
    }
    if (begin_ == filled_) return std::nullopt;
    const std::string_view last(buffer_.data() + begin_, filled_ - begin_);
    begin_ = filled_;
    ++number_;
    return last;
  }

  /// Fails with the number of the last line read.
  [[noreturn]] void fail(const std::string& message) const {
    fail_input(fmt::format("{}:{}: {}", name_, number_, message));
  }

  /// Fails because the last line read is not JSON.
  [[noreturn]] void fail_json(std::string_view line) const {
    const JsonFault fault = find_json_fault(line);
    if (fault.text.empty()) fail("is not JSON");
    fail_input(fmt::format("{}:{}:{}: {}", name_, number_, fault.offset + 1, fault.text));
  }

 private:
  /// Fails on files of unsupported formats, which their first bytes identify.
  void check_start(std::string_view text) const {
    if (text.starts_with("PAR1")) {
      fail_input(name_ + ": is Parquet, which stepwright.lengths of the Python package reads");
    }
    if (const std::string kind = non_text_file_kind(text, name_); !kind.empty()) {
      fail_input(fmt::format("{}: {}", name_, kind));
    }
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '[') {
      fail_input(
          fmt::format("{}: is one list, where each line must be a document: jq -c '.[]' {} "
                      "| stepwright lengths /dev/stdin",
                      name_, quoted_for_shell(name_)));
    }
  }

  /// Reads more bytes after the unread ones; returns false at the end of the file.
  bool fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
    filled_ -= begin_;
    begin_ = 0;
    if (filled_ > kLongestLine) {
      ++number_;
      fail(fmt::format("is longer than {} MiB", kLongestLine >> 20));
    }
    buffer_.resize(filled_ + kBlock + simdjson::SIMDJSON_PADDING);
    const std::size_t got = file_.read_file_bytes(std::span(buffer_).subspan(filled_, kBlock));
    filled_ += got;
    return got > 0;
  }

  std::string name_;
  InputFileReader file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;   ///< Index of the first unread byte.
  std::size_t filled_ = 0;  ///< Bytes in the buffer.
  std::int64_t number_ = 0;
};

/// Reads the lengths of one line after the other.
class LengthReader {
 public:
  LengthReader(const DocumentLengthField& field, Lines& lines) : field_(field), lines_(lines) {
    std::string_view rest = field.name;
    while (true) {
      const std::size_t dot = rest.find('.');
      keys_.push_back(rest.substr(0, dot));
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
  }

  std::int64_t length_of(std::string_view line) {
    line_ = line;
    const std::size_t readable = line.size() + simdjson::SIMDJSON_PADDING;
    ondemand::document document;
    if (parser_.iterate(line.data(), line.size(), readable).get(document) != simdjson::SUCCESS) {
      fail_json();
    }
    ondemand::object object;
    if (const auto error = document.get_object().get(object); error != simdjson::SUCCESS) {
      if (error == simdjson::INCORRECT_TYPE) lines_.fail("is not a JSON object");
      fail_json();
    }
    const std::int64_t length = length_in(object, 0);
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      lines_.fail(
          "text after the end of the document; a line, which ends with LF or CR LF, is one");
    }
    return length;
  }

  /// True if some document was text.
  [[nodiscard]] bool counts_characters() const { return counts_characters_; }

 private:
  /// Returns the length under the key of this level. Visits all members, as a key must occur only
  /// once.
  std::int64_t length_in(ondemand::object object, std::size_t level) {
    std::optional<std::int64_t> length;
    std::vector<std::string_view> said;
    for (auto member : object) {
      std::string_view key;
      ondemand::value value;
      if (member.unescaped_key().get(key) != simdjson::SUCCESS ||
          member.value().get(value) != simdjson::SUCCESS) {
        fail_json();
      }
      said.push_back(key);
      if (key != keys_[level]) continue;
      if (length) lines_.fail(fmt::format("has the key '{}' twice", one_line_printable_text(key)));
      length = level + 1 == keys_.size() ? length_of(value) : length_below(value, level);
    }
    if (!length)
      lines_.fail(fmt::format("has no field '{}'", one_line_printable_text(field_.name)));
    std::ranges::sort(said);
    if (const auto twice = std::adjacent_find(said.begin(), said.end()); twice != said.end()) {
      lines_.fail(fmt::format("has the key '{}' twice", one_line_printable_text(*twice)));
    }
    return *length;
  }

  std::int64_t length_below(ondemand::value value, std::size_t level) {
    ondemand::object inner;
    if (value.get_object().get(inner) != simdjson::SUCCESS) lines_.fail("is not a JSON object");
    return length_in(inner, level + 1);
  }

  std::int64_t length_of(ondemand::value value) {
    ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) fail_json();
    switch (type) {
      case ondemand::json_type::array: return list(value);
      case ondemand::json_type::number: return number(value);
      case ondemand::json_type::string: return characters(value);
      default: break;
    }
    lines_.fail(fmt::format("'{}' must be a list of token ids or of turns, a length, or text",
                            one_line_printable_text(field_.name)));
  }

  /// Returns the length of a list: of token ids, or of the messages of a conversation.
  std::int64_t list(ondemand::value value) {
    std::int64_t ids = 0;
    std::int64_t turns = 0;
    std::int64_t characters = 0;
    ondemand::array list;
    if (value.get(list) != simdjson::SUCCESS) fail_json();
    for (auto element : list) {
      std::int64_t id = 0;
      ondemand::object turn;
      if (element.get(turn) == simdjson::SUCCESS) {
        ++turns;
        characters += characters_of_turn(turn);
      } else if (element.get(id) == simdjson::SUCCESS && id >= 0) {
        ++ids;
      } else {
        fail_list();
      }
    }
    if (turns > 0 && ids > 0) fail_list();
    return turns > 0 ? tokens_of(characters) : ids;
  }

  [[noreturn]] void fail_json() const { lines_.fail_json(line_); }

  [[noreturn]] void fail_list() const {
    lines_.fail(fmt::format("'{}' contains a value that is not a token id",
                            one_line_printable_text(field_.name)));
  }

  /// Returns the characters of a message of a conversation, in `content` (OpenAI) or `value`
  /// (ShareGPT), or in the text parts there.
  std::int64_t characters_of_turn(ondemand::object turn) {
    std::int64_t characters = 0;
    std::string_view found;
    for (auto member : turn) {
      std::string_view key;
      if (member.unescaped_key().get(key) != simdjson::SUCCESS) fail_json();
      if (key != "content" && key != "value") continue;
      if (key == found) lines_.fail(fmt::format("has the key '{}' of a turn twice", key));
      found = key;
      ondemand::value value;
      if (member.value().get(value) != simdjson::SUCCESS) fail_json();
      characters += characters_of_content(value);
    }
    if (found.empty()) {
      lines_.fail(fmt::format("a turn of '{}' has neither content nor value",
                              one_line_printable_text(field_.name)));
    }
    return characters;
  }

  std::int64_t characters_of_content(ondemand::value value) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) return characters_in(text);
    ondemand::array parts;
    std::int64_t characters = 0;
    if (value.get(parts) != simdjson::SUCCESS) return 0;  // null for a tool call
    for (auto part : parts) {
      ondemand::object object;
      if (part.get(object) == simdjson::SUCCESS &&
          object.find_field_unordered("text").get(text) == simdjson::SUCCESS) {
        characters += characters_in(text);
      }
    }
    return characters;
  }

  std::int64_t number(ondemand::value value) {
    const std::string_view given = value.raw_json_token();
    std::int64_t length = 0;
    if (value.get(length) != simdjson::SUCCESS || length < 0 || length > kLongestDocument) {
      lines_.fail(fmt::format("'{}' must be a whole number of tokens from 0 to {}; it is {}",
                              one_line_printable_text(field_.name), kLongestDocument,
                              one_line_printable_text(given)));
    }
    return length;
  }

  std::int64_t characters(ondemand::value value) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) fail_json();
    return tokens_of(characters_in(text));
  }

  static std::int64_t characters_in(std::string_view text) {
    return std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; });
  }

  std::int64_t tokens_of(std::int64_t characters) {
    counts_characters_ = true;
    if (field_.characters_per_token <= 0) {
      lines_.fail(
          fmt::format("'{}' is text: state the length of its tokens with --characters-per-token",
                      one_line_printable_text(field_.name)));
    }
    return std::llround(std::ceil(static_cast<double>(characters) / field_.characters_per_token));
  }

  const DocumentLengthField& field_;
  Lines& lines_;
  std::vector<std::string_view> keys_;
  std::string_view line_;  ///< The line that the reader parses now.
  bool counts_characters_ = false;
  ondemand::parser parser_;
};

}  // namespace

DatasetDocumentLengths read_dataset_lengths(const std::filesystem::path& path,
                                            const DocumentLengthField& field) {
  Lines lines(path);
  LengthReader reader(field, lines);
  std::unordered_map<std::int64_t, std::int64_t> counts;
  DatasetDocumentLengths made;
  while (const auto line = lines.next()) {
    if (line->find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::int64_t length = reader.length_of(*line);
    length > 0 ? ++counts[length] : ++made.empty;
  }
  for (const auto& [length, count] : counts) {
    made.histogram.push_back({length, static_cast<double>(count)});
  }
  made.histogram = merge_equal_lengths(std::move(made.histogram));
  made.counts_characters = reader.counts_characters();
  return made;
}

LengthHistogram coarsened_length_histogram(const LengthHistogram& histogram, std::size_t most) {
  if (histogram.size() <= most) return histogram;
  const std::size_t run = (histogram.size() + most - 1) / most;
  LengthHistogram fewer;
  for (std::size_t first = 0; first < histogram.size(); first += run) {
    const auto begin = histogram.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(run, histogram.size() - first));
    const LengthHistogram part(begin, end);
    const double count = total_document_count(part);
    fewer.push_back({std::llround(total_tokens(part) / count), count});
  }
  return fewer;
}

}  // namespace stepwright::packing
