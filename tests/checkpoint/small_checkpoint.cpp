#include "tests/checkpoint/small_checkpoint.h"

#include <fstream>
#include <string>
#include <vector>

#include "stepwright/checkpoint/directory.h"
#include "stepwright/checkpoint/shards.h"

namespace stepwright::testing {

std::filesystem::path committed(const std::filesystem::path& folder, std::int64_t step) {
  const auto writing = checkpoint::uncommitted_checkpoint_directory(folder, step, "run");
  std::filesystem::create_directories(writing);
  checkpoint::CheckpointIndex index{.run = {.step = step}, .dtype = "F64", .states = {"weights"}};
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    const auto first = static_cast<double>(rank);
    const std::vector<double> own{first, first + 2, first + 4, first + 6};
    checkpoint::RankCheckpointPart part{{"r" + std::to_string(rank), {}},
                                        {{"t", {2, 4}, {{0, {{rank, 1, 2, 4}}}}}}};
    part.file.sum = checkpoint::write_safetensors_file(
        writing / part.file.name, {{"weights/t", "F64", {4}, std::as_bytes(std::span(own))}});
    checkpoint::add_checkpoint_part(index, part);
  }
  checkpoint::commit_checkpoint_folder(writing, folder, index);
  return folder / checkpoint::checkpoint_folder_name(step);
}

void flip(const std::filesystem::path& path, std::int64_t at, int bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const auto old = static_cast<char>(file.get());
  file.seekp(at);
  file.put(static_cast<char>(old ^ (1 << bit)));
}

}  // namespace stepwright::testing
