#include "stepwright/diagnose/memory_place.h"

#include <algorithm>

#include "stepwright/core/document.h"
#include "stepwright/diagnose/embedded.h"
#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

/// A word of words.yaml that occurs in frames, and the reason (key of `advice.yaml`) that it
/// indicates.
struct PlaceWord {
  std::string reason, word;
};

std::vector<PlaceWord> read_place_words() {
  std::vector<PlaceWord> words;
  for (const auto& [reason, list] :
       log_recognition_words().root().get("memory_places").mapping_members()) {
    if (!list.is_sequence()) continue;
    for (const std::string& word : list.as_text_list()) words.push_back({reason, word});
  }
  return words;
}

/// Returns the reason that a frame indicates; empty: none.
std::string_view place_of_frame(std::string_view frame) {
  static const std::vector<PlaceWord> kWords = read_place_words();
  for (const PlaceWord& word : kWords) {
    if (line_contains_text(frame, word.word)) return word.reason;
  }
  return {};
}

}  // namespace

std::vector<std::string_view> out_of_memory_reasons(std::span<const std::string> stack) {
  std::vector<std::string_view> places;
  for (std::size_t i = stack.size(); i-- > 0;) {
    const std::string_view place = place_of_frame(stack[i]);
    if (!place.empty() && std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  return places;
}

}  // namespace stepwright::diagnose
