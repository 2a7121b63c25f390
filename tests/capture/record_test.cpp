#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "stepwright/capture/command_script.h"
#include "stepwright/capture/launch_record.h"
#include "stepwright/capture/python_command.h"
#include "stepwright/capture/secrets.h"
#include "tests/capture/workplace.h"
#include "tests/core/refusal.h"

namespace stepwright::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Records : public Workplace {};

TEST_F(Records, ARecordReadsBackAsItWas) {
  write("c.yaml", "x: 1\n");
  const auto captured =
      run("#!/bin/bash\n#SBATCH -N 2\nexport A=$'1\\n2'\nsrun torchrun t.py c.yaml 'a b'\n");
  const std::string text = capture_record_json(captured);
  EXPECT_THAT(text, HasSubstr("\"stepwright\": \"launch/1\""));
  const ScriptCaptureResult again = read_capture_record(text, "launch.json");
  EXPECT_EQ(capture_record_json(again), text);
  EXPECT_EQ(value_in(again.commands.at(0), "A"), "1\n2");
  EXPECT_EQ(again.commands.at(0).nodes, 2);
}

TEST_F(Records, MalformedRecordsAreRefusedWithTheirPlace) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { read_capture_record(text, "launch.json"); });
  };
  EXPECT_THAT(refused("{\"stepwright\": \"launch/2\", \"commands\": []}"),
              HasSubstr("launch.json:1:16: stepwright"));
  EXPECT_THAT(refused("{\"stepwright\": \"launch/1\"}"), HasSubstr("commands"));
  EXPECT_THAT(refused("{\"stepwright\": \"launch/1\", \"commands\": [{\"argv\": []}]}"),
              HasSubstr("commands.0.argv"));
  EXPECT_THAT(
      refused("{\"stepwright\": \"launch/1\", \"commands\": [{\"argv\": [\"a\"], \"node\": 1}]}"),
      HasSubstr("nodes"));
  EXPECT_THAT(
      refused("{\"stepwright\": \"launch/1\", \"commands\": [{\"argv\": [\"a\"], \"nodes\": 0}]}"),
      HasSubstr("commands.0.nodes"));
  EXPECT_THAT(refused("{"), HasSubstr("launch.json:1:"));
  EXPECT_THAT(refused("[]"), HasSubstr("launch.json"));
}

TEST_F(Records, ACommandAsAScriptRunsAsTheSameCommand) {
  const auto captured =
      run("#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gpus-per-node=4\n#SBATCH --ntasks-per-node=4\n"
          "export NCCL_ALGO=\"it's\"\nsrun torchrun t.py 'a b' $'x\\ny'\n");
  const std::string script = captured_command_as_script(captured.commands.at(0));
  EXPECT_THAT(script, HasSubstr("#SBATCH --nodes=2\n#SBATCH --gpus-per-node=4\n"
                                "#SBATCH --ntasks-per-node=4\n"));
  EXPECT_THAT(script, HasSubstr("export NCCL_ALGO='it'\\''s'\n"));
  EXPECT_THAT(script, HasSubstr("\nsrun torchrun t.py 'a b' 'x\ny'\n"));
  const auto again = run(script);
  EXPECT_EQ(lines_of(again), lines_of(captured));
  EXPECT_EQ(value_in(again.commands.at(0), "NCCL_ALGO"), "it's");
}

TEST_F(Records, AScriptNamesTheProcessesThatMpirunTakesFromItsJob) {
  const auto captured =
      run("#!/bin/bash\n#SBATCH -N 2\n#SBATCH --ntasks-per-node=4\nmpirun python t.py\n");
  EXPECT_THAT(captured_command_as_script(captured.commands.at(0)),
              HasSubstr("\nmpirun -np 8 python t.py\n"));
}

TEST_F(Records, OnlyChangedVariablesAndThoseOfTrainingAreKept) {
  ::setenv("UNCHANGED", "1", 1);
  ::setenv("NCCL_DEBUG", "WARN", 1);
  const auto captured = run("export NEW=2\ntorchrun t.py\n");
  ::unsetenv("UNCHANGED");
  ::unsetenv("NCCL_DEBUG");
  const CapturedLaunchCommand& command = captured.commands.at(0);
  EXPECT_EQ(value_in(command, "UNCHANGED"), "-");
  EXPECT_EQ(value_in(command, "NCCL_DEBUG"), "WARN");
  EXPECT_EQ(value_in(command, "NEW"), "2");
  EXPECT_EQ(value_in(command, "PATH"), "-");
  EXPECT_EQ(value_in(command, "BASH_ENV"), "-");
}

