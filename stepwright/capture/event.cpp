#include "stepwright/capture/event.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "stepwright/capture/launch_record.h"
#include "stepwright/core/descriptor.h"
#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"

namespace stepwright::capture {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr std::size_t kMostEventBytes = std::size_t{1} << 30U;

std::filesystem::path events_path(const std::filesystem::path& folder) {
  return folder / "events.jsonl";
}

std::filesystem::path stop_path(const std::filesystem::path& folder) { return folder / "stop"; }

void append(const std::filesystem::path& folder, const nlohmann::ordered_json& event) {
  const std::string line =
      event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  const FileDescriptor file(
      ::open(events_path(folder).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kOwnerOnly));
  if (!file.is_open()) return;
  ::flock(file.get(), LOCK_EX);
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(file.get(), rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Makes an empty file, whose existence is the message.
void mark(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOwnerOnly));
}

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

void add_event(const DocumentNode& event, ScriptCaptureEvents& events) {
  if (const auto launch = event.find("launch")) {
    events.captured.commands.push_back(read_captured_command(*launch));
  }
  const auto text_to = [&](std::string_view kind, std::vector<std::string>& texts) {
    if (const auto text = event.find(kind)) add_once(texts, text->text());
  };
  text_to(kLauncherRanCaptureEvent, events.captured.ran);
  text_to(kNotRunEvent, events.captured.not_run);
  text_to(kNoteEvent, events.captured.notes);
  const auto error = event.find(kErrorEvent);
  if (error && events.error.empty()) events.error = error->text();
}

}  // namespace

void append_captured_launch_event(const std::filesystem::path& folder,
                                  const CapturedLaunchCommand& command) {
  append(folder, {{"launch", captured_command_json(command)}});
}

void append_capture_text_event(const std::filesystem::path& folder, std::string_view kind,
                               std::string_view text) {
  nlohmann::ordered_json event = nlohmann::ordered_json::object();
  event[std::string(kind)] = std::string(text);
  append(folder, event);
}

void append_capture_error_event(const std::filesystem::path& folder, std::string_view text) {
  append_capture_text_event(folder, kErrorEvent, text);
  mark(stop_path(folder));
}

bool is_capture_stopped(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(stop_path(folder), ignored);
}

ScriptCaptureEvents read_capture_events(const std::filesystem::path& folder) {
  ScriptCaptureEvents events;
  const std::string text = read_regular_file(events_path(folder), kMostEventBytes).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    try {
      const YamlJsonDocument document = YamlJsonDocument::parse(line, "events");
      add_event(document.root(), events);
    } catch (const Error&) {
      events.captured.notes.emplace_back(
          "One event could not be read back; the record may lack a command. Report it.");
    }
  }
  return events;
}

}  // namespace stepwright::capture
