#include "stepwright/checkpoint/verify.h"

#include "stepwright/checkpoint/shards.h"
#include "stepwright/core/error.h"

namespace stepwright::checkpoint {
namespace {

/// Runs a check and records an error that it throws as a flaw; true if there was none.
template <class Check>
bool passes(std::vector<std::string>& flaws, Check check) {
  try {
    check();
    return true;
  } catch (const Error& error) {
    flaws.emplace_back(error.what());
    return false;
  }
}

}  // namespace

std::vector<std::string> find_checkpoint_defects(
    const std::filesystem::path& directory,
    const std::function<void(const CheckpointIndex&)>& further) {
  std::vector<std::string> flaws;
  CheckpointIndex index;
  if (!passes(flaws, [&] { index = load_checkpoint_index(directory); })) return flaws;
  for (const CheckpointFileEntry& file : index.files) {
    passes(flaws, [&] { verify_file_checksum(directory, file); });
  }
  std::unique_ptr<CheckpointShardReader> reader;
  if (!flaws.empty() ||
      !passes(flaws, [&] { reader = std::make_unique<CheckpointShardReader>(directory, index); })) {
    return flaws;
  }
  for (const CheckpointTensorEntry& tensor : index.tensors) {
    for (const std::string& state : stored_state_names_of_tensor(index, tensor)) {
      passes(flaws, [&] { reader->check(tensor, state); });
    }
  }
  if (flaws.empty() && further) passes(flaws, [&] { further(index); });
  return flaws;
}

}  // namespace stepwright::checkpoint
