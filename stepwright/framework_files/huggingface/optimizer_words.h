#pragma once

#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// An optimizer as transformers and programs on it call it, and what a plan leaves out of it.
struct OptimizerWord {
  std::string_view word;  ///< With `*` at the end, all that begin so.
  plan::Optimizer optimizer = plan::Optimizer::kAdamW;
  std::string_view leaves_out{};  ///< Part that a plan leaves out; empty: nothing.
};

/// Words of optimizers in a program.
class OptimizerTable {
 public:
  /// Reads `{word, optimizer, leaves_out}` below `optimizers`, with `words` for several alike.
  /// Fails with `kInput` on a group without a source, on a row without a word, and on an optimizer
  /// that no plan has.
  explicit OptimizerTable(const Document& document);
  OptimizerTable(OptimizerTable&&) = default;
  OptimizerTable& operator=(OptimizerTable&&) = default;

  /// The first word that fits; null if there is none.
  [[nodiscard]] const OptimizerWord* find(std::string_view word) const;

 private:
  KeptTexts texts_;
  std::vector<OptimizerWord> words_;
};

/// The first word of an optimizer in files of such programs.
constexpr std::string_view word_of(plan::Optimizer optimizer) {
  switch (optimizer) {
    case plan::Optimizer::kSgd: return "sgd";
    case plan::Optimizer::kAdam8bit: return "adamw_8bit";
    case plan::Optimizer::kAdafactor: return "adafactor";
    case plan::Optimizer::kMuon: return "muon";
    default: return "adamw_torch";
  }
}

/// The word of a table; null for an optimizer that it does not have.
const OptimizerWord* optimizer_word(std::string_view word,
                                    std::string_view table = "huggingface/optimizers");

}  // namespace stepwright::framework_files
