#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "golden.h"

namespace stepwright::cli {
namespace {

constexpr const char* kJob = R"(stepwright: job/1
model: llama-3-8b
cluster: {profile: dgx-h100, nodes: 1}
batch: {sequences: 64, length: 4096}
)";
constexpr const char* kPlan = R"(stepwright: plan/1
job:
  model: llama-3-8b
  cluster: {profile: dgx-h100, nodes: 1}
  batch: {sequences: 64, length: 4096}
parallel: {tensor: 2, data: 4}
)";

/// Returns a text with the first occurrence of `from` replaced.
std::string with(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

/// Passes files to one command and writes a transcript of its output.
class Script {
 public:
  explicit Script(std::string command) : command_(std::move(command)) {}

  void give(const std::string& name, const std::string& content,
            const std::string& arguments = "") {
    place_.write(name, content);
    run(name, arguments);
  }
  void run(const std::string& name, const std::string& arguments = "") {
    text_ += transcript(place_, command_ + " " + name + arguments);
  }
  [[nodiscard]] const Workplace& place() const { return place_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string command_;
  Workplace place_;
  std::string text_;
};

TEST(BadInput, FilesThatCannotBeRead) {
  Script tune("tune");
  tune.run("nowhere.yaml");
  tune.run("examples");
  tune.give("empty.yaml", "");
  tune.give("broken.yaml", "stepwright: job/1\nmodel: [llama\nbatch: {\n");
  tune.give("broken.json", "{\"stepwright\": \"job/1\",\n \"model\": }\n");
  tune.give("list.yaml", "- 1\n- 2\n");
  tune.give("noversion.yaml", with(kJob, "stepwright: job/1\n", ""));
  tune.give("future.yaml", with(kJob, "job/1", "job/9"));
  tune.give("plan.yaml", kPlan);
  expect_golden("bad_files.txt", tune.text());
}

TEST(BadInput, JobsWhereAPlanIsNeeded) {
  Workplace place;
  place.write("job.yaml", kJob);
  std::string text;
  for (const char* command : {"predict", "traffic", "memory"}) {
    text += transcript(place, std::string(command) + " job.yaml");
  }
  expect_golden("bad_job_for_plan.txt", text);
}

TEST(BadInput, Conversions) {
  Script checkpoint("checkpoint");
  checkpoint.run("convert nowhere");
  checkpoint.run("convert nowhere -o out --dtype bf16");
  checkpoint.run("convert nowhere -o out --shard-size 1GB");
  checkpoint.run("convert nowhere -o out --format huggingface --dtype int8");
  checkpoint.run("verify nowhere --format huggingface");
  checkpoint.run("convert nowhere -o out --format huggingface");
  expect_golden("bad_conversions.txt", checkpoint.text());
}

TEST(BadInput, LaunchFiles) {
  Script exported("export --to");
  exported.place().write(
      "wide.yaml",
      with(kPlan, "parallel:", "sharding: zero3\noverlap: {tensor_gradients: true}\nparallel:"));
  exported.run("deepspeed");
  exported.run("deepspeed --plan nowhere.yaml");
  exported.run("deepspeed --tiers 8 --plan wide.yaml");
  exported.run("megatron --plan wide.yaml --json");
  exported.run("torchtitan --plan wide.yaml");
  exported.run("nccl-tuner --nearest --plan wide.yaml");
  exported.run("fsdp --plan wide.yaml");
  Script script("import --from");
  script.run("word file");
  script.run("hf");
  script.run("deepspeed nowhere.json --cluster dgx-h100");
  const auto give = [&](const char* target, const char* name, const char* content,
                        const std::string& rest) {
    script.place().write(name, content);
    script.run(std::string(target) + " " + name + " " + rest);
  };
  const std::string all = "--cluster dgx-h100 --model llama-3-8b --batch 64x4096";
  give("deepspeed", "empty.json", "", all);
  give("deepspeed", "torn.json", "{\"train_batch_size\": 64,", all);
  give("deepspeed", "many.json", R"({"train_batch_size": 64e99})", all);
  give("deepspeed", "ds.json", R"({"train_batch_size": 64})", "");
  script.run("deepspeed ds.json --cluster dgx-h100");
  script.run("deepspeed ds.json --cluster dgx-h1000 --model llama-3-8b --batch 64x4096");
  script.run("deepspeed ds.json --cluster dgx-h100 --model llama-3-8bb --batch 64x4096");
  script.run("deepspeed ds.json --cluster dgx-h100 --model llama-3-8b");
  script.run("deepspeed ds.json --cluster dgx-h100 --model llama-3-8b --batch many");
  script.run("deepspeed ds.json --cluster dgx-h100 --model llama-3-8b --batch 32x4096");
  script.run("deepspeed ds.json --cluster dgx-h100:0 --model llama-3-8b --batch 64x4096");
  give("deepspeed", "odd.json", R"({"train_batch_size": 60, "zero_optimization": {"stage": 1}})",
       "--cluster dgx-h100 --model llama-3-8b --batch 60x4096");
  give("deepspeed", "typo.json", R"({"zero_optimisation": {"stage": 1}})", all);
  give("deepspeed", "stage.json", R"({"zero_optimization": {"stage": 4}})", all);
  give("deepspeed", "away.json",
       R"({"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}})", all);
  give("torchtitan", "torn.toml", "[parallelism\ntensor_parallel_degree = 2\n", all);
  give("torchtitan", "text.toml", "[parallelism]\ntensor_parallel_degree = \"two\"\n", all);
  give("torchtitan", "zero.toml", "[parallelism]\npipeline_parallel_degree = 0\n", all);
  give("torchtitan", "order.toml",
       "[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = \"ZB\"\n", all);
  give("torchtitan", "code.py", "config = Trainer.Config(training=make())\n", all);
  give("megatron", "open.sh", "python pretrain_gpt.py --bf16 'never closed\n", all);
  give("megatron", "none.sh", "echo hello\n", all);
  give("megatron", "lacks.sh", "python pretrain_gpt.py --micro-batch-size\n", all);
  give("megatron", "unset.sh", "python pretrain_gpt.py --tensor-model-parallel-size $TP\n", all);
  give("megatron", "prints.sh", "torchrun pretrain_gpt.py --num-layers 8 $(python words.py)\n",
       all);
  give("megatron", "all_printed.sh", "torchrun pretrain_gpt.py $(python words.py)\n", all);
  give("megatron", "goes_on.sh", "export TP=2\nbash parts/train.sh --bf16\n", all);
  give("megatron", "other.sh",
       "python pretrain_gpt.py --num-layers 8 --hidden-size 64 --num-attention-heads 8 "
       "--vocab-size 1000 --seq-length 4096 --micro-batch-size 1\n",
       all);
  give("nemo", "recipe.py", "def recipe():\n    return ConfigContainer(model=base())\n", all);
  give("accelerate", "tpu.yaml", "distributed_type: XLA\n", all);
  give("hf", "what.json", R"({"hello": 1})", all);
  expect_golden("bad_launch_files.txt", exported.text() + script.text());
}

