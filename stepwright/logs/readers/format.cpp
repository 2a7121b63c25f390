#include "stepwright/logs/readers/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stepwright/core/error.h"
#include "stepwright/core/file_kind.h"
#include "stepwright/logs/files/json_scanner.h"

namespace stepwright::logs {
namespace {

bool holds(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

std::optional<LogFormat> json_format(std::string_view text) {
  const JsonFirstKeys outline = json_outline(text);
  const auto has = [&](std::string_view key) {
    return std::ranges::find(outline.keys, key) != outline.keys.end();
  };
  const auto inside = [&](std::string_view key) {
    return std::ranges::find(outline.inner_keys, key) != outline.inner_keys.end();
  };
  if (has("coll_perf") || has("p2p_perf")) return LogFormat::kNcclInspector;
  if (has("header") && (inside("n_ranks") || inside("id"))) return LogFormat::kNcclInspector;
  if (outline.list && has("ph") && holds(text, "\"args\"") &&
      (holds(text, "_API\"") || holds(text, "\"COLL\"") || holds(text, "\"P2P\"") ||
       holds(text, "\"PROXY\""))) {
    return LogFormat::kNcclProfiler;
  }
  if (outline.list && has("ph")) return LogFormat::kKineto;
  if (outline.list) return std::nullopt;
  if (has("traceEvents") || has("schemaVersion") || has("distributedInfo")) {
    return LogFormat::kKineto;
  }
  if (has("schema") || has("nodes")) return LogFormat::kExecutionTrace;
  if (has("entries") || has("pg_config") || has("pg_status") || has("nccl_comm_state")) {
    return LogFormat::kFlightRecorder;
  }
  if (has("stepwright") || has("communicators")) return LogFormat::kLedger;
  if (has("summary") || has("straggler_analysis")) return LogFormat::kDeepSpeedRaw;
  const bool sizes = !outline.inner_keys.empty() &&
                     std::ranges::all_of(outline.inner_keys, [](const std::string& key) {
                       return !key.empty() && key.find_first_not_of("0123456789") == key.npos;
                     });
  if (sizes) return LogFormat::kDeepSpeedRaw;
  return std::nullopt;
}

std::optional<LogFormat> text_format(std::string_view text) {
  if (holds(text, "NCCL INFO") || holds(text, "NCCL WARN") || holds(text, "NCCL version")) {
    if (!holds(text, "busbw")) return LogFormat::kNcclText;
  }
  if (holds(text, "algbw") && holds(text, "busbw") && holds(text, "# ")) {
    return LogFormat::kNcclTests;
  }
  if (holds(text, "comm op:") || holds(text, "Comm. Op")) return LogFormat::kDeepSpeed;
  if (holds(text, "NCCL INFO")) return LogFormat::kNcclText;
  return std::nullopt;
}

/// True if a text begins with a message of a name and a version, preceded by its length.
bool is_chakra(std::string_view text) {
  constexpr char kFirstText = 0x0a;  // field 1, a text
  return text.size() > 3 && text[0] > 1 && text[1] == kFirstText && text[2] > 0 &&
         text[2] + 2 <= text[0];
}

}  // namespace

LogFormat recognise_log_format(FileByteReader& bytes) {
  std::string_view text = bytes.peek_first_bytes();
  if (text.starts_with('\x80')) return LogFormat::kFlightRecorder;
  if (const std::string kind = non_text_file_kind(text, bytes.name()); !kind.empty()) {
    fail_input(fmt::format("{}: {}", bytes.name(), kind));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) fail_input(fmt::format("{}: is empty", bytes.name()));
  std::optional<LogFormat> found;
  if (text[first] == '{' || text[first] == '[') found = json_format(text);
  if (!found) found = text_format(text);
  if (!found && is_chakra(text)) found = LogFormat::kChakra;
  if (found) return *found;
  fail_input(
      fmt::format("{}: is not a log in a known format; known formats: output of NCCL with "
                  "NCCL_DEBUG=INFO, traces and execution traces of PyTorch, its flight recorder, "
                  "Chakra, DeepSpeed's communication logger, NCCL's profiler plugin and inspector, "
                  "nccl-tests, and ledgers of `stepwright train` (docs/logs.md)",
                  bytes.name()));
}

}  // namespace stepwright::logs
