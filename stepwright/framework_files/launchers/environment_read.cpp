
#include "stepwright/collective/definition.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/plan/frameworks/ability.h"

namespace stepwright::framework_files {
namespace {

/// Returns a plan's collective algorithms for a value of NCCL_ALGO; nullopt if no algorithm here
/// has this value.
std::optional<plan::CollectiveAlgorithmChoices> collectives_of(std::string_view nccl_algo,
                                                               const plan::Plan& plan) {
  for (const auto& [algorithm, word, definition] : collective::kAlgorithmRows) {
    const std::string_view text = definition->nccl.environment;
    if (text.empty() || text != nccl_algo) continue;
    plan::CollectiveAlgorithmChoices collectives;
    for (const auto scheme : plan::active_parallelism_schemes(plan))
      collectives.*scheme = algorithm;
    return collectives;
  }
  return std::nullopt;
}

/// Returns the attention kernel that Transformer Engine's variables leave on
/// (`get_attention_backend` in
/// transformer_engine/pytorch/attention/dot_product_attention/utils.py): each kernel is on unless
/// its variable is 0. nullopt if more than one is on.
std::optional<cluster::AttentionKernel> attention_left(
    const std::map<std::string, ShellWord>& environment) {
  const auto is_on = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() || found->second.text != "0";
  };
  const bool flash = is_on("NVTE_FLASH_ATTN");
  const bool fused = is_on("NVTE_FUSED_ATTN");
  if (flash && fused) return std::nullopt;
  if (flash) return cluster::AttentionKernel::kFlash2;
  return fused ? cluster::AttentionKernel::kCudnn : cluster::AttentionKernel::kUnfused;
}

/// Returns the number of threads of a process; nullopt if the text is none, or out of range.
std::optional<std::int64_t> threads_in(std::string_view text) {
  const auto threads = launch_scripts::integer_from_digits(text);
  return threads && *threads >= 1 && *threads <= plan::kMaxHostOptimizerThreads ? threads
                                                                                : std::nullopt;
}

/// True for the cuBLAS workspace setting that PyTorch requires for deterministic runs.
bool asks_for_equal_bits(std::string_view name, std::string_view value) {
  return name == "CUBLAS_WORKSPACE_CONFIG" && value == ":4096:8";
}

}  // namespace

const KnownSetting* find_known_environment_variable(std::string_view name) {
  return find_known_setting(known_program_settings("launchers/environment"), name);
}

void read_environment_settings(const StartedCommand& command, PartialPlan& settled,
                               const JobRankCounts& extent, ImportReport& report) {
  report_unknown_rank_counts(command, extent, report);
  const auto attention = settled.attention ? std::nullopt : attention_left(command.environment);
  if (attention) settled.attention = attention;
  for (const auto& [name, word] : command.environment) {
    const KnownSetting* known = find_known_environment_variable(name);
    if (known == nullptr) continue;
    const std::string value = one_line_printable_text(word.text);
    std::string field(known->field == "job.kernels.attention" && !attention ? "" : known->field);
    if (const auto collectives =
            name == "NCCL_ALGO" ? collectives_of(word.text, settled.plan) : std::nullopt) {
      settled.plan.collectives = *collectives;
      field = "collectives";
    }
    if (name == "OMP_NUM_THREADS") {
      settled.host_threads = threads_in(word.text);
      if (!settled.host_threads) field.clear();
    }
    if (asks_for_equal_bits(name, word.text)) {
      settled.kernels.emplace_back(&plan::FrameworkKernels::deterministic, true);
      field = "job.kernels.deterministic";
    }
    if (name == "CUDA_LAUNCH_BLOCKING" && value == "1") {
      settled.kernels.emplace_back(&plan::FrameworkKernels::blocking_launches, true);
      field = "job.kernels.blocking_launches";
    }
    if (field.empty()) {
      const bool usual = !known->harmless.empty() && value == known->harmless;
      report.not_read.push_back({name, value, command.file, word.line,
                                 usual ? SettingImpact::kNo : known->matters,
                                 std::string(usual ? std::string_view() : known->leaves_out)});
    } else {
      report.read.push_back({name, value, command.file, word.line, field});
    }
  }
}

}  // namespace stepwright::framework_files
