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

/// The keys under which a program has them, and what it assumes where one is absent.
struct AdapterKeys {
  std::string_view rank{}, alpha{}, dropout{}, modules{};  ///< Empty: it has none.
  std::int64_t usual_rank = 0;
  double usual_alpha = 0;  ///< In ranks with `alpha_of_rank`.
  bool alpha_of_rank = false;
  double usual_dropout = 0;
  /// Empty: those that peft adapts in a Llama, the queries and the values.
  std::string_view usual_modules{};
  std::string_view expression{};  ///< In the place of the modules, where it is said.
  /// Bits of the frozen weights, 8 (LLM.int8) or 4 (NF4), where they are not those of the model;
  /// with `load_flags` as bitsandbytes has them through transformers: `load_in_8bit`,
  /// `load_in_4bit`.
  std::string_view bits{};
  bool load_flags = false;
  std::string_view parameters{};  ///< Parameters that are no modules (experts).
  bool of_transformers = false;   ///< Its models are those of transformers 5.
};

/// Those of Megatron-Bridge (src/megatron/bridge/peft/lora.py), and of what trains with it.
inline constexpr AdapterKeys kBridgeAdapterKeys = {.rank = "dim",
                                                   .alpha = "alpha",
                                                   .dropout = "dropout",
                                                   .modules = "target_modules",
                                                   .usual_rank = 32,
                                                   .usual_alpha = 32,
                                                   .usual_modules = "all-linear"};

/// Reads such keys. Fails with `kInput` on values of a wrong kind.
AdapterWords read_adapter_words(const Fields& fields, const AdapterKeys& keys);

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

/// The same as a list: `all-linear` where that is all that the model has.
std::vector<std::string> listed_megatron_modules(const model::Architecture& model);

/// The modules and parameters of transformers that adapters of a model stand beside: `all-linear`
/// where that is all that it has as modules, else those of its family (`family_of`), and those of
/// Llama where none has all of the model.
huggingface::AdaptedModules transformers_modules(const model::Architecture& model);

}  // namespace stepwright::framework_files
