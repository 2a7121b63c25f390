#include "stepwright/core/later.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

TEST(Later, IsMadeOnceByWhicheverThreadAsks) {
  std::atomic<int> made = 0;
  const Later<int> value([&] {
    ++made;
    return 7;
  });
  EXPECT_EQ(made, 0);
  std::vector<const int*> seen(4);
  std::vector<std::jthread> threads;
  for (const int*& place : seen) threads.emplace_back([&] { place = &value.get(); });
  threads.clear();
  EXPECT_EQ(made, 1);
  for (const int* place : seen) EXPECT_EQ(place, &value.get());
  EXPECT_EQ(value.get(), 7);
}

TEST(Later, MayBeThereAlready) { EXPECT_EQ(Later<std::string>("text").get(), "text"); }

TEST(Later, IsMadeAnewWhenItFailed) {
  int asked = 0;
  const Later<int> value([&] {
    if (++asked == 1) fail_input("not yet");
    return asked;
  });
  EXPECT_THROW((void)value.get(), Error);
  EXPECT_EQ(value.get(), 2);
}

}  // namespace
}  // namespace stepwright
