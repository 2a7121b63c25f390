#pragma once

#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// A name of an optimizer in transformers and programs built on it, and its meaning.
struct OptimizerWord {
  std::string_view word;  ///< The name; with `*` at its end, all names that begin so.
  plan::Optimizer optimizer = plan::Optimizer::kAdamW;
  /// Property of the optimizer that a plan cannot express; empty: none.
  std::string_view leaves_out{};
};

/// The known names of optimizers in the files of a program.
class OptimizerTable {
 public:
  /// Reads rows `{word, optimizer, leaves_out}` of lists `optimizers`, or `words` for several
  /// names. Fails with `kInput` if a group has no source, a row no name, or an optimizer is in no
  /// plan.
  explicit OptimizerTable(const Document& document);
  OptimizerTable(OptimizerTable&&) = default;
  OptimizerTable& operator=(OptimizerTable&&) = default;

  /// Returns the first row that matches a name; null if there is none.
  [[nodiscard]] const OptimizerWord* find(std::string_view word) const;

 private:
  TextStore texts_;
  std::vector<OptimizerWord> words_;
};

/// Returns an optimizer's usual name in files of programs built on transformers.
constexpr std::string_view word_of(plan::Optimizer optimizer) {
  switch (optimizer) {
    case plan::Optimizer::kSgd: return "sgd";
    case plan::Optimizer::kAdam8bit: return "adamw_8bit";
    case plan::Optimizer::kAdafactor: return "adafactor";
    case plan::Optimizer::kMuon: return "muon";
    default: return "adamw_torch";
  }
}

/// Returns the row of an optimizer's name in a table; null if it has none.
const OptimizerWord* optimizer_word(std::string_view word,
                                    std::string_view table = "huggingface/optimizers");

}  // namespace stepwright::framework_files
