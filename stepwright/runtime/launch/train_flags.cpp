#include "stepwright/runtime/launch/train_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "stepwright/core/error.h"
#include "stepwright/huggingface/weights.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::runtime {
namespace {

/// An option of a training run. Numbers, flags that are on, and texts that are not empty are passed
/// to ranks unchanged.
struct TrainFlag {
  const char* name;
  std::variant<std::string TrainOptions::*, std::int64_t TrainOptions::*,
               std::uint64_t TrainOptions::*, double TrainOptions::*, bool TrainOptions::*>
      value;
  const char* type;  ///< Name of its value in the help; null for a flag.
  const char* help;
  OptionNumberRange range = {};  ///< Allowed range of a number.
};

constexpr OptionNumberRange kCounts{0, 1e15};
constexpr OptionNumberRange kProcesses{1, 4096};
constexpr OptionNumberRange kFactors{1, 1e9};
constexpr OptionNumberRange kRates{0, 1e100};
constexpr OptionNumberRange kMoments{0, 1 - 1e-12};
constexpr OptionNumberRange kWaits{.low = 1, .high = kMaxTimeoutSeconds};

constexpr const char* kRanks = "--ranks";  // for the launcher only

constexpr TrainFlag kFlags[] = {
    {"--data", &TrainOptions::data, "FILE",
     "Training data: text (each byte a token), raw tokens, or Megatron's .bin"},
    {"--data-format", &TrainOptions::data_format, "FORMAT",
     "Format of the data: text, uint16, uint32 or megatron"},
    {"--steps", &TrainOptions::steps, "N", "Steps to train", kCounts},
    {kRanks, &TrainOptions::ranks, "N", "Processes to start on this machine", kProcesses},
    {"--device", &TrainOptions::device, "DEVICE",
     "cpu, cuda, or auto: CUDA where build and machine have it"},
    {"--seed", &TrainOptions::seed, "S", "Seed of the initial weights and of the order of samples"},
    {"--timeout", &TrainOptions::timeout_s, "S", "Seconds to wait for another rank", kWaits},
    {"--ledger", &TrainOptions::ledger, "FILE", "Write what was sent"},
    {"--metrics", &TrainOptions::metrics, "FILE", "Write a line of JSON for each step"},
    {"--weights", &TrainOptions::weights, "FILE",
     "Write the trained weights (safetensors, small models)"},
    {"--gradients", &TrainOptions::gradients, "FILE",
     "Write the last step's gradients (safetensors)"},
    {"--summary", &TrainOptions::summary, "FILE",
     "Write the measured and predicted time of each operator of a step"},
    {"--memory", &TrainOptions::memory, "FILE",
     "Write the measured and predicted memory of each rank in the last step"},
    {"--logits", &TrainOptions::logits, "FILE",
     "Write the last step's logits and tokens (safetensors; plans of one rank)"},
    {"--weights-from", &TrainOptions::weights_from, "DIR",
     "Begin with the weights of a Hugging Face model (config.json, safetensors)"},
    {"--adapters-from", &TrainOptions::adapters_from, "DIR",
     "With --weights-from: begin with the adapters of a folder of peft"},
    {"--hold", &TrainOptions::hold, "",
     "Emulate: wait for the predicted time of each computation, but send all messages"},
    {"--scale", &TrainOptions::scale, "S",
     "With --hold: divides the times of computations and the bytes of messages", kFactors},
    {"--pace", &TrainOptions::pace, "P",
     "On a CPU: each computation lasts so many times its processor time, so that more ranks than "
     "processors can run",
     kFactors},
    {"--checkpoint", &TrainOptions::checkpoint, "DIR", "Write checkpoints into this directory"},
    {"--checkpoint-every", &TrainOptions::checkpoint_every, "N",
     "Steps between checkpoints; 0: only after the last step", kCounts},
    {"--keep-checkpoints", &TrainOptions::keep_checkpoints, "N",
     "Number of checkpoints to keep; 0: all", kCounts},
    {"--resume", &TrainOptions::resume, "",
     "Continue from the last checkpoint in --checkpoint, if one exists, with any plan"},
    {"--skip-nan", &TrainOptions::skip_nan, "",
     "Skip the update of a step whose gradients are not numbers, and continue"},
    {"--lr", &TrainOptions::learning_rate, "RATE", "Learning rate after the warm-up", kRates},
    {"--min-lr", &TrainOptions::least_learning_rate, "RATE", "Learning rate at the last step",
     kRates},
    {"--warmup", &TrainOptions::warmup_steps, "N", "Steps of warm-up", kCounts},
    {"--decay", &TrainOptions::decay, "KIND", "constant, linear or cosine"},
    {"--beta1", &TrainOptions::beta1, "B", "Of Adam's first moment", kMoments},
    {"--beta2", &TrainOptions::beta2, "B", "Of Adam's second moment", kMoments},
    {"--epsilon", &TrainOptions::epsilon, "E", "Of Adam", kRates},
    {"--weight-decay",
     &TrainOptions::weight_decay,
     "D",
     "Weight decay of all optimizers but adam, adam_bf16 and sgd",
     {-1e9, 1e9}},
    {"--clip", &TrainOptions::clip, "NORM", "Largest norm of the gradients (clipping); 0: no limit",
     kRates}};

void add_flag(CLI::App& app, const TrainFlag& flag, bool& value) {
  app.add_flag(flag.name, value, flag.help);
}
template <class Value>
void add_flag(CLI::App& app, const TrainFlag& flag, Value& value) {
  CLI::Option* option = app.add_option(flag.name, value, flag.help)->type_name(flag.type);
  if constexpr (std::is_same_v<Value, double>) option->check(number_range_validator(flag.range));
  if constexpr (std::is_same_v<Value, std::int64_t>) {
    option->check(whole_number_validator(static_cast<std::int64_t>(flag.range.low),
                                         static_cast<std::int64_t>(flag.range.high)));
  }
  if constexpr (std::is_unsigned_v<Value>) option->check(whole_number_validator());
}

void add_argument(std::vector<std::string>& words, const char* flag, bool value) {
  if (value) words.emplace_back(flag);
}
void add_argument(std::vector<std::string>& words, const char* flag, const std::string& value) {
  if (!value.empty()) words.insert(words.end(), {flag, value});
}
template <class Number>
void add_argument(std::vector<std::string>& words, const char* flag, Number value) {
  words.insert(words.end(), {flag, fmt::format("{}", value)});
}

/// Options that a held run does not use, since it has no values to read, learn or keep.
constexpr std::string_view kComputing[] = {
    "--data",         "--data-format",   "--seed",   "--weights",    "--gradients", "--logits",
    "--weights-from", "--adapters-from", "--pace",   "--checkpoint", "--resume",    "--skip-nan",
    "--lr",           "--min-lr",        "--warmup", "--decay",      "--beta1",     "--beta2",
    "--epsilon",      "--weight-decay",  "--clip"};

void check_held(const TrainOptions& o) {
  const TrainOptions usual;
  for (const TrainFlag& flag : kFlags) {
    const bool computing = std::ranges::find(kComputing, flag.name) != std::end(kComputing);
    const bool given = std::visit([&](auto value) { return o.*value != usual.*value; }, flag.value);
    if (computing && given) {
      fail_input(fmt::format("{}: has no effect with --hold, which computes nothing", flag.name));
    }
  }
}

}  // namespace

