#include "stepwright/diagnose/hang.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "stepwright/diagnose/advice.h"
#include "stepwright/diagnose/hang_words.h"
#include "stepwright/diagnose/stall_reason.h"
#include "stepwright/diagnose/stuck_call.h"

namespace stepwright::diagnose {
namespace {

/// Marks the last call of a rank as not ended if communication failed in it, because Gloo also
/// retires failed calls.
void reopen_failed_calls(JobFailureEvidence& evidence) {
  for (const auto& [rank, stuck] : evidence.stuck) {
    const auto trail = evidence.trails.find(rank);
    if (trail == evidence.trails.end() || trail->second.calls.empty()) continue;
    RankCommunicationCall& last = trail->second.calls.back();
    if (!stuck.function.empty() && stuck.function.starts_with(last.operation)) last.ended = false;
  }
}

class Hangs {
 public:
  explicit Hangs(const JobFailureEvidence& evidence)
      : evidence_(evidence),
        calls_(stuck_calls(evidence)),
        arrows_(stuck_call_dependencies(calls_)) {}

  std::vector<FaultFinding> find() {
    add_said();
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].differs || arrows_[i].empty()) add_root(i);
    }
    if (findings_.empty()) add_circle();
    add_ends();
    add_tracebacks();
    add_absences();
    add_unplaced();
    add_nameless();
    order();
    return std::move(findings_);
  }

 private:
  /// Adds a finding for a mismatch that a library reports itself.
  void add_said() {
    for (const ReportedCallMismatch& said : evidence_.mismatches) {
      FaultFinding finding{.kind = DiagnosedFaultKind::kMismatch,
                           .ranks = said.ranks,
                           .where = {.file = said.file, .line = said.line},
                           .what = "Ranks make calls that do not fit together.",
                           .evidence = {fmt::format("{}:{}: {}", said.file, said.line, said.text)}};
      for (const auto& [rank, end] : evidence_.ends) {
        if (said.ranks.empty() && end.what.find("signal 6") != std::string::npos) {
          finding.ranks.push_back(rank);
          finding.evidence.push_back(fmt::format("Rank {} ended with {} ({}:{})", rank,
                                                 rank_exit_description(end), end.file, end.line));
        }
      }
      if (!finding.ranks.empty()) {
        finding.what = fmt::format("{} met a call of another size than its own.",
                                   ranks_as_subject_text(finding.ranks));
      }
      add_causes_and_remedies(finding, "mismatch.size");
      push(std::move(finding));
      break;  // all ranks report the same mismatch
    }
  }

  void add_root(std::size_t i) {
    const StuckCall& stuck = calls_[i];
    if (stuck.differs) return add_mismatch(stuck);
    if (stuck.message) return add_message(stuck);
    if (stuck.missing.empty()) return add_network(stuck);
    add_missing(stuck);
  }

  FaultFinding begin(DiagnosedFaultKind kind, const StuckCall& stuck,
                     std::vector<std::int64_t> ranks) const {
    FaultFinding finding{.kind = kind, .ranks = std::move(ranks)};
    finding.where = place_where_call_is_reported(
        evidence_, stuck, finding.ranks.empty() ? -1 : finding.ranks.front());
    finding.evidence = arrived_ranks_evidence_lines(evidence_, stuck);
    return finding;
  }

  void add_mismatch(const StuckCall& stuck) {
    const auto kinds = group_stuck_ranks_by_call(stuck, false);
    const auto& [most_text, most] = kinds.front();
    std::vector<std::int64_t> others;
    std::string others_text;
    for (std::size_t k = 1; k < kinds.size(); ++k) {
      others.insert(others.end(), kinds[k].second.begin(), kinds[k].second.end());
      others_text += (k > 1 ? " or " : "") + kinds[k].first;
    }
    std::ranges::sort(others);
    FaultFinding finding = begin(DiagnosedFaultKind::kMismatch, stuck, others);
    finding.what = fmt::format(
        "{} {} another call than {} in {}: {}, not {}.", ranks_as_subject_text(others),
        singular_or_plural_word(others, "makes", "make"),
        most.size() == 1 ? "rank " + rank_ranges_text(most) : "ranks " + rank_ranges_text(most),
        stuck_call_label(evidence_, stuck), others_text, most_text);
    const bool same_operation = std::ranges::all_of(stuck.made, [&](const auto& one) {
      return one.second->operation == stuck.made.begin()->second->operation;
    });
    add_skipped(stuck, others, finding);
    add_causes_and_remedies(finding, same_operation ? "mismatch.size" : "mismatch.operation");
    push(std::move(finding));
  }

  /// Adds evidence that a rank left out a call: it made, with this number, the call that other
  /// ranks make with the next number.
  void add_skipped(const StuckCall& stuck, const std::vector<std::int64_t>& others,
                   FaultFinding& finding) const {
    for (const std::int64_t rank : others) {
      const RankCommunicationCall& own = *stuck.made.at(rank);
      for (const auto& [other, trail] : evidence_.trails) {
        if (std::ranges::binary_search(others, other)) continue;
        for (const RankCommunicationCall& next : trail.calls) {
          if (next.group != stuck.group || next.message || next.sequence != stuck.sequence + 1)
            continue;
          if (communication_call_text(next) != communication_call_text(own)) continue;
          finding.evidence.push_back(fmt::format(
              "Rank {} made as call {} what rank {} makes as call {}: it left one call out", rank,
              stuck.sequence, other, next.sequence));
          return;
        }
      }
    }
  }

  void add_message(const StuckCall& stuck) {
    const auto& [rank, call] = *stuck.made.begin();
    const std::int64_t peer = stuck.missing.front();
    if (evidence_.ends.contains(peer)) return add_dead(stuck, {peer});
    FaultFinding finding =
        begin(DiagnosedFaultKind::kMismatch, stuck, {std::min(rank, peer), std::max(rank, peer)});
    finding.what =
        call->sends ? fmt::format("Rank {} sends to rank {}, which does not receive.", rank, peer)
                    : fmt::format("Rank {} waits for a message of rank {}, which does not send.",
                                  rank, peer);
    if (std::string last = last_call_evidence_line(evidence_, peer); !last.empty())
      finding.evidence.push_back(std::move(last));
    add_causes_and_remedies(finding, "mismatch.message");
    push(std::move(finding));
  }

  void add_network(const StuckCall& stuck) {
    std::vector<std::int64_t> ranks;
    for (const auto& [rank, call] : stuck.made) ranks.push_back(rank);
    const bool alone = ranks.size() == 1 && !stuck.members_known;
    FaultFinding finding = begin(DiagnosedFaultKind::kStall, stuck, ranks);
    const std::vector<std::int64_t> absent = absent_ranks(stuck);
    finding.what =
        alone ? fmt::format("{} waits in {}; other ranks are unknown.",
                            ranks_as_subject_text(ranks), stuck_call_label(evidence_, stuck))
              : fmt::format("{} are {}in {}, the same call, and it does not end.",
                            ranks_as_subject_text(ranks), absent.empty() ? "all " : "",
                            stuck_call_label(evidence_, stuck));
    if (!absent.empty()) {
      finding.evidence.push_back(fmt::format("No line is of {} {}",
                                             singular_or_plural_word(absent, "rank", "ranks"),
                                             rank_ranges_text(absent)));
    }
    add_stall_advice(*stuck.made.begin()->second, "stall.network", finding);
    push(std::move(finding));
  }

  /// Returns the ranks below the highest known one that occur in no file, for a group whose members
  /// are unknown.
  [[nodiscard]] std::vector<std::int64_t> absent_ranks(const StuckCall& stuck) const {
    std::vector<std::int64_t> absent;
    for (std::int64_t rank = 0; rank < evidence_.world && !stuck.members_known; ++rank) {
      if (!evidence_.trails.contains(rank) && !evidence_.seen.contains(rank))
        absent.push_back(rank);
    }
    return absent;
  }

  /// Adds causes that follow from the kind of call and from the log's lines before it.
  void add_stall_advice(const RankCommunicationCall& call, std::string_view last,
                        FaultFinding& finding) const {
    if (evidence_.work_before) finding.evidence.push_back(work_line(*evidence_.work_before));
    add_causes_and_remedies(finding, stalled_call_advice_keys(evidence_, call));
    add_causes_and_remedies(finding, last);
  }

  static std::string work_line(const HostWorkLogLine& work) {
    return fmt::format("A rank {} in front of it ({}:{}: {})", host_work_text(work.work), work.file,
                       work.line, work.text);
  }

  /// Adds findings for ranks that did not arrive at a call: those that died, wait for a message, do
  /// not communicate, or occur in no file.
  void add_missing(const StuckCall& stuck) {
    std::vector<std::int64_t> dead;
    std::vector<std::int64_t> receiving;
    std::vector<std::int64_t> outside;
    std::vector<std::int64_t> silent;
    for (const std::int64_t rank : stuck.missing) {
      const auto end = evidence_.ends.find(rank);
      const auto where = evidence_.stuck.find(rank);
      if (end != evidence_.ends.end()) {
        dead.push_back(rank);
      } else if (where != evidence_.stuck.end() && !where->second.function.empty()) {
        receiving.push_back(rank);
      } else if (evidence_.trails.contains(rank)) {
        outside.push_back(rank);
      } else {
        silent.push_back(rank);
      }
    }
    if (!dead.empty()) return add_dead(stuck, dead);
    if (!receiving.empty()) return add_elsewhere(stuck, receiving);
    if (!silent.empty()) return add_silent(stuck, silent);
    add_outside(stuck, outside);
  }

  void add_dead(const StuckCall& stuck, const std::vector<std::int64_t>& dead) {
    const RankFailure& end = evidence_.ends.at(dead.front());
    FaultFinding finding = begin(DiagnosedFaultKind::kMissingRank, stuck, dead);
    finding.where.file = end.file;
    finding.where.line = end.line;
    finding.what =
        fmt::format("{} ended ({}), and the others wait in {}.", ranks_as_subject_text(dead),
                    rank_exit_description(end), stuck_call_label(evidence_, stuck));
    finding.evidence.insert(finding.evidence.begin(), end_line(dead.front()));
    add_causes_and_remedies(finding, rank_end_advice_key(end));
    push(std::move(finding));
  }

  [[nodiscard]] std::string end_line(std::int64_t rank) const {
    const RankFailure& end = evidence_.ends.at(rank);
    return fmt::format("Rank {}: {} ({}:{})", rank, rank_exit_description(end), end.file, end.line);
  }

  /// Adds evidence that missing ranks wait in another call, from their tracebacks.
  void add_elsewhere(const StuckCall& stuck, const std::vector<std::int64_t>& ranks) {
    const StuckRankLocation& first = evidence_.stuck.at(ranks.front());
    const bool message = first.function.starts_with("recv") || first.function.starts_with("send") ||
                         first.function.starts_with("irecv") ||
                         first.function.starts_with("isend") ||
                         first.function.starts_with("batch_isend");
    FaultFinding finding = begin(DiagnosedFaultKind::kMismatch, stuck, ranks);
    finding.what =
        fmt::format("{} {} in {} and did not come to {}, where the others wait.",
                    ranks_as_subject_text(ranks), singular_or_plural_word(ranks, "waits", "wait"),
                    first.function, stuck_call_label(evidence_, stuck));
    for (const std::int64_t rank : ranks) finding.evidence.push_back(stuck_line(rank));
    add_causes_and_remedies(finding, message ? "mismatch.message" : "mismatch.operation");
    push(std::move(finding));
  }

  [[nodiscard]] std::string stuck_line(std::int64_t rank) const {
    const StuckRankLocation& stuck = evidence_.stuck.at(rank);
    return fmt::format("Rank {} failed in {}{} ({}:{})", rank,
                       stuck.function.empty() ? "communication" : stuck.function,
                       stuck.frame.empty() ? "" : " at " + stuck.frame, stuck.file, stuck.line);
  }

  void add_silent(const StuckCall& stuck, const std::vector<std::int64_t>& silent) {
    FaultFinding finding = begin(DiagnosedFaultKind::kMissingRank, stuck, silent);
    finding.what = fmt::format("{} did not come to {}, and no file says where {}.",
                               ranks_as_subject_text(silent), stuck_call_label(evidence_, stuck),
                               singular_or_plural_word(silent, "it is", "they are"));
    for (const std::int64_t rank : silent) {
      const auto killed = evidence_.unresponsive.find(rank);
      if (killed == evidence_.unresponsive.end()) continue;
      finding.evidence.push_back(
          fmt::format("Rank {} did not end when torchrun asked it to, and was killed ({}): it was "
                      "stopped, or hung in the kernel or a library",
                      rank, killed->second));
    }
    add_stall_advice(*stuck.made.begin()->second, "missing.silent", finding);
    push(std::move(finding));
  }

  void add_outside(const StuckCall& stuck, const std::vector<std::int64_t>& outside) {
    FaultFinding finding = begin(DiagnosedFaultKind::kStall, stuck, outside);
    const bool behind = std::ranges::all_of(outside, [&](std::int64_t rank) {
      return std::ranges::all_of(evidence_.trails.at(rank).calls, &RankCommunicationCall::ended);
    });
    finding.what =
        behind ? fmt::format("{} {} in no call, and the others wait for {} in {}.",
                             ranks_as_subject_text(outside),
                             singular_or_plural_word(outside, "is", "are"),
                             singular_or_plural_word(outside, "it", "them"),
                             stuck_call_label(evidence_, stuck))
               : fmt::format(
                     "{} {} at another place of the program than the others, who wait in {}.",
                     ranks_as_subject_text(outside), singular_or_plural_word(outside, "is", "are"),
                     stuck_call_label(evidence_, stuck));
    if (!behind) finding.kind = DiagnosedFaultKind::kMismatch;
    for (const std::int64_t rank : outside) {
      if (std::string last = last_call_evidence_line(evidence_, rank); !last.empty())
        finding.evidence.push_back(std::move(last));
    }
    add_causes_and_remedies(finding, behind ? "stall.outside" : "mismatch.number");
    push(std::move(finding));
  }

  /// Adds a finding for groups that wait for each other in a cycle, if no call has a cause of its
  /// own.
  void add_circle() {
    if (calls_.empty()) return;
    std::set<std::int64_t> ranks;
    FaultFinding finding{.kind = DiagnosedFaultKind::kOrder};
    bool known = true;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (arrows_[i].empty()) continue;
      for (const auto& [rank, call] : calls_[i].made) ranks.insert(rank);
      for (std::string& line : arrived_ranks_evidence_lines(evidence_, calls_[i])) {
        finding.evidence.push_back(line + ", " + stuck_call_label(evidence_, calls_[i]));
      }
      known = known && calls_[i].members_known;
    }
    if (ranks.empty()) return;
    finding.ranks.assign(ranks.begin(), ranks.end());
    finding.where = place_where_call_is_reported(evidence_, calls_.front(), -1);
    finding.what = fmt::format("{} wait for each other in different groups.",
                               ranks_as_subject_text(finding.ranks));
    if (!known) {
      finding.evidence.emplace_back(
          "The files do not list the ranks of these groups; that they share ranks is assumed");
    }
    add_causes_and_remedies(finding, "order.groups");
    push(std::move(finding));
  }

  /// Adds findings for ranks that ended, if no call is known in which others wait for them.
  void add_ends() {
    std::map<std::string, std::vector<std::int64_t>> by_text;
    for (const auto& [rank, end] : evidence_.ends) {
      if (!explained_.contains(rank)) by_text[rank_exit_description(end)].push_back(rank);
    }
    for (const auto& [text, ranks] : by_text) {
      const RankFailure& end = evidence_.ends.at(ranks.front());
      // It has a finding of its own.
      if (end.what.find("out of memory") != std::string::npos) continue;
      FaultFinding finding{.kind = DiagnosedFaultKind::kMissingRank,
                           .ranks = ranks,
                           .where = {.file = end.file, .line = end.line},
                           .what = fmt::format("{} ended: {}.", ranks_as_subject_text(ranks), text),
                           .evidence = {end_line(ranks.front())}};
      add_causes_and_remedies(finding, rank_end_advice_key(end));
      push(std::move(finding));
    }
  }

  /// Adds a finding from tracebacks alone: ranks that failed in different calls.
  void add_tracebacks() {
    if (!findings_.empty() || evidence_.stuck.empty()) return;
    std::map<std::string, std::vector<std::int64_t>> by_place;
    for (const auto& [rank, stuck] : evidence_.stuck) {
      by_place[stuck.function + " at " + stuck.frame].push_back(rank);
    }
    const auto fewest = std::ranges::min_element(
        by_place, {}, [](const auto& place) { return place.second.size(); });
    const std::vector<std::int64_t> ranks = fewest->second;
    const StuckRankLocation& first = evidence_.stuck.at(ranks.front());
    const bool differ = by_place.size() > 1;
    FaultFinding finding{
        .kind = differ ? DiagnosedFaultKind::kMismatch : DiagnosedFaultKind::kStall,
        .ranks = ranks,
        .where = {.file = first.file, .line = first.line, .call = first.function}};
    finding.what = differ ? fmt::format("{} failed in another call than the others: {}.",
                                        ranks_as_subject_text(ranks), fewest->first)
                          : fmt::format("{} failed in communication, in {}.",
                                        ranks_as_subject_text(ranks), fewest->first);
    for (const auto& [rank, stuck] : evidence_.stuck) finding.evidence.push_back(stuck_line(rank));
    add_missing_of_world(finding, differ);
    push(std::move(finding));
  }

  /// Names the ranks about which no file says anything, if all others failed in the same call.
  void add_missing_of_world(FaultFinding& finding, bool differ) const {
    std::vector<std::int64_t> silent;
    for (std::int64_t rank = 0; rank < std::min<std::int64_t>(evidence_.world, 1 << 16); ++rank) {
      if (!evidence_.stuck.contains(rank) && !evidence_.ends.contains(rank)) silent.push_back(rank);
    }
    // The files are only a part of the logs.
    if (silent.size() >= evidence_.stuck.size()) silent.clear();
    if (!differ && !silent.empty()) {
      finding.kind = DiagnosedFaultKind::kMissingRank;
      finding.what = fmt::format("{} did not fail in the call in which the others did, {}.",
                                 ranks_as_subject_text(silent), finding.where.call);
      finding.ranks = silent;
    }
    add_causes_and_remedies(finding, differ           ? "mismatch.operation"
                                     : silent.empty() ? "stall.network"
                                                      : "missing.silent");
  }

  /// Adds findings for ranks for which a barrier or a store waited in vain.
  void add_absences() {
    if (!findings_.empty()) return;
    for (const ReportedCallMismatch& said : evidence_.absences) {
      FaultFinding finding{.kind = DiagnosedFaultKind::kMissingRank,
                           .ranks = said.ranks,
                           .where = {.file = said.file, .line = said.line},
                           .what = said.ranks.empty()
                                       ? "Some ranks never joined the job or the group."
                                       : fmt::format("{} did not come to a barrier.",
                                                     ranks_as_subject_text(said.ranks)),
                           .evidence = {fmt::format("{}:{}: {}", said.file, said.line, said.text)}};
      add_causes_and_remedies(finding, "missing.silent");
      push(std::move(finding));
      return;
    }
  }

  /// Adds a finding for an exception in a log that does not name its rank.
  void add_nameless() {
    if (!evidence_.nameless_end || !evidence_.ends.empty()) return;
    const RankFailure& end = *evidence_.nameless_end;
    FaultFinding finding{
        .kind = DiagnosedFaultKind::kMissingRank,
        .where = {.file = end.file, .line = end.line},
        .what = fmt::format("A process ended: {}.", rank_exit_description(end)),
        .evidence = {fmt::format("{}:{}: {}", end.file, end.line, rank_exit_description(end))}};
    add_causes_and_remedies(finding, rank_end_advice_key(end));
    push(std::move(finding));
  }

  /// Adds a finding for a call that timed out, if nothing else is known about it.
  void add_unplaced() {
    if (!findings_.empty() || !evidence_.unplaced) return;
    const auto& [file, line, call] = *evidence_.unplaced;
    FaultFinding finding{
        .kind = DiagnosedFaultKind::kStall,
        .where = {.file = file, .line = line, .call = call.operation},
        .what =
            fmt::format("A call ({}) did not end; its line does not state the ranks or the place.",
                        communication_call_text(call)),
        .evidence = {
            fmt::format("{}:{}: time-out of {}", file, line, communication_call_text(call))}};
    add_stall_advice(call, "stall.network", finding);
    push(std::move(finding));
  }

  void push(FaultFinding finding) {
    explained_.insert(finding.ranks.begin(), finding.ranks.end());
    findings_.push_back(std::move(finding));
  }

  /// Puts findings about ranks that ended first, because the others follow from them.
  void order() {
    std::ranges::stable_sort(findings_, {}, [](const FaultFinding& finding) {
      if (finding.kind == DiagnosedFaultKind::kMissingRank) return 0;
      return finding.kind == DiagnosedFaultKind::kStall ? 2 : 1;
    });
  }

  const JobFailureEvidence& evidence_;
  std::vector<StuckCall> calls_;
  std::vector<std::vector<std::size_t>> arrows_;
  std::vector<FaultFinding> findings_;
  std::set<std::int64_t> explained_;  ///< Ranks that a finding already names.
};

}  // namespace

std::vector<FaultFinding> communication_hang_findings(JobFailureEvidence evidence) {
  reopen_failed_calls(evidence);
  return Hangs(evidence).find();
}

}  // namespace stepwright::diagnose
