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

/// Adapters as the words of a program say them, before the model is known.
struct AdapterWords {
  std::int64_t rank = 0;
  double alpha = 0;
  double dropout = 0;
  DType base = DType::kBf16;  ///< Storage of the frozen weights, of `kAdapterBaseNames`.
  /// Modules beside which they stand, as transformers or Megatron-Core call them (`q_proj`,
  /// `linear_qkv`), an expression for their whole names, or one of the words for all products.
  std::vector<std::string> modules;
  bool of_transformers = false;  ///< All products are then those that are modules there.
};

/// Reads adapters under the keys that a section of a table (`axolotl/adapters`) names:
/// - `rank`, `alpha`, `dropout`, `modules`; absent: the program has no such key; several keys with
///   blanks between them: the first that is said counts,
/// - `usual_rank`, `usual_alpha` (in ranks with `alpha_of_rank`), `usual_dropout`, `usual_modules`:
///   what it assumes; without modules those that peft adapts in a Llama, queries and values,
/// - `expression`, in the place of the modules where it is said,
/// - `bits` of the frozen weights, 8 (LLM.int8) or 4 (NF4), where they are not those of the model;
///   with `load_flags` as bitsandbytes has them through transformers: `load_in_8bit`,
///   `load_in_4bit`; `flags_of_8` and `flags_of_4` list other such flags,
/// - `parameters` that are no modules (experts),
/// - `of_transformers`: its models are those of transformers 5.
/// Fails with `kInput` on values of a wrong kind.
AdapterWords read_adapter_words(const Fields& fields, std::string_view table,
                                std::string_view section);

/// The key that switches adapters on, of those under `switch` in a section of a table; empty: none
/// is on.
std::string_view adapter_switch(const Fields& fields, std::string_view table,
                                std::string_view section);

/// The type that 8 or 4 bits under a key mean; bf16 stands for weights as they are.
DType read_adapter_base(const Fields& fields, std::string_view bits);

/// Puts adapters into the model of a job, whose precision and framework are set; modules that no
/// adapter of a job stands beside are listed as not read. Fails with `kInput`, naming the file,
/// where the model has none of the modules, and on a rank that is wider than one of them.
void take_adapters(const AdapterWords& words, const std::string& file, plan::Job& job,
                   ImportReport& report);

/// Lists what was read of adapters as not read: all weights are trained in the plan.
void leave_adapters_out(ImportReport& report);

/// The names of the modules of Megatron-Core that adapters of a model stand beside.
std::vector<std::string> megatron_modules(const model::Architecture& model);

/// Lists `megatron_modules`: `all-linear` where that is all that the model has.
std::vector<std::string> listed_megatron_modules(const model::Architecture& model);

/// The modules and parameters of transformers that adapters of a model stand beside: `all-linear`
/// where that is all that it has as modules, else those of its family (`family_of`), and those of
/// Llama where none has all of the model.
huggingface::AdaptedModules transformers_modules(const model::Architecture& model);

/// The modules of `transformers_modules` for a file that cannot name parameters. Fails with
/// `kUnsupported` where adapters stand beside parameters; `words`: what the file has, "verl has
/// target_modules".
std::vector<std::string> transformers_modules_alone(const model::Architecture& model,
                                                    std::string_view words);

}  // namespace stepwright::framework_files
