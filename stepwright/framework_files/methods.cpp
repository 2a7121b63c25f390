#include "stepwright/framework_files/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "stepwright/core/error.h"

namespace stepwright::framework_files {
namespace {

bool says(const LaunchTarget& target, plan::TrainingMethodKind kind) {
  return target.data->method_elsewhere || std::ranges::count(target.data->methods, kind) > 0;
}

/// Returns the words of the targets that can write a training method.
std::vector<std::string_view> words_for(plan::TrainingMethodKind kind) {
  std::vector<std::string_view> words;
  for (const LaunchTarget& target : launch_targets()) {
    if (target.write != nullptr && says(target, kind)) words.push_back(target.word);
  }
  return words;
}

}  // namespace

void check_training_method_supported(const LaunchTarget& target, const plan::Job& job,
                                     std::vector<std::string>& notes) {
  const plan::TrainingMethodKind kind = job.method.kind;
  const std::string_view name = name_of(plan::kMethodNames, kind);
  if (!says(target, kind)) {
    std::vector<std::string_view> own;
    for (const plan::TrainingMethodKind one : target.data->methods) {
      own.push_back(name_of(plan::kMethodNames, one));
    }
    fail_unsupported(fmt::format("objective.kind {}: the files for {} say {}; written for {}: {}",
                                 name, target.word, fmt::join(own, ", "), name,
                                 fmt::join(words_for(kind), ", ")));
  }
  const bool next_token =
      kind == plan::TrainingMethodKind::kPretrain || kind == plan::TrainingMethodKind::kSft;
  if (target.data->method_elsewhere && !next_token) {
    notes.push_back(fmt::format(
        "The file does not mention {0}: use it with a program that learns by {0}.", name));
  }
}

}  // namespace stepwright::framework_files
