#pragma once

#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// Returns a row of training runs: a GPT of two layers on one DGX A100.
inline PublishedRunRow small_row() {
  PublishedRunRow row;
  row.id = "hand-0001";
  row.source = "hand";
  row.cluster = "dgx-a100-80g";
  row.model = "GPT-tiny";
  row.job = "{framework: megatron-lm, precision: fp16, model: {base: gpt3-175b, head_dim: 64}}";
  row.plan = "{sharding: NNN, recompute: full}";
  row.gpus = 8;
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

}  // namespace stepwright::validate
