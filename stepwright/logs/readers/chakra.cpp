#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/readers.h"

namespace stepwright::logs {
namespace {

constexpr std::size_t kLargestMessage = std::size_t{64} << 20;

/// One field of a protobuf message.
struct ProtoField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;      ///< Value of a varint or a fixed number.
  std::string_view bytes = {};  ///< Bytes of a length-delimited field.
};

/// Reads the fields of a protobuf message one by one.
class ProtoFields {
 public:
  explicit ProtoFields(std::string_view bytes) : bytes_(bytes) {}

  /// Returns the next field; nullopt at the end, or if the message is damaged.
  std::optional<ProtoField> next() {
    if (bytes_.empty()) return std::nullopt;
    const auto key = varint();
    if (!key) return fail();
    ProtoField field{.number = *key >> 3};
    switch (*key & 7) {
      case 0: {
        const auto value = varint();
        if (!value) return fail();
        field.value = *value;
        return field;
      }
      case 1: return fixed(field, 8);
      case 5: return fixed(field, 4);
      case 2: {
        const auto size = varint();
        if (!size || *size > bytes_.size()) return fail();
        field.bytes = bytes_.substr(0, static_cast<std::size_t>(*size));
        bytes_.remove_prefix(static_cast<std::size_t>(*size));
        return field;
      }
      default: return fail();
    }
  }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<ProtoField> fixed(ProtoField field, std::size_t width) {
    if (bytes_.size() < width) return fail();
    for (std::size_t i = width; i-- > 0;) {
      field.value = field.value << 8 | static_cast<unsigned char>(bytes_[i]);
    }
    bytes_.remove_prefix(width);
    return field;
  }

  std::nullopt_t fail() {
    damaged_ = true;
    bytes_ = {};
    return std::nullopt;
  }

  std::string_view bytes_;
  bool damaged_ = false;
};

// Field numbers of et_def.proto in Chakra 0.0.4.
enum ChakraNode : std::uint8_t {
  kNodeType = 3,
  kNodeStart = 6,
  kNodeDuration = 7,
  kNodeAttribute = 10
};
enum ChakraType : std::uint8_t { kSendNode = 5, kReceiveNode = 6, kCollectiveNode = 7 };
constexpr LoggedOperation kCommTypes[] = {
    LoggedOperation::kAllReduce, LoggedOperation::kReduce,        LoggedOperation::kAllGather,
    LoggedOperation::kGather,    LoggedOperation::kScatter,       LoggedOperation::kBroadcast,
    LoggedOperation::kAllToAll,  LoggedOperation::kReduceScatter, LoggedOperation::kReduceScatter,
    LoggedOperation::kBarrier};

class ChakraReader {
 public:
  ChakraReader(FileByteReader& bytes, CommunicationLog& log)
      : bytes_(bytes), writer_(log, bytes.name(), LogFormat::kChakra) {
    buffer_.resize(std::size_t{1} << 20);
  }

  void read() {
    LogFileReadResult& source = writer_.source();
    rank_ = rank_in_file_name(source.file);
    source.note(rank_ == kUnknown ? "Neither the name of the file nor the trace states the rank."
                                  : "The rank is taken from the name of the file.");
    source.note("Sizes of groups are not in this log.");
    bool first = true;
    for (std::string_view message; next(message); first = false) {
      if (first) {
        metadata(message);
      } else {
        node(message);
      }
    }
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    fail_input(fmt::format("{}: byte {}: {}", bytes_.name(), offset_ + 1, what));
  }

  bool need(std::size_t size) {
    while (end_ - at_ < size) {
      if (at_ > 0) {
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
        end_ -= at_;
        at_ = 0;
      }
      if (buffer_.size() < size + 64) buffer_.resize(size + 64);
      const std::size_t got = bytes_.read_source_bytes(std::span(buffer_).subspan(end_));
      if (got == 0) return false;
      end_ += got;
    }
    return true;
  }

