#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stepwright::testing {

/// Parameters (or gradients) by name, flat.
using Values = std::map<std::string, std::vector<double>>;

/// How far two ways of computing the same may differ, in parts of its norm.
inline constexpr double kBound = 1e-9;

/// Small models of three kinds: LLaMA, GPT-2 with tied embeddings, Qwen3.
inline constexpr const char* kLlama =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250}";
inline constexpr const char* kTied =
    "{layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 250, norm: layernorm, gated: false, "
    "position: learned, positions: 20, bias: true, tied: true}";
inline constexpr const char* kQwen3 =
    "{layers: 4, hidden: 32, heads: 4, kv_heads: 2, head_dim: 16, ffn: 48, vocab: 250, "
    "qk_norm: true}";
/// The second with dropout.
inline constexpr const char* kDropping =
    "{layers: 4, hidden: 32, heads: 4, ffn: 64, vocab: 250, norm: layernorm, gated: false, "
    "position: learned, positions: 20, bias: true, tied: true, dropout: 0.2}";

/// Results of a run of `stepwright train`.
struct Trained {
  int exit_code = 0;
  std::string errors;  ///< Text that the run wrote to standard error.
  std::vector<double> losses;
  std::vector<double> norms;
  Values weights;
  Values gradients;
  std::int64_t scheduled = 0;  ///< Calls of process groups that ran as schedules.
  std::string comparison;      ///< Output of `stepwright compare` for the run.
};

/// A training run: a plan's text, and options of the command beyond it.
struct Training {
  std::string plan;
  std::int64_t steps = 3;
  std::vector<std::string> options = {};
};

/// The text that all tests train on.
std::filesystem::path training_text();

/// Runs the command with a plan, at most ten minutes.
Trained train(const Training& training);

/// A plan's text: the model in flow style, its precision, the rest of the job and the choices.
struct PlanText {
  std::string model;
  std::string precision = "fp64";
  std::string job = "";      ///< More lines of the job, each indented by two spaces.
  std::string choices = "";  ///< Lines of the plan.
  int ranks = 1;
  int sequences = 8;
  int length = 16;
  const char* batch = "";  ///< More of the batch, after a comma.
  int node = 8;            ///< Devices of a node of the cluster.
};
std::string plan_text_of(const PlanText& plan);

/// The largest difference over (1 + norm) of any tensor; infinite when names or sizes differ.
double distance(const Values& a, const Values& b);

/// Reads a safetensors file of F64 tensors.
Values read_tensors(const std::filesystem::path& path);

/// Names of values that are all zero.
std::vector<std::string> all_zero(const Values& values);

}  // namespace stepwright::testing
