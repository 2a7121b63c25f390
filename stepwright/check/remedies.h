#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/tune/remedies.h"

namespace stepwright::check {

/// A change that lets a job fit, with the words that its framework has for it.
struct SaidRemedy {
  tune::Remedy remedy;
  /// The lines that the framework's files gain; where none are written, its own setting of that
  /// kind; where neither is known, `remedy.set`.
  std::vector<std::string> words;
};

/// The word of the files that start a framework's plans (`export --to`); empty: none do.
std::string_view target_of(const plan::Framework& framework);

/// Finds the changes that let a legal plan fit (`tune::remedies`). `target`: whose files say it;
/// empty: those of the job's framework.
std::vector<SaidRemedy> said_remedies(const plan::PlannedJob& planned, std::string_view target = {},
                                      const tune::TuneResult* searched = nullptr, int threads = 0);

/// The list as it stands in answers: [{`kind`, `set`, `words`, `step_time_s`, `peak_memory_bytes`,
/// `p_fits`}].
nlohmann::ordered_json remedies_json(const std::vector<SaidRemedy>& remedies);

/// A sentence for people; empty without remedies.
std::string remedies_sentence(const std::vector<SaidRemedy>& remedies);

}  // namespace stepwright::check
