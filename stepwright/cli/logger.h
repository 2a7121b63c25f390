#pragma once

#include <functional>
#include <string>
#include <utility>

namespace stepwright::cli {

/// Log of a command's messages other than its answer. The command's caller decides where they go.
class Logger {
 public:
  /// Function that receives each message: its level ("info", "warning" or "error") and its text
  /// without a line end.
  using Sink = std::function<void(const char* level, const std::string& text)>;
  explicit Logger(Sink sink) : sink_(std::move(sink)) {}

  void info(const std::string& text) const { sink_("info", text); }
  void warn(const std::string& text) const { sink_("warning", text); }
  void error(const std::string& text) const { sink_("error", text); }

 private:
  Sink sink_;
};

}  // namespace stepwright::cli