TEST(BadInput, Exports) {
  Script script("export --to");
  script.run("megatorn");
  script.run("hf");
  script.run("megatron");
  script.run("msccl-xml");
  script.run("msccl-xml --collective all_reduce");
  script.run("msccl-xml --collective reduce --tiers 8");
  script.run("mscclpp --collective reduce --algorithm tree --tiers 8");
  script.run("mscclpp --collective all_gather --tiers 8 --nodes 3");
  script.run("msccl-xml --collective all_reduce --tiers 8 --json");
  script.run("msccl-xml --collective all_reduce --algorithm ring --tiers 8,8");
  script.run("msccl-xml --collective all_to_all --algorithm direct --tiers 64");
  script.run("nccl-tuner");
  script.run("nccl-tuner --cluster dgx-h100 --plan plan.yaml");
  script.run("nccl-tuner --cluster dgx-h1000");
  script.run("nccl-tuner --cluster dgx-h100 --nodes 0");
  script.run("nccl-tuner --cluster dgx-h100 --tiers 8");
  script.run("nccl-tuner --cluster dgx-h100 --channels 0");
  script.run("nccl-tuner --cluster dgx-h100 --json");
  const std::string text = script.text();
  Script plans("export --to nccl-tuner --plan");
  plans.give("plan.yaml", kPlan, " --nodes 2");
  plans.give("plan.yaml", kPlan, " -o plan.yaml");
  plans.give("job.yaml", kJob);
  plans.run("nowhere.yaml");
  expect_golden("bad_exports.txt", text + plans.text());
}

