#pragma once

#include <cstdint>
#include <string>

namespace stepwright::runtime {

/// The options of a training run beyond its plan.
struct TrainOptions {
  std::string plan;
  std::string data;
  std::string data_format;  ///< A word of `kTokenFormatNames`; empty: by the file's name.
  std::int64_t steps = 1;
  std::int64_t ranks = 0;       ///< Local ranks to start; 0: those of the plan.
  std::string device = "auto";  ///< "cpu", "cuda", or "auto": CUDA where there is one.
  std::uint64_t seed = 0;
  double learning_rate = 3e-4;
  double least_learning_rate = 0;
  std::int64_t warmup_steps = 0;
  std::string decay = "constant";
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;  ///< Decay of every parameter; adam, adam_bf16 and sgd have none.
  double clip = 1.0;          ///< Largest norm of the gradients; 0: no limit.
  double timeout_s = 60;      ///< How long a rank waits for others.
  bool skip_nan = false;      ///< Go on after a step whose loss is no number, without its update.
  std::string weights_from;   ///< Hugging Face directory of the initial weights; empty: random.
  std::string adapters_from;  ///< Folder of peft of the initial adapters beside them; empty: new.
  bool hold = false;          ///< Hold the priced time of each computation instead of computing.
  double scale = 1;           ///< For a held run: divides its times and its messages' bytes.
  double pace = 1;            ///< Seconds that a computation lasts for each of processor time.
  std::string checkpoint;     ///< Directory of checkpoints; empty: none are written.
  /// Steps between two checkpoints; 0: only after the last step.
  std::int64_t checkpoint_every = 0;
  std::int64_t keep_checkpoints = 0;  ///< Checkpoints to keep, the last ones; 0: all.
  /// Goes on from the last committed checkpoint, if there is one.
  bool resume = false;
  std::string ledger;  ///< Files to write; empty: none.
  std::string metrics;
  /// Weights after the last step, whole parameters in one safetensors file.
  std::string weights;
  std::string gradients;  ///< Gradients of the last step, in one safetensors file.
  std::string summary;    ///< File for where the time of a step went, beside the prediction.
  std::string memory;     ///< Bytes that each rank held in the last step, beside the prediction.
  std::string logits;     ///< Logits of the last step with its tokens; plans of one rank only.
};

/// The learning rate of a step (from 0): up in a line over the warm-up, then down to the least one
/// at the last step as `decay` says.
double learning_rate(const TrainOptions& options, std::int64_t step);

}  // namespace stepwright::runtime
