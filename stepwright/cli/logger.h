#pragma once

#include <functional>
#include <string>
#include <utility>

namespace stepwright::cli {

/// Log of what a command says beside its answer. Whoever runs the command says where it goes.
class Logger {
 public:
  /// Takes a level ("info", "warning" or "error") and a text without an end of line.
  using Sink = std::function<void(const char* level, const std::string& text)>;
  explicit Logger(Sink sink) : sink_(std::move(sink)) {}

  void info(const std::string& text) const { sink_("info", text); }
  void warn(const std::string& text) const { sink_("warning", text); }
  void error(const std::string& text) const { sink_("error", text); }

 private:
  Sink sink_;
};

}  // namespace stepwright::cli