TEST(BadInput, ValuesOfAJob) {
  Script tune("tune");
  tune.give("key.yaml", with(kJob, "batch:", "bacth:"));
  tune.give("inner.yaml", with(kJob, "sequences:", "sequence:"));
  tune.give("model.yaml", with(kJob, "llama-3-8b", "llama-3-80b"));
  tune.give("profile.yaml", with(kJob, "dgx-h100", "dgx-h1000"));
  tune.give("beginning.yaml", with(kJob, "dgx-h100", "dgx-a100"));
  tune.give("gpus.yaml", with(kJob, "nodes: 1", "gpus: 8"));
  tune.give("unit.yaml", with(kJob, "nodes: 1", "nodes: 1, nic: 400 Gb/s"));
  tune.give("id.yaml", with(kJob, "llama-3-8b", "someone/Odd-70B"));
  tune.give("type.yaml", with(kJob, "sequences: 64", "sequences: many"));
  tune.give("list.yaml", with(kJob, "sequences: 64", "sequences: [64]"));
  tune.give("negative.yaml", with(kJob, "sequences: 64", "sequences: -64"));
  tune.give("zero.yaml", with(kJob, "length: 4096", "length: 0"));
  tune.give("nan.yaml", with(kJob, "length: 4096", "length: .nan"));
  tune.give("infinite.yaml", with(kJob, "length: 4096", "length: .inf"));
  tune.give("enormous.yaml", with(kJob, "sequences: 64", "sequences: 9223372036854775808"));
  tune.give("large.yaml", with(kJob, "sequences: 64", "sequences: 9223372036854775807"));
  tune.give("nodes.yaml", with(kJob, "nodes: 1", "nodes: 9223372036854775807"));
  tune.give("precision.yaml", with(kJob, "batch:", "precision: bf17\nbatch:"));
  tune.give("imbalance.yaml", with(kJob, "batch:", "imbalance: .nan\nbatch:"));
  expect_golden("bad_values.txt", tune.text());
}

TEST(BadInput, Runs) {
  Script run("run");
  run.run("nowhere.yaml", " --tokens 1e12");
  run.give("plan.yaml", kPlan);
  for (const char* options :
       {"", " --tokens 0", " --tokens many", " --tokens 1e12 --evaluation 1.5",
        " --tokens 1e12 --evaluation 1", " --tokens 1e12 --straggler-spread -0.1",
        " --tokens 1e12 --storage 0", " --tokens 1e12 --storage 0GB/s",
        " --tokens 1e12 --device-mttf 0", " --tokens 1e12 --failures-per-device-hour -1",
        " --tokens 1e12 --failures-per-device-hour 1e6",
        " --tokens 1e12 --device-mttf 1e5 --restart 1e9", " --tokens 1e12 --restart soon",
        " --tokens 1e12 --device-mttf 1e9 --failures-per-device-hour 1e-9",
        " --tokens 1e12 --evaluation-tokens 1e6", " --tokens 1e12 --host-copy 1GB/s",
        " --tokens 1e12 --checkpoints hidden", " --tokens 1e18 --simulate 100000"}) {
    run.run("plan.yaml", options);
  }
  run.give("key.yaml", kJob + std::string("run: {tokens: 1e12, repiar: 1d}\n"), "");
  run.give("both.yaml",
           kJob + std::string("run: {device_mttf: 1e9, failures_per_device_hour: 0}\n"),
           " --tokens 1e12");
  run.give("share.yaml", kJob + std::string("run: {tokens: 1e12, evaluation: 2}\n"), "");
  run.give("none.yaml", kJob, "");
  run.give("misfit.yaml", kJob + std::string("objective: {memory_limit: 1 GiB}\n"),
           " --tokens 1e12");
  run.give("endless.yaml", kJob + std::string("run: {device_mttf: 1e5, restart: 1e9}\n"),
           " --tokens 1e12");
  expect_golden("bad_runs.txt", run.text());
}

TEST(BadInput, Methods) {
  Script phases("phases");
  phases.run("nowhere.yaml");
  const auto objective = [&](const std::string& name, const std::string& value) {
    phases.give(name + ".yaml", kJob + ("objective: " + value + "\n"));
  };
  const std::string speed = "rollout: {tokens_per_s: 1000";
  objective("kind", "{kind: gpro, " + speed + "}}");
  objective("speed", "{kind: grpo, rollout: {tokens_per_s: 0}}");
  objective("negative", "{kind: grpo, rollout: {tokens_per_s: -1}}");
  objective("time", "{kind: grpo, rollout: {seconds: 0s}}");
  objective("both", "{kind: grpo, " + speed + ", seconds: 10s}}");
  objective("all", "{kind: grpo, " + speed + ", devices: 8}}");
  objective("more", "{kind: grpo, " + speed + ", devices: 16}}");
  objective("tensor", "{kind: grpo, " + speed + ", devices: 4, tensor: 3}}");
  objective("turns", "{kind: grpo, " + speed + ", tensor: 16}}");
  objective("prompt", "{kind: grpo, " + speed + ", prompt: 4096}}");
  objective("updates", "{kind: grpo, updates: 0, " + speed + "}}");
  objective("padded", "{kind: grpo, dispatch: {token: 1us}, " + speed + "}}");
  objective("pairs", "{kind: dpo, dispatch: {padded: 4096}}");
  objective("key", "{kind: grpo, update: 2, " + speed + "}}");
  objective("critic", "{kind: grpo, critic: same, " + speed + "}}");
  objective("host", "{kind: ppo, critic: host, " + speed + "}}");
  objective("reference", "{kind: dpo, reference: none}");
  objective("place", "{kind: dpo, reference: elsewhere}");
  objective("devices", "{kind: dpo, reference: {devices: 3}}");
  objective("generated", "{kind: dpo, " + speed + "}}");
  objective("sft", "{kind: sft, updates: 2}");
  objective("goal", "{kind: step_time, updates: 2}");
  phases.give("pairs.yaml", with(kJob, "sequences: 64", "sequences: 63") + "objective: dpo\n", "");
  phases.give(
      "large.yaml",
      with(kJob, "llama-3-8b", "llama-3-70b") + ("objective: {kind: ppo, " + speed + "}}\n"), "");
  phases.give("plan.yaml", kPlan, " -o other.yaml");
  expect_golden("bad_methods.txt", phases.text());
}

