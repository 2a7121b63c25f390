#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

constexpr const char* kCarriedWords =
    "--tensor-model-parallel-size 4 --num-layers 32 --hidden-size 4096 --num-attention-heads 32 "
    "--seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 "
    "--vocab-size 32000 --bf16";

ImportedPlan carried_plan(const std::string& text) {
  UserFacts given;
  given.cluster = "dgx-h100";
  return import_text("", "job.yaml", text, given);
}

/// Returns the words of a command as a YAML list, one per line.
std::string listed_words(const std::string& words, const std::string& before) {
  std::string text;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    text += before + "- \"" + words.substr(at, end - at) + "\"\n";
    at = end + 1;
  }
  return text;
}

TEST(Carriers, PodsOfAPyTorchJobAreNodes) {
  const std::string container = "          containers:\n          - name: pytorch\n";
  const std::string resources = "            resources: {limits: {nvidia.com/gpu: 4}}\n";
  const std::string command =
      "            command:\n            - torchrun\n            - pretrain_gpt.py\n" +
      listed_words(kCarriedWords, "            ");
  const std::string text =
      "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Master:\n"
      "      replicas: 1\n      template:\n        spec:\n" +
      container + command + resources +
      "    Worker:\n      replicas: 3\n      template:\n        spec:\n" + container + command +
      resources;
  const ImportedPlan plan = carried_plan(text);
  EXPECT_EQ(plan.target, "megatron");
  EXPECT_EQ(plan.planned.job.cluster.nodes, 4);
  EXPECT_EQ(plan.planned.job.cluster.devices_per_node, 4);
  EXPECT_EQ(plan.planned.plan.parallel.data, 4);
  const auto at = std::ranges::find(plan.report.read, "--num-layers", &ImportedSetting::name);
  ASSERT_NE(at, plan.report.read.end());
  EXPECT_EQ(at->file, "job.yaml");
  EXPECT_EQ(at->line, 17U);
}

TEST(Carriers, ATextOfAShellIsReadWhereItStands) {
  const std::string text =
      "apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      containers:\n"
      "      - name: train\n        env:\n        - {name: MBS, value: \"2\"}\n"
      "        command: [/bin/bash, -c]\n        args:\n        - |\n"
      "          torchrun --nproc_per_node=8 pretrain_gpt.py --micro-batch-size $MBS \\\n"
      "            --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
      "\\\n"
      "            --max-position-embeddings 4096 --global-batch-size 64 --vocab-size 32000 "
      "--bf16\n"
      "        resources: {limits: {nvidia.com/gpu: 8}}\n";
  const ImportedPlan plan = carried_plan(text);
  EXPECT_EQ(plan.planned.plan.micro_batch, 2);
  EXPECT_EQ(plan.planned.job.cluster.devices(), 8);
  const auto at = std::ranges::find(plan.report.read, "--num-layers", &ImportedSetting::name);
  ASSERT_NE(at, plan.report.read.end());
  EXPECT_EQ(at->line, 14U);
}

TEST(Carriers, TasksOfSkyPilotHaveItsVariables) {
  const std::string text =
      "resources:\n  accelerators: {H100: 8}\nnum_nodes: 2\nenvs:\n  MBS: 1\nsetup: pip install "
      "x\nrun: |\n"
      "  torchrun --nnodes=$SKYPILOT_NUM_NODES --nproc_per_node=$SKYPILOT_NUM_GPUS_PER_NODE \\\n"
      "    pretrain_gpt.py " +
      std::string(kCarriedWords) + "\n";
  const ImportedPlan plan = carried_plan(text);
  EXPECT_EQ(plan.planned.job.cluster.nodes, 2);
  EXPECT_EQ(plan.planned.plan.parallel.data, 4);
}

TEST(Carriers, AJobOfAzureHasItsInputs) {
  const std::string text =
      "$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json\ntype: command\n"
      "inputs:\n  tp: 4\ncommand: >-\n  python pretrain_gpt.py --tensor-model-parallel-size "
      "${{inputs.tp}}\n"
      "  --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096\n"
      "  --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64\n"
      "  --vocab-size 32000 --bf16\n"
      "resources: {instance_count: 2}\ndistribution: {type: pytorch, process_count_per_instance: "
      "8}\n";
  const ImportedPlan plan = carried_plan(text);
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 4);
  EXPECT_EQ(plan.planned.job.cluster.devices(), 16);
}

TEST(Carriers, AFileWithoutAKnownProgramIsRefusedByItsName) {
  const std::string text =
      "services:\n  train:\n    command: [python, my_own.py, --steps, \"3\"]\n";
  EXPECT_THAT([&] { carried_plan(text); }, testing::ThrowsMessage<Error>(HasSubstr("my_own.py")));
}

TEST(Carriers, NodesOfWhichAPartIsUsedAreCutDown) {
  UserFacts given;
  given.cluster = "dgx-h100";
  const std::string text =
      std::string("torchrun --nnodes 4 --nproc_per_node 4 pretrain_gpt.py ") + kCarriedWords + "\n";
  const ImportedPlan plan = import_text("", "run.sh", text, given);
  EXPECT_EQ(plan.planned.job.cluster.nodes, 4);
  EXPECT_EQ(plan.planned.job.cluster.devices_per_node, 4);
  EXPECT_EQ(plan.planned.job.cluster.nics_per_node, 4);
}

