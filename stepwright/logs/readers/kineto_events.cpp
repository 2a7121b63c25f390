#include "stepwright/logs/readers/kineto_events.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/logs/files/json_fields.h"

namespace stepwright::logs {

struct KinetoEvent::ParsedEventFields {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  std::optional<bool> good;
};

KinetoEvent::KinetoEvent(const JsonPiece& piece, std::int64_t number_of_event,
                         ParsedEventFields& parsed)
    : number(number_of_event),
      offset(piece.offset),
      text(piece.text),
      category(find_json_member_without_parsing(piece.text, "\"cat\"")),
      parsed_(&parsed) {
  parsed.good.reset();
}

const simdjson::dom::element* KinetoEvent::parsed_event_json() const {
  if (!parsed_->good) {
    parsed_->good = parsed_->parser.parse(text.data(), text.size(), false).get(parsed_->element) ==
                    simdjson::SUCCESS;
  }
  return *parsed_->good ? &parsed_->element : nullptr;
}

bool stream_kineto_trace_events(FileByteReader& bytes,
                                std::initializer_list<KinetoTraceConsumer*> takers) {
  constexpr std::string_view kEvents = "traceEvents";
  const std::vector<std::string> keys = json_outline(bytes.peek_first_bytes()).keys;
  bool has_events = std::ranges::find(keys, kEvents) != keys.end();
  std::int64_t number = 0;
  KinetoEvent::ParsedEventFields parsed;
  stream_json_pieces(bytes, std::span(&kEvents, 1), [&](const JsonPiece& piece) {
    has_events = has_events || piece.key == kEvents;
    if (!piece.element) {
      for (KinetoTraceConsumer* taker : takers) taker->receive_trace_document_member(piece);
      return;
    }
    const KinetoEvent event(piece, ++number, parsed);
    for (KinetoTraceConsumer* taker : takers) taker->take(event);
  });
  for (KinetoTraceConsumer* taker : takers) taker->finish();
  return has_events;
}

}  // namespace stepwright::logs
