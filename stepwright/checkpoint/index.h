#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/checkpoint/durable_file.h"
#include "stepwright/checkpoint/pieces.h"

namespace stepwright::checkpoint {

/// The file that makes a checkpoint one: written last, and the directory renamed after it.
inline constexpr std::string_view kIndexName = "checkpoint.json";
/// The state that every tensor has: its values in the type that the optimizer works in.
inline constexpr std::string_view kWeightsState = "weights";

/// A file of a shard, with its sum.
struct IndexedFile {
  std::string name;
  FileSum sum;
  bool operator==(const IndexedFile&) const = default;
};

/// A part of a whole tensor in a file, where it is called `STATE/TENSOR`, flat.
struct IndexedSlice {
  std::int64_t file = 0;  ///< Index of the file in the index's list.
  std::vector<Piece> pieces;
  bool operator==(const IndexedSlice&) const = default;
};

/// A whole tensor of the model.
struct IndexedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<IndexedSlice> slices;
  /// States that the tensor has, of the index's; empty: all.
  std::vector<std::string> states = {};

  [[nodiscard]] std::int64_t elements() const;
  bool operator==(const IndexedTensor&) const = default;
};

/// The facts of a run that the one that continues it must share, and how far it had come.
struct CheckpointRun {
  std::int64_t step = 0;      ///< Number of steps done.
  std::uint64_t seed = 0;     ///< Seed of initial values and of the order of samples.
  std::int64_t samples = 0;   ///< Sequences taken from the data.
  std::int64_t length = 0;    ///< Tokens of a sequence.
  std::int64_t tokens = 0;    ///< Tokens of the data file.
  std::string data = {};      ///< The data file's path; empty: an older checkpoint, which has none.
  std::string data_sum = {};  ///< The checksum of all of its bytes; empty as `data`.
  std::string plan;           ///< The plan's text (YAML).
  std::string program;        ///< The hash of its program.
  /// Directory that the values of frozen parts came from; empty: none, or from the seed.
  std::string base = {};
  bool operator==(const CheckpointRun&) const = default;
};

/// All that is known of a checkpoint but its numbers.
struct CheckpointIndex {
  CheckpointRun run;
  std::string dtype;                ///< Type of all states, as safetensors calls it.
  std::vector<std::string> states;  ///< "weights", and the optimizer's.
  std::vector<IndexedFile> files;
  std::vector<IndexedTensor> tensors;
  bool operator==(const CheckpointIndex&) const = default;
};

/// The states that a tensor of an index has.
const std::vector<std::string>& states_of(const CheckpointIndex& index,
                                          const IndexedTensor& tensor);

/// Whether it has weights; else it is a state of an optimizer alone.
bool has_weights(const CheckpointIndex& index, const IndexedTensor& tensor);

/// The part of a checkpoint that one rank wrote: its file, and its part of each tensor (`slices`
/// has one, file 0).
struct ShardPart {
  IndexedFile file;
  std::vector<IndexedTensor> tensors;
};

/// Adds a rank's part. Fails with `kRuntime` when ranks disagree about a tensor's shape.
void add_part(CheckpointIndex& index, const ShardPart& part);

/// The index as the text of its file, under its own checksum.
std::string index_text(const CheckpointIndex& index);
/// Reads that text. Fails with `kInput`, naming the file, the entry and what is allowed. Sizes are
/// bounded by those that the index gives its files.
CheckpointIndex parse_index(std::string_view text, const std::filesystem::path& path);
/// Reads the index of a committed checkpoint's directory.
CheckpointIndex load_index(const std::filesystem::path& directory);

/// A part as a text that goes from rank to rank, and back.
std::string part_text(const ShardPart& part);
ShardPart parse_part(std::string_view text);

/// Fails with `kInput` unless every element of every tensor is in exactly one slice.
void check_complete(const CheckpointIndex& index, const std::filesystem::path& path);

}  // namespace stepwright::checkpoint
