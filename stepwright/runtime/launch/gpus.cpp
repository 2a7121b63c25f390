#include "stepwright/runtime/launch/gpus.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <system_error>

#include "stepwright/core/input_file.h"

namespace stepwright::runtime {
namespace {

/// Returns the text after "Model:" in the driver's information file of one GPU.
std::string model_in(const std::filesystem::path& information) {
  constexpr std::string_view kKey = "Model:";
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  std::istringstream text(read_regular_file(information, kMost).value_or(""));
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with(kKey)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", kKey.size());
    if (begin != std::string::npos) return line.substr(begin);
  }
  return "a GPU that the driver does not name";
}

}  // namespace

std::vector<std::string> nvidia_gpu_names(const std::filesystem::path& driver) {
  std::error_code ignored;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(driver / "gpus", ignored)) {
    folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  std::vector<std::string> models;
  for (const auto& folder : folders) models.push_back(model_in(folder / "information"));
  return models;
}

}  // namespace stepwright::runtime
