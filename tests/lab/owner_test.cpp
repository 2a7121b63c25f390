#include "stepwright/lab/owner.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace stepwright::lab {
namespace {

TEST(Owner, OfANamespaceIsInItsName) {
  const Owner owner{.pid = 12, .start = 3456};
  EXPECT_EQ(lab_name(owner, 7), "stepwright-12-3456-7");
  EXPECT_EQ(owner_of("stepwright-12-3456-7-switch"), owner);
  EXPECT_EQ(owner_of("stepwright-12-3456-7-node3"), owner);
}

TEST(Owner, OfOtherNamesIsNone) {
  for (const char* name :
       {"", "blue", "stepwright", "stepwright-", "stepwright-12-3456-7", "stepwright-12-x-7-node0",
        "stepwright-x-1-7-node0", "stepwright--1-2-3-", "astepwright-12-3456-7-node3"}) {
    EXPECT_FALSE(owner_of(name)) << name;
  }
}

TEST(Owner, IsTheSameProcessOnlyWhenItBeganThen) {
  const std::optional<Owner> self = find_owner(::getpid());
  ASSERT_TRUE(self);
  EXPECT_GT(self->start, 0);
  EXPECT_EQ(find_owner(::getpid()), self);
  EXPECT_NE(find_owner(::getppid()), self);
  EXPECT_FALSE(find_owner(0));
}

}  // namespace
}  // namespace stepwright::lab
