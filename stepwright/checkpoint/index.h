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

/// Name of the index file, which makes a folder a checkpoint: it is written last, and the folder is
/// renamed after it.
inline constexpr std::string_view kCheckpointIndexName = "checkpoint.json";
/// Name of the state that every model tensor has: its values in the optimizer's type.
inline constexpr std::string_view kWeightsState = "weights";

/// A file of a shard, with its size and checksum.
struct IndexedFile {
  std::string name;
  FileChecksum sum;
  bool operator==(const IndexedFile&) const = default;
};

/// A part of a whole tensor; in its file it is a flat tensor named `STATE/TENSOR`.
struct IndexedSlice {
  std::int64_t file = 0;  ///< Number of the slice's file in the list of files of the index.
  std::vector<ShardPiece> pieces;
  bool operator==(const IndexedSlice&) const = default;
};

/// A whole tensor of the model.
struct IndexedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<IndexedSlice> slices;
  /// States that the tensor has, out of the index's states; empty: all.
  std::vector<std::string> states = {};

  [[nodiscard]] std::int64_t elements() const;
  bool operator==(const IndexedTensor&) const = default;
};

/// The facts of a run that a run which continues it must share, and its progress.
struct CheckpointRun {
  std::int64_t step = 0;     ///< Number of training steps done before the checkpoint.
  std::uint64_t seed = 0;    ///< Seed of initial values and of the order of samples.
  std::int64_t samples = 0;  ///< Sequences taken from the data so far.
  std::int64_t length = 0;   ///< Tokens of a sequence.
  std::int64_t tokens = 0;   ///< Number of tokens in the data file.
  /// Path of the data file; empty: an older checkpoint, which does not state it.
  std::string data = {};
  /// Checksum of all bytes of the data file; empty: not stated, as for `data`.
  std::string data_sum = {};
  std::string plan;     ///< The plan's text (YAML).
  std::string program;  ///< Hash of the plan's program.
  /// Directory from which the values of frozen parameters came; empty: there are none, or they came
  /// from the seed.
  std::string base = {};
  bool operator==(const CheckpointRun&) const = default;
};

/// Everything about a checkpoint except the numbers in its tensors.
struct CheckpointIndex {
  CheckpointRun run;
  std::string dtype;                ///< Type of all states, by its safetensors name.
  std::vector<std::string> states;  ///< Names of states: "weights", and those of the optimizer.
  std::vector<IndexedFile> files;
  std::vector<IndexedTensor> tensors;
  bool operator==(const CheckpointIndex&) const = default;
};

/// Returns the states that a tensor of an index has.
const std::vector<std::string>& tensor_state_names(const CheckpointIndex& index,
                                                   const IndexedTensor& tensor);

/// True if a tensor has weights; false: it has optimizer states only.
bool has_weights(const CheckpointIndex& index, const IndexedTensor& tensor);

/// The part of a checkpoint that one rank wrote: its file, and its part of each tensor (`slices`
/// has one entry, with file 0).
struct RankCheckpointPart {
  IndexedFile file;
  std::vector<IndexedTensor> tensors;
};

/// Adds a rank's part to an index. Fails with `kRuntime` when ranks disagree about a tensor's
/// shape.
void add_checkpoint_part(CheckpointIndex& index, const RankCheckpointPart& part);

/// Returns the text of an index file, which includes its own checksum.
std::string index_text(const CheckpointIndex& index);
/// Reads the text of an index file. Fails with `kInput`, naming the file, the entry and the allowed
/// values. Sizes of tensors may not exceed the sizes of files in the index.
CheckpointIndex parse_index(std::string_view text, const std::filesystem::path& path);
/// Reads the index of a committed checkpoint's directory.
CheckpointIndex load_index(const std::filesystem::path& directory);

/// Convert a part to a text that is sent between ranks (`checkpoint_part_text`), and back
/// (`parse_part`).
std::string checkpoint_part_text(const RankCheckpointPart& part);
RankCheckpointPart parse_part(std::string_view text);

/// Fails with `kInput` unless every element of every tensor is in exactly one slice.
void check_complete(const CheckpointIndex& index, const std::filesystem::path& path);

}  // namespace stepwright::checkpoint
