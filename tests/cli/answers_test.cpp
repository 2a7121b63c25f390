#include <gtest/gtest.h>

#include "golden.h"

namespace stepwright::cli {
namespace {

TEST(Answers, OfPredictAreThese) {
  const Workplace place;
  const std::string plan = std::string("predict ") + kExamplePlan;
  expect_golden("predict.txt",
                transcript(place, plan) +
                    transcript(place, plan + " --set cluster.nic=2x --set micro_batch=2"));
}

TEST(Answers, OfRunsAreThese) {
  const Workplace place;
  const std::string plan = std::string("run ") + kExamplePlan + " --tokens 15e12";
  const std::string stated =
      " --device-mttf 20000h --restart 5min --repair 1d --spare-nodes 1 --storage 40GB/s"
      " --checkpoints asynchronous --host-copy 20GB/s --evaluation-tokens 1e8"
      " --evaluation-every 200 --straggler-spread 0.01 --checkpoint-interval 1h";
  expect_golden("run.txt", transcript(place, plan + " --price-per-gpu-hour 2.5") +
                               transcript(place, plan + stated + " --simulate 100") +
                               transcript(place, plan + " --failures-per-device-hour 0") +
                               transcript(place, "run examples/whole-run.yaml"));
}

TEST(Answers, OfPhasesAreThese) {
  const Workplace place;
  place.write("pairs.yaml",
              "stepwright: job/2\nmodel: llama-3-8b\n"
              "cluster: {profile: dgx-h100, nodes: 1}\nbatch: {sequences: 64, length: 4096}\n"
              "objective: dpo\n");
  expect_golden("phases.txt", transcript(place, "phases examples/grpo.yaml") +
                                  transcript(place, "phases pairs.yaml"));
}

TEST(Answers, OfFineTuningAreThese) {
  const Workplace place;
  expect_golden("fine_tuning.txt",
                without_seconds(transcript(place, "tune examples/adapters.yaml --top 3")) +
                    without_seconds(transcript(place, "tune examples/packed.yaml --top 3")) +
                    without_seconds(transcript(place, "tune examples/images.yaml --top 3")));
}

TEST(Answers, OfTrafficAreThese) {
  const Workplace place;
  const std::string plan = std::string("traffic ") + kExamplePlan;
  expect_golden("traffic.txt",
                transcript(place, plan + " --links") + transcript(place, plan + " --rank 0"));
}

TEST(Answers, OfMemoryAreThese) {
  const Workplace place;
  expect_golden("memory.txt", transcript(place, std::string("memory ") + kExamplePlan));
}

TEST(Answers, OfExplainAreThese) {
  const Workplace place;
  expect_golden("explain.txt",
                transcript(place, "explain tp8+sp pp4x20 dp2 mb1 IIG/64/8 exposed:tp,pp") +
                    transcript(place, "explain sp:keep --json") +
                    transcript(place, std::string("explain ") + kExamplePlan) +
                    transcript(place, "explain tp8 fast") + transcript(place, "explain cp2:rings"));
}

TEST(Answers, OfLogsAreThese) {
  const Workplace place;
  std::string logs = " --log";
  for (const std::string rank : {"0", "1", "2", "3"}) {
    const std::string name = "nccl_mixed.rank" + rank + ".log.gz";
    place.write(name, content_of("tests/logs/data/" + name));
    logs += " " + name;
  }
  const std::string trace = "nccl_mixed.trace_rank0.json.gz";
  place.write(trace, content_of("tests/logs/data/" + trace));
  place.write("four.plan.yaml",
              "stepwright: plan/2\njob:\n"
              "  model: {layers: 2, hidden: 64, heads: 4, ffn: 256, vocab: 256}\n"
              "  cluster: {profile: dgx-h100, devices: 4}\n  batch: {sequences: 8, length: 64}\n"
              "parallel: {tensor: 2, data: 2}\n");
  expect_golden("characterize.txt", transcript(place, "characterize" + logs) +
                                        transcript(place, "characterize --log " + trace) +
                                        transcript(place, "characterize --log four.plan.yaml"));
  expect_golden("compare.txt", transcript(place, "compare four.plan.yaml" + logs) +
                                   transcript(place, "compare four.plan.yaml --log " + trace));
}

TEST(Answers, OfTuneAreThese) {
  const Workplace place;
  const std::string text = transcript(place, "tune examples/llama-3-70b.yaml --top 3 -o plan.yaml");
  expect_golden("tune.txt", without_seconds(text));
  expect_golden("tuned-plan.yaml", place.read("plan.yaml"));
}

TEST(Answers, OfTuneAgainstAPlanAreThese) {
  const Workplace place;
  const std::string text =
      transcript(place, std::string("tune examples/llama-3-70b.yaml --against ") + kExamplePlan);
  expect_golden("tune-against.txt", without_seconds(text));
}

TEST(Answers, OfASweepAreThese) {
  const Workplace place;
  const std::string text =
      transcript(place,
                 "tune examples/inline-model.yaml --tokens 1e12 --price-per-gpu-hour 2.5 "
                 "--sweep cluster.nodes=1,2,4");
  const std::size_t below = text.find("Training on");
  ASSERT_NE(below, std::string::npos) << text;
  expect_golden("tune-sweep.txt", text.substr(0, text.find('\n') + 1) + text.substr(below));
}

TEST(Answers, OfExportAreThese) {
  const Workplace place;
  std::string text =
      transcript(place, "export --to msccl-xml --collective all_reduce --algorithm ring --tiers 2");
  text += transcript(place, "export --to nccl-tuner --cluster aws-p5-h100 --nodes 3");
  text += transcript(place, std::string("export --to nccl-tuner --channels 16 -o tuner.conf "
                                        "--plan ") +
                                kExamplePlan);
  expect_golden("export.txt", text + place.read("tuner.conf"));
}

TEST(Answers, OfLaunchFilesAreThese) {
  const Workplace place;
  const std::string plan = std::string(" --plan ") + kExamplePlan;
  std::string text = transcript(
      place, "export --to megatron --plan " + std::string(kExamplePlan) + " -o train.sh");
  text += place.read("train.sh");
  text += transcript(place, "import --from megatron train.sh --cluster dgx-h100 -o mine.yaml");
  text += transcript(place,
                     "import --from megatron examples/llama-3-70b.megatron.sh --cluster dgx-h100");
  text += place.read("mine.yaml");
  for (const char* target :
       {"nemo", "torchtitan --nearest --release 0.2.2", "torchtitan --nearest",
        "accelerate --nearest", "deepspeed --nearest", "torchrun", "slurm", "mpirun"}) {
    text += transcript(place, std::string("export --to ") + target + plan);
  }
  expect_golden("launch.txt", text);
}

TEST(Answers, OfChecksAreThese) {
  const Workplace place;
  place.write("train.yaml",
              "model_name_or_path: meta-llama/Llama-3.1-8B\nstage: sft\ndo_train: true\n"
              "finetuning_type: full\nuse_galore: true\ncutoff_len: 4096\nbf16: true\n"
              "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n");
  expect_golden("check.txt",
                transcript(place, "check train.yaml --cluster dgx-h100") +
                    transcript(place, "check examples/llama-3-70b.megatron.sh --cluster dgx-h100"));
}

TEST(Answers, OfStudiesOfCollectivesAreThese) {
  const Workplace place;
  place.write("shared.yaml",
              "stepwright: cluster/1\nname: shared-nic\nprofile: dgx-a100-80g\n"
              "nics_per_node: 1\nnic: 12.5e9\n");
  const std::string study = "study collectives ";
  expect_golden("scaling.txt",
                transcript(place, study + "dgx-h100 --nodes 1,2,64,2048 --bytes 64MiB "
                                          "--simulate 512") +
                    transcript(place, study + "shared.yaml --nodes 16,4 --bytes 1e6,1GB "
                                              "--operations all_gather --schedules ring,ho-ring "
                                              "--message-start 0"));
}

}  // namespace
}  // namespace stepwright::cli
