#pragma once

#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// An optimizer's name in the files of transformers and programs built on it, and the optimizer of
/// plans that it means.
struct OptimizerNameMeaning {
  std::string_view word;  ///< The name; `*` stands for any number of characters.
  plan::Optimizer optimizer = plan::Optimizer::kAdamW;
  /// Property of the optimizer that a plan cannot express; empty: none.
  std::string_view leaves_out{};
};

/// Table of the optimizer names that a program's files can state.
class OptimizerNameTable {
 public:
  /// Reads rows `{word, optimizer, leaves_out}` under `optimizers` of a YAML table; `words` lists
  /// several names. Fails with `kInput` if a group has no source, a row has no name, or no plan has
  /// the optimizer.
  explicit OptimizerNameTable(const YamlJsonDocument& document);
  OptimizerNameTable(OptimizerNameTable&&) = default;
  OptimizerNameTable& operator=(OptimizerNameTable&&) = default;

  /// Returns the first row of the table that matches an optimizer's name; null if there is none.
  [[nodiscard]] const OptimizerNameMeaning* find(std::string_view word) const;

 private:
  TableTextStore texts_;
  std::vector<OptimizerNameMeaning> words_;
};

/// Returns the name of an optimizer to write for programs built on transformers, as
/// TrainingArguments' `optim` has it.
constexpr std::string_view transformers_optimizer_name(plan::Optimizer optimizer) {
  switch (optimizer) {
    case plan::Optimizer::kSgd: return "sgd";
    case plan::Optimizer::kAdam8bit: return "adamw_8bit";
    case plan::Optimizer::kAdafactor: return "adafactor";
    case plan::Optimizer::kMuon: return "muon";
    default: return "adamw_torch";
  }
}

/// Returns the meaning of an optimizer's name by a table of names; null if the name is unknown.
const OptimizerNameMeaning* find_optimizer_name(std::string_view word,
                                                std::string_view table = "huggingface/optimizers");

}  // namespace stepwright::framework_files