TEST(Carriers, RecipesOfAMakefileAreCommands) {
  const std::string text =
      "TP ?= 4 # of a node\nSIZES = --num-layers 32 --hidden-size 4096 \\\n  --num-attention-heads "
      "32\n"
      ".PHONY: train\n\ntrain: data.txt\n\t@echo $(shell date)\n"
      "\tfor n in 1; do echo $$n; done\n\ttorchrun --nproc_per_node=8 pretrain_gpt.py $(SIZES) \\\n"
      "\t  --tensor-model-parallel-size ${TP} --seq-length 4096 --max-position-embeddings 4096 \\\n"
      "\t  --micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 --bf16\n";
  UserFacts given;
  given.cluster = "dgx-h100";
  const ImportedPlan plan = import_text("", "Makefile", text, given);
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 4);
  EXPECT_EQ(plan.planned.plan.parallel.data, 2);
  const auto at = std::ranges::find(plan.report.read, "--seq-length", &ImportedSetting::name);
  ASSERT_NE(at, plan.report.read.end());
  EXPECT_EQ(at->line, 10U);
  given.settings = {"TP=2"};
  EXPECT_EQ(import_text("", "Makefile", text, given).planned.plan.parallel.tensor, 2);
}

TEST(Carriers, RecipesOfAJustfileAreCommands) {
  const std::string text =
      "tp := \"4\"\n\ntrain name='x':\n  torchrun --nproc_per_node=8 pretrain_gpt.py "
      "--tensor-model-parallel-size {{tp}} " +
      std::string(kCarriedWords).substr(std::string("--tensor-model-parallel-size 4 ").size()) +
      "\n";
  UserFacts given;
  given.cluster = "dgx-h100";
  EXPECT_EQ(import_text("", "justfile", text, given).planned.plan.parallel.tensor, 4);
}

TEST(Carriers, AnExperimentOfDeterminedHasItsSlots) {
  const std::string text =
      "name: x\nresources:\n  slots_per_trial: 16\nentrypoint: python -m "
      "determined.launch.torch_distributed pretrain_gpt.py " +
      std::string(kCarriedWords) + "\n";
  const ImportedPlan plan = carried_plan(text);
  EXPECT_EQ(plan.planned.job.cluster.nodes, 2);
  EXPECT_EQ(plan.planned.job.cluster.devices(), 16);
}

constexpr const char* kTemplate =
    "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n"
    "      replicas: ${WORKERS}\n      template:\n        spec:\n          containers:\n"
    "          - name: pytorch\n            command: [bash, -c, \"torchrun pretrain_gpt.py "
    "$WORDS\"]\n"
    "            resources: {limits: {nvidia.com/gpu: \"${DEVICES}\"}}\n"
    "            env:\n            - {name: WORDS, value: \"${WORDS}\"}\n";

TEST(Carriers, AScriptFillsTheTemplateOfAJob) {
  const std::string script = std::string("export WORKERS=2 DEVICES=4\nexport WORDS=\"") +
                             kCarriedWords + "\"\nenvsubst < job.tpl.yaml | kubectl apply -f -\n";
  const std::vector<launch_scripts::SourceFile> files = {{"submit.sh", script},
                                                         {"job.tpl.yaml", kTemplate}};
  UserFacts given;
  given.cluster = "dgx-h100";
  const ImportedPlan plan = import_plan_files("", files, given);
  EXPECT_EQ(plan.planned.job.cluster.nodes, 2);
  EXPECT_EQ(plan.planned.job.cluster.devices_per_node, 4);
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 4);
}

TEST(Carriers, AConfigMapHoldsFiles) {
  const std::string text =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  train.yaml: |\n"
      "    model_name_or_path: meta-llama/Meta-Llama-3-8B\n    stage: sft\n    cutoff_len: 2048\n"
      "    per_device_train_batch_size: 2\n    bf16: true\n---\napiVersion: batch/v1\nkind: Job\n"
      "spec:\n  template:\n    spec:\n      containers:\n      - name: train\n"
      "        command: [llamafactory-cli, train, /config/train.yaml]\n"
      "        resources: {limits: {nvidia.com/gpu: 2}}\n";
  const ImportedPlan plan = carried_plan(text);
  EXPECT_EQ(plan.target, "llama-factory");
  EXPECT_EQ(plan.planned.job.cluster.devices(), 2);
  const auto at = std::ranges::find(plan.report.read, "stage", &ImportedSetting::name);
  ASSERT_NE(at, plan.report.read.end());
  EXPECT_EQ(at->line, 7U);
}

TEST(Carriers, AProgramThatAServiceRunsIsRefusedByTheService) {
  const std::string text =
      "from google.cloud import aiplatform\n"
      "job = aiplatform.CustomContainerTrainingJob(command=[\"trl\", \"sft\",\n"
      "    \"--per_device_train_batch_size=2\"])\n";
  EXPECT_THAT([&] { import_text("", "job.py", text); },
              testing::ThrowsMessage<Error>(HasSubstr("has Vertex AI run a command")));
}

}  // namespace
}  // namespace stepwright::framework_files