TEST(BadInput, ModelsThatCannotBe) {
  Script tune("tune");
  const std::string config =
      R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 2,)"
      R"( "num_attention_heads": 30, "intermediate_size": 64, "vocab_size": 1000})";
  tune.place().write("config.json", config);
  tune.give("heads.yaml", with(kJob, "llama-3-8b", "./config.json"));
  tune.place().write("other.json", with(config, "llama", "perceiver"));
  tune.give("type.yaml", with(kJob, "llama-3-8b", "./other.json"));
  tune.place().write("broken.json", with(config, "30,", "30"));
  tune.give("json.yaml", with(kJob, "llama-3-8b", "./broken.json"));
  tune.give("groups.yaml",
            with(kJob, "llama-3-8b",
                 "{layers: 2, hidden: 64, heads: 8, kv_heads: 3, ffn: 64, vocab: 100}"));
  expect_golden("bad_models.txt", tune.text());
}

TEST(BadInput, SpacesWithoutAPlan) {
  Script tune("tune");
  const auto search = [&](const std::string& name, const std::string& mapping) {
    tune.give(name, kJob + ("search: {" + mapping + "}\n"));
  };
  search("tensor.yaml", "tensor: 7");
  search("world.yaml", "tensor: 2, data: 2, pipeline: 1, context: 1");
  search("expert.yaml", "expert: 2");
  search("twice.yaml", "tensor: [2, 2]");
  search("none.yaml", "tensor: []");
  search("batch.yaml", "data: 8, micro_batch: 16");
  tune.give("precision.yaml", with(kJob, "batch:", "precision: mxfp8\nbatch:"));
  tune.give("positions.yaml", with(kJob, "llama-3-8b", "gpt2-xl"));
  expect_golden("bad_spaces.txt", tune.text());
}

TEST(BadInput, PlansThatAreNotLegal) {
  Script predict("predict");
  predict.give("plan.yaml", kPlan, " --set parallel.tensor=3");
  predict.run("plan.yaml", " --set parallel.data=3");
  predict.run("plan.yaml", " --set microbatch=2");
  predict.run("plan.yaml", " --set micro_batch");
  predict.run("plan.yaml", " --set micro_batch=-1");
  predict.run("plan.yaml", " --set micro_batch=9223372036854775808");
  predict.run("plan.yaml", " --set cluster.nics=2x");
  predict.run("plan.yaml", " --set cluster.nic=2x --set cluster.profile=dgx-h200");
  predict.run("plan.yaml", " --set search.tensor=4");
  predict.run("plan.yaml", " --set sharding=zero9");
  predict.run("plan.yaml", " --set collectives.tensor=nvls");
  predict.run("plan.yaml", " --set collectives.data=tre");
  predict.run("plan.yaml", " --set collectives.pipeline=ring");
  predict.give("collective.yaml", std::string(kPlan) + "collectives: {data: nvls}\n");
  expect_golden("bad_plans.txt", predict.text());
}

