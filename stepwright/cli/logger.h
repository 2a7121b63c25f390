#pragma once

#include <functional>
#include <string>
#include <utility>

namespace stepwright::cli {

/// Log of the messages of a command other than its answer. The caller of the command provides the
/// sink.
class Logger {
 public:
  /// Receives a level ("info", "warning" or "error") and a text without a line end.
  using Sink = std::function<void(const char* level, const std::string& text)>;
  explicit Logger(Sink sink) : sink_(std::move(sink)) {}

  void info(const std::string& text) const { sink_("info", text); }
  void warn(const std::string& text) const { sink_("warning", text); }
  void error(const std::string& text) const { sink_("error", text); }

 private:
  Sink sink_;
};

}  // namespace stepwright::cli
