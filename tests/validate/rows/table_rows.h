#pragma once

#include "stepwright/validate/rows/run_row.h"

namespace stepwright {

/// A GPT of two layers on one DGX A100, as a row of training runs.
inline RunRow small_row() {
  RunRow row;
  row.id = "hand-0001";
  row.source = "hand";
  row.gpu = "A100-SXM-80GB";
  row.framework = "Megatron-LM (v2.x)";
  row.model = "GPT-tiny";
  row.precision = "fp16";
  row.sequence_parallel = "n";
  row.sharding = "none (ZeRO-0)";
  row.recompute = "full";
  row.gpus = 8;
  row.gpus_per_node = 8;
  row.layers = 4;
  row.hidden = 1024;
  row.heads = 16;
  row.kv_heads = 16;
  row.ffn = 4096;
  row.vocabulary = 51200;
  row.length = 1024;
  row.global_batch = 16;
  row.micro_batch = 2;
  row.tensor = 2;
  row.pipeline = 2;
  row.chunks = 1;
  row.context = 1;
  row.expert = 1;
  row.metric = "iteration_time_s";
  row.measured = 0.5;
  return row;
}

}  // namespace stepwright
