#include "stepwright/runtime/launch/train_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/huggingface/weights.h"

namespace stepwright {
namespace {

void add_checkpoint_flags(CLI::App& app, TrainOptions& o) {
  app.add_option("--checkpoint", o.checkpoint, "Write checkpoints into this directory")
      ->type_name("DIR");
  app.add_option("--checkpoint-every", o.checkpoint_every,
                 "Steps between checkpoints; 0: only after the last step")
      ->type_name("N");
  app.add_option("--keep-checkpoints", o.keep_checkpoints,
                 "Checkpoints that stay when a new one is committed; 0: all")
      ->type_name("N");
  app.add_flag("--resume", o.resume,
               "Go on from the last checkpoint in --checkpoint, if there is one, under any plan");
  app.add_flag("--skip-nan", o.skip_nan,
               "Leave out the update of a step whose gradients are no numbers, and go on");
}

void add_learning_flags(CLI::App& app, TrainOptions& o) {
  app.add_option("--lr", o.learning_rate, "Learning rate after the warm-up")->type_name("RATE");
  app.add_option("--min-lr", o.least_learning_rate, "Learning rate at the last step")
      ->type_name("RATE");
  app.add_option("--warmup", o.warmup_steps, "Steps of warm-up")->type_name("N");
  app.add_option("--decay", o.decay, "constant, linear or cosine")->type_name("KIND");
  app.add_option("--beta1", o.beta1, "Of Adam's first moment")->type_name("B");
  app.add_option("--beta2", o.beta2, "Of Adam's second moment")->type_name("B");
  app.add_option("--epsilon", o.epsilon, "Of Adam")->type_name("E");
  app.add_option("--weight-decay", o.weight_decay, "Of adamw")->type_name("D");
  app.add_option("--clip", o.clip, "Largest norm of the gradients; 0: any")->type_name("NORM");
}

void add_held_flags(CLI::App& app, TrainOptions& o) {
  app.add_flag("--hold", o.hold,
               "Emulate: wait the priced time of each computation, send all messages");
  app.add_option("--scale", o.scale,
                 "With --hold: divides the times of computations and the bytes of messages")
      ->type_name("S");
  app.add_option(
         "--pace", o.pace,
         "On a CPU: a computation lasts so many times the processor time that it takes, for "
         "more ranks than processors")
      ->type_name("P");
}

/// A held run has no values: nothing to read, learn or keep.
void check_held(const TrainOptions& o) {
  const std::pair<std::string_view, bool> given[] = {{"--data", !o.data.empty()},
                                                     {"--weights", !o.weights.empty()},
                                                     {"--gradients", !o.gradients.empty()},
                                                     {"--checkpoint", !o.checkpoint.empty()},
                                                     {"--resume", o.resume},
                                                     {"--skip-nan", o.skip_nan},
                                                     {"--pace", o.pace != 1}};
  for (const auto& [option, is_given] : given) {
    if (is_given)
      fail_input(fmt::format("{}: does not go with --hold, which computes nothing", option));
  }
}

}  // namespace

void add_train_flags(CLI::App& app, TrainOptions& o) {
  app.add_option("PLAN", o.plan, "Plan file, as `stepwright tune -o` writes it")->required();
  app.add_option("--data", o.data, "Text (a token a byte), raw tokens, or Megatron's .bin")
      ->type_name("FILE");
  app.add_option("--data-format", o.data_format, "text, uint16, uint32 or megatron")
      ->type_name("FORMAT");
  app.add_option("--steps", o.steps, "Steps to train")->type_name("N");
  app.add_option("--ranks", o.ranks, "Processes to start on this machine")->type_name("N");
  app.add_option("--device", o.device, "cpu, cuda, or auto: CUDA where build and machine have it")
      ->type_name("DEVICE");
  app.add_option("--seed", o.seed, "Of initial weights and of the order of samples")
      ->type_name("S");
  app.add_option("--timeout", o.timeout_s, "Seconds to wait for another rank")->type_name("S");
  app.add_option("--ledger", o.ledger, "Write what was sent")->type_name("FILE");
  app.add_option("--metrics", o.metrics, "Write a line of JSON for each step")->type_name("FILE");
  app.add_option("--weights", o.weights, "Write the trained weights (safetensors, small models)")
      ->type_name("FILE");
  app.add_option("--gradients", o.gradients, "Write the last step's gradients the same way")
      ->type_name("FILE");
  app.add_option("--summary", o.summary,
                 "Write where the time of a step went beside what was predicted")
      ->type_name("FILE");
  app.add_option("--memory", o.memory,
                 "Write what each rank held in the last step beside what was predicted")
      ->type_name("FILE");
  app.add_option("--logits", o.logits,
                 "Write the last step's logits and tokens the same way (plans of one rank)")
      ->type_name("FILE");
  app.add_option("--weights-from", o.weights_from,
                 "Begin with the weights of a Hugging Face model (config.json, safetensors)")
      ->type_name("DIR");
  add_held_flags(app, o);
  add_checkpoint_flags(app, o);
  add_learning_flags(app, o);
}

void check(const TrainOptions& o) {
  const auto need = [](bool holds, std::string_view option, std::string_view rule) {
    if (!holds) fail_input(fmt::format("{}: {}", option, rule));
  };
  if (o.hold) check_held(o);
  need(o.hold || !o.data.empty(), "--data", "a file to train on is required (or --hold)");
  need(std::isfinite(o.scale) && o.scale >= 1, "--scale", "at least 1");
  need(o.hold || o.scale == 1, "--scale", "goes with --hold");
  need(std::isfinite(o.pace) && o.pace >= 1, "--pace", "at least 1");
  need(o.pace == 1 || o.device != "cuda", "--pace", "goes with the CPU");
  need(o.steps >= 0, "--steps", "at least 0");
  need(o.device == "auto" || o.device == "cpu" || o.device == "cuda", "--device",
       fmt::format("'{}' is none of auto, cpu, cuda", o.device));
  need(o.ranks >= 0, "--ranks", "at least 1");
  need(o.steps > 0 || o.logits.empty(), "--logits", "needs a step (--steps)");
  need(o.timeout_s > 0, "--timeout", "more than 0 seconds");
  need(o.checkpoint_every >= 0, "--checkpoint-every", "at least 0");
  need(o.checkpoint_every == 0 || !o.checkpoint.empty(), "--checkpoint-every",
       "goes with --checkpoint");
  need(o.keep_checkpoints >= 0, "--keep-checkpoints", "at least 0");
  need(o.keep_checkpoints == 0 || !o.checkpoint.empty(), "--keep-checkpoints",
       "goes with --checkpoint");
  need(!o.resume || !o.checkpoint.empty(), "--resume", "goes with --checkpoint");
  need(o.learning_rate >= 0, "--lr", "at least 0");
  need(o.warmup_steps >= 0, "--warmup", "at least 0");
  need(o.clip >= 0, "--clip", "at least 0");
  need(o.beta1 >= 0 && o.beta1 < 1, "--beta1", "from 0 to below 1");
  need(o.beta2 >= 0 && o.beta2 < 1, "--beta2", "from 0 to below 1");
  need(o.epsilon >= 0, "--epsilon", "at least 0");
  const bool known = o.decay == "constant" || o.decay == "linear" || o.decay == "cosine";
  need(known, "--decay", fmt::format("'{}' is none of constant, linear, cosine", o.decay));
}

void check_for_plan(const TrainOptions& o, const PlannedJob& planned) {
  const std::int64_t ranks = planned.plan.parallel.ranks();
  if (!o.logits.empty() && ranks > 1) {
    fail_input(fmt::format("--logits: goes with a plan of one rank; this one has {}", ranks));
  }
  if (!o.weights_from.empty()) HuggingFaceWeights(o.weights_from, planned.job.model);
}

std::vector<std::string> files_to_write(const TrainOptions& o) {
  std::vector<std::string> files = {o.ledger,  o.metrics, o.weights, o.gradients,
                                    o.summary, o.memory,  o.logits};
  std::erase(files, "");
  return files;
}

std::vector<std::string> train_arguments(const TrainOptions& o) {
  std::vector<std::string> words{o.plan};
  const auto number = [&](const char* flag, auto value) {
    words.insert(words.end(), {flag, fmt::format("{}", value)});
  };
  const auto text = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  text("--data", o.data);
  text("--data-format", o.data_format);
  number("--steps", o.steps);
  text("--device", o.device);
  number("--seed", o.seed);
  number("--timeout", o.timeout_s);
  text("--ledger", o.ledger);
  text("--metrics", o.metrics);
  text("--weights", o.weights);
  text("--gradients", o.gradients);
  text("--summary", o.summary);
  text("--memory", o.memory);
  text("--logits", o.logits);
  text("--weights-from", o.weights_from);
  text("--checkpoint", o.checkpoint);
  number("--checkpoint-every", o.checkpoint_every);
  number("--keep-checkpoints", o.keep_checkpoints);
  if (o.hold) words.emplace_back("--hold");
  if (o.hold) number("--scale", o.scale);
  number("--pace", o.pace);
  if (o.resume) words.emplace_back("--resume");
  if (o.skip_nan) words.emplace_back("--skip-nan");
  number("--lr", o.learning_rate);
  number("--min-lr", o.least_learning_rate);
  number("--warmup", o.warmup_steps);
  text("--decay", o.decay);
  number("--beta1", o.beta1);
  number("--beta2", o.beta2);
  number("--epsilon", o.epsilon);
  number("--weight-decay", o.weight_decay);
  number("--clip", o.clip);
  return words;
}

}  // namespace stepwright
