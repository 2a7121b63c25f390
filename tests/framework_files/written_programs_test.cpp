#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "tests/plan/random_plans.h"

// Files of programs that stand on a framework and run a part of what it runs.

namespace stepwright {
namespace {

using testing::AllOf;
using testing::HasSubstr;

PlannedJob planned_on(Parallel degrees, std::string_view states) {
  PlannedJob planned;
  planned.job = small_job();
  planned.plan.parallel = degrees;
  planned.plan.sharding = *sharding_of(states);
  return planned;
}

/// The file of a plan, or of the nearest.
std::string text_of(std::string_view word, const PlannedJob& planned) {
  return export_plan(word, planned, "", true).text;
}

/// Why a plan is refused, whose nearest is written all the same.
std::string refusal_of(std::string_view word, const PlannedJob& planned) {
  EXPECT_NO_THROW(export_plan(word, planned, "", true));
  try {
    export_plan(word, planned, "");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    return error.what();
  }
  return "";
}

TEST(WrittenPrograms, LlamaFactorySaysDataParallelism) {
  EXPECT_THAT(text_of("llama-factory", planned_on({.data = 16}, "GGG")),
              AllOf(HasSubstr("fsdp: full_shard auto_wrap"), HasSubstr("dataset: c4_demo"),
                    HasSubstr("fsdp_reshard_after_forward: true")));
  EXPECT_THAT(refusal_of("llama-factory", planned_on({.tensor = 2, .data = 8}, "GGG")),
              HasSubstr("parallel tensor: accelerate (llama-factory) runs none"));
  EXPECT_THAT(refusal_of("llama-factory", planned_on({.data = 16}, "NNG")),
              HasSubstr("sharding NNG: accelerate (llama-factory) runs NNN, NGG, GGG"));
}

TEST(WrittenPrograms, AxolotlSaysItsMesh) {
  EXPECT_THAT(text_of("axolotl", planned_on({.tensor = 2, .data = 8}, "GGG")),
              AllOf(HasSubstr("tensor_parallel_size: 2"), HasSubstr("dp_shard_size: 8"),
                    HasSubstr("fsdp_version: 2")));
  EXPECT_THAT(refusal_of("axolotl", planned_on({.data = 16}, "NNG")),
              HasSubstr("sharding NNG: accelerate (axolotl) runs "));
}

TEST(WrittenPrograms, SwiftStartsMegatron) {
  EXPECT_THAT(text_of("ms-swift", planned_on({.tensor = 2, .pipeline = 2, .data = 4}, "NNG")),
              AllOf(HasSubstr("megatron sft"), HasSubstr("--tensor_model_parallel_size 2"),
                    HasSubstr("--recompute_granularity none"), HasSubstr("--train_iters 100")));
  PlannedJob chunks = planned_on({.pipeline = 2, .data = 8}, "NNG");
  chunks.plan.schedule = {.kind = ScheduleKind::kInterleaved, .chunks = 2};
  EXPECT_THAT(text_of("ms-swift", chunks), HasSubstr("--virtual_pipeline_model_parallel_size 2"));
  PlannedJob groups = planned_on({.data = 16}, "NNI");
  groups.plan.sharding.group = 4;
  EXPECT_THAT(refusal_of("ms-swift", groups),
              HasSubstr("sharding NNI: megatron-core (ms-swift) runs NNN, NNG"));
}

TEST(WrittenPrograms, NemoRlSaysItsPolicy) {
  EXPECT_THAT(text_of("nemo-rl", planned_on({.tensor = 2, .data = 8}, "NNG")),
              AllOf(HasSubstr("tensor_model_parallel_size: 2"),
                    HasSubstr("use_distributed_optimizer: true"), HasSubstr("gpus_per_node: 8")));
  EXPECT_THAT(refusal_of("nemo-rl", planned_on({.context = 2, .data = 8}, "NNG")),
              HasSubstr("parallel context: megatron-core (nemo-rl) runs tensor, pipeline"));
}

TEST(WrittenPrograms, TokensThatTravelOncePerNodeAreDeepEp) {
  PlannedJob planned;
  planned.job = small_expert_job();
  planned.job.dispatcher = Dispatcher::kOncePerNode;
  planned.plan.parallel = {.expert = 4, .data = 16};
  planned.plan.sharding = *sharding_of("NNG");
  EXPECT_THAT(text_of("ms-swift", planned), AllOf(HasSubstr("--moe_token_dispatcher_type flex"),
                                                  HasSubstr("--moe_enable_deepep true")));
  EXPECT_THAT(text_of("nemo-rl", planned), AllOf(HasSubstr("moe_token_dispatcher_type: flex"),
                                                 HasSubstr("moe_enable_deepep: true")));
  for (const std::string target : {"ms-swift", "nemo-rl"}) {
    Given given;
    given.known_cluster = planned.job.cluster;
    given.known_model = planned.job.model;
    given.batch = fmt::format("{}x{}", planned.job.sequences, planned.job.length);
    SourceFile file{target, export_plan(target, planned, "").text};
    EXPECT_EQ(import_sources(target, {&file, 1}, given).planned.job.dispatcher,
              Dispatcher::kOncePerNode);
    if (target != "nemo-rl") continue;
    file.text.replace(file.text.find("type: flex"), 10, "type: alltoall");
    EXPECT_THAT([&] { import_sources(target, {&file, 1}, given); },
                testing::ThrowsMessage<Error>(HasSubstr("needs moe_token_dispatcher_type flex")));
  }
}

}  // namespace
}  // namespace stepwright
