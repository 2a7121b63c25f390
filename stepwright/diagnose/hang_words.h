#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/stuck_call.h"

namespace stepwright::diagnose {

/// Returns ranks as the subject of a sentence: "Rank 3", "Ranks 0-2, 5".
std::string ranks_as_subject_text(const std::vector<std::int64_t>& ranks);

/// Returns the verb of a sentence about ranks: `one` if the list has one rank, `many` if it has
/// several.
std::string_view singular_or_plural_word(const std::vector<std::int64_t>& ranks,
                                         std::string_view one, std::string_view many);

/// Returns what a call does, as text: operation, sizes and type: "all_reduce of [[512]] Float".
std::string communication_call_text(const RankCommunicationCall& call);

/// Returns which call is stuck, as text: "call 7 of group 0 (default_pg)".
std::string stuck_call_label(const JobFailureEvidence& evidence, const StuckCall& stuck);

/// Groups the ranks in a stuck call by what they called (operation, sizes, type) and, if
/// `with_frames`, by the line of the user's program. Returns {text of the call, ranks}, largest
/// group first.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> group_stuck_ranks_by_call(
    const StuckCall& stuck, bool with_frames);

/// Returns where the files report the call of a rank; if the rank did not make it, where they
/// report another rank's call.
FaultPlace place_where_call_is_reported(const JobFailureEvidence& evidence, const StuckCall& stuck,
                                        std::int64_t rank);

/// Returns lines of evidence that say which ranks are in a stuck call, and from which file that is
/// known.
std::vector<std::string> arrived_ranks_evidence_lines(const JobFailureEvidence& evidence,
                                                      const StuckCall& stuck);

/// Returns a line of evidence about the last call that a rank made; empty: the files have no calls
/// of this rank.
std::string last_call_evidence_line(const JobFailureEvidence& evidence, std::int64_t rank);

/// Returns the key in `advice.yaml` for how a rank ended: "missing.killed" (SIGKILL),
/// "missing.crashed", "missing.aborted" or "missing.died".
std::string_view rank_end_advice_key(const RankFailure& end);

/// Returns how a rank ended, as text: "KeyError: 'x', at train.py:12 in load".
std::string rank_exit_description(const RankFailure& end);

}  // namespace stepwright::diagnose