  /// Reads the next message, which is preceded by its length as a varint.
  bool next(std::string_view& message) {
    if (!need(1)) return false;
    std::uint64_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (shift > 28 || !need(1)) fail("a length that is none");
      const auto byte = static_cast<unsigned char>(buffer_[at_++]);
      ++offset_;
      size |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    if (size > kLargestMessage) fail("a message larger than 64 MiB");
    if (!need(static_cast<std::size_t>(size))) fail("the file ends in the middle of a message");
    message = {buffer_.data() + at_, static_cast<std::size_t>(size)};
    at_ += static_cast<std::size_t>(size);
    offset_ += static_cast<std::size_t>(size);
    return true;
  }

  void metadata(std::string_view message) {
    ProtoFields fields(message);
    while (const auto field = fields.next()) {
      if (field->number == 1) writer_.source().version = std::string(field->bytes);
    }
    if (fields.damaged()) fail("metadata that are damaged");
  }

  /// Reads the name and the value of an attribute, whichever type the value has.
  void attribute(std::string_view message, std::string_view& name, ProtoField& value) const {
    ProtoFields fields(message);
    while (const auto field = fields.next()) {
      if (field->number == 1) {
        name = field->bytes;
      } else if (field->number != 2) {
        value = *field;
      }
    }
    if (fields.damaged()) fail("an attribute that is damaged");
  }

  void node(std::string_view message) {
    const std::int64_t number = ++writer_.source().lines;
    std::uint64_t type = 0;
    std::uint64_t start_us = 0;
    std::uint64_t duration_us = 0;
    std::int64_t comm_type = kUnknown;
    std::int64_t peer = kUnknown;
    LoggedCall record{.line = number, .rank = rank_};
    std::string group;
    std::int64_t bytes = kUnknown;
    ProtoFields fields(message);
    while (const auto field = fields.next()) {
      if (field->number == kNodeType) type = field->value;
      if (field->number == kNodeStart) start_us = field->value;
      if (field->number == kNodeDuration) duration_us = field->value;
      if (field->number != kNodeAttribute) continue;
      std::string_view name;
      ProtoField value;
      attribute(field->bytes, name, value);
      const auto whole = static_cast<std::int64_t>(value.value);
      if (name == "comm_type") comm_type = whole;
      if (name == "comm_size") bytes = whole;
      if (name == "pg_name") group = std::string(value.bytes);
      if (name == (type == kSendNode ? "comm_dst" : "comm_src")) peer = whole;
    }
    if (fields.damaged()) fail("a node that is damaged");
    if (type < kSendNode || type > kCollectiveNode) return;
    constexpr std::int64_t kLargestBuffer = std::int64_t{8} << 40;
    if (bytes < 0 || bytes > kLargestBuffer ||
        (type == kCollectiveNode && (comm_type < 0 || comm_type >= std::ssize(kCommTypes)))) {
      return writer_.source().count_unexplained_line(
          number, "a node of communication without type or size");
    }
    if (type == kCollectiveNode) record.operation = kCommTypes[comm_type];
    if (type == kSendNode) record.operation = LoggedOperation::kSend;
    if (type == kReceiveNode) record.operation = LoggedOperation::kReceive;
    if (type != kCollectiveNode) record.peer = peer;
    const bool part = record.operation == LoggedOperation::kAllGather && bytes > 0;
    (part ? record.logged_bytes : record.payload_bytes) = bytes;
    if (!group.empty()) record.communicator = writer_.communicator(group, 0);
    record.enqueued_s = record.start_s = static_cast<double>(start_us) * 1e-6;
    if (duration_us > 0) record.duration_s = static_cast<double>(duration_us) * 1e-6;
    writer_.add(record);
  }

  FileByteReader& bytes_;
  LogCallCollector writer_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::size_t offset_ = 0;
  std::int64_t rank_ = kUnknown;
};

}  // namespace

void read_chakra(FileByteReader& bytes, CommunicationLog& log) { ChakraReader(bytes, log).read(); }

}  // namespace stepwright::logs