TEST(BadInput, OwnPlansThatAreOfAnotherJob) {
  Script tune("tune job.yaml --against");
  tune.place().write("job.yaml", kJob);
  tune.run("nowhere.yaml");
  tune.run("job.yaml");
  tune.give("length.yaml", with(kPlan, "length: 4096", "length: 2048"));
  tune.give("model.yaml", with(kPlan, "llama-3-8b", "llama-2-7b"));
  tune.give("cluster.yaml", with(kPlan, "dgx-h100", "dgx-a100-80g"));
  tune.give("illegal.yaml", with(kPlan, "tensor: 2", "tensor: 3"));
  Script smallest("tune smallest.yaml --against");
  smallest.place().write("smallest.yaml", kJob + std::string("objective: {kind: smallest_cluster, "
                                                             "target_step_time: 100}\n"));
  smallest.give("plan.yaml", kPlan);
  expect_golden("bad_own_plans.txt", tune.text() + smallest.text());
}

TEST(BadInput, SweepsAndRunsThatAreNone) {
  Script tune("tune");
  tune.place().write("job.yaml", kJob);
  for (const char* arguments :
       {" --sweep clutser.nodes=8,16", " --sweep cluster.nodse=8,16", " --sweep cluster.nodes",
        " --sweep cluster.nodes=", " --sweep cluster.nodes=8,,16", " --sweep cluster.nodes=8,many",
        " --sweep cluster.nodes=0", " --sweep micro_batch=1,2", " --sweep search.tensor=1,2",
        " --tokens -1", " --tokens nan", " --tokens many", " --tokens 1e400",
        " --price-per-gpu-hour 2", " --tokens 1e12 --price-per-gpu-hour -2",
        " --tokens 1e12 --price-per-gpu-hour inf"}) {
    tune.run("job.yaml", arguments);
  }
  expect_golden("bad_sweeps.txt", tune.text());
}

TEST(BadInput, StrandsThatCannotBe) {
  Script predict("predict");
  for (const char* schedule :
       {"{kind: 1f1b, strands: 2}", "{kind: folded, strands: 3}", "{kind: folded, strands: 0}",
        "{kind: folded, strands: two}", "{kind: folded, chunks: 3}", "zb-h2", "dualpipev",
        "{kind: paired, chunks: 2}"}) {
    predict.give("plan.yaml", fmt::format("{}schedule: {}\n", kPlan, schedule));
  }
  predict.give("one.yaml",
               std::string(kPlan) + "micro_batch: 16\nschedule: {kind: folded, strands: 2}\n");
  Script interleave("interleave");
  interleave.place().write("dense.yaml",
                           with(kPlan, "parallel:", "sequence_parallel: true\nparallel:"));
  for (const char* options : {" --memory-limit 1000", " --memory-limit -1", " --memory-limit nan",
                              " --memory-limit much", " --layer 99"}) {
    interleave.run("dense.yaml", options);
  }
  expect_golden("bad_strands.txt", predict.text() + interleave.text());
}

TEST(BadInput, WhatIsKnownButNotSupported) {
  Script tune("tune");
  tune.give("packed.yaml", with(kJob, "length: 4096", "length: 4096, packed: true"));
  tune.give("offload.yaml", std::string(kJob) + "search: {offload: {optimizer: true}}\n");
  tune.give("schedule.yaml", std::string(kJob) + "search: {schedule: dualpipe}\n");
  expect_golden("unsupported_jobs.txt", tune.text());
  Script predict("predict");
  predict.give("offload.yaml", std::string(kPlan) + "offload: {activations: true}\n");
  predict.give("schedule.yaml", std::string(kPlan) + "schedule: dualpipe\n");
  predict.give("order.yaml", std::string(kPlan) + "schedule: {kind: auto, strands: 2}\n");
  expect_golden("unsupported_plans.txt", predict.text());
}

TEST(UnusualInput, OneDeviceIsAnswered) {
  const Workplace place;
  place.write("one.yaml", R"(stepwright: job/1
model: gpt2
cluster: {name: one, device: a100-sxm-80g, nodes: 1, devices_per_node: 1}
batch: {sequences: 8, length: 1024}
)");
  const Outcome tuned = place.run("tune one.yaml -o plan.yaml --json");
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  for (const char* command : {"predict", "traffic", "memory"}) {
    const Outcome outcome = place.run(std::string(command) + " plan.yaml");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
}

TEST(UnusualInput, AMillionDevicesAreAnswered) {
  const Workplace place;
  place.write("many.yaml", R"(stepwright: job/1
model: llama-3.1-405b
cluster: {profile: dgx-h100, nodes: 131072}
batch: {sequences: 1048576, length: 4096}
search: {context: 1, tensor: 8, sharding: [zero1, zero3]}
)");
  const Outcome tuned = place.run("tune many.yaml -o plan.yaml --json");
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  for (const char* command : {"predict", "traffic", "memory"}) {
    const Outcome outcome = place.run(std::string(command) + " plan.yaml");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
}

}  // namespace
}  // namespace stepwright::cli
