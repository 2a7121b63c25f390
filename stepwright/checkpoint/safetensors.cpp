#include "stepwright/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "stepwright/checkpoint/plain_name.h"
#include "stepwright/core/assembler.h"
#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"

namespace stepwright::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

/// Bytes of the number in front that states the header's length.
constexpr std::size_t kPrefix = 8;
/// Most bytes of a header, as in the format's own reader.
constexpr std::uint64_t kLongestHeader = 100'000'000;

struct NamedSize {
  std::string_view name;
  std::int64_t bytes;
};
constexpr NamedSize kElementTypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
                                       {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U8", 1},   {"U16", 2},
                                       {"U32", 4}, {"U64", 8}, {"BOOL", 1}};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
  constexpr std::size_t kLongest = 1000;
  fail_input(fmt::format("{}: {}", path.string(), one_line_printable_text(what, kLongest)));
}

[[noreturn]] void refuse_tensor(const std::filesystem::path& path, std::string_view name,
                                const std::string& what) {
  refuse(path, fmt::format("tensor '{}'{}", one_line_printable_text(name), what));
}

/// Returns a number of the header; nullopt unless it is an integer on which signed 64-bit
/// arithmetic cannot overflow.
std::optional<std::int64_t> size_in(const nlohmann::json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<std::uint64_t>();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number);
}

/// Returns a list of such numbers; nullopt when the entry is anything else.
std::optional<std::vector<std::int64_t>> sizes_in(const nlohmann::json& entry, const char* key) {
  const auto list = entry.find(key);
  if (list == entry.end() || !list->is_array()) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (const nlohmann::json& one : *list) {
    const auto size = size_in(one);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

/// Returns the bytes of a tensor of this shape; nullopt when they overflow.
std::optional<std::int64_t> bytes_of_shape(const std::vector<std::int64_t>& shape,
                                           std::int64_t element) {
  std::int64_t bytes = element;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

SafetensorsEntry read_entry(const std::string& name, const nlohmann::json& entry,
                            const std::filesystem::path& path) {
  if (!is_safe_printable_text(name)) refuse_tensor(path, name, ": its name has control characters");
  if (!entry.is_object()) refuse_tensor(path, name, " is no mapping");
  const auto type = entry.find("dtype");
  if (type == entry.end() || !type->is_string()) refuse_tensor(path, name, " has no dtype");
  SafetensorsEntry tensor{.name = name, .dtype = type->get<std::string>()};
  const std::int64_t element = element_bytes(tensor.dtype);
  if (element == 0) {
    refuse_tensor(path, name,
                  fmt::format(": dtype '{}' is not known", one_line_printable_text(tensor.dtype)));
  }
  const auto shape = sizes_in(entry, "shape");
  const auto offsets = sizes_in(entry, "data_offsets");
  if (!shape) refuse_tensor(path, name, ": shape is not a list of sizes");
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) {
    refuse_tensor(path, name, ": data_offsets must be a begin and an end");
  }
  tensor.shape = *shape;
  tensor.begin = (*offsets)[0];
  tensor.end = (*offsets)[1];
  const auto bytes = bytes_of_shape(tensor.shape, element);
  if (!bytes || *bytes != tensor.end - tensor.begin) {
    refuse_tensor(path, name,
                  fmt::format(": its offsets hold {} bytes, but its shape and dtype need {}",
                              tensor.end - tensor.begin,
                              bytes ? std::to_string(*bytes) : "more than a file can hold"));
  }
  return tensor;
}

/// Fails unless the tensors follow each other without holes from the first byte to the last.
void check_places(const std::vector<SafetensorsEntry>& tensors, std::int64_t size,
                  const std::filesystem::path& path) {
  std::int64_t end = 0;
  for (const SafetensorsEntry& tensor : tensors) {
    if (tensor.begin != end) {
      refuse_tensor(path, tensor.name,
                    fmt::format(" begins at byte {}, {} at {}", tensor.begin,
                                tensor.begin < end ? "inside the tensor before, which ends"
                                                   : "after a hole that begins",
                                end));
    }
    end = tensor.end;
  }
  if (end != size) {
    refuse(path, fmt::format("the tensors end at byte {}, but {} bytes follow the header: {}", end,
                             size, size < end ? "truncated" : "something stands behind them"));
  }
}

nlohmann::json read_header(std::span<const std::byte> file, const std::filesystem::path& path,
                           std::uint64_t& length) {
  if (file.size() < kPrefix) {
    refuse(path, fmt::format("a file of {} bytes is not a safetensors file", file.size()));
  }
  std::memcpy(&length, file.data(), kPrefix);
  if (length > kLongestHeader || length > file.size() - kPrefix) {
    refuse(path, fmt::format("the header should have {} bytes, the file has {}: truncated or not a "
                             "safetensors file, whose headers have at most {}",
                             length, file.size(), kLongestHeader));
  }
  const auto* text = reinterpret_cast<const char*>(file.data()) + kPrefix;
  std::size_t values = 0;
  const auto within = [&](int, nlohmann::json::parse_event_t, const nlohmann::json&) {
    return ++values <= kMaxYamlOrJsonValues;  // further values are not stored
  };
  auto header = nlohmann::json::parse(text, text + length, within, false);
  if (values > kMaxYamlOrJsonValues) {
    refuse(path, fmt::format("the header has more than {} values", kMaxYamlOrJsonValues));
  }
  if (!header.is_object()) refuse(path, "the header is not a JSON mapping");
  return header;
}

}  // namespace

std::int64_t SafetensorsEntry::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t element_bytes(std::string_view dtype) {
  for (const NamedSize& type : kElementTypes) {
    if (type.name == dtype) return type.bytes;
  }
  return 0;
}

std::string build_safetensors_header(std::vector<SafetensorsEntry>& tensors,
                                     const std::map<std::string, std::string>& metadata) {
  auto header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::int64_t offset = 0;
  for (SafetensorsEntry& tensor : tensors) {
    tensor.begin = offset;
    offset += tensor.elements() * element_bytes(tensor.dtype);
    tensor.end = offset;
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {tensor.begin, tensor.end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const auto length = static_cast<std::uint64_t>(text.size());
  std::string prefix(kPrefix, '\0');
  std::memcpy(prefix.data(), &length, kPrefix);
  return prefix + text;
}

std::vector<SafetensorsEntry> read_safetensors_header(std::span<const std::byte> file,
                                                      const std::filesystem::path& path) {
  std::uint64_t length = 0;
  const nlohmann::json header = read_header(file, path, length);
  std::vector<SafetensorsEntry> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") tensors.push_back(read_entry(name, entry, path));
  }
  std::ranges::sort(tensors, {},
                    [](const SafetensorsEntry& t) { return std::pair(t.begin, t.end); });
  check_places(tensors, static_cast<std::int64_t>(file.size() - kPrefix - length), path);
  return tensors;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path), file_(path) {
  for (SafetensorsEntry& tensor : read_safetensors_header(file_.bytes(), path)) {
    tensors_.emplace(tensor.name, std::move(tensor));
  }
}

std::span<const std::byte> SafetensorsFile::bytes_of(const SafetensorsEntry& tensor) const {
  std::uint64_t length = 0;
  std::memcpy(&length, file_.bytes().data(), kPrefix);
  return file_.bytes().subspan(kPrefix + length + static_cast<std::size_t>(tensor.begin),
                               static_cast<std::size_t>(tensor.end - tensor.begin));
}

}  // namespace stepwright::checkpoint