void add_train_options(CLI::App& app, TrainOptions& o) {
  app.add_option("PLAN", o.plan, "Plan file, as `stepwright tune -o` writes it")->required();
  for (const TrainFlag& flag : kFlags) {
    std::visit([&](auto value) { add_flag(app, flag, o.*value); }, flag.value);
  }
}

void check_train_options(const TrainOptions& o) {
  const auto need = [](bool holds, std::string_view option, std::string_view rule) {
    if (!holds) fail_input(fmt::format("{}: {}", option, rule));
  };
  if (o.hold) check_held(o);
  need(o.hold || !o.data.empty(), "--data", "a file to train on is required (or --hold)");
  need(o.hold || o.scale == 1, "--scale", "is only for --hold");
  need(o.pace == 1 || o.device != "cuda", "--pace", "is only for the CPU");
  need(o.device == "auto" || o.device == "cpu" || o.device == "cuda", "--device",
       fmt::format("'{}' must be one of auto, cpu, cuda", o.device));
  need(o.steps > 0 || o.logits.empty(), "--logits", "needs a step (--steps)");
  need(o.checkpoint_every == 0 || !o.checkpoint.empty(), "--checkpoint-every",
       "needs --checkpoint");
  need(o.keep_checkpoints == 0 || !o.checkpoint.empty(), "--keep-checkpoints",
       "needs --checkpoint");
  need(!o.resume || !o.checkpoint.empty(), "--resume", "needs --checkpoint");
  need(o.adapters_from.empty() || !o.weights_from.empty(), "--adapters-from",
       "needs --weights-from");
  const bool known = o.decay == "constant" || o.decay == "linear" || o.decay == "cosine";
  need(known, "--decay", fmt::format("'{}' must be one of constant, linear, cosine", o.decay));
  need(o.decay != "constant" || o.least_learning_rate == 0, "--min-lr",
       "needs --decay linear or cosine");
}

void check_train_options_for_plan(const TrainOptions& o, const plan::PlannedJob& planned) {
  const std::int64_t ranks = planned.plan.parallel.ranks();
  if (!o.logits.empty() && ranks > 1) {
    fail_input(fmt::format("--logits: is only for a plan of one rank; this one has {}", ranks));
  }
  if (!o.weights_from.empty()) huggingface::HuggingFaceWeights(o.weights_from, planned.job.model);
  if (!o.adapters_from.empty()) {
    huggingface::HuggingFaceWeights::open_lora_adapters(o.adapters_from, o.weights_from,
                                                        planned.job.model);
  }
}

std::vector<CommandLineFile> files_written_by_training(const TrainOptions& o) {
  std::vector<CommandLineFile> files = {{"--ledger", o.ledger},   {"--metrics", o.metrics},
                                        {"--weights", o.weights}, {"--gradients", o.gradients},
                                        {"--summary", o.summary}, {"--memory", o.memory},
                                        {"--logits", o.logits}};
  std::erase_if(files, [](const CommandLineFile& file) { return file.path.empty(); });
  return files;
}

std::vector<std::string> rank_program_arguments(const TrainOptions& o) {
  std::vector<std::string> words{o.plan};
  for (const TrainFlag& flag : kFlags) {
    if (flag.name == kRanks) continue;
    std::visit([&](auto value) { add_argument(words, flag.name, o.*value); }, flag.value);
  }
  return words;
}

}  // namespace stepwright::runtime
