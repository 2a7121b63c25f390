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

/// Name of the index file, which lists a checkpoint's files and tensors. A folder without it is no
/// checkpoint: it is written last.
inline constexpr std::string_view kCheckpointIndexName = "checkpoint.json";
/// Name under which a checkpoint stores a tensor's values, in contrast to the optimizer's states.
inline constexpr std::string_view kCheckpointWeightsName = "weights";

/// A file of a checkpoint with one rank's shards: its name, size and checksum.
struct CheckpointFileEntry {
  std::string name;
  FileChecksum sum;
  bool operator==(const CheckpointFileEntry&) const = default;
};

/// The part of a model tensor that one file of a checkpoint holds, as a flat tensor whose name is
/// the state and the tensor: `weights/embedding.word`.
struct CheckpointTensorSlice {
  std::int64_t file = 0;  ///< Index of the slice's file in the checkpoint's list of files.
  std::vector<StridedShardPiece> pieces;
  bool operator==(const CheckpointTensorSlice&) const = default;
};

/// A whole model tensor in a checkpoint's index: its name, shape, and the slices into which ranks
/// cut it.
struct CheckpointTensorEntry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<CheckpointTensorSlice> slices;
  /// Names of the stored states of this tensor (weights, optimizer moments); empty: all states of
  /// the checkpoint.
  std::vector<std::string> states = {};

  [[nodiscard]] std::int64_t elements() const;
  bool operator==(const CheckpointTensorEntry&) const = default;
};

/// Facts about a training run, stored in its checkpoint: its progress, and what a run that resumes
/// from it must have in common with it.
struct CheckpointRunFacts {
  std::int64_t step = 0;  ///< Number of training steps done before the checkpoint.
  /// Random seed for initial values of parameters and for the order of training samples.
  std::uint64_t seed = 0;
  std::int64_t samples = 0;  ///< Number of training sequences consumed so far.
  std::int64_t length = 0;   ///< Length of a training sequence, in tokens.
  std::int64_t tokens = 0;   ///< Number of tokens in the training data file.
  /// Path of the training data file; empty: written by an older version that did not record it.
  std::string data = {};
  /// Checksum of the training data file; empty: written by an older version that did not record it.
  std::string data_sum = {};
  std::string plan;     ///< Text of the plan file (YAML) with which the run was started.
  std::string program;  ///< Hash of the step program that the plan expands to.
  /// Directory from which the values of frozen parameters were read; empty: no parameter is frozen,
  /// or they were initialised from the seed.
  std::string base = {};
  bool operator==(const CheckpointRunFacts&) const = default;
};

/// The index of a checkpoint: its run, files and tensors, without the numbers in the tensors.
struct CheckpointIndex {
  CheckpointRunFacts run;
  std::string dtype;  ///< Number type of all stored states, by its safetensors name ("F32").
  /// Names of the stored states: "weights" and the optimizer's moments.
  std::vector<std::string> states;
  std::vector<CheckpointFileEntry> files;
  std::vector<CheckpointTensorEntry> tensors;
  bool operator==(const CheckpointIndex&) const = default;
};

/// Returns the names of the states ("weights", optimizer moments) that a checkpoint stores for a
/// tensor.
const std::vector<std::string>& stored_state_names_of_tensor(const CheckpointIndex& index,
                                                             const CheckpointTensorEntry& tensor);

/// True if a checkpoint stores the tensor's weights; false: only its optimizer states.
bool checkpoint_has_tensor_weights(const CheckpointIndex& index,
                                   const CheckpointTensorEntry& tensor);

/// The part of a checkpoint that one rank wrote: one file, and for each tensor the one slice in it.
struct RankCheckpointPart {
  CheckpointFileEntry file;
  std::vector<CheckpointTensorEntry> tensors;
};

/// Adds the file and slices that one rank wrote to a checkpoint's index. Fails with `kRuntime` if
/// ranks disagree about a tensor's shape.
void add_checkpoint_part(CheckpointIndex& index, const RankCheckpointPart& part);

/// Returns the text of a checkpoint's index file, which includes the text's own checksum.
std::string checkpoint_index_text(const CheckpointIndex& index);
/// Reads the text of a checkpoint's index file. Fails with `kInput`, naming the wrong entry, also
/// if tensors are larger than the files that hold them.
CheckpointIndex parse_checkpoint_index(std::string_view text, const std::filesystem::path& path);
/// Reads the index of the checkpoint in a folder.
CheckpointIndex load_checkpoint_index(const std::filesystem::path& directory);

/// Returns what one rank wrote to a checkpoint as a text that is sent to another rank.
std::string checkpoint_part_text(const RankCheckpointPart& part);
/// Reads a text that `checkpoint_part_text` returned.
RankCheckpointPart parse_checkpoint_part(std::string_view text);

/// Fails with `kInput` unless each element of each tensor is in exactly one slice of the
/// checkpoint.
void check_tensor_coverage(const CheckpointIndex& index, const std::filesystem::path& path);

}  // namespace stepwright::checkpoint
