#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stepwright::testing {

/// Parameters (or gradients) by name, flattened.
using Values = std::map<std::string, std::vector<double>>;

/// The largest difference allowed between two ways of computing the same, relative to (1 + norm).
inline constexpr double kBound = 1e-9;

/// Three kinds of small models: LLaMA, GPT-2 with tied embeddings, Qwen3.
inline constexpr const char* kLlama =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250}";
inline constexpr const char* kTied =
    "{layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 250, norm: layernorm, gated: false, "
    "position: learned, positions: 20, bias: true, tied: true}";
inline constexpr const char* kQwen3 =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, head_dim: 16, ffn: 48, vocab: 250, "
    "qk_norm: true}";
/// The GPT-2 model with dropout.
inline constexpr const char* kDropping =
    "{layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 250, norm: layernorm, gated: false, "
    "position: learned, positions: 20, bias: true, tied: true, dropout: 0.2}";

/// The results of a run of `stepwright train`.
struct Trained {
  int exit_code = 0;
  std::string errors;  ///< Text that the run wrote to standard error.
  std::vector<double> losses;
  std::vector<double> norms;
  Values weights;
  Values gradients;
  std::int64_t scheduled = 0;  ///< Number of process-group calls that ran as generated schedules.
  std::string comparison;      ///< Output of `stepwright compare` for the run.
};

/// A training run: the text of a plan, and further options of the command.
struct Training {
  std::string plan;
  std::int64_t steps = 3;
  std::vector<std::string> options = {};
};

/// Returns the path of the text on which all tests train.
std::filesystem::path training_text();

/// Runs the command with a plan, for at most ten minutes.
Trained train(const Training& training);

/// The parts of a plan's text: the model in flow style, its precision, the rest of the job, and the
/// choices.
struct PlanText {
  std::string model;
  std::string precision = "fp64";
  std::string job = "";      ///< Additional lines of the job, each indented by two spaces.
  std::string choices = "";  ///< Lines of the plan with its choices.
  int ranks = 1;
  int sequences = 8;
  int length = 16;
  const char* batch = "";  ///< Additional members of the batch, after a comma.
  int node = 8;            ///< Devices in a node of the cluster.
};
std::string plan_text_of(const PlanText& plan);

/// Returns the largest difference over (1 + norm) of any tensor; infinite if names or sizes differ.
double distance(const Values& a, const Values& b);

/// Reads a safetensors file of F64 tensors.
Values read_tensors(const std::filesystem::path& path);

/// Returns the names of tensors whose values are all zero.
std::vector<std::string> all_zero(const Values& values);

}  // namespace stepwright::testing
