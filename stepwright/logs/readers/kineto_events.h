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

/// An event of a PyTorch profiler trace; it is parsed only when a reader asks for its fields.
class KinetoEvent {
 public:
  struct ParsedEventFields;  ///< Parsed fields of the event, shared by all its readers.

  KinetoEvent(const JsonPiece& piece, std::int64_t number, ParsedEventFields& parsed);

  std::int64_t number = 0;    ///< Index among the events of the file, from 1.
  std::size_t offset = 0;     ///< Offset of the event in the document, in bytes.
  std::string_view text;      ///< The event's JSON text as the file has it.
  std::string_view category;  ///< Kind of event: "cpu_op", "kernel", "user_annotation", ...

  /// Returns the event as JSON, parsed at the first call and then shared; null if it is no JSON.
  [[nodiscard]] const simdjson::dom::element* parsed_event_json() const;

 private:
  ParsedEventFields* parsed_;
};

/// Receives the events of a PyTorch profiler trace; several consumers can share one pass over the
/// file.
class KinetoTraceConsumer {
 public:
  virtual ~KinetoTraceConsumer() = default;
  virtual void take(const KinetoEvent& event) = 0;
  /// Receives a top-level member of the trace's JSON document, other than its list of events.
  virtual void receive_trace_document_member(const JsonPiece& member) = 0;
  /// Called once, after the last event of the trace.
  virtual void finish() = 0;
};

/// Passes the events and other members of a PyTorch profiler trace to each of `takers`, in bounded
/// memory. Returns true if the document has a list `traceEvents`. Fails with `kInput` as
/// `stream_json_pieces` does.
bool stream_kineto_trace_events(FileByteReader& bytes,
                                std::initializer_list<KinetoTraceConsumer*> takers);

}  // namespace stepwright::logs
