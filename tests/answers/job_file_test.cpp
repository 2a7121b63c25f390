// Recognition of a job's files by their content.
#include "stepwright/answers/job_file.h"

#include <gtest/gtest.h>

#include "stepwright/answers/diagnosis_answer.h"
#include "stepwright/core/error.h"

namespace stepwright::answers {
namespace {

GivenFile file(std::string name, std::string_view content) {
  return {.name = std::move(name), .text = std::string(content), .folder = {}};
}

struct Case {
  std::string name;
  std::string_view content;
  JobFile part;
};

TEST(JobFile, IsKnownByItsContent) {
  const Case cases[] = {
      {"anything", "stepwright: plan/2\njob: {model: llama-3-8b}\nparallel: {tensor: 2}\n",
       JobFile::kPlan},
      {"anything", R"({"stepwright": "plan/2", "job": {}})", JobFile::kPlan},
      {"anything", "# a job\nstepwright: job/2\nmodel: llama-3-8b\n", JobFile::kJob},
      {"launch.json", R"({"stepwright": "launch/1", "commands": []})", JobFile::kLaunch},
      {"run", "#!/bin/bash\ntorchrun --nproc-per-node 8 pretrain_gpt.py\n", JobFile::kLaunch},
      {"run", "#SBATCH --nodes=2\nsrun python train.py\n", JobFile::kLaunch},
      {"ds_config", R"({"train_batch_size": 8, "zero_optimization": {"stage": 3}})",
       JobFile::kLaunch},
      {"recipe", "\"\"\"A recipe.\"\"\"\nfrom nemo.collections import llm\n", JobFile::kLaunch},
      {"recipe", "import nemo_run as run\n", JobFile::kLaunch},
      {"job.out", "class weights: 3\nepoch 1\n", JobFile::kLeft},
      {"jobs.toml", "[[run]]\nsteps = 3\n", JobFile::kLaunch},
      {"train.toml", "[model]\nname = \"llama3\"\nflavor = \"8B\"\n", JobFile::kLaunch},
      {"sft.yaml", "base_model: meta-llama/Meta-Llama-3-8B\nsequence_len: 8192\n",
       JobFile::kLaunch},
      {"slurm.out", "step: 1\nloss: 3\nstep: 2\nloss: 2\n", JobFile::kLeft},
      {"error", "ValueError: x\n", JobFile::kLeft},
      {"out.yaml", "[rank0]: Traceback (most recent call last):\n[rank0]: ValueError: x\nnote: y\n",
       JobFile::kLeft},
      {"out.toml", "[2026-01-02 03:04:05] iteration 1/ 10 | lm loss: 2\n", JobFile::kLeft},
      {"train.log", "from rank 3: an error\n", JobFile::kLeft},
      {"train.log", "{'loss': 2.3, 'grad_norm': 0.5, 'epoch': 0.01}\n", JobFile::kLeft},
      {"train.jsonl", "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 2}\n", JobFile::kLeft},
      {"trainer_state.json", R"({"epoch": 1.0, "log_history": []})", JobFile::kLeft},
      {"flight.json", R"({"version": "2.4", "pg_config": {}, "entries": []})", JobFile::kLeft},
      {"snapshot.json", R"({"segments": [], "device_traces": []})", JobFile::kLeft},
      {"dump", "\x80\x05}q\x00.", JobFile::kLeft},
      {"nothing", "\n", JobFile::kLeft}};
  for (const Case& one : cases) {
    EXPECT_EQ(job_file_of(file(one.name, one.content)), one.part)
        << one.name << ": " << one.content;
  }
}

TEST(JobFile, AFileThatIsNotThereIsLeftForItsReader) {
  EXPECT_EQ(job_file_of({.name = "nowhere.yaml", .text = {}, .folder = {}}), JobFile::kLeft);
}

/// If a configuration cannot be read, the error says that the file was taken for a configuration.
TEST(JobFile, AWrongGuessIsAClearError) {
  try {
    answer_diagnosis({file("a.yaml", "nothing: 1\nknown: 2\n"), file("job.log", "step 1\n")},
                     "dgx-h100");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(error.what()).find("say how the job was started: a.yaml"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace stepwright::answers
