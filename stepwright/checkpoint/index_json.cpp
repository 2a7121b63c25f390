// Reads and writes the index file: docs/formats.md, "Checkpoint".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "stepwright/checkpoint/index.h"
#include "stepwright/checkpoint/plain_name.h"
#include "stepwright/checkpoint/safetensors.h"
#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"

namespace stepwright::checkpoint {
namespace {

using IndexJson = nlohmann::ordered_json;
constexpr std::string_view kIndexVersion = "checkpoint/1";
/// Most bytes of an index that are read: parsed, it takes some sixteen times as much memory.
constexpr std::size_t kLargestIndex = 1U << 28U;
/// Most levels of lists and mappings in an index, since the JSON writer calls itself for each
/// level.
constexpr std::int64_t kDeepestIndex = 16;

[[noreturn]] void refuse_index(const std::filesystem::path& path, const std::string& what) {
  constexpr std::size_t kLongest = 1000;
  fail_input(fmt::format("{}: {}", path.string(), one_line_printable_text(what, kLongest)));
}

IndexJson pieces_json(const std::vector<StridedShardPiece>& pieces) {
  auto list = IndexJson::array();
  for (const StridedShardPiece& p : pieces) list.push_back({p.begin, p.length, p.stride, p.count});
  return list;
}

IndexJson tensors_json(const std::vector<CheckpointTensorEntry>& tensors) {
  auto list = IndexJson::array();
  for (const CheckpointTensorEntry& tensor : tensors) {
    auto slices = IndexJson::array();
    for (const CheckpointTensorSlice& slice : tensor.slices) {
      slices.push_back({{"file", slice.file}, {"pieces", pieces_json(slice.pieces)}});
    }
    list.push_back({{"name", tensor.name}, {"shape", tensor.shape}, {"slices", slices}});
    if (!tensor.states.empty()) list.back()["states"] = tensor.states;
  }
  return list;
}

IndexJson file_json(const CheckpointFileEntry& file) {
  return {{"name", file.name}, {"bytes", file.sum.bytes}, {"xxh3", file.sum.checksum}};
}

IndexJson content_json(const CheckpointIndex& index) {
  const CheckpointRunFacts& run = index.run;
  auto files = IndexJson::array();
  for (const CheckpointFileEntry& file : index.files) files.push_back(file_json(file));
  IndexJson content = {{"step", run.step},
                       {"seed", run.seed},
                       {"samples", run.samples},
                       {"length", run.length},
                       {"tokens", run.tokens},
                       {"plan", run.plan},
                       {"program", run.program},
                       {"dtype", index.dtype},
                       {"states", index.states},
                       {"files", files},
                       {"tensors", tensors_json(index.tensors)}};
  if (!run.base.empty()) content["base"] = run.base;
  if (!run.data_sum.empty()) content["data"] = {{"name", run.data}, {"xxh3", run.data_sum}};
  return content;
}

/// Returns the levels of lists and mappings in a JSON text; any number if quotes do not match.
std::int64_t nesting_of(std::string_view text) {
  std::int64_t depth = 0;
  std::int64_t deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      deepest = std::max(deepest, depth);
    }
  }
  return deepest;
}

/// Reads entries of a mapping; its errors name them.
class IndexReader {
 public:
  IndexReader(const IndexJson& json, std::string where, const std::filesystem::path& path)
      : json_(json), where_(std::move(where)), path_(path) {
    if (!json.is_object()) refuse_index(path, where_ + " is no mapping");
  }

  [[nodiscard]] const IndexJson& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) refuse_index(path_, fmt::format("{} has no '{}'", where_, key));
    return *found;
  }
  [[nodiscard]] std::string text(const char* key) const {
    if (!at(key).is_string()) refuse_index(path_, fmt::format("{}: '{}' is not text", where_, key));
    return at(key).get<std::string>();
  }
  /// Returns an entry that is a name: text without control characters.
  [[nodiscard]] std::string name(const char* key) const { return name_of(at(key), key); }
  [[nodiscard]] std::string name_of(const IndexJson& value, const char* key) const {
    if (!value.is_string()) refuse(fmt::format("'{}' is not text", key));
    const auto text = value.get<std::string>();
    if (is_safe_printable_text(text)) return text;
    refuse(fmt::format("'{}': '{}' has characters that no name has", key,
                       one_line_printable_text(text)));
  }
  [[nodiscard]] std::int64_t number(const char* key) const { return number_of(at(key), key); }
  [[nodiscard]] const IndexJson& list(const char* key) const {
    if (!at(key).is_array())
      refuse_index(path_, fmt::format("{}: '{}' is not a list", where_, key));
    return at(key);
  }
  [[nodiscard]] std::int64_t number_of(const IndexJson& value, const char* key) const {
    const bool fits = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() <=
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!fits) refuse_index(path_, fmt::format("{}: '{}' is not a number from 0", where_, key));
    return value.get<std::int64_t>();
  }
  [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }
  [[noreturn]] void refuse(const std::string& what) const {
    refuse_index(path_, fmt::format("{}: {}", where_, what));
  }

 private:
  const IndexJson& json_;
  std::string where_;
  const std::filesystem::path& path_;
};

