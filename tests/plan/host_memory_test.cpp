#include "stepwright/plan/host_memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/parameters.h"

namespace stepwright::plan {
namespace {

// Pipelines of three positions, whose ranks have 1, 10 and 100 bytes on their host.
const std::vector<double> kThree{1, 10, 100};

TEST(FullestHost, HasRanksOfOnePositionWhereNeighboursAreWholeNodesApart) {
  EXPECT_EQ(fullest_node_host_memory_bytes(kThree, {.ranks = 24, .stride = 8, .of_node = 4}), 400);
}

TEST(FullestHost, HasRanksOfSeveralPositions) {
  EXPECT_EQ(fullest_node_host_memory_bytes(kThree, {.ranks = 12, .stride = 4, .of_node = 8}), 400)
      << "ranks 0 to 7 have 44, ranks 8 to 11 400: of a node of their own";
  EXPECT_EQ(fullest_node_host_memory_bytes(kThree, {.ranks = 12, .stride = 4, .of_node = 16}), 444);
  EXPECT_EQ(fullest_node_host_memory_bytes(kThree, {.ranks = 12, .stride = 1, .of_node = 4}), 211)
      << "1, 10, 100, 1; 10, 100, 1, 10; 100, 1, 10, 100";
}

TEST(FullestHost, HoldsNoMoreRanksThanThereAre) {
  EXPECT_EQ(fullest_node_host_memory_bytes(std::vector<double>{7},
                                           {.ranks = 2, .stride = 2, .of_node = 8}),
            14);
}

/// Eight data-parallel ranks of one node, each with a whole copy of the states on the host.
struct Copies {
  Copies() {
    job.model = *model::built_in_model("llama-3-8b");
    job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
    plan.parallel.data = 8;
    plan.offload.optimizer = 0.5;
  }
  [[nodiscard]] double bytes_of_element() const {
    const auto elements = static_cast<double>(model::count_parameters(job.model));
    return min_host_memory_bytes(job, plan) / elements / 8;
  }
  Job job;
  Plan plan;
};

TEST(LeastHostBytes, AreMomentsParametersAndGradientsOfWhatIsUpdatedThere) {
  EXPECT_DOUBLE_EQ(Copies().bytes_of_element(), 0.5 * 16);
}

TEST(LeastHostBytes, HoldAReferenceThatWaitsThere) {
  Copies copies;
  copies.job.method.kind = TrainingMethodKind::kDpo;
  copies.job.method.reference.place = SecondModelPlace::kHost;
  EXPECT_DOUBLE_EQ(copies.bytes_of_element(), 0.5 * 16 + 2);
  copies.job.method.reference.place = SecondModelPlace::kSame;
  EXPECT_DOUBLE_EQ(copies.bytes_of_element(), 0.5 * 16);
}

TEST(LeastHostBytes, HoldTheOptimizerOfACriticToo) {
  Copies copies;
  copies.job.method.kind = TrainingMethodKind::kPpo;
  copies.job.method.critic.place = SecondModelPlace::kSame;
  EXPECT_DOUBLE_EQ(copies.bytes_of_element(), 2 * 0.5 * 16);
}

}  // namespace
}  // namespace stepwright::plan
