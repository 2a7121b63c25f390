#include "stepwright/answers/job_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/core/file_kind.h"
#include "stepwright/core/input_file.h"
#include "stepwright/framework_files/brought_file.h"
#include "stepwright/launch_scripts/text.h"
#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/files/json_scanner.h"
#include "stepwright/logs/readers/format.h"

namespace stepwright::answers {
namespace {

using framework_files::UserFileKind;

/// The most bytes of a file that are looked at.
constexpr std::size_t kMostLooked = std::size_t{64} << 10;

/// Returns the beginning of a file, unpacked; nullopt: it cannot be read, or can be read only once.
std::optional<std::string> beginning_of(const UserFile& file) {
  if (file.text) return file.text->substr(0, kMostLooked);
  try {
    if (!is_plain_file(file.name)) return std::nullopt;
    return std::string(logs::FileByteReader(std::filesystem::path(file.name))
                           .peek_first_bytes()
                           .substr(0, kMostLooked));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// True if a JSON document has the form of a log in a known format.
bool is_known_log(const launch_scripts::SourceFile& file) try {
  logs::FileByteReader bytes(file.text, file.name);
  logs::recognise_log_format(bytes);
  return true;
} catch (const Error&) {
  return false;
}

/// True if a JSON document was left by a job: a log, a file with a document on each line, or the
/// state of a trainer with its history.
bool is_left_json(const launch_scripts::SourceFile& file) {
  constexpr std::string_view kLeftKeys[] = {"segments", "device_traces", "log_history", "loss"};
  if (file.text.find("\n{") != std::string::npos) return true;
  const logs::JsonFirstKeys outline = logs::json_outline(file.text);
  const bool left = std::ranges::any_of(kLeftKeys, [&](std::string_view key) {
    return std::ranges::find(outline.keys, key) != outline.keys.end();
  });
  return left || outline.list ||
         (is_known_log(file) && !framework_files::looks_like_framework_file(file));
}

}  // namespace

JobFileRole recognise_user_file_role(const UserFile& file) {
  const std::optional<std::string> read = beginning_of(file);
  if (!read || read->starts_with('\x80') || !non_text_file_kind(*read, file.name).empty())
    return JobFileRole::kLeft;
  const launch_scripts::SourceFile source{file.name, *read};
  if (source.text.find_first_not_of(" \t\r\n") == std::string::npos) return JobFileRole::kLeft;
  const bool json = framework_files::is_json_document(source.text);
  switch (framework_files::user_file_kind(source)) {
    case UserFileKind::kPlan: return JobFileRole::kPlan;
    case UserFileKind::kJob: return JobFileRole::kJob;
    case UserFileKind::kRecord: return JobFileRole::kLaunch;
    case UserFileKind::kModel:
    case UserFileKind::kCluster:
    case UserFileKind::kLaunch:
      return json && is_left_json(source) ? JobFileRole::kLeft : JobFileRole::kLaunch;
    case UserFileKind::kOther: break;
  }
  return json && !is_left_json(source) ? JobFileRole::kLaunch : JobFileRole::kLeft;
}

}  // namespace stepwright::answers