StridedShardPiece read_piece(const IndexJson& json, std::int64_t whole, const IndexReader& slice) {
  if (!json.is_array() || json.size() != 4) slice.refuse("a piece is not a list of four numbers");
  const auto number = [&](std::size_t i) { return slice.number_of(json[i], "pieces"); };
  const StridedShardPiece piece{
      .begin = number(0), .length = number(1), .stride = number(2), .count = number(3)};
  const bool spaced = piece.count == 1 || piece.stride >= piece.length;
  std::int64_t end = 0;
  const bool inside = piece.length > 0 && piece.count > 0 && spaced &&
                      !__builtin_mul_overflow(piece.stride, piece.count - 1, &end) &&
                      !__builtin_add_overflow(end, piece.begin, &end) &&
                      !__builtin_add_overflow(end, piece.length, &end) && end <= whole;
  if (!inside) {
    slice.refuse(fmt::format("the piece [{}, {}, {}, {}] does not lie in {} elements", piece.begin,
                             piece.length, piece.stride, piece.count, whole));
  }
  return piece;
}

CheckpointTensorSlice read_slice(const IndexJson& json, std::int64_t whole,
                                 const std::string& where, const std::filesystem::path& path) {
  const IndexReader reader(json, where, path);
  CheckpointTensorSlice slice{.file = reader.number("file"), .pieces = {}};
  std::int64_t left = whole;
  for (const IndexJson& one : reader.list("pieces")) {
    slice.pieces.push_back(read_piece(one, whole, reader));
    left -= slice.pieces.back().elements();
    if (left < 0) reader.refuse("more elements than the tensor has");
  }
  return slice;
}

CheckpointTensorEntry read_tensor(const IndexJson& json, const std::filesystem::path& path) {
  const IndexReader reader(json, "a tensor", path);
  CheckpointTensorEntry tensor{.name = reader.name("name"), .shape = {}, .slices = {}};
  const std::string where = fmt::format("tensor '{}'", tensor.name);
  const IndexReader named(json, where, path);
  std::int64_t whole = 8;  // bytes of an element, at most: no arithmetic on sizes may overflow
  for (const IndexJson& extent : named.list("shape")) {
    tensor.shape.push_back(named.number_of(extent, "shape"));
    if (__builtin_mul_overflow(whole, tensor.shape.back(), &whole)) {
      named.refuse("more elements than a file can hold");
    }
  }
  for (const IndexJson& slice : named.list("slices")) {
    tensor.slices.push_back(read_slice(slice, whole / 8, where, path));
  }
  if (!named.has("states")) return tensor;
  for (const IndexJson& state : named.list("states")) {
    tensor.states.push_back(named.name_of(state, "states"));
  }
  return tensor;
}

CheckpointFileEntry read_file_entry(const IndexJson& json, const std::filesystem::path& path) {
  const IndexReader reader(json, "a file", path);
  CheckpointFileEntry file{reader.text("name"), {reader.number("bytes"), reader.text("xxh3")}};
  if (!is_plain_file_name(file.name)) {
    refuse_index(path,
                 fmt::format("file '{}': not a plain name", one_line_printable_text(file.name)));
  }
  return file;
}

CheckpointRunFacts read_run(const IndexReader& content, const std::filesystem::path& path) {
  CheckpointRunFacts run{.step = content.number("step"),
                         .seed = content.at("seed").is_number_unsigned()
                                     ? content.at("seed").get<std::uint64_t>()
                                     : static_cast<std::uint64_t>(content.number("seed")),
                         .samples = content.number("samples"),
                         .length = content.number("length"),
                         .tokens = content.number("tokens"),
                         .plan = content.text("plan"),
                         .program = content.text("program"),
                         .base = content.has("base") ? content.name("base") : ""};
  if (!content.has("data")) return run;
  const IndexReader data(content.at("data"), "data", path);
  run.data = data.name("name");
  run.data_sum = data.name("xxh3");
  return run;
}

