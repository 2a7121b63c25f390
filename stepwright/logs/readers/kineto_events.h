#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "stepwright/logs/files/json_scanner.h"

namespace simdjson::dom {
class element;
}  // namespace simdjson::dom

namespace stepwright::logs {

/// An event of a trace of the PyTorch profiler, of which nothing is parsed until somebody asks.
class KinetoEvent {
 public:
  struct Parsed;  ///< Parsed parts that several readers of one event share.

  KinetoEvent(const JsonPiece& piece, std::int64_t number, Parsed& parsed);

  std::int64_t number = 0;    ///< Number among the events of the file, from 1.
  std::size_t offset = 0;     ///< Offset in the document, in bytes.
  std::string_view text;      ///< Text as the file has it.
  std::string_view category;  ///< "cpu_op", "kernel", "user_annotation", ...

  /// The event as JSON, parsed once whoever asks; null when it is no JSON.
  [[nodiscard]] const simdjson::dom::element* json() const;

 private:
  Parsed* parsed_;
};

/// The taker of a trace's facts in one pass over it.
class KinetoTaker {
 public:
  virtual ~KinetoTaker() = default;
  virtual void take(const KinetoEvent& event) = 0;
  /// Takes another member of the document than its events.
  virtual void take_member(const JsonPiece& member) = 0;
  /// Called once, after the last event.
  virtual void finish() = 0;
};

/// Hands the events of a trace and the other members of its document to some takers, in bounded
/// memory. Says whether the document has a list `traceEvents`. Fails with `kInput` as `scan_json`
/// does.
bool scan_kineto(ByteSource& bytes, std::initializer_list<KinetoTaker*> takers);

}  // namespace stepwright::logs
