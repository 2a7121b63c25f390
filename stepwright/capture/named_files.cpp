#include "stepwright/capture/named_files.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stepwright/core/input_file.h"
#include "stepwright/core/utf8.h"

namespace stepwright::capture {
namespace {

constexpr std::array<std::string_view, 10> kEndings = {".yaml", ".yml", ".json", ".toml", ".py",
                                                       ".sh",   ".cfg", ".ini",  ".txt",  ".jinja"};
constexpr std::uintmax_t kLargestText = 1 << 20;
constexpr std::size_t kLargestSum = 8 << 20;
constexpr std::size_t kLongestPath = 4096;

bool ends_like_a_file(std::string_view word) {
  return std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return word.size() > ending.size() && word.ends_with(ending);
  });
}

std::optional<std::string> small_text(const std::filesystem::path& path) {
  std::optional<std::string> text = read_regular_file(path, kLargestText);
  const bool readable = text && find_bad_utf8(*text) == std::string_view::npos &&
                        text->find('\0') == std::string::npos;
  return readable ? std::move(text) : std::nullopt;
}

/// Returns the parts of a word that can be a path: the whole word, and the text after the first `=`
/// or after a leading `@`.
std::vector<std::string> candidates(const std::string& word) {
  std::vector<std::string> found;
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos) found.push_back(word.substr(equals + 1));
  if (word.starts_with('@')) found.push_back(word.substr(1));
  if (!word.starts_with('-') && !word.starts_with('@') && equals == std::string::npos)
    found.push_back(word);
  return found;
}

}  // namespace

std::vector<CapturedFile> files_named_in_arguments(const Words& argv) {
  std::vector<CapturedFile> files;
  std::size_t budget = kLargestSum;
  const auto add = [&](const std::string& path) {
    if (path.empty() || path.size() > kLongestPath || path.find('\n') != std::string::npos) return;
    if (std::ranges::find(files, path, &CapturedFile::path) != files.end()) return;
    std::error_code error;
    CapturedFile file{.path = path, .exists = std::filesystem::is_regular_file(path, error)};
    const bool address = path.find("://") != std::string::npos;
    if (!file.exists && (!ends_like_a_file(path) || address)) return;
    if (file.exists) file.text = small_text(path);
    if (file.text && file.text->size() > budget) file.text.reset();
    if (file.text) budget -= file.text->size();
    files.push_back(std::move(file));
  };
  // The program itself can be such a file: ./train.py.
  if (!argv.empty() && argv.front().find('/') != std::string::npos) add(argv.front());
  for (std::size_t i = 1; i < argv.size(); ++i) {
    for (const std::string& path : candidates(argv[i])) add(path);
  }
  return files;
}

void drop_unchanged_file_texts(std::vector<CapturedFile>& files,
                               const std::filesystem::path& folder) {
  for (CapturedFile& file : files) {
    if (file.text && small_text(folder / file.path) == file.text) file.text.reset();
  }
}

}  // namespace stepwright::capture
