#include "stepwright/checkpoint/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/mapped_file.h"

namespace stepwright::checkpoint {

std::int64_t CheckpointTensorEntry::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

const std::vector<std::string>& stored_state_names_of_tensor(const CheckpointIndex& index,
                                                             const CheckpointTensorEntry& tensor) {
  return tensor.states.empty() ? index.states : tensor.states;
}

bool checkpoint_has_tensor_weights(const CheckpointIndex& index,
                                   const CheckpointTensorEntry& tensor) {
  return stored_state_names_of_tensor(index, tensor).front() == kCheckpointWeightsName;
}

void add_checkpoint_part(CheckpointIndex& index, const RankCheckpointPart& part) {
  std::map<std::string_view, CheckpointTensorEntry*> known;
  const auto file = std::ssize(index.files);
  index.files.push_back(part.file);
  index.tensors.reserve(index.tensors.size() + part.tensors.size());
  for (CheckpointTensorEntry& tensor : index.tensors) known[tensor.name] = &tensor;
  for (const CheckpointTensorEntry& own : part.tensors) {
    const auto found = known.find(own.name);
    CheckpointTensorEntry* whole = found != known.end() ? found->second : nullptr;
    if (whole == nullptr)
      whole =
          &index.tensors.emplace_back(CheckpointTensorEntry{own.name, own.shape, {}, own.states});
    if (whole->shape != own.shape || whole->states != own.states) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("{}: ranks disagree about the shape or the states of '{}'",
                              part.file.name, own.name));
    }
    for (const CheckpointTensorSlice& slice : own.slices)
      whole->slices.push_back({file, slice.pieces});
  }
}

CheckpointIndex load_checkpoint_index(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / kCheckpointIndexName;
  if (!path_exists(path)) {
    fail_input(fmt::format("{}: is not a committed checkpoint: it has no {}", directory.string(),
                           kCheckpointIndexName));
  }
  const MappedFile file(path);
  const auto* text = reinterpret_cast<const char*>(file.bytes().data());
  return parse_checkpoint_index({text, file.bytes().size()}, path);
}

void check_tensor_coverage(const CheckpointIndex& index, const std::filesystem::path& path) {
  for (const CheckpointTensorEntry& tensor : index.tensors) {
    std::vector<StridedShardPiece> pieces;
    for (const CheckpointTensorSlice& slice : tensor.slices) {
      pieces.insert(pieces.end(), slice.pieces.begin(), slice.pieces.end());
    }
    const std::int64_t flaw = first_miscovered_element(pieces, tensor.elements());
    if (flaw < 0) continue;
    fail_input(fmt::format("{}: tensor '{}': its slices do not hold element {} of {} exactly once",
                           path.string(), tensor.name, flaw, tensor.elements()));
  }
}

}  // namespace stepwright::checkpoint
