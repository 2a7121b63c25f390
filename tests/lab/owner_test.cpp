#include "stepwright/lab/owner.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace stepwright::lab {
namespace {

TEST(Owner, OfANamespaceIsInItsName) {
  const ProcessIdentity owner{.pid = 12, .start = 3456};
  EXPECT_EQ(emulated_cluster_name(owner, 7), "stepwright-12-3456-7");
  EXPECT_EQ(network_namespace_owner("stepwright-12-3456-7-switch"), owner);
  EXPECT_EQ(network_namespace_owner("stepwright-12-3456-7-node3"), owner);
}

TEST(Owner, OfOtherNamesIsNone) {
  for (const char* name :
       {"", "blue", "stepwright", "stepwright-", "stepwright-12-3456-7", "stepwright-12-x-7-node0",
        "stepwright-x-1-7-node0", "stepwright--1-2-3-", "astepwright-12-3456-7-node3"}) {
    EXPECT_FALSE(network_namespace_owner(name)) << name;
  }
}

TEST(Owner, IsTheSameProcessOnlyWhenItBeganThen) {
  const std::optional<ProcessIdentity> self = find_process_identity(::getpid());
  ASSERT_TRUE(self);
  EXPECT_GT(self->start, 0);
  EXPECT_EQ(find_process_identity(::getpid()), self);
  EXPECT_NE(find_process_identity(::getppid()), self);
  EXPECT_FALSE(find_process_identity(0));
}

}  // namespace
}  // namespace stepwright::lab
