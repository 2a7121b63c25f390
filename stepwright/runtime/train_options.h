#pragma once

#include <cstdint>
#include <string>

namespace stepwright::runtime {

/// Options of a training run that its plan does not contain.
struct TrainOptions {
  std::string plan;
  std::string data;
  /// Format of the data file: "text", "uint16", "uint32" or "megatron"; empty: the format that the
  /// file's name implies.
  std::string data_format;
  std::int64_t steps = 1;
  /// Number of processes to start on this machine; 0: as many as the plan has ranks.
  std::int64_t ranks = 0;
  /// Device of the ranks: "cpu", "cuda", or "auto": CUDA if build and machine have it.
  std::string device = "auto";
  std::uint64_t seed = 0;
  double learning_rate = 3e-4;
  double least_learning_rate = 0;
  std::int64_t warmup_steps = 0;
  std::string decay = "constant";
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  /// Weight decay, for all parameters. The optimizers adam, adam_bf16 and sgd ignore it.
  double weight_decay = 0.1;
  /// Largest global norm of the gradients, to which they are clipped; 0: no clipping.
  double clip = 1.0;
  double timeout_s = 60;  ///< Seconds that a rank waits for another rank before the run fails.
  /// True: after a step whose loss is not a number, continue without that step's update.
  bool skip_nan = false;
  /// Hugging Face directory with the initial weights; empty: random initial weights.
  std::string weights_from;
  /// Folder with initial adapters, as peft writes it; empty: new adapters.
  std::string adapters_from;
  /// True: emulate the training: wait for the predicted time of each computation instead of
  /// computing.
  bool hold = false;
  double scale = 1;  ///< For an emulated run: divisor of all computation times and message bytes.
  /// Seconds of wall time that a computation takes for each second of processor time; 1: full
  /// speed.
  double pace = 1;
  std::string checkpoint;  ///< Directory to which checkpoints are written; empty: none are written.
  /// Number of steps between two checkpoints; 0: a checkpoint only after the last step.
  std::int64_t checkpoint_every = 0;
  std::int64_t keep_checkpoints = 0;  ///< Number of latest checkpoints to keep; 0: all are kept.
  /// True: continue from the last committed checkpoint if there is one.
  bool resume = false;
  std::string ledger;  ///< File to write with all executed messages; empty: not written.
  std::string metrics;
  /// File to write with the whole weights after the last step, in safetensors; empty: not written.
  std::string weights;
  /// File to write with the gradients of the last step, in safetensors; empty: not written.
  std::string gradients;
  /// File to write with measured and predicted times of each kind of computation and message;
  /// empty: not written.
  std::string summary;
  /// File to write with the bytes that each rank held in the last step, and their prediction;
  /// empty: not written.
  std::string memory;
  /// File to write with logits and tokens of the last step, for plans of one rank; empty: not
  /// written.
  std::string logits;
};

/// Returns the learning rate of a step (from 0). It rises linearly over the warm-up; then, unless
/// `decay` is "constant", it falls (linearly or as a cosine) to the least rate at the last step.
double learning_rate(const TrainOptions& options, std::int64_t step);

}  // namespace stepwright::runtime