/// Fails unless states, files and tensors refer to each other correctly.
void check_names(const CheckpointIndex& index, const std::filesystem::path& path) {
  if (element_bytes(index.dtype) == 0) {
    refuse_index(path,
                 fmt::format("dtype '{}' is not known", one_line_printable_text(index.dtype)));
  }
  if (index.states.empty() || index.states.front() != kCheckpointWeightsName) {
    refuse_index(path, "the first of 'states' is not weights");
  }
  std::set<std::string_view> names;
  for (const CheckpointFileEntry& file : index.files) {
    if (!names.insert(file.name).second) {
      refuse_index(path, fmt::format("file '{}' is listed twice", file.name));
    }
  }
  names.clear();
  for (const CheckpointTensorEntry& tensor : index.tensors) {
    if (!names.insert(tensor.name).second) {
      refuse_index(path, fmt::format("tensor '{}' is listed twice", tensor.name));
    }
    for (const std::string& state : tensor.states) {
      if (std::ranges::find(index.states, state) != index.states.end()) continue;
      refuse_index(path, fmt::format("tensor '{}': '{}' must be one of the states {}", tensor.name,
                                     state, fmt::join(index.states, ", ")));
    }
    for (const CheckpointTensorSlice& slice : tensor.slices) {
      if (slice.file < std::ssize(index.files)) continue;
      refuse_index(path, fmt::format("tensor '{}': file {} of {}", tensor.name, slice.file,
                                     index.files.size()));
    }
  }
}

/// Fails if a file is smaller than the tensors in it.
void check_sizes(const CheckpointIndex& index, const std::filesystem::path& path) {
  std::vector<std::int64_t> bytes(index.files.size());
  const std::int64_t width = element_bytes(index.dtype);
  for (const CheckpointTensorEntry& tensor : index.tensors) {
    const std::int64_t states = std::ssize(stored_state_names_of_tensor(index, tensor));
    for (const CheckpointTensorSlice& slice : tensor.slices) {
      const auto file = static_cast<std::size_t>(slice.file);
      std::int64_t own = 0;
      const bool fits =
          !__builtin_mul_overflow(pieces_element_count(slice.pieces), width * states, &own) &&
          !__builtin_add_overflow(bytes[file], own, &bytes[file]) &&
          bytes[file] <= index.files[file].sum.bytes;
      if (fits) continue;
      refuse_index(path, fmt::format("tensor '{}': its {} elements in {} are more than the file's "
                                     "{} bytes hold",
                                     tensor.name, pieces_element_count(slice.pieces),
                                     index.files[file].name, index.files[file].sum.bytes));
    }
  }
}

/// Parses an index; refuses texts that are deeper or longer than an index needs.
IndexJson parse_json(std::string_view text, const std::filesystem::path& path) {
  if (text.size() > kLargestIndex) {
    refuse_index(path,
                 fmt::format("has {} bytes; an index has at most {}", text.size(), kLargestIndex));
  }
  if (nesting_of(text) > kDeepestIndex) {
    refuse_index(path, fmt::format("is nested deeper than {} levels: not an index", kDeepestIndex));
  }
  IndexJson json = IndexJson::parse(text, nullptr, false);
  if (json.is_discarded()) refuse_index(path, "is not JSON: truncated or damaged");
  return json;
}

}  // namespace

std::string checkpoint_index_text(const CheckpointIndex& index) {
  const IndexJson content = content_json(index);
  return IndexJson({{"stepwright", kIndexVersion},
                    {"xxh3", checksum(content.dump())},
                    {"content", content}})
             .dump() +
         "\n";
}

CheckpointIndex parse_checkpoint_index(std::string_view text, const std::filesystem::path& path) {
  const IndexJson json = parse_json(text, path);
  const IndexReader file(json, "the file", path);
  if (file.text("stepwright") != kIndexVersion) {
    refuse_index(path,
                 fmt::format("stepwright: '{}', this program reads {}",
                             one_line_printable_text(file.text("stepwright")), kIndexVersion));
  }
  const std::string sum =
      checksum(file.at("content").dump(-1, ' ', false, IndexJson::error_handler_t::replace));
  if (file.text("xxh3") != sum) {
    refuse_index(path, fmt::format("damaged: checksum {}, the file says {}", sum,
                                   one_line_printable_text(file.text("xxh3"))));
  }
  const IndexReader content(file.at("content"), "content", path);
  CheckpointIndex index{.run = read_run(content, path), .dtype = content.text("dtype")};
  for (const IndexJson& state : content.list("states")) {
    index.states.push_back(content.name_of(state, "states"));
  }
  for (const IndexJson& one : content.list("files")) {
    index.files.push_back(read_file_entry(one, path));
  }
  for (const IndexJson& one : content.list("tensors")) {
    index.tensors.push_back(read_tensor(one, path));
  }
  check_names(index, path);
  check_sizes(index, path);
  return index;
}

std::string checkpoint_part_text(const RankCheckpointPart& part) {
  return IndexJson({{"file", file_json(part.file)}, {"tensors", tensors_json(part.tensors)}})
      .dump();
}

RankCheckpointPart parse_checkpoint_part(std::string_view text) {
  const std::filesystem::path path = "a rank's part of a checkpoint";
  const IndexJson json = parse_json(text, path);
  const IndexReader reader(json, "the part", path);
  RankCheckpointPart part{.file = read_file_entry(reader.at("file"), path), .tensors = {}};
  for (const IndexJson& one : reader.list("tensors"))
    part.tensors.push_back(read_tensor(one, path));
  return part;
}

}  // namespace stepwright::checkpoint
