#include "stepwright/checkpoint/verify.h"

#include "stepwright/checkpoint/shards.h"
#include "stepwright/core/error.h"

namespace stepwright::checkpoint {
namespace {

/// Runs a check; what it refuses is a flaw.
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

std::vector<std::string> flaws_of_checkpoint(const std::filesystem::path& directory) {
  std::vector<std::string> flaws;
  std::unique_ptr<ShardReader> reader;
  if (!passes(flaws, [&] { reader = std::make_unique<ShardReader>(directory); })) return flaws;
  for (const IndexedFile& file : reader->index().files) {
    passes(flaws, [&] { reader->verify(file); });
  }
  if (!flaws.empty()) return flaws;
  for (const IndexedTensor& tensor : reader->index().tensors) {
    for (const std::string& state : states_of(reader->index(), tensor)) {
      passes(flaws, [&] { reader->read(tensor, state, {}, {}); });
    }
  }
  return flaws;
}

}  // namespace stepwright::checkpoint
