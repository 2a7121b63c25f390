#include "stepwright/launch_scripts/python/command_start.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stepwright/launch_scripts/capture_advice.h"

namespace stepwright::launch_scripts {
namespace {

/// Returns "CALL:LINE" of the first call that starts a command; "": there is none.
std::string start_in(const std::string& text) {
  const auto start = first_python_command_start({"launch.py", text});
  return start ? fmt::format("{}:{}", start->call, start->line) : "";
}

TEST(PythonCommandStart, CallsAreFoundUnderEachName) {
  EXPECT_EQ(start_in("import subprocess\n\nsubprocess.run(words)\n"), "subprocess.run:3");
  EXPECT_EQ(start_in("import subprocess as sp, os\nx = sp.Popen(words)\n"), "sp.Popen:2");
  EXPECT_EQ(start_in("from subprocess import (call as start,\n  run)\nstart(words)\n"), "start:3");
  EXPECT_EQ(start_in("import os\nif x:\n    os.system('torchrun')\n"), "os.system:3");
  EXPECT_EQ(start_in("from os import execvp\nexecvp('torchrun', words)\n"), "execvp:2");
  EXPECT_EQ(start_in("import asyncio\nawait asyncio.create_subprocess_exec(*words)\n"),
            "asyncio.create_subprocess_exec:2");
  EXPECT_EQ(start_in("import slime.utils.external_utils.command_utils as U\nU.execute_train(x)\n"),
            "U.execute_train:2");
}

TEST(PythonCommandStart, CommentsTextsAndOtherNamesAreNoCalls) {
  for (const char* text :
       {"# subprocess.run(words)\n", "\"\"\"\nos.system('x')\n\"\"\"\n", "x = 'os.system(1)'\n",
        "def execute_train(words):\n    pass\n", "import subprocess\nx = subprocess.run\n",
        "run(words)\n", "my.os.system(x)\n", "from runners import run\nrun(words)\n", "", "'"}) {
    EXPECT_EQ(start_in(text), "") << text;
  }
}

TEST(PythonCommandStart, TheAdviceNamesTheCommandToType) {
  EXPECT_EQ(started_command_capture_advice("subprocess.run", "my launch.py"),
            ". `stepwright import --capture -- python3 'my launch.py' ...` runs it with stand-ins "
            "for its launchers");
  EXPECT_NE(started_command_capture_advice("os.system", "job.sh").find("--capture -- bash job.sh`"),
            std::string::npos);
  EXPECT_NE(started_command_capture_advice("U.execute_train", "run.py")
                .find("--capture --only-launchers -- python3 run.py ...`"),
            std::string::npos);
}

}  // namespace
}  // namespace stepwright::launch_scripts