TEST_F(Records, SecretsAreLeftOut) {
  ::setenv("WANDB_API_KEY", "0123456789abcdef", 1);
  const auto captured =
      run("export HF_TOKEN=hush-hush-1 TOKENIZERS_PARALLELISM=false MONKEY=1\n"
          "wandb login $WANDB_API_KEY\n"
          "docker run -e HF_TOKEN=$HF_TOKEN img torchrun t.py --wandb-api-key hidden-1 "
          "--hf_token=hidden-2 "
          "--seq-len-tokens 5 --moe-token-dispatcher-type alltoall --num-key-value-heads 8 "
          "--note key:$WANDB_API_KEY\n");
  ::unsetenv("WANDB_API_KEY");
  const std::string text = capture_record_json(captured);
  for (const char* secret : {"hush-hush-1", "0123456789abcdef", "hidden-1", "hidden-2"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
  EXPECT_EQ(
      lines_of(captured),
      "docker run -e HF_TOKEN img torchrun t.py --seq-len-tokens 5 --moe-token-dispatcher-type "
      "alltoall --num-key-value-heads 8 --note 'key:[left out]'\n");
  EXPECT_EQ(value_in(captured.commands.at(0), "TOKENIZERS_PARALLELISM"), "false");
  EXPECT_EQ(value_in(captured.commands.at(0), "MONKEY"), "1");
}

TEST(Secrets, NamesOfSecretsAreToldFromNamesOfTraining) {
  for (const char* name : {"HF_TOKEN", "WANDB_API_KEY", "aws_secret_access_key", "DB_PASSWORD",
                           "MY_CREDENTIAL", "GIT_AUTH", "SLACK_TOKEN_PROD"}) {
    EXPECT_TRUE(is_secret_variable(name)) << name;
  }
  for (const char* name :
       {"TOKENIZERS_PARALLELISM", "MONKEY", "KEYBOARD", "MAX_TOKENS", "AUTHOR"}) {
    EXPECT_FALSE(is_secret_variable(name)) << name;
  }
  for (const char* name : {"--wandb-api-key", "--hf_token", "trainer.api_key", "--token",
                           "--password", "+logger.wandb_key"}) {
    EXPECT_TRUE(is_secret_argument(name)) << name;
  }
  for (const char* name : {"--pad_token", "--num-key-value-heads", "data.prompt_key", "--input_key",
                           "--moe-token-drop-policy", "--max_tokens", "--tokenizer-type"}) {
    EXPECT_FALSE(is_secret_argument(name)) << name;
  }
  EXPECT_TRUE(looks_like_secret("hf_ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
  EXPECT_TRUE(looks_like_secret("https://user:pass@host/x"));
  EXPECT_FALSE(looks_like_secret("hf_model"));
}

TEST(Secrets, OptionsWithoutAValueTakeNoneWithThem) {
  std::vector<std::string> left_out;
  EXPECT_THAT(command_without_secrets({"t.py", "--use_auth_token", "--lr", "1", "--hub_token", "x",
                                       "--y", "--export=ALL,HF_TOKEN=abc,A=1"},
                                      {}, left_out),
              ElementsAre("t.py", "--lr", "1", "--y", "--export=ALL,HF_TOKEN,A=1"));
  EXPECT_THAT(left_out, ElementsAre("--use_auth_token", "--hub_token", "HF_TOKEN"));
}

TEST(PythonCommands, AreToldApart) {
  EXPECT_EQ(python_command_treatment({"python", "train.py"}), PythonCommandTreatment::kLaunch);
  EXPECT_EQ(python_command_treatment({"python", "-u", "-m", "torch.distributed.run", "x"}),
            PythonCommandTreatment::kLaunch);
  EXPECT_EQ(python_command_treatment({"python", "-um", "pip", "install"}),
            PythonCommandTreatment::kWriter);
  EXPECT_EQ(python_command_treatment({"python", "-W", "ignore", "train.py"}),
            PythonCommandTreatment::kLaunch);
  EXPECT_EQ(python_command_treatment({"python", "-X", "dev", "-c", "print(1)"}),
            PythonCommandTreatment::kRun);
  EXPECT_EQ(python_command_treatment({"python", "--version"}), PythonCommandTreatment::kRun);
  EXPECT_EQ(python_command_treatment({"python", "-"}), PythonCommandTreatment::kRun);
  EXPECT_EQ(python_command_treatment({"python", "setup.py", "install"}),
            PythonCommandTreatment::kNothing);
  EXPECT_EQ(
      python_command_treatment({"python", "-c", "import torch as t; print(t.cuda.device_count())"}),
      PythonCommandTreatment::kDevices);
  EXPECT_EQ(python_command_treatment(
                {"python", "-c", "import torch; print(torch.cuda.device_count() * 2)"}),
            PythonCommandTreatment::kRun);
}

}  // namespace
}  // namespace stepwright::capture
