#include "stepwright/mcp/channel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <string>

namespace stepwright::mcp {
namespace {

/// Replaces standard input and output by pipes, whose other ends the test uses.
class Pipes {
 public:
  Pipes() : before_in_(::dup(STDIN_FILENO)), before_out_(::dup(STDOUT_FILENO)) {
    std::cout.flush();
    ::dup2(input_.read.get(), STDIN_FILENO);
    ::dup2(output_.write.get(), STDOUT_FILENO);
  }
  ~Pipes() {
    ::dup2(before_in_.get(), STDIN_FILENO);
    ::dup2(before_out_.get(), STDOUT_FILENO);
  }
  Pipes(const Pipes&) = delete;
  Pipes& operator=(const Pipes&) = delete;

  void type(std::string_view text) { ASSERT_TRUE(write_all_bytes(input_.write.get(), text)); }
  void end() { input_.write.close(); }
  std::string said() {
    std::array<char, 256> block{};
    const ssize_t size = ::read(output_.read.get(), block.data(), block.size());
    return {block.data(), static_cast<std::size_t>(size)};
  }

 private:
  FileDescriptor before_in_;
  FileDescriptor before_out_;
  Pipe input_;
  Pipe output_;
};

TEST(StandardStreamsChannel, ReadsLinesHoweverTheyArrive) {
  Pipes pipes;
  StandardStreamsChannel channel;
  pipes.type("one\ntwo\nth");
  EXPECT_EQ(channel.wait_for_next_line(), "one");
  EXPECT_EQ(channel.wait_for_next_line(), "two");
  pipes.type("ree\n\nrest");
  EXPECT_EQ(channel.wait_for_next_line(), "three");
  EXPECT_EQ(channel.wait_for_next_line(), "");
  pipes.end();
  EXPECT_EQ(channel.wait_for_next_line(), std::nullopt);
}

TEST(StandardStreamsChannel, KeepsItsStreamsFromTheRestOfTheProgram) {
  Pipes pipes;
  pipes.type("mine\n");
  {
    StandardStreamsChannel channel;
    char byte = 0;
    EXPECT_EQ(::read(STDIN_FILENO, &byte, 1), 0);
    EXPECT_TRUE(write_all_bytes(STDOUT_FILENO, "beside the protocol\n"));
    EXPECT_TRUE(channel.write_line("reply"));
    EXPECT_EQ(pipes.said(), "reply\n");
    EXPECT_EQ(channel.wait_for_next_line(), "mine");
  }
  EXPECT_TRUE(write_all_bytes(STDOUT_FILENO, "again"));
  EXPECT_EQ(pipes.said(), "again");
}

}  // namespace
}  // namespace stepwright::mcp
