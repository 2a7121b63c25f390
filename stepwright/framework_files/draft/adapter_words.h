#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/dtype.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/huggingface/adapter_tensors.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Adapters as a program's settings state them, before the model is known.
struct AdapterWords {
  std::int64_t rank = 0;
  double alpha = 0;
  double dropout = 0;
  DType base = DType::kBf16;  ///< Storage type of the frozen weights, one of `kAdapterBaseNames`.
  /// Modules that get adapters, as transformers or Megatron-Core call them (`q_proj`,
  /// `linear_qkv`), an expression that matches whole names, or one of the words for all products.
  std::vector<std::string> modules;
  /// True if the word for all products means the modules of transformers.
  bool of_transformers = false;
};

/// Reads adapters under the keys that a section of a table (`axolotl/adapters`) names:
/// - `rank`, `alpha`, `dropout`, `modules`: the program's keys; absent: it has no such key; several
///   keys with blanks between them: the first one that is set counts,
/// - `usual_rank`, `usual_alpha` (in ranks with `alpha_of_rank`), `usual_dropout`, `usual_modules`:
///   the program's defaults; without default modules those that peft adapts in a Llama, queries and
///   values,
/// - `expression`: a key whose value replaces the modules if it is set,
/// - `bits`: the key with the bits of frozen weights, 8 (LLM.int8) or 4 (NF4), if they differ from
///   the model's; with `load_flags` the flags of bitsandbytes in transformers, `load_in_8bit` and
///   `load_in_4bit`; `flags_of_8` and `flags_of_4` list other such flags,
/// - `parameters`: the key for parameters that are no modules (experts),
/// - `of_transformers`: the program uses the models of transformers 5.
/// Fails with `kInput` on values of a wrong kind.
AdapterWords read_adapter_words(const Fields& fields, std::string_view table,
                                std::string_view section);

/// Returns the key that turns adapters on, from the list `switch` in a section of a table; empty:
/// no key does.
std::string_view adapter_switch(const Fields& fields, std::string_view table,
                                std::string_view section);

/// Returns the storage type that the key's value, 8 or 4 bits, means; bf16: weights are not
/// quantised.
DType read_adapter_base(const Fields& fields, std::string_view bits);

/// Adds adapters to the model of a job, whose precision and framework are set; modules that cannot
/// have an adapter in a job are listed as not read. Fails with `kInput`, naming the file, if the
/// model has none of the modules, or if the rank exceeds a side of one of them.
void apply_adapters(const AdapterWords& words, const std::string& file, plan::Job& job,
                    ImportReport& report);

/// Moves all adapter settings of a report to the unread ones: the plan trains all weights.
void report_adapters_unread(ImportReport& report);

/// Returns the names of Megatron-Core's modules that have adapters in a model.
std::vector<std::string> megatron_modules(const model::Architecture& model);

/// Returns `megatron_modules`, or `all-linear` if those are all that the model has.
std::vector<std::string> listed_megatron_modules(const model::Architecture& model);

/// Returns the modules and parameters of transformers that have adapters in a model: `all-linear`
/// if those are all its modules; else the names in the model's family (`family_of`), or Llama's
/// names if no family describes the model.
huggingface::AdaptedModules transformers_modules(const model::Architecture& model);

/// Returns the modules of `transformers_modules` for a file that cannot name parameters. Fails with
/// `kUnsupported` if parameters have adapters; `words` says what the file has, "verl has
/// target_modules".
std::vector<std::string> transformers_modules_alone(const model::Architecture& model,
                                                    std::string_view words);

}  // namespace stepwright::framework_files
