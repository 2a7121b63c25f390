#include "stepwright/diagnose/hang_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace stepwright::diagnose {

std::string ranks_as_subject_text(const std::vector<std::int64_t>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "Rank" : "Ranks", rank_ranges_text(ranks));
}

std::string_view singular_or_plural_word(const std::vector<std::int64_t>& ranks,
                                         std::string_view one, std::string_view many) {
  return ranks.size() == 1 ? one : many;
}

std::string communication_call_text(const RankCommunicationCall& call) {
  std::string text = call.operation;
  if (!call.sizes.empty()) text += " of " + call.sizes;
  if (!call.type.empty()) text += " " + call.type;
  return text;
}

std::string stuck_call_label(const JobFailureEvidence& evidence, const StuckCall& stuck) {
  const std::string group = evidence.groups[static_cast<std::size_t>(stuck.group)].text();
  if (stuck.message) return fmt::format("a message of {}", group);
  return fmt::format("call {} of {}", stuck.sequence, group);
}

std::vector<std::pair<std::string, std::vector<std::int64_t>>> group_stuck_ranks_by_call(
    const StuckCall& stuck, bool with_frames) {
  std::map<std::string, std::vector<std::int64_t>> by_text;
  for (const auto& [rank, call] : stuck.made) {
    std::string text = communication_call_text(*call);
    if (with_frames && !call->frame.empty()) text += " at " + call->frame;
    by_text[text].push_back(rank);
  }
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> sorted(by_text.begin(),
                                                                        by_text.end());
  std::ranges::stable_sort(
      sorted, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return sorted;
}

FaultPlace place_where_call_is_reported(const JobFailureEvidence& evidence, const StuckCall& stuck,
                                        std::int64_t rank) {
  FaultPlace place{.call = stuck_call_label(evidence, stuck)};
  const auto made = stuck.made.find(rank);
  const auto& [shown, call] = made != stuck.made.end() ? *made : *stuck.made.begin();
  place.file = evidence.trails.at(shown).file;
  place.line = call->place;
  return place;
}

std::vector<std::string> arrived_ranks_evidence_lines(const JobFailureEvidence& evidence,
                                                      const StuckCall& stuck) {
  std::vector<std::string> lines;
  for (const auto& [text, ranks] : group_stuck_ranks_by_call(stuck, true)) {
    const RankCommunicationCall& call = *stuck.made.at(ranks.front());
    lines.push_back(fmt::format("{} {} in {} ({}:{}{})", ranks_as_subject_text(ranks),
                                singular_or_plural_word(ranks, "is", "are"), text,
                                evidence.trails.at(ranks.front()).file, call.place,
                                call.ended ? ", ended" : ""));
  }
  return lines;
}

std::string last_call_evidence_line(const JobFailureEvidence& evidence, std::int64_t rank) {
  const auto found = evidence.trails.find(rank);
  if (found == evidence.trails.end() || found->second.calls.empty()) return {};
  const RankCallHistory& trail = found->second;
  const RankCommunicationCall& last = trail.calls.back();
  return fmt::format("The last call of rank {} is {} of {}, call {}{}{} ({}:{})", rank,
                     communication_call_text(last),
                     evidence.groups[static_cast<std::size_t>(last.group)].text(), last.sequence,
                     last.frame.empty() ? "" : " at " + last.frame,
                     last.ended ? ", which ended" : "", trail.file, last.place);
}

std::string_view rank_end_advice_key(const RankFailure& end) {
  const auto is = [&](std::string_view word) { return end.what.find(word) != std::string::npos; };
  if (is("signal 9")) return "missing.killed";
  if (is("signal 11") || is("signal 7") || is("Segmentation")) return "missing.crashed";
  if (is("signal 6")) return "missing.aborted";
  return "missing.died";
}

std::string rank_exit_description(const RankFailure& end) {
  return end.frame.empty() ? end.what : fmt::format("{}, at {}", end.what, end.frame);
}

}  // namespace stepwright::diagnose
