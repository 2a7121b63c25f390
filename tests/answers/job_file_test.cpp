// Recognition of a job's files by their content.
#include "stepwright/answers/job_file.h"

#include <gtest/gtest.h>

#include "stepwright/answers/diagnosis_answer.h"
#include "stepwright/core/error.h"

namespace stepwright::answers {
namespace {

UserFile file(std::string name, std::string_view content) {
  return {.name = std::move(name), .text = std::string(content), .folder = {}};
}

struct Case {
  std::string name;
  std::string_view content;
  JobFileRole part;
};

TEST(JobFile, IsKnownByItsContent) {
  const Case cases[] = {
      {"anything", "stepwright: plan/2\njob: {model: llama-3-8b}\nparallel: {tensor: 2}\n",
       JobFileRole::kPlan},
      {"anything", R"({"stepwright": "plan/2", "job": {}})", JobFileRole::kPlan},
      {"anything", "# a job\nstepwright: job/2\nmodel: llama-3-8b\n", JobFileRole::kJob},
      {"launch.json", R"({"stepwright": "launch/1", "commands": []})", JobFileRole::kLaunch},
      {"run", "#!/bin/bash\ntorchrun --nproc-per-node 8 pretrain_gpt.py\n", JobFileRole::kLaunch},
      {"run", "#SBATCH --nodes=2\nsrun python train.py\n", JobFileRole::kLaunch},
      {"ds_config", R"({"train_batch_size": 8, "zero_optimization": {"stage": 3}})",
       JobFileRole::kLaunch},
      {"recipe", "\"\"\"A recipe.\"\"\"\nfrom nemo.collections import llm\n", JobFileRole::kLaunch},
      {"recipe", "import nemo_run as run\n", JobFileRole::kLaunch},
      {"job.out", "class weights: 3\nepoch 1\n", JobFileRole::kLeft},
      {"jobs.toml", "[[run]]\nsteps = 3\n", JobFileRole::kLaunch},
      {"train.toml", "[model]\nname = \"llama3\"\nflavor = \"8B\"\n", JobFileRole::kLaunch},
      {"sft.yaml", "base_model: meta-llama/Meta-Llama-3-8B\nsequence_len: 8192\n",
       JobFileRole::kLaunch},
      {"slurm.out", "step: 1\nloss: 3\nstep: 2\nloss: 2\n", JobFileRole::kLeft},
      {"error", "ValueError: x\n", JobFileRole::kLeft},
      {"out.yaml", "[rank0]: Traceback (most recent call last):\n[rank0]: ValueError: x\nnote: y\n",
       JobFileRole::kLeft},
      {"out.toml", "[2026-01-02 03:04:05] iteration 1/ 10 | lm loss: 2\n", JobFileRole::kLeft},
      {"train.log", "from rank 3: an error\n", JobFileRole::kLeft},
      {"train.log", "{'loss': 2.3, 'grad_norm': 0.5, 'epoch': 0.01}\n", JobFileRole::kLeft},
      {"train.jsonl", "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 2}\n",
       JobFileRole::kLeft},
      {"trainer_state.json", R"({"epoch": 1.0, "log_history": []})", JobFileRole::kLeft},
      {"flight.json", R"({"version": "2.4", "pg_config": {}, "entries": []})", JobFileRole::kLeft},
      {"snapshot.json", R"({"segments": [], "device_traces": []})", JobFileRole::kLeft},
      {"dump", "\x80\x05}q\x00.", JobFileRole::kLeft},
      {"nothing", "\n", JobFileRole::kLeft}};
  for (const Case& one : cases) {
    EXPECT_EQ(recognise_user_file_role(file(one.name, one.content)), one.part)
        << one.name << ": " << one.content;
  }
}

TEST(JobFile, AFileThatIsNotThereIsLeftForItsReader) {
  EXPECT_EQ(recognise_user_file_role({.name = "nowhere.yaml", .text = {}, .folder = {}}),
            JobFileRole::kLeft);
}

/// If a configuration cannot be read, the error says that the file was taken for a configuration.
TEST(JobFile, AWrongGuessIsAClearError) {
  try {
    diagnose_job_files({file("a.yaml", "nothing: 1\nknown: 2\n"), file("job.log", "step 1\n")},
                       "dgx-h100");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(error.what()).find("describe how the job was started: a.yaml"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace stepwright::answers
