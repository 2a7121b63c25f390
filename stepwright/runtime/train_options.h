#pragma once

#include <cstdint>
#include <string>

namespace stepwright::runtime {

/// The options of a training run beyond its plan.
struct TrainOptions {
  std::string plan;
  std::string data;
  /// A word of `kTokenFormatNames`; empty: the format that the file's name implies.
  std::string data_format;
  std::int64_t steps = 1;
  std::int64_t ranks = 0;       ///< Local ranks to start; 0: as many as the plan has.
  std::string device = "auto";  ///< "cpu", "cuda", or "auto": CUDA where there is one.
  std::uint64_t seed = 0;
  double learning_rate = 3e-4;
  double least_learning_rate = 0;
  std::int64_t warmup_steps = 0;
  std::string decay = "constant";
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  /// Weight decay of every parameter; adam, adam_bf16 and sgd have none.
  double weight_decay = 0.1;
  double clip = 1.0;      ///< Norm to which gradients are clipped; 0: no limit.
  double timeout_s = 60;  ///< Seconds that a rank waits for other ranks.
  bool skip_nan = false;  ///< Continue after a step whose loss is not a number, without its update.
  std::string weights_from;   ///< Hugging Face directory of the initial weights; empty: random.
  std::string adapters_from;  ///< Folder of peft with the initial adapters; empty: new adapters.
  bool hold = false;       ///< True: hold the priced time of each computation instead of computing.
  double scale = 1;        ///< For a held run: divisor of its times and of its messages' bytes.
  double pace = 1;         ///< Seconds that a computation takes for each second of processor time.
  std::string checkpoint;  ///< Directory of checkpoints; empty: none are written.
  /// Steps between two checkpoints; 0: only after the last step.
  std::int64_t checkpoint_every = 0;
  std::int64_t keep_checkpoints = 0;  ///< Number of checkpoints to keep, the latest ones; 0: all.
  /// Continue from the last committed checkpoint, if there is one.
  bool resume = false;
  std::string ledger;  ///< File of the executed ledger; empty: none, as for the files below.
  std::string metrics;
  /// File of the weights after the last step: whole parameters in one safetensors file.
  std::string weights;
  std::string gradients;  ///< File of the gradients of the last step, in safetensors.
  std::string summary;    ///< File that says where the time of a step went, next to the prediction.
  /// File of the bytes that each rank held in the last step, next to the prediction.
  std::string memory;
  /// File of the logits of the last step with its tokens; for plans of one rank only.
  std::string logits;
};

/// Returns the learning rate of a step (from 0): it rises linearly over the warm-up, then falls to
/// the least rate at the last step as `decay` says.
double learning_rate(const TrainOptions& options, std::int64_t step);

}  // namespace stepwright::runtime
